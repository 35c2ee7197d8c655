//! What SQL may take, as statements read it.

use super::{SettingPlace, Settings};

const BUSY_TIMEOUT: SettingPlace = SettingPlace::of("sql-busy-timeout");
const MEMORY_MAX: SettingPlace = SettingPlace::of("sql-memory-max-bytes");
const ROWS_MAX: SettingPlace = SettingPlace::of("sql-reply-max-rows");
const TEXT_MAX: SettingPlace = SettingPlace::of("sql-text-max-bytes");
const TIME_MAX: SettingPlace = SettingPlace::of("sql-time-max-ms");

impl Settings {
    /// `sql-busy-timeout`: how long a request waits for a transaction that another client has open, in milliseconds; 0 is not at all.
    pub fn sql_busy_timeout_ms(&self) -> u64 {
        self.amount(BUSY_TIMEOUT)
    }

    /// `sql-memory-max-bytes`: bytes of all databases of the process together; 0 is no bound.
    pub fn sql_memory_max_bytes(&self) -> u64 {
        self.amount(MEMORY_MAX)
    }

    /// `sql-reply-max-rows`: rows of one result; None is no bound.
    pub fn sql_rows_max(&self) -> Option<usize> {
        let rows = self.amount(ROWS_MAX);
        (rows > 0).then(|| usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// `sql-text-max-bytes`.
    pub fn sql_text_max_bytes(&self) -> usize {
        usize::try_from(self.amount(TEXT_MAX)).unwrap_or(usize::MAX)
    }

    /// `sql-time-max-ms`: how long one text may run, in milliseconds; None is no bound.
    pub fn sql_time_max_ms(&self) -> Option<u64> {
        Some(self.amount(TIME_MAX)).filter(|time_ms| *time_ms > 0)
    }

    fn amount(&self, place: SettingPlace) -> u64 {
        u64::try_from(self.number_at(place)).unwrap_or_default()
    }
}
