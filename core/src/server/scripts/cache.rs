//! The scripts of EVAL, by the SHA-1 of their sources.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::engine::ScriptEngine;
use super::hash::{OfHash, ScriptHash};
use super::seen::Seen;
use crate::limits::{SCRIPTS_OF_EVAL_MAX, SEEN_SCRIPT_MAX_BYTES};
use crate::script::ScriptFlags;

/// A script that has been compiled once.
#[derive(Debug)]
pub struct Script {
    /// Its name.
    pub hash: ScriptHash,
    /// Its language.
    pub engine: Arc<ScriptEngine>,
    /// The whole text.
    pub source: Box<[u8]>,
    /// The flags of its first line; None without such a line, for which older rules hold.
    pub flags: Option<ScriptFlags>,
}

/// The scripts. Those that SCRIPT LOAD brought stay; of those that only EVAL brought so many stay as [`SCRIPTS_OF_EVAL_MAX`], and
/// no more bytes of them than a home allows. The oldest go, as with Redis 7.4: clients that put values into the text of scripts
/// would fill the memory.
#[derive(Debug, Default)]
pub struct ScriptCache {
    inner: RwLock<Inner>,
    /// Grows with every flush, so that interpreters forget what they have compiled.
    flushes: AtomicU64,
    /// Grows whenever a script goes, so that sessions look again for theirs.
    removals: AtomicU64,
}

/// The script that a connection has run by its SHA-1 last.
#[derive(Debug, Default)]
pub struct SeenScript(Seen<Arc<Script>>);

impl SeenScript {
    /// Takes the script of this SHA-1, which may have letters of any case, if there is one. [`SeenScript::put_back`] is for
    /// after its run.
    #[inline]
    pub fn take(&mut self, cache: &ScriptCache, digits: &[u8]) -> Option<Arc<Script>> {
        let removals = cache.removals.load(Ordering::Acquire);
        self.0.take(removals, digits, || cache.get(ScriptHash::parse(digits)?))
    }

    /// Keeps the script that was taken last, unless it is long.
    #[inline]
    pub fn put_back(&mut self, script: Arc<Script>) {
        let is_small = script.source.len() <= SEEN_SCRIPT_MAX_BYTES;
        self.0.put_back(script, is_small);
    }
}

#[derive(Debug, Default)]
struct Inner {
    scripts: HashMap<ScriptHash, Arc<Script>, OfHash>,
    /// Those that only EVAL brought, the oldest first.
    of_eval: VecDeque<ScriptHash>,
    of_eval_bytes: u64,
    bytes: u64,
}

impl ScriptCache {
    /// A script.
    #[inline]
    pub fn get(&self, hash: ScriptHash) -> Option<Arc<Script>> {
        self.inner.read().scripts.get(&hash).cloned()
    }

    /// Keeps a script for good, as SCRIPT LOAD asks.
    pub fn add_loaded(&self, script: Arc<Script>) {
        let mut inner = self.inner.write();
        let (hash, bytes) = (script.hash, script.source.len() as u64);
        if inner.scripts.insert(hash, script).is_none() {
            inner.bytes += bytes;
        } else if let Some(at) = inner.of_eval.iter().position(|other| *other == hash) {
            inner.of_eval.remove(at);
            inner.of_eval_bytes -= bytes;
        }
    }

    /// Keeps a script that EVAL brought, and at most so many bytes of such scripts with it.
    pub fn add_of_eval(&self, script: Arc<Script>, most_bytes: u64) {
        let mut inner = self.inner.write();
        let hash = script.hash;
        let bytes = script.source.len() as u64;
        if inner.scripts.insert(hash, script).is_none() {
            inner.bytes += bytes;
            inner.of_eval.push_back(hash);
            inner.of_eval_bytes += bytes;
        }
        while (inner.of_eval.len() > SCRIPTS_OF_EVAL_MAX || inner.of_eval_bytes > most_bytes)
            && let Some(oldest) = inner.of_eval.pop_front()
            && let Some(script) = inner.scripts.remove(&oldest)
        {
            self.removals.fetch_add(1, Ordering::AcqRel);
            inner.bytes -= script.source.len() as u64;
            inner.of_eval_bytes -= script.source.len() as u64;
        }
    }

