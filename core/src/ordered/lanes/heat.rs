//! Keys that have met writers elsewhere lately, and how long to leave them alone.
//!
//! Two processes that write one key would meet each time if both tried again at once. So after each meeting a process waits a while,
//! which is drawn, and may be the longer the more often they have met.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::ordered::precedence::LaneKey;

/// The longest wait is below 2 to this power, in milliseconds.
const REST_MAX_LOG2: u32 = 6;

/// So many keys are remembered at most.
const KEYS_MAX: usize = 16_384;

/// For so long after a meeting a process asks for its turn at the key.
const HOT_MS: u64 = 3_000;

/// For so long after a meeting its requests go to the owner of the key. Longer, since none of them can meet others then.
const ONCE_MS: u64 = 10_000;

/// The same if there were two meetings in such a time, or another process has told of one: all processes would find out again and again,
/// each time by a meeting.
const AGAIN_MS: u64 = 60_000;

/// After a message about a key the others are sent none about it for so many milliseconds.
const TOLD_MS: u64 = 200;

/// What is over is forgotten once in so many milliseconds.
const SWEEP_MS: u64 = 1000;

/// What is remembered of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    /// How often it has met others, less the times that it has not.
    times: u32,
    last_ms: u64,
    /// Until when it is contended.
    until_ms: u64,
    rests_until_ms: u64,
    /// When others are to be told of the next meeting.
    tells_from_ms: u64,
}

/// The keys.
#[derive(Debug)]
pub(super) struct Heat {
    met: HashMap<LaneKey, Met>,
    /// Keys of which others are to be told.
    news: Vec<LaneKey>,
    swept_ms: u64,
    random: fastrand::Rng,
}

impl Heat {
    pub(super) fn new(seed: u64) -> Heat {
        Heat { met: HashMap::new(), news: Vec::new(), swept_ms: 0, random: fastrand::Rng::with_seed(seed) }
    }

    /// A write of these keys has met another one.
    pub(super) fn add(&mut self, keys: &[LaneKey], now_ms: u64) {
        for key in keys {
            let has_room = self.met.len() < KEYS_MAX;
            let (met, was_there) = match self.met.entry(*key) {
                Entry::Occupied(entry) => (entry.into_mut(), true),
                Entry::Vacant(entry) if has_room => (entry.insert(Met::default()), false),
                Entry::Vacant(_) => continue,
            };
            let is_again = was_there && met.last_ms < now_ms && met.last_ms + AGAIN_MS > now_ms;
            met.times = (met.times + 1).min(REST_MAX_LOG2);
            met.last_ms = now_ms;
            met.until_ms = now_ms + if is_again { AGAIN_MS } else { ONCE_MS };
            met.rests_until_ms = now_ms + self.random.u64(..1 << met.times);
            if is_again && met.tells_from_ms <= now_ms {
                met.tells_from_ms = now_ms + TOLD_MS;
                self.news.push(*key);
            }
        }
    }

    /// Another process has met others at a key. It may be this one, which has not noticed: who goes through does not.
    pub(super) fn hear(&mut self, key: LaneKey, now_ms: u64) {
        if self.met.len() < KEYS_MAX || self.met.contains_key(&key) {
            let met = self.met.entry(key).or_default();
            met.last_ms = now_ms;
            met.until_ms = now_ms + AGAIN_MS;
        }
    }

    /// Forgets the keys that are contended no more. To be called every now and then.
    pub(super) fn sweep(&mut self, now_ms: u64) {
        if now_ms >= self.swept_ms + SWEEP_MS {
            self.swept_ms = now_ms;
            self.met.retain(|_, met| met.last_ms + AGAIN_MS > now_ms);
        }
    }

    /// The keys of which others are to be told.
    pub(super) fn take_news(&mut self) -> Vec<LaneKey> {
        std::mem::take(&mut self.news)
    }

    /// A wait after so many meetings, in milliseconds.
    pub(super) fn draw_rest_ms(&mut self, times: u32) -> u64 {
        self.random.u64(..1 << times.min(REST_MAX_LOG2))
    }

    /// A write of these keys has not.
    pub(super) fn cool(&mut self, keys: &[LaneKey]) {
        if self.met.is_empty() {
            return;
        }
        for key in keys {
            if let Some(met) = self.met.get_mut(key) {
                met.times = met.times.saturating_sub(1);
            }
        }
    }

    /// Whether no key is known to have met others.
    pub(super) fn is_cold(&self) -> bool {
        self.met.is_empty()
    }

    /// Whether a key has met others lately.
    pub(super) fn is_hot(&self, key: LaneKey, now_ms: u64) -> bool {
        self.met.get(&key).is_some_and(|met| met.last_ms + HOT_MS > now_ms)
    }

    /// Whether a key has met others a while ago, or lately.
    pub(super) fn is_contended(&self, key: LaneKey, now_ms: u64) -> bool {
        self.met.get(&key).is_some_and(|met| met.until_ms > now_ms)
    }

    /// A key would have met others, had it not waited for its turn.
    pub(super) fn keep(&mut self, key: LaneKey, now_ms: u64) {
        if let Some(met) = self.met.get_mut(&key) {
            met.last_ms = now_ms;
            met.until_ms = met.until_ms.max(now_ms + ONCE_MS);
        }
    }

    /// How long these keys are to be left alone from now on, in milliseconds.
    pub(super) fn rest_ms(&self, keys: &[LaneKey], now_ms: u64) -> u64 {
        if self.met.is_empty() {
            return 0;
        }
        let rests = keys.iter().filter_map(|key| self.met.get(key));
        rests.map(|met| met.rests_until_ms.saturating_sub(now_ms)).max().unwrap_or(0)
    }
}
