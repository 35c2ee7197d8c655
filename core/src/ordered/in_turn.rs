//! Transactions that stand in a lane ([`super::lanes`]): what is done for them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use super::changes::Changes;
use super::cluster::{Cluster, Write};
use super::known::Known;
use super::lanes::{Alarm, LaneKeys, Lanes, Planned, Step, Turn, Work};
use super::{Inner, ROUNDS_MAX, Waiting, engine_error};
use crate::engine::{EngineError, Result, Ticket};

/// A turn in which a plan is made.
struct Plan {
    turn: Turn,
    ticket: Ticket,
    changes: Changes,
    known: Known,
    rounds: u32,
}

/// What lanes want done.
type Steps<C> = Vec<Step<<C as Cluster>::Transaction>>;

impl<C: Cluster> Inner<C> {
    /// Has the lanes do something at this moment; returns what they want done.
    pub(super) fn with_lanes(
        &self,
        run: impl FnOnce(&mut Lanes<C::Transaction>, u64, &mut Steps<C>),
    ) -> Steps<C> {
        let (now_ms, mut steps) = (self.cluster.now_ms(), Vec::new());
        run(&mut self.lanes.lock(), now_ms, &mut steps);
        steps
    }

    /// Has a transaction that is about to write these keys wait in their lane, under a new ticket; gives back what it wants if
    /// there is no lane for it.
    pub(super) fn join_to_run(
        self: &Arc<Self>,
        keys: LaneKeys,
        mut known: Known,
        ticket: Ticket,
        waker: &Waker,
    ) -> Option<Known> {
        let mut lanes = self.lanes.lock();
        if !lanes.has_place(&keys) {
            return Some(known);
        }
        let (now_ms, work, mut steps) = (self.cluster.now_ms(), Work::Run(known.take_wants()), Vec::new());
        let turn = lanes.join(keys, work, ticket, now_ms, &mut steps);
        // Before anybody can call it.
        self.waiting.lock().insert(ticket, Waiting::in_lane(turn, waker));
        drop(lanes);
        self.carry_out(steps);
        None
    }

    /// Has changes that rest on nothing wait in the lane of their keys; gives them back if there is no lane for them.
    pub(super) fn join_to_put(
        self: &Arc<Self>,
        keys: LaneKeys,
        changes: Changes,
        ticket: Ticket,
    ) -> Option<Changes> {
        let mut lanes = self.lanes.lock();
        if !lanes.has_place(&keys) {
            return Some(changes);
        }
        let mut steps = Vec::new();
        lanes.join(keys, Work::Put(changes), ticket, self.cluster.now_ms(), &mut steps);
        drop(lanes);
        self.carry_out(steps);
        None
    }

    /// What is known, if it is the turn of the one that waits under this ticket.
    pub(super) fn take_turn(&self, ticket: Ticket) -> Option<(Turn, Known)> {
        let turn = match self.waiting.lock().get_mut(&ticket) {
            Some(Waiting::InLane { turn, is_called: is_called @ true, .. }) => {
                // If it comes too late it is called once more.
                *is_called = false;
                *turn
            }
            _ => return None,
        };
        let known = self.lanes.lock().take(turn)?;
        self.waiting.lock().remove(&ticket);
        Some((turn, known))
    }

    /// One whose turn it was misses something, or, with `is_postponed`, may not end before others have written.
    pub(super) fn miss_in_turn(
        self: &Arc<Self>,
        (turn, known): (Turn, Known),
        ticket: Ticket,
        waker: &Waker,
        is_postponed: bool,
    ) {
        self.waiting.lock().insert(ticket, Waiting::in_lane(turn, waker));
        let steps = self.with_lanes(|lanes, now_ms, steps| match is_postponed {
            true => lanes.postponed(turn, known, ticket, now_ms, steps),
            false => lanes.missed(turn, known, ticket, now_ms, steps),
        });
        self.carry_out(steps);
    }

