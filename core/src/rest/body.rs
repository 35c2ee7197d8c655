//! JSON bodies to commands. Elements are handed over one by one, so that no tree of them is ever in memory, and nested
//! values are passed over without recursion.

use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::commands::{Arguments, Commands};
use crate::limits::REST_COMMANDS_MAX;

const NO_ARRAY: &str = "expected a JSON array";

/// Why a body is refused.
pub(super) enum Fault {
    /// It is not the JSON that was expected; why.
    Syntax(String),
    /// The whole text of the error.
    Text(String),
}

/// Reads the one command of a body.
pub(super) fn read_command(body: &[u8]) -> Result<Arguments, Fault> {
    let mut arguments = Arguments::default();
    read_array(body, |element| push_argument(element, &mut arguments))?;
    Ok(arguments)
}

/// Reads all commands of a body.
pub(super) fn read_commands(body: &[u8]) -> Result<Commands, Fault> {
    let mut commands = Commands::default();
    let mut arguments = Arguments::default();
    read_array(body, |element| {
        if commands.refusals.len() >= REST_COMMANDS_MAX {
            return Err(Fault::Text(format!("ERR more than {REST_COMMANDS_MAX} commands in one request")));
        }
        read_array(element.as_bytes(), |element| push_argument(element, &mut arguments))?;
        let refusal = if arguments.is_empty() {
            Some("ERR empty pipeline command".to_owned())
        } else {
            arguments.refusal()
        };
        commands.push(&mut arguments, refusal);
        Ok(())
    })?;
    Ok(commands)
}

fn push_argument(element: &str, arguments: &mut Arguments) -> Result<(), Fault> {
    match element.as_bytes() {
        [b'"', text @ .., b'"'] if !text.contains(&b'\\') => arguments.push(text),
        [b'"', ..] => {
            let text = json_text(element.as_bytes()).map_err(|error| Fault::Syntax(error.to_string()))?;
            arguments.push(String::from_utf8_lossy(&text).as_bytes());
        }
        [b'n', ..] => return Err(Fault::Text("ERR null args are not supported".to_owned())),
        [bracket @ (b'[' | b'{'), ..] => {
            let bracket = char::from(*bracket);
            return Err(Fault::Text(format!("ERR unsupported arg type: \"{bracket}\": json.Delim")));
        }
        number_or_truth => arguments.push(number_or_truth),
    }
    Ok(())
}

/// Hands the text of every element of a JSON array to `take` until one is at fault.
fn read_array(json: &[u8], take: impl FnMut(&str) -> Result<(), Fault>) -> Result<(), Fault> {
    if json.trim_ascii_start().first() != Some(&b'[') {
        return Err(Fault::Syntax(NO_ARRAY.to_owned()));
    }
    let mut elements = Elements { take, fault: None };
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = (&mut elements).deserialize(&mut reader).and_then(|()| reader.end());
    match (elements.fault, read) {
        (Some(fault), _) => Err(fault),
        (None, Err(error)) => Err(Fault::Syntax(error.to_string())),
        (None, Ok(())) => Ok(()),
    }
}

struct Elements<T> {
    take: T,
    fault: Option<Fault>,
}

impl<'de, T: FnMut(&str) -> Result<(), Fault>> DeserializeSeed<'de> for &mut Elements<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: FnMut(&str) -> Result<(), Fault>> Visitor<'de> for &mut Elements<T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(element) = array.next_element::<&RawValue>()? {
            if let Err(fault) = (self.take)(element.get()) {
                self.fault = Some(fault);
                return Err(A::Error::custom("an element is at fault"));
            }
        }
        Ok(())
    }
}

/// What a string of JSON says, from its quote on; unlike as text, serde_json also gives half a surrogate pair.
///
/// # Errors
/// serde_json's, if no string begins here.
pub fn json_text(json: &[u8]) -> serde_json::Result<Vec<u8>> {
    serde_json::Deserializer::from_slice(json).deserialize_bytes(Text)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_bytes<E>(self, text: &[u8]) -> Result<Vec<u8>, E> {
        Ok(text.to_vec())
    }
}
