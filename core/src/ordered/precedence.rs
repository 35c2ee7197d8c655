//! Which process comes next at a key that several of them write.
//!
//! Two processes that write one key meet in the cluster, and one of them has worked in vain. So once they have met, a process asks
//! for its turn before it begins, and gives it back when its write has ended. Every key has an *owner* among the processes that are
//! there, the same in the eyes of all of them, which grants turns in the order in which it was asked.
//!
//! ```text
//!  asker                     owner
//!    | -- Ask(key, number) --> |  nobody has the turn: granted at once; else it waits in line
//!    | <-- Grant(key, number)- |
//!    |   reads, writes         |
//!    | -- Done(key, number) -> |  the next in line is granted
//! ```
//!
//! All of this is advice. Whatever is lost, an owner, a message, or a process that has the turn, costs a time-out: an asker goes on
//! without a grant, an owner grants the next one. What counts is decided when the write is committed. Owners differ while processes
//! come and go; then some turns overlap, and their writes may meet.
//!
//! A process whose write has gone through does not know that another one was in its way. So the other one tells all of them
//! ([`Message::Met`]); else the first would go on without asking for turns, and win each time because nobody else's write is as quick.
//!
//! This module has no clock and sends nothing: `now_ms` comes in, messages go out.

use std::collections::{HashMap, VecDeque};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A key, by the hash of its root's name. Two keys with the same hash are taken for one, which does no harm.
pub(super) type LaneKey = u64;

/// An asker goes on without a grant after so many milliseconds. An owner that is gone is noticed before; and to go on while others have
/// the turn is worse than to wait for a line of slow ones.
pub(super) const ASKED_MS: u64 = 1000;

/// A turn that is not given back ends by itself after so many milliseconds: longer than a read and a write take in a slow cluster. One
/// that is gone is noticed before.
const TURN_MS: u64 = 500;

/// So many may wait for one key: one for each process.
const LINE_MAX: usize = 1024;

/// An owner keeps the lines of so many keys.
const KEYS_MAX: usize = 4096;

/// A process, by its number in the store.
type Process = u32;

/// The other processes, as far as turns are concerned.
pub trait Peers: Send + Sync {
    /// The numbers of all that serve the store, this one included.
    fn processes(&self) -> Vec<u32>;

    /// Tells one of the others something short; it is to be given to [`Ordered::hear`](super::Ordered::hear) there. It may get lost.
    fn tell(&self, process: u32, message: &[u8]);
}

/// What one process tells another one about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The sender wants its turn; the number is of its own choice, larger every time.
    Ask(LaneKey, u64),
    /// The turn that was asked for by this number has come.
    Grant(LaneKey, u64),
    /// The turn is over, or not wanted any more.
    Done(LaneKey, u64),
    /// The sender has met another writer of the key, which may not know it.
    Met(LaneKey),
}

/// A message as it is sent: what it is, the key, and the number.
const MESSAGE_BYTES: usize = 17;

impl Message {
    /// The key that it is about.
    pub(super) fn key(self) -> LaneKey {
        let (Message::Ask(key, _) | Message::Grant(key, _) | Message::Done(key, _) | Message::Met(key)) =
            self;
        key
    }

    /// As it is sent.
    pub(super) fn to_bytes(self) -> [u8; MESSAGE_BYTES] {
        let (what, key, number) = match self {
            Message::Ask(key, number) => (0, key, number),
            Message::Grant(key, number) => (1, key, number),
            Message::Done(key, number) => (2, key, number),
            Message::Met(key) => (3, key, 0),
        };
        let mut out = [what; MESSAGE_BYTES];
        for (place, byte) in
            out.iter_mut().skip(1).zip(key.to_le_bytes().into_iter().chain(number.to_le_bytes()))
        {
            *place = byte;
        }
        out
    }

    /// Reads what [`Message::to_bytes`] wrote; None if it is something else.
    pub(super) fn read(bytes: &[u8]) -> Option<Message> {
        let (what, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk()?;
        let number = u64::from_le_bytes(rest.try_into().ok()?);
        let key = u64::from_le_bytes(*key);
        match what {
            0 => Some(Message::Ask(key, number)),
            1 => Some(Message::Grant(key, number)),
            2 => Some(Message::Done(key, number)),
            3 => Some(Message::Met(key)),
            _ => None,
        }
    }
}

/// A request of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    process: Process,
    number: u64,
}

