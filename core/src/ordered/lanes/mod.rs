//! Writers of one key that share a transaction of the cluster.
//!
//! Two transactions that write the same key meet in the cluster, and one of them runs again. Within one process that is a
//! waste, so those that are about to write a key stand in its *lane*, and what a lane does is one transaction of the cluster at a
//! time, its *batch*:
//!
//! ```text
//!  wait, with what they will read -> the batch begins: all of it is read in one round, at one timestamp
//!     -> one member after the other takes the turn: it runs over what was read and what those before it have written
//!     -> nobody is left, or the write is as large as one phase takes: it is written once -> all members end as it does
//! ```
//!
//! The first writer of an idle key is alone in its batch and waits for nobody. A lane has all keys that its members have
//! declared; a transaction whose keys are in several lanes goes without one and meets others in the cluster. The order within a batch
//! is the order of the turns. Replies wait for the write: what a member has seen of the others might not come true. One
//! that ends with an error for that reason runs again in the next batch, before the others.
//!
//! This module only keeps the accounts: it says what is to be done next as [`Step`]s, and is told what became of them. It
//! never waits, and holds nothing of the cluster but its transactions.

mod batch;
mod heat;
mod turns;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::changes::Changes;
use super::cluster::{Ask, Write};
use super::known::Known;
use super::precedence::{ASKED_MS, LaneKey, Message};
use crate::engine::{EngineError, Result, Ticket};
use batch::{Batch, Member, Stage};
use heat::Heat;

/// A transaction over more keys than these stands in no lane.
pub(super) const KEYS_MAX: usize = 16;

/// So many members share a batch at most.
const MEMBERS_MAX: usize = 128;

/// A batch of more bytes is written before others add to it: one phase ends at 16 KiB.
const WRITE_BYTES: u64 = 12 * 1024;

/// A member for which more rounds must be read than these does not keep others waiting any longer.
const SHARED_ROUNDS: u32 = 4;

/// How long the members of a batch are given to come back before the next one begins, where there were several.
const GATHER_MS: u64 = 1;

/// A batch of fewer members gathers nobody.
const GATHER_MIN: usize = 4;

/// A member that was called and does not come is left behind when nobody has taken a turn for so long: its session may be waiting for
/// its peer. Much longer than a busy machine keeps a thread waiting, since those that are left behind begin anew.
const NO_SHOW_MS: u64 = 250;

/// The keys of a transaction.
pub(super) type LaneKeys = SmallVec<[LaneKey; 2]>;

/// The key of the root with this name.
pub(super) fn lane_key(name: &[u8]) -> LaneKey {
    xxh3_64(name)
}

/// A member of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    lane: u64,
    member: u64,
}

/// What somebody wants of a lane.
#[derive(Debug)]
pub(super) enum Work {
    /// To run, over these and what else it turns out to need.
    Run(Vec<Ask>),
    /// To make changes that rest on nothing.
    Put(Changes),
}

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Step<T> {
    /// The member that waits under this ticket may take its turn.
    Call(Ticket),
    /// The transaction that waits under this ticket begins anew.
    Restart(Ticket),
    /// The transaction or commit that waits under this ticket has ended.
    End(Ticket, Result<()>),
    /// These changes are to be planned over what is known, as the turn of a member; then [`Lanes::planned`].
    Plan(Turn, Ticket, Changes, Known),
    /// To be read for the lane; then [`Lanes::read`].
    Read(u64, Option<T>, Known),
    /// To be written for the lane; then [`Lanes::finish`].
    Write(u64, Option<T>, Write),
    /// [`Lanes::rung`] is to be called after so many milliseconds.
    Later(u64, Alarm),
    /// To be told to the owner of its key.
    Tell(Message),
    /// To be told to all other processes.
    TellAll(Message),
}

/// Something that happens later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// A batch may begin.
    Begin(u64),
    /// The turn that was asked for by this number is not waited for any longer.
    Asked(u64, u64),
    /// Members of this batch have been called: the lane, the number of the batch, and how many turns there had been.
    NoShow(u64, u64, u64),
}

/// What has been planned in a turn.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// Whether anything is written. One that only rests on what others write needs to know whether that happens.
    pub(super) writes: bool,
    pub(super) locks: Vec<Vec<u8>>,
    /// See [`Write::begins_until_ms`].
    pub(super) begins_until_ms: Option<u64>,
}

/// The lanes of a process.
#[derive(Debug)]
pub(super) struct Lanes<T> {
    lanes: HashMap<u64, Lane<T>>,
    keys: HashMap<LaneKey, InUse>,
    heat: Heat,
    last: u64,
    /// Whether other processes can be asked for a turn.
    has_peers: bool,
}