    /// One whose turn it was has nothing to write.
    pub(super) fn leave_lane(self: &Arc<Self>, turn: Turn, known: Known) {
        let steps = self.with_lanes(|lanes, now_ms, steps| lanes.leave(turn, known, now_ms, steps));
        self.carry_out(steps);
    }

    /// One that waits for its turn does not come any more.
    pub(super) fn forget_in_lane(self: &Arc<Self>, turn: Turn) {
        let steps = self.with_lanes(|lanes, now_ms, steps| lanes.forget(turn, now_ms, steps));
        self.carry_out(steps);
    }

    /// One whose turn it was commits.
    pub(super) fn commit_in_turn(
        self: &Arc<Self>,
        (turn, known): (Turn, Known),
        changes: Changes,
        ticket: Ticket,
    ) {
        let steps = self.plan_in_turn(Plan { turn, ticket, changes, known, rounds: 0 });
        self.carry_out(steps);
    }

    /// One whose turn it was changes what concerns more than its keys: it goes on alone with the transaction of its batch, if nothing
    /// of others is in it; else it ends, to run again.
    pub(super) fn leave_to_commit(
        self: &Arc<Self>,
        turn: Turn,
        known: Known,
        ticket: Ticket,
    ) -> Option<(Option<C::Transaction>, Known)> {
        let mut left = None;
        let mut steps = self.with_lanes(|lanes, now_ms, steps| {
            left = lanes.take_over(turn, known, now_ms, steps);
        });
        if left.is_none() {
            steps.push(Step::End(ticket, Err(EngineError::NotHere)));
        }
        self.carry_out(steps);
        left
    }

    fn plan_in_turn(self: &Arc<Self>, mut plan: Plan) -> Steps<C> {
        let number = || self.number();
        plan.known.shown.get_or_insert_with(|| self.certainty.present());
        let planned = plan.changes.plan(&self.names, &mut plan.known, &number);
        let Plan { turn, ticket, mut known, .. } = match planned {
            Err(EngineError::NotHere) if plan.rounds < ROUNDS_MAX => return self.read_in_turn(plan),
            _ => plan,
        };
        match planned {
            Ok(planned) => {
                self.upkeep.note_expiring(planned.expiring);
                let Write { changes, locks, begins_until_ms } = planned.write;
                let planned = Planned { writes: !changes.is_empty(), locks, begins_until_ms };
                known.write(changes);
                self.with_lanes(|lanes, now_ms, steps| {
                    lanes.planned(turn, (known, planned), ticket, now_ms, steps);
                })
            }
            Err(error) => {
                let error = self.plan_failed(error, &mut known);
                self.leave_with(turn, known, Step::End(ticket, Err(error)))
            }
        }
    }

    /// One whose turn it was leaves its lane, and then this is done.
    fn leave_with(&self, turn: Turn, known: Known, step: Step<C::Transaction>) -> Steps<C> {
        let mut steps = self.with_lanes(|lanes, now_ms, steps| lanes.leave(turn, known, now_ms, steps));
        steps.push(step);
        steps
    }

    /// Reads what a plan needs, while its turn goes on.
    fn read_in_turn(self: &Arc<Self>, mut plan: Plan) -> Steps<C> {
        plan.rounds += 1;
        let Some(transaction) = self.lanes.lock().lend(plan.turn) else {
            // Its batch has ended, or reads for others: it begins anew.
            return self.leave_with(plan.turn, plan.known, Step::End(plan.ticket, Err(EngineError::NotHere)));
        };
        let (inner, known) = (self.clone(), std::mem::take(&mut plan.known));
        let done = move |outcome| {
            let steps = match outcome {
                Ok((transaction, known)) => {
                    inner.lanes.lock().give_back(plan.turn, transaction);
                    inner.plan_in_turn(Plan { known, ..plan })
                }
                Err(error) => {
                    let error = engine_error(error);
                    let mut steps = inner.with_lanes(|lanes, now_ms, steps| {
                        lanes.fail_in_turn(plan.turn, &error, now_ms, steps);
                    });
                    steps.push(Step::End(plan.ticket, Err(error)));
                    steps
                }
            };
            inner.carry_out(steps);
        };
        self.clone().fetch(transaction, known, Box::new(done));
        Vec::new()
    }

