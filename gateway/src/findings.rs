//! Damage in words, one line each, for the log, `edgecask check` and `edgecask repair`.

use edgecask_core::bitcask::{Damage, DamagedBlob, Fate, Loss, LostKind};
use edgecask_core::engine::CATALOG;

/// A damaged part of a store.
pub fn damage(damage: &Damage) -> String {
    let len = match damage.len {
        Some(len) => format!(" ({len} bytes)"),
        None => String::new(),
    };
    let unnamed = match (damage.unnamed_records, damage.unnamed_bytes) {
        (_, 0) if damage.offset.is_none() && damage.file.is_some() => {
            "; what was in it cannot be named".to_owned()
        }
        (_, 0) => String::new(),
        (0, bytes) => format!("; {bytes} bytes are lost that cannot be named"),
        (records, bytes) => {
            format!("; {records} records more, and {bytes} bytes in all, are lost and not named")
        }
    };
    format!("{damage}{len}{unnamed}")
}

/// What damage took from a key.
pub fn loss(loss: &Loss) -> String {
    let what = match loss.kind {
        LostKind::Databases => return format!("lost: a FLUSHDB or SWAPDB of {}", time(loss.time_ms)),
        LostKind::Key | LostKind::Subkey => "the value",
        LostKind::KeyRemoval | LostKind::SubkeyRemoval => "the removal",
    };
    let subkey =
        loss.subkey.as_ref().map_or_else(String::new, |subkey| format!(" subkey {}", quoted(subkey)));
    let key = match &loss.key {
        Some(key) => format!("key {}", quoted(key)),
        None => "a key that is lost as well".into(),
    };
    let fate = match loss.fate {
        Fate::Gone => "nothing is left".to_owned(),
        Fate::Older { time_ms } => format!("set back to what it was on {}", time(time_ms)),
        Fate::Unharmed => "no harm: a later one stands".to_owned(),
    };
    format!("lost: {}{key}{subkey}: {what} of {}; {fate}", database(loss.db), time(loss.time_ms))
}

/// A key whose blob cannot be read.
pub fn damaged_blob(blob: &DamagedBlob) -> String {
    let key = match &blob.key {
        Some(key) => format!("key {}", quoted(key)),
        None => "a key that cannot be read".into(),
    };
    format!("damaged: {}{key}: {}", database(blob.db), blob.what)
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
