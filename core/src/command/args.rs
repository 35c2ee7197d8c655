//! Parsing of arguments that many commands share, with Redis' error texts.

use std::borrow::Cow;

use super::CommandError;
use crate::engine::Db;
use crate::resp;
use crate::server::Shared;

type Result<T> = std::result::Result<T, CommandError>;

/// Whether an argument is this option, in any case. `option` is upper case.
pub fn is_option(argument: &[u8], option: &str) -> bool {
    argument.eq_ignore_ascii_case(option.as_bytes())
}

/// A 64-bit signed integer, or the error that it is none.
pub fn integer(argument: &[u8]) -> Result<i64> {
    resp::parse_i64(argument).ok_or(CommandError::NOT_INTEGER)
}

/// An integer within bounds, or `error`.
pub fn integer_in(argument: &[u8], range: std::ops::RangeInclusive<i64>, error: CommandError) -> Result<i64> {
    resp::parse_i64(argument).filter(|value| range.contains(value)).ok_or(error)
}

/// An integer, with Redis' error that names the bounds if it is outside of them.
pub fn integer_between(argument: &[u8], least: i64, most: i64) -> Result<i64> {
    let value = integer(argument)?;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let text = format!("ERR value is out of range, value must between {least} and {most}");
    Err(CommandError::owned(text))
}

/// The number of a database that there is.
pub fn db_index(argument: &[u8], shared: &Shared) -> Result<Db> {
    let number = integer_between(argument, i64::from(i32::MIN), i64::from(i32::MAX))?;
    let db = Db::try_from(number).ok().filter(|db| *db < shared.settings.databases());
    db.ok_or(CommandError::text("ERR DB index is out of range"))
}

/// A count that must not be negative ("value is out of range, must be positive" otherwise).
pub fn positive(argument: &[u8]) -> Result<u64> {
    let value = resp::parse_i64(argument).ok_or(CommandError::OUT_OF_RANGE_POSITIVE)?;
    u64::try_from(value).map_err(|_| CommandError::OUT_OF_RANGE_POSITIVE)
}

/// What LMPOP and ZMPOP take, from the number of keys on: `numkeys key [key ...] end [COUNT count]`.
pub struct SeveralPop<'a, E> {
    /// The keys in the order in which they are tried.
    pub keys: &'a [&'a [u8]],
    /// Where elements are taken from.
    pub end: E,
    /// How many, at most.
    pub count: u64,
}

impl<'a, E> SeveralPop<'a, E> {
    /// Reads them; `end` reads the word for the end.
    pub fn parse(args: &'a [&'a [u8]], end: impl FnOnce(&[u8]) -> Result<E>) -> Result<SeveralPop<'a, E>> {
        const NUMKEYS: CommandError = CommandError::text("ERR numkeys should be greater than 0");
        const COUNT: CommandError = CommandError::text("ERR count should be greater than 0");
        let [numkeys, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
        let numkeys = integer_in(numkeys, 1..=i64::MAX, NUMKEYS)?;
        let keys = usize::try_from(numkeys).ok().and_then(|count| rest.split_at_checked(count));
        let Some((keys, [from, options @ ..])) = keys else { return Err(CommandError::SYNTAX) };
        let end = end(from)?;
        let count = match options {
            [] => 1,
            [name, count, others @ ..] if is_option(name, "COUNT") => {
                let count = integer_in(count, 1..=i64::MAX, COUNT)?;
                if !others.is_empty() {
                    return Err(CommandError::SYNTAX);
                }
                count.unsigned_abs()
            }
            _ => return Err(CommandError::SYNTAX),
        };
        Ok(SeveralPop { keys, end, count })
    }
}

/// A double (infinities included), or the error that it is none.
pub fn float(argument: &[u8]) -> Result<f64> {
    resp::parse_f64(argument).ok_or(CommandError::NOT_FLOAT)
}

/// Redis' start and stop indexes over `len` elements, negative ones counting from the end, as a half-open range of
/// ranks; None if it is empty.
pub fn index_range(start: i64, stop: i64, len: u64) -> Option<(u64, u64)> {
    let resolve = |index: i64| match u64::try_from(index) {
        Ok(index) => index,
        Err(_) => len.saturating_sub(index.unsigned_abs()),
    };
    let stop = if stop < 0 && stop.unsigned_abs() > len { return None } else { resolve(stop) };
    let start = resolve(start);
    (start <= stop && start < len).then(|| (start, stop.min(len.saturating_sub(1)) + 1))
}

/// What an error text shows of the client's bytes: like Redis at most so many and none from the first NUL on, but as
/// UTF-8, because clients decode error texts.
pub fn quoted(bytes: &[u8], most: usize) -> Cow<'_, str> {
    let shown = bytes.get(..most).unwrap_or(bytes);
    String::from_utf8_lossy(shown.split(|byte| *byte == 0).next().unwrap_or_default())
}
