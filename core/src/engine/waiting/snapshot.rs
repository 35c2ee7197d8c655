//! One run of a transaction: its reads, each of which may have to wait.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{WAITS_MAX, Waiting};
use crate::engine::{
    BlobRef, BlobStore, Db, Engine, EngineError, KeyVisitor, Reader, Result, Root, SubVisitor, SubWalk, Touch,
};
use crate::storage::{Blob, BlobId};

/// The reads of a run, and those that it will find.
#[derive(Debug)]
pub(super) struct Run {
    /// The reads in order, those included that had to wait.
    asked: Vec<String>,
    /// The reads of the run before, if this one must ask for the same.
    before: Vec<String>,
    here: HashSet<String>,
    /// Commits when the run began.
    commits: u64,
    /// How often the transaction has waited.
    waits: u32,
    /// Whether a read had to wait; the run has failed then.
    is_missing: bool,
}

impl Run {
    /// The first run of a transaction.
    pub(super) fn new(commits: u64) -> Run {
        let (asked, before, here) = (Vec::new(), Vec::new(), HashSet::new());
        Run { asked, before, here, commits, waits: 0, is_missing: false }
    }

    /// The next run, after this one has waited.
    pub(super) fn again(self, commits: u64) -> Run {
        // Another transaction may have changed what this one reads.
        let before = if commits == self.commits { self.asked } else { Vec::new() };
        Run { before, commits, is_missing: false, asked: Vec::new(), ..self }
    }

    /// Panics if the run failed.
    pub(super) fn assert_whole(&self) {
        assert!(!self.is_missing, "a run was committed that has missed {:?}", self.asked.last());
    }

    /// Takes a read; says whether it was there before.
    fn ask(&mut self, question: &str) -> bool {
        if let Some(before) = self.before.get(self.asked.len()) {
            let number = self.asked.len();
            assert_eq!(question, before, "read {number} of a run is not that of the run before");
        }
        self.asked.push(question.to_string());
        self.here.contains(question)
    }

    /// The read has to wait; the next run finds it.
    fn miss<T>(&mut self, question: String) -> Result<T> {
        (self.is_missing, self.waits) = (true, self.waits + 1);
        self.here.insert(question);
        Err(EngineError::NotHere)
    }
}

/// The reads of one run.
pub struct WaitingSnapshot<'e, E: Engine + 'e> {
    pub(super) inner: E::Snapshot<'e>,
    pub(super) engine: &'e Waiting<E>,
    pub(super) run: Run,
    /// The keys that may be read; None if all may.
    pub(super) granted: Option<Vec<Vec<u8>>>,
    /// The first key that may not and was read.
    pub(super) undeclared: Option<Vec<u8>>,
    /// The list of keys that the transaction declared.
    pub(super) list: u64,
    /// The keys of the roots that the run has seen: a merge may give a root another place until the next run.
    pub(super) names: HashMap<(u64, u64), String>,
}

impl<E: Engine> WaitingSnapshot<'_, E> {
    /// To be called before every read. Fails if it has to wait.
    fn ask(&mut self, question: String) -> Result<()> {
        if self.run.is_missing {
            return Err(EngineError::NotHere);
        }
        let is_here = self.run.ask(&question);
        if self.must_wait(is_here) {
            return self.run.miss(question);
        }
        self.run.here.insert(question);
        Ok(())
    }

    fn must_wait(&self, is_here: bool) -> bool {
        let mut state = self.engine.state.lock();
        // Changes of another transaction must not show before its commit has ended.
        let is_blocked = !state.untold.is_empty();
        is_blocked || !is_here && self.run.waits < WAITS_MAX && state.draw(self.engine.odds.read_percent)
    }

    /// The key of a root.
    fn name(&self, root: &Root) -> &str {
        self.names.get(&(root.place.0, root.place.1)).map_or("a root", String::as_str)
    }

    fn check_declared(&mut self, key: &[u8]) -> Result<()> {
        let Some(granted) = &self.granted else { return Ok(()) };
        if granted.iter().any(|other| other == key) {
            return Ok(());
        }
        let named = &mut self.engine.state.lock().named;
        named.entry(self.list).or_default().insert(key.to_vec());
        self.undeclared.get_or_insert_with(|| key.to_vec());
        Err(EngineError::Undeclared)
    }
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

