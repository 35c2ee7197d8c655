//! Whether a text fits a setting, and the form in which it is kept. Error texts are Redis'.

use super::memory_text::parse_memory;
use super::{SettingError, SettingKind, SettingSpec, output_limits};
use crate::resp;
use crate::server::hub::notify;

/// What a signal may do, in the order in which Redis shows it.
const ON_SIGNAL: &[&str] = &["default", "save", "nosave", "now", "force"];

/// The largest C `int`.
const MAX_INT: i64 = i32::MAX as i64;

/// The largest C `long`.
const MAX_LONG: u64 = i64::MAX as u64;

/// Redis' bound of a host name.
const HOST_NAME_MAX_BYTES: usize = 255;

/// The text in the form that is kept. Fails with the reason why it does not fit.
pub(super) fn check(spec: &SettingSpec, value: &str) -> Result<String, SettingError> {
    match spec.kind {
        SettingKind::Text => Ok(value.to_string()),
        SettingKind::Events => notify::parse(value)
            .map(notify::format)
            .ok_or_else(|| invalid("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")),
        SettingKind::SavePoints => save_points(value),
        SettingKind::Percentiles => percentiles(value),
        SettingKind::Output => output_limits::normal_form(value).map_err(invalid),
        SettingKind::YesNo => yes_or_no(value),
        SettingKind::No(reason) => match yes_or_no(value)?.as_str() {
            "yes" => Err(invalid(reason)),
            _ => Ok("no".to_string()),
        },
        SettingKind::OneOf(words) => {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(value));
            word.map(ToString::to_string).ok_or_else(|| not_among(words))
        }
        SettingKind::OnSignal => on_signal(value),
        SettingKind::HostName => host_name(value),
        SettingKind::Integer(least, most) => {
            let number = integer(value)?;
            if (least..=most).contains(&number) { Ok(number.to_string()) } else { Err(outside(least, most)) }
        }
        SettingKind::Clamped(least, most) => match integer(value)? {
            number @ 0..=MAX_INT => Ok(number.clamp(least, most).to_string()),
            _ => Err(outside(0, MAX_INT)),
        },
        SettingKind::Memory(least, most) => {
            let bytes = memory(value)?;
            if (least..=most).contains(&bytes) { Ok(bytes.to_string()) } else { Err(outside(least, most)) }
        }
        SettingKind::MemoryFrom(least) => match memory(value)? {
            bytes @ 1..=MAX_LONG => Ok(bytes.max(least).to_string()),
            _ => Err(outside(1, MAX_LONG)),
        },
        SettingKind::MemoryOrPercent => memory_or_percent(value),
    }
}

fn invalid(text: &str) -> SettingError {
    SettingError::Invalid(text.to_string())
}

fn outside(least: impl std::fmt::Display, most: impl std::fmt::Display) -> SettingError {
    SettingError::Invalid(format!("argument must be between {least} and {most} inclusive"))
}

fn not_among(words: &[&str]) -> SettingError {
    SettingError::Invalid(format!("argument(s) must be one of the following: {}", words.join(", ")))
}

/// An integer as requests have it: no `+`, no leading zeros, no spaces.
fn integer(value: &str) -> Result<i64, SettingError> {
    resp::parse_i64(value.as_bytes()).ok_or_else(|| invalid("argument couldn't be parsed into an integer"))
}

fn memory(value: &str) -> Result<u64, SettingError> {
    parse_memory(value).ok_or_else(|| invalid("argument must be a memory value"))
}

fn memory_or_percent(value: &str) -> Result<String, SettingError> {
    let wrong = || invalid("argument must be a memory or percent value");
    let too_much = || invalid("percentage argument must be less or equal to 100");
    if let Some(digits) = value.strip_suffix('%') {
        let percent = resp::parse_u64(digits.as_bytes()).ok_or_else(wrong)?;
        return if percent <= 100 { Ok(format!("{percent}%")) } else { Err(too_much()) };
    }
    let bytes = parse_memory(value).ok_or_else(wrong)?;
    // Redis keeps percentages as negative numbers, which is how it reads what is too large.
    if bytes <= MAX_LONG { Ok(bytes.to_string()) } else { Err(too_much()) }
}

fn yes_or_no(value: &str) -> Result<String, SettingError> {
    match value.to_ascii_lowercase().as_str() {
        word @ ("yes" | "no") => Ok(word.to_string()),
        _ => Err(invalid("argument must be 'yes' or 'no'")),
    }
}

fn on_signal(value: &str) -> Result<String, SettingError> {
    let words: Vec<String> = value.split(' ').map(str::to_ascii_lowercase).collect();
    if !words.iter().all(|word| ON_SIGNAL.contains(&word.as_str())) {
        return Err(not_among(ON_SIGNAL));
    }
    let named = |wanted: &&&str| words.iter().any(|word| word == **wanted);
    let named: Vec<&str> = ON_SIGNAL.iter().skip(1).filter(named).copied().collect();
    if named.starts_with(&["save", "nosave"]) {
        return Err(invalid("shutdown options SAVE and NOSAVE can't be used simultaneously"));
    }
    Ok(if named.is_empty() { "default".to_string() } else { named.join(" ") })
}

fn host_name(value: &str) -> Result<String, SettingError> {
    if value.len() > HOST_NAME_MAX_BYTES {
        return Err(invalid("Hostnames must be less than 256 characters"));
    }
    if !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')) {
        return Err(invalid("Hostnames may only contain alphanumeric characters, hyphens or dots"));
    }
    Ok(value.to_string())
}

fn save_points(value: &str) -> Result<String, SettingError> {
    let numbers: Option<Vec<u32>> = value.split_whitespace().map(|word| word.parse().ok()).collect();
    let is_fine = |numbers: &Vec<u32>| {
        numbers.len().is_multiple_of(2) && numbers.iter().step_by(2).all(|seconds| *seconds > 0)
    };
    let numbers = numbers.filter(is_fine).ok_or_else(|| invalid("Invalid save parameters"))?;
    Ok(numbers.iter().map(u32::to_string).collect::<Vec<String>>().join(" "))
}

/// Numbers with one space between two of them.
fn percentiles(value: &str) -> Result<String, SettingError> {
    let words = value.split(' ').filter(|_| !value.is_empty());
    let numbers: Option<Vec<f64>> = words.map(|word| resp::parse_f64(word.as_bytes())).collect();
    let numbers = numbers.ok_or_else(|| invalid("Invalid latency-tracking-info-percentiles parameters"))?;
    if !numbers.iter().all(|percent| (0.0..=100.0).contains(percent)) {
        return Err(invalid("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"));
    }
    Ok(numbers.iter().map(f64::to_string).collect::<Vec<String>>().join(" "))
}
