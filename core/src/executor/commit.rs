//! The commit boundary: the one place where changes become part of the store, whatever made them.
//!
//! Under the locks of the transaction: what a connection with a cache has read is remembered, a command that found nothing
//! is registered as waiting, and the entry of the feed is made if anybody is interested. The engine appends that entry at
//! the place of the commit in the log. Afterwards, without locks, actions happen and the feed is delivered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use smallvec::SmallVec;

use super::{Before, Caller, Executor, Plan, Ran, Stop, Suspended, Waits};
use crate::catalog::CommandSpec;
use crate::command::CommandError;
use crate::command::call::TriggerRun;
use crate::engine::{CATALOG, Commit, Db, Engine, EngineError, Reader, Receipt, Ticket};
use crate::resp::Reply;
use crate::server::feed::Entry;
use crate::server::hub::{Inbox, Interest, Reread, Unblock, Wait, Waiter};
use crate::server::outbox::Actions;
use crate::server::search::IndexWork;
use crate::server::sql::OldPages;
use crate::server::{Server, Shared, carry_out};

/// A commit that the engine has taken over and not ended.
pub(super) struct Pending {
    ticket: Ticket,
    /// What joins the feed with it.
    entry: Option<Entry>,
    /// The reply that may be sent once it has happened.
    reply: Reply,
    before: Before,
    expired: u64,
    changes: u64,
    waiter: Option<Arc<Waiter>>,
    /// The SQL databases that it changes.
    databases: SmallVec<[(u64, Option<OldPages>); 1]>,
    /// What it changes of indexes.
    search: IndexWork,
    triggers: SmallVec<[TriggerRun; 1]>,
}

impl Pending {
    /// The engine's number for it.
    pub(super) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Its connection has ended. The commit may happen all the same, and then others are to hear of it.
    pub(super) fn leave<E: Engine>(self, server: &Server<E>) {
        match self.entry {
            Some(entry) => server.shared.orphans.add(self.ticket, entry),
            None => server.engine.forget(self.ticket),
        }
    }
}

impl Executor {
    /// Ends a run that went well: commits what it has changed.
    pub(super) fn end<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        snapshot: E::Snapshot<'_>,
        (plan, args, before): (&Plan<'_>, &[&[u8]], &Before),
        now_ms: u64,
    ) -> Result<Ran, Stop> {
        let shared = &server.shared;
        let mut waiter = None;
        if let Some(wait) = self.wait.take() {
            match plan.may_wait {
                // It still waits, so it has not happened.
                Waits::Goes => {
                    drop(snapshot);
                    before.go_back(caller);
                    return Ok(Ran::Nothing);
                }
                Waits::Begins(spec) => {
                    let begun = begin_wait(shared, caller, spec, args, wait);
                    if !server.engine.holds_locks() {
                        // A commit after its reads and before it was in line, and before other processes have heard of it, has
                        // called nobody: it looks once more.
                        begun.set_unheard();
                    }
                    waiter = Some(begun);
                }
                Waits::Never => {}
            }
        }
        let reread = if self.reads.is_empty() { Vec::new() } else { self.remember_reads(shared, caller) };
        self.hits += self.tally.hits;
        self.misses += self.tally.misses;
        self.tally.count_nested(shared);
        let is_unchanged = self.overlay.is_empty();
        let is_kept_back = !is_unchanged && !plan.writes && is_paused(shared, now_ms);
        if is_kept_back {
            // Under a pause nothing changes: an expired key is missing, and stays until the pause ends.
            self.outbox.drop_event("expired");
        }
        if is_unchanged && !snapshot.is_provisional() || is_kept_back {
            drop(snapshot);
            self.carry_out(shared, &caller.client.inbox, now_ms);
            self.outbox.take_effects(&mut self.effects);
            return Ok(waiter.map_or(Ran::Done, Ran::Waits));
        }
        let mut entry = self.entry(shared, caller, plan, reread, now_ms);
        let expired = self.overlay.expired_count();
        // A key that goes because its time has come is no change of the connection's.
        let changes = self.overlay.change_count().saturating_sub(expired);
        let (sql, search) = (&mut self.sql, &mut self.search);
        let mut ordered = |receipt| {
            sql.committed(&shared.sql);
            search.committed(&shared.search, &shared.hub.interest);
            if let Some(entry) = entry.take() {
                shared.feed.append(Entry { receipt, ..entry });
            }
        };
        match server.engine.commit(snapshot, &mut self.overlay, now_ms, &mut ordered) {
            Ok(Commit::Done(receipt)) => {
                if !self.tally.triggers.is_empty() {
                    self.tally.triggers.drain(..).for_each(|run| run.count());
                }
                self.committed(shared, receipt, (expired, changes));
                Ok(waiter.map_or(Ran::Done, Ran::Waits))
            }
            Ok(Commit::Waiting(ticket)) => {
                let reply = caller.reply.split_off(before.reply_len);
                let before = before.clone();
                let triggers = std::mem::take(&mut self.tally.triggers);
                let databases = self.sql.written();
                let search = std::mem::take(&mut self.search);
                let pending = Pending {
                    ticket,
                    entry,
                    reply,
                    before,
                    expired,
                    changes,
                    waiter,
                    databases,
                    search,
                    triggers,
                };
                let commit = Box::new(pending);
                self.suspended = Some(Suspended::Commit { identity: plan.identity, commit });
                Err(Stop::Suspended)
            }
            // A read that met an expired key tried to collect it; the read itself is fine.
            Err(
                EngineError::Full(_)
                | EngineError::ReadOnly(_)
                | EngineError::OpenedToRead
                | EngineError::Exhausted(_),
            ) if !plan.writes => {
                if let Some(entry) = entry {
                    self.outbox.put_back(entry.actions);
                }
                self.outbox.keep_reads();
                self.carry_out(shared, &caller.client.inbox, now_ms);
                Ok(waiter.map_or(Ran::Done, Ran::Waits))
            }
            Err(error) => {
                if let Some(waiter) = waiter {
                    end_wait(shared, &waiter);
                }
                before.go_back(caller);
                Err(Stop::Error(error.into()))
            }
        }
    }

