//! The threads of the tasks. A connection stays on the thread it was given to.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use edgecask_core::session::Peer;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tracing::{debug, error};

use super::listeners::{Arrival, Listener, Speech, Visit, Web, accept};
use super::tls_stream::TlsStream;
use super::{connection, http};
use crate::limits::STOP_GRACE;

/// All threads.
pub struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    /// Opens the doors. The threads end when a stop is requested, once their connections have been told.
    pub fn start(web: &Arc<Web>, doors: Vec<Listener>, count: usize) -> io::Result<Threads> {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for _ in 0..count.max(1) {
            let (sender, receiver) = unbounded_channel();
            senders.push(sender);
            receivers.push(receiver);
        }
        let mut threads = Vec::new();
        let mut doors = Some(doors);
        for (number, receiver) in receivers.into_iter().enumerate() {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            let web = web.clone();
            // The first thread accepts for all.
            let doors = doors.take().unwrap_or_default();
            let senders = senders.clone();
            let thread = std::thread::Builder::new().name(format!("web-{number}"));
            threads.push(thread.spawn(move || {
                runtime.block_on(async {
                    let mut accepting = JoinSet::new();
                    for door in doors {
                        accepting.spawn(accept(web.clone(), door, senders.clone()));
                    }
                    live(&web, receiver, &mut accepting).await;
                });
                runtime.shutdown_timeout(Duration::ZERO);
            })?);
        }
        Ok(Threads(threads))
    }

    /// Waits until all have ended.
    pub fn join(self) {
        for thread in self.0 {
            if thread.join().is_err() {
                error!("a web thread panicked");
            }
        }
    }
}

async fn live(web: &Arc<Web>, mut arrivals: UnboundedReceiver<Arrival>, accepting: &mut JoinSet<()>) {
    let mut visits = JoinSet::new();
    let stop = web.gateway.stop.requested();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            _ = &mut stop => break,
            Some(arrival) = arrivals.recv() => {
                visits.spawn(receive(web.clone(), arrival));
            }
            Some(ended) = visits.join_next(), if !visits.is_empty() => {
                if let Err(error) = ended {
                    error!(%error, "a connection's task panicked");
                }
            }
        }
    }
    accepting.abort_all();
    arrivals.close();
    let all = async { while visits.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_GRACE, all).await.is_err() {
        debug!("connections were cut at the end of the process");
    }
    visits.shutdown().await;
}

/// A connection's life. Each kind has a box of its own size: what TLS needs is ten times what the others do.
fn receive(web: Arc<Web>, arrival: Arrival) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let Arrival { speech, stream, peer, visit } = arrival;
    match (TcpStream::from_std(stream), speech) {
        (Ok(stream), Speech::Http) => Box::pin(http::serve(web, stream, peer, visit)),
        (Ok(stream), _) => Box::pin(decrypt(web, speech, stream, peer, visit)),
        (Err(error), _) => {
            Box::pin(async move { debug!(%error, peer = peer.address, "no place for a connection") })
        }
    }
}

/// The life of a connection under TLS.
async fn decrypt(web: Arc<Web>, speech: Speech, stream: TcpStream, peer: Peer, visit: Visit) {
    let Some(tls) = &web.tls else { return };
    let handshake = Box::pin(tls.acceptor().accept(stream));
    let stream = match tokio::time::timeout(web.gateway.deadlines.handshake, handshake).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return debug!(%error, peer = peer.address, "no TLS"),
        Err(_) => return debug!(peer = peer.address, "a TLS handshake took too long"),
    };
    if speech == Speech::RespTls {
        Box::pin(connection::serve(web.gateway.clone(), TlsStream::new(stream), peer)).await;
        drop(visit);
    } else {
        Box::pin(http::serve(web, stream, peer, visit)).await;
    }
}