/// What an owner keeps of a key.
#[derive(Debug, Default)]
struct Line {
    /// Who has the turn, and when it ends by itself.
    holder: Option<(Asked, u64)>,
    waiting: VecDeque<Asked>,
}

/// The lines of the keys that a process owns.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: HashMap<LaneKey, Line>,
    /// The processes that there were at the last look.
    processes: Vec<Process>,
}

/// The owner of a key among these processes: the one that draws the highest number for it.
pub(super) fn owner(key: LaneKey, processes: impl Iterator<Item = Process>) -> Option<Process> {
    processes.max_by_key(|process| xxh3_64_with_seed(&key.to_le_bytes(), u64::from(*process)))
}

impl Lines {
    /// A process has said something about a key that this one owns. Grants go out, each to the process beside it.
    pub(super) fn receive(
        &mut self,
        from: Process,
        message: Message,
        now_ms: u64,
        out: &mut Vec<(Process, Message)>,
    ) {
        match message {
            Message::Ask(key, number) => {
                if self.lines.len() >= KEYS_MAX && !self.lines.contains_key(&key) {
                    self.lines.retain(|_, line| !line.is_over(now_ms));
                    if self.lines.len() >= KEYS_MAX {
                        // It goes on without.
                        return;
                    }
                }
                let line = self.lines.entry(key).or_default();
                // An older request of the same process is not wanted any more.
                line.waiting.retain(|asked| asked.process != from);
                if line.waiting.len() < LINE_MAX {
                    line.waiting.push_back(Asked { process: from, number });
                }
                self.grant(key, now_ms, out);
            }
            Message::Done(key, number) => {
                let done = Asked { process: from, number };
                if let Some(line) = self.lines.get_mut(&key) {
                    line.waiting.retain(|asked| *asked != done);
                    if line.holder.is_some_and(|(holder, _)| holder == done) {
                        line.holder = None;
                    }
                }
                self.grant(key, now_ms, out);
            }
            Message::Grant(..) | Message::Met(_) => {}
        }
    }

    /// Processes that are not there any more have no turns.
    pub(super) fn keep(
        &mut self,
        is_there: impl Fn(Process) -> bool,
        now_ms: u64,
        out: &mut Vec<(Process, Message)>,
    ) {
        for line in self.lines.values_mut() {
            line.waiting.retain(|asked| is_there(asked.process));
            line.holder = line.holder.filter(|(holder, _)| is_there(holder.process));
        }
        self.end_late(now_ms, out);
    }

    /// Whether the processes are others than at the last look.
    pub(super) fn are_others(&mut self, processes: Vec<Process>) -> bool {
        std::mem::replace(&mut self.processes, processes) != self.processes
    }

    /// Ends the turns that have taken too long. To be called every now and then.
    pub(super) fn end_late(&mut self, now_ms: u64, out: &mut Vec<(Process, Message)>) {
        let keys: Vec<LaneKey> = self.lines.keys().copied().collect();
        keys.into_iter().for_each(|key| self.grant(key, now_ms, out));
    }

    /// Grants the next turn if nobody has it.
    fn grant(&mut self, key: LaneKey, now_ms: u64, out: &mut Vec<(Process, Message)>) {
        let Some(line) = self.lines.get_mut(&key) else { return };
        line.holder = line.holder.filter(|(_, until_ms)| now_ms < *until_ms);
        if line.holder.is_none() {
            match line.waiting.pop_front() {
                Some(asked) => {
                    line.holder = Some((asked, now_ms + TURN_MS));
                    out.push((asked.process, Message::Grant(key, asked.number)));
                }
                None => drop(self.lines.remove(&key)),
            }
        }
    }
}

