//! Dates in UTC: the fields of a time, and C's `strftime` and `strptime` in English.

use super::super::value::digits;

/// Longest text that a format may make; a longer one makes Null, as in RediSearch.
const TEXT_MAX_BYTES: usize = 1023;

/// Farthest time from 1970 in seconds: the year fits 32 bits. Farther ones have no date.
const SECONDS_MAX: f64 = 6.7e16;

const DAY_SECONDS: i64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What the calendar functions answer. Day, Hour, Minute and Month are the time at which these began.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Day,
    Hour,
    Minute,
    Month,
    DayOfWeek,
    DayOfMonth,
    DayOfYear,
    Year,
    MonthOfYear,
}

/// A date and a time; months count from 0, days of a month from 1, of a year and of a week (Sunday) from 0.
#[derive(Clone, Copy, Default)]
struct Date {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
    day_of_year: i64,
}

/// A field of a time in seconds since 1970. None before 1970, and where there is no date.
pub(super) fn field(field: Field, seconds: f64) -> Option<f64> {
    if seconds < 0.0 {
        return None;
    }
    let whole = whole_seconds(seconds)?;
    let date = Date::of(whole);
    let value = match field {
        Field::Day => whole - whole.rem_euclid(DAY_SECONDS),
        Field::Hour => whole - whole.rem_euclid(3600),
        Field::Minute => whole - whole.rem_euclid(60),
        Field::Month => days_before(date.year, date.month) * DAY_SECONDS,
        Field::DayOfWeek => date.weekday,
        Field::DayOfMonth => date.day,
        Field::DayOfYear => date.day_of_year,
        Field::Year => date.year,
        Field::MonthOfYear => date.month,
    };
    Some(value as f64)
}

fn whole_seconds(seconds: f64) -> Option<i64> {
    (seconds.abs() < SECONDS_MAX).then_some(seconds as i64)
}

/// Days from 1970 to the first day of a month, which may lie outside the year.
fn days_before(year: i64, month: i64) -> i64 {
    // Years are counted from March, so that the day that leap years have is the last one.
    let months = year * 12 + month - 2;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // From March on, five months have 153 days.
    year * 365 + leap_days + (153 * month + 2) / 5 - 719_468
}

impl Date {
    fn of(seconds: i64) -> Date {
        let days = seconds.div_euclid(DAY_SECONDS);
        let time = seconds.rem_euclid(DAY_SECONDS);
        // 400 years have 146,097 days: the estimate is at most a year off.
        let mut year = 1970 + (days * 400).div_euclid(146_097);
        while days_before(year, 0) > days {
            year -= 1;
        }
        while days_before(year + 1, 0) <= days {
            year += 1;
        }
        let mut month = 11;
        while days_before(year, month) > days {
            month -= 1;
        }
        Date {
            year,
            month,
            day: days - days_before(year, month) + 1,
            hour: time / 3600,
            minute: time / 60 % 60,
            second: time % 60,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - days_before(year, 0),
        }
    }

    fn seconds(&self) -> i64 {
        (days_before(self.year, self.month) + self.day - 1) * DAY_SECONDS
            + self.hour * 3600
            + self.minute * 60
            + self.second
    }

    /// The year and the number of the week by ISO 8601: weeks begin on Monday, the first has the year's first Thursday.
    fn iso_week(&self) -> (i64, i64) {
        let monday_based = (self.weekday + 6) % 7;
        let thursday = days_before(self.year, 0) + self.day_of_year - monday_based + 3;
        let date = Date::of(thursday * DAY_SECONDS);
        (date.year, date.day_of_year / 7 + 1)
    }
}

/// `timefmt`. None if there is no date, and if the text is empty or too long.
pub(super) fn format(seconds: f64, format: &[u8]) -> Option<Vec<u8>> {
    let date = Date::of(whole_seconds(seconds)?);
    let mut out = Vec::new();
    write_format(&date, format, &mut out);
    (1..=TEXT_MAX_BYTES).contains(&out.len()).then_some(out)
}

/// Formats that stand for others.
fn composite(kind: u8) -> Option<&'static [u8]> {
    Some(match kind {
        b'c' => b"%a %b %e %H:%M:%S %Y",
        b'D' | b'x' => b"%m/%d/%y",
        b'F' => b"%Y-%m-%d",
        b'r' => b"%I:%M:%S %p",
        b'R' => b"%H:%M",
        b'T' | b'X' => b"%H:%M:%S",
        _ => return None,
    })
}