/// A key of a lane, and how many members have declared it.
#[derive(Clone, Copy, Debug)]
struct InUse {
    lane: u64,
    members: usize,
}

#[derive(Debug)]
struct Lane<T> {
    phase: Phase,
    /// The members of later batches.
    queue: VecDeque<Member>,
    batch: Batch<T>,
    /// Keys that stay in the lane though nobody has declared them at the moment.
    kept: LaneKeys,
    /// The turn among the processes that it has asked for: the key, the number, and when.
    asked: Option<(LaneKey, u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing stands in the way of the next batch.
    Idle,
    /// The next batch begins when so many wait, or when the alarm rings.
    Gathers(usize),
    /// The next batch begins when the alarm rings: a key of it has met others in the cluster.
    Rests,
    /// The next batch begins when it is the turn of this process, or when the alarm rings.
    Asks,
    /// Members read and take turns.
    Open,
    /// The batch is being written.
    Writing,
}

impl<T> Lanes<T> {
    /// No lanes. `seed` is for what is left to chance.
    pub(super) fn new(seed: u64) -> Lanes<T> {
        Lanes {
            lanes: HashMap::new(),
            keys: HashMap::new(),
            heat: Heat::new(seed),
            last: seed,
            has_peers: false,
        }
    }

    /// How long a transaction that has met another one is to wait before it tries again, in milliseconds.
    pub(super) fn met_another(&mut self, keys: &[LaneKey], now_ms: u64) -> u64 {
        self.heat.add(keys, now_ms);
        self.heat.rest_ms(keys, now_ms)
    }

    /// Another process has met others at a key.
    pub(super) fn hear_of_meeting(&mut self, key: LaneKey, now_ms: u64) {
        self.heat.hear(key, now_ms);
    }

    /// Has others told of meetings.
    pub(super) fn tell_news(&mut self, steps: &mut Vec<Step<T>>) {
        let news = self.heat.take_news();
        if self.has_peers {
            steps.extend(news.into_iter().map(|key| Step::TellAll(Message::Met(key))));
        }
    }

    /// Forgets keys that have met nobody for long.
    pub(super) fn sweep(&mut self, now_ms: u64) {
        self.heat.sweep(now_ms);
    }

    /// Whether no key has met writers of other processes of late.
    pub(super) fn are_cold(&self) -> bool {
        self.heat.is_cold()
    }

    /// Whether writes of a key had better run at its owner.
    pub(super) fn is_contended(&self, key: LaneKey, now_ms: u64) -> bool {
        self.heat.is_contended(key, now_ms)
    }

    /// How long a transaction that has begun so often in vain is to wait, in milliseconds.
    pub(super) fn rest_after(&mut self, tries: u32) -> u64 {
        self.heat.draw_rest_ms(tries)
    }

    /// Whether there is a lane for these keys: they are few, and not in several lanes.
    pub(super) fn has_place(&self, keys: &[LaneKey]) -> bool {
        let mut lanes = keys.iter().filter_map(|key| self.keys.get(key)).map(|in_use| in_use.lane);
        let first = lanes.next();
        !keys.is_empty() && keys.len() <= KEYS_MAX && lanes.all(|lane| Some(lane) == first)
    }

    /// Stands in the lane of these keys, which [have a place](Lanes::has_place).
    pub(super) fn join(
        &mut self,
        keys: LaneKeys,
        work: Work,
        ticket: Ticket,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) -> Turn {
        let lane = keys.iter().find_map(|key| self.keys.get(key)).map(|in_use| in_use.lane);
        let lane = lane.unwrap_or_else(|| self.next_number());
        let member = self.next_number();
        let turn = Turn { lane, member };
        for key in &keys {
            self.keys.entry(*key).or_insert(InUse { lane, members: 0 }).members += 1;
        }
        let member = Member::new(turn.member, keys, ticket, work);
        let found = self.lanes.entry(lane).or_insert_with(Lane::new);
        // What rests on nothing may be part of whatever is still to be written.
        if found.phase == Phase::Open && matches!(member.stage, Stage::Puts(_)) && found.batch.takes_more() {
            found.batch.members.push(member);
        } else {
            found.queue.push_back(member);
        }
        self.advance(lane, now_ms, steps);
        turn
    }

    fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Goes on with a lane as far as that is possible at once.
    fn advance(&mut self, number: u64, now_ms: u64, steps: &mut Vec<Step<T>>) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        match lane.phase {
            Phase::Gathers(count) if lane.queue.len() < count => return,
            Phase::Idle | Phase::Gathers(_) => {
                release(&mut self.keys, &std::mem::take(&mut lane.kept));
                if lane.queue.is_empty() {
                    lane.give_back(steps);
                    self.lanes.remove(&number);
                    return;
                }
                if self.is_held_back(number, now_ms, steps) {
                    return;
                }
                let batch = self.next_number();
                if let Some(lane) = self.lanes.get_mut(&number) {
                    lane.begin(batch);
                }
            }
            Phase::Open => {}
            Phase::Rests | Phase::Asks | Phase::Writing => return,
        }
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        match lane.batch.go_on(number, !lane.queue.is_empty(), steps) {
            batch::Next::Waits => {}
            batch::Next::Closes => self.close(number, now_ms, steps),
        }
    }

    /// Whether a batch that could begin must wait because processes have met at a key of it; what it waits for is then under way.
    fn is_held_back(&mut self, number: u64, now_ms: u64, steps: &mut Vec<Step<T>>) -> bool {
        let Some(lane) = self.lanes.get_mut(&number).filter(|lane| lane.asked.is_none()) else {
            return false;
        };
        if self.heat.is_cold() {
            return false;
        }
        let keys = || lane.queue.iter().flat_map(|member| member.keys.iter().copied());
        if self.has_peers {
            // One turn for several keys: those who want several ask for the same one.
            let Some(key) = keys().filter(|key| self.heat.is_hot(*key, now_ms)).min() else { return false };
            self.last += 1;
            lane.phase = Phase::Asks;
            lane.asked = Some((key, self.last, now_ms));
            steps.push(Step::Tell(Message::Ask(key, self.last)));
            steps.push(Step::Later(ASKED_MS, Alarm::Asked(number, self.last)));
            return true;
        }
        let rest_ms = keys().map(|key| self.heat.rest_ms(&[key], now_ms)).max().unwrap_or(0);
        if rest_ms == 0 {
            return false;
        }
        lane.phase = Phase::Rests;
        steps.push(Step::Later(rest_ms, Alarm::Begin(number)));
        true
    }

    /// Whether other processes can be asked for a turn from now on.
    pub(super) fn set_has_peers(&mut self, has_peers: bool) {
        self.has_peers = has_peers;
    }

    /// It is the turn of this process that was asked for by this number.
    pub(super) fn granted(&mut self, key: LaneKey, asked: u64, now_ms: u64, steps: &mut Vec<Step<T>>) {
        let is_it = |lane: &&mut Lane<T>| {
            lane.phase == Phase::Asks && lane.asked.is_some_and(|(_, number, _)| number == asked)
        };
        let found = self.keys.get(&key).map(|in_use| in_use.lane);
        match found.and_then(|number| self.lanes.get_mut(&number)).filter(is_it) {
            Some(lane) => {
                if lane.asked.is_some_and(|(_, _, at_ms)| at_ms < now_ms) {
                    // Somebody else had the turn.
                    self.heat.keep(key, now_ms);
                }
                lane.phase = Phase::Idle;
                self.advance(found.unwrap_or_default(), now_ms, steps);
            }
            // It has begun without, or nobody wants it any more.
            None => steps.push(Step::Tell(Message::Done(key, asked))),
        }
    }

