//! What all sessions of one server share besides the engine: settings, counters and the list of clients.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::client::{Client, Known};
use super::crons::Crons;
use super::eviction::Memory;
use super::feed::Feed;
use super::hub::{Hub, TopicKind, notify};
use super::loading::Loading;
use super::metrics::LatencyMonitor;
use super::metrics::SlowLog;
use super::metrics::Statistics;
use super::metrics::{Rates, Sample};
use super::orphans::Orphans;
use super::peers::Peers;
use super::reaction::Reactions;
use super::scan_positions::Positions;
use super::scripts::Scripts;
use super::search::Indexes;
use super::settings::Settings;
use super::sql::{Databases, Streams};
use super::triggers::Triggers;
use crate::acl::{Access, Change, Context, Denial, Registry, User};
use crate::json::schema::SchemaEngine;
use crate::limits::SEARCH_LEFT_BYTES_MIN;
use crate::script::Level;
use crate::sorted;

/// The version of Redis whose commands, options and texts these are, as HELLO and INFO tell it.
pub const REDIS_VERSION: &str = "7.2.4";

/// What only the host knows and can do.
pub trait HostFacts: Send + Sync {
    /// Facts for INFO as they are now: (section, name, value), sections in lower case.
    fn facts(&self) -> Vec<(&'static str, &'static str, String)>;

    /// A clock that only goes forward, in nanoseconds since some time, to tell how long commands take. A home without
    /// one has commands that take no time.
    fn monotonic_ns(&self) -> u64 {
        0
    }

    /// Keeps the calling thread for so long (DEBUG SLEEP). A home that cannot wait returns at once.
    fn sleep(&self, _duration: Duration) {}

    /// Fills a buffer with bytes that nobody can guess; false where the home has no source of them.
    fn fill_unguessable(&self, _buffer: &mut [u8]) -> bool {
        false
    }

    /// Writes a line of a script into the log.
    fn log(&self, _level: Level, _text: &[u8]) {}

    /// Reads the file of users; None where users have none.
    fn read_users(&self) -> Option<Result<Vec<u8>, String>> {
        None
    }

    /// Replaces the file of users; None where users have none.
    fn write_users(&self, _text: &[u8]) -> Option<Result<(), String>> {
        None
    }
}

/// A host that knows nothing, for tests and for homes without a process.
#[derive(Debug, Default)]
pub struct NoFacts;

impl HostFacts for NoFacts {
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        Vec::new()
    }
}

/// Counters since the start or since CONFIG RESETSTAT.
#[derive(Debug, Default)]
pub struct Counters {
    /// Commands run.
    pub commands: AtomicU64,
    /// Connections accepted.
    pub connections: AtomicU64,
    /// Connections refused because there were too many.
    pub rejected_connections: AtomicU64,
    /// Keys that went because their time had come.
    pub expired_keys: AtomicU64,
    /// Reads that found their key.
    pub keyspace_hits: AtomicU64,
    /// Reads that did not.
    pub keyspace_misses: AtomicU64,
    /// Bytes received.
    pub input_bytes: AtomicU64,
    /// Bytes sent.
    pub output_bytes: AtomicU64,
    /// Replies that were errors.
    pub error_replies: AtomicU64,
    /// Changes that were committed since the last checkpoint; CONFIG RESETSTAT leaves them.
    pub changes: AtomicU64,
}

