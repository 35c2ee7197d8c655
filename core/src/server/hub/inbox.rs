//! What other connections have for one connection, until its session takes it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Wake, Waker};

use parking_lot::Mutex;

use crate::engine::Receipt;
use crate::limits::INBOX_MAX_BYTES;
use crate::resp::Protocol;
use crate::server::OutputLimits;

/// The letter box of one connection.
#[derive(Debug, Default)]
pub struct Inbox {
    id: u64,
    has_mail: AtomicBool,
    is_gone: AtomicBool,
    is_resp3: AtomicBool,
    /// Channels and patterns it is subscribed to.
    subscriptions: AtomicU32,
    /// Bytes of output that its session holds.
    held_bytes: AtomicU64,
    limits: Arc<OutputLimits>,
    /// Bytes of memory that the session said it takes.
    session_bytes: AtomicU64,
    /// The bytes of all connections of the server: this one's messages and session are in it until it has ended.
    all_bytes: Arc<AtomicU64>,
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    mail: Mail,
    push_bytes: usize,
    /// Unix time in milliseconds since when there has been too much output for long.
    over_soft_since_ms: Option<u64>,
    waker: Option<Waker>,
}

/// What was in an inbox.
#[derive(Debug, Default)]
pub struct Mail {
    /// Messages in order, encoded for the connection's protocol.
    pub pushes: VecDeque<Arc<[u8]>>,
    /// The reply to the command that the connection is blocked in.
    pub answer: Option<Answer>,
    /// Whether the connection is to be closed.
    pub must_close: bool,
}

/// A reply that another connection made.
#[derive(Debug)]
pub struct Answer {
    /// The encoded reply.
    pub reply: Vec<u8>,
    /// Where in the log that ends which the reply speaks of.
    pub wrote: Receipt,
    /// How long the command took, in nanoseconds; the time it waited is not counted.
    pub took_ns: u64,
}

/// How CLIENT UNBLOCK ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unblock {
    /// As if its time had passed.
    TimedOut,
    /// With an error.
    Error,
}

/// Wakes the session of an inbox.
struct Ring(Arc<Inbox>);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}

impl Inbox {
    /// An empty inbox of the connection with this CLIENT ID.
    pub fn new(id: u64, limits: Arc<OutputLimits>) -> Inbox {
        Inbox { id, limits, ..Inbox::default() }
    }

    /// The same for a connection whose memory counts among that of all.
    pub fn counted(id: u64, limits: Arc<OutputLimits>, all_bytes: Arc<AtomicU64>) -> Inbox {
        Inbox { all_bytes, ..Inbox::new(id, limits) }
    }

    /// Says how much memory the session takes: its input, its output, its queue and itself.
    #[inline]
    pub fn set_session_bytes(&self, bytes: u64) {
        /// Rounded up to so many bytes, so that small replies and requests do not change the sum that all sessions share.
        const STEP_BYTES: u64 = 512;
        let bytes = bytes.next_multiple_of(STEP_BYTES);
        let before = self.session_bytes.load(Ordering::Relaxed);
        // Only the session itself changes it.
        if bytes != before {
            self.session_bytes.store(bytes, Ordering::Relaxed);
            self.charge(bytes, before);
        }
    }

    /// Bytes of memory that the connection takes, messages that wait for it included.
    pub fn memory_bytes(&self) -> u64 {
        self.session_bytes.load(Ordering::Relaxed) + self.contents.lock().push_bytes as u64
    }