/// Recursion: composites hold no composites.
fn write_format(date: &Date, format: &[u8], out: &mut Vec<u8>) {
    let mut rest = format;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        match (byte, tail.split_first()) {
            (b'%', Some((kind, tail))) if out.len() <= TEXT_MAX_BYTES => {
                rest = tail;
                match composite(*kind) {
                    Some(format) => write_format(date, format, out),
                    None => write_part(date, *kind, out),
                }
            }
            _ => out.push(*byte),
        }
    }
}

fn write_part(date: &Date, kind: u8, out: &mut Vec<u8>) {
    let hour_of_twelve = (date.hour + 11) % 12 + 1;
    let sunday_week = (date.day_of_year + 7 - date.weekday) / 7;
    let monday_week = (date.day_of_year + 7 - (date.weekday + 6) % 7) / 7;
    let (value, width, fill) = match kind {
        b'a' | b'A' => return write_name(&WEEKDAYS, date.weekday, kind == b'a', out),
        b'b' | b'h' | b'B' => return write_name(&MONTHS, date.month, kind != b'B', out),
        b'p' => return out.extend_from_slice(if date.hour < 12 { b"AM" } else { b"PM" }),
        b'P' => return out.extend_from_slice(if date.hour < 12 { b"am" } else { b"pm" }),
        b'n' => return out.push(b'\n'),
        b't' => return out.push(b'\t'),
        b'%' => return out.push(b'%'),
        b'z' => return out.extend_from_slice(b"+0000"),
        b'Z' => return out.extend_from_slice(b"GMT"),
        b'C' => (date.year.div_euclid(100), 2, b'0'),
        b'd' => (date.day, 2, b'0'),
        b'e' => (date.day, 2, b' '),
        b'g' => (date.iso_week().0.rem_euclid(100), 2, b'0'),
        b'G' => (date.iso_week().0, 1, b'0'),
        b'H' => (date.hour, 2, b'0'),
        b'I' => (hour_of_twelve, 2, b'0'),
        b'j' => (date.day_of_year + 1, 3, b'0'),
        b'k' => (date.hour, 2, b' '),
        b'l' => (hour_of_twelve, 2, b' '),
        b'm' => (date.month + 1, 2, b'0'),
        b'M' => (date.minute, 2, b'0'),
        b's' => (date.seconds(), 1, b'0'),
        b'S' => (date.second, 2, b'0'),
        b'u' => ((date.weekday + 6) % 7 + 1, 1, b'0'),
        b'U' => (sunday_week, 2, b'0'),
        b'V' => (date.iso_week().1, 2, b'0'),
        b'w' => (date.weekday, 1, b'0'),
        b'W' => (monday_week, 2, b'0'),
        b'y' => (date.year.rem_euclid(100), 2, b'0'),
        b'Y' => (date.year, 1, b'0'),
        _ => return out.extend_from_slice(&[b'%', kind]),
    };
    if value < 0 {
        out.push(b'-');
    }
    let digits = digits(value.unsigned_abs());
    for _ in digits.len()..width {
        out.push(fill);
    }
    out.extend_from_slice(&digits);
}

fn write_name(names: &[&str], at: i64, is_short: bool, out: &mut Vec<u8>) {
    let name = usize::try_from(at).ok().and_then(|at| names.get(at)).map_or(&b""[..], |name| name.as_bytes());
    out.extend_from_slice(name.get(..3).filter(|_| is_short).unwrap_or(name));
}

/// `parsetime`. None if the text is not of the format; what follows the format is left alone.
///
/// As in C, what the format does not name is 0, the day of the month, too: `%Y` alone is the last day of the year before.
pub(super) fn parse(text: &[u8], format: &[u8]) -> Option<i64> {
    let mut reader = Reader {
        rest: text,
        date: Date { year: 1900, ..Date::default() },
        is_afternoon: None,
        seconds: None,
    };
    reader.read(format)?;
    if let Some(is_afternoon) = reader.is_afternoon {
        reader.date.hour = reader.date.hour % 12 + if is_afternoon { 12 } else { 0 };
    }
    Some(reader.seconds.unwrap_or_else(|| reader.date.seconds()))
}

