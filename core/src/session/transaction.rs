//! MULTI and WATCH: the queue of an open MULTI, and the watched keys.

use crate::catalog::{CommandSpec, Flags};
use crate::command::CommandError;
use crate::command::admission::Admitted;
use crate::engine::{Db, Drafts, Engine, Watch};
use crate::executor::Look;
use crate::limits::MULTI_QUEUE_MAX;
use crate::server::{Client, Settings};

/// Bytes of the length before every argument of a queued command.
const LENGTH_BYTES: usize = size_of::<usize>();

/// The transaction of one connection, as far as it is open.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    multi: Option<Multi>,
    watched: Vec<WatchedKey>,
    /// Bytes of memory of the watched keys, here and in the engine.
    watched_bytes: u64,
    /// Of so many of the last ones it is not known yet when they will be gone.
    unknown: usize,
    /// Tripped when a watched key changes.
    watch: Watch,
}

/// The queue of an open MULTI.
#[derive(Debug, Default)]
pub(super) struct Multi {
    queue: Vec<Queued>,
    /// Bytes of memory of the queue, about.
    bytes: u64,
    /// Whether a command was refused while queueing, so that EXEC must refuse all.
    refused: bool,
}

/// A command waiting for EXEC.
#[derive(Debug)]
pub(super) struct Queued {
    spec: &'static CommandSpec,
    /// The arguments that came as blobs.
    drafts: Drafts,
    /// The arguments, the name first: of each its length (in the order of the machine) and its bytes.
    bytes: Vec<u8>,
    count: usize,
}

/// A key under WATCH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchedKey {
    /// Its database.
    pub(super) db: Db,
    /// The key.
    pub(super) key: Vec<u8>,
    /// Unix time in milliseconds at which it will be gone, if it was there and had an expiry when it was watched.
    pub(super) expires_at_ms: Option<u64>,
    /// Its [version](crate::engine::Reader::version) when it was watched.
    pub(super) version: u64,
}

impl WatchedKey {
    /// Bytes of memory, about: the engine has the key as well.
    fn memory_bytes(&self) -> u64 {
        (2 * (size_of::<WatchedKey>() + self.key.len())) as u64
    }
}

impl Queued {
    /// A copy of a request.
    pub(super) fn new(spec: &'static CommandSpec, args: &[&[u8]], drafts: Drafts) -> Queued {
        let len = args.iter().map(|argument| LENGTH_BYTES + argument.len()).sum();
        let mut bytes = Vec::with_capacity(len);
        for argument in args {
            bytes.extend_from_slice(&argument.len().to_ne_bytes());
            bytes.extend_from_slice(argument);
        }
        Queued { spec, drafts, bytes, count: args.len() }
    }

    /// Bytes of memory that a copy of a request takes, about.
    fn memory_bytes(args: &[&[u8]]) -> u64 {
        let arguments: usize = args.iter().map(|argument| LENGTH_BYTES + argument.len()).sum();
        (size_of::<Queued>() + arguments) as u64
    }

    /// Bytes of memory that it takes, about.
    fn held_bytes(&self) -> u64 {
        (size_of::<Queued>() + self.bytes.len()) as u64
    }

    /// Its row.
    pub(super) fn spec(&self) -> &'static CommandSpec {
        self.spec
    }

    /// How many arguments it has, the name included.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The arguments, the name first.
    #[inline]
    pub(super) fn args(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        (0..self.count).map(move |_| {
            let (len, behind) = rest.split_first_chunk::<LENGTH_BYTES>().unwrap_or((&[0; LENGTH_BYTES], &[]));
            let (argument, behind) = behind.split_at_checked(usize::from_ne_bytes(*len)).unwrap_or_default();
            rest = behind;
            argument
        })
    }

    /// The arguments that came as blobs.
    pub(super) fn drafts(&self) -> &Drafts {
        &self.drafts
    }
}

impl Multi {
    /// A queue that was open before.
    pub(super) fn of(queue: Vec<Queued>, refused: bool) -> Multi {
        let bytes = queue.iter().map(Queued::held_bytes).sum();
        Multi { queue, bytes, refused }
    }

    /// The queued commands in order.
    pub(super) fn queue(&self) -> &[Queued] {
        &self.queue
    }

    /// Whether EXEC must refuse all.
    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether a command of it may need memory.
    pub(super) fn needs_memory(&self) -> bool {
        self.queue.iter().any(|queued| queued.spec.is(Flags::DENYOOM))
    }

    /// Whether a command of it may write.
    pub(super) fn writes(&self) -> bool {
        self.queue.iter().any(|queued| queued.spec.is(Flags::WRITE))
    }
}

impl Transaction {
    /// Whether a MULTI is open.
    pub(super) fn is_open(&self) -> bool {
        self.multi.is_some()
    }

    /// The open MULTI.
    pub(super) fn multi(&self) -> Option<&Multi> {
        self.multi.as_ref()
    }