impl Counters {
    /// Sets everything to zero that CONFIG RESETSTAT does.
    pub fn reset(&self) {
        for counter in [
            &self.commands,
            &self.connections,
            &self.rejected_connections,
            &self.expired_keys,
            &self.keyspace_hits,
            &self.keyspace_misses,
            &self.input_bytes,
            &self.output_bytes,
            &self.error_replies,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

/// What all sessions share.
pub struct Shared {
    /// What CONFIG reads and sets.
    pub settings: Settings,
    /// Who may do what.
    pub acl: Registry,
    /// What INFO counts.
    pub counters: Counters,
    /// What is counted of every command and error.
    pub statistics: Statistics,
    /// How much was done a second lately.
    pub rates: Rates,
    /// Commands that took long.
    pub slow_log: SlowLog,
    /// Times at which commands took long.
    pub latency: LatencyMonitor,
    /// Whether the host is to collect expired keys (DEBUG SET-ACTIVE-EXPIRE).
    pub expires_actively: AtomicBool,
    /// The connections by CLIENT ID.
    pub clients: Mutex<BTreeMap<u64, Known>>,
    /// What connections tell each other.
    pub hub: Hub,
    /// Other processes that serve the same store.
    pub peers: Peers,
    /// How often this process has changed definitions; locked while they change here.
    pub definition_changes: Mutex<u64>,
    /// Commits that the engine had taken over when their connections ended.
    pub orphans: Orphans,
    /// What must happen in the same commit as the changes that cause it.
    pub reactions: Reactions,
    /// What was committed, in order.
    pub feed: Feed,
    /// What only the host knows.
    pub host: Box<dyn HostFacts>,
    /// How much memory is in use, and which keys go if it is too much.
    pub memory: Memory,
    /// Unix time in milliseconds of the start.
    pub started_at_ms: u64,
    /// Unix time in seconds of the last successful SAVE (LASTSAVE).
    pub saved_at_s: AtomicU64,
    /// Whether the store is still being read.
    pub loading: Loading,
    /// Whether the last checkpoint failed, as INFO tells of BGSAVE.
    pub save_failed: AtomicBool,
    /// Whether merge does not work at the moment, as INFO tells of BGREWRITEAOF.
    pub merge_failed: AtomicBool,
    /// Where unfinished HSCAN, SSCAN and ZSCAN walks stand.
    pub scan_positions: Mutex<Positions>,
    /// Scripts and functions, and what runs them.
    pub scripts: Scripts,
    /// Indexes.
    pub search: Indexes,
    /// SQL databases, and what runs statements.
    pub sql: Databases,
    /// What validates documents by JSON Schema; a host without it sets none.
    pub schemas: OnceLock<Box<dyn SchemaEngine>>,
    /// What clients of SQL over HTTP have open.
    pub sql_streams: Streams,
    /// Functions that run before commits.
    pub triggers: Triggers,
    /// The crons.
    pub crons: Crons,
    /// Runs that were thrown away because a key was touched that was not declared.
    pub reruns: AtomicU64,
    shortage: AtomicU8,
    next_client: AtomicU64,
}

/// What a home is short of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shortage {
    /// Nothing.
    None = 0,
    /// Memory.
    Memory = 1,
    /// Space for the log.
    Storage = 2,
}

/// The bit beside a [`Shortage`] that says that more memory is in use than `maxmemory` allows.
const MEMORY_EXCEEDED: u8 = 1 << 2;

impl Shared {
    /// The shared state of a server that starts at `now_ms`.
    pub fn new(settings: Settings, host: Box<dyn HostFacts>, now_ms: u64) -> Shared {
        let password = settings.get("requirepass").unwrap_or_default();
        let is_on = settings.get("default-user").as_deref() != Some("off");
        let shared = Shared {
            settings,
            acl: Registry::new(User::standard(is_on, password.as_bytes())),
            counters: Counters::default(),
            statistics: Statistics::default(),
            rates: Rates::default(),
            slow_log: SlowLog::default(),
            latency: LatencyMonitor::default(),
            expires_actively: AtomicBool::new(true),
            clients: Mutex::default(),
            hub: Hub::default(),
            peers: Peers::default(),
            definition_changes: Mutex::default(),
            orphans: Orphans::default(),
            reactions: Reactions::default(),
            feed: Feed::default(),
            host,
            memory: Memory::new(now_ms),
            started_at_ms: now_ms,
            saved_at_s: AtomicU64::new(now_ms / 1000),
            loading: Loading::default(),
            save_failed: AtomicBool::new(false),
            merge_failed: AtomicBool::new(false),
            scan_positions: Mutex::default(),
            scripts: Scripts::default(),
            search: Indexes::default(),
            sql: Databases::default(),
            schemas: OnceLock::new(),
            sql_streams: Streams::default(),
            triggers: Triggers::default(),
            crons: Crons::default(),
            reruns: AtomicU64::new(0),
            shortage: AtomicU8::new(Shortage::None as u8),
            next_client: AtomicU64::new(1),
        };
        shared.settings_changed();
        shared
    }

    /// Takes over what settings say of the hub; to be called after they have changed.
    pub fn settings_changed(&self) {
        let classes = self.settings.kept("notify-keyspace-events").and_then(|text| notify::parse(&text));
        self.hub.set_notified(classes.unwrap_or(0));
        self.peers.set_events(classes.unwrap_or(0));
        let most = u64::try_from(self.settings.number("tracking-table-max-keys")).unwrap_or(0);
        self.hub.tracking.set_most_keys(most);
        if self.settings.memory().max_bytes() == 0 {
            self.set_memory_exceeded(false);
        }
    }

    /// Bytes of memory that connections take and what is remembered for them: keys that clients have in their caches, and the
    /// slow log. And those of indexes.
    #[inline]
    pub fn overhead_bytes(&self) -> u64 {
        let tables =
            self.hub.tracking.memory_bytes() + self.slow_log.memory_bytes() + self.search.memory_bytes();
        self.memory.clients_bytes.load(Ordering::Relaxed) + tables
    }

    /// The access of a connection that has not said who it is.
    pub fn default_access(&self) -> Access {
        match self.acl.trusts_all() {
            true => Access::of_owner(&self.acl),
            false => Access::of(self.acl.default_user(), &self.acl),
        }
    }

    /// Carries out a change of users. Connections that are subscribed to what their user may not listen to any more are
    /// closed.
    pub fn change_users(&self, change: &Change) {
        self.acl.apply(change);
        let mut subscribed = Vec::new();
        for (id, known) in self.clients.lock().iter() {
            if known.inbox.is_subscribed()
                && let Some(user) = self.acl.user(&known.card.lock().user)
            {
                subscribed.push((*id, user));
            }
        }
        let may_listen = |id: u64, kind: TopicKind, name: &[u8]| {
            let user =
                subscribed.binary_search_by_key(&id, |(id, _)| *id).ok().and_then(|at| subscribed.get(at));
            user.is_none_or(|(_, user)| user.may_listen(name, kind == TopicKind::Pattern))
        };
        if subscribed.iter().any(|(_, user)| !user.is_unrestricted()) {
            self.kill(&self.hub.pubsub.listeners_without(&may_listen));
        }
    }

    /// Notes in ACL LOG that something was denied to a connection, which is shown as CLIENT INFO shows it.
    pub fn note_denial(&self, denial: Denial, context: Context, client: Vec<u8>, now_ms: u64) {
        let most = usize::try_from(self.settings.number("acllog-max-len")).unwrap_or(usize::MAX);
        self.acl.log.add(denial, context, client, now_ms, most);
    }

    /// Makes a password the only one of the default user; an empty one means that none is needed.
    pub fn set_default_password(&self, password: &str) {
        let mut user = User::clone(&self.acl.default_user());
        user.set_password(password.as_bytes());
        self.acl.apply(&Change::Set(user.into()));
    }

    /// Closes the connections with these CLIENT IDs.
    pub(crate) fn kill(&self, ids: &[u64]) {
        let mut listeners = BTreeSet::new();
        {
            let clients = self.clients.lock();
            for known in ids.iter().filter_map(|id| clients.get(id)) {
                known.inbox.close();
                if known.inbox.is_subscribed() {
                    listeners.insert(known.inbox.id());
                }
            }
        }
        if !listeners.is_empty() {
            // A message that is published right behind this must not count them, though they have yet to close.
            self.hub.pubsub.forget(&listeners);
        }
    }

    /// Closes the connections that take most memory, if all together take more than `maxmemory-clients` allows. Those with
    /// CLIENT NO-EVICT stay. To be called whenever a session has run, and by the host every so often. Looks at all
    /// connections, so it does that rarely, and more rarely where that was of no use.
    #[inline]
    pub fn evict_clients(&self, now_ms: u64) {
        let max_bytes = self.settings.memory().clients_max_bytes();
        if max_bytes > 0 && self.memory.clients_bytes.load(Ordering::Relaxed) > max_bytes {
            self.evict_clients_beyond(max_bytes, now_ms);
        }
    }

    #[cold]
    fn evict_clients_beyond(&self, max_bytes: u64, now_ms: u64) {
        if !self.memory.clients_pass.begin(now_ms) {
            return;
        }
        let mut ids = Vec::new();
        {
            let clients = self.clients.lock();
            // One that was told to close gives its memory back without being told again.
            let open = clients.iter().filter(|(_, known)| !known.inbox.must_close());
            let mut by_size: Vec<(u64, u64)> =
                open.map(|(id, known)| (known.inbox.memory_bytes(), *id)).collect();
            sorted::plainly(&mut by_size);
            let mut all_bytes: u64 = by_size.iter().map(|(bytes, _)| bytes).sum();
            while all_bytes > max_bytes
                && let Some((bytes, id)) = by_size.pop()
            {
                if clients.get(&id).is_some_and(|known| !known.card.lock().labels.no_evict) {
                    all_bytes -= bytes;
                    ids.push(id);
                }
            }
        }
        self.memory.clients_pass.end(!ids.is_empty());
        self.memory.evicted_clients.fetch_add(ids.len() as u64, Ordering::Relaxed);
        self.kill(&ids);
    }

    /// Notes a checkpoint at `now_ms`, before which so many changes had been counted.
    pub fn saved(&self, changes: u64, now_ms: u64) {
        self.saved_at_s.store(now_ms / 1000, Ordering::Relaxed);
        self.save_failed.store(false, Ordering::Relaxed);
        // Changes that came meanwhile may not be in it. Of two checkpoints at a time both may name the same changes.
        let less = |counted: u64| Some(counted.saturating_sub(changes));
        let _ = self.counters.changes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Has the rates of INFO stats go on; called by the host every so often.
    pub fn sample_rates(&self, now_ms: u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.rates.add(Sample {
            at_ms: now_ms,
            commands: count(&self.counters.commands),
            input_bytes: count(&self.counters.input_bytes),
            output_bytes: count(&self.counters.output_bytes),
        });
    }

    /// Counts a reply that was an error, by its text.
    pub(crate) fn count_error(&self, text: &str) {
        self.count_errors(text, 1);
    }

    /// Counts so many errors with the code of this one.
    pub(crate) fn count_errors(&self, text: &str, count: u64) {
        self.counters.error_replies.fetch_add(count, Ordering::Relaxed);
        self.statistics.errors_of(text, count);
    }

    /// Says what the home is short of: commands that may need more of it are refused as long as it is.
    pub fn set_shortage(&self, shortage: Shortage) {
        let change = |before: u8| Some(before & MEMORY_EXCEEDED | shortage as u8);
        let _ = self.shortage.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Says whether more memory is in use than `maxmemory` allows, and nothing can be evicted.
    pub(crate) fn set_memory_exceeded(&self, is_exceeded: bool) {
        let was_exceeded = self.shortage.load(Ordering::Relaxed) & MEMORY_EXCEEDED != 0;
        if is_exceeded && !was_exceeded {
            self.shortage.fetch_or(MEMORY_EXCEEDED, Ordering::Relaxed);
        } else if was_exceeded && !is_exceeded {
            self.shortage.fetch_and(!MEMORY_EXCEEDED, Ordering::Relaxed);
        }
    }

    /// What is short. That there is too much in use is forgotten once there is no limit any more: a worker that had begun to
    /// make room under the old one may say so afterwards.
    #[cold]
    fn present_shortage(&self, noted: u8) -> u8 {
        if self.settings.memory().max_bytes() == 0 { noted & !MEMORY_EXCEEDED } else { noted }
    }

    /// Why commands that may need more room are refused, if they are.
    #[inline]
    pub(crate) fn shortage_text(&self) -> Option<&'static str> {
        match self.shortage.load(Ordering::Relaxed) {
            0 => None,
            noted => self.shortage_text_of(self.present_shortage(noted)),
        }
    }

    #[cold]
    fn shortage_text_of(&self, shortage: u8) -> Option<&'static str> {
        match shortage {
            0 => None,
            shortage if shortage == Shortage::Storage as u8 => {
                Some("OOM command not allowed: the storage of this database is full.")
            }
            _ => Some("OOM command not allowed when used memory > 'maxmemory'."),
        }
    }

    /// Whether the home itself is short of memory, whatever `maxmemory` says.
    #[inline]
    pub(crate) fn is_short_of_memory(&self) -> bool {
        self.shortage.load(Ordering::Relaxed) & !MEMORY_EXCEEDED == Shortage::Memory as u8
    }

    /// Whether documents may be indexed that no request is writing.
    pub(crate) fn has_memory_to_index(&self) -> bool {
        !self.is_short_of_memory() && (self.settings.bounds().budget.left_bytes())() >= SEARCH_LEFT_BYTES_MIN
    }

    /// Whether memory is short, for either reason.
    #[inline]
    pub(crate) fn lacks_memory(&self) -> bool {
        let shortage = self.present_shortage(self.shortage.load(Ordering::Relaxed));
        shortage == Shortage::Memory as u8 || shortage & MEMORY_EXCEEDED != 0
    }

    /// The client numbers up to this one were given out before.
    pub(crate) fn client_was(&self, id: u64) {
        self.next_client.fetch_max(id.saturating_add(1), Ordering::Relaxed);
    }

    /// A number no client had before.
    pub(crate) fn next_client(&self) -> u64 {
        self.next_client.fetch_add(1, Ordering::Relaxed)
    }
}

impl Client {
    /// Whether commands beyond AUTH and HELLO are refused. A password that is taken away lets everybody in.
    pub fn must_authenticate(&self, shared: &Shared) -> bool {
        !self.authenticated && shared.acl.needs_login()
    }
}
