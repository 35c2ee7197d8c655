//! `client-output-buffer-limit`: how much output may wait for a connection before it is cut, by class of connection.
//!
//! A connection is of the class `pubsub` while it is subscribed to anything and `normal` otherwise, monitors and caches
//! included, as in Redis. `slave` is kept for those who ask, and limits nobody. Output is what others have left for a
//! connection and what it has not sent of its own replies. The host pauses requests while replies wait, so a normal connection
//! without a limit bounds itself.

use std::sync::atomic::{AtomicU64, Ordering};

use super::memory_text::parse_memory;

/// Output that is not counted: as much as Redis keeps beside what it counts.
const UNCOUNTED_BYTES: u64 = 16 * 1024;

/// The classes, in Redis' order.
const CLASSES: [&str; 3] = ["normal", "slave", "pubsub"];
const NORMAL: usize = 0;
const PUBSUB: usize = 2;

/// The limits of one class; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limit {
    /// With so much a connection is cut at once.
    hard_bytes: u64,
    /// With so much for longer than so many seconds it is cut as well.
    soft_bytes: u64,
    soft_s: u32,
}

/// The limits that one text of the setting names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named([Option<Limit>; CLASSES.len()]);

fn parse(text: &str) -> Result<Named, &'static str> {
    let words: Vec<&str> = if text.is_empty() { Vec::new() } else { text.split(' ').collect() };
    let (groups, rest) = words.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("Wrong number of arguments in buffer limit configuration.");
    }
    let mut named = Named([None; CLASSES.len()]);
    for [class, hard, soft, seconds] in groups {
        let class = if class.eq_ignore_ascii_case("replica") { "slave" } else { class };
        let at = CLASSES.iter().position(|known| known.eq_ignore_ascii_case(class));
        let limit = at.and_then(|at| named.0.get_mut(at));
        let limit = limit.ok_or("Invalid client class specified in buffer limit configuration.")?;
        let numbers = || {
            let (hard_bytes, soft_bytes) = (parse_memory(hard)?, parse_memory(soft)?);
            Some(Limit { hard_bytes, soft_bytes, soft_s: parse_seconds(seconds)? })
        };
        let wrong = "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
        *limit = Some(numbers().ok_or(wrong)?);
    }
    Ok(named)
}

/// Seconds as strtoll reads them, kept in 32 bits; nothing at all is none.
fn parse_seconds(text: &str) -> Option<u32> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let number = match text.parse::<i128>() {
        Ok(number) => number.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
        Err(_) if text.is_empty() => 0,
        Err(_) => return None,
    };
    u32::try_from(number as i32).ok()
}

impl Named {
    fn format(self) -> String {
        let named = CLASSES.iter().zip(self.0).filter_map(|(class, limit)| Some((class, limit?)));
        let texts = named.map(|(class, limit)| {
            format!("{class} {} {} {}", limit.hard_bytes, limit.soft_bytes, limit.soft_s)
        });
        texts.collect::<Vec<String>>().join(" ")
    }
}

/// A text of the setting in its normal form, or why it is none.
pub(crate) fn normal_form(text: &str) -> Result<String, &'static str> {
    parse(text).map(Named::format)
}

/// The whole setting after a change, which need not name all classes; both in normal form.
pub(crate) fn changed(present: &str, change: &str) -> String {
    let (Ok(mut all), Ok(change)) = (parse(present), parse(change)) else { return present.to_owned() };
    for (limit, changed) in all.0.iter_mut().zip(change.0) {
        *limit = changed.or(*limit);
    }
    all.format()
}

/// The limits that act, and how often they did.
#[derive(Debug, Default)]
pub struct OutputLimits {
    normal: LiveLimit,
    pubsub: LiveLimit,
    /// Connections that were cut since the start or since CONFIG RESETSTAT.
    pub cut: AtomicU64,
}

#[derive(Debug, Default)]
struct LiveLimit {
    hard_bytes: AtomicU64,
    soft_bytes: AtomicU64,
    soft_s: AtomicU64,
}

impl OutputLimits {
    /// Has the setting act.
    pub(crate) fn set(&self, text: &str) {
        let Ok(named) = parse(text) else { return };
        for (live, at) in [(&self.normal, NORMAL), (&self.pubsub, PUBSUB)] {
            let Some(limit) = named.0.get(at).copied().flatten() else { continue };
            live.hard_bytes.store(limit.hard_bytes, Ordering::Relaxed);
            live.soft_bytes.store(limit.soft_bytes, Ordering::Relaxed);
            live.soft_s.store(limit.soft_s.into(), Ordering::Relaxed);
        }
    }