    /// Looks whether a commit that was waiting has ended; None if its transaction is to be run again.
    pub(super) fn resume_commit<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        plan: &Plan<'_>,
        mut pending: Pending,
    ) -> Result<Option<Ran>, Stop> {
        let shared = &server.shared;
        let (entry, databases, search) = (&mut pending.entry, &mut pending.databases, &mut pending.search);
        let mut ordered = |receipt| {
            search.committed(&shared.search, &shared.hub.interest);
            for (database, before) in databases.iter_mut() {
                shared.sql.committed(*database, before.take());
            }
            if let Some(entry) = entry.take() {
                shared.feed.append(Entry { receipt, ..entry });
            }
        };
        let outcome = server.engine.committed(pending.ticket, &self.waker(caller, plan), &mut ordered);
        match outcome {
            Ok(None) => {
                let commit = Box::new(pending);
                self.suspended = Some(Suspended::Commit { identity: plan.identity, commit });
                Err(Stop::Suspended)
            }
            Ok(Some(receipt)) => {
                caller.reply.append_whole(pending.reply);
                pending.triggers.iter().for_each(TriggerRun::count);
                self.committed(shared, receipt, (pending.expired, pending.changes));
                Ok(Some(pending.waiter.map_or(Ran::Done, Ran::Waits)))
            }
            Err(error) => {
                if let Some(waiter) = &pending.waiter {
                    end_wait(shared, waiter);
                }
                pending.before.go_back(caller);
                self.outbox.begin(0);
                if matches!(error, EngineError::Unknown(_)) {
                    tell_unknown(shared, pending.entry.take());
                    self.deliver(shared);
                }
                if error.asks_to_run_again() { Ok(None) } else { Err(Stop::Error(CommandError::from(error))) }
            }
        }
    }

    /// Looks after commits whose connections have ended.
    pub(super) fn look_after_orphans<E: Engine>(&mut self, server: &Server<E>) {
        let shared = &server.shared;
        for (ticket, entry) in shared.orphans.take() {
            let mut left = Some(entry);
            let mut ordered = |receipt| {
                if let Some(entry) = left.take() {
                    shared.feed.append(Entry { receipt, ..entry });
                }
            };
            match server.engine.committed(ticket, Waker::noop(), &mut ordered) {
                Ok(None) => {
                    if let Some(entry) = left {
                        shared.orphans.add(ticket, entry);
                    }
                }
                Err(EngineError::Unknown(_)) => tell_unknown(shared, left),
                Ok(Some(_)) | Err(_) => {}
            }
        }
        self.deliver(shared);
    }

    /// A commit has happened: its effects do, too.
    fn committed(&mut self, shared: &Shared, receipt: Receipt, (expired, changes): (u64, u64)) {
        if expired > 0 {
            shared.counters.expired_keys.fetch_add(expired, Ordering::Relaxed);
        }
        shared.counters.changes.fetch_add(changes, Ordering::Relaxed);
        self.note_commit(receipt);
        self.outbox.take_effects(&mut self.effects);
        self.deliver(shared);
    }

    /// The entry of the feed, if anybody is interested in this commit. The locks are held, so nobody who becomes interested
    /// in its keys is missed.
    fn entry(
        &mut self,
        shared: &Shared,
        caller: &Caller<'_>,
        plan: &Plan<'_>,
        reread: Vec<Reread>,
        now_ms: u64,
    ) -> Option<Entry> {
        let of_keys = Interest::WAITING | Interest::TRACKING | Interest::FOLLOWERS | Interest::PEERS;
        let is_about_keys = shared.hub.interest.has(of_keys);
        if !is_about_keys && self.outbox.is_empty() {
            return None;
        }
        Some(Entry {
            receipt: Receipt::default(),
            now_ms,
            by: caller.client.inbox.clone(),
            changes: if is_about_keys { self.overlay.changed() } else { Vec::new() },
            has_changed_databases: !self.overlay.db_changes().is_empty(),
            wakes: plan.wakes,
            reread,
            actions: self.outbox.take(),
        })
    }

    /// Carries out actions of a transaction that has changed nothing.
    pub(super) fn carry_out(&mut self, shared: &Shared, inbox: &Arc<Inbox>, now_ms: u64) {
        if !self.outbox.is_empty() {
            let actions = self.outbox.take();
            carry_out(shared, inbox, actions, now_ms, &mut self.unblocks);
        }
    }

    /// Delivers the feed; keys for which blocked connections wait are noted, to be served after the reply.
    pub(super) fn deliver(&mut self, shared: &Shared) {
        let (ready, unblocks) = (&mut self.ready, &mut self.unblocks);
        shared.feed.deliver(&mut |entry| deliver(shared, entry, ready, unblocks));
    }

    /// Ends waits that CLIENT UNBLOCK wants to end. No lock of a blocked connection, and not that of the delivery, may be
    /// held: two threads could wait for each other.
    pub(super) fn unblock(&mut self, shared: &Shared) {
        for (id, how) in self.unblocks.drain(..) {
            shared.hub.waiting.unblock(&shared.hub.interest, id, how);
        }
    }
}

