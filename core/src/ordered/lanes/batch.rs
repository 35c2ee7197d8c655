//! The transaction of the cluster that the members of a lane share.

use std::collections::BTreeSet;

use super::{Alarm, LaneKeys, MEMBERS_MAX, NO_SHOW_MS, SHARED_ROUNDS, Step, Turn, WRITE_BYTES, Work};
use crate::engine::Ticket;
use crate::ordered::changes::Changes;
use crate::ordered::cluster::{Ask, Write};
use crate::ordered::known::Known;

/// Somebody who stands in a lane.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) number: u64,
    pub(super) keys: LaneKeys,
    /// Under which it waits; without a meaning while it runs.
    pub(super) ticket: Ticket,
    /// What it has turned out to read so far.
    pub(super) wants: Vec<Ask>,
    pub(super) stage: Stage,
    /// It takes so many rounds that it gets a batch of its own.
    pub(super) is_long: bool,
    /// It has its turn before others have written anything.
    pub(super) is_first: bool,
    /// What it has planned changes something.
    pub(super) writes: bool,
}

/// How far a member is.
#[derive(Debug)]
pub(super) enum Stage {
    /// For its batch to begin, or for what it reads.
    Waits,
    /// It runs nothing: these changes rest on nothing.
    Puts(Changes),
    /// What it reads is here; whether it has been called.
    Ready(bool),
    /// It has the turn.
    Runs,
    /// What it writes is part of the batch.
    Done,
}

/// Where the transaction of a batch is.
#[derive(Debug, Default)]
pub(super) enum Hand<T> {
    /// Nothing has been read yet.
    #[default]
    NotBegun,
    Here(T),
    /// Something is being read.
    Away,
}

impl<T> Hand<T> {
    /// The transaction, if it is here.
    pub(super) fn into_transaction(self) -> Option<T> {
        match self {
            Hand::Here(transaction) => Some(transaction),
            Hand::NotBegun | Hand::Away => None,
        }
    }
}

/// What a batch does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Something is under way.
    Waits,
    /// It is to be written.
    Closes,
}

/// A transaction that is shared.
#[derive(Debug)]
pub(super) struct Batch<T> {
    pub(super) number: u64,
    pub(super) members: Vec<Member>,
    pub(super) transaction: Hand<T>,
    /// What is known; None while somebody has the turn, or something is being read.
    known: Option<Known>,
    /// What members wait for. Apart from what is known, since a plan must not wait for what others miss.
    wants: Vec<Ask>,
    locks: BTreeSet<Vec<u8>>,
    begins_until_ms: Option<u64>,
    /// Nobody adds to it any more.
    is_full: bool,
    rounds: u32,
    /// How many turns there were.
    pub(super) turns: u64,
    /// Whether an alarm is set for those that do not come.
    pub(super) is_alarmed: bool,
}

impl<T> Default for Batch<T> {
    fn default() -> Batch<T> {
        Batch {
            number: 0,
            members: Vec::new(),
            transaction: Hand::NotBegun,
            known: Some(Known::default()),
            wants: Vec::new(),
            locks: BTreeSet::new(),
            begins_until_ms: None,
            is_full: false,
            rounds: 0,
            turns: 0,
            is_alarmed: false,
        }
    }
}

impl Member {
    pub(super) fn new(number: u64, keys: LaneKeys, ticket: Ticket, work: Work) -> Member {
        let (wants, stage) = match work {
            Work::Run(wants) => (wants, Stage::Waits),
            Work::Put(changes) => (Vec::new(), Stage::Puts(changes)),
        };
        Member { number, keys, ticket, wants, stage, is_long: false, is_first: false, writes: false }
    }

    /// Whether it has yet to have its turn, and others do not have theirs before.
    fn goes_first(&self) -> bool {
        self.is_first && !matches!(self.stage, Stage::Done)
    }
}

impl<T> Batch<T> {
    /// Whether one that reads nothing may still join.
    pub(super) fn takes_more(&self) -> bool {
        !self.is_full && self.members.len() < MEMBERS_MAX
    }

    /// Takes a member before anything was read.
    pub(super) fn add(&mut self, mut member: Member) {
        if matches!(member.stage, Stage::Waits) {
            self.wants.extend_from_slice(&member.wants);
            if member.wants.is_empty() {
                member.stage = Stage::Ready(false);
            }
        }
        self.members.push(member);
    }

    /// Goes on as far as that is possible at once. `others_wait` says whether there are members behind those of the batch.
    pub(super) fn go_on(&mut self, lane: u64, others_wait: bool, steps: &mut Vec<Step<T>>) -> Next {
        if self.known.is_none() {
            return Next::Waits;
        }
        if !self.is_full {
            if self.call(lane, steps) {
                self.set_alarm(lane, others_wait, steps);
                return Next::Waits;
            }
            if self.has_waiting() && !self.gives_up_waiting() {
                self.read(lane, steps);
                return Next::Waits;
            }
        }
        Next::Closes
    }

