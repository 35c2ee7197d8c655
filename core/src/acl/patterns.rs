//! Patterns of keys and channels that a selector allows.

use super::rule::{RuleError, is_name};
use crate::catalog::KeyFlags;
use crate::glob::Glob;

/// One `~pattern`, `%R~pattern` or `%W~pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyPattern {
    uses: Uses,
    pattern: Box<[u8]>,
}

/// Reading, writing, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uses {
    reads: bool,
    writes: bool,
}

impl Uses {
    pub(super) const BOTH: Uses = Uses { reads: true, writes: true };
    pub(super) const READS: Uses = Uses { reads: true, writes: false };

    /// What a command does with a key. A command that tells only of its existence, type or length does neither.
    pub(super) fn of(flags: KeyFlags) -> Uses {
        let writes = KeyFlags::INSERT.with(KeyFlags::DELETE).with(KeyFlags::UPDATE);
        Uses { reads: flags.contains(KeyFlags::ACCESS), writes: flags.intersects(writes) }
    }

    fn includes(self, other: Uses) -> bool {
        (self.reads || !other.reads) && (self.writes || !other.writes)
    }
}

/// The keys that a selector allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    all: bool,
    patterns: Vec<KeyPattern>,
}

impl Keys {
    /// Allows every key.
    pub(super) fn allow_all(&mut self) {
        *self = Keys { all: true, patterns: Vec::new() };
    }

    /// Allows no key.
    pub(super) fn reset(&mut self) {
        *self = Keys::default();
    }

    pub(super) fn are_all(&self) -> bool {
        self.all
    }

    /// Adds the pattern of a rule that begins with `~` or `%`.
    pub(super) fn add(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        if self.all {
            return Err(RuleError::BehindAllKeys);
        }
        let (uses, pattern) = parse(rule).ok_or(RuleError::Syntax)?;
        match self.patterns.iter_mut().find(|known| *known.pattern == *pattern) {
            Some(known) => {
                known.uses.reads |= uses.reads;
                known.uses.writes |= uses.writes;
            }
            None => self.patterns.push(KeyPattern { uses, pattern: pattern.into() }),
        }
        Ok(())
    }

    /// Whether a key may be used so.
    pub(super) fn allow(&self, key: &[u8], uses: Uses) -> bool {
        let mut patterns = self.patterns.iter();
        self.all || patterns.any(|known| known.uses.includes(uses) && Glob::new(&known.pattern).matches(key))
    }

    /// Whether every key with a prefix may be used so, those that a request does not name included: a pattern is a beginning of the
    /// prefix and a star. What several patterns allow together does not count.
    pub(super) fn allow_prefix(&self, prefix: &[u8], uses: Uses) -> bool {
        let covers = |pattern: &[u8]| {
            let begin = pattern.strip_suffix(b"*");
            let is_literal = |begin: &&[u8]| !begin.iter().any(|byte| b"*?[\\".contains(byte));
            begin.filter(is_literal).is_some_and(|begin| prefix.starts_with(begin))
        };
        self.all || self.patterns.iter().any(|known| known.uses.includes(uses) && covers(&known.pattern))
    }

    /// The rules.
    pub(super) fn rules(&self) -> impl Iterator<Item = Vec<u8>> {
        let all = self.all.then(|| b"~*".to_vec());
        let patterns = self.patterns.iter().map(|known| {
            let sign: &[u8] = match known.uses {
                Uses::BOTH => b"~",
                Uses { reads: true, .. } => b"%R~",
                _ => b"%W~",
            };
            [sign, &known.pattern].concat()
        });
        all.into_iter().chain(patterns)
    }
}

/// `~pattern`, or `%` with `R`, `W` or both, each once, before it.
fn parse(rule: &[u8]) -> Option<(Uses, &[u8])> {
    let (uses, pattern) = match rule {
        [b'~', pattern @ ..] => (Uses::BOTH, pattern),
        [b'%', rest @ ..] => {
            // Without a tilde Redis takes the empty pattern.
            let tilde = rest.iter().position(|byte| *byte == b'~').unwrap_or(rest.len());
            let (letters, pattern) = (rest.get(..tilde)?, rest.get(tilde + 1..).unwrap_or_default());
            let uses = match letters.to_ascii_uppercase().as_slice() {
                b"R" => Uses { reads: true, writes: false },
                b"W" => Uses { reads: false, writes: true },
                b"RW" | b"WR" => Uses::BOTH,
                _ => return None,
            };
            (uses, pattern)
        }
        _ => return None,
    };
    is_name(pattern).then_some((uses, pattern))
}

/// The channels that a selector allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Channels {
    all: bool,
    patterns: Vec<Box<[u8]>>,
}

impl Channels {
    /// Allows every channel.
    pub(super) fn allow_all(&mut self) {
        *self = Channels { all: true, patterns: Vec::new() };
    }

    /// Allows no channel.
    pub(super) fn reset(&mut self) {
        *self = Channels::default();
    }

    pub(super) fn are_all(&self) -> bool {
        self.all
    }

    /// Adds a pattern.
    pub(super) fn add(&mut self, pattern: &[u8]) -> Result<(), RuleError> {
        if self.all {
            return Err(RuleError::BehindAllChannels);
        }
        if !is_name(pattern) {
            return Err(RuleError::Syntax);
        }
        if !self.patterns.iter().any(|known| **known == *pattern) {
            self.patterns.push(pattern.into());
        }
        Ok(())
    }

    /// Whether a channel may be used. A pattern of PSUBSCRIBE must be one of the patterns, letter by letter.
    pub(super) fn allow(&self, name: &[u8], is_pattern: bool) -> bool {
        let fits = |known: &[u8]| if is_pattern { known == name } else { Glob::new(known).matches(name) };
        self.all || self.patterns.iter().any(|known| fits(known))
    }

    /// The rules. They do not say that other channels are forbidden.
    pub(super) fn rules(&self) -> impl Iterator<Item = Vec<u8>> {
        let all = self.all.then(|| b"&*".to_vec());
        all.into_iter().chain(self.patterns.iter().map(|pattern| [b"&", &**pattern].concat()))
    }
}