impl<E: Engine> Reader for WaitingSnapshot<'_, E> {
    fn holds_everything(&self) -> bool {
        self.granted.is_none()
    }

    fn root(&mut self, db: Db, key: &[u8], touch: Option<Touch>) -> Result<Option<Root>> {
        self.check_declared(key)?;
        let name = format!("{db} {}", shown(key));
        self.ask(format!("root of {name}"))?;
        let root = self.inner.root(db, key, touch)?;
        root.map(|root| self.names.insert((root.place.0, root.place.1), name));
        Ok(root)
    }

    fn blobs(&self) -> Arc<dyn BlobStore> {
        self.inner.blobs()
    }

    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>> {
        self.ask(format!("blob {id:?}"))?;
        self.inner.open_blob(id)
    }

    fn older_sums(&mut self, reference: BlobRef) -> Result<Option<Arc<[u32]>>> {
        self.ask(format!("checksums of {reference:?}"))?;
        self.inner.older_sums(reference)
    }

    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        self.ask(format!("patches of {} {range:?}", self.name(root)))?;
        self.inner.patched(owner, root, base, range)
    }

    fn read_value(&mut self, root: &Root, range: (u64, u64), visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.ask(format!("value of {} {range:?}", self.name(root)))?;
        self.inner.read_value(root, range, visit)
    }

    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64> {
        self.ask(format!("memory of {}", shown(key)))?;
        self.inner.memory_bytes(key, root)
    }

    fn sub_len(&mut self, root: &Root) -> Result<u64> {
        self.ask(format!("length of {}", self.name(root)))?;
        self.inner.sub_len(root)
    }

    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        self.ask(format!("presence of {} {}", self.name(root), shown(subkey)))?;
        self.inner.sub_contains(root, subkey)
    }

    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.ask(format!("subkey of {} {}", self.name(root), shown(subkey)))?;
        self.inner.sub_read(root, subkey, visit)
    }

    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64> {
        self.ask(format!("rank in {} of {}", self.name(root), shown(subkey)))?;
        self.inner.sub_rank(root, subkey)
    }

    /// Shows a part of a walk that is not there as a whole, about as much as the caller expected.
    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        let question = format!("walk of {} {:?} {:?}", self.name(root), walk.start, walk.direction);
        self.ask(question.clone())?;
        let rest = format!("rest of the {question}");
        let is_whole = self.run.here.contains(&rest) || !self.must_wait(false);
        if is_whole {
            return self.inner.sub_scan(root, walk, visit);
        }
        let mut left = walk.expect.min(u64::from(self.engine.state.lock().random.u8(..8)) + 1);
        let mut is_cut = false;
        self.inner.sub_scan(root, walk, &mut |subkey, value| {
            if left == 0 {
                is_cut = true;
                return ControlFlow::Break(());
            }
            left -= 1;
            visit(subkey, value)
        })?;
        // A walk that ended before needed no more.
        if is_cut { self.run.miss(rest) } else { Ok(()) }
    }

    fn require_everything(&mut self) -> Result<()> {
        self.inner.require_everything()
    }

    fn key_count(&mut self, db: Db) -> Result<u64> {
        self.ask(format!("count of {db}"))?;
        self.inner.key_count(db)
    }

    fn expiring_count(&mut self, db: Db) -> Result<u64> {
        self.ask(format!("expiring of {db}"))?;
        self.inner.expiring_count(db)
    }

    fn scan_keys(&mut self, db: Db, cursor: u64, visit: KeyVisitor<'_>) -> Result<u64> {
        self.ask(format!("keys of {db} from {cursor}"))?;
        self.inner.scan_keys(db, cursor, visit)
    }

    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()> {
        self.ask(format!("a key of {db} by {random}"))?;
        self.inner.random_key(db, random, visit)
    }

    fn version(&mut self, db: Db, key: &[u8]) -> Result<u64> {
        self.ask(format!("version of {db} {}", shown(key)))?;
        self.inner.version(db, key)
    }

    fn announce_subs(&mut self, root: &Root, subkeys: &[&[u8]], are_to_change: bool) {
        self.inner.announce_subs(root, subkeys, are_to_change);
    }

    fn announce(&mut self, db: Db, keys: &[&[u8]]) {
        self.inner.announce(db, keys);
    }

    fn undeclared(&self) -> Option<Vec<u8>> {
        self.undeclared.clone().or_else(|| self.inner.undeclared())
    }
}
