//! Client-side caching: which keys clients have read, and the messages that tell them what to forget.
//!
//! A client gets one invalidation for a key and is then forgotten until it reads the key again. With BCAST nothing is remembered:
//! the client hears of every change below its prefixes. As in Redis, databases are not told apart.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{Inbox, Interest};
use crate::resp::{Protocol, Reply};

/// The channel on which a client of RESP2 hears of them.
const CHANNEL: &[u8] = b"__redis__:invalidate";

/// Which reads are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All.
    #[default]
    All,
    /// Those after CLIENT CACHING YES.
    OptIn,
    /// Those not after CLIENT CACHING NO.
    OptOut,
    /// None: changes below prefixes are told.
    Broadcast,
}

/// CLIENT TRACKING of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// Which reads are remembered.
    pub mode: Mode,
    /// Whether the connection's own changes are kept from it.
    pub no_loop: bool,
    /// The connection that is told instead.
    pub redirect: Option<u64>,
    /// Prefixes of a broadcast.
    pub prefixes: BTreeSet<Vec<u8>>,
    /// What CLIENT CACHING said of the next command.
    pub caching: Option<bool>,
}

impl Tracking {
    /// Whether the keys of the present command are to be remembered.
    pub fn remembers(&self) -> bool {
        match self.mode {
            Mode::All => true,
            Mode::OptIn => self.caching == Some(true),
            Mode::OptOut => self.caching != Some(false),
            Mode::Broadcast => false,
        }
    }
}

/// A key that a transaction has read after it changed it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reread {
    /// The key.
    pub key: Vec<u8>,
    /// Whether the connection had also read it before that change, so that it has a stale value as well.
    pub had_read: bool,
}

/// A connection with a cache.
#[derive(Debug)]
struct Cache {
    own: Arc<Inbox>,
    /// Who is told: `own` without a redirection.
    told: Arc<Inbox>,
    is_redirected: bool,
    no_loop: bool,
    /// Whether it hears of changes below prefixes instead of what it has read.
    is_broadcast: bool,
}

/// All caches.
#[derive(Debug, Default)]
pub struct TrackingTable {
    table: Mutex<Table>,
    /// Keys that are remembered at most; 0 for all.
    most_keys: AtomicU64,
    /// Bytes of memory of what is remembered.
    bytes: AtomicU64,
}

/// Bytes of memory of a key that is remembered, about: its place in the map with the free places beside it, its name, and a
/// node for every eleven readers.
fn entry_bytes(key: &[u8], readers: &BTreeSet<u64>) -> u64 {
    const PLACE_BYTES: usize = 64;
    const NODE_READERS: usize = 11;
    const NODE_BYTES: usize = 112;
    (PLACE_BYTES + key.len() + readers.len().div_ceil(NODE_READERS) * NODE_BYTES) as u64
}

#[derive(Debug, Default)]
struct Table {
    caches: BTreeMap<u64, Cache>,
    /// Connections that have ended tracking and may begin it again: what they had read still counts then.
    paused: BTreeSet<u64>,
    /// Connections that have read a key.
    readers: HashMap<Box<[u8]>, BTreeSet<u64>>,
    /// Bytes of memory of `readers`.
    bytes: u64,
    /// Connections that hear of all keys below a prefix.
    prefixes: BTreeMap<Vec<u8>, BTreeSet<u64>>,
}

impl TrackingTable {
    /// Changes how many keys are remembered at most (`tracking-table-max-keys`); 0 for all.
    pub fn set_most_keys(&self, most: u64) {
        self.most_keys.store(most, Ordering::Relaxed);
    }

    /// Begins, or changes, the tracking of a connection. `told` is who hears of changes, if it is somebody else.
    pub fn begin(
        &self,
        interest: &Interest,
        own: &Arc<Inbox>,
        told: Option<Arc<Inbox>>,
        tracking: &Tracking,
    ) {
        let mut table = self.table.lock();
        let is_redirected = told.is_some();
        let told = told.unwrap_or_else(|| own.clone());
        table.caches.insert(
            own.id(),
            Cache {
                own: own.clone(),
                told,
                is_redirected,
                no_loop: tracking.no_loop,
                is_broadcast: tracking.mode == Mode::Broadcast,
            },
        );
        table.paused.remove(&own.id());
        for prefix in &tracking.prefixes {
            table.prefixes.entry(prefix.clone()).or_default().insert(own.id());
        }
        interest.set(Interest::TRACKING, true);
    }

