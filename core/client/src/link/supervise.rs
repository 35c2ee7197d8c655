//! The task of a connection: connects, greets, drives the socket until it fails, and begins again after a pause.

use std::future::Future;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::Link;
use super::drive::Io;
use crate::connector::{Connected, Connector};
use crate::error::Error;
use crate::limits::TICK_MS;
use crate::runtime::Timer;

/// For how long a connection is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Until the link is closed, with new connections after those that fail.
    ForEver,
    /// Until it fails once it is there.
    Once,
}

/// Runs the connection of a link until it is closed, beginning with the one that is there already. `permit` is dropped when
/// its socket is.
pub(crate) async fn supervise<P>(
    link: Arc<Link>,
    connector: Arc<Connector>,
    mut first: Option<Connected>,
    keeps: Keeps,
    permit: P,
) {
    let mut ticker = Ticker::default();
    let mut failures = 0_u32;
    loop {
        let attempt = match first.take() {
            Some(connected) => Some(Ok(connected)),
            None => ticker.beside(&link, connector.connect_in_time()).await,
        };
        let mut is_over = keeps == Keeps::Once;
        let error = match attempt {
            Some(Ok(connected)) => {
                failures = 0;
                let io = Io::new(connected.stream, connected.input, connector.bulk_max_bytes());
                link.open();
                link.listener.connected(&link);
                let error = drive(&link, io, &mut ticker, connector.silence_ms()).await;
                link.listener.disconnected(&error);
                error
            }
            Some(Err(error)) => {
                // A server that says no will not change its mind; one that is away may come.
                is_over &= matches!(error, Error::Server(_));
                // There are no more sockets.
                is_over |= matches!(error, Error::Closed { .. });
                error
            }
            None => break,
        };
        if is_over {
            link.listener.ended(&error);
            link.close(error);
            break;
        }
        link.lose(&error);
        let pause_ms = connector.pause_ms(failures);
        failures = failures.saturating_add(1);
        let mut timer = Timer::new(pause_ms);
        if ticker.beside(&link, poll_fn(|cx| timer.poll(cx))).await.is_none() {
            break;
        }
    }
    drop(permit);
}

/// Drives the socket until it fails or the link is closed.
async fn drive(link: &Link, io: Io, ticker: &mut Ticker, silence_ms: u64) -> Error {
    let mut own = None;
    match &link.inline {
        // The waker is set by the first poll.
        Some(place) => *place.lock() = Some((io, std::task::Waker::noop().clone())),
        None => own = Some(io),
    }
    if let Some(io) = &mut own
        && let Err(error) = io.decode(link)
    {
        return error;
    }
    let error = poll_fn(|cx| {
        let heard_ms = match (&mut own, &link.inline) {
            (Some(io), _) => {
                if let Poll::Ready(error) = io.poll_drive(link, cx) {
                    return Poll::Ready(error);
                }
                io.heard_ms
            }
            (None, Some(place)) => {
                let mut place = place.lock();
                let Some((io, waker)) = place.as_mut() else { return Poll::Pending };
                waker.clone_from(cx.waker());
                if let Poll::Ready(error) = io.poll_drive(link, cx) {
                    return Poll::Ready(error);
                }
                io.heard_ms
            }
            (None, None) => return Poll::Pending,
        };
        let silent_ms = ticker.poll(link, heard_ms, cx);
        if silent_ms > silence_ms {
            return Poll::Ready(Error::Timeout { after_ms: silent_ms, may_have_run: true });
        }
        Poll::Pending
    })
    .await;
    if let Some(place) = &link.inline {
        *place.lock() = None;
    }
    error
}

/// Looks at the deadlines of a link now and then, as long as there are any.
#[derive(Default)]
struct Ticker {
    timer: Option<Timer>,
    is_set: bool,
}

impl Ticker {
    /// Sees to it that the task comes back for a look, and looks if it is time. Returns for how long a due reply has not
    /// come.
    fn poll(&mut self, link: &Link, heard_ms: u64, cx: &mut Context) -> u64 {
        let mut silent_ms = 0;
        loop {
            if !self.is_set {
                if link.is_quiet() {
                    return silent_ms;
                }
                match &mut self.timer {
                    Some(timer) => timer.set(TICK_MS),
                    none => *none = Some(Timer::new(TICK_MS)),
                }
                self.is_set = true;
            }
            let Some(timer) = &mut self.timer else { return silent_ms };
            if timer.poll(cx).is_pending() {
                return silent_ms;
            }
            self.is_set = false;
            silent_ms = link.tick(heard_ms);
        }
    }

    /// Waits for something else while callers of the link wait. None if the link was closed meanwhile.
    async fn beside<F: Future>(&mut self, link: &Link, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if link.is_closed() {
                return Poll::Ready(None);
            }
            link.register(cx.waker());
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
            self.poll(link, u64::MAX, cx);
            Poll::Pending
        })
        .await
    }
}