    fn of(&self, is_subscribed: bool) -> &LiveLimit {
        if is_subscribed { &self.pubsub } else { &self.normal }
    }

    /// Whether an operator has chosen the hard limit of a class, be it none. Normal connections have none unless somebody
    /// has set one, because what they asked for bounds itself; what others send them does not.
    pub(crate) fn is_chosen(&self, is_subscribed: bool) -> bool {
        is_subscribed || self.normal.hard_bytes.load(Ordering::Relaxed) > 0
    }

    /// Whether a connection with so much output is to be cut at once.
    #[inline]
    pub(crate) fn is_over_hard(&self, is_subscribed: bool, output_bytes: u64) -> bool {
        let hard_bytes = self.of(is_subscribed).hard_bytes.load(Ordering::Relaxed);
        hard_bytes > 0 && output_bytes.saturating_sub(UNCOUNTED_BYTES) >= hard_bytes
    }

    /// Whether a connection with so much output is to be cut if that stays so; then after how many seconds.
    pub(crate) fn over_soft(&self, is_subscribed: bool, output_bytes: u64) -> Option<u64> {
        let limit = self.of(is_subscribed);
        let soft_bytes = limit.soft_bytes.load(Ordering::Relaxed);
        let is_over = soft_bytes > 0 && output_bytes.saturating_sub(UNCOUNTED_BYTES) >= soft_bytes;
        is_over.then(|| limit.soft_s.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: &str = "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60";

    /// Compared with redis-server 7.0.15.
    #[test]
    fn limits_read_otherwise_than_in_redis() {
        let cases = [
            ("", ""),
            ("NORMAL 1k 2KB 3", "normal 1000 2048 3"),
            ("slave 1 2 3 replica 4 5 6", "slave 4 5 6"),
            ("pubsub 1mb 2GB +7", "pubsub 1048576 2147483648 7"),
            ("pubsub kb mb 5", "pubsub 0 0 5"),
            ("pubsub 99999999999999999999 5 3", "pubsub 18446744073709551615 5 3"),
            ("pubsub 99999999999gb 2 3", "pubsub 15140462030378500096 2 3"),
            ("pubsub 1 2 4294967296", "pubsub 1 2 0"),
            ("pubsub 1 2 \t5", "pubsub 1 2 5"),
            ("pubsub 1 2 3 normal 4 5 6", "normal 4 5 6 pubsub 1 2 3"),
        ];
        for (text, expected) in cases {
            assert_eq!(normal_form(text).as_deref(), Ok(expected), "{text:?}");
        }
        for text in [" ", "normal", "normal 1 2 3 4", "pubsub  1 2 3", "pubsub 1 2 3 ", " pubsub 1 2 3"] {
            assert!(normal_form(text).expect_err(text).starts_with("Wrong number"), "{text:?}");
        }
        for text in ["master 1 2 3", "nosuch x 2 3", " 1 2 3"] {
            assert!(normal_form(text).expect_err(text).starts_with("Invalid client class"), "{text:?}");
        }
        for text in ["x 2 3", "1 x 3", "1 2 x", "1 2 -1", "-1 2 3", "1.5mb 2 3", "1 2 2147483648", "1 2 3b"] {
            let text = format!("pubsub {text}");
            assert!(normal_form(&text).expect_err(&text).starts_with("Error in hard"), "{text:?}");
        }
        assert!(normal_form("pubsub 1 2 99999999999999999999").is_err());
        assert_eq!(normal_form(DEFAULT).as_deref(), Ok(DEFAULT));
    }

    #[test]
    fn class_that_is_not_named_loses_its_limits() {
        let changed = changed(DEFAULT, "normal 1 2 3");
        assert_eq!(changed, "normal 1 2 3 slave 268435456 67108864 60 pubsub 33554432 8388608 60");
    }

    #[test]
    fn limit_acts_on_another_class() {
        let limits = OutputLimits::default();
        limits.set("normal 5 0 0 slave 1 1 1 pubsub 0 7 2");
        let over = |bytes: u64| {
            let bytes = bytes + UNCOUNTED_BYTES;
            let hard = [false, true].map(|is_subscribed| limits.is_over_hard(is_subscribed, bytes));
            (hard, [false, true].map(|is_subscribed| limits.over_soft(is_subscribed, bytes)))
        };
        assert_eq!(over(4), ([false, false], [None, None]));
        assert_eq!(over(5), ([true, false], [None, None]));
        assert_eq!(over(7), ([true, false], [None, Some(2)]));
    }
}
