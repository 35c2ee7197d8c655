//! The socket of a connection: writes what callers handed in, reads replies and gives them to their slots.
//!
//! A value that anybody may poll with the waker of the connection's task: the task itself, or a caller of a transport that
//! works in the caller's thread.

use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use edgecask_core::resp::{Aggregate, Event, Events};
use tokio::io::AsyncWrite;

use super::slot::{Answer, Sink, State};
use super::{Link, LinkState, keep_waker};
use crate::error::Error;
use crate::limits::{
    DIRECT_FROM_BYTES, GROWTH_BYTES, HEAD_BYTES, INPUT_BYTES, OUTPUT_KEPT_BYTES, STREAM_WINDOW_BYTES,
    WHOLE_MAX_BYTES,
};
use crate::runtime::now_ms;
use crate::transport::{Transport, poll_read_into};

/// The bytes of one connection in both directions.
pub(crate) struct Io {
    stream: Box<dyn Transport>,
    events: Events,
    input: Vec<u8>,
    /// Bytes of the connection before `input`.
    read_bytes: u64,
    /// Where the value that is being read begins in `input`, as far as it has not gone to its slot.
    value_start: usize,
    reading: Reading,
    output: Vec<u8>,
    written: usize,
    has_yielded: bool,
    /// Whether the next reply is for a caller with a large buffer, as of the last look at what to write.
    expects_large: bool,
    /// Whether the last read was the rest of a large string: the next one may be as large.
    follows_large: bool,
    woken: Vec<Waker>,
    /// Push messages that are complete, and the one that is not.
    pushed: Vec<u8>,
    /// Where each complete message of `pushed` ends.
    push_ends: Vec<usize>,
    /// When bytes last came.
    pub(crate) heard_ms: u64,
}

/// Bytes that are asked for behind a string: its line end, and one more. A read that is not filled tells the runtime that there is
/// nothing left, which saves the call that would find that out.
const BEHIND_BYTES: usize = 3;

/// What the value is that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// None has begun.
    Nothing,
    Push,
    /// A reply for the front slot, as it is on the wire.
    Raw,
    /// The bytes of a string for the front slot.
    Body,
}

impl Io {
    /// `input` has what came behind the replies of the handshake.
    pub(crate) fn new(stream: Box<dyn Transport>, input: Vec<u8>, bulk_max_bytes: u64) -> Io {
        Io {
            stream,
            events: Events::with_limits(bulk_max_bytes, WHOLE_MAX_BYTES),
            input,
            read_bytes: 0,
            value_start: 0,
            reading: Reading::Nothing,
            output: Vec::new(),
            written: 0,
            has_yielded: false,
            expects_large: false,
            follows_large: false,
            woken: Vec::new(),
            pushed: Vec::new(),
            push_ends: Vec::new(),
            heard_ms: now_ms(),
        }
    }

