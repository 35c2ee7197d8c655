//! The bytes of one connection on their way to requests: what has been received and not run.

use std::task::Waker;

use smallvec::SmallVec;

use super::arriving::Stream;
use crate::engine::{Db, Drafts, Engine};
use crate::limits::{INPUT_KEPT_BYTES, PIPELINE_AHEAD, PIPELINE_AHEAD_MIN};
use crate::resp::{Args, Parsed, ProtocolError, RequestLimits, RequestParser, second_argument};
use crate::server::{Client, Server};

/// Input longer than this many bytes is taken for a pipeline where only a guess is made.
const ONE_REQUEST_BYTES: usize = 256;

/// Received bytes, and how far they are parsed.
#[derive(Default)]
pub(super) struct Pipeline {
    input: Vec<u8>,
    parser: RequestParser,
    /// The huge argument that the input is in the middle of, if it is.
    stream: Option<Box<Stream>>,
    /// Bytes at the beginning of the input whose requests have run.
    consumed: usize,
}

/// A request with where it ends in the input.
pub(super) type Ahead<'i> = SmallVec<[(Args<'i>, usize); PIPELINE_AHEAD]>;

impl Pipeline {
    /// Where received bytes are appended.
    pub(super) fn input(&mut self) -> &mut Vec<u8> {
        &mut self.input
    }

    /// What has been received and not run. Only meaningful between two calls of the session.
    pub(super) fn waiting_input(&self) -> &[u8] {
        &self.input
    }

    /// The key that the only request in the input is most likely about; None for a pipeline.
    pub(super) fn only_key(&self) -> Option<&[u8]> {
        if self.input.len() > ONE_REQUEST_BYTES { None } else { second_argument(&self.input) }
    }

    /// Whether a huge argument is on its way.
    pub(super) fn is_streaming(&self) -> bool {
        self.stream.is_some()
    }

    /// Parses plain requests at the beginning of what has not run, a few ahead, into `ahead`; the engine hears of their keys
    /// together. A connection that must log in first has other limits behind that, so only one is parsed then.
    #[inline(always)]
    pub(super) fn ahead<'i, E: Engine>(
        &'i mut self,
        limits: &RequestLimits,
        server: &Server<E>,
        db: Db,
        ahead: &mut Ahead<'i>,
    ) {
        let most = if limits.authenticated { PIPELINE_AHEAD } else { 1 };
        let input = self.input.get(self.consumed..).unwrap_or_default();
        let mut end = 0;
        while ahead.len() < most {
            // Parsed in place: arguments are large to move.
            ahead.push((Args::new(), 0));
            let Some((args, its_end)) = ahead.last_mut() else { break };
            let Some(used) = self.parser.parse_plain(&input[end..], limits, args) else {
                ahead.pop();
                break;
            };
            end += used;
            *its_end = end;
        }
        if ahead.len() >= PIPELINE_AHEAD_MIN {
            let mut keys: SmallVec<[&[u8]; PIPELINE_AHEAD]> = SmallVec::new();
            for key in ahead.iter().filter_map(|(args, _)| likely_key(args)) {
                if keys.last() != Some(&key) {
                    keys.push(key);
                }
            }
            if keys.len() >= PIPELINE_AHEAD_MIN {
                server.engine.prefetch(db, &keys);
            }
        }
    }

    /// Parses the next request of any form into `args`.
    pub(super) fn next<'i>(
        &'i mut self,
        limits: &RequestLimits,
        args: &mut Args<'i>,
    ) -> Result<Parsed, ProtocolError> {
        let input = self.input.get(self.consumed..).unwrap_or_default();
        self.parser.parse(input, limits, args)
    }

    /// Says that so many bytes of what was parsed have run; of more that was parsed the parser forgets where it stood.
    pub(super) fn consume(&mut self, count: usize, parsed: usize) {
        self.consumed += count;
        if count < parsed || count > 0 && self.parser.has_passed() {
            self.parser.rewind();
        }
    }

    /// Forgets that anything was parsed beyond what has run. A request whose huge arguments have left the input stays parsed.
    pub(super) fn rewind(&mut self) {
        if !self.parser.has_passed() {
            self.parser.rewind();
        }
    }

    /// Drops what has run.
    pub(super) fn forget_consumed(&mut self) {
        let consumed = std::mem::take(&mut self.consumed);
        if consumed == self.input.len() {
            self.input.clear();
        } else if consumed > 0 {
            self.input.drain(..consumed);
        }
        if self.input.capacity() > INPUT_KEPT_BYTES && self.input.len() < INPUT_KEPT_BYTES / 2 {
            self.input.shrink_to(INPUT_KEPT_BYTES / 2);
        }
    }

    /// Sends the argument that is on its way to a blob, if it may; returns whether it does.
    ///
    /// # Errors
    /// An argument that is too long for memory and may not go to a blob.
    pub(super) fn begin_stream<E: Engine>(
        &mut self,
        server: &Server<E>,
        client: &Client,
    ) -> Result<bool, ProtocolError> {
        self.stream = Stream::begin(server, client, &self.parser, &self.input)?.map(Box::new);
        Ok(self.stream.is_some())
    }

    /// Whether a huge argument has come faster than its blob takes it, so that the host should receive no more for now.
    pub(super) fn is_held_up(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.is_held_up())
    }

    /// Lets the stream, if there is one, take what has come for it; returns how many bytes it still misses. The waker is woken
    /// when it goes on, if it takes nothing at the moment.
    pub(super) fn feed_stream(&mut self, drafts: &mut Drafts, waker: &dyn Fn() -> Waker) -> usize {
        let (Some(stream), Some(arriving)) = (&mut self.stream, self.parser.arriving()) else { return 0 };
        stream.feed(&mut self.input, arriving.position, waker);
        let missing = stream.missing();
        if missing == 0
            && let Some(stream) = self.stream.take()
        {
            self.parser.pass_over();
            stream.finish(drafts);
        }
        missing
    }
}

/// The key that a request most likely names first. Nearly every command has its keys behind its name; those that call scripts and
/// functions have them behind the script and their number. It is a guess, on which nothing but speed may depend.
#[inline]
pub(super) fn likely_key<'a>(args: &Args<'a>) -> Option<&'a [u8]> {
    let place = match args.first()? {
        [b'E' | b'e', b'V' | b'v', ..] | [b'F' | b'f', b'C' | b'c', ..] => 3,
        _ => 1,
    };
    args.get(place).copied()
}
