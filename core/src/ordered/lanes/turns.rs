//! What members do in their turns, and what becomes of reads.

use super::batch::{Batch, Hand, Member, Stage};
use super::{Lanes, Phase, Planned, Step, Turn, keys_of, release};
use crate::engine::{EngineError, Result, Ticket};
use crate::ordered::cluster::Ask;
use crate::ordered::known::Known;

impl<T> Lanes<T> {
    /// The batch of a turn that is under way.
    fn batch_of(&mut self, turn: Turn) -> Option<&mut Batch<T>> {
        let lane = self.lanes.get_mut(&turn.lane)?;
        let runs = |member: &Member| member.number == turn.member && matches!(member.stage, Stage::Runs);
        lane.batch.members.iter().any(runs).then_some(&mut lane.batch)
    }

    /// The transaction of the batch, to read what a plan needs while the turn goes on; None if it is away.
    pub(in crate::ordered) fn lend(&mut self, turn: Turn) -> Option<Option<T>> {
        let batch = self.batch_of(turn)?;
        match std::mem::replace(&mut batch.transaction, Hand::Away) {
            Hand::NotBegun => Some(None),
            Hand::Here(transaction) => Some(Some(transaction)),
            Hand::Away => None,
        }
    }

    /// Ends a batch in which nothing has been planned yet for a member that goes on alone, with the transaction; None if there is
    /// something, and then the member leaves.
    pub(in crate::ordered) fn take_over(
        &mut self,
        turn: Turn,
        known: Known,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) -> Option<(Option<T>, Known)> {
        if known.has_written() || self.batch_of(turn).is_none() {
            self.leave(turn, known, now_ms, steps);
            return None;
        }
        let lane = self.lanes.get_mut(&turn.lane)?;
        let at = lane.batch.members.iter().position(|member| member.number == turn.member)?;
        let member = lane.batch.members.remove(at);
        release(&mut self.keys, &member.keys);
        lane.leave_behind();
        let transaction = std::mem::take(&mut lane.batch).transaction.into_transaction();
        lane.phase = Phase::Idle;
        lane.give_back(steps);
        self.advance(turn.lane, now_ms, steps);
        Some((transaction, known))
    }

    /// What [`Lanes::lend`] gave comes back.
    pub(in crate::ordered) fn give_back(&mut self, turn: Turn, transaction: T) {
        if let Some(batch) = self.batch_of(turn) {
            batch.transaction = Hand::Here(transaction);
        }
    }

    /// What is known, for a member that was called and takes its turn. None if it must be called once more.
    pub(in crate::ordered) fn take(&mut self, turn: Turn) -> Option<Known> {
        self.lanes.get_mut(&turn.lane)?.batch.take(turn.member)
    }

    /// Ends a turn and changes its member; false if the batch has ended meanwhile.
    fn end_turn(
        &mut self,
        turn: Turn,
        known: Known,
        missed: &[Ask],
        change: impl FnOnce(&mut Member),
    ) -> bool {
        let Some(batch) = self.batch_of(turn) else { return false };
        batch.return_turn(known, missed);
        let member = batch.members.iter_mut().find(|member| member.number == turn.member);
        member.map(change).is_some()
    }

    /// A member has missed something, and waits for it under this ticket.
    pub(in crate::ordered) fn missed(
        &mut self,
        turn: Turn,
        mut known: Known,
        ticket: Ticket,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        let missed = known.take_wants();
        let is_there = self.end_turn(turn, known, &missed, |member| {
            member.ticket = ticket;
            member.stage = if missed.is_empty() { Stage::Ready(false) } else { Stage::Waits };
            member.wants.extend_from_slice(&missed);
        });
        if !is_there {
            steps.push(Step::Restart(ticket));
        }
        self.advance(turn.lane, now_ms, steps);
    }

