//! Findings in words, one line each: for the log, for `edgecask check` and `edgecask repair`, and for the report of a salvage.

use std::fmt;

use super::damage::{Damage, LostKind};
use super::losses::{DamagedBlob, Fate, Loss};
use crate::engine::CATALOG;

impl Damage {
    /// The damaged part with its length and what could not be named, as far as that is known.
    pub fn line(&self) -> String {
        let len = match self.len {
            Some(len) => format!(" ({len} bytes)"),
            None => String::new(),
        };
        let unnamed = match (self.unnamed_records, self.unnamed_bytes) {
            (_, 0) if self.offset.is_none() && self.file.is_some() => {
                "; what was in it cannot be named".to_owned()
            }
            (_, 0) => String::new(),
            (0, bytes) => format!("; {bytes} bytes are lost that cannot be named"),
            (records, bytes) => {
                format!("; {records} records more, and {bytes} bytes in all, are lost and not named")
            }
        };
        format!("{self}{len}{unnamed}")
    }
}

/// What damage took from a key.
impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            LostKind::Databases => {
                return write!(out, "lost: a FLUSHDB or SWAPDB of {}", time(self.time_ms));
            }
            LostKind::Sums => "checksums of a part of the value",
            LostKind::Key | LostKind::Subkey => "the value",
            LostKind::KeyRemoval | LostKind::SubkeyRemoval => "the removal",
        };
        let subkey = self.subkey.as_ref().filter(|_| self.kind != LostKind::Sums);
        let subkey = subkey.map_or_else(String::new, |key| format!(" subkey {}", quoted(key)));
        let key = match &self.key {
            Some(key) => format!("key {}", quoted(key)),
            None => "a key that is lost as well".into(),
        };
        let fate = match self.fate {
            Fate::Gone | Fate::Older { .. } if self.kind == LostKind::Sums => {
                "they are made anew if the value carries its own checksum".to_owned()
            }
            Fate::Gone => "nothing is left".to_owned(),
            Fate::Older { time_ms } => format!("set back to what it was on {}", time(time_ms)),
            Fate::Unharmed => "no harm: a later one stands".to_owned(),
        };
        write!(out, "lost: {}{key}{subkey}: {what} of {}; {fate}", database(self.db), time(self.time_ms))
    }
}

/// A key whose blob cannot be read.
impl fmt::Display for DamagedBlob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = match &self.key {
            Some(key) => format!("key {}", quoted(key)),
            None => "a key that cannot be read".into(),
        };
        write!(out, "damaged: {}{key}: {}", database(self.db), self.what)
    }
}

fn database(db: Option<u32>) -> String {
    match db {
        Some(CATALOG) => "catalog ".into(),
        Some(db) => format!("database {db} "),
        None => "no database that is shown, ".into(),
    }
}

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

/// A time (unix time in milliseconds) as date and time of day in UTC.
fn time(time_ms: u64) -> String {
    let (seconds, ms) = (time_ms / 1000, time_ms % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date so many days after 1970-01-01, by the rules of the Gregorian calendar: years that begin in March, in runs of
/// 400 years of 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (time_ms, shown) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(time(time_ms), shown);
        }
    }
}
