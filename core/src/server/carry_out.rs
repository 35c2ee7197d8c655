//! The end of what [`outbox`](super::outbox) collects: actions of a committed transaction happen.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Shared;
use super::hub::{Inbox, Topic, TopicKind, Unblock, notify};
use super::outbox::{Action, Actions};

/// Carries actions out in their order, for the connection with this inbox. Those that end waits are added to `unblocks`
/// instead: they take the lock of a blocked connection, under which another thread may be waiting for its turn to deliver.
pub(crate) fn carry_out(
    shared: &Shared,
    inbox: &Arc<Inbox>,
    actions: Actions,
    now_ms: u64,
    unblocks: &mut Vec<(u64, Unblock)>,
) {
    let classes = actions.classes();
    for action in actions {
        match action {
            Action::Unblock(id, how) => unblocks.push((id, how)),
            action => carry_out_one(shared, inbox, classes, action, now_ms),
        }
    }
}

fn carry_out_one(shared: &Shared, inbox: &Arc<Inbox>, classes: u32, action: Action, now_ms: u64) {
    let hub = &shared.hub;
    // Held to the end.
    let _definitions = action.changes_definitions().then(|| {
        let mut changes = shared.definition_changes.lock();
        *changes += 1;
        changes
    });
    match action {
        Action::Notify { event, db, key } => {
            for (channel, message) in notify::messages(classes, event, db, &key) {
                publish(shared, TopicKind::Channel, &channel, &message);
            }
        }
        Action::Publish { kind, channel, message } => publish(shared, kind, &channel, &message),
        Action::Subscribe(kind, name) => hub.pubsub.subscribe(Topic { kind, name: &name }, inbox),
        Action::Unsubscribe(kind, name) => hub.pubsub.unsubscribe(Topic { kind, name: &name }, inbox.id()),
        Action::Monitor => hub.add_monitor(inbox),
        Action::Track(tracking) => {
            let redirect = tracking.redirect;
            let target = redirect.and_then(|id| shared.clients.lock().get(&id).map(|it| it.inbox.clone()));
            hub.tracking.begin(&hub.interest, inbox, target, &tracking);
        }
        Action::Untrack => hub.tracking.end(&hub.interest, inbox.id()),
        Action::Protocol(protocol) => inbox.set_protocol(protocol),
        Action::Kill(ids) => shared.kill(&ids),
        Action::Pause(pause) => hub.pauses.begin(&hub.interest, pause, now_ms),
        Action::Unpause => {
            hub.pauses.end(&hub.interest);
            shared.clients.lock().values().for_each(|known| known.inbox.wake());
        }
        // The caller ends waits itself.
        Action::Unblock(..) => {}
        Action::Settings(accepted) => {
            let password = accepted.get("requirepass").map(str::to_owned);
            shared.settings.apply(accepted);
            if let Some(password) = password {
                shared.set_default_password(&password);
            }
            shared.settings_changed();
        }
        Action::ExpireActively(is_on) => shared.expires_actively.store(is_on, Ordering::Relaxed),
        Action::ResetStatistics => {
            shared.counters.reset();
            shared.statistics.reset();
            shared.memory.reset();
            shared.acl.log.reset_counts();
            shared.triggers.reset_counts();
            shared.crons.reset_counts();
            shared.settings.output_limits().cut.store(0, Ordering::Relaxed);
        }
        Action::ResetSlowLog => shared.slow_log.reset(),
        Action::ResetLatency(names) => {
            shared.latency.reset(|event| names.contains(&event));
        }
        Action::Saved { changes, now_ms } => shared.saved(changes, now_ms),
        Action::ForgetDenials => shared.acl.log.reset(),
        Action::Users(change) => shared.change_users(&change),
        Action::Denied(denial, context, client) => shared.note_denial(*denial, context, client, now_ms),
        Action::ForgetScripts => shared.scripts.cache.flush(),
        Action::Libraries(change) => shared.scripts.libraries.apply(&change),
        Action::Triggers(change) => shared.triggers.apply(&hub.interest, &change),
        Action::Crons(change) => shared.crons.apply(&change, now_ms),
        Action::PassRows(cursor, count) => shared.search.cursors.pass(cursor, count),
        Action::ForgetCronFailures => shared.crons.forget_failures(),
        Action::Log(level, text) => shared.host.log(level, &text),
        Action::ShowMonitors(line) => hub.show_monitors(&line),
        Action::KeepPosition(position) => shared.scan_positions.lock().keep(position),
    }
}

/// Sends a message to those who listen to its channel, here and at other processes of the same store.
fn publish(shared: &Shared, kind: TopicKind, channel: &[u8], message: &[u8]) {
    match kind {
        TopicKind::Shard => shared.hub.pubsub.publish_to_shard(channel, message),
        TopicKind::Channel | TopicKind::Pattern => shared.hub.pubsub.publish(channel, message),
    };
    if shared.peers.are_possible() {
        shared.peers.publish(kind, channel, message);
    }
}
