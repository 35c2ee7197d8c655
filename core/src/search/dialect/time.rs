//! Moments as RFC 3339 writes them.

/// A unix time in milliseconds as `2026-11-27T01:02:03.004Z`.
pub fn rfc3339(at_ms: u64) -> String {
    let (days, ms) = (at_ms / 86_400_000, at_ms % 86_400_000);
    // Days since 1 March of the year 0, in eras of 400 years (Hinnant, "chrono-compatible low-level date algorithms").
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let parts = [
        (year, 4, '-'),
        (month, 2, '-'),
        (day, 2, 'T'),
        (ms / 3_600_000, 2, ':'),
        (ms / 60_000 % 60, 2, ':'),
    ];
    let mut text = String::with_capacity(24);
    for (number, width, behind) in parts.into_iter().chain([(ms / 1000 % 60, 2, '.'), (ms % 1000, 3, 'Z')]) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number);
        (digits.len()..width).for_each(|_| text.push('0'));
        text.push_str(digits);
        text.push(behind);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn date_is_wrong() {
        for (at_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_764_208_057_004, "2025-11-27T01:47:37.004Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(at_ms), text);
        }
        assert!(!rfc3339(u64::MAX).is_empty());
    }
}
