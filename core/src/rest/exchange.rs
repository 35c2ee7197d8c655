//! What follows a request: RESP for its session, and the session's replies until they make a response.

use std::iter::Peekable;
use std::vec;

use super::Response;
use super::commands::Commands;
use super::credentials::unauthorized;
use super::events::write_event;
use super::hrana;
use super::json::{self, Strings, write_error, write_item};
use super::search;
use crate::limits::REST_REPLY_MAX_BYTES;
use crate::resp::{DecodeError, Decoder, Value};

/// No byte of a reply is more than so many bytes of [`json::length`].
const JSON_GROWTH_MAX: u64 = 6;

/// What a session answered cannot be read: it is no RESP, or an event is above the limit. Only the latter is anything that
/// clients can bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session's reply cannot be read: {0}")]
pub struct Error(DecodeError);

/// What kind of request this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Single,
    Pipeline,
    Transaction,
    Stream,
    /// The reply is the body.
    Hrana,
    /// The reply is status, type and body.
    Search(search::Asked),
}

/// How replies are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Json(Strings),
    Resp2,
}

/// One request that was understood.
#[derive(Debug)]
pub struct Exchange {
    input: Vec<u8>,
    kind: Kind,
    style: Style,
    /// The session's next reply is that to AUTH.
    logs_in: bool,
    /// One for each command without an answer: why it is refused, or nothing if the session answers it. A transaction has
    /// one more for EXEC.
    pending: Peekable<vec::IntoIter<Option<String>>>,
    decoder: Decoder,
    /// Bytes of replies that are not decoded yet.
    undecoded: Vec<u8>,
    received_bytes: u64,
    reply_max_bytes: u64,
    /// The first error with which a command of a transaction was not queued.
    discarded_by: Option<Vec<u8>>,
    body: Vec<u8>,
    is_answered: bool,
}

impl Exchange {
    pub(super) fn new(auth: Option<Vec<u8>>, kind: Kind, style: Style, commands: Commands) -> Exchange {
        let Commands { input: asked, refusals: mut pending } = commands;
        let logs_in = auth.is_some();
        let input = match auth {
            Some(mut input) => {
                input.extend_from_slice(&asked);
                input
            }
            None => asked,
        };
        if kind == Kind::Transaction {
            // MULTI is confirmed before the first command is.
            pending.extend([None, None]);
        }
        Exchange {
            input,
            kind,
            style,
            logs_in,
            pending: pending.into_iter().peekable(),
            decoder: Decoder::with_bulk_max_bytes(REST_REPLY_MAX_BYTES),
            undecoded: Vec::new(),
            received_bytes: 0,
            reply_max_bytes: REST_REPLY_MAX_BYTES,
            discarded_by: None,
            body: Vec::new(),
            is_answered: false,
        }
    }

    /// The same with a smaller bound of what is answered, in bytes, than `REST_REPLY_MAX_BYTES`. As JSON it may have half as
    /// much again.
    pub fn bounded(self, reply_max_bytes: u64) -> Exchange {
        Exchange { reply_max_bytes, decoder: Decoder::with_bulk_max_bytes(reply_max_bytes), ..self }
    }

