//! Requests that wait for their replies: a slab of slots, and the order in which replies will come.

use std::collections::VecDeque;
use std::mem::take;
use std::task::Waker;

use crate::error::Error;

/// What of a reply goes into the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Its bytes as they are on the wire.
    Raw,
    /// Of a string, its own bytes; all else as it is on the wire.
    Body,
    /// As [`Sink::Body`], but the connection stops reading while [`STREAM_WINDOW_BYTES`](crate::limits::STREAM_WINDOW_BYTES)
    /// wait, and the caller takes them bit by bit.
    Stream,
}

/// What a reply is, for a caller who wanted the body of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The buffer has whole replies, as they are on the wire.
    Raw,
    /// The buffer has the bytes of a string.
    Body,
    /// There is no value.
    Null,
    /// The buffer has the text of an error.
    Error,
}

/// How far a request is.
#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    Free,
    /// Waits for this many replies.
    Waiting(u32),
    Done(Answer),
    /// The connection failed.
    Failed(Error),
    /// The caller has gone: so many replies are read and dropped.
    Abandoned(u32),
}

/// One request, or several that have their replies in one buffer.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) state: State,
    pub(crate) sink: Sink,
    pub(crate) buffer: Vec<u8>,
    pub(crate) waker: Option<Waker>,
    pub(crate) deadline_ms: u64,
    /// Whether the deadline has passed.
    pub(crate) is_late: bool,
    /// The length of the request.
    request_bytes: usize,
}

impl Default for Slot {
    fn default() -> Self {
        Slot {
            state: State::Free,
            sink: Sink::Raw,
            buffer: Vec::new(),
            waker: None,
            deadline_ms: u64::MAX,
            is_late: false,
            request_bytes: 0,
        }
    }
}

/// All requests of one connection.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// Slots in the order of their replies.
    order: VecDeque<usize>,
    /// How many of them, from the front, had their bytes taken for sending.
    taken: usize,
    /// Bytes of the requests that miss replies.
    unanswered_bytes: usize,
}

impl Slots {
    /// A request of so many bytes that will have `replies` replies.
    pub(crate) fn add(
        &mut self,
        sink: Sink,
        buffer: Vec<u8>,
        request_bytes: usize,
        replies: u32,
        deadline_ms: u64,
    ) -> usize {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let state = State::Waiting(replies);
        self.slots[index] =
            Slot { state, sink, buffer, waker: None, deadline_ms, is_late: false, request_bytes };
        self.unanswered_bytes += request_bytes;
        self.order.push_back(index);
        index
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Slot {
        &mut self.slots[index]
    }

    /// Whose reply comes next.
    pub(crate) fn front(&self) -> Option<usize> {
        self.order.front().copied()
    }

    /// The number of requests that miss replies.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The bytes of these requests, but for what was fed.
    pub(crate) fn unanswered_bytes(&self) -> usize {
        self.unanswered_bytes
    }

    /// Everything added so far was taken for sending.
    pub(crate) fn note_taken(&mut self) {
        self.taken = self.order.len();
    }

    /// A reply of the front request is complete. Returns what is to be woken.
    pub(crate) fn complete(&mut self, answer: Answer) -> Option<Waker> {
        let index = self.front()?;
        let slot = &mut self.slots[index];
        let request_bytes = slot.request_bytes;
        match &mut slot.state {
            State::Waiting(replies) | State::Abandoned(replies) if *replies > 1 => {
                *replies -= 1;
                return None;
            }
            State::Waiting(_) => slot.state = State::Done(answer),
            _ => self.release(index),
        }
        self.unanswered_bytes -= request_bytes;
        self.order.pop_front();
        self.taken = self.taken.saturating_sub(1);
        self.slots[index].waker.take()
    }

    /// The caller takes its result and leaves.
    pub(crate) fn release(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.state = State::Free;
        slot.buffer = Vec::new();
        slot.waker = None;
        self.free.push(index);
    }

    /// The caller leaves without its result. Returns whether replies are still to come.
    pub(crate) fn abandon(&mut self, index: usize) -> bool {
        let slot = &mut self.slots[index];
        slot.waker = None;
        match slot.state {
            State::Waiting(replies) => {
                slot.state = State::Abandoned(replies);
                slot.buffer = Vec::new();
                true
            }
            _ => {
                self.release(index);
                false
            }
        }
    }

    /// Whether bytes of the request may have been sent.
    pub(crate) fn is_taken(&self, index: usize) -> bool {
        self.order.iter().position(|other| *other == index).is_none_or(|place| place < self.taken)
    }

    /// The connection has failed: no reply will come.
    pub(crate) fn fail_all(&mut self, error: &Error, woken: &mut Vec<Waker>) {
        let taken = take(&mut self.taken);
        self.unanswered_bytes = 0;
        for (place, index) in take(&mut self.order).into_iter().enumerate() {
            let slot = &mut self.slots[index];
            if let State::Abandoned(_) = slot.state {
                self.release(index);
                continue;
            }
            slot.state = State::Failed(error.for_request(place < taken));
            woken.extend(slot.waker.take());
        }
    }

    /// Marks the requests whose deadline has passed. Returns when to look again, if any has a deadline.
    pub(crate) fn expire(&mut self, now_ms: u64, woken: &mut Vec<Waker>) {
        for index in &self.order {
            let slot = &mut self.slots[*index];
            if slot.deadline_ms <= now_ms && !slot.is_late && matches!(slot.state, State::Waiting(_)) {
                slot.is_late = true;
                woken.extend(slot.waker.take());
            }
        }
    }
}
