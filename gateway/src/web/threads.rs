//! The threads of the web tasks. A connection stays on the thread to which it was assigned.

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

use super::listeners::{Accepted, ConnectionGuard, Listener, Web, accept};
use super::protocol::Protocol;
use super::tls_stream::TlsStream;
use super::{connection, http};
use crate::limits::STOP_GRACE;

/// All threads.
pub struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    /// Starts `count` threads, at least one. They end after a stop, once their connections have ended.
    ///
    /// # Errors
    /// The system refuses a thread or an event queue.
    pub fn start(web: &Arc<Web>, listeners: Vec<Listener>, count: usize) -> io::Result<Threads> {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for _ in 0..count.max(1) {
            let (sender, receiver) = unbounded_channel();
            senders.push(sender);
            receivers.push(receiver);
        }
        let mut threads = Vec::new();
        let mut listeners = Some(listeners);
        for (number, receiver) in receivers.into_iter().enumerate() {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            let web = web.clone();
            // The first thread accepts for all.
            let listeners = listeners.take().unwrap_or_default();
            let senders = senders.clone();
            let thread = std::thread::Builder::new().name(format!("web-{number}"));
            threads.push(thread.spawn(move || {
                runtime.block_on(async {
                    let mut accepting = JoinSet::new();
                    for listener in listeners {
                        accepting.spawn(accept(web.clone(), listener, senders.clone()));
                    }
                    serve(&web, receiver, &mut accepting).await;
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

/// Serves the connections of one thread until a stop.
async fn serve(web: &Arc<Web>, mut accepted: UnboundedReceiver<Accepted>, accepting: &mut JoinSet<()>) {
    let mut connections = JoinSet::new();
    let stop = web.gateway.stop.requested();
    tokio::pin!(stop);
    let mut trimmed = 0;
    loop {
        // Made before the look, so that no request comes in between.
        let asked = web.gateway.trim.tasks.notified();
        web.gateway.trim.follow(&mut trimmed);
        tokio::select! {
            _ = &mut stop => break,
            () = asked => {}
            Some(accepted) = accepted.recv() => {
                connections.spawn(serve_one(web.clone(), accepted));
            }
            Some(ended) = connections.join_next(), if !connections.is_empty() => {
                if let Err(error) = ended {
                    error!(%error, "a connection's task panicked");
                }
            }
        }
    }
    accepting.abort_all();
    accepted.close();
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_GRACE, all).await.is_err() {
        debug!("connections were aborted at the end of the process");
    }
    connections.shutdown().await;
}

/// Serves one connection. Each protocol has a box of its own size: TLS needs ten times the memory of the others.
fn serve_one(web: Arc<Web>, accepted: Accepted) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let Accepted { protocol, stream, peer, guard } = accepted;
    match (TcpStream::from_std(stream), protocol) {
        (Ok(stream), Protocol::Http) => Box::pin(http::serve(web, stream, peer, guard)),
        (Ok(stream), _) => Box::pin(serve_tls(web, protocol, stream, peer, guard)),
        (Err(error), _) => {
            Box::pin(async move { debug!(%error, peer = peer.address, "a connection cannot be registered") })
        }
    }
}

/// Serves a connection under TLS.
async fn serve_tls(web: Arc<Web>, protocol: Protocol, stream: TcpStream, peer: Peer, guard: ConnectionGuard) {
    let Some(tls) = &web.tls else { return };
    let handshake = Box::pin(tls.acceptor().accept(stream));
    let stream = match tokio::time::timeout(web.gateway.deadlines.handshake, handshake).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return debug!(%error, peer = peer.address, "no TLS"),
        Err(_) => return debug!(peer = peer.address, "a TLS handshake took too long"),
    };
    if protocol == Protocol::RespTls {
        Box::pin(connection::serve(web.gateway.clone(), TlsStream::new(stream), peer)).await;
        drop(guard);
    } else {
        Box::pin(http::serve(web, stream, peer, guard)).await;
    }
}