    /// Ends the tracking of a connection, which may begin it again. Keys it has read are forgotten as they change.
    pub fn end(&self, interest: &Interest, id: u64) {
        let mut table = self.table.lock();
        if table.stop(id) && table.readers.values().any(|readers| readers.contains(&id)) {
            table.paused.insert(id);
        }
        table.clear_if_unused(interest);
        self.bytes.store(table.bytes, Ordering::Relaxed);
    }

    /// Forgets a connection that is gone. Keys it has read are forgotten as they change, or with the last cache.
    pub fn leave(&self, interest: &Interest, id: u64) {
        let mut table = self.table.lock();
        table.stop(id);
        table.paused.remove(&id);
        table.clear_if_unused(interest);
        self.bytes.store(table.bytes, Ordering::Relaxed);
    }

    /// Notes that a connection has read a key; whether it had been noted before. Where too many are remembered already,
    /// the readers of some other one get an invalidation.
    pub fn remember(&self, id: u64, key: &[u8]) -> bool {
        let mut table = self.table.lock();
        if !table.caches.contains_key(&id) {
            return false;
        }
        let most = self.most_keys.load(Ordering::Relaxed);
        while most > 0 && table.readers.len() as u64 >= most && !table.readers.contains_key(key) {
            let Some(victim) = table.readers.keys().next().cloned() else { break };
            table.tell_readers(&victim, None, None);
        }
        let was_known = table.add_reader(key, id);
        self.bytes.store(table.bytes, Ordering::Relaxed);
        was_known
    }

    /// Whether a connection has a cache that is told of what it has read.
    pub(crate) fn has(&self, id: u64) -> bool {
        self.table.lock().caches.get(&id).is_some_and(|cache| !cache.is_broadcast)
    }

    /// Has one connection forget a key.
    pub(crate) fn tell_one(&self, id: u64, key: &[u8]) {
        if let Some(cache) = self.table.lock().caches.get(&id) {
            cache.tell(Some(&[key]));
        }
    }

    /// Tells whom it concerns that these keys have changed, by a connection if it was one. `reread` are keys that the
    /// transaction of that connection has read after it changed them, in ascending order: these it goes on to remember.
    pub fn invalidate(&self, keys: &[&[u8]], by: Option<u64>, reread: &[Reread]) {
        let mut table = self.table.lock();
        for key in keys {
            let found = reread.binary_search_by(|reread| reread.key.as_slice().cmp(key));
            table.tell_readers(key, by, found.ok().and_then(|at| reread.get(at)));
        }
        self.bytes.store(table.bytes, Ordering::Relaxed);
        for (prefix, listeners) in &table.prefixes {
            let below: Vec<&[u8]> = keys.iter().copied().filter(|key| key.starts_with(prefix)).collect();
            if below.is_empty() {
                continue;
            }
            for cache in listeners.iter().filter_map(|id| table.caches.get(id)) {
                if !(cache.no_loop && by == Some(cache.own.id())) {
                    cache.tell(Some(&below));
                }
            }
        }
    }

    /// Tells everybody that all keys may have changed.
    pub fn invalidate_all(&self) {
        let mut table = self.table.lock();
        (table.readers, table.bytes) = (HashMap::new(), 0);
        self.bytes.store(0, Ordering::Relaxed);
        table.caches.values().for_each(|cache| cache.tell(None));
    }

    /// Bytes of memory that the remembered keys take, about.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Numbers for INFO: connections that track, keys remembered, readers of all keys together, prefixes.
    pub fn counts(&self) -> (usize, usize, usize, usize) {
        let table = self.table.lock();
        let items = table.readers.values().map(BTreeSet::len).sum();
        (table.caches.len(), table.readers.len(), items, table.prefixes.len())
    }
}

