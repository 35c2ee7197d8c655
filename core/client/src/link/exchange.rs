//! A request on its way: waits for a connection and for room, is handed in, waits for its replies.

use std::future::{Future, poll_fn};
use std::mem::take;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::slot::{Answer, Sink, State};
use super::{Link, Phase, keep_waker};
use crate::error::{Error, Result};
use crate::limits::{FEED_WINDOW_BYTES, STREAM_WINDOW_BYTES};
use crate::runtime::now_ms;
use crate::words::{Words, keep_buffer};

/// Bytes that will be sent, and how many replies they will have.
#[derive(Debug)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    start: usize,
    replies: u32,
}

impl Outgoing {
    /// One request.
    pub(crate) fn request(words: Words) -> Result<Outgoing> {
        let (bytes, start) = words.finish()?;
        Ok(Outgoing { bytes, start, replies: 1 })
    }

    /// One request but for its last argument, whose bytes and line end are [fed](RoundTrip::feed) behind it.
    pub(crate) fn request_without_last(mut words: Words, size_bytes: usize) -> Result<Outgoing> {
        words.push_head(size_bytes);
        Self::request(words)
    }

    /// Several requests, written one after the other; at least one.
    pub(crate) fn batch(bytes: Vec<u8>, replies: u32) -> Outgoing {
        Outgoing { bytes, start: 0, replies }
    }
}

/// A future of the replies to what is sent. Dropped, it leaves its place to the connection, which drops the replies.
pub(crate) struct RoundTrip<L: Deref<Target = Link>> {
    pub(crate) link: L,
    outgoing: Option<Outgoing>,
    sink: Sink,
    buffer: Vec<u8>,
    timeout_ms: u64,
    deadline_ms: u64,
    stage: Stage,
}

enum Stage {
    New,
    /// Under this number in the queue, or just woken from it.
    Queued(u64),
    /// In this slot.
    Sent(usize),
    Ended,
}

impl<L: Deref<Target = Link>> Unpin for RoundTrip<L> {}

impl<L: Deref<Target = Link>> RoundTrip<L> {
    /// Replies go to the end of `buffer`, which the result gives back. Without an end the time-out is `u64::MAX`.
    pub(crate) fn new(link: L, outgoing: Outgoing, sink: Sink, buffer: Vec<u8>, timeout_ms: u64) -> Self {
        let deadline_ms = u64::MAX;
        RoundTrip { link, outgoing: Some(outgoing), sink, buffer, timeout_ms, deadline_ms, stage: Stage::New }
    }

    fn hand_in(&mut self, cx: &mut Context) -> Poll<Result<usize>> {
        let mut state = self.link.state.lock();
        if let Stage::New = self.stage {
            if state.slots.len() == 0 {
                state.now_ms = now_ms();
                state.busy_since_ms = state.now_ms;
            }
            self.deadline_ms = state.now_ms.saturating_add(self.timeout_ms);
        }
        match &state.phase {
            Phase::Closed(error) => return Poll::Ready(Err(error.for_request(false))),
            Phase::Connecting(Some(error @ Error::Server(_))) => return Poll::Ready(Err(error.clone())),
            Phase::Open if state.has_room() => {
                let Some(Outgoing { bytes, start, replies }) = self.outgoing.take() else {
                    return Poll::Ready(Err(Error::Closed { may_have_run: true }));
                };
                let request_bytes = bytes.len() - start;
                state.append(bytes, start);
                let buffer = take(&mut self.buffer);
                let index = state.slots.add(self.sink, buffer, request_bytes, replies, self.deadline_ms);
                state.slots.get_mut(index).waker = Some(cx.waker().clone());
                self.stage = Stage::Sent(index);
                let task = state.task.take();
                drop(state);
                task.into_iter().for_each(Waker::wake);
                return Poll::Ready(Ok(index));
            }
            _ => {}
        }
        if now_ms() >= self.deadline_ms {
            return Poll::Ready(Err(Error::Timeout { after_ms: self.timeout_ms, may_have_run: false }));
        }
        let queued = match self.stage {
            Stage::Queued(number) => state.queue.iter_mut().find(|(other, _)| *other == number),
            _ => None,
        };
        match queued {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => {
                let number = state.next_in_queue;
                state.next_in_queue += 1;
                state.queue.push_back((number, cx.waker().clone()));
                self.stage = Stage::Queued(number);
            }
        }
        state.queue_deadline_ms = state.queue_deadline_ms.min(self.deadline_ms);
        // It looks at deadlines while somebody waits.
        let task = state.task.take();
        drop(state);
        task.into_iter().for_each(Waker::wake);
        Poll::Pending
    }

    fn take_result(&mut self, index: usize, cx: &mut Context) -> Poll<Result<(Answer, Vec<u8>)>> {
        let mut state = self.link.state.lock();
        let slot = state.slots.get_mut(index);
        let result = match &slot.state {
            State::Done(answer) => Ok((*answer, take(&mut slot.buffer))),
            State::Failed(error) => Err(error.clone()),
            _ if slot.is_late => {
                let may_have_run = state.slots.is_taken(index);
                state.slots.abandon(index);
                self.stage = Stage::Ended;
                return Poll::Ready(Err(Error::Timeout { after_ms: self.timeout_ms, may_have_run }));
            }
            _ => {
                keep_waker(&mut slot.waker, cx);
                return Poll::Pending;
            }
        };
        state.slots.release(index);
        self.stage = Stage::Ended;
        Poll::Ready(result)
    }

