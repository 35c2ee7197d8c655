//! The lease of this server, who the others are, and the links to them.

use std::collections::{HashMap, HashSet};
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use edgecask_core::engine::Result;
use edgecask_core::ordered::{Lease, Member, Ordered, Standing};
use edgecask_core::server::peers::{Apart, PeerId};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::connection;
use super::definitions::Reader;
use super::handshake::Ends;
use super::standing::{Position, Step};
use super::stream::{self, LinkTls, Stream};
use crate::clock::whole_ms;
use crate::gateway::Gateway;
use crate::limits::{
    PEER_CALL_PERIOD, PEER_HANDSHAKE_TIMEOUT, PEER_JOIN_WAIT, PEER_LEASE_MS, PEER_LOOK_PERIOD,
};
use crate::tikv::TikvCluster;

/// What the links need to know.
pub(super) struct Membership {
    pub(super) gateway: Arc<Gateway>,
    pub(super) secret: Arc<[u8]>,
    /// Where this server listens to the others.
    pub(super) address: String,
    pub(super) tls: Option<LinkTls>,
    pub(super) definitions: Sender<Reader>,
}

/// Everything about the links, until the server ends. `joined` hears of it once all others are linked, with their number.
pub(super) async fn run(membership: Arc<Membership>, listener: StdListener, joined: Sender<usize>) {
    let mut tasks = JoinSet::new();
    match TcpListener::from_std(listener) {
        Ok(listener) => drop(tasks.spawn(accept(membership.clone(), listener))),
        Err(error) => warn!(%error, "no other server can make a link to this one"),
    }
    tasks.spawn(call_while_unlinked(membership.clone()));
    keep_lease(&membership, joined).await;
    if let Some(cluster) = membership.gateway.server.engine.cluster() {
        let (ended, waits) = oneshot::channel();
        cluster.end_lease(Box::new(move || {
            let _ = ended.send(());
        }));
        let _ = timeout(PEER_HANDSHAKE_TIMEOUT, waits).await;
    }
}

/// Takes links that others make.
async fn accept(membership: Arc<Membership>, listener: TcpListener) {
    let mut links = JoinSet::new();
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            sleep(PEER_CALL_PERIOD).await;
            continue;
        };
        let membership = membership.clone();
        links.spawn(async move {
            let ends = membership.ends();
            let accepting = async {
                let mut stream = stream::accepted(membership.tls.as_ref(), stream).await?;
                let peer = ends.accept(&mut *stream).await?;
                Ok::<(PeerId, Box<dyn Stream>), std::io::Error>((peer, stream))
            };
            match timeout(PEER_HANDSHAKE_TIMEOUT, accepting).await {
                Ok(Ok((peer, stream))) => connection::serve(&membership, peer, stream).await,
                Ok(Err(error)) => debug!(%address, %error, "no link"),
                Err(_) => debug!(%address, "no link in time"),
            }
        });
        while links.try_join_next().is_some() {}
    }
}

/// While there is no link to a member, blocked connections look for themselves often; turns at keys do not last for ever.
async fn call_while_unlinked(membership: Arc<Membership>) {
    let shared = &membership.gateway.server.shared;
    loop {
        sleep(PEER_CALL_PERIOD).await;
        if let Some(cluster) = membership.gateway.server.engine.cluster() {
            cluster.look_after_turns();
        }
        if !shared.peers.unlinked().is_empty() {
            shared.hub.waiting.call_all();
        }
    }
}

/// Renews the lease until the server ends.
async fn keep_lease(membership: &Arc<Membership>, joined: Sender<usize>) {
    let gateway = &membership.gateway;
    let Some(cluster) = gateway.server.engine.cluster() else { return };
    let peers = &gateway.server.shared.peers;
    let hub = &gateway.server.shared.hub;
    // Until when the others know of this server as what it is now, and whether it counts on what it knows.
    let (mut seen_until_ms, mut is_member, mut joined) = (0, false, Some(joined));
    let mut position = Position::new(cluster.process());
    let (connecting, mut links) = (Arc::<Mutex<Attempts>>::default(), JoinSet::new());
    let began = Instant::now();
    while gateway.stop.request_made().is_none() {
        let begin = Instant::now();
        let look = peers.begin_look(hub, whole_ms(began.elapsed()));
        match renew(cluster, &membership.address, position.standing()).await {
            Ok(lease) => {
                let is_new = lease.until_ms - PEER_LEASE_MS > seen_until_ms;
                seen_until_ms = lease.until_ms;
                if is_new {
                    // The others did not wait for it so far. Of two servers that look before either is to be seen neither would
                    // see the other, so it looks again now that it is.
                    cluster.set_lease(0);
                    is_member = false;
                    continue;
                }
                let others: Vec<(PeerId, Apart)> = lease
                    .others
                    .iter()
                    .map(|member| (member.process, Apart(member.standing.is_apart)))
                    .collect();
                peers.set_members(hub, &others, look);
                link_to(membership, cluster.process(), &lease.others, &connecting, &mut links);
                let step = position.look(&lease.others, &peers.unlinked(), Instant::now());
                peers.set_apart(Apart(position.standing().is_apart));
                match step {
                    Step::Join => {
                        seen_until_ms = 0;
                        continue;
                    }
                    Step::Leave => {
                        cluster.set_lease(0);
                        is_member = false;
                        warn!(
                            "other servers of the store cannot be reached: until they can, they do not wait for this one"
                        );
                    }
                    Step::Stay => {}
                }
                if !is_member && !position.standing().is_apart {
                    is_member = become_member(membership, cluster).await;
                }
                if is_member {
                    cluster.set_lease(lease.until_ms);
                    if !cluster.is_certain() && !peers.is_anybody_changing_databases() {
                        settle_databases(cluster).await;
                    }
                    if let Some(joined) = joined.take() {
                        let _ = joined.send(others.len());
                    }
                }
                peers.look_again_while_unlinked(hub);
            }
            Err(error) => debug!(%error, "the lease cannot be renewed"),
        }
        while links.try_join_next().is_some() {}
        let is_settled = is_member || position.standing().is_apart && began.elapsed() > PEER_JOIN_WAIT;
        let period = if is_settled { PEER_LOOK_PERIOD } else { PEER_LOOK_PERIOD / 10 };
        rest(gateway, period.saturating_sub(begin.elapsed())).await;
    }
}

