//! Listeners for TLS and HTTP, and the bound on connections per address.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use edgecask_core::origin::Origins;
use edgecask_core::session::Peer;
use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;
use tracing::{debug, warn};

use super::protocol::Protocol;
use super::tls::Tls;
use crate::gateway::{Gateway, Refusal};
use crate::limits::ACCEPT_RETRY;

/// One listening socket.
pub struct Listener {
    /// The protocol of its connections.
    pub protocol: Protocol,
    /// The socket, which does not block.
    pub listener: TcpListener,
}

/// The state that all listeners share.
pub struct Web {
    /// The server.
    pub gateway: Arc<Gateway>,
    /// Pages of browsers that may talk to it.
    pub origins: Origins,
    /// The certificates, where there are any.
    pub tls: Option<Arc<Tls>>,
    /// The largest number of connections of one address at a time; 0 for any number.
    pub max_per_address: usize,
    per_address: Mutex<HashMap<IpAddr, usize>>,
}

/// The count of one connection, which ends when this is dropped.
pub struct ConnectionGuard {
    web: Arc<Web>,
    address: IpAddr,
}

/// An accepted connection.
pub struct Accepted {
    /// The protocol of the listener.
    pub protocol: Protocol,
    /// The socket, which does not block and is not registered with the reactor of any thread.
    pub stream: TcpStream,
    /// The addresses of both ends.
    pub peer: Peer,
    /// The count of this connection.
    pub guard: ConnectionGuard,
}

impl Web {
    /// The state of a server without connections.
    pub fn new(
        gateway: Arc<Gateway>,
        origins: Origins,
        tls: Option<Arc<Tls>>,
        max_per_address: usize,
    ) -> Arc<Web> {
        Arc::new(Web { gateway, origins, tls, max_per_address, per_address: Mutex::default() })
    }

    /// Counts a connection, unless the server or the address has too many.
    fn admit(self: &Arc<Web>, address: IpAddr) -> Result<ConnectionGuard, Refusal> {
        self.gateway.admit(address)?;
        // From here on dropping the guard ends the count.
        let guard = ConnectionGuard { web: self.clone(), address };
        let mut per_address = self.per_address.lock();
        let count = per_address.entry(address).or_default();
        *count += 1;
        if self.max_per_address > 0 && *count > self.max_per_address {
            drop(per_address);
            self.gateway.server.shared.counters.rejected_connections.fetch_add(1, Ordering::Relaxed);
            return Err(Refusal::TooMany);
        }
        drop(per_address);
        Ok(guard)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.web.gateway.connected.fetch_sub(1, Ordering::Relaxed);
        let mut per_address = self.web.per_address.lock();
        if let Some(count) = per_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                per_address.remove(&self.address);
            }
        }
    }
}

/// Accepts connections and assigns them to the threads in turn. It ends only when its task is aborted.
pub async fn accept(web: Arc<Web>, listener: Listener, threads: Vec<UnboundedSender<Accepted>>) {
    let Listener { protocol, listener } = listener;
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return warn!(%error, "cannot listen"),
    };
    let mut turns = (0..threads.len()).cycle();
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {
                debug!(%error, "accept");
                continue;
            }
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        match web.admit(address.ip().to_canonical()) {
            Ok(guard) => {
                let local = stream.local_addr().as_ref().map(SocketAddr::to_string).unwrap_or_default();
                let peer = Peer { address: address.to_string(), local_address: local };
                // The thread that serves it registers it again, so it must leave the reactor of this thread.
                let stream = match stream.set_nodelay(true).and_then(|()| stream.into_std()) {
                    Ok(stream) => stream,
                    Err(error) => {
                        debug!(%error, "a connection ended before it began");
                        continue;
                    }
                };
                let accepted = Accepted { protocol, stream, peer, guard };
                if let Some(thread) = turns.next().and_then(|turn| threads.get(turn)) {
                    // It fails if the server stops.
                    let _ = thread.send(accepted);
                }
            }
            Err(refusal) => refuse(protocol, &stream, refusal),
        }
    }
}

/// Tells a peer of HTTP why it is refused, as far as the socket takes the text at once.
fn refuse(protocol: Protocol, stream: &tokio::net::TcpStream, refusal: Refusal) {
    if protocol == Protocol::Http {
        let status = match refusal {
            Refusal::Protected => "403 Forbidden",
            Refusal::TooMany => "503 Service Unavailable",
        };
        let text = refusal.text();
        let response = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        let _ = stream.try_write(response.as_bytes());
    }
}