    /// Changes the sum of all by what has come and what has gone, modulo 2^64.
    fn charge(&self, come_bytes: u64, gone_bytes: u64) {
        self.all_bytes.fetch_add(come_bytes.wrapping_sub(gone_bytes), Ordering::Relaxed);
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The protocol that pushed messages must be in.
    pub fn protocol(&self) -> Protocol {
        if self.is_resp3.load(Ordering::Relaxed) { Protocol::Resp3 } else { Protocol::Resp2 }
    }

    /// Says which protocol the connection speaks from now on.
    pub fn set_protocol(&self, protocol: Protocol) {
        self.is_resp3.store(protocol == Protocol::Resp3, Ordering::Relaxed);
    }

    /// Whether it is subscribed to anything.
    pub fn is_subscribed(&self) -> bool {
        self.subscriptions.load(Ordering::Relaxed) > 0
    }

    /// Says how many channels and patterns it is subscribed to.
    pub fn set_subscriptions(&self, count: usize) {
        self.subscriptions.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Says that the connection has ended.
    pub fn leave(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.set_session_bytes(0);
        self.drop_pushes(&mut self.contents.lock());
    }

    /// Whether the connection has ended.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    /// Who is to be woken when something comes.
    pub fn set_waker(&self, waker: Waker) {
        self.contents.lock().waker = Some(waker);
    }

    /// A waker for an engine: the session runs as if something had come for it.
    pub fn waker(self: &Arc<Inbox>) -> Waker {
        Arc::new(Ring(self.clone())).into()
    }

    /// Puts a message in. A connection that lets too many pile up is closed instead.
    pub fn push(&self, message: Arc<[u8]>) {
        let mut contents = self.contents.lock();
        if contents.mail.must_close || self.is_gone() {
            return;
        }
        contents.push_bytes += message.len();
        self.charge(message.len() as u64, 0);
        let is_too_much =
            contents.push_bytes > INBOX_MAX_BYTES && !self.limits.is_chosen(self.is_subscribed());
        if is_too_much || self.limits.is_over_hard(self.is_subscribed(), self.output_bytes(&contents)) {
            self.cut(&mut contents);
        } else {
            contents.mail.pushes.push_back(message);
            self.ring(&contents);
        }
    }

    /// Says how much output the session holds.
    pub fn set_held(&self, bytes: u64) {
        self.held_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Whether so much output of the session is not too much for its class; if it is, the connection counts as cut.
    #[inline]
    pub fn admits(&self, held_bytes: u64) -> bool {
        let is_over = self.limits.is_over_hard(self.is_subscribed(), held_bytes);
        if is_over {
            self.limits.cut.fetch_add(1, Ordering::Relaxed);
        }
        !is_over
    }

    /// Closes the connection if there has been too much output for too long, or even more by now; true if it is to be
    /// closed. To be asked about once a second.
    pub fn cut_if_over(&self, now_ms: u64) -> bool {
        let mut contents = self.contents.lock();
        if contents.mail.must_close {
            return true;
        }
        let (is_subscribed, bytes) = (self.is_subscribed(), self.output_bytes(&contents));
        let is_late = match self.limits.over_soft(is_subscribed, bytes) {
            None => {
                contents.over_soft_since_ms = None;
                false
            }
            Some(soft_s) => {
                let since_ms = *contents.over_soft_since_ms.get_or_insert(now_ms);
                // Whole seconds, and more of them than the limit says, as in Redis.
                now_ms.saturating_sub(since_ms) / 1000 > soft_s
            }
        };
        let is_cut = is_late || self.limits.is_over_hard(is_subscribed, bytes);
        if is_cut {
            self.cut(&mut contents);
        }
        is_cut
    }

    fn output_bytes(&self, contents: &Contents) -> u64 {
        contents.push_bytes as u64 + self.held_bytes.load(Ordering::Relaxed)
    }

    fn cut(&self, contents: &mut Contents) {
        self.drop_pushes(contents);
        self.limits.cut.fetch_add(1, Ordering::Relaxed);
        self.order_to_close(contents);
    }

    fn drop_pushes(&self, contents: &mut Contents) {
        contents.mail.pushes = VecDeque::new();
        self.charge(0, contents.push_bytes as u64);
        contents.push_bytes = 0;
    }

    /// Puts the reply to a blocked command in.
    pub fn answer(&self, answer: Answer) {
        let mut contents = self.contents.lock();
        contents.mail.answer = Some(answer);
        self.ring(&contents);
    }

    /// Has the connection closed.
    pub fn close(&self) {
        self.order_to_close(&mut self.contents.lock());
    }

    /// Whether the connection is to be closed.
    pub fn must_close(&self) -> bool {
        self.contents.lock().mail.must_close
    }

    /// Has the session run, though there is nothing for it.
    pub fn wake(&self) {
        self.ring(&self.contents.lock());
    }

    /// Whether something came since the session last looked.
    #[inline]
    pub fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Acquire)
    }

    /// Takes what there is; of the messages only as many as hold `most_bytes`, and one more.
    pub fn take(&self, most_bytes: usize) -> Mail {
        let mut contents = self.contents.lock();
        let mut taken = Mail {
            pushes: VecDeque::new(),
            answer: contents.mail.answer.take(),
            must_close: contents.mail.must_close,
        };
        let mut bytes = 0;
        while bytes <= most_bytes
            && let Some(message) = contents.mail.pushes.pop_front()
        {
            bytes += message.len();
            taken.pushes.push_back(message);
        }
        let taken_bytes = bytes.min(contents.push_bytes);
        contents.push_bytes -= taken_bytes;
        if taken_bytes > 0 {
            self.charge(0, taken_bytes as u64);
        }
        let has_more = !contents.mail.pushes.is_empty();
        if !has_more {
            contents.mail.pushes = VecDeque::new();
        }
        self.has_mail.store(has_more, Ordering::Release);
        taken
    }

    /// The bell rings once more even if mail waits already: its owner may be waiting for a peer that does not read.
    fn order_to_close(&self, contents: &mut Contents) {
        contents.mail.must_close = true;
        self.has_mail.store(false, Ordering::Release);
        self.ring(contents);
    }

    fn ring(&self, contents: &Contents) {
        if !self.has_mail.swap(true, Ordering::AcqRel)
            && let Some(waker) = &contents.waker
        {
            waker.wake_by_ref();
        }
    }
}