    /// Writes and reads as far as it goes without waiting. Ready only when the connection has failed or was closed.
    pub(crate) fn poll_drive(&mut self, link: &Link, cx: &mut Context) -> Poll<Error> {
        loop {
            match self.poll_write(link, cx) {
                Poll::Ready(Err(error)) => return Poll::Ready(error),
                // The callers that were woken together run first.
                Poll::Pending if self.has_yielded => return Poll::Pending,
                _ => {}
            }
            match self.poll_read(link, cx) {
                Poll::Ready(Err(error)) => return Poll::Ready(error),
                Poll::Ready(Ok(())) => {
                    if let Err(error) = self.decode(link) {
                        return Poll::Ready(error);
                    }
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Gives what has come to slots, and wakes their callers.
    pub(crate) fn decode(&mut self, link: &Link) -> Result<(), Error> {
        self.heard_ms = now_ms();
        let mut state = link.state.lock();
        state.batch = 0;
        state.note_progress(self.heard_ms);
        let decoded = self.decode_all(&mut state, link.is_for_listener);
        state.wake_for_room(&mut self.woken);
        drop(state);
        self.woken.drain(..).for_each(Waker::wake);
        let consumed = self.events.consume();
        self.read_bytes += consumed as u64;
        self.input.drain(..consumed);
        if self.input.is_empty() && self.input.capacity() > 2 * INPUT_BYTES {
            self.input.shrink_to(INPUT_BYTES);
        }
        self.value_start = 0;
        let mut start = 0;
        for end in self.push_ends.drain(..) {
            link.listener.pushed(self.pushed.get(start..end).unwrap_or_default());
            start = end;
        }
        if start > 0 {
            self.pushed.drain(..start);
        }
        decoded
    }

    fn decode_all(&mut self, state: &mut LinkState, is_for_listener: bool) -> Result<(), Error> {
        loop {
            let event = match self.events.next(&self.input) {
                Ok(Some(event)) => event,
                Ok(None) => {
                    // What has come of the value leaves the input, so that large replies do not gather there.
                    let end = self.events.position();
                    let part = self.input.get(self.value_start..end).unwrap_or_default();
                    match self.reading {
                        Reading::Push => self.pushed.extend_from_slice(part),
                        Reading::Raw => append_to_front(state, part),
                        Reading::Nothing | Reading::Body => {}
                    }
                    return Ok(());
                }
                Err(error) => {
                    let offset = self.read_bytes + self.events.position() as u64;
                    return Err(Error::Protocol { error, offset });
                }
            };
            if self.reading == Reading::Nothing {
                let reading = if is_for_listener { Some(Reading::Push) } else { begin(event, state) };
                self.reading = reading.ok_or_else(|| unasked(self.read_bytes))?;
            }
            let mut answer = Answer::Raw;
            if self.reading == Reading::Body {
                answer = give_body(event, state);
                if answer == Answer::Body && matches!(event, Event::Part(_)) {
                    self.woken.extend(wake_reader(state));
                }
            }
            if !self.events.is_whole() {
                continue;
            }
            let end = self.events.position();
            let value = self.input.get(self.value_start..end).unwrap_or_default();
            match self.reading {
                Reading::Push => {
                    self.pushed.extend_from_slice(value);
                    self.push_ends.push(self.pushed.len());
                }
                Reading::Raw => append_to_front(state, value),
                Reading::Nothing | Reading::Body => {}
            }
            if self.reading != Reading::Push {
                state.batch += 1;
                self.woken.extend(state.slots.complete(answer));
            }
            self.reading = Reading::Nothing;
            self.value_start = end;
        }
    }

    fn poll_write(&mut self, link: &Link, cx: &mut Context) -> Poll<Result<(), Error>> {
        loop {
            if self.written >= self.output.len() {
                self.output.clear();
                if self.output.capacity() > OUTPUT_KEPT_BYTES && link.is_quiet() {
                    self.output.shrink_to(OUTPUT_KEPT_BYTES);
                }
                let mut state = link.state.lock();
                if let super::Phase::Closed(error) = &state.phase {
                    return Poll::Ready(Err(error.clone()));
                }
                if state.batch > 1 && !self.has_yielded && !state.output.is_empty() {
                    self.has_yielded = true;
                    drop(state);
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                self.has_yielded = false;
                self.expects_large = state.expects_large();
                if state.output.is_empty() {
                    self.written = 0;
                    keep_waker(&mut state.task, cx);
                    drop(state);
                    return Pin::new(&mut self.stream).poll_flush(cx).map_err(Error::from);
                }
                self.written = state.take_output(&mut self.output, &mut self.woken);
                state.wake_for_room(&mut self.woken);
                drop(state);
                self.woken.drain(..).for_each(Waker::wake);
            }
            let rest = self.output.get(self.written..).unwrap_or_default();
            match Pin::new(&mut self.stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err(std::io::Error::from(std::io::ErrorKind::WriteZero).into()));
                }
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Pending => {
                    link.state.lock().task = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        }
    }

    /// Reads once: into the buffer of the front slot if the rest of a large string is for it, by itself or within a reply as it is on
    /// the wire; else into `input`.
    fn poll_read(&mut self, link: &Link, cx: &mut Context) -> Poll<Result<(), Error>> {
        let missing = self.events.missing_bytes();
        if matches!(self.reading, Reading::Body | Reading::Raw) && missing >= DIRECT_FROM_BYTES {
            return self.poll_read_direct(link, cx, missing);
        }
        if self.is_stream_full(link, cx) {
            return Poll::Pending;
        }
        let is_head = self.reading == Reading::Nothing && self.expects_large || self.follows_large;
        let most = if is_head { HEAD_BYTES } else { usize::MAX };
        self.follows_large = false;
        if self.input.capacity() - self.input.len() < INPUT_BYTES / 4 {
            let more = INPUT_BYTES.max(self.input.len());
            self.input.reserve(more);
        }
        let room = most.min(self.input.capacity() - self.input.len());
        let read = poll_read_into(&mut self.stream, cx, &mut self.input, room);
        self.note_read(read)
    }

    /// Reads into the buffer of the front slot, which misses so many bytes of a string. The last of them goes to `input` with the line
    /// end behind it: by that the string is seen to be whole.
    fn poll_read_direct(&mut self, link: &Link, cx: &mut Context, missing: usize) -> Poll<Result<(), Error>> {
        let most = missing - 1;
        if self.is_stream_full(link, cx) {
            return Poll::Pending;
        }
        let (index, mut buffer) = {
            let mut state = link.state.lock();
            let Some(index) = state.slots.front() else {
                return Poll::Ready(Err(Error::Closed { may_have_run: true }));
            };
            let slot = state.slots.get_mut(index);
            let is_wanted = !matches!(slot.state, State::Abandoned(_));
            // What nobody wants goes to a buffer that is dropped.
            let wanted = is_wanted.then(|| take(&mut slot.buffer));
            (index, wanted.unwrap_or_else(|| Vec::with_capacity(DIRECT_FROM_BYTES)))
        };
        if buffer.capacity() - buffer.len() < most.min(DIRECT_FROM_BYTES) {
            buffer.reserve(most.min(GROWTH_BYTES.max(buffer.len())));
        }
        let room = (missing + BEHIND_BYTES).min(buffer.capacity() - buffer.len()).min(GROWTH_BYTES);
        let before = buffer.len();
        let read = poll_read_into(&mut self.stream, cx, &mut buffer, room);
        let count = (buffer.len() - before).min(most);
        self.input.extend_from_slice(buffer.get(before + count..).unwrap_or_default());
        buffer.truncate(before + count);
        self.follows_large = true;
        self.events.skip_part(count);
        let mut state = link.state.lock();
        let slot = state.slots.get_mut(index);
        if matches!(slot.state, State::Abandoned(_)) {
            buffer.clear();
        } else {
            slot.buffer = buffer;
            // Also for bytes that were there before: the reader has looked while the buffer was away.
            if slot.sink == Sink::Stream && !slot.buffer.is_empty() {
                self.woken.extend(slot.waker.take());
            }
        }
        state.note_progress(self.heard_ms);
        drop(state);
        self.woken.drain(..).for_each(Waker::wake);
        self.note_read(read)
    }

    fn note_read(&mut self, read: Poll<std::io::Result<usize>>) -> Poll<Result<(), Error>> {
        match read {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(error.into())),
            Poll::Ready(Ok(0)) => {
                let error = std::io::Error::new(
                    std::io::ErrorKind::UnexpectedEof,
                    "the server closed the connection",
                );
                Poll::Ready(Err(error.into()))
            }
            Poll::Ready(Ok(_)) => Poll::Ready(Ok(())),
        }
    }

    /// Whether the front slot is a stream whose reader has enough to read.
    fn is_stream_full(&self, link: &Link, cx: &mut Context) -> bool {
        if self.reading != Reading::Body {
            return false;
        }
        let mut state = link.state.lock();
        let Some(index) = state.slots.front() else { return false };
        let slot = state.slots.get_mut(index);
        let is_full = slot.sink == Sink::Stream
            && slot.buffer.len() >= STREAM_WINDOW_BYTES
            && matches!(slot.state, State::Waiting(_));
        if is_full {
            state.task = Some(cx.waker().clone());
        }
        is_full
    }
}

/// Whose the value is that begins with `event`; none if nobody has asked for one.
fn begin(event: Event, state: &mut LinkState) -> Option<Reading> {
    if let Event::Open { kind: Aggregate::Push, .. } = event {
        return Some(Reading::Push);
    }
    let index = state.slots.front()?;
    let is_string =
        !matches!(event, Event::Open { .. } | Event::Double(_) | Event::Boolean(_) | Event::BigNumber(_));
    let slot = state.slots.get_mut(index);
    Some(if slot.sink != Sink::Raw && is_string { Reading::Body } else { Reading::Raw })
}

/// A reply came that answers no request.
fn unasked(offset: u64) -> Error {
    let error = std::io::Error::new(
        std::io::ErrorKind::InvalidData,
        format!("a reply at byte {offset} of the connection answers no request"),
    );
    Error::Io { error: std::sync::Arc::new(error), may_have_run: true }
}

fn append_to_front(state: &mut LinkState, bytes: &[u8]) {
    let Some(index) = state.slots.front() else { return };
    let slot = state.slots.get_mut(index);
    if !matches!(slot.state, State::Abandoned(_)) {
        slot.buffer.extend_from_slice(bytes);
    }
}

/// Gives a string or a part of one to the front slot, and says what the answer is.
fn give_body(event: Event, state: &mut LinkState) -> Answer {
    let (bytes, answer) = match event {
        Event::Bulk(bytes) | Event::Part(bytes) | Event::Simple(bytes) => (bytes, Answer::Body),
        Event::Verbatim { text, .. } => (text, Answer::Body),
        Event::Error(text) | Event::BlobError(text) => (text, Answer::Error),
        Event::Integer(value) => {
            append_to_front(state, itoa::Buffer::new().format(value).as_bytes());
            return Answer::Body;
        }
        Event::Begin(_) => return Answer::Body,
        _ => return Answer::Null,
    };
    append_to_front(state, bytes);
    answer
}

/// The reader of a stream has something to read.
fn wake_reader(state: &mut LinkState) -> Option<Waker> {
    let slot = state.slots.front().map(|index| state.slots.get_mut(index))?;
    if slot.sink == Sink::Stream { slot.waker.take() } else { None }
}
