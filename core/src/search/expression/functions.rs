//! The functions, by name. Texts, dates and distances have files of their own.

use super::super::value::{Message, Value, digits, message};
use super::{geo, texts, time};

/// Most terms that `matched_terms` answers.
const MATCHED_TERMS_MAX: f64 = 100.0;

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Log,
    Abs,
    Ceil,
    Floor,
    Log2,
    Exp,
    Sqrt,
    Lower,
    Upper,
    StartsWith,
    Contains,
    StrLen,
    SubStr,
    Format,
    Split,
    MatchedTerms,
    ToNumber,
    ToStr,
    TimeFmt,
    ParseTime,
    Day,
    Hour,
    Minute,
    Month,
    DayOfWeek,
    DayOfMonth,
    DayOfYear,
    Year,
    MonthOfYear,
    GeoDistance,
    Exists,
    Case,
}

/// Names, and the least and the greatest number of arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 32] = [
    ("log", Function::Log, 1, 1),
    ("abs", Function::Abs, 1, 1),
    ("ceil", Function::Ceil, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("log2", Function::Log2, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("sqrt", Function::Sqrt, 1, 1),
    ("lower", Function::Lower, 1, 1),
    ("upper", Function::Upper, 1, 1),
    ("startswith", Function::StartsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
    ("strlen", Function::StrLen, 1, 1),
    ("substr", Function::SubStr, 3, 3),
    ("format", Function::Format, 1, usize::MAX),
    ("split", Function::Split, 1, 3),
    ("matched_terms", Function::MatchedTerms, 0, 1),
    ("to_number", Function::ToNumber, 1, 1),
    ("to_str", Function::ToStr, 1, 1),
    ("timefmt", Function::TimeFmt, 1, 2),
    ("parsetime", Function::ParseTime, 2, 2),
    ("day", Function::Day, 1, 1),
    ("hour", Function::Hour, 1, 1),
    ("minute", Function::Minute, 1, 1),
    ("month", Function::Month, 1, 1),
    ("dayofweek", Function::DayOfWeek, 1, 1),
    ("dayofmonth", Function::DayOfMonth, 1, 1),
    ("dayofyear", Function::DayOfYear, 1, 1),
    ("year", Function::Year, 1, 1),
    ("monthofyear", Function::MonthOfYear, 1, 1),
    ("geodistance", Function::GeoDistance, 2, 4),
    ("exists", Function::Exists, 1, 1),
    ("case", Function::Case, 3, 3),
];

impl Function {
    /// The function of this name in any case, and how many arguments it takes.
    pub(super) fn find(name: &[u8]) -> Option<(Function, usize, usize)> {
        FUNCTIONS
            .iter()
            .find(|(other, ..)| other.as_bytes().eq_ignore_ascii_case(name))
            .map(|(_, function, least, most)| (*function, *least, *most))
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function, ..)| *function == self).map_or("", |(name, ..)| name)
    }
}

/// The value of a function that looks at all its arguments, whose number is right.
pub(super) fn apply(function: Function, arguments: &[Value]) -> Result<Value, Message> {
    match (function, arguments) {
        (Function::Lower, [value]) => Ok(mapped(value, <[u8]>::to_ascii_lowercase)),
        (Function::Upper, [value]) => Ok(mapped(value, <[u8]>::to_ascii_uppercase)),
        (Function::StartsWith, [text, start]) => {
            Ok(Value::truth(needed_text(function, text, 0)?.starts_with(needed_text(function, start, 1)?)))
        }
        (Function::Contains, [text, part]) => {
            let count = texts::occurrences(needed_text(function, text, 0)?, needed_text(function, part, 1)?)?;
            Ok(Value::Number(count as f64))
        }
        (Function::StrLen, [text]) => Ok(Value::Number(needed_text(function, text, 0)?.len() as f64)),
        (Function::SubStr, [text, offset, length]) => {
            let (offset, length) = (needed_number(function, offset, 1)?, needed_number(function, length, 2)?);
            match text.as_text() {
                Some(text) => Ok(Value::text(texts::substring(text, offset, length))),
                None => Err("Invalid type for substr. Expected string".into()),
            }
        }
        (Function::Format, [format, arguments @ ..]) => {
            texts::format(needed_text(function, format, 0)?, arguments)
        }
        (Function::Split, [text, others @ ..]) => {
            let text = needed_text(function, text, 0)?;
            let separators = others.first().map_or(Ok(&b","[..]), |value| needed_text(function, value, 1))?;
            let stripped = others.get(1).map_or(Ok(&b" "[..]), |value| needed_text(function, value, 2))?;
            Ok(texts::split(text, separators, stripped))
        }
        (Function::ToNumber, [value]) => match value.to_number() {
            Some(number) => Ok(Value::Number(number)),
            None => Err(message(&[b"to_number: cannot convert string '", &value.to_text(), b"'"])),
        },
        (Function::ToStr, [value]) => Ok(Value::text(&value.to_text())),
        (Function::TimeFmt, [seconds, format @ ..]) => {
            let format =
                format.first().map_or(Ok(&b"%FT%TZ"[..]), |value| needed_text(function, value, 1))?;
            Ok(seconds
                .to_number()
                .and_then(|seconds| time::format(seconds, format))
                .map_or(Value::Null, |text| Value::text(&text)))
        }
        (Function::ParseTime, [text, format]) => {
            let (text, format) = (needed_text(function, text, 0)?, needed_text(function, format, 1)?);
            Ok(time::parse(text, format).map_or(Value::Null, |seconds| Value::Number(seconds as f64)))
        }
        (Function::GeoDistance, _) => Ok(Value::Number(geo::distance(arguments))),
        (_, [value]) => Ok(match calendar(function) {
            Some(field) => value
                .to_number()
                .and_then(|seconds| time::field(field, seconds))
                .map_or(Value::Null, Value::Number),
            None => Value::Number(value.to_number().map_or(f64::NAN, |number| calculate(function, number))),
        }),
        _ => Ok(Value::Null),
    }
}

