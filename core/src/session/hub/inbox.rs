//! What other connections have for one connection, until its session takes it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Waker;

use parking_lot::Mutex;

use crate::engine::Receipt;
use crate::limits::INBOX_MAX_BYTES;
use crate::resp::Protocol;

/// The letter box of one connection.
#[derive(Debug, Default)]
pub struct Inbox {
    id: u64,
    has_mail: AtomicBool,
    is_gone: AtomicBool,
    is_resp3: AtomicBool,
    /// Channels and patterns it is subscribed to.
    subscriptions: AtomicU32,
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    mail: Mail,
    push_bytes: usize,
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
}

/// How CLIENT UNBLOCK ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unblock {
    /// As if its time had passed.
    TimedOut,
    /// With an error.
    Error,
}

impl Inbox {
    /// An empty inbox of the connection with this CLIENT ID.
    pub fn new(id: u64) -> Inbox {
        Inbox { id, ..Inbox::default() }
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
    }

    /// Whether the connection has ended.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    /// Who is to be woken when something comes.
    pub fn set_waker(&self, waker: Waker) {
        self.contents.lock().waker = Some(waker);
    }

    /// Puts a message in. A connection that lets too many pile up is closed instead.
    pub fn push(&self, message: Arc<[u8]>) {
        let mut contents = self.contents.lock();
        if contents.mail.must_close {
            return;
        }
        contents.push_bytes += message.len();
        if contents.push_bytes > INBOX_MAX_BYTES {
            contents.mail.pushes = VecDeque::new();
            self.order_to_close(&mut contents);
        } else {
            contents.mail.pushes.push_back(message);
            self.ring(&contents);
        }
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
        contents.push_bytes -= bytes.min(contents.push_bytes);
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
