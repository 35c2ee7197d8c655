//! The threads that look after an open store, of a server and of a program alike.
//!
//! Start: once the store is read. End: once no client is served any more, [`Housekeeping::stop`] and then [`finish`].

use std::io;
use std::sync::Arc;
use std::thread::{JoinHandle, ThreadId};

use edgecask_core::engine::Admin;
use tracing::{error, warn};

use crate::clock::now_ms;
use crate::crons;
use crate::gateway::Gateway;

/// The threads: one syncs, three maintain, one runs crons. A store that is only read has none but that for keys, which keeps what
/// INFO shows up to date.
#[derive(Default)]
pub struct Housekeeping {
    syncer: Option<JoinHandle<()>>,
    maintenance: Vec<JoinHandle<()>>,
    crons: Option<JoinHandle<()>>,
}

impl Housekeeping {
    /// Starts them.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(gateway: &Arc<Gateway>) -> io::Result<Housekeeping> {
        let mut threads = Housekeeping::default();
        match threads.start_all(gateway) {
            Ok(()) => Ok(threads),
            Err(error) => {
                threads.stop(gateway);
                Err(error)
            }
        }
    }

    fn start_all(&mut self, gateway: &Arc<Gateway>) -> io::Result<()> {
        let [syncing, keys, log, indexes, calling] = std::array::from_fn(|_| gateway.clone());
        self.maintain("maintain-keys", move || keys.maintenance.run_keys(&keys.server, &keys.trim))?;
        // One that is only read needs what its indexes lack, too.
        self.maintain("maintain-indexes", move || indexes.maintenance.run_indexes(&indexes.server))?;
        if gateway.server.engine.is_read_only() {
            return Ok(());
        }
        self.maintain("maintain-log", move || log.maintenance.run_log(&log.server, &log.brake))?;
        self.syncer = Some(spawn("syncer", move || syncing.syncer.run(&syncing.server.engine))?);
        self.crons = Some(spawn("crons", move || crons::run(&calling))?);
        Ok(())
    }

    /// Starts another one that ends when maintenance is told to.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn maintain(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.maintenance.push(spawn(name, run)?);
        Ok(())
    }

    /// The threads by their ids.
    pub fn ids(&self) -> impl Iterator<Item = ThreadId> {
        let threads = self.maintenance.iter().chain(&self.syncer).chain(&self.crons);
        threads.map(|thread| thread.thread().id())
    }

    /// Ends them and waits for that.
    pub fn stop(self, gateway: &Gateway) {
        gateway.crons.stop();
        self.crons.into_iter().for_each(|thread| join(thread, "crons"));
        gateway.maintenance.stop();
        self.maintenance.into_iter().for_each(|thread| join(thread, "maintenance"));
        gateway.syncer.stop();
        self.syncer.into_iter().for_each(|thread| join(thread, "syncer"));
    }
}

/// Brings a store that nobody uses any more to the disk, so that it may be closed; `wants_checkpoint` makes the next start quick.
/// False if the last writes may not have reached the disk.
pub fn finish(gateway: &Gateway, wants_checkpoint: bool) -> bool {
    let engine = &gateway.server.engine;
    let is_safe = gateway.syncer.finish(engine);
    if is_safe && let Err(error) = engine.end_preparation() {
        warn!(%error, "a datafile that was begun ahead stays");
    }
    if is_safe
        && wants_checkpoint
        && let Err(error) = Admin::checkpoint(engine, now_ms())
    {
        warn!(%error, "the checkpoint could not be written; the next start reads the log instead");
    }
    if is_safe
        && !wants_checkpoint
        && let Err(error) = engine.note_synced()
    {
        warn!(%error, "the manifest does not say how much is synced; a shorter log would not be noticed");
    }
    is_safe
}

/// Starts a thread with a name.
///
/// # Errors
/// The system refuses it.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(run)
}

/// Waits for the end of a thread.
pub fn join(thread: JoinHandle<()>, name: &str) {
    if thread.join().is_err() {
        error!(thread = name, "a thread panicked");
    }
}