/// Rests, but not beyond the end of the server.
async fn rest(gateway: &Gateway, period: Duration) {
    let until = Instant::now() + period;
    while gateway.stop.request_made().is_none() && Instant::now() < until {
        sleep(until.saturating_duration_since(Instant::now()).min(PEER_CALL_PERIOD)).await;
    }
}

/// A link that cannot be made for so long is told in the log. One that has died is a member for three seconds.
const TOLD_AFTER: Duration = Duration::from_secs(6);

/// Links that this server tries to make.
#[derive(Default)]
struct Attempts {
    under_way: HashSet<PeerId>,
    /// Since when they fail, and whether the log says so.
    failed: HashMap<PeerId, (Instant, bool)>,
}

impl Attempts {
    /// One has ended; true if the log is to say that it failed.
    fn ended(&mut self, peer: PeerId, is_linked: bool) -> bool {
        self.under_way.remove(&peer);
        if is_linked {
            self.failed.remove(&peer);
            return false;
        }
        let (since, is_told) = self.failed.entry(peer).or_insert((Instant::now(), false));
        let is_due = since.elapsed() > TOLD_AFTER;
        is_due && !std::mem::replace(is_told, true)
    }
}

/// Makes links to members with smaller numbers that there is none to.
fn link_to(
    membership: &Arc<Membership>,
    own: PeerId,
    others: &[Member],
    connecting: &Arc<Mutex<Attempts>>,
    links: &mut JoinSet<()>,
) {
    let unlinked = membership.gateway.server.shared.peers.unlinked();
    for member in others.iter().filter(|member| member.process < own && unlinked.contains(&member.process)) {
        if !connecting.lock().under_way.insert(member.process) {
            continue;
        }
        let (membership, member, connecting) = (membership.clone(), member.clone(), connecting.clone());
        links.spawn(async move {
            let Member { process: peer, address, .. } = member;
            let connected = async {
                let mut stream = stream::connected(membership.tls.as_ref(), &address).await?;
                membership.ends().connect(&mut *stream, peer).await?;
                Ok::<Box<dyn Stream>, std::io::Error>(stream)
            };
            let connected = timeout(PEER_HANDSHAKE_TIMEOUT, connected).await;
            let failed = match connected {
                Ok(Ok(stream)) => {
                    connecting.lock().ended(peer, true);
                    return connection::serve(&membership, peer, stream).await;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer in time".into(),
            };
            if connecting.lock().ended(peer, false) {
                warn!(
                    peer,
                    address,
                    failed,
                    "no link to another server of the store: FLUSHDB, SUBSCRIBE and their like wait for it"
                );
            } else {
                debug!(peer, address, failed, "no link");
            }
        });
    }
}

/// Reads what others may have changed, if all of them know of this server; true if the lease may count.
async fn become_member(membership: &Membership, cluster: &Ordered<TikvCluster>) -> bool {
    let peers = &membership.gateway.server.shared.peers;
    let begin = Instant::now();
    let mark = peers.mark();
    while !peers.have_heard(mark) {
        if begin.elapsed() > PEER_LOOK_PERIOD / 2 {
            return false;
        }
        sleep(Duration::from_millis(1)).await;
    }
    if peers.is_anybody_changing_databases() || !settle_databases(cluster).await {
        return false;
    }
    let (told, waits) = oneshot::channel();
    membership.definitions.send(Reader::Own(told)).is_ok() && waits.await.is_ok()
}

async fn renew(cluster: &Ordered<TikvCluster>, address: &str, standing: Standing) -> Result<Lease> {
    let (sender, waits) = oneshot::channel();
    cluster.renew_lease(
        address,
        standing,
        PEER_LEASE_MS,
        Box::new(move |outcome| drop(sender.send(outcome))),
    );
    waits.await.unwrap_or(Err(edgecask_core::engine::EngineError::Unavailable(
        "the cluster's threads have ended".into(),
    )))
}

/// Reads what the databases are; changes of which this server was not told, and which are still under way somewhere, fail.
async fn settle_databases(cluster: &Ordered<TikvCluster>) -> bool {
    let (sender, waits) = oneshot::channel();
    cluster.settle_databases(Box::new(move |outcome| {
        let _ = sender.send(outcome.is_ok());
    }));
    waits.await.unwrap_or(false)
}

impl Membership {
    /// This end of a link.
    fn ends(&self) -> Ends<'_> {
        let own = self.gateway.server.engine.cluster().map_or(0, Ordered::process);
        Ends { secret: &self.secret, own }
    }
}
