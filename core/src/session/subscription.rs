//! What ties a connection to others: subscriptions, tracking, MONITOR. Here they end.

use crate::server::hub::{Topic, TopicKind};
use crate::server::{Client, Shared};

/// Takes a connection out of everything that it hears of.
pub(super) fn leave(client: &mut Client, shared: &Shared) {
    let hub = &shared.hub;
    if let Some(mut subscriptions) = client.subscriptions.take() {
        for kind in [TopicKind::Channel, TopicKind::Pattern, TopicKind::Shard] {
            for name in subscriptions.of(kind).iter() {
                hub.pubsub.unsubscribe(Topic { kind, name }, client.id);
            }
        }
        client.inbox.set_subscriptions(0);
    }
    client.tracking = None;
    hub.tracking.leave(&hub.interest, client.id);
    if std::mem::take(&mut client.is_monitor) {
        hub.remove_monitor(client.id);
    }
}

/// CLIENT CACHING is about the next command that is not CLIENT again, or about all of a MULTI.
pub(super) fn forget_caching(client: &mut Client) {
    if !client.last_command.starts_with("client")
        && let Some(tracking) = &mut client.tracking
    {
        tracking.caching = None;
    }
}
