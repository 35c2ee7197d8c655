//! One connection as its callers see it: a place to hand in requests and to wait for their replies.
//!
//! ```text
//!  callers ── submit ──> output ──┐                        state of the link, under one short lock
//!     ^                           ├─> drive: writes, reads ──> server
//!     └─ slot: buffer, waker <────┘
//! ```
//!
//! There is no channel: a caller appends its request to the output that all share and leaves its buffer in a slot; the task
//! that has the socket writes what has gathered, decodes what comes into the buffers of the slots in order, and wakes their
//! callers. Nothing is allocated for a request once slots and buffers are there.
//!
//! Guarantees:
//! - Nothing is sent before the first poll of a request.
//! - A reply goes to the caller of its request or to nobody: a caller that leaves leaves its slot, which takes the reply.
//! - While there is no connection, nothing is stored for callers but their place in the queue.
//! - An error says whether bytes of the request may have been sent.

pub(crate) mod drive;
mod exchange;
mod own;
mod slot;
mod supervise;

pub(crate) use exchange::{Outgoing, RoundTrip};
pub(crate) use own::OwnLink;
pub(crate) use slot::{Answer, Sink};
pub(crate) use supervise::{Keeps, supervise};

use std::collections::VecDeque;
use std::mem::{replace, swap, take};
use std::sync::Arc;
use std::task::{Context, Waker};

use parking_lot::Mutex;

use self::slot::Slots;
use crate::error::Error;
use crate::limits::{
    IN_FLIGHT_MAX, LARGE_FROM_BYTES, OUTPUT_MAX_BYTES, QUEUE_WOKEN_MAX, SWAP_FROM_BYTES, UNANSWERED_MAX_BYTES,
};
use crate::runtime::now_ms;
use crate::words::keep_buffer;

/// Receives what the task of a connection reports.
pub(crate) trait Listener: Send + Sync {
    /// A push message, as it is on the wire.
    fn pushed(&self, message: &[u8]);

    /// A connection is there.
    fn connected(&self, _link: &Link) {}

    /// There is no connection any more.
    fn disconnected(&self, _error: &Error) {}

    /// There will be no other.
    fn ended(&self, _error: &Error) {}
}

/// A listener for connections whose push messages nobody asked for.
pub(crate) struct NoListener;

impl Listener for NoListener {
    fn pushed(&self, _message: &[u8]) {}
}

/// Whether requests may be handed in.
#[derive(Clone, Debug)]
enum Phase {
    /// The connection is being made. The error is that of the last attempt.
    Connecting(Option<Error>),
    Open,
    /// For good.
    Closed(Error),
}

/// A connection, shared by its callers and its task.
pub(crate) struct Link {
    state: Mutex<LinkState>,
    /// The socket and the waker of its task, where callers poll it.
    inline: Option<Mutex<Option<(drive::Io, Waker)>>>,
    /// Whether replies are for the listener too, since no caller waits for one.
    is_for_listener: bool,
    pub(crate) listener: Arc<dyn Listener>,
}

struct LinkState {
    phase: Phase,
    /// Requests that the task has not taken yet, from `output_start` on.
    output: Vec<u8>,
    output_start: usize,
    slots: Slots,
    /// Callers that wait for a connection or for room, in the order they came; each under its number.
    queue: VecDeque<(u64, Waker)>,
    next_in_queue: u64,
    /// The earliest deadline of those in the queue.
    queue_deadline_ms: u64,
    /// The task, when it waits.
    task: Option<Waker>,
    /// Whose value is being fed bit by bit and waits for room.
    feeder: Option<usize>,
    /// Replies that the last read completed: after more than one, others are about to come.
    batch: usize,
    /// The time, as of the last look at the clock.
    now_ms: u64,
    /// Since when there has always been a request without a reply, if there is one.
    busy_since_ms: u64,
}

impl Link {
    pub(crate) fn new(listener: Arc<dyn Listener>, is_inline: bool) -> Link {
        let state = LinkState {
            phase: Phase::Connecting(None),
            output: Vec::new(),
            output_start: 0,
            slots: Slots::default(),
            queue: VecDeque::new(),
            next_in_queue: 0,
            queue_deadline_ms: u64::MAX,
            task: None,
            feeder: None,
            batch: 0,
            now_ms: now_ms(),
            busy_since_ms: 0,
        };
        Link {
            state: Mutex::new(state),
            inline: is_inline.then(|| Mutex::new(None)),
            is_for_listener: false,
            listener,
        }
    }

    /// A connection whose replies all go to its listener: one for subscriptions.
    pub(crate) fn for_listener(listener: Arc<dyn Listener>, is_inline: bool) -> Link {
        Link { is_for_listener: true, ..Self::new(listener, is_inline) }
    }