impl Table {
    /// Takes a connection out of those that are told; whether it was one.
    fn stop(&mut self, id: u64) -> bool {
        self.prefixes.retain(|_, listeners| {
            listeners.remove(&id);
            !listeners.is_empty()
        });
        self.caches.remove(&id).is_some()
    }

    fn clear_if_unused(&mut self, interest: &Interest) {
        let is_used = !self.caches.is_empty() || !self.paused.is_empty();
        if !is_used {
            *self = Table::default();
        }
        interest.set(Interest::TRACKING, is_used);
    }

    /// Notes that a connection has read a key; whether it had been noted before.
    fn add_reader(&mut self, key: &[u8], id: u64) -> bool {
        let readers = self.readers.entry(key.into()).or_default();
        let before = if readers.is_empty() { 0 } else { entry_bytes(key, readers) };
        let is_new = readers.insert(id);
        self.bytes += entry_bytes(key, readers) - before;
        !is_new
    }

    fn tell_readers(&mut self, key: &[u8], by: Option<u64>, reread: Option<&Reread>) {
        let Some(readers) = self.readers.remove(key) else { return };
        self.bytes -= entry_bytes(key, &readers);
        for cache in readers.iter().filter_map(|id| self.caches.get(id)) {
            let is_own = by == Some(cache.own.id());
            let is_stale = !is_own || reread.is_none_or(|reread| reread.had_read);
            if is_stale && !cache.is_broadcast && !(cache.no_loop && is_own) {
                cache.tell(Some(&[key]));
            }
        }
        if let Some(id) = by.filter(|id| reread.is_some() && readers.contains(id)) {
            self.add_reader(key, id);
        }
    }
}

impl Cache {
    /// Tells it to forget these keys, or all.
    fn tell(&self, keys: Option<&[&[u8]]>) {
        if self.is_redirected && self.told.is_gone() {
            return self.tell_broken();
        }
        let protocol = self.told.protocol();
        let mut reply = Reply::new(protocol);
        if protocol == Protocol::Resp3 {
            reply.push(2);
            reply.bulk(b"invalidate");
        } else if self.is_redirected && self.told.is_subscribed() {
            reply.push(3);
            reply.bulk(b"message");
            reply.bulk(CHANNEL);
        } else {
            // It has no way to hear of it.
            return;
        }
        match keys {
            Some(keys) => {
                reply.array(keys.len());
                keys.iter().for_each(|key| reply.bulk(key));
            }
            None => reply.null(),
        }
        self.told.push(reply.as_bytes().into());
    }

    /// Tells it that the connection it redirects to is gone.
    fn tell_broken(&self) {
        if self.own.protocol() == Protocol::Resp3 {
            let mut reply = Reply::new(Protocol::Resp3);
            reply.push(2);
            reply.bulk(b"tracking-redir-broken");
            reply.integer(i64::try_from(self.told.id()).unwrap_or(i64::MAX));
            self.own.push(reply.as_bytes().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_keys_grow_without_end() {
        let (interest, table) = (Interest::default(), TrackingTable::default());
        let inbox = Arc::new(Inbox::new(1, Arc::default()));
        inbox.set_protocol(Protocol::Resp3);
        table.begin(&interest, &inbox, None, &Tracking::default());
        table.set_most_keys(2);
        for key in [&b"a"[..], b"b", b"a", b"c", b"d"] {
            table.remember(1, key);
        }
        assert_eq!(table.counts().1, 2);
        // The two that had to go were told of.
        assert_eq!(inbox.take(usize::MAX).pushes.len(), 2);
        let few_bytes = table.memory_bytes();
        assert!(few_bytes > 0);
        table.set_most_keys(0);
        for key in 0..10_u8 {
            table.remember(1, &[key]);
        }
        assert_eq!(table.counts().1, 12);
        assert_eq!(table.memory_bytes(), few_bytes * 6);
        // What it had read counts again if it goes on, and is forgotten with it.
        table.end(&interest, 1);
        assert_eq!(table.counts().1, 12);
        table.leave(&interest, 1);
        assert_eq!((table.counts(), table.memory_bytes()), ((0, 0, 0, 0), 0));
    }
}