    /// Hands in more bytes of a request, of which a bounded part waits in the connection at a time. The link must be the
    /// caller's alone.
    pub(crate) async fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        poll_fn(|cx| {
            while !rest.is_empty() {
                let index = match self.stage {
                    Stage::Sent(index) => index,
                    Stage::Ended => return Poll::Ready(Err(Error::Closed { may_have_run: true })),
                    _ => match self.hand_in(cx) {
                        Poll::Ready(Ok(index)) => index,
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Pending => return Poll::Pending,
                    },
                };
                let mut state = self.link.state.lock();
                let now_ms = state.now_ms;
                let room = FEED_WINDOW_BYTES.saturating_sub(state.output.len());
                let slot = state.slots.get_mut(index);
                if let State::Failed(error) = &slot.state {
                    return Poll::Ready(Err(error.clone()));
                }
                // An answer that comes early is an error, which is found behind the request.
                if slot.is_late {
                    return Poll::Ready(Err(Error::Timeout {
                        after_ms: self.timeout_ms,
                        may_have_run: true,
                    }));
                }
                if room == 0 {
                    keep_waker(&mut slot.waker, cx);
                    state.feeder = Some(index);
                    return Poll::Pending;
                }
                slot.deadline_ms = now_ms.saturating_add(self.timeout_ms);
                let (now, later) = rest.split_at(room.min(rest.len()));
                rest = later;
                state.output.extend_from_slice(now);
                let task = state.task.take();
                drop(state);
                task.into_iter().for_each(Waker::wake);
                if self.link.is_driven_by_callers() {
                    self.link.drive_now();
                }
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// The next bytes of a [`Sink::Stream`], in exchange for an empty buffer, or the end: then the answer is there.
    pub(crate) fn poll_part(&mut self, cx: &mut Context, part: &mut Vec<u8>) -> Poll<Result<Option<Answer>>> {
        let index = match self.stage {
            Stage::Sent(index) => index,
            Stage::Ended => return Poll::Ready(Ok(None)),
            _ => match self.hand_in(cx) {
                Poll::Ready(Ok(index)) => index,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            },
        };
        let mut state = self.link.state.lock();
        let now = state.now_ms;
        let slot = state.slots.get_mut(index);
        let is_body = matches!(slot.state, State::Waiting(_)) && !slot.buffer.is_empty();
        if is_body {
            part.clear();
            let was_full = slot.buffer.len() >= STREAM_WINDOW_BYTES;
            std::mem::swap(part, &mut slot.buffer);
            // A large transfer has its time again with every part.
            slot.deadline_ms = now.saturating_add(self.timeout_ms);
            let task = if was_full { state.task.take() } else { None };
            drop(state);
            task.into_iter().for_each(Waker::wake);
            return Poll::Ready(Ok(None));
        }
        if matches!(slot.state, State::Waiting(_)) && !slot.is_late {
            // Under the lock of the look: bytes that come between the two would wake nobody, and a connection that has as many
            // as its window would wait for this reader for ever.
            keep_waker(&mut slot.waker, cx);
            return Poll::Pending;
        }
        drop(state);
        self.take_result(index, cx).map_ok(|(answer, buffer)| {
            keep_buffer(std::mem::replace(part, buffer));
            Some(answer)
        })
    }
}

impl<L: Deref<Target = Link>> Future for RoundTrip<L> {
    type Output = Result<(Answer, Vec<u8>)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Self::Output> {
        match self.stage {
            Stage::Sent(index) => self.take_result(index, cx),
            Stage::Ended => Poll::Ready(Err(Error::Closed { may_have_run: true })),
            _ => match self.hand_in(cx) {
                Poll::Ready(Ok(index)) if self.link.is_driven_by_callers() => {
                    self.link.drive_now();
                    self.take_result(index, cx)
                }
                Poll::Ready(Err(error)) => {
                    self.stage = Stage::Ended;
                    Poll::Ready(Err(error))
                }
                _ => Poll::Pending,
            },
        }
    }
}

impl<L: Deref<Target = Link>> Drop for RoundTrip<L> {
    fn drop(&mut self) {
        match self.stage {
            Stage::Sent(index) => {
                self.link.state.lock().slots.abandon(index);
            }
            Stage::Queued(number) => {
                let mut state = self.link.state.lock();
                let place = state.queue.iter().position(|(other, _)| *other == number);
                // Woken for room that is not needed now: the next one may have it.
                let waker = match place {
                    Some(place) => state.queue.remove(place).and(None),
                    None => state.queue.pop_front().map(|(_, waker)| waker),
                };
                drop(state);
                waker.into_iter().for_each(Waker::wake);
            }
            Stage::New | Stage::Ended => {}
        }
        if let Some(outgoing) = self.outgoing.take() {
            keep_buffer(outgoing.bytes);
        }
        keep_buffer(take(&mut self.buffer));
    }
}