/// Nobody knows whether a commit has happened: those who listen to its keys look for themselves, and nothing else follows from it.
fn tell_unknown(shared: &Shared, entry: Option<Entry>) {
    if let Some(entry) = entry {
        shared.feed.append(Entry { actions: Actions::default(), ..entry });
    }
}

fn deliver(
    shared: &Shared,
    entry: Entry,
    ready: &mut Vec<(Db, Vec<u8>)>,
    unblocks: &mut Vec<(u64, Unblock)>,
) {
    let Entry { by, changes, has_changed_databases, wakes, reread, actions, now_ms, .. } = entry;
    let hub = &shared.hub;
    carry_out(shared, &by, actions, now_ms, unblocks);
    if hub.interest.has(Interest::PEERS) {
        shared.peers.tell_changed(&changes, has_changed_databases);
    }
    if hub.interest.has(Interest::TRACKING) {
        if has_changed_databases {
            hub.tracking.invalidate_all();
        } else if !changes.is_empty() {
            let of_clients = changes.iter().filter(|changed| changed.db != CATALOG);
            let keys: Vec<&[u8]> = of_clients.map(|changed| changed.key.as_slice()).collect();
            hub.tracking.invalidate(&keys, Some(by.id()), &reread);
        }
    }
    if wakes && hub.interest.has(Interest::WAITING) {
        if has_changed_databases {
            ready.extend(hub.waiting.keys());
        } else {
            let awaited =
                changes.into_iter().filter(|changed| hub.waiting.is_awaited(changed.db, &changed.key));
            ready.extend(awaited.map(|changed| (changed.db, changed.key)));
        }
    }
}

/// Whether clients are paused.
pub(super) fn is_paused(shared: &Shared, now_ms: u64) -> bool {
    let hub = &shared.hub;
    hub.interest.has(Interest::PAUSE) && hub.pauses.present(&hub.interest, now_ms).is_some()
}

/// Blocks a connection in the command that it runs; the locks of its keys are held.
fn begin_wait(
    shared: &Shared,
    caller: &mut Caller<'_>,
    spec: &'static CommandSpec,
    args: &[&[u8]],
    mut wait: Wait,
) -> Arc<Waiter> {
    let request = wait.request.take();
    let request = request.unwrap_or_else(|| args.iter().map(|argument| argument.to_vec()).collect());
    let waiting = caller.client.for_waiting();
    let waiter = Arc::new(Waiter::new(waiting, caller.reply.protocol(), spec, request, wait));
    shared.hub.waiting.add(&shared.hub.interest, &waiter);
    waiter
}

/// Takes back what [`begin_wait`] did.
fn end_wait(shared: &Shared, waiter: &Waiter) {
    let mut state = waiter.state();
    if !state.is_over {
        state.is_over = true;
        shared.hub.waiting.remove(&shared.hub.interest, waiter);
    }
}
