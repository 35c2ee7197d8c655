//! Connections that one caller has at a time: for large values, transactions and blocking commands.
//!
//! Guarantees:
//! - There are never more sockets than the bound; those who find none free wait in the order they came, until their
//!   deadline.
//! - Handing a connection out costs no round trip.
//! - A connection that comes back with a request on it, because its caller left, is closed; nobody gets another's reply.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::connector::Connector;
use crate::error::{Error, Result};
use crate::link::{Keeps, Link, NoListener, supervise};
use crate::runtime::{Timer, spawn};

/// Why a client whose caller gave it one socket cannot do what needs another.
pub(crate) const ONE_SOCKET: Error =
    Error::Invalid(Cow::Borrowed("this needs a connection of its own, and the client was given one socket"));

/// Connections to one server.
pub(crate) struct Pool {
    connector: Arc<Connector>,
    most: usize,
    is_inline: bool,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    /// Connections that nobody has, the last one used at the end.
    idle: Vec<Arc<Link>>,
    /// Connections that exist, those included that are being made or closed.
    count: usize,
    /// Who waits, each under its number.
    queue: VecDeque<(u64, Waker)>,
    next_in_queue: u64,
    is_closed: bool,
}

impl Pool {
    pub(crate) fn new(connector: Arc<Connector>, most: usize, is_inline: bool) -> Arc<Pool> {
        Arc::new(Pool { connector, most: most.max(1), is_inline, state: Mutex::default() })
    }

    /// A connection, when one is free or may be made.
    pub(crate) fn acquire(self: &Arc<Pool>, timeout_ms: u64) -> Acquire {
        Acquire { pool: self.clone(), number: None, timeout_ms, timer: None }
    }

    /// How many connections there are, and how many of them nobody has.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.count, state.idle.len())
    }

    /// Closes the connections that nobody has; the others are closed when they come back.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        let (idle, queue) = (std::mem::take(&mut state.idle), std::mem::take(&mut state.queue));
        drop(state);
        idle.iter().for_each(|link| link.close(Error::Closed { may_have_run: true }));
        queue.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// A free connection or a new one, if there may be one.
    fn try_acquire(self: &Arc<Pool>) -> Result<Option<Checkout>> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(Error::Closed { may_have_run: false });
        }
        while let Some(link) = state.idle.pop() {
            if link.is_open() {
                return Ok(Some(Checkout { link, pool: self.clone(), is_own: AtomicBool::new(false) }));
            }
        }
        if self.connector.is_single() {
            return Err(ONE_SOCKET);
        }
        if state.count >= self.most {
            return Ok(None);
        }
        state.count += 1;
        drop(state);
        let link = Arc::new(Link::new(Arc::new(NoListener), self.is_inline));
        let permit = Permit(self.clone());
        spawn(supervise(link.clone(), self.connector.clone(), None, Keeps::Once, permit));
        Ok(Some(Checkout { link, pool: self.clone(), is_own: AtomicBool::new(false) }))
    }

    fn wake_next(&self) {
        let next = self.state.lock().queue.pop_front();
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}

/// The place of one socket within the bound; free again when the socket is closed.
struct Permit(Arc<Pool>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.state.lock().count -= 1;
        self.0.wake_next();
    }
}

/// A connection that its owner has alone. It goes back when it is dropped.
pub(crate) struct Checkout {
    link: Arc<Link>,
    pool: Arc<Pool>,
    /// Whether its state is not what the next owner expects.
    is_own: AtomicBool,
}

impl Checkout {
    /// The connection ends with its owner instead of going back: its state will not be what the next owner expects.
    pub(crate) fn keep_from_others(&self) {
        self.is_own.store(true, Relaxed);
    }

    /// Takes that back.
    pub(crate) fn allow_others(&self) {
        self.is_own.store(false, Relaxed);
    }
}

impl Deref for Checkout {
    type Target = Link;

    fn deref(&self) -> &Link {
        &self.link
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        if !state.is_closed && !self.is_own.load(Relaxed) && self.link.is_idle() {
            state.idle.retain(|link| !link.is_closed());
            state.idle.push(self.link.clone());
            drop(state);
            self.pool.wake_next();
        } else {
            drop(state);
            self.link.close(Error::Closed { may_have_run: true });
        }
    }
}

/// A future of a connection. Dropped, it leaves its place to the next.
pub(crate) struct Acquire {
    pool: Arc<Pool>,
    number: Option<u64>,
    timeout_ms: u64,
    timer: Option<Timer>,
}

impl Future for Acquire {
    type Output = Result<Checkout>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Result<Checkout>> {
        if let Some(checkout) = self.pool.try_acquire()? {
            self.leave_queue();
            return Poll::Ready(Ok(checkout));
        }
        let timeout_ms = self.timeout_ms;
        let timer = self.timer.get_or_insert_with(|| Timer::new(timeout_ms));
        if timer.poll(cx).is_ready() {
            self.leave_queue();
            return Poll::Ready(Err(Error::Timeout { after_ms: timeout_ms, may_have_run: false }));
        }
        let mut state = self.pool.state.lock();
        let place = self.number.and_then(|number| state.queue.iter_mut().find(|(other, _)| *other == number));
        if let Some((_, waker)) = place {
            waker.clone_from(cx.waker());
        } else {
            let number = state.next_in_queue;
            state.next_in_queue += 1;
            state.queue.push_back((number, cx.waker().clone()));
            // Between the look above and this one a connection may have come back.
            let is_free = !state.idle.is_empty() || state.count < self.pool.most || state.is_closed;
            drop(state);
            self.number = Some(number);
            if is_free {
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

impl Acquire {
    fn leave_queue(&mut self) {
        if let Some(number) = self.number.take() {
            self.pool.state.lock().queue.retain(|(other, _)| *other != number);
        }
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let Some(number) = self.number.take() else { return };
        let mut state = self.pool.state.lock();
        let before = state.queue.len();
        state.queue.retain(|(other, _)| *other != number);
        let was_woken = state.queue.len() == before;
        drop(state);
        // It was woken for a connection that it does not take.
        if was_woken {
            self.pool.wake_next();
        }
    }
}
