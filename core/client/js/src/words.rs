//! Arguments from values of JavaScript.

use edgecask_client::{Error, ToArg, Words};
use js_sys::{Array, JsString, Object, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

/// A value as one argument: text, a number, a bigint, or bytes.
struct Argument(JsValue);

impl ToArg for Argument {
    fn write_to(&self, words: &mut Words) {
        let Argument(value) = self;
        if let Some(text) = value.as_string() {
            words.push(text.as_bytes());
        } else if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
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
    let bytes = |name: JsValue| match name.dyn_into::<Uint8Array>() {
        Ok(bytes) => bytes.to_vec(),
        Err(other) => String::from(printed(&other)).into_bytes(),
    };
    names.iter().map(bytes).collect()
}

/// A value as JavaScript prints it: the shortest text of a number.
pub(crate) fn printed(value: &JsValue) -> JsString {
    value.unchecked_ref::<Object>().to_string()
}