    /// Writes the batch of a lane; nobody has the turn, and nothing is being read.
    fn close(&mut self, number: u64, now_ms: u64, steps: &mut Vec<Step<T>>) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        lane.leave_behind();
        let (transaction, write) = lane.batch.take_write();
        if write.changes.is_empty() {
            return self.finish(number, &Ok(()), now_ms, steps);
        }
        lane.phase = Phase::Writing;
        steps.push(Step::Write(number, transaction, write));
    }

    /// The batch of a lane has ended: its write, or before it was written.
    pub(super) fn finish(
        &mut self,
        number: u64,
        outcome: &Result<()>,
        now_ms: u64,
        steps: &mut Vec<Step<T>>,
    ) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        let members = std::mem::take(&mut lane.batch).members;
        lane.phase = Phase::Idle;
        lane.give_back(steps);
        let keys = keys_of(&members);
        match outcome {
            Ok(()) => self.heat.cool(&keys),
            Err(EngineError::NotHere) => self.heat.add(&keys, now_ms),
            Err(_) => {}
        }
        if members.len() >= GATHER_MIN && lane.queue.len() < members.len() / 2 {
            lane.phase = Phase::Gathers(members.len());
            for key in &keys {
                self.keys.entry(*key).or_insert(InUse { lane: number, members: 0 }).members += 1;
            }
            lane.kept = keys;
            steps.push(Step::Later(GATHER_MS, Alarm::Begin(number)));
        }
        for member in members {
            release(&mut self.keys, &member.keys);
            let ended = match outcome {
                // It has written nothing, and looks at what there is.
                Err(EngineError::Unknown(_)) if !member.writes => Err(EngineError::NotHere),
                outcome => outcome.clone(),
            };
            // One that has the turn finds out when it gives it back.
            if !matches!(member.stage, Stage::Runs) {
                steps.push(Step::End(member.ticket, ended));
            }
        }
        self.tell_news(steps);
        self.advance(number, now_ms, steps);
    }

    /// Nobody knows whether the turns that were asked for will come: all that wait for one go on without.
    pub(super) fn go_on_unasked(&mut self, now_ms: u64, steps: &mut Vec<Step<T>>) {
        let asking: Vec<u64> = self
            .lanes
            .iter()
            .filter(|(_, lane)| lane.phase == Phase::Asks)
            .map(|(number, _)| *number)
            .collect();
        for number in asking {
            if let Some(lane) = self.lanes.get_mut(&number) {
                lane.phase = Phase::Idle;
            }
            self.advance(number, now_ms, steps);
        }
    }

    /// An alarm has rung.
    pub(super) fn rung(&mut self, alarm: Alarm, now_ms: u64, steps: &mut Vec<Step<T>>) {
        match alarm {
            Alarm::Begin(number) => {
                if let Some(lane) = self.lanes.get_mut(&number)
                    && matches!(lane.phase, Phase::Gathers(_) | Phase::Rests)
                {
                    lane.phase = Phase::Idle;
                    self.advance(number, now_ms, steps);
                }
            }
            Alarm::Asked(number, asked) => {
                if let Some(lane) = self.lanes.get_mut(&number)
                    && lane.phase == Phase::Asks
                    && lane.asked.is_some_and(|(_, number, _)| number == asked)
                {
                    lane.phase = Phase::Idle;
                    self.advance(number, now_ms, steps);
                }
            }
            Alarm::NoShow(number, batch, turns) => {
                let Some(lane) = self.lanes.get_mut(&number).filter(|lane| lane.batch.number == batch) else {
                    return;
                };
                lane.batch.is_alarmed = false;
                if lane.batch.turns == turns {
                    for member in lane.batch.leave_no_shows() {
                        release(&mut self.keys, &member.keys);
                        steps.push(Step::Restart(member.ticket));
                    }
                }
                self.advance(number, now_ms, steps);
            }
        }
    }

    /// How many lanes there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lanes.len().max(self.keys.len())
    }
}

/// The keys of members, each once.
fn keys_of(members: &[Member]) -> LaneKeys {
    let mut keys: LaneKeys = members.iter().flat_map(|member| member.keys.iter().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Members that declared these keys are gone.
fn release(keys: &mut HashMap<LaneKey, InUse>, released: &[LaneKey]) {
    for key in released {
        if let Some(in_use) = keys.get_mut(key) {
            in_use.members = in_use.members.saturating_sub(1);
            if in_use.members == 0 {
                keys.remove(key);
            }
        }
    }
}

impl<T> Lane<T> {
    fn new() -> Lane<T> {
        Lane {
            phase: Phase::Idle,
            queue: VecDeque::new(),
            batch: Batch::default(),
            kept: LaneKeys::new(),
            asked: None,
        }
    }

    /// Gives back the turn among the processes that it has asked for.
    fn give_back(&mut self, steps: &mut Vec<Step<T>>) {
        if let Some((key, number, _)) = self.asked.take() {
            steps.push(Step::Tell(Message::Done(key, number)));
        }
    }

    /// Begins a batch of those that wait.
    fn begin(&mut self, number: u64) {
        self.phase = Phase::Open;
        self.batch = Batch::default();
        self.batch.number = number;
        while self.batch.members.len() < MEMBERS_MAX
            && let Some(next) = self.queue.front()
        {
            let is_long = next.is_long;
            if is_long && !self.batch.members.is_empty() {
                break;
            }
            let Some(member) = self.queue.pop_front() else { break };
            self.batch.add(member);
            if is_long {
                break;
            }
        }
    }

    /// Members of the batch that are not done go to the next one, as the first.
    fn leave_behind(&mut self) {
        let (done, left): (Vec<Member>, Vec<Member>) = std::mem::take(&mut self.batch.members)
            .into_iter()
            .partition(|member| matches!(member.stage, Stage::Done));
        self.batch.members = done;
        for mut member in left.into_iter().rev() {
            if !matches!(member.stage, Stage::Puts(_)) {
                member.stage = Stage::Waits;
            }
            self.queue.push_front(member);
        }
    }
}
