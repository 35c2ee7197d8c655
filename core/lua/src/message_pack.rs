//! `cmsgpack`: lua-cmsgpack 0.4.0, as Redis has it. A table is an array if its keys are 1 to n, empty ones included; a number is an
//! integer if it is exactly one, and a float of 4 bytes if that loses nothing. What has no form here packs as nil.

use std::ffi::c_int;

use edgecask_core::script::{Mark, Reader, Table, Value, Writer};

use crate::caller::Meter;
use crate::library::{Arguments, Done, LibraryError, append, make_room, no_memory, pairs_of};

/// Arrays and maps nested deeper are refused on unpacking.
const DEPTH_MAX: usize = 1000;

/// More than a number or a length takes.
const SHORT_BYTES: usize = 64;

/// `cmsgpack.pack`
pub(crate) fn pack(arguments: &Arguments<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    if arguments.count() == 0 {
        return Err(LibraryError::Argument(0, "MessagePack pack needs input.".into()));
    }
    let limit = out.room_bytes();
    let mut packed = Vec::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    for argument in arguments.all() {
        let mut next = Some(*argument);
        while let Some(value) = next {
            meter.work(8)?;
            make_room(&mut packed, SHORT_BYTES, meter)?;
            match value {
                Value::Nil | Value::Null | Value::TooDeep | Value::Other(_) => packed.push(0xc0),
                Value::Boolean(value) => packed.push(0xc2 + u8::from(value)),
                Value::Number(number) => pack_number(number, &mut packed),
                Value::Integer(number) => pack_number(number as f64, &mut packed),
                Value::Text(text) => {
                    meter.work_on(text.len() / 8)?;
                    pack_length(text.len() as u64, [(0xa0, 32), (0xd9, 1 << 8)], 0xda, &mut packed);
                    append(&mut packed, text, meter)?;
                }
                Value::Table(table) => open.push(pack_table(table, &mut packed, meter)?),
            }
            if packed.len() > limit {
                return Err(no_memory());
            }
            next = None;
            while let Some(innermost) = open.last_mut() {
                next = innermost.next();
                if next.is_some() {
                    break;
                }
                open.pop();
            }
        }
    }
    out.long_text(&packed, &mut |bytes| meter.copied(bytes))
}

/// A table that is being packed.
enum Open<'a> {
    /// The items, and the values behind them in the order of their keys.
    Array { items: u64, values: Reader<'a>, rest: std::vec::IntoIter<Value<'a>> },
    /// `key` says whether the key of the next item is to come.
    Map { items: u64, index: u64, key: bool, values: Reader<'a> },
}

impl<'a> Open<'a> {
    /// What is to be packed next.
    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Open::Array { items, values, rest } => match items.checked_sub(1) {
                Some(left) => {
                    *items = left;
                    values.next()
                }
                None => rest.next(),
            },
            Open::Map { items, index, key, values } => {
                *key = !*key;
                if *key || *index >= *items {
                    return values.next();
                }
                *index += 1;
                Some(Value::Number(*index as f64))
            }
        }
    }
}

/// Writes the header of a table.
fn pack_table<'a>(
    table: Table<'a>,
    packed: &mut Vec<u8>,
    meter: &mut Meter<'_>,
) -> Result<Open<'a>, LibraryError> {
    let items = table.item_count();
    let count = items + table.pair_count();
    Ok(match sequence(table, meter)? {
        Some(rest) => {
            pack_length(count, [(0x90, 16), (0, 0)], 0xdc, packed);
            Open::Array { items, values: table.values(), rest: rest.into_iter() }
        }
        None => {
            pack_length(count, [(0x80, 16), (0, 0)], 0xde, packed);
            Open::Map { items, index: 0, key: true, values: table.values() }
        }
    })
}