    /// Gives the turn to one that runs nothing, or calls those that are ready; false if there are none.
    fn call(&mut self, lane: u64, steps: &mut Vec<Step<T>>) -> bool {
        let has_firsts = self.members.iter().any(Member::goes_first);
        let may_come = |member: &&mut Member| member.goes_first() || !has_firsts;
        let mut is_waited_for = false;
        for member in self.members.iter_mut().filter(may_come) {
            match &mut member.stage {
                Stage::Puts(_) => {
                    let Stage::Puts(changes) = std::mem::replace(&mut member.stage, Stage::Runs) else {
                        continue;
                    };
                    let turn = Turn { lane, member: member.number };
                    if let Some(known) = self.known.take() {
                        self.turns += 1;
                        steps.push(Step::Plan(turn, member.ticket, changes, known));
                    }
                    return true;
                }
                Stage::Ready(is_called) => {
                    is_waited_for = true;
                    if !std::mem::replace(is_called, true) {
                        steps.push(Step::Call(member.ticket));
                    }
                }
                Stage::Waits | Stage::Runs | Stage::Done => {}
            }
        }
        is_waited_for
    }

    fn has_waiting(&self) -> bool {
        self.members.iter().any(|member| matches!(member.stage, Stage::Waits))
    }

    /// Whether members are done and the others have read so often that they are not waited for any longer.
    fn gives_up_waiting(&mut self) -> bool {
        let is_over = self.rounds >= SHARED_ROUNDS
            && self.members.iter().any(|member| matches!(member.stage, Stage::Done));
        if is_over {
            let waiting = self.members.iter_mut().filter(|member| matches!(member.stage, Stage::Waits));
            waiting.for_each(|member| member.is_long = true);
        }
        is_over
    }

    fn read(&mut self, lane: u64, steps: &mut Vec<Step<T>>) {
        let Some(mut known) = self.known.take() else { return };
        known.want_all(std::mem::take(&mut self.wants));
        let transaction = std::mem::replace(&mut self.transaction, Hand::Away).into_transaction();
        self.rounds += 1;
        steps.push(Step::Read(lane, transaction, known));
    }

    /// Something was read: those that waited for it are ready.
    pub(super) fn arrive(&mut self, transaction: T, known: Known) {
        self.transaction = Hand::Here(transaction);
        self.known = Some(known);
        let waiting = self.members.iter_mut().filter(|member| matches!(member.stage, Stage::Waits));
        waiting.for_each(|member| member.stage = Stage::Ready(false));
    }

    /// One that does not come is not waited for without end, if others wait for it.
    fn set_alarm(&mut self, lane: u64, others_wait: bool, steps: &mut Vec<Step<T>>) {
        if !self.is_alarmed && (others_wait || self.members.len() > 1) {
            self.is_alarmed = true;
            steps.push(Step::Later(NO_SHOW_MS, Alarm::NoShow(lane, self.number, self.turns)));
        }
    }

    /// Takes out the members that were called and have not come, unless somebody has the turn.
    pub(super) fn leave_no_shows(&mut self) -> Vec<Member> {
        if self.known.is_none() {
            return Vec::new();
        }
        let (gone, left) = std::mem::take(&mut self.members)
            .into_iter()
            .partition(|member| matches!(member.stage, Stage::Ready(true)));
        self.members = left;
        gone
    }

    /// Gives the turn to a member that has come for it.
    pub(super) fn take(&mut self, number: u64) -> Option<Known> {
        let has_firsts = self.members.iter().any(Member::goes_first);
        let member = self.members.iter_mut().find(|member| member.number == number)?;
        let Stage::Ready(is_called) = &mut member.stage else { return None };
        if self.known.is_none() || self.is_full || has_firsts && !member.is_first {
            // It is called once more.
            *is_called = false;
            return None;
        }
        member.stage = Stage::Runs;
        self.turns += 1;
        self.known.take()
    }

    /// The turn of a member is over, which has missed this.
    pub(super) fn return_turn(&mut self, known: Known, missed: &[Ask]) {
        self.known = Some(known);
        self.wants.extend_from_slice(missed);
    }

    /// A member has planned what it writes.
    pub(super) fn add_planned(&mut self, known: Known, locks: Vec<Vec<u8>>, begins_until_ms: Option<u64>) {
        self.locks.extend(locks);
        self.is_full |= known.written_bytes() > WRITE_BYTES;
        let bounds = self.begins_until_ms.into_iter().chain(begins_until_ms);
        self.begins_until_ms = bounds.min();
        self.known = Some(known);
    }

    /// What is to be written.
    pub(super) fn take_write(&mut self) -> (Option<T>, Write) {
        let written = self.known.take().map(Known::into_written).unwrap_or_default();
        let locks =
            std::mem::take(&mut self.locks).into_iter().filter(|name| !written.contains_key(name)).collect();
        let transaction = std::mem::take(&mut self.transaction).into_transaction();
        let begins_until_ms = self.begins_until_ms;
        (transaction, Write { changes: written.into_iter().collect(), locks, begins_until_ms })
    }
}