    /// Forgets all scripts.
    pub fn flush(&self) {
        *self.inner.write() = Inner::default();
        self.removals.fetch_add(1, Ordering::AcqRel);
        self.flushes.fetch_add(1, Ordering::AcqRel);
    }

    /// How often all scripts were forgotten.
    pub fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Acquire)
    }

    /// How many scripts there are, and the bytes of their sources.
    pub fn count_and_bytes(&self) -> (u64, u64) {
        let inner = self.inner.read();
        (inner.scripts.len() as u64, inner.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::lines::Lines;

    fn script(text: &str) -> Arc<Script> {
        let source: Box<[u8]> = text.as_bytes().into();
        let engine = ScriptEngine::new("lua", false, Box::new(|| Box::new(Lines::default())));
        Arc::new(Script { hash: ScriptHash::of(&source), engine: Arc::new(engine), source, flags: None })
    }

    #[test]
    fn hash_is_read_as_it_is_written() {
        let hash = ScriptHash::of(b"return 1");
        assert_eq!(hash.text(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
        assert_eq!(ScriptHash::parse(hash.text().to_uppercase().as_bytes()), Some(hash));
        for wrong in [
            "",
            "abc",
            "g0e1f9fabfc9d4800c877a703b823ac0578ff8db",
            "e0e1f9fabfc9d4800c877a703b823ac0578ff8db0",
        ] {
            assert_eq!(ScriptHash::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn script_that_has_gone_runs_again() {
        let (cache, mut seen) = (ScriptCache::default(), SeenScript::default());
        let (one, other) = (script("return 1"), script("return 2"));
        let digits = |script: &Script| script.hash.text().into_bytes();
        let mut find = |cache: &ScriptCache, digits: &[u8]| {
            let found = seen.take(cache, digits)?;
            seen.put_back(found.clone());
            Some(found.hash)
        };
        assert_eq!(find(&cache, &digits(&one)), None);
        cache.add_of_eval(one.clone(), 8);
        for _ in 0..2 {
            assert_eq!(find(&cache, &digits(&one)), Some(one.hash));
            assert_eq!(find(&cache, &digits(&one).to_ascii_uppercase()), Some(one.hash));
            assert_eq!(find(&cache, &digits(&other)), None);
            assert_eq!(find(&cache, b"no SHA-1"), None);
        }
        assert_eq!(find(&cache, &digits(&one)), Some(one.hash));
        // There is room for one only.
        cache.add_of_eval(other.clone(), 8);
        assert_eq!(find(&cache, &digits(&one)), None);
        assert_eq!(find(&cache, &digits(&other)), Some(other.hash));
        cache.flush();
        assert_eq!(find(&cache, &digits(&other)), None);
    }

    #[test]
    fn eval_with_values_in_its_text_fills_the_memory() {
        let cache = ScriptCache::default();
        let loaded = script("return 'loaded'");
        cache.add_loaded(loaded.clone());
        for number in 0..2 * SCRIPTS_OF_EVAL_MAX {
            cache.add_of_eval(script(&format!("return {number}")), u64::MAX);
        }
        assert_eq!(cache.count_and_bytes().0, 1 + SCRIPTS_OF_EVAL_MAX as u64);
        assert!(cache.get(loaded.hash).is_some(), "what was loaded stays");
        assert!(cache.get(script("return 0").hash).is_none());
        cache.flush();
        assert_eq!(cache.count_and_bytes(), (0, 0));
    }

    #[test]
    fn few_long_scripts_fill_the_memory() {
        let cache = ScriptCache::default();
        let long = |number: u32| script(&format!("return {number} --{}", "x".repeat(1000)));
        for number in 0..10 {
            cache.add_of_eval(long(number), 3000);
        }
        assert_eq!(cache.count_and_bytes().0, 2);
        assert!(cache.get(long(9).hash).is_some(), "the last one stays");
        // Once it is loaded it counts no more.
        cache.add_loaded(long(9));
        (10..20).for_each(|number| cache.add_of_eval(long(number), 3000));
        assert_eq!(cache.count_and_bytes().0, 3);
        assert!(cache.get(long(9).hash).is_some(), "it was loaded");
    }
}
