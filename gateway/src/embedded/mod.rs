//! The store inside a program, without sockets: what a server is to its clients, a library call away.
//!
//! ```text
//! Embedded ── Arc ── Open: the lock of the directory, the threads   ── Gateway: store, sync policy, settings, … as a server has it
//!     └ connect()    └ closed with the last Embedded and connection
//! EmbeddedConnection ── Driver ── Session: requests as bytes in, replies as bytes out
//! ```
//!
//! An [`Embedded`] is an open store with the threads that a server has for it ([`crate::housekeeping`]), and with the socket for
//! `edgecask backup` in its directory. An [`EmbeddedConnection`] is a session that runs in the thread that polls it, a request
//! that takes long included: others wait for its keys only. It needs no runtime; a waker of any kind will do.
//!
//! The program owns the store, so no password is asked of a connection and it may do everything, whatever the users of the store
//! are; AUTH makes it another user. What differs besides: SHUTDOWN is an error, since it would end the program; CONFIG REWRITE is
//! one, as on a server without a configuration file; connections are not closed for being idle (`timeout`) or too many
//! (`maxclients`).
//!
//! Nothing here may take a process' means as a server does: no signals, no limits of descriptors, no priorities of the caller's threads.

mod connection;
mod options;
mod timers;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::{JoinHandle, ThreadId};

use edgecask_core::bitcask::{Bitcask, OpenError, Options as StoreOptions};
use edgecask_core::engine::{Admin, EngineError};
use edgecask_core::server::{Server, Settings, Shared};
use edgecask_core::storage::{DeviceStorage, MemoryDevice, StorageError};
use tracing::warn;

pub use self::connection::EmbeddedConnection;
pub use self::options::EmbeddedOptions;
use self::options::Place;
use self::timers::Timers;
use crate::backup::refuse_without_store;
use crate::brake::Brake;
use crate::clock::now_ms;
use crate::control::Control;
use crate::definitions::{self, DefinitionsError};
use crate::descriptors;
use crate::gateway::Gateway;
use crate::housekeeping::{self, Housekeeping};
use crate::interpreters;
use crate::limits::{Deadlines, MERGE_STEP_BYTES};
use crate::long_runs::LongThreads;
use crate::process_info::{self, ProcessInfo};
use crate::spread::Spread;
use crate::stop::StopRequest;
use crate::storage::directory::Directory;
use crate::storage::lock::DirectoryLock;
use crate::storage::read_only::ReadOnlyDirectory;
use crate::storage::sled_meta::Meta;
use crate::store::{self, Maintain, Store};
use crate::upkeep::Scratch;

