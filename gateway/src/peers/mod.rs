//! Links to the other servers of a store in a cluster: who they are, and what they have to tell each other.
//!
//! What is said is the core's ([`edgecask_core::server::peers`]); here are the sockets, the lease, and the thread that has them. Each server
//! renews its lease every second, sees the others, and of two servers the one with the larger number makes the link. A server counts on
//! what it knows of the databases only while it has a lease, and gets one again only when it has linked to all others and has read what they may
//! have changed.
//!
//! ```text
//! membership   lease, members, links to be made, what must be read again
//! standing     whether the others wait for this server
//! handshake    both show that they know the store's secret
//! connection   bytes in and out of one link; what the peer wants done
//! definitions  a thread that reads users, libraries, triggers and crons again
//! siblings     what the engine has to tell
//! visitors     sessions for requests that another server has forwarded
//! ```

mod connection;
mod definitions;
mod handshake;
mod membership;
mod siblings;
mod standing;
mod stream;
mod visitors;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use tokio::runtime::Builder;
use tracing::{info, warn};

use self::definitions::Definitions;
use self::membership::Membership;
use self::siblings::PeersOfEngine;
use self::stream::LinkTls;
use crate::gateway::Gateway;
use crate::limits::PEER_JOIN_WAIT;
use crate::options::cluster::ClusterOptions;

/// The threads of the links.
pub struct PeerThreads {
    links: JoinHandle<()>,
    definitions: JoinHandle<()>,
}

/// Begins to look for other servers, and waits for a while until all of them are linked. `secret` is what only servers of the store know.
///
/// # Errors
/// The system refuses a socket or a thread, or the certificates cannot be used.
pub fn start(gateway: &Arc<Gateway>, options: &ClusterOptions, secret: Vec<u8>) -> io::Result<PeerThreads> {
    let address = match options.peer_listen {
        Some(address) => address,
        None => SocketAddr::new(own_address(&options.pd).unwrap_or(IpAddr::from([127, 0, 0, 1])), 0),
    };
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let tls = options.tls.as_ref().map(LinkTls::load).transpose()?;
    let shared = &gateway.server.shared;
    shared.peers.begin();
    let definitions = Definitions::start(gateway)?;
    if let Some(cluster) = gateway.server.engine.cluster() {
        cluster.set_siblings(Arc::new(PeersOfEngine::of(gateway)));
        cluster.set_peers(Arc::new(PeersOfEngine::of(gateway)));
    }
    let (joined, waits) = channel();
    let membership = Membership {
        gateway: gateway.clone(),
        secret: secret.into(),
        address: address.to_string(),
        tls,
        definitions: definitions.requests(),
    };
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let links = std::thread::Builder::new().name("peers".into()).spawn(move || {
        runtime.block_on(membership::run(Arc::new(membership), listener, joined));
    })?;
    match waits.recv_timeout(PEER_JOIN_WAIT) {
        Ok(others) => info!(others, %address, "linked to the other servers of the store"),
        Err(_) => warn!(
            %address,
            "not linked to the other servers of the store yet: SUBSCRIBE, FLUSHDB and their like end with TRYAGAIN here until it is"
        ),
    }
    Ok(PeerThreads { links, definitions: definitions.into_thread() })
}

impl PeerThreads {
    /// Waits until they have ended, after a stop.
    pub fn join(self) {
        for thread in [self.links, self.definitions] {
            if thread.join().is_err() {
                tracing::error!("a thread of the links panicked");
            }
        }
    }
}

/// The address of this machine from which PD is reached. Nothing is sent.
fn own_address(pd: &[String]) -> Option<IpAddr> {
    pd.iter().find_map(|member| {
        let socket = UdpSocket::bind("0.0.0.0:0").or_else(|_| UdpSocket::bind("[::]:0")).ok()?;
        socket.connect(member.as_str()).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    })
}
