//! Requests of the REST dialect: each has a seat of its own until it is answered.

use edgecask_core::rest::{self, Exchange, Headers, Response};

use super::Object;
use crate::host::Host;
use crate::limits::{BODY_MAX_BYTES, REST_REPLY_MAX_BYTES};
use crate::outbox::{Kind, Outbox};

/// The header fields that mean something here, in the order in which they are handed over.
const FIELDS: [&str; 3] = ["authorization", "upstash-encoding", "upstash-response-format"];

/// What a seat does for a request.
pub(super) struct HttpRequest {
    exchange: Exchange,
    is_answered: bool,
}

impl HttpRequest {
    /// Takes replies of the session; true if it is not needed any more.
    pub(super) fn deliver(&mut self, seat: u32, replies: &[u8], outbox: &mut Outbox) -> bool {
        if self.is_answered {
            return match self.exchange.events(replies) {
                Ok(events) => {
                    if !events.is_empty() {
                        outbox.put(Kind::Events, seat, &[&events]);
                    }
                    false
                }
                Err(_) => true,
            };
        }
        match self.exchange.take(replies) {
            Ok(None) => false,
            Ok(Some(response)) => {
                let is_stream = self.exchange.is_stream() && response.status == 200;
                self.is_answered = true;
                outbox.respond(seat, &response, is_stream);
                !is_stream
            }
            Err(_) => true,
        }
    }

    /// Ends the request however far it came.
    pub(super) fn end(self, seat: u32, outbox: &mut Outbox) {
        if !self.is_answered {
            outbox.respond(seat, &self.exchange.closed(), false);
        } else if self.exchange.is_stream() {
            outbox.put(Kind::End, seat, &[]);
        }
    }
}

/// The fields of a request; those that are not there are None.
struct Fields<'f>([Option<&'f [u8]>; FIELDS.len()]);

impl Headers for Fields<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        let at = FIELDS.iter().position(|field| *field == name)?;
        self.0.get(at).copied().flatten()
    }
}

/// A request without its body. `head` has lines: method, path, query and the three fields, of which the last four begin with
/// `=` or are empty if they are not there.
struct Head<'h> {
    method: &'h str,
    path: &'h str,
    query: Option<&'h str>,
    fields: Fields<'h>,
}

impl<'h> Head<'h> {
    fn read(head: &'h [u8]) -> Head<'h> {
        let lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
        let line = |at: usize| lines.get(at).copied().unwrap_or_default();
        let given = |at: usize| line(at).strip_prefix(b"=");
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        Head {
            method: text(line(0)),
            path: text(line(1)),
            query: given(2).map(text),
            fields: Fields([given(3), given(4), given(5)]),
        }
    }

    fn with<'r>(&'r self, body: &'r [u8]) -> rest::Request<'r> {
        let Head { method, path, query, ref fields } = *self;
        rest::Request { method, path, query, headers: fields, body }
    }
}

impl<H: Host> Object<H> {
    /// Answers a request of the REST dialect if whoever sent its head may send no body.
    pub fn admit(&mut self, seat: u32, head: &[u8], address: &str, seed: u64, now_ms: u64) {
        let refused =
            match rest::log_in(&Head::read(head).with(&[]), self.server.shared.settings.has_password()) {
                Ok(None) => None,
                Ok(Some(mut exchange)) => {
                    let mut session = self.greet(address, seed, now_ms);
                    *session.input() = exchange.input();
                    session.process(&self.server, now_ms);
                    let replies = session.reply().take().unwrap_or_default();
                    session.close(&self.server);
                    let response = exchange.take(&replies).ok().flatten();
                    Some(response.unwrap_or_else(|| exchange.closed()))
                        .filter(|response| response.status != 200)
                }
                Err(refused) => Some(refused),
            };
        if let Some(refused) = refused {
            self.outbox.respond(seat, &refused, false);
        }
    }

    /// Answers a request of the REST dialect.
    pub fn request(&mut self, seat: u32, head: &[u8], body: &[u8], address: &str, seed: u64, now_ms: u64) {
        if body.len() > BODY_MAX_BYTES {
            return self.outbox.respond(seat, &Response::body_too_large(), false);
        }
        match rest::begin(&Head::read(head).with(body), self.server.shared.settings.has_password()) {
            Err(refused) => self.outbox.respond(seat, &refused, false),
            Ok(exchange) => {
                let mut exchange = exchange.bounded(REST_REPLY_MAX_BYTES);
                let mut session = self.greet(address, seed, now_ms);
                *session.input() = exchange.input();
                let request = HttpRequest { exchange, is_answered: false };
                self.sit_down(seat, session, Some(request), Vec::new(), now_ms);
                self.run(seat, now_ms);
            }
        }
    }
}
