//! How the ends of ranges are written: `1.5`, `(1.5`, `-inf` for scores; `[name`, `(name`, `-`, `+` for names.

use crate::command::CommandError;
use crate::data::zset::{LexBound, LexRange, ScoreBound, ScoreRange};

type Result<T> = std::result::Result<T, CommandError>;

/// A range of scores.
pub(super) fn score_range(min: &[u8], max: &[u8]) -> Result<ScoreRange> {
    let range = score_bound(min).zip(score_bound(max));
    let (min, max) = range.ok_or(CommandError::text("ERR min or max is not a float"))?;
    Ok(ScoreRange { min, max })
}

/// A range of names.
pub(super) fn lex_range<'a>(min: &'a [u8], max: &'a [u8]) -> Result<LexRange<'a>> {
    let range = lex_bound(min).zip(lex_bound(max));
    let (min, max) = range.ok_or(CommandError::text("ERR min or max not valid string range item"))?;
    Ok(LexRange { min, max })
}

fn score_bound(text: &[u8]) -> Option<ScoreBound> {
    let (is_exclusive, number) = match text {
        [b'(', number @ ..] => (true, number),
        number => (false, number),
    };
    Some(ScoreBound { score: lenient_number(number)?, is_exclusive })
}

/// A double as C's `strtod` reads it, which is what Redis does here, unlike for scores: blanks in front are skipped, a
/// number too large is infinite, the text ends at a zero byte, and nothing at all is 0.
fn lenient_number(text: &[u8]) -> Option<f64> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    if text.is_empty() {
        return Some(0.0);
    }
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    let number = text.get(blanks..).unwrap_or_default();
    let number: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

fn lex_bound(text: &[u8]) -> Option<LexBound<'_>> {
    match text {
        b"-" => Some(LexBound::Lowest),
        b"+" => Some(LexBound::Highest),
        [b'[', name @ ..] => Some(LexBound::Inclusive(name)),
        [b'(', name @ ..] => Some(LexBound::Exclusive(name)),
        _ => None,
    }
}
