//! The threads that serve connections.
//!
//! Each worker is one thread with a runtime of its own; a connection stays on the thread it was given to. So nothing
//! is handed from thread to thread between a request and its reply.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::coalesce;
use crate::connection::Connection;
use crate::gateway::Gateway;
use crate::limits::STOP_GRACE;

/// How often a stopping worker looks whether its connections have finished.
const STOP_POLL: Duration = Duration::from_millis(2);

/// All workers of a server.
pub struct Workers {
    /// Bounded by `maxclients`, which the acceptor checks before it hands over.
    arrivals: Vec<UnboundedSender<TcpStream>>,
    threads: Vec<JoinHandle<()>>,
    next: usize,
}

impl Workers {
    /// Starts `count` threads.
    pub fn start(gateway: &Arc<Gateway>, count: usize) -> io::Result<Workers> {
        let mut workers = Workers { arrivals: Vec::new(), threads: Vec::new(), next: 0 };
        for number in 0..count.max(1) {
            let runtime = Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .on_thread_park(coalesce::before_waiting)
                .build()?;
            let (sender, receiver) = unbounded_channel();
            let gateway = gateway.clone();
            let thread = std::thread::Builder::new().name(format!("worker-{number}"));
            let thread = thread.spawn(move || {
                coalesce::prepare_thread();
                runtime.block_on(work(&gateway, receiver));
            })?;
            workers.arrivals.push(sender);
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Hands an accepted stream, already counted as connected, to the next worker in turn.
    pub fn hand_over(&mut self, stream: TcpStream) {
        if let Some(worker) = self.arrivals.get(self.next) {
            // A worker that does not take it has ended because the process is ending.
            let _ = worker.send(stream);
        }
        self.next = (self.next + 1) % self.arrivals.len().max(1);
    }

    /// Waits until all threads have ended, which they do when a stop is requested.
    pub fn join(self) {
        for thread in self.threads {
            if thread.join().is_err() {
                warn!("a worker panicked");
            }
        }
    }
}

async fn work(gateway: &Arc<Gateway>, mut arrivals: UnboundedReceiver<TcpStream>) {
    let busy = Arc::new(AtomicUsize::new(0));
    let serve = async {
        while let Some(stream) = arrivals.recv().await {
            if let Err(error) = begin(gateway, stream, &busy) {
                gateway.connected.fetch_sub(1, Ordering::Relaxed);
                debug!(%error, "a connection ended before it began");
            }
        }
    };
    tokio::select! {
        () = serve => {}
        _ = gateway.stop.requested() => {}
    }
    // What has been run is answered before the end; nothing new is read by a connection that is waiting for requests,
    // because this runtime, and the connections with it, ends with this function.
    let begin = Instant::now();
    while busy.load(Ordering::Relaxed) > 0 && begin.elapsed() < STOP_GRACE {
        sleep(STOP_POLL).await;
    }
}

fn begin(gateway: &Arc<Gateway>, stream: TcpStream, busy: &Arc<AtomicUsize>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let stream = tokio::net::TcpStream::from_std(stream)?;
    tokio::spawn(Connection::new(gateway.clone(), stream, busy.clone()).serve());
    Ok(())
}