impl Line {
    fn is_over(&self, now_ms: u64) -> bool {
        self.waiting.is_empty() && self.holder.is_none_or(|(_, until_ms)| now_ms >= until_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: LaneKey = 77;

    struct Owner {
        lines: Lines,
        now_ms: u64,
    }

    impl Owner {
        /// Who is granted a turn because of this.
        fn tell(&mut self, from: Process, message: Message) -> Vec<(Process, Message)> {
            let mut out = Vec::new();
            self.lines.receive(from, message, self.now_ms, &mut out);
            out
        }

        fn wait(&mut self, ms: u64) -> Vec<(Process, Message)> {
            self.now_ms += ms;
            let mut out = Vec::new();
            self.lines.end_late(self.now_ms, &mut out);
            out
        }
    }

    fn new() -> Owner {
        Owner { lines: Lines::default(), now_ms: 1000 }
    }

    #[test]
    fn two_processes_have_the_turn_or_one_is_passed_over() {
        let mut owner = new();
        assert_eq!(owner.tell(1, Message::Ask(KEY, 1)), [(1, Message::Grant(KEY, 1))]);
        assert_eq!(owner.tell(2, Message::Ask(KEY, 5)), []);
        assert_eq!(owner.tell(3, Message::Ask(KEY, 9)), []);
        assert_eq!(owner.tell(3, Message::Ask(KEY + 1, 10)), [(3, Message::Grant(KEY + 1, 10))]);
        assert_eq!(owner.tell(2, Message::Done(KEY, 4)), [], "of another turn");
        assert_eq!(owner.tell(1, Message::Done(KEY, 1)), [(2, Message::Grant(KEY, 5))]);
        assert_eq!(owner.tell(1, Message::Ask(KEY, 2)), []);
        assert_eq!(owner.tell(2, Message::Done(KEY, 5)), [(3, Message::Grant(KEY, 9))]);
        assert_eq!(owner.tell(3, Message::Done(KEY, 9)), [(1, Message::Grant(KEY, 2))]);
        assert_eq!(owner.tell(1, Message::Done(KEY, 2)), []);
        assert_eq!(owner.tell(3, Message::Done(KEY + 1, 10)), []);
        assert!(owner.lines.lines.is_empty());
    }

    #[test]
    fn lost_process_keeps_the_turn() {
        let mut owner = new();
        owner.tell(1, Message::Ask(KEY, 1));
        owner.tell(2, Message::Ask(KEY, 1));
        assert_eq!(owner.wait(TURN_MS - 1), []);
        assert_eq!(owner.wait(1), [(2, Message::Grant(KEY, 1))]);
        // What it says later is not taken for the turn of the other one.
        assert_eq!(owner.tell(1, Message::Done(KEY, 1)), []);
        owner.tell(3, Message::Ask(KEY, 1));
        let mut out = Vec::new();
        owner.lines.keep(|process| process != 2, owner.now_ms, &mut out);
        assert_eq!(out, [(3, Message::Grant(KEY, 1))]);
    }

    #[test]
    fn asker_that_went_on_without_a_grant_is_granted_two_turns() {
        let mut owner = new();
        owner.tell(1, Message::Ask(KEY, 1));
        owner.tell(2, Message::Ask(KEY, 1));
        assert_eq!(owner.tell(2, Message::Done(KEY, 1)), []);
        owner.tell(2, Message::Ask(KEY, 2));
        owner.tell(2, Message::Ask(KEY, 3));
        assert_eq!(owner.tell(1, Message::Done(KEY, 1)), [(2, Message::Grant(KEY, 3))]);
        assert_eq!(owner.tell(2, Message::Done(KEY, 3)), []);
    }

    #[test]
    fn owner_depends_on_the_order_of_the_processes_or_is_always_the_same() {
        let processes = [5, 9, 1, 7];
        let mut owned = HashMap::new();
        for key in 0..1000 {
            let found = owner(key, processes.into_iter());
            assert_eq!(found, owner(key, processes.into_iter().rev()));
            *owned.entry(found).or_insert(0) += 1;
            // When another one leaves, the owner stays.
            let left = processes.into_iter().filter(|process| Some(*process) == found || *process != 5);
            assert_eq!(owner(key, left), found);
        }
        assert_eq!(owned.len(), 4);
        assert!(owned.values().all(|count| *count > 150), "{owned:?}");
        assert_eq!(owner(1, std::iter::empty()), None);
    }

    #[test]
    fn message_does_not_read_back() {
        for message in [Message::Ask(u64::MAX, 3), Message::Grant(1, u64::MAX), Message::Done(0, 0)] {
            assert_eq!(Message::read(&message.to_bytes()), Some(message));
            assert_eq!(Message::read(&message.to_bytes()[1..]), None);
        }
        assert_eq!(Message::read(&[9; MESSAGE_BYTES]), None);
    }
}