/// Why a store in a program does not open, or does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// An option does not fit.
    #[error("an option does not fit: {0}")]
    Option(String),
    /// The store cannot be opened. Where another process has it, the text names that one: `locked by pid 123`.
    #[error("{0}{help}", help = store::help(.0))]
    Store(#[from] OpenError),
    /// What the store says besides its data cannot be taken over.
    #[error(transparent)]
    Definitions(#[from] DefinitionsError),
    /// The system refuses a thread.
    #[error("the system refuses a thread: {0}")]
    System(#[from] io::Error),
    /// The store cannot do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A sync has failed: the last writes may not have reached the disk.
    #[error("the log could not be synced: the last writes may be lost, and no more are accepted")]
    NotSynced,
    /// Clones or connections are there that use the store; it closes with the last one.
    #[error("the store is still in use by connections; it closes with the last one")]
    InUse,
}

impl From<StorageError> for EmbeddedError {
    fn from(error: StorageError) -> EmbeddedError {
        EmbeddedError::Store(error.into())
    }
}

/// An open store. Clones are the same store, which is closed when the last clone and the last connection are gone: synced, with
/// hints for the next start, and unlocked.
#[derive(Clone)]
pub struct Embedded {
    // Invariant: dropped before `open`, which closes the store and then unlocks the directory.
    gateway: Arc<Gateway>,
    open: Arc<Open>,
}

/// What is there as long as the store is open.
struct Open {
    timers: Arc<Timers>,
    /// None once it is being closed.
    parts: Option<Parts>,
}

/// What closing ends, in the order of the fields.
struct Parts {
    threads: Threads,
    gateway: Arc<Gateway>,
    /// The copy of the metadata map, where the store is only read.
    scratch: Option<Scratch>,
    /// None in memory, and where the store is only read and no process has ever locked its directory.
    lock: Option<DirectoryLock>,
}

#[derive(Default)]
struct Threads {
    timers: Arc<Timers>,
    timer: Option<JoinHandle<()>>,
    /// Those of crons. Connections run what takes long where they are polled.
    long: Option<LongThreads>,
    housekeeping: Housekeeping,
    control: Option<Control>,
}

impl Embedded {
    /// Opens the store in a directory.
    ///
    /// # Errors
    /// Another process, or this one, has it open, which the text says with the number of that process (`locked by pid 123`); there
    /// is none and none is to be made; it is damaged; an option does not fit; the disk fails.
    pub fn open(directory: &Path, options: &EmbeddedOptions) -> Result<Embedded, EmbeddedError> {
        let place = if options.read_only { Place::ReadOnly(directory) } else { Place::Directory(directory) };
        let settings = options.settings(place)?;
        let store_options = store_options(&settings, options);
        if options.read_only || !options.create {
            refuse_without_store(directory)?;
        }
        if options.read_only {
            let lock = DirectoryLock::take_to_read(directory)?;
            let scratch = Scratch::new();
            // Why hints cannot be used is no matter here: datafiles are read instead.
            let (meta, _) = scratch.copy_of(&directory.join("meta"));
            let device = ReadOnlyDirectory::of(Directory::open_to_read(directory)?);
            let read = store::read(Arc::new(DeviceStorage::open(device, meta)?), &store_options)?;
            return Embedded::start(read, settings, Held { lock, scratch: Some(scratch) }, None);
        }
        let lock = store::lock(directory)?;
        let read = store::load(directory, &store_options, &Arc::default())?;
        read.set_unsynced_blobs_max(descriptors::unsynced_blobs_max(directory));
        Embedded::start(read, settings, Held { lock: Some(lock), scratch: None }, Some(directory))
    }

    /// An empty store in memory, which is gone with it. The log is in memory as well as the keydir, so values take their own
    /// length and up to as much again until merge has freed what is dead; `maxmemory` counts the keydir only.
    ///
    /// # Errors
    /// An option does not fit, or the system refuses a thread.
    pub fn memory(options: &EmbeddedOptions) -> Result<Embedded, EmbeddedError> {
        let settings = options.settings(Place::Memory)?;
        // Nobody is going to open it again, so hints are for nothing.
        let storage = DeviceStorage::open(MemoryDevice::default(), Meta::none())?;
        let store = store::read(Arc::new(storage), &store_options(&settings, options))?;
        Embedded::start(store, settings, Held { lock: None, scratch: None }, None)
    }

    fn start(
        read: Bitcask,
        settings: Settings,
        held: Held,
        controlled: Option<&Path>,
    ) -> Result<Embedded, EmbeddedError> {
        let is_read_only = settings.bounds().is_read_only;
        let (brake, spread) = (Arc::new(Brake::default()), Arc::new(Spread::default()));
        let startup_bytes = process_info::anonymous_bytes();
        let facts = ProcessInfo::new(0, None, startup_bytes, brake.clone(), spread.clone());
        let engine = Store::empty(settings.databases())?;
        let engine = if is_read_only { engine.to_be_read() } else { engine };
        engine.set(read);
        let shared = Shared::new(settings, Box::new(facts), now_ms());
        shared.acl.trust_all();
        let server = Server { engine, shared };
        interpreters::add(&server.shared, true);
        // The policy comes from the settings.
        let gateway = Gateway::new(server, Default::default(), Deadlines::default(), false, brake, spread);
        let gateway = Arc::new(gateway);
        definitions::restore(&gateway, None)?;
        let mut threads = Threads::default();
        if let Err(error) = threads.start(&gateway, controlled) {
            threads.stop(&gateway);
            return Err(error.into());
        }
        let timers = threads.timers.clone();
        let Held { lock, scratch } = held;
        let parts = Parts { threads, gateway: gateway.clone(), scratch, lock };
        Ok(Embedded { gateway, open: Arc::new(Open { timers, parts: Some(parts) }) })
    }

    /// A new connection: a session in database 0, which speaks RESP2 until HELLO, as a server's does.
    pub fn connect(&self) -> EmbeddedConnection {
        EmbeddedConnection::new(self.gateway.clone(), self.open.clone())
    }

    /// Merges all datafiles that hold something dead, and returns once that is done; waits for locks that a script or a long
    /// request holds. Maintenance does what is worth it by itself.
    ///
    /// # Errors
    /// The disk fails or is full, or the store is only read.
    pub fn merge(&self) -> Result<(), EmbeddedError> {
        let engine = &self.gateway.server.engine;
        if engine.is_read_only() {
            return Err(EngineError::OpenedToRead.into());
        }
        // If one is under way already it is as good.
        engine.begin_rewrite();
        while engine.rewriting().is_on {
            Maintain::merge_step(engine, MERGE_STEP_BYTES)?;
        }
        engine.blob_step()?;
        Ok(())
    }

    /// Syncs the log: everything that was written before the call survives the loss of power after it.
    ///
    /// # Errors
    /// The disk fails. The store accepts no more writes then.
    pub fn sync(&self) -> Result<(), EmbeddedError> {
        match self.gateway.syncer.finish(&self.gateway.server.engine) {
            true => Ok(()),
            false => Err(EmbeddedError::NotSynced),
        }
    }

    /// Whether it was opened to be read only.
    pub fn is_read_only(&self) -> bool {
        self.gateway.server.engine.is_read_only()
    }

    /// Closes the store and says whether all is on the disk.
    ///
    /// # Errors
    /// Clones or connections are left; the store closes with the last one. Or the last sync has failed.
    pub fn close(self) -> Result<(), EmbeddedError> {
        let Embedded { gateway, open } = self;
        drop(gateway);
        let parts = Arc::into_inner(open).and_then(|mut open| open.parts.take());
        parts.ok_or(EmbeddedError::InUse)?.close()
    }
}

/// What a store that was read holds besides itself.
struct Held {
    lock: Option<DirectoryLock>,
    scratch: Option<Scratch>,
}

fn store_options(settings: &Settings, options: &EmbeddedOptions) -> StoreOptions {
    StoreOptions {
        databases: settings.databases(),
        datafile_max_bytes: u64::try_from(settings.number("datafile-max-bytes")).unwrap_or_default(),
        on_damage: options.on_damage,
        access: settings.memory().touch(now_ms(), || 0).fresh(),
        ..StoreOptions::default()
    }
}

impl Parts {
    /// Ends the threads, brings the store to the disk, closes it and unlocks its directory.
    fn close(self) -> Result<(), EmbeddedError> {
        let Parts { threads, gateway, scratch, lock } = self;
        threads.stop(&gateway);
        // What is only read, or is about to be gone, is as safe as it will be.
        let is_safe = scratch.is_some() || lock.is_none() || housekeeping::finish(&gateway, true);
        drop(gateway);
        drop(scratch);
        drop(lock);
        if is_safe { Ok(()) } else { Err(EmbeddedError::NotSynced) }
    }
}

impl Threads {
    fn start(&mut self, gateway: &Arc<Gateway>, controlled: Option<&Path>) -> io::Result<()> {
        let timers = self.timers.clone();
        self.timer = Some(housekeeping::spawn("timers", move || timers.run())?);
        if !gateway.server.engine.is_read_only() {
            self.long = Some(LongThreads::start(gateway, 0)?);
        }
        self.housekeeping = Housekeeping::start(gateway)?;
        self.control = controlled.map(|directory| Control::start(gateway, directory)).transpose()?.flatten();
        Ok(())
    }

    /// Whether the calling thread is one of them.
    fn are_calling(&self) -> bool {
        let own: ThreadId = std::thread::current().id();
        let timer = self.timer.iter().map(|timer| timer.thread().id());
        timer.chain(self.housekeeping.ids()).any(|id| id == own)
    }

    fn stop(self, gateway: &Gateway) {
        gateway.stop.request(StopRequest { checkpoint: true });
        match self.long {
            Some(long) => long.stop(gateway),
            None => gateway.long_runs.stop(),
        }
        if let Some(control) = self.control {
            control.join();
        }
        self.housekeeping.stop(gateway);
        self.timers.stop();
        self.timer.into_iter().for_each(|timer| housekeeping::join(timer, "timers"));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        let is_own_thread = parts.threads.are_calling();
        let close = move || {
            if let Err(error) = parts.close() {
                warn!(%error, "a store was closed");
            }
        };
        // A waker that one of these threads has called may have been the last owner of a connection. They cannot wait for
        // themselves.
        if is_own_thread {
            let _ = housekeeping::spawn("closing", close);
        } else {
            close();
        }
    }
}