/// The values of the pairs in the order of their keys, if these continue the items without a gap.
fn sequence<'a>(table: Table<'a>, meter: &mut Meter<'_>) -> Result<Option<Vec<Value<'a>>>, LibraryError> {
    let mut values: Vec<Value<'a>> = Vec::new();
    if table.pair_count() == 0 {
        return Ok(Some(values));
    }
    let mut pairs = pairs_of(table, meter)?;
    let first = pairs.clone();
    let items = table.item_count() as f64;
    let last = items + table.pair_count() as f64;
    while let (Some(key), Some(_)) = (pairs.next(), pairs.next()) {
        meter.work(4)?;
        match key {
            Value::Number(key) if key > items && key <= last && key.fract() == 0.0 => {}
            _ => return Ok(None),
        }
    }
    // No key is there twice, so each has a place of its own, and none is empty.
    let count = usize::try_from(table.pair_count()).unwrap_or(usize::MAX);
    values.try_reserve_exact(count).map_err(|_| no_memory())?;
    while values.len() < count {
        meter.work(4)?;
        values.push(Value::Nil);
    }
    let mut pairs = first;
    while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
        meter.work(8)?;
        if let Value::Number(key) = key
            && let Some(place) = values.get_mut((key - items) as usize - 1)
        {
            *place = value;
        }
    }
    Ok(Some(values))
}

/// Writes a length: in the first byte, in one byte, or in two or four after the codes `wide` and `wide + 1`.
fn pack_length(length: u64, short: [(u8, u64); 2], wide: u8, packed: &mut Vec<u8>) {
    let [(fixed, fixed_below), (byte, byte_below)] = short;
    if length < fixed_below {
        packed.push(fixed | length as u8);
    } else if length < byte_below {
        packed.extend_from_slice(&[byte, length as u8]);
    } else if let Ok(length) = u16::try_from(length) {
        packed.push(wide);
        packed.extend_from_slice(&length.to_be_bytes());
    } else {
        packed.push(wide + 1);
        packed.extend_from_slice(&(length as u32).to_be_bytes());
    }
}

fn pack_number(number: f64, packed: &mut Vec<u8>) {
    let whole = number as i64;
    if whole as f64 == number && whole != i64::MAX {
        return pack_integer(whole, packed);
    }
    let single = number as f32;
    if f64::from(single) == number {
        packed.push(0xca);
        packed.extend_from_slice(&single.to_be_bytes());
    } else {
        packed.push(0xcb);
        packed.extend_from_slice(&number.to_be_bytes());
    }
}

fn pack_integer(value: i64, packed: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    let (code, size) = match value {
        -32..128 => return packed.push(value as u8),
        128..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -128..=-33 => (0xd0, 1),
        -0x8000..=-129 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        i64::MIN..=-0x8000_0001 => (0xd3, 8),
    };
    packed.push(code);
    packed.extend_from_slice(&bytes[8 - size..]);
}

/// `cmsgpack.unpack`, `unpack_one` and `unpack_limit`, in this order.
pub(crate) fn unpack(
    function: c_int,
    arguments: &Arguments<'_>,
    out: &mut Writer,
    meter: &mut Meter<'_>,
) -> Done {
    let (limit, offset) = match function {
        0 => (0, 0),
        1 => (1, arguments.integer_or(2, 0)?),
        _ => (arguments.integer(2)?, arguments.integer_or(3, 0)?),
    };
    let packed = arguments.text(1)?;
    if offset < 0 || limit < 0 {
        let text =
            format!("Invalid request to unpack with offset of {offset} and limit of {}.", packed.len());
        return Err(LibraryError::Text(text));
    }
    let Some(input) = usize::try_from(offset).ok().and_then(|offset| packed.get(offset..)) else {
        let text = format!("Start offset {offset} greater than input length {}.", packed.len());
        return Err(LibraryError::Text(text));
    };
    let is_all = limit == 0 && offset == 0;
    // The place after the last value comes first among the results, but is known last.
    let mut values = Writer::new(out.room_bytes());
    let mut input = Input { left: input };
    let mut count = 0;
    while !input.left.is_empty() && (is_all || count < limit) {
        unpack_one(&mut input, &mut values, meter)?;
        count += 1;
    }
    if !is_all {
        let next = if input.left.is_empty() { -1.0 } else { (packed.len() - input.left.len()) as f64 };
        out.number(next);
    }
    out.append_long(values.as_bytes(), &mut |bytes| meter.copied(bytes))
}

