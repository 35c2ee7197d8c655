//! Functions of texts. They count bytes, as RediSearch's do.

use super::super::value::{Message, Value};

/// Longest text that `format` makes: each of a chain of APPLY could otherwise double what the one before made.
const FORMATTED_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Longest text that `contains` looks for; the search holds four bytes for each of it.
const PART_MAX_BYTES: usize = 1024 * 1024;

/// Most parts that `split` makes.
const PARTS_MAX: usize = 1024;

/// How often a part stands in a text, overlapping ones counted; an empty part stands before every byte and at the end.
///
/// The failure function of Knuth, Morris and Pratt keeps it linear, whatever the texts are.
pub(super) fn occurrences(text: &[u8], part: &[u8]) -> Result<usize, Message> {
    if part.is_empty() {
        return Ok(text.len() + 1);
    }
    if part.len() > text.len() {
        return Ok(0);
    }
    if part.len() > PART_MAX_BYTES {
        return Err("Text to look for in contains is too long".into());
    }
    let at = |index: usize| part.get(index).copied();
    let mut borders = vec![0_u32; part.len() + 1];
    let advance = |borders: &[u32], mut matched: usize, byte: u8| {
        while matched > 0 && at(matched) != Some(byte) {
            matched = borders.get(matched).map_or(0, |border| *border as usize);
        }
        matched + usize::from(at(matched) == Some(byte))
    };
    let mut matched = 0;
    for (index, byte) in part.iter().enumerate().skip(1) {
        matched = advance(&borders, matched, *byte);
        if let Some(border) = borders.get_mut(index + 1) {
            *border = matched as u32;
        }
    }
    let mut count = 0;
    matched = 0;
    for byte in text {
        matched = advance(&borders, matched, *byte);
        count += usize::from(matched == part.len());
    }
    Ok(count)
}

/// `substr`: a negative offset counts from the end, a negative length leaves out so many bytes of the end. An offset before the beginning
/// makes an empty text, as RediSearch's unsigned comparison does.
pub(super) fn substring(text: &[u8], offset: f64, length: f64) -> &[u8] {
    let size = text.len() as i64;
    // Casts of doubles saturate, and texts are far shorter.
    let (offset, length) = (offset as i32, i64::from(length as i32));
    let offset = i64::from(offset);
    let start = if offset < 0 { size + offset } else { offset.min(size) };
    let start = if start < 0 { size } else { start };
    let length = if length < 0 { size - start + length } else { length };
    let end = start + length.clamp(0, size - start);
    text.get(start as usize..end as usize).unwrap_or_default()
}

/// `format`: `%s` stands for the next argument, `%%` for a percent sign.
pub(super) fn format(format: &[u8], arguments: &[Value]) -> Result<Value, Message> {
    let mut out = Vec::with_capacity(format.len());
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let Some((kind, tail)) = rest.split_first() else { return Err("Bad format string!".into()) };
        rest = tail;
        if *kind == b'%' {
            out.push(b'%');
            continue;
        }
        let Some(argument) = arguments.next() else { return Err("Not enough arguments for format".into()) };
        if *kind != b's' {
            return Err("Unknown format specifier passed".into());
        }
        match argument {
            Value::Null => out.extend_from_slice(b"(null)"),
            other => out.extend_from_slice(&other.to_text()),
        }
        if out.len() > FORMATTED_MAX_BYTES {
            return Err("Result of format is too long".into());
        }
    }
    Ok(Value::text(&out))
}

/// `split`: parts between any of the separators, without the stripped bytes around them; empty ones are left out.
pub(super) fn split(text: &[u8], separators: &[u8], stripped: &[u8]) -> Value {
    let parts = text.split(|byte| separators.contains(byte)).map(|part| {
        let start = part.iter().take_while(|byte| stripped.contains(byte)).count();
        let part = part.get(start..).unwrap_or_default();
        let end = part.iter().rev().take_while(|byte| stripped.contains(byte)).count();
        part.get(..part.len() - end).unwrap_or_default()
    });
    Value::list(parts.filter(|part| !part.is_empty()).take(PARTS_MAX).map(Value::text).collect())
}
