//! `instr`, `replace` and `trim`, in place of SQLite's own: those take as many steps as the product of two lengths, within which nothing
//! can stop them. These answer the same, and ask the host whether they may go on.

use edgecask_core::sql::SqlValue;

use crate::function::Output;
use crate::shared::{Shared, has_memory_to_grow};

/// Bytes that may be compared between two ticks: some 20 µs. WebAssembly compares them one by one.
const BYTES_OF_A_TICK: usize = if cfg!(target_arch = "wasm32") { 4 * 1024 } else { 128 * 1024 };

/// Bytes that are compared at once. Most comparisons end in the first of these.
const PIECE_BYTES: usize = 256;

/// Characters that `trim` compares between two questions whether it may go on.
const CHARACTERS_OF_A_TICK: usize = BYTES_OF_A_TICK / 8;

/// An argument that is not NULL: whether it is a BLOB, and its text.
#[derive(Clone, Copy)]
pub(crate) struct TextArgument<'a> {
    pub is_blob: bool,
    pub bytes: &'a [u8],
}

/// Why there is no result.
pub(crate) enum Ended {
    TooLarge,
    NoMemory,
    Stopped,
}

/// Counts the work of a function, and asks whether it may go on.
pub(crate) struct Meter<'a> {
    shared: &'a Shared,
    left: usize,
}

impl Meter<'_> {
    pub fn new(shared: &Shared) -> Meter<'_> {
        Meter { shared, left: BYTES_OF_A_TICK }
    }

    /// Fewer bytes than [`BYTES_OF_A_TICK`] at a time.
    fn work(&mut self, bytes: usize) -> Result<(), Ended> {
        self.left = self.left.saturating_sub(bytes);
        if self.left == 0 {
            if !self.shared.may_go_on() {
                return Err(Ended::Stopped);
            }
            self.left = BYTES_OF_A_TICK;
        }
        Ok(())
    }

    /// Any number of bytes.
    pub fn long_work(&mut self, mut bytes: usize) -> Result<(), Ended> {
        while bytes > 0 {
            let part = bytes.min(self.left);
            self.work(part)?;
            bytes -= part;
        }
        Ok(())
    }

    fn starts_with(&mut self, text: &[u8], what: &[u8]) -> Result<bool, Ended> {
        self.work(1)?;
        if text.first() != what.first() {
            return Ok(what.is_empty());
        }
        let Some(text) = text.get(..what.len()) else { return Ok(false) };
        for (piece, wanted) in text.chunks(PIECE_BYTES).zip(what.chunks(PIECE_BYTES)) {
            self.work(piece.len())?;
            if piece != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Gives the result, or says why there is none.
pub(crate) fn finish<R>(
    outcome: Result<R, Ended>,
    out: &mut dyn Output,
    give: impl FnOnce(R, &mut dyn Output),
) {
    match outcome {
        Ok(result) => give(result, out),
        Err(Ended::TooLarge) => out.too_large(),
        Err(Ended::NoMemory) => out.no_memory(),
        Err(Ended::Stopped) => out.error(b"stopped"),
    }
}

/// `instr(text, part)`: the place of the first, counted from 1 in characters, or in bytes if both are BLOBs; 0 if there is none.
pub(crate) fn instr(shared: &Shared, text: TextArgument<'_>, part: TextArgument<'_>, out: &mut dyn Output) {
    let is_text = !(text.is_blob && part.is_blob);
    let place = find(&mut Meter::new(shared), text.bytes, part.bytes, is_text);
    finish(place, out, |place, out| out.value(SqlValue::Integer(place)));
}

fn find(meter: &mut Meter<'_>, text: &[u8], part: &[u8], is_text: bool) -> Result<i64, Ended> {
    let (mut at, mut count) = (0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= part.len()) {
        if meter.starts_with(rest, part)? {
            return Ok(count);
        }
        count += 1;
        at += 1;
        while is_text && text.get(at).is_some_and(|byte| is_continued(*byte)) {
            at += 1;
        }
    }
    Ok(0)
}

/// Whether it goes on a character of UTF-8.
fn is_continued(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// `replace(text, part, other)`, of which `part` does not begin with a zero and is not empty.
pub(crate) fn replace(shared: &Shared, text: &[u8], part: &[u8], other: &[u8], out: &mut dyn Output) {
    let replaced = replaced(&mut Meter::new(shared), text, part, other, shared.value_bytes.get());
    finish(replaced, out, |text, out| out.value(SqlValue::Text(&text)));
}

fn replaced(
    meter: &mut Meter<'_>,
    text: &[u8],
    part: &[u8],
    other: &[u8],
    limit_bytes: usize,
) -> Result<Vec<u8>, Ended> {
    let most = (text.len() / part.len().max(1)).saturating_mul(other.len()).saturating_add(text.len());
    if !has_memory_to_grow(most.min(limit_bytes.saturating_add(other.len()))) {
        return Err(Ended::NoMemory);
    }
    let mut made = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= part.len()) {
        if meter.starts_with(rest, part)? {
            made.extend_from_slice(other);
            at += part.len().max(1);
        } else {
            made.extend_from_slice(rest.get(..1).unwrap_or_default());
            at += 1;
        }
        if made.len() > limit_bytes {
            return Err(Ended::TooLarge);
        }
    }
    made.extend_from_slice(text.get(at..).unwrap_or_default());
    if made.len() > limit_bytes { Err(Ended::TooLarge) } else { Ok(made) }
}

/// From which ends `trim` and its siblings cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Left,
    Right,
    Both,
}

/// `trim(text, characters)`
pub(crate) fn trim(shared: &Shared, text: &[u8], characters: &[u8], ends: Ends, out: &mut dyn Output) {
    let trimmed = trimmed(&mut Meter::new(shared), text, characters, ends);
    finish(trimmed, out, |text, out| out.value(SqlValue::Text(text)));
}

fn trimmed<'a>(
    meter: &mut Meter<'_>,
    mut text: &'a [u8],
    characters: &[u8],
    ends: Ends,
) -> Result<&'a [u8], Ended> {
    if !has_memory_to_grow(characters.len().saturating_mul(size_of::<&[u8]>())) {
        return Err(Ended::NoMemory);
    }
    let characters = split_characters(characters);
    let mut cut = |text: &mut &'a [u8], strip: fn(&'a [u8], &[u8]) -> Option<&'a [u8]>| loop {
        let mut rest = None;
        for characters in characters.chunks(CHARACTERS_OF_A_TICK) {
            meter.work(characters.len())?;
            rest = characters.iter().find_map(|character| strip(text, character));
            if rest.is_some() {
                break;
            }
        }
        match rest {
            Some(rest) => *text = rest,
            None => return Ok(()),
        }
    };
    if ends != Ends::Right {
        cut(&mut text, |text, character| text.strip_prefix(character))?;
    }
    if ends != Ends::Left {
        cut(&mut text, |text, character| text.strip_suffix(character))?;
    }
    Ok(text)
}

/// The characters of a text up to its first zero, as SQLite takes them.
fn split_characters(text: &[u8]) -> Vec<&[u8]> {
    let mut left = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut characters = Vec::new();
    while let Some((first, rest)) = left.split_first() {
        let more =
            if *first >= 0xc0 { rest.iter().take_while(|byte| is_continued(**byte)).count() } else { 0 };
        let (character, rest) = left.split_at(more + 1);
        characters.push(character);
        left = rest;
    }
    characters
}