fn calculate(function: Function, number: f64) -> f64 {
    let result = match function {
        Function::Log => number.ln(),
        Function::Abs => number.abs(),
        Function::Ceil => number.ceil(),
        Function::Floor => number.floor(),
        Function::Log2 => number.log2(),
        Function::Exp => number.exp(),
        _ => number.sqrt(),
    };
    settled(result, &[number])
}

/// A NaN that a calculation makes of numbers is negative, as x86 has it and C prints it (`-nan`), on every machine; one that came in stays.
pub(super) fn settled(result: f64, inputs: &[f64]) -> f64 {
    match result.is_nan() {
        true => inputs.iter().copied().find(|input| input.is_nan()).unwrap_or(-f64::NAN.abs()),
        false => result,
    }
}

fn calendar(function: Function) -> Option<time::Field> {
    Some(match function {
        Function::Day => time::Field::Day,
        Function::Hour => time::Field::Hour,
        Function::Minute => time::Field::Minute,
        Function::Month => time::Field::Month,
        Function::DayOfWeek => time::Field::DayOfWeek,
        Function::DayOfMonth => time::Field::DayOfMonth,
        Function::DayOfYear => time::Field::DayOfYear,
        Function::Year => time::Field::Year,
        Function::MonthOfYear => time::Field::MonthOfYear,
        _ => return None,
    })
}

fn mapped(value: &Value, map: fn(&[u8]) -> Vec<u8>) -> Value {
    value.as_text().map_or(Value::Null, |text| Value::text(&map(text)))
}

/// The first of the terms, as many as asked for. `terms` is what the row has for [`super::MATCHED_TERMS`].
pub(super) fn matched_terms(terms: &Value, most: Option<&Value>) -> Value {
    let asked = most.and_then(Value::to_number).filter(|most| (1.0..=MATCHED_TERMS_MAX).contains(most));
    let most = asked.unwrap_or(MATCHED_TERMS_MAX) as usize;
    match terms {
        Value::List(items) if !items.is_empty() => Value::list(items.iter().take(most).cloned().collect()),
        _ => Value::Null,
    }
}

fn needed_text(function: Function, value: &Value, at: usize) -> Result<&[u8], Message> {
    value.as_text().ok_or_else(|| wrong_type(function, value, at, "VALIDATE_ARG__STRING(v, 0)"))
}

fn needed_number(function: Function, value: &Value, at: usize) -> Result<f64, Message> {
    match value {
        Value::Number(number) => Ok(*number),
        _ => Err(wrong_type(function, value, at, "VALIDATE_ARG__TYPE(v, RSValue_Number)")),
    }
}

/// The numbers are those that RediSearch has for its types.
fn wrong_type(function: Function, value: &Value, at: usize, check: &str) -> Message {
    let kind = match value {
        Value::Number(_) => "1",
        Value::Text(_) => "3",
        Value::Null => "4",
        Value::List(_) => "6",
    };
    let at = digits(at as u64);
    let name = function.name().as_bytes();
    let (start, middle, end): (&[u8], &[u8], &[u8]) =
        (b"Invalid type (", b") for argument ", b" in function '");
    message(&[start, kind.as_bytes(), middle, &at, end, name, b"'. ", check.as_bytes(), b" was false."])
}
