//! Errors of JavaScript from the client's.

use std::cell::RefCell;

use edgecask_client::Error;
use js_sys::{Array, Function, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static CLASS: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Errors are instances of this class from now on: `new (message, code, mayHaveRun, isRetrySafe)`.
#[wasm_bindgen(js_name = useErrorClass)]
pub fn use_error_class(class: Function) {
    CLASS.with(|place| place.replace(Some(class)));
}

/// The kind of an error as a word: the server's own, or one of ours.
fn code(error: &Error) -> &str {
    match error {
        Error::Server(error) => error.code(),
        Error::Io { .. } => "IO",
        Error::Timeout { .. } => "TIMEOUT",
        Error::Closed { .. } => "CLOSED",
        Error::Protocol { .. } => "PROTOCOL",
        Error::Type { .. } => "TYPE",
        Error::Watched => "WATCHED",
        _ => "INVALID",
    }
}

/// What is thrown for an error.
pub(crate) fn thrown(error: &Error) -> JsValue {
    let message = error.to_string();
    let arguments = Array::of4(
        &message.as_str().into(),
        &code(error).into(),
        &error.may_have_run().into(),
        &error.is_retry_safe().into(),
    );
    let made = CLASS.with(|class| class.borrow().as_ref().map(|class| Reflect::construct(class, &arguments)));
    match made {
        Some(Ok(made)) => made,
        _ => js_sys::Error::new(&message).into(),
    }
}