    /// Does what lanes want done.
    pub(super) fn carry_out(self: &Arc<Self>, steps: Steps<C>) {
        let mut steps = VecDeque::from(steps);
        let mut woken = Vec::new();
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Call(ticket) => woken.extend(self.call(ticket)),
                Step::Restart(ticket) => woken.extend(self.restart(ticket)),
                Step::End(ticket, outcome) => woken.extend(self.end(ticket, outcome)),
                Step::Plan(turn, ticket, changes, known) => {
                    steps.extend(self.plan_in_turn(Plan { turn, ticket, changes, known, rounds: 0 }));
                }
                Step::Read(lane, transaction, known) => self.read_for_lane(lane, transaction, known),
                Step::Write(lane, transaction, write) => {
                    steps.extend(self.write_for_lane(lane, transaction, write));
                }
                Step::Later(delay_ms, alarm) => self.ring_later(delay_ms, alarm),
                Step::Tell(message) => steps.extend(self.tell_owner(message)),
                Step::TellAll(message) => self.tell_others(message),
            }
        }
        if !woken.is_empty() {
            self.arrived.notify_all();
            woken.into_iter().for_each(Waker::wake);
        }
    }

    fn read_for_lane(self: &Arc<Self>, lane: u64, transaction: Option<C::Transaction>, known: Known) {
        let inner = self.clone();
        let done = move |outcome: std::result::Result<_, _>| {
            let outcome = outcome.map_err(engine_error);
            let steps = inner.with_lanes(|lanes, now_ms, steps| lanes.read(lane, outcome, now_ms, steps));
            inner.carry_out(steps);
        };
        self.clone().fetch(transaction, known, Box::new(done));
    }

    fn write_for_lane(
        self: &Arc<Self>,
        lane: u64,
        transaction: Option<C::Transaction>,
        write: Write,
    ) -> Steps<C> {
        let began_ms = transaction.as_ref().map(|transaction| self.cluster.time_ms(transaction));
        if write.begins_until_ms.zip(began_ms).is_some_and(|(until_ms, began_ms)| began_ms > until_ms) {
            // A member that reads nothing joined with databases that may be others by now.
            return self.with_lanes(|lanes, now_ms, steps| {
                lanes.finish(lane, &Err(EngineError::NotHere), now_ms, steps);
            });
        }
        let inner = self.clone();
        self.send(transaction, write, move |outcome| {
            let steps = inner.with_lanes(|lanes, now_ms, steps| lanes.finish(lane, &outcome, now_ms, steps));
            inner.carry_out(steps);
        });
        Vec::new()
    }

    fn ring_later(self: &Arc<Self>, delay_ms: u64, alarm: Alarm) {
        let inner = Arc::downgrade(self);
        self.cluster.later(
            delay_ms,
            Box::new(move || {
                let Some(inner) = inner.upgrade() else { return };
                let steps = inner.with_lanes(|lanes, now_ms, steps| lanes.rung(alarm, now_ms, steps));
                inner.carry_out(steps);
            }),
        );
    }

    /// It may take its turn from now on.
    fn call(&self, ticket: Ticket) -> Option<Waker> {
        match self.waiting.lock().get_mut(&ticket) {
            Some(Waiting::InLane { waker, is_called, .. }) => {
                *is_called = true;
                Some(waker.clone())
            }
            _ => None,
        }
    }

    fn restart(&self, ticket: Ticket) -> Option<Waker> {
        let state = Waiting::Read(None, Known::default());
        self.replace_waiting(ticket, state)
    }

    fn end(&self, ticket: Ticket, outcome: Result<()>) -> Option<Waker> {
        self.replace_waiting(ticket, Waiting::Ended(outcome))
    }
}
