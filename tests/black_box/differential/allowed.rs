//! The reviewed list of differences that are meant to be: `tests/allowed-differences.txt`.
//!
//! ```text
//! > ZRANK * WITHSCORE        the request; * stands for any text, and letters' case does not matter
//! redis: (error) *           what redis-server 7.0.15 replied
//! edgecask: *                what we replied
//! why: …                     the reason, one sentence
//! ```
//!
//! Instead of two replies, `numbers: equal` allows another spelling of the same numbers.

use edgecask_core::resp::quote;
use edgecask_tests::client::Reply;
use edgecask_tests::glob::fits;

use super::compare;

const TEXT: &str = include_str!("../../allowed-differences.txt");

/// One entry.
#[derive(Debug, Default)]
pub struct Entry {
    line: usize,
    request: String,
    redis: String,
    edgecask: String,
    equal_numbers: bool,
    why: String,
    /// How often it was needed.
    pub used: u64,
}

/// All entries.
#[derive(Debug)]
pub struct Allowed {
    entries: Vec<Entry>,
}

impl Allowed {
    /// Reads the list; an entry without a reason is an error.
    pub fn read() -> Allowed {
        let mut entries: Vec<Entry> = Vec::new();
        for (at, line) in TEXT.lines().enumerate() {
            let number = at + 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (field, text) = line.split_once(' ').unwrap_or((line, ""));
            let text = text.trim().to_string();
            if field == ">" {
                entries.push(Entry { line: number, request: text.to_lowercase(), ..Entry::default() });
                continue;
            }
            let entry = entries
                .last_mut()
                .unwrap_or_else(|| panic!("line {number}: an entry begins with its request"));
            match field {
                "redis:" => entry.redis = text,
                "edgecask:" => entry.edgecask = text,
                "numbers:" => entry.equal_numbers = text == "equal",
                "why:" => entry.why = text,
                _ => panic!("allowed-differences.txt line {number}: {line}"),
            }
        }
        for entry in &entries {
            let has_replies = !entry.redis.is_empty() && !entry.edgecask.is_empty();
            assert!(has_replies || entry.equal_numbers, "line {}: no replies", entry.line);
            assert!(!entry.why.is_empty(), "line {}: no reason", entry.line);
        }
        Allowed { entries }
    }

    /// Whether an entry allows this difference.
    pub fn allows(&mut self, request: &[Vec<u8>], ours: &Reply, theirs: &Reply) -> bool {
        let request = typed(request).to_lowercase();
        let texts = (compare::shown(ours, theirs), compare::shown(theirs, ours));
        let entry = self.entries.iter_mut().find(|entry| {
            fits(&entry.request, &request)
                && if entry.equal_numbers {
                    compare::numbers_are_equal(&ours.value, &theirs.value)
                } else {
                    fits(&entry.edgecask, &texts.0) && fits(&entry.redis, &texts.1)
                }
        });
        if let Some(entry) = entry {
            entry.used += 1;
            return true;
        }
        false
    }

    /// How often each entry was needed, as lines.
    pub fn uses(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| format!("{:>6} × {}  ({})", entry.used, entry.request, entry.why))
    }
}

/// A request as it would be typed.
pub fn typed(request: &[Vec<u8>]) -> String {
    let is_plain = |word: &[u8]| {
        !word.is_empty() && word.iter().all(|byte| byte.is_ascii_graphic() && !b"\"'\\".contains(byte))
    };
    let words = request
        .iter()
        .map(|word| if is_plain(word) { String::from_utf8_lossy(word).into_owned() } else { quote(word) });
    words.collect::<Vec<_>>().join(" ")
}