    /// The bytes for a fresh session, once.
    pub fn input(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.input)
    }

    /// Whether the response, if its status is 200, has no end: [`Exchange::events`] gives what follows its body.
    pub fn is_stream(&self) -> bool {
        self.kind == Kind::Stream
    }

    /// Takes what the session answered, in any splitting and if only nothing, until that makes a response. Then the
    /// session is to be closed unless this is a stream, even if it has more to say.
    pub fn take(&mut self, replies: &[u8]) -> Result<Option<Response>, Error> {
        if self.is_answered {
            return Ok(None);
        }
        self.received_bytes = self.received_bytes.saturating_add(replies.len() as u64);
        let mut response = if self.received_bytes > self.reply_max_bytes {
            Some(too_large(self.reply_max_bytes))
        } else {
            self.undecoded.extend_from_slice(replies);
            match self.settle_refused() {
                None => self.decode(Exchange::reply)?,
                settled => settled,
            }
        };
        if let Some(response) = &mut response {
            self.is_answered = true;
            if self.is_stream() && response.status == 200 {
                response.body.append(&mut self.events(&[])?);
            }
        }
        Ok(response)
    }

    /// Takes what the session sent after a stream's response and returns the events in it.
    pub fn events(&mut self, replies: &[u8]) -> Result<Vec<u8>, Error> {
        self.undecoded.extend_from_slice(replies);
        let mut events = Vec::new();
        self.decode(|_, value, _| {
            write_event(&value, &mut events);
            None
        })?;
        Ok(events)
    }

    /// The response if the session ended before its replies were complete.
    pub fn closed(&self) -> Response {
        Response::error(500, b"ERR the connection was closed before the reply")
    }

    /// Hands every whole value with its bytes to `step` until that has a response; the bytes behind it stay.
    fn decode(
        &mut self,
        mut step: impl FnMut(&mut Exchange, Value, &[u8]) -> Option<Response>,
    ) -> Result<Option<Response>, Error> {
        let mut undecoded = std::mem::take(&mut self.undecoded);
        let mut rest = &undecoded[..];
        let mut response = None;
        while response.is_none() {
            match self.decoder.decode(rest) {
                Ok(Some((value, size))) => {
                    let (bytes, behind) = rest.split_at_checked(size).unwrap_or((rest, &[]));
                    response = step(self, value, bytes);
                    rest = behind;
                }
                Ok(None) => break,
                Err(DecodeError::BulkTooLong { .. }) if !self.is_answered => {
                    response = Some(too_large(self.reply_max_bytes))
                }
                Err(error) => return Err(Error(error)),
            }
        }
        undecoded.drain(..undecoded.len() - rest.len());
        self.undecoded = undecoded;
        Ok(response)
    }

    /// Takes one reply.
    fn reply(&mut self, value: Value, bytes: &[u8]) -> Option<Response> {
        if self.logs_in {
            self.logs_in = false;
            if value.as_error().is_none() {
                return self.settle_refused();
            }
            return Some(match self.kind {
                Kind::Search(_) => search::wrong_password(),
                _ => unauthorized(),
            });
        }
        self.pending.next();
        // Nearly every answer is too short to be too long, however it is written.
        let json_max_bytes = self.reply_max_bytes / 2 * 3;
        let may_be_long =
            self.body.len() as u64 + JSON_GROWTH_MAX.saturating_mul(self.received_bytes) > json_max_bytes;
        if let Style::Json(strings) = self.style
            && may_be_long
            && (self.body.len() + json::length(&value, strings)) as u64 > json_max_bytes
        {
            return Some(too_large(self.reply_max_bytes));
        }
        match &self.kind {
            Kind::Single => Some(self.single(&value, bytes)),
            Kind::Stream => Some(stream(&value)),
            Kind::Hrana => Some(hrana::respond(&value)),
            Kind::Search(asked) => Some(search::respond(&value, asked)),
            Kind::Pipeline => {
                match self.style {
                    Style::Json(strings) => write_item(&value, strings, self.item()),
                    Style::Resp2 => self.body.extend_from_slice(bytes),
                }
                self.settle_refused().or_else(|| self.batch())
            }
            Kind::Transaction => self.transaction(value),
        }
    }

    /// Answers the commands at the front that are refused.
    fn settle_refused(&mut self) -> Option<Response> {
        if self.logs_in {
            return None;
        }
        while let Some(Some(refusal)) = self.pending.next_if(Option::is_some) {
            match self.style {
                Style::Json(_) => write_error(refusal.as_bytes(), self.item()),
                Style::Resp2 => self.body.extend_from_slice(format!("-{refusal}\r\n").as_bytes()),
            }
        }
        self.batch()
    }

    /// The response of a pipeline that is complete.
    fn batch(&mut self) -> Option<Response> {
        if self.pending.peek().is_some() {
            return None;
        }
        Some(match self.style {
            Style::Json(_) => {
                if self.body.is_empty() {
                    self.body.push(b'[');
                }
                self.body.push(b']');
                Response::json(200, std::mem::take(&mut self.body))
            }
            Style::Resp2 => resp2(200, std::mem::take(&mut self.body)),
        })
    }

    /// The body with everything before the next item of an array.
    fn item(&mut self) -> &mut Vec<u8> {
        self.body.push(if self.body.is_empty() { b'[' } else { b',' });
        &mut self.body
    }

    fn single(&self, value: &Value, bytes: &[u8]) -> Response {
        let status = value.as_error().map_or(200, status_of);
        match self.style {
            Style::Resp2 => resp2(status, bytes.to_vec()),
            Style::Json(strings) => {
                let mut body = Vec::new();
                write_item(value, strings, &mut body);
                Response::json(status, body)
            }
        }
    }

    fn transaction(&mut self, value: Value) -> Option<Response> {
        if self.pending.peek().is_some() {
            let error = value.as_error().map(<[u8]>::to_vec);
            self.discarded_by = self.discarded_by.take().or(error);
            return None;
        }
        let Value::Array(results) = value else {
            let error = value.as_error().unwrap_or(b"EXECABORT Transaction discarded.");
            return Some(match &self.discarded_by {
                Some(cause) => {
                    let text = [b"EXECABORT Transaction discarded because of: ", &cause[..]].concat();
                    Response::error(status_of(cause), &text)
                }
                None => Response::error(status_of(error), error),
            });
        };
        let strings = match self.style {
            Style::Json(strings) => strings,
            Style::Resp2 => Strings::Text,
        };
        results.iter().for_each(|result| write_item(result, strings, self.item()));
        self.batch()
    }
}

fn stream(confirmation: &Value) -> Response {
    if let Some(error) = confirmation.as_error() {
        return Response::error(status_of(error), error);
    }
    let mut body = Vec::new();
    write_event(confirmation, &mut body);
    let mut response = Response::new(200, "text/event-stream", body);
    response.headers.push(("cache-control", "no-cache".to_owned()));
    response
}

fn resp2(status: u16, body: Vec<u8>) -> Response {
    Response::new(status, "application/octet-stream", body)
}

fn too_large(reply_max_bytes: u64) -> Response {
    let text = format!("ERR the reply is above {reply_max_bytes} bytes; RESP has room for more");
    Response::error(400, text.as_bytes())
}

/// A password may be set while a request is on its way.
fn status_of(error: &[u8]) -> u16 {
    if error.starts_with(b"NOAUTH") { 401 } else { 400 }
}
