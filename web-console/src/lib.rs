//! The part of the core that the browser console uses, compiled to wasm: RESP and the command table have no second
//! implementation in TypeScript.
//!
//! - [`ReplyDecoder`] turns bytes of a connection into reply objects of the page (`page/resp/reply.ts`).
//! - [`encode`] writes a request.
//! - [`split_input`] splits an input into commands and their arguments, by redis-cli's rules.
//! - [`unescape`] reads a text with escapes as bytes.
//! - [`assist`] completes a command and gives its remaining syntax.
//! - [`command_table`] is the command table as JSON.
//!
//! This file only converts between JavaScript and Rust values. The logic is in modules without JavaScript types, with
//! their tests beside them. No part of the crate does I/O.

mod assist;
mod escapes;
mod input;
mod replies;
mod table;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

pub use replies::ReplyDecoder;

/// Encodes one request. The arguments are texts, sent as UTF-8, or byte arrays.
///
/// # Errors
///
/// An argument is neither a text nor a byte array.
#[wasm_bindgen]
pub fn encode(arguments: &Array) -> Result<Vec<u8>, JsError> {
    let arguments = arguments.iter().map(argument_bytes).collect::<Result<Vec<_>, _>>()?;
    let mut request = Vec::new();
    edgecask_core::resp::write_request(&arguments, &mut request);
    Ok(request)
}

fn argument_bytes(argument: JsValue) -> Result<Vec<u8>, JsError> {
    match argument.as_string() {
        Some(text) => Ok(text.into_bytes()),
        None => match argument.dyn_ref::<Uint8Array>() {
            Some(bytes) => Ok(bytes.to_vec()),
            None => Err(JsError::new("an argument is neither a text nor bytes")),
        },
    }
}

/// The commands of an input of one or more lines, each an array of its arguments as byte arrays. A line end separates
/// commands unless it is within quotes. `None` if quotes are not closed or text follows a closing quote.
#[wasm_bindgen(js_name = splitInput)]
pub fn split_input(input: &str) -> Option<Array> {
    let commands = input::split_input(input.as_bytes())?;
    let command =
        |words: Vec<Vec<u8>>| words.iter().map(|word| Uint8Array::from(word.as_slice())).collect::<Array>();
    Some(commands.into_iter().map(command).collect())
}

/// The bytes that a text with redis-cli's escapes stands for, written without quotes around it.
///
/// # Errors
///
/// The text ends within an escape, or `\x` has fewer than two digits; the message says where.
#[wasm_bindgen]
pub fn unescape(text: &str) -> Result<Vec<u8>, JsError> {
    Ok(escapes::unescape(text)?)
}

/// Help for the end of `text`, as JSON: an object with `command`, `hint`, `replaces` and `completions`; each completion
/// has a `word` and a `detail`.
///
/// # Errors
///
/// The help cannot be written as JSON, which its types rule out.
#[wasm_bindgen(js_name = assist)]
pub fn assist(text: &str) -> Result<String, JsError> {
    Ok(serde_json::to_string(&assist::assist(text))?)
}

/// All commands and subcommands, as JSON: an array of objects with `name`, `group`, `since`, `summary`, `complexity`,
/// `syntax`, `container` and, if a newer command replaces it, `deprecated`.
///
/// # Errors
///
/// The table cannot be written as JSON, which its types rule out.
#[wasm_bindgen(js_name = commandTable)]
pub fn command_table() -> Result<String, JsError> {
    Ok(serde_json::to_string(&table::entries())?)
}
