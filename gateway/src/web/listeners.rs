//! Where connections come in that are not plain TCP of Redis clients, and how many may.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use edgecask_core::session::Peer;
use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;
use tracing::{debug, warn};

use super::origin::Origins;
use super::tls::Tls;
use crate::gateway::{Gateway, Refusal};
use crate::limits::ACCEPT_RETRY;

/// What is spoken behind a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// RESP under TLS.
    RespTls,
    /// HTTP, and WebSocket from there.
    Http,
    /// The same under TLS.
    Https,
}

/// One listening socket.
pub struct Listener {
    /// What is spoken there.
    pub speech: Speech,
    /// The socket, which does not block.
    pub listener: TcpListener,
}

/// What all doors share.
pub struct Web {
    /// The server.
    pub gateway: Arc<Gateway>,
    /// Pages of browsers that may talk to it.
    pub origins: Origins,
    /// The certificates, where there are any.
    pub tls: Option<Arc<Tls>>,
    /// Most connections of one address at a time; 0 is any number.
    pub max_per_address: usize,
    visitors: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection, counted in until it is dropped.
pub struct Visit {
    web: Arc<Web>,
    address: IpAddr,
}

/// An accepted connection.
pub struct Arrival {
    /// What is spoken.
    pub speech: Speech,
    /// The socket, which does not block and is not yet known to any thread's reactor.
    pub stream: TcpStream,
    /// Whose it is.
    pub peer: Peer,
    /// Its place among all connections.
    pub visit: Visit,
}

impl Web {
    /// Nobody is connected yet.
    pub fn new(
        gateway: Arc<Gateway>,
        origins: Origins,
        tls: Option<Arc<Tls>>,
        max_per_address: usize,
    ) -> Arc<Web> {
        Arc::new(Web { gateway, origins, tls, max_per_address, visitors: Mutex::default() })
    }

    /// Counts a connection in.
    fn admit(self: &Arc<Web>, address: IpAddr) -> Result<Visit, Refusal> {
        self.gateway.admit(address)?;
        // From here on dropping the visit counts it out again.
        let visit = Visit { web: self.clone(), address };
        let mut visitors = self.visitors.lock();
        let count = visitors.entry(address).or_default();
        *count += 1;
        if self.max_per_address > 0 && *count > self.max_per_address {
            drop(visitors);
            self.gateway.server.shared.counters.rejected_connections.fetch_add(1, Ordering::Relaxed);
            return Err(Refusal::TooMany);
        }
        drop(visitors);
        Ok(visit)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.web.gateway.connected.fetch_sub(1, Ordering::Relaxed);
        let mut visitors = self.web.visitors.lock();
        if let Some(count) = visitors.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                visitors.remove(&self.address);
            }
        }
    }
}

/// Accepts connections and hands them to the threads in turn, for ever.
pub async fn accept(web: Arc<Web>, door: Listener, threads: Vec<UnboundedSender<Arrival>>) {
    let Listener { speech, listener } = door;
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
            Ok(visit) => {
                let local = stream.local_addr().as_ref().map(SocketAddr::to_string).unwrap_or_default();
                let peer = Peer { address: address.to_string(), local_address: local };
                // Whoever serves it registers it anew: it must not depend on the reactor of this thread.
                let stream = match stream.set_nodelay(true).and_then(|()| stream.into_std()) {
                    Ok(stream) => stream,
                    Err(error) => {
                        debug!(%error, "a connection ended before it began");
                        continue;
                    }
                };
                let arrival = Arrival { speech, stream, peer, visit };
                if let Some(thread) = turns.next().and_then(|turn| threads.get(turn)) {
                    // It fails if the server ends.
                    let _ = thread.send(arrival);
                }
            }
            Err(refusal) => refuse(speech, &stream, refusal),
        }
    }
}

/// Tells the peer as far as that is possible at once, where it would understand it.
fn refuse(speech: Speech, stream: &tokio::net::TcpStream, refusal: Refusal) {
    if speech == Speech::Http {
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
