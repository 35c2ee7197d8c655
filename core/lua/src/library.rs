//! The libraries that are written in Rust: one function for each number that C knows, over flat bytes.

use std::borrow::Cow;
use std::ffi::c_int;

use edgecask_core::script::{Reader, Table, Value, Writer, pieces};

use crate::caller::Meter;
use crate::{json, message_pack, number, structure};

/// Why a function of a library failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LibraryError {
    /// An error at the place of the call.
    Text(String),
    /// The same without the place.
    Bare(String),
    /// `bad argument #number to 'function' (text)`
    Argument(c_int, String),
    /// An error in the shape of `redis.call`'s, without its code.
    Redis(String),
    /// The run was ended from outside.
    Stopped,
}

impl LibraryError {
    pub fn text(text: impl Into<String>) -> LibraryError {
        LibraryError::Text(text.into())
    }
}

pub(crate) type Done = Result<(), LibraryError>;

/// Runs the function of this number, as `csrc/libraries.c` counts them. Its results go to `out`, one value after the other.
pub(crate) fn run(
    function: c_int,
    settings: &mut [u8],
    flat: &[u8],
    out: &mut Writer,
    meter: &mut Meter<'_>,
) -> Done {
    let arguments = Arguments { values: Reader::new(flat).collect() };
    match function {
        0 => sha1hex(&arguments, out, meter),
        1 => json::encode(&arguments, settings, out, meter),
        2 => json::decode(&arguments, settings, out, meter),
        3..=9 => json::configure(function - 3, &arguments, settings, out),
        10 => message_pack::pack(&arguments, out, meter),
        11..=13 => message_pack::unpack(function - 11, &arguments, out, meter),
        14 => structure::pack(&arguments, out, meter),
        15 => structure::unpack(&arguments, out, meter),
        16 => structure::size(&arguments, out, meter),
        _ => Err(LibraryError::text("no such function")),
    }
}

/// Makes room in a buffer for so many bytes more.
pub(crate) fn make_room(buffer: &mut Vec<u8>, bytes: usize, meter: &mut Meter<'_>) -> Done {
    if pieces::reserve(buffer, bytes, &mut |bytes| meter.copied(bytes))? { Ok(()) } else { Err(no_memory()) }
}

/// Appends bytes to a buffer.
pub(crate) fn append(buffer: &mut Vec<u8>, bytes: &[u8], meter: &mut Meter<'_>) -> Done {
    if pieces::append(buffer, bytes, &mut |bytes| meter.copied(bytes))? { Ok(()) } else { Err(no_memory()) }
}

/// The error of a library that finds no memory for what it makes.
pub(crate) fn no_memory() -> LibraryError {
    LibraryError::text("not enough memory")
}

/// Bytes that are looked at between two ticks.
pub(crate) const SEARCHED_PIECE_BYTES: usize = 16 * 1024;

/// The place of the first NUL.
pub(crate) fn position_of_nul(bytes: &[u8], meter: &mut Meter<'_>) -> Result<Option<usize>, LibraryError> {
    for (index, piece) in bytes.chunks(SEARCHED_PIECE_BYTES).enumerate() {
        if let Some(at) = piece.iter().position(|byte| *byte == 0) {
            return Ok(Some(index * SEARCHED_PIECE_BYTES + at));
        }
        meter.work_on(piece.len())?;
    }
    Ok(None)
}

/// Reads the keys beside a table's items, each with its value: the items are stepped over.
pub(crate) fn pairs_of<'a>(table: Table<'a>, meter: &mut Meter<'_>) -> Result<Reader<'a>, LibraryError> {
    let mut values = table.values();
    for _ in 0..table.item_count() {
        meter.work(2)?;
        if values.next().is_none() {
            break;
        }
    }
    Ok(values)
}

/// Bytes that are hashed between two ticks.
const HASHED_PIECE_BYTES: usize = 16 * 1024;

fn sha1hex(arguments: &Arguments<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    if arguments.count() != 1 {
        return Err(LibraryError::Redis("wrong number of arguments".into()));
    }
    // What is no text hashes as the empty one, as in Redis.
    let text = arguments.text(1).unwrap_or_default();
    let mut hash = sha1_smol::Sha1::new();
    for piece in text.chunks(HASHED_PIECE_BYTES) {
        meter.work_on(piece.len() * 2)?;
        hash.update(piece);
    }
    out.text(hash.digest().to_string().as_bytes());
    Ok(())
}

/// The arguments of a call, counted from 1 as Lua does.
pub(crate) struct Arguments<'a> {
    values: Vec<Value<'a>>,
}

impl<'a> Arguments<'a> {
    pub fn count(&self) -> usize {
        self.values.len()
    }

    pub fn all(&self) -> &[Value<'a>] {
        &self.values
    }

    pub fn get(&self, number: usize) -> Option<Value<'a>> {
        self.values.get(number.checked_sub(1)?).copied()
    }

    /// Whether it is missing or nil.
    pub fn is_absent(&self, number: usize) -> bool {
        matches!(self.get(number), None | Some(Value::Nil))
    }

    fn wrong_type(&self, number: usize, expected: &str) -> LibraryError {
        let found = self.get(number).map_or("no value", type_name);
        LibraryError::Argument(number as c_int, format!("{expected} expected, got {found}"))
    }

    /// A string, or a number as a string.
    pub fn text(&self, number: usize) -> Result<Cow<'a, [u8]>, LibraryError> {
        match self.get(number) {
            Some(Value::Text(text)) => Ok(Cow::Borrowed(text)),
            Some(Value::Number(value)) => Ok(Cow::Owned(number::general(value, 14))),
            _ => Err(self.wrong_type(number, "string")),
        }
    }

    /// A number, or a string that is one.
    pub fn number(&self, number: usize) -> Result<f64, LibraryError> {
        match self.get(number) {
            Some(Value::Number(value)) => Some(value),
            Some(Value::Text(text)) if text.len() <= number::TEXT_MAX_BYTES => number::whole_text(text),
            _ => None,
        }
        .ok_or_else(|| self.wrong_type(number, "number"))
    }

    /// A number without its fraction.
    pub fn integer(&self, number: usize) -> Result<i64, LibraryError> {
        self.number(number).map(|value| value as i64)
    }

    /// The same, or what stands for nothing.
    pub fn integer_or(&self, number: usize, default: i64) -> Result<i64, LibraryError> {
        if self.is_absent(number) { Ok(default) } else { self.integer(number) }
    }
}

/// Lua's name of a value's type.
pub(crate) fn type_name(value: Value<'_>) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Boolean(_) => "boolean",
        Value::Number(_) | Value::Integer(_) => "number",
        Value::Text(_) => "string",
        Value::Table(_) | Value::TooDeep => "table",
        Value::Null => "userdata",
        Value::Other(kind) => kind.name(),
    }
}