struct Reader<'a> {
    rest: &'a [u8],
    date: Date,
    is_afternoon: Option<bool>,
    /// Set by `%s`, which says all.
    seconds: Option<i64>,
}

impl Reader<'_> {
    /// Recursion: composites hold no composites.
    fn read(&mut self, format: &[u8]) -> Option<()> {
        let mut format = format;
        while let Some((byte, tail)) = format.split_first() {
            format = tail;
            match (byte, tail.split_first()) {
                (b'%', Some((kind, tail))) => {
                    format = tail;
                    match composite(*kind) {
                        Some(inner) => self.read(inner)?,
                        None => self.part(*kind)?,
                    }
                }
                _ if byte.is_ascii_whitespace() => self.rest = self.rest.trim_ascii_start(),
                _ => self.rest = self.rest.strip_prefix(core::slice::from_ref(byte))?,
            }
        }
        Some(())
    }

    fn part(&mut self, kind: u8) -> Option<()> {
        match kind {
            b'a' | b'A' => self.date.weekday = self.name(&WEEKDAYS)?,
            b'b' | b'B' | b'h' => self.date.month = self.name(&MONTHS)?,
            b'd' | b'e' => self.date.day = self.digits(2, 1, 31)?,
            b'H' | b'k' => self.date.hour = self.digits(2, 0, 23)?,
            b'I' | b'l' => self.date.hour = self.digits(2, 1, 12)?,
            b'j' => {
                // The day stands for month and day together.
                self.date.month = 0;
                self.date.day = self.digits(3, 1, 366)?;
            }
            b'm' => self.date.month = self.digits(2, 1, 12)? - 1,
            b'M' => self.date.minute = self.digits(2, 0, 59)?,
            b'S' => self.date.second = self.digits(2, 0, 61)?,
            b'p' | b'P' => self.is_afternoon = Some(self.name(&["AM ", "PM "])? == 1),
            b's' => self.seconds = Some(self.digits(18, 0, i64::MAX)?),
            b'u' => self.date.weekday = self.digits(1, 1, 7)? % 7,
            b'w' => self.date.weekday = self.digits(1, 0, 6)?,
            b'y' => {
                let year = self.digits(2, 0, 99)?;
                self.date.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            b'Y' => self.date.year = self.digits(4, 0, 9999)?,
            b'n' | b't' => self.rest = self.rest.trim_ascii_start(),
            b'%' => self.rest = self.rest.strip_prefix(b"%")?,
            b'Z' => {
                let letters = self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                self.rest = self.rest.get(letters..)?;
            }
            // RediSearch reads an offset and does not apply it.
            b'z' => self.offset()?,
            _ => return None,
        }
        Some(())
    }

    fn digits(&mut self, most: usize, least_value: i64, greatest: i64) -> Option<i64> {
        self.rest = self.rest.trim_ascii_start();
        let count = self.rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(count)?;
        if digits.is_empty() {
            return None;
        }
        // At most 18 digits.
        let value = digits.iter().fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0'));
        self.rest = rest;
        (least_value..=greatest).contains(&value).then_some(value)
    }

    /// A name of the list, whole or its first three letters, in any case; its number.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        for (at, name) in names.iter().enumerate() {
            for name in [name.trim_ascii_end().as_bytes(), name.as_bytes().get(..3)?.trim_ascii_end()] {
                if let Some((start, rest)) = self.rest.split_at_checked(name.len())
                    && start.eq_ignore_ascii_case(name)
                {
                    self.rest = rest;
                    return i64::try_from(at).ok();
                }
            }
        }
        None
    }

    fn offset(&mut self) -> Option<()> {
        self.rest = self.rest.trim_ascii_start();
        if let Some(rest) = self.rest.strip_prefix(b"Z") {
            self.rest = rest;
            return Some(());
        }
        self.rest = self.rest.strip_prefix(b"+").or_else(|| self.rest.strip_prefix(b"-"))?;
        self.digits(2, 0, 14)?;
        self.rest = self.rest.strip_prefix(b":").unwrap_or(self.rest);
        if self.rest.first().is_some_and(u8::is_ascii_digit) {
            self.digits(2, 0, 59)?;
        }
        Some(())
    }
}
