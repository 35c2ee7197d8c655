//! The classes of events in the keyspace, and the letters of `notify-keyspace-events` that stand for them.

use crate::engine::Db;

/// `K`: published by key.
pub const KEYSPACE: u32 = 1;
/// `E`: published by event.
pub const KEYEVENT: u32 = 1 << 1;
/// `g`: commands of no type (DEL, EXPIRE, RENAME …).
pub const GENERIC: u32 = 1 << 2;
/// `$`: strings.
pub const STRING: u32 = 1 << 3;
/// `l`: lists.
pub const LIST: u32 = 1 << 4;
/// `s`: sets.
pub const SET: u32 = 1 << 5;
/// `h`: hashes.
pub const HASH: u32 = 1 << 6;
/// `z`: sorted sets.
pub const SORTED_SET: u32 = 1 << 7;
/// `x`: keys whose time has come.
pub const EXPIRED: u32 = 1 << 8;
/// `e`: keys evicted for want of memory.
pub const EVICTED: u32 = 1 << 9;
/// `t`: streams.
pub const STREAM: u32 = 1 << 10;
/// `m`: reads of keys that are not there.
pub const KEY_MISS: u32 = 1 << 11;
/// `d`: types of modules; there are none.
pub const MODULE: u32 = 1 << 12;
/// `n`: keys that are new.
pub const NEW: u32 = 1 << 13;

/// `A`: all but misses and new keys.
const ALL: u32 = GENERIC | STRING | LIST | SET | HASH | SORTED_SET | EXPIRED | EVICTED | STREAM | MODULE;

/// The event of a read of a key that is not there.
pub(crate) const MISS: &str = "keymiss";

/// The letters in the order in which Redis shows them.
const LETTERS: &[(char, u32)] = &[
    ('g', GENERIC),
    ('$', STRING),
    ('l', LIST),
    ('s', SET),
    ('h', HASH),
    ('z', SORTED_SET),
    ('x', EXPIRED),
    ('e', EVICTED),
    ('t', STREAM),
    ('d', MODULE),
    ('n', NEW),
];

/// The classes that a text of letters stands for; None if a letter is unknown.
pub fn parse(text: &str) -> Option<u32> {
    text.chars().try_fold(0, |classes, letter| {
        let class = match letter {
            'A' => ALL,
            'K' => KEYSPACE,
            'E' => KEYEVENT,
            'm' => KEY_MISS,
            other => LETTERS.iter().find(|(letter, _)| *letter == other)?.1,
        };
        Some(classes | class)
    })
}

/// The text as CONFIG GET shows it: `A` hides `n`, though it does not stand for it.
pub fn shown(text: &str) -> String {
    match parse(text) {
        Some(classes) if classes & ALL == ALL => format(classes & !NEW),
        _ => text.to_owned(),
    }
}

/// The letters of classes.
pub fn format(classes: u32) -> String {
    let mut text = String::new();
    if classes & ALL == ALL {
        text.push('A');
        if classes & NEW != 0 {
            text.push('n');
        }
    } else {
        text.extend(LETTERS.iter().filter(|(_, class)| classes & class != 0).map(|(letter, _)| letter));
    }
    let rest = [('K', KEYSPACE), ('E', KEYEVENT), ('m', KEY_MISS)];
    text.extend(rest.iter().filter(|(_, class)| classes & class != 0).map(|(letter, _)| letter));
    text
}

/// Whether anything is published with these classes.
pub fn is_heard(classes: u32) -> bool {
    classes & (KEYSPACE | KEYEVENT) != 0 && classes & !(KEYSPACE | KEYEVENT) != 0
}

/// The messages of one event: their channels and texts, by key and by event as the classes say.
pub fn messages(classes: u32, event: &str, db: Db, key: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let by_key = (classes & KEYSPACE != 0).then(|| {
        let mut channel = format!("__keyspace@{db}__:").into_bytes();
        channel.extend_from_slice(key);
        (channel, event.as_bytes().to_vec())
    });
    let by_event =
        (classes & KEYEVENT != 0).then(|| (format!("__keyevent@{db}__:{event}").into_bytes(), key.to_vec()));
    by_key.into_iter().chain(by_event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_in_redis_order() {
        for (given, shown) in [
            ("", ""),
            ("KEA", "AKE"),
            ("AKEmn", "AnKEm"),
            ("Ex", "xE"),
            ("zhK", "hzK"),
            ("g$lshzxetdK", "AK"),
        ] {
            assert_eq!(parse(given).map(format).as_deref(), Some(shown), "{given}");
        }
        assert_eq!(parse("Kq"), None);
        assert_eq!((shown("AnKEm"), shown("nKE")), ("AKEm".to_owned(), "nKE".to_owned()));
        assert!(!is_heard(KEYSPACE) && !is_heard(GENERIC) && is_heard(KEYEVENT | GENERIC));
    }
}