    /// A member's outcome would rest on what others have yet to write, and it cannot wait for that: it has its turn in the
    /// next batch, before others.
    pub(in crate::ordered) fn postponed(
        &mut self,
        turn: Turn,
        mut known: Known,
        ticket: Ticket,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        known.drop_wants();
        let is_there = self.end_turn(turn, known, &[], |member| {
            member.ticket = ticket;
            member.is_first = true;
            member.stage = Stage::Waits;
        });
        if !is_there {
            steps.push(Step::Restart(ticket));
        }
        if let Some(lane) = self.lanes.get_mut(&turn.lane)
            && let Some(at) = lane.batch.members.iter().position(|member| member.number == turn.member)
        {
            let member = lane.batch.members.remove(at);
            lane.queue.push_front(member);
        }
        self.advance(turn.lane, now_ms, steps);
    }

    /// A member has planned what it writes, and `known` shows it; its commit waits under this ticket.
    pub(in crate::ordered) fn planned(
        &mut self,
        turn: Turn,
        (known, planned): (Known, Planned),
        ticket: Ticket,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        if let Some(batch) = self.batch_of(turn) {
            batch.add_planned(known, planned.locks, planned.begins_until_ms);
            if let Some(member) = batch.members.iter_mut().find(|member| member.number == turn.member) {
                member.ticket = ticket;
                member.stage = Stage::Done;
                member.writes = planned.writes;
            }
        } else {
            // Its batch has ended meanwhile, and nothing was written.
            steps.push(Step::End(ticket, Err(EngineError::NotHere)));
        }
        self.advance(turn.lane, now_ms, steps);
    }

    /// A member gives its turn back and has nothing more to do with its lane.
    pub(in crate::ordered) fn leave(
        &mut self,
        turn: Turn,
        mut known: Known,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        known.drop_wants();
        if self.end_turn(turn, known, &[], |member| member.stage = Stage::Waits) {
            self.forget(turn, now_ms, steps);
        }
    }

    /// A member that waits for its turn is gone.
    pub(in crate::ordered) fn forget(&mut self, turn: Turn, now_ms: u64, steps: &mut Vec<Step<T>>) {
        let Some(lane) = self.lanes.get_mut(&turn.lane) else { return };
        let is_it = |member: &Member| {
            member.number == turn.member && !matches!(member.stage, Stage::Runs | Stage::Done)
        };
        let found = match lane.batch.members.iter().position(is_it) {
            Some(at) => Some(lane.batch.members.remove(at)),
            None => lane.queue.iter().position(is_it).and_then(|at| lane.queue.remove(at)),
        };
        if let Some(member) = found {
            release(&mut self.keys, &member.keys);
            self.advance(turn.lane, now_ms, steps);
        }
    }

    /// Something was read for a lane, or could not be.
    pub(in crate::ordered) fn read(
        &mut self,
        number: u64,
        outcome: Result<(T, Known)>,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        match outcome {
            Ok((transaction, known)) => lane.batch.arrive(transaction, known),
            Err(error) => return self.fail(number, &error, now_ms, steps),
        }
        self.advance(number, now_ms, steps);
    }

    /// What the plan of a turn needs could not be read.
    pub(in crate::ordered) fn fail_in_turn(
        &mut self,
        turn: Turn,
        error: &EngineError,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        if self.batch_of(turn).is_some() {
            self.fail(turn.lane, error, now_ms, steps);
        }
    }

    /// A batch ends because something could not be read for it.
    fn fail(&mut self, number: u64, error: &EngineError, now_ms: u64, steps: &mut Vec<Step<T>>) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        if *error == EngineError::NotHere {
            // Those that have not written anything stay and begin anew, which is a matter of the next batch.
            let members = std::mem::take(&mut lane.batch.members);
            let (done, left): (Vec<Member>, Vec<Member>) =
                members.into_iter().partition(|member| matches!(member.stage, Stage::Done | Stage::Runs));
            self.heat.add(&keys_of(&left), now_ms);
            lane.batch.members = left;
            lane.leave_behind();
            lane.batch.members = done;
        }
        self.finish(number, &Err(error.clone()), now_ms, steps);
    }
}
