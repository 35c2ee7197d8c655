//! What the browser console shares with the core, compiled to wasm: the page never speaks RESP or knows a command by
//! itself.
//!
//! - [`ReplyDecoder`] turns bytes of a connection into reply objects of the page (`page/resp/reply.ts`).
//! - [`encode`] writes a request.
//! - [`split_input`] splits what a person typed into commands and their arguments, as redis-cli does.
//! - [`assist`] tells what may come next in a line: completions, and the syntax that is still to be typed.
//! - [`command_table`] is the table of commands, as JSON.
//!
//! The logic is in functions that know nothing of JavaScript and have their tests beside them; here is only the border.
//! Nothing here does I/O.

mod assist;
mod input;
mod replies;
mod table;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

pub use replies::ReplyDecoder;

/// One request, for the arguments of a command: texts (sent as UTF-8) or byte arrays.
///
/// # Errors
///
/// A `TypeError`-like text if an argument is neither.
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
/// commands, but not within quotes. Nothing if quotes are not closed or text follows a closing quote.
#[wasm_bindgen(js_name = splitInput)]
pub fn split_input(input: &str) -> Option<Array> {
    let commands = input::split_input(input.as_bytes())?;
    let command =
        |words: Vec<Vec<u8>>| words.iter().map(|word| Uint8Array::from(word.as_slice())).collect::<Array>();
    Some(commands.into_iter().map(command).collect())
}

/// What may come next behind `text`, as JSON: an object with `command`, `hint`, `replaces` and `completions`, each of
/// these with `word` and `detail`.
#[wasm_bindgen(js_name = assist)]
pub fn assist(text: &str) -> Result<String, JsError> {
    Ok(serde_json::to_string(&assist::assist(text))?)
}

/// All commands and subcommands, as JSON: an array of objects with `name`, `group`, `since`, `summary`, `complexity`,
/// `syntax`, `container` and, where a newer command does the same, `deprecated`.
#[wasm_bindgen(js_name = commandTable)]
pub fn command_table() -> Result<String, JsError> {
    Ok(serde_json::to_string(&table::entries())?)
}
