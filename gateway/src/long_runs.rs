//! The threads for requests that take long: a worker or a web task hands a session over ([`crate::long_queue`]), and serves its
//! other connections meanwhile.
//!
//! A session says that its next request takes long without having run it ([`Driver::takes_long`]). Its thread then gives
//! the session away, keeps the socket, and gets the session back with the replies. Such requests hold the locks of their keys
//! as any other does, so connections that need these keys wait, but no thread does: a session that waits for a lock is suspended, and
//! one of these requests that has to wait is given back and comes again. So all threads here run something.
//!
//! A few threads take what comes. Where none of them has had time for a request, a spare one gives it a thread of its own, so that
//! scripts which run for minutes do not hold up what comes behind them. The system prefers workers to all of these threads.
//!
//! [`Driver::takes_long`]: edgecask_core::driver::Driver::takes_long

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tracing::warn;

use crate::gateway::{Gateway, LongRun};
use crate::limits::{LONG_RUN_NICENESS, LONG_RUN_THREADS_MAX, LONG_RUN_THREADS_MIN};

/// The threads.
pub struct LongThreads(Vec<JoinHandle<()>>);

impl LongThreads {
    /// Starts `count` threads, but [`LONG_RUN_THREADS_MIN`] at least, and the spare one.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(gateway: &Arc<Gateway>, count: usize) -> io::Result<LongThreads> {
        let mut threads = Vec::new();
        for number in 0..count.max(LONG_RUN_THREADS_MIN) {
            let gateway = gateway.clone();
            let thread = std::thread::Builder::new().name(format!("long-{number}"));
            threads.push(thread.spawn(move || {
                give_way();
                while let Some(run) = gateway.long_runs.next() {
                    run(&gateway);
                }
            })?);
        }
        let gateway = gateway.clone();
        let thread = std::thread::Builder::new().name("long-spare".into());
        threads.push(thread.spawn(move || run_spare(&gateway))?);
        Ok(LongThreads(threads))
    }

    /// Tells all threads to end and waits for them. Scripts that run are ended, and what they wrote is undone.
    pub fn stop(self, gateway: &Gateway) {
        gateway.server.shared.scripts.long.stop();
        gateway.long_runs.stop();
        for thread in self.0 {
            join(thread);
        }
    }
}

/// Has the system prefer other threads to the calling one where there are too few processors for all.
fn give_way() {
    // On Linux this is about the thread, not the process.
    if let Err(error) = rustix::process::setpriority_process(None, LONG_RUN_NICENESS) {
        warn!(%error, "a thread for long requests has the priority of the others");
    }
}

/// The loop of the spare thread: each request for which no other thread has time gets a thread for itself.
fn run_spare(gateway: &Arc<Gateway>) {
    // Threads that it starts take this over.
    give_way();
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let most = LONG_RUN_THREADS_MAX.saturating_sub(LONG_RUN_THREADS_MIN);
    while let Some(run) = gateway.long_runs.next_late() {
        threads.retain(|thread| !thread.is_finished());
        let thread = std::thread::Builder::new().name("long-extra".into());
        // A thread that the system refuses drops what it was given, so it is given nothing before it is there.
        let (give, take) = std::sync::mpsc::sync_channel::<LongRun>(1);
        let spawned = (threads.len() < most).then(|| {
            let gateway = gateway.clone();
            thread.spawn(move || take.into_iter().for_each(|run| run(&gateway)))
        });
        match spawned {
            Some(Ok(thread)) => {
                threads.push(thread);
                if let Err(error) = give.send(run) {
                    (error.0)(gateway);
                }
            }
            // As many as may be run already: it takes its turn here.
            Some(Err(_)) | None => run(gateway),
        }
    }
    threads.into_iter().for_each(join);
}

fn join(thread: JoinHandle<()>) {
    if thread.join().is_err() {
        warn!("a thread for long requests panicked");
    }
}
