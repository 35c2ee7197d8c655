//! Arguments from values of JavaScript.

use edgecask_client::{Error, ToArg, Words};
use js_sys::{Array, ArrayBuffer, JsString, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

/// A value as one argument: text, a number, a bigint, or bytes.
struct Argument(JsValue);

impl ToArg for Argument {
    fn write_to(&self, words: &mut Words) {
        let Argument(value) = self;
        if let Some(text) = value.as_string() {
            words.push(text.as_bytes());
        } else if let Some(bytes) = bytes_of(value) {
            words.push(&bytes.to_vec());
        } else if value.as_f64().is_some() || value.is_bigint() {
            // The shortest text that is the same number, as JavaScript has it.
            words.push(String::from(printed(value)).as_bytes());
        } else {
            let found = value.js_typeof().as_string().unwrap_or_default();
            let told =
                format!("an argument is text, a number, a bigint or a Uint8Array, and not of type {found}");
            words.refuse(Error::Invalid(told.into()));
        }
    }
}

/// Bytes in any view of them, also of another window, whose Uint8Array is another class.
fn bytes_of(value: &JsValue) -> Option<Uint8Array> {
    if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
        return Some(bytes.clone());
    }
    let field = |name: &str| Reflect::get(value, &name.into()).ok();
    let number = |name: &str| field(name)?.as_f64().map(|number| number as u32);
    let is_view = ArrayBuffer::is_view(value);
    let buffer = if is_view { field("buffer")? } else { return None };
    Some(Uint8Array::new_with_byte_offset_and_length(&buffer, number("byteOffset")?, number("byteLength")?))
}

/// The words of a request, the command's name first.
pub(crate) fn words_of(request: &Array) -> Words {
    let mut words = Words::new("");
    for place in 0..request.length() {
        words.arg(&Argument(request.get(place)));
    }
    if words.count() == 0 {
        words.refuse(Error::Invalid("a request without a command".into()));
    }
    words
}

/// Names of channels or patterns.
pub(crate) fn names_of(names: &Array) -> Vec<Vec<u8>> {
    let bytes = |name: JsValue| match bytes_of(&name) {
        Some(bytes) => bytes.to_vec(),
        None => String::from(printed(&name)).into_bytes(),
    };
    names.iter().map(bytes).collect()
}

/// A value as JavaScript prints it: the shortest text of a number.
pub(crate) fn printed(value: &JsValue) -> JsString {
    value.unchecked_ref::<Object>().to_string()
}