struct Input<'a> {
    left: &'a [u8],
}

fn missing() -> LibraryError {
    LibraryError::text("Missing bytes in input.")
}

fn bad_format() -> LibraryError {
    LibraryError::text("Bad data format in input.")
}

impl<'a> Input<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], LibraryError> {
        let (head, rest) = usize::try_from(count)
            .ok()
            .and_then(|count| self.left.split_at_checked(count))
            .ok_or_else(missing)?;
        self.left = rest;
        Ok(head)
    }

    /// An unsigned number of so many bytes.
    fn unsigned(&mut self, size: u64) -> Result<u64, LibraryError> {
        Ok(self.take(size)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
}

/// An array or map that is being read.
struct Nested {
    mark: Mark,
    is_map: bool,
    count: u64,
    left: u64,
}

/// Reads one value with all that is in it.
fn unpack_one(input: &mut Input<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    let mut open: Vec<Nested> = Vec::new();
    loop {
        meter.work(8)?;
        out.make_room(SHORT_BYTES, &mut |bytes| meter.copied(bytes))?;
        if out.is_full() {
            return Err(no_memory());
        }
        let code = input.unsigned(1)?;
        let nested = match code {
            0x80..=0x8f => Some((true, code & 15)),
            0x90..=0x9f => Some((false, code & 15)),
            0xdc => Some((false, input.unsigned(2)?)),
            0xdd => Some((false, input.unsigned(4)?)),
            0xde => Some((true, input.unsigned(2)?)),
            0xdf => Some((true, input.unsigned(4)?)),
            _ => {
                unpack_scalar(code, input, out, meter)?;
                None
            }
        };
        if let Some((is_map, count)) = nested {
            if open.len() >= DEPTH_MAX {
                return Err(bad_format());
            }
            let left = if is_map { count * 2 } else { count };
            open.push(Nested { mark: out.table_start(), is_map, count, left });
        }
        loop {
            let Some(innermost) = open.last_mut() else { return Ok(()) };
            if innermost.left > 0 {
                // A key that is nil or no number names no place in a table.
                let is_key = innermost.is_map && innermost.left % 2 == 0;
                if is_key && input.left.first() == Some(&0xc0) {
                    return Err(LibraryError::Bare("table index is nil".into()));
                }
                innermost.left -= 1;
                break;
            }
            if let Some(Nested { mark, is_map, count, .. }) = open.pop() {
                if is_map {
                    out.table_end(mark, 0, count);
                } else {
                    out.table_end(mark, count, 0);
                }
            }
        }
    }
}

fn unpack_scalar(code: u64, input: &mut Input<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    match code {
        0x00..=0x7f => out.number(code as f64),
        0xe0..=0xff => out.number(f64::from(code as u8 as i8)),
        0xc0 => out.nil(),
        0xc2 | 0xc3 => out.boolean(code == 0xc3),
        0xca => out.number(f64::from(f32::from_bits(input.unsigned(4)? as u32))),
        0xcb => out.number(f64::from_bits(input.unsigned(8)?)),
        0xcc..=0xcf => {
            let size = 1 << (code - 0xcc);
            out.number(input.unsigned(size)? as f64);
        }
        0xd0..=0xd3 => {
            let size = 1 << (code - 0xd0);
            let shift = 64 - 8 * size;
            let value = (input.unsigned(size)? << shift) as i64 >> shift;
            out.number(value as f64);
        }
        0xa0..=0xbf | 0xd9..=0xdb => {
            let size = if code < 0xc0 { code & 31 } else { input.unsigned(1 << (code - 0xd9))? };
            let text = input.take(size)?;
            meter.work_on(text.len() / 8)?;
            out.long_text(text, &mut |bytes| meter.copied(bytes))?;
        }
        _ => return Err(bad_format()),
    }
    Ok(())
}
