//! One link while it lasts: bytes in and out, and what the peer wants done.

use std::sync::Arc;
use std::task::Wake;

use edgecask_core::server::peers::{LinkId, PeerId, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::Notify;
use tracing::{debug, info};

use super::definitions::Reader;
use super::membership::Membership;
use super::siblings;
use super::stream::Stream;
use super::visitors::Visitors;
use crate::limits::PEER_READ_BYTES;

/// Wakes the task that sends.
struct Outgoing(Notify);

impl Wake for Outgoing {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

/// Serves a link to a peer until it ends.
pub(super) async fn serve(membership: &Membership, peer: PeerId, stream: Box<dyn Stream>) {
    let shared = &membership.gateway.server.shared;
    let outgoing = Arc::new(Outgoing(Notify::new()));
    let link = shared.peers.link(&shared.hub, peer, outgoing.clone().into());
    outgoing.0.notify_one();
    info!(peer, "linked to another server of the store");
    let (reader, writer) = split(stream);
    tokio::select! {
        () = receive(membership, link, reader) => {}
        () = send(membership, link, writer, &outgoing) => {}
    }
    shared.peers.unlink(&shared.hub, link);
    info!(peer, "the link to another server has ended");
}

async fn send(
    membership: &Membership,
    link: LinkId,
    mut writer: WriteHalf<Box<dyn Stream>>,
    outgoing: &Outgoing,
) {
    loop {
        outgoing.0.notified().await;
        let Some(bytes) = membership.gateway.server.shared.peers.take_outgoing(link) else { return };
        if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

async fn receive(membership: &Membership, link: LinkId, mut reader: ReadHalf<Box<dyn Stream>>) {
    let shared = &membership.gateway.server.shared;
    let (mut bytes, mut tasks) = (Vec::new(), Vec::new());
    let mut visitors = Visitors::new(&membership.gateway, link);
    loop {
        bytes.reserve(PEER_READ_BYTES);
        match reader.read_buf(&mut bytes).await {
            Ok(count) if count > 0 => {}
            _ => return,
        }
        match shared.peers.receive(&shared.hub, link, &bytes, &mut tasks) {
            Ok(used) => drop(bytes.drain(..used)),
            Err(error) => return debug!(%error, "the link says what cannot be read"),
        }
        bytes.shrink_to(PEER_READ_BYTES);
        tasks.drain(..).for_each(|task| carry_out(membership, link, &mut visitors, task));
    }
}

fn carry_out(membership: &Membership, link: LinkId, visitors: &mut Visitors, task: Task) {
    let server = &membership.gateway.server;
    let Some(cluster) = server.engine.cluster() else { return };
    match task {
        Task::Doubt(number) => {
            cluster.doubt();
            server.shared.peers.done(link, number);
        }
        Task::ReadDatabases => siblings::read_databases(&membership.gateway),
        // The thread ends with the server only.
        Task::ReadDefinitions(number) => drop(membership.definitions.send(Reader::Peer(link, number))),
        Task::Advice(peer, advice) => cluster.hear(peer, &advice),
        Task::Run(number, forward) => visitors.run(number, forward),
    }
}