    /// Ends the connection for good; its callers get `error`.
    pub(crate) fn close(&self, error: Error) {
        let mut woken = Vec::new();
        let mut state = self.state.lock();
        if !matches!(state.phase, Phase::Closed(_)) {
            state.phase = Phase::Closed(error.clone());
        }
        state.drop_requests(&error, &mut woken);
        state.wake_queue(&mut woken);
        woken.extend(state.task.take());
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Whether it was closed for good.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state.lock().phase, Phase::Closed(_))
    }

    /// Whether it has a connection.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state.lock().phase, Phase::Open)
    }

    /// Whether it has a connection and no request on it.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        matches!(state.phase, Phase::Open) && state.slots.len() == 0 && state.output.is_empty()
    }

    /// Sends bytes that will have no reply, or one as a push message.
    pub(crate) fn send(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        if let Phase::Open = state.phase {
            state.output.extend_from_slice(bytes);
        }
        let task = state.task.take();
        drop(state);
        task.into_iter().for_each(Waker::wake);
    }

    /// Registers the task while it does something else than polling the socket.
    fn register(&self, waker: &Waker) {
        self.state.lock().task = Some(waker.clone());
    }

    /// Looks at deadlines, and for how long there has been silence while a reply is due: since the later of `heard_ms` and
    /// the first request.
    fn tick(&self, heard_ms: u64) -> u64 {
        let (mut woken, now_ms) = (Vec::new(), now_ms());
        let mut state = self.state.lock();
        state.tick(now_ms, &mut woken);
        let is_due = state.slots.len() > 0;
        let silent_ms = if is_due { now_ms.saturating_sub(heard_ms.max(state.busy_since_ms)) } else { 0 };
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        silent_ms
    }

    /// Whether nobody has a request on it or waits.
    fn is_quiet(&self) -> bool {
        !self.state.lock().needs_ticks()
    }

    /// Whether a caller is to poll the socket itself after it handed in a request.
    fn is_driven_by_callers(&self) -> bool {
        self.inline.is_some()
    }

    /// Polls the socket in the caller's thread, unless another thread is at it.
    fn drive_now(&self) {
        let Some(inline) = &self.inline else { return };
        let Some(mut place) = inline.try_lock() else { return };
        if let Some((io, waker)) = place.as_mut() {
            // A failure is seen again by the task.
            if io.poll_drive(self, &mut Context::from_waker(waker)).is_ready() {
                waker.wake_by_ref();
            }
        }
    }

    /// Callers may hand in requests now.
    fn open(&self) {
        let mut woken = Vec::new();
        let mut state = self.state.lock();
        if let Phase::Connecting(_) = state.phase {
            state.phase = Phase::Open;
        }
        state.wake_queue(&mut woken);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// There is no connection any more, or an attempt to make one failed; there will be another attempt.
    fn lose(&self, error: &Error) {
        let mut woken = Vec::new();
        let mut state = self.state.lock();
        if !matches!(state.phase, Phase::Closed(_)) {
            state.phase = Phase::Connecting(Some(error.clone()));
        }
        state.drop_requests(error, &mut woken);
        // What the server says of our password will not change by waiting.
        if let Error::Server(_) = error {
            state.wake_queue(&mut woken);
        }
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl LinkState {
    /// Whether one more request may be handed in.
    fn has_room(&self) -> bool {
        self.output.len() < OUTPUT_MAX_BYTES
            && self.slots.len() < IN_FLIGHT_MAX
            && self.slots.unanswered_bytes() < UNANSWERED_MAX_BYTES
    }

    /// Appends bytes to the output, which takes the place of the buffer if it is large.
    fn append(&mut self, mut bytes: Vec<u8>, start: usize) {
        if self.output.is_empty() && bytes.len() >= SWAP_FROM_BYTES {
            swap(&mut self.output, &mut bytes);
            self.output_start = start;
        } else {
            self.output.extend_from_slice(bytes.get(start..).unwrap_or_default());
        }
        keep_buffer(bytes);
    }

    /// Takes all output: from the returned offset on.
    fn take_output(&mut self, into: &mut Vec<u8>, woken: &mut Vec<Waker>) -> usize {
        swap(&mut self.output, into);
        self.slots.note_taken();
        if let Some(waker) = self.feeder.take().and_then(|index| self.slots.get_mut(index).waker.take()) {
            woken.push(waker);
        }
        replace(&mut self.output_start, 0)
    }

    fn drop_requests(&mut self, error: &Error, woken: &mut Vec<Waker>) {
        self.slots.fail_all(error, woken);
        self.output.clear();
        self.output_start = 0;
        self.batch = 0;
    }

    fn wake_queue(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(take(&mut self.queue).into_iter().map(|(_, waker)| waker));
        self.queue_deadline_ms = u64::MAX;
    }

    /// Wakes as many of the queue as there may be room for.
    fn wake_for_room(&mut self, woken: &mut Vec<Waker>) {
        if !self.queue.is_empty() && self.has_room() {
            let room = (IN_FLIGHT_MAX - self.slots.len()).min(QUEUE_WOKEN_MAX).min(self.queue.len());
            woken.extend(self.queue.drain(..room).map(|(_, waker)| waker));
        }
    }

    /// Whether the next reply is for a caller with a large buffer.
    fn expects_large(&mut self) -> bool {
        let Some(index) = self.slots.front() else { return false };
        let slot = self.slots.get_mut(index);
        slot.sink != Sink::Raw && slot.buffer.capacity() >= LARGE_FROM_BYTES
    }

    /// Whether anybody has a deadline that must be looked at.
    fn needs_ticks(&self) -> bool {
        self.slots.len() > 0 || !self.queue.is_empty()
    }

    /// Bytes have come at this time.
    fn note_progress(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// Looks at the clock.
    fn tick(&mut self, now_ms: u64, woken: &mut Vec<Waker>) {
        self.now_ms = now_ms;
        self.slots.expire(now_ms, woken);
        if self.queue_deadline_ms <= now_ms {
            // Those whose time has not come go to the queue again.
            self.wake_queue(woken);
        }
    }
}

/// Keeps the waker of the current task, without an allocation if it is the one that is there.
fn keep_waker(place: &mut Option<Waker>, cx: &Context) {
    match place {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
}
