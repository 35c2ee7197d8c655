//! Ids as clients write them.

use smallvec::SmallVec;

use crate::command::CommandError;
use crate::data::stream::StreamId;
use crate::resp::parse_i64;

type Result<T> = std::result::Result<T, CommandError>;

const INVALID: CommandError =
    CommandError::text("ERR Invalid stream ID specified as stream command argument");

/// Redis reads an id out of a buffer of this size, its end included.
const ID_BUFFER_BYTES: usize = 128;

/// The id of a new entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewId {
    /// `*`: by the clock.
    Clock,
    /// `ms-*`: the next one of this millisecond.
    NextOf(u64),
    /// This one.
    Given(StreamId),
}

/// An id in full, or a millisecond, to which `missing_seq` is added.
pub(super) fn id(argument: &[u8], missing_seq: u64) -> Result<StreamId> {
    match new_id(argument, missing_seq)? {
        NewId::Given(id) => Ok(id),
        NewId::Clock | NewId::NextOf(_) => Err(INVALID),
    }
}

/// As [`id`], or `-` and `+` for the first and the last there may be.
pub(super) fn id_or_end(argument: &[u8], missing_seq: u64) -> Result<StreamId> {
    match until_nul(argument) {
        b"-" => Ok(StreamId::MIN),
        b"+" => Ok(StreamId::MAX),
        _ => id(argument, missing_seq),
    }
}

/// The id of a new entry; `*` is the caller's.
pub(super) fn new_id(argument: &[u8], missing_seq: u64) -> Result<NewId> {
    if argument.len() >= ID_BUFFER_BYTES {
        return Err(INVALID);
    }
    let text = until_nul(argument);
    let mut parts = text.splitn(2, |byte| *byte == b'-');
    let ms = parts.next().and_then(number).ok_or(INVALID)?;
    match parts.next() {
        None => Ok(NewId::Given(StreamId { ms, seq: missing_seq })),
        Some(b"*") => Ok(NewId::NextOf(ms)),
        Some(seq) => Ok(NewId::Given(StreamId { ms, seq: number(seq).ok_or(INVALID)? })),
    }
}

/// The lower end of a range: `(` excludes the id itself.
pub(super) fn range_start(argument: &[u8]) -> Result<StreamId> {
    match argument {
        [b'(', rest @ ..] if !rest.is_empty() => {
            id(rest, 0)?.next().ok_or(CommandError::text("ERR invalid start ID for the interval"))
        }
        _ => id_or_end(argument, 0),
    }
}

/// The upper end of a range.
pub(super) fn range_end(argument: &[u8]) -> Result<StreamId> {
    match argument {
        [b'(', rest @ ..] if !rest.is_empty() => {
            id(rest, u64::MAX)?.previous().ok_or(CommandError::text("ERR invalid end ID for the interval"))
        }
        _ => id_or_end(argument, u64::MAX),
    }
}

/// All ids of a list.
pub(super) fn ids(arguments: &[&[u8]]) -> Result<Vec<StreamId>> {
    arguments.iter().map(|argument| id(argument, 0)).collect()
}

/// The id as clients are shown it.
pub(super) fn text(id: StreamId) -> SmallVec<[u8; 64]> {
    let mut text = SmallVec::from_slice(itoa::Buffer::new().format(id.ms).as_bytes());
    text.push(b'-');
    text.extend_from_slice(itoa::Buffer::new().format(id.seq).as_bytes());
    text
}

/// C ends a text at its first NUL.
fn until_nul(argument: &[u8]) -> &[u8] {
    argument.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// A number as Redis' `string2ull` reads it: one that is no strict integer is left to C's `strtoull`, which takes white
/// space and signs and wraps negative numbers.
fn number(text: &[u8]) -> Option<u64> {
    if let Some(strict) = parse_i64(text) {
        return u64::try_from(strict).ok();
    }
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let blanks = text.iter().take_while(|byte| is_space(byte)).count();
    let (is_negative, digits) = match text.get(blanks..)? {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| value.checked_mul(10)?.checked_add(u64::from(digit))).flatten()
    })?;
    Some(if is_negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(u64, u64)>) {
        let read = id(text.as_bytes(), 7).ok().map(|id| (id.ms, id.seq));
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn ids_are_misread() {
        check("5", Some((5, 7)));
        check("5-6", Some((5, 6)));
        check("0-0", Some((0, 0)));
        check("18446744073709551615-18446744073709551615", Some((u64::MAX, u64::MAX)));
        check("18446744073709551616-0", None);
        check("", None);
        check("-", None);
        check("+", None);
        check("5-", None);
        check("-5", None);
        check("5-*", None);
        check("*", None);
        check("a-1", None);
        check("1-a", None);
        check("1-2-3", None);
        check("1--5", None);
        check("1--05", Some((1, 5_u64.wrapping_neg())));
        check(" 1-+2", Some((1, 2)));
        check("01-1", Some((1, 1)));
        check("1 -1", None);
        check("5\0junk", Some((5, 7)));
        assert!(id(&[b'0'; 127], 0).is_ok());
        assert!(id(&[b'0'; 128], 0).is_err());
        assert_eq!(new_id(b"5-*", 0), Ok(NewId::NextOf(5)));
    }

    #[test]
    fn range_ends_are_misread() {
        assert_eq!(range_start(b"-"), Ok(StreamId::MIN));
        assert_eq!(range_end(b"+"), Ok(StreamId::MAX));
        assert_eq!(range_start(b"(5"), Ok(StreamId { ms: 5, seq: 1 }));
        assert_eq!(range_end(b"(5"), Ok(StreamId { ms: 5, seq: u64::MAX - 1 }));
        assert_eq!(range_end(b"(5-0"), Ok(StreamId { ms: 4, seq: u64::MAX }));
        assert_eq!(range_end(b"5"), Ok(StreamId { ms: 5, seq: u64::MAX }));
        assert!(range_start(b"(").is_err() && range_start(b"(-").is_err() && range_start(b"(+").is_err());
        assert!(range_start(b"(18446744073709551615-18446744073709551615").is_err());
        assert!(range_end(b"(0-0").is_err());
    }
}