    /// Bytes of memory that the queue and the watched keys take.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.multi.as_ref().map_or(0, |multi| multi.bytes) + self.watched_bytes
    }

    /// Opens a MULTI.
    ///
    /// # Errors
    /// One is open already.
    pub(super) fn open(&mut self, client: &mut Client) -> Result<(), CommandError> {
        if self.multi.is_some() {
            return Err(CommandError::text("ERR MULTI calls can not be nested"));
        }
        self.multi = Some(Multi::default());
        self.show(client);
        Ok(())
    }

    /// Opens a MULTI that was open before.
    pub(super) fn reopen(&mut self, client: &mut Client, multi: Option<Multi>) {
        self.multi = multi;
        self.show(client);
    }

    /// A command was refused while a MULTI was open.
    pub(super) fn refuse(&mut self) {
        if let Some(multi) = &mut self.multi {
            multi.refused = true;
        }
    }

    /// Queues a command.
    ///
    /// # Errors
    /// The command may not stand in a MULTI, the queue is too long, or there is no memory for it; EXEC then refuses all.
    pub(super) fn queue(
        &mut self,
        client: &mut Client,
        request: &Admitted<'_>,
        drafts: &mut Drafts,
        settings: &Settings,
    ) -> Result<(), CommandError> {
        let Some(multi) = &mut self.multi else { return Ok(()) };
        let (spec, args) = (request.spec(), request.args());
        if spec.is(Flags::NO_MULTI) {
            multi.refused = true;
            return Err(CommandError::text("ERR Command not allowed inside a transaction"));
        }
        if multi.refused {
            // As in Redis what will not run is not kept.
            drafts.clear();
            return Ok(());
        }
        let bytes = args.iter().map(|argument| argument.len() as u64).sum();
        let budget = settings.bounds().budget;
        multi.bytes += Queued::memory_bytes(args);
        let most_bytes = u64::try_from(settings.number("client-query-buffer-limit")).unwrap_or(u64::MAX);
        let refused = if multi.bytes > most_bytes {
            Some(CommandError::text(
                "ERR the commands of this MULTI hold more than client-query-buffer-limit",
            ))
        } else if multi.queue.len() >= MULTI_QUEUE_MAX {
            Some(CommandError::owned(format!("ERR a MULTI has {MULTI_QUEUE_MAX} commands at most")))
        } else {
            budget.ask(1, bytes).err().map(CommandError::from)
        };
        if let Some(error) = refused {
            multi.refused = true;
            (multi.queue, multi.bytes) = (Vec::new(), 0);
            return Err(error);
        }
        multi.queue.push(Queued::new(spec, args, std::mem::take(drafts)));
        self.show(client);
        Ok(())
    }

    /// Ends the MULTI and forgets the watched keys; whether one was open.
    pub(super) fn end<E: Engine>(&mut self, engine: &E, client: &mut Client) -> bool {
        let was_open = self.multi.take().is_some();
        self.unwatch(engine, client);
        was_open
    }

    /// The watched keys.
    pub(super) fn watched(&self) -> &[WatchedKey] {
        &self.watched
    }

    /// What is tripped when one of them changes.
    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Whether a watched key has changed, its expiry included.
    pub(super) fn is_stale(&self, now_ms: u64) -> bool {
        let expired = |key: &WatchedKey| key.expires_at_ms.is_some_and(|at| at <= now_ms);
        self.watch.is_tripped() || self.watched.iter().any(expired)
    }

    /// Whether a key is watched.
    pub(super) fn watches(&self, db: Db, key: &[u8]) -> bool {
        self.watched.iter().any(|watched| watched.db == db && watched.key == key)
    }

    /// Begins to watch a key.
    pub(super) fn add_watch<E: Engine>(&mut self, engine: &E, client: &mut Client, key: WatchedKey) {
        engine.watch(key.db, &key.key, &self.watch);
        self.watched_bytes += key.memory_bytes();
        self.watched.push(key);
        self.show(client);
    }

    /// Begins to watch a key of which it is not known yet when it will be gone.
    pub(super) fn add_unknown<E: Engine>(&mut self, engine: &E, client: &mut Client, db: Db, key: &[u8]) {
        self.add_watch(engine, client, WatchedKey { db, key: key.to_vec(), expires_at_ms: None, version: 0 });
        self.unknown += 1;
    }

    /// The keys of which it is not known yet when they will be gone.
    pub(super) fn unknown(&self) -> &[WatchedKey] {
        self.watched.get(self.watched.len().saturating_sub(self.unknown)..).unwrap_or_default()
    }

    /// Says what was seen of these keys.
    pub(super) fn note_looks(&mut self, looks: &[Look]) {
        let first = self.watched.len().saturating_sub(std::mem::take(&mut self.unknown));
        for (watched, look) in self.watched.iter_mut().skip(first).zip(looks) {
            (watched.expires_at_ms, watched.version) = (look.expires_at_ms, look.version);
        }
    }

    /// Forgets all watched keys.
    pub(super) fn unwatch<E: Engine>(&mut self, engine: &E, client: &mut Client) {
        if !self.watched.is_empty() || self.watch.is_tripped() {
            for watched in std::mem::take(&mut self.watched) {
                engine.unwatch(watched.db, &watched.key, &self.watch);
            }
            self.watch = Watch::default();
        }
        (self.unknown, self.watched_bytes) = (0, 0);
        self.show(client);
    }

    fn show(&self, client: &mut Client) {
        client.queued = self.multi.as_ref().map(|multi| multi.queue.len() as u64);
        client.watched = self.watched.len() as u64;
    }
}
