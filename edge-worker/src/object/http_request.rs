//! Requests of the REST dialect: each has a connection and a session of its own until it is answered.

use edgecask_core::driver::check_login;
use edgecask_core::rest::{self, Exchange, Headers, Response};

use super::Object;
use crate::host::Host;
use crate::limits::{BODY_MAX_BYTES, REST_REPLY_MAX_BYTES};
use crate::outbox::{Kind, Outbox};

/// The header fields that the core reads, in the order in which JavaScript passes them.
const FIELDS: [&str; 4] = ["authorization", "upstash-encoding", "upstash-response-format", "if-none-match"];

/// The request of a connection.
pub(super) struct HttpRequest {
    exchange: Exchange,
    is_answered: bool,
}

impl HttpRequest {
    /// Takes replies of the session; true if the session is needed no longer.
    pub(super) fn take_replies(&mut self, number: u32, replies: &[u8], outbox: &mut Outbox) -> bool {
        if self.is_answered {
            return match self.exchange.events(replies) {
                Ok(events) => {
                    if !events.is_empty() {
                        outbox.put(Kind::Events, number, &[&events]);
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
                outbox.respond(number, &response, is_stream);
                !is_stream
            }
            Err(_) => true,
        }
    }

    /// Ends the request at whatever stage it is.
    pub(super) fn close(self, number: u32, outbox: &mut Outbox) {
        if !self.is_answered {
            outbox.respond(number, &self.exchange.closed(), false);
        } else if self.exchange.is_stream() {
            outbox.put(Kind::End, number, &[]);
        }
    }
}

/// The header fields of a request; None where a field is missing.
struct Fields<'f>([Option<&'f [u8]>; FIELDS.len()]);

impl Headers for Fields<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        let at = FIELDS.iter().position(|field| *field == name)?;
        self.0.get(at).copied().flatten()
    }
}

/// A request without its body. It comes as lines: method, path, query and the four fields. The last five begin with `=`, or
/// are empty where they are missing.
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
            fields: Fields([given(3), given(4), given(5), given(6)]),
        }
    }

    fn with<'r>(&'r self, body: &'r [u8]) -> rest::Request<'r> {
        let Head { method, path, query, ref fields } = *self;
        rest::Request { method, path, query, headers: fields, body }
    }
}

impl<H: Host> Object<H> {
    /// Answers a request of the REST dialect before its body is received, if its credentials are missing or wrong.
    pub fn check_login(&mut self, number: u32, head: &[u8], address: &str, seed: u64, now_ms: u64) {
        let connect = || self.new_session(address, seed, now_ms);
        if let Err(refused) = check_login(&self.server, &Head::read(head).with(&[]), connect, now_ms) {
            self.outbox.respond(number, &refused, false);
        }
    }

    /// Answers a request of the REST dialect.
    pub fn request(&mut self, number: u32, head: &[u8], body: &[u8], address: &str, seed: u64, now_ms: u64) {
        if body.len() > BODY_MAX_BYTES {
            return self.outbox.respond(number, &Response::body_too_large(), false);
        }
        match rest::begin(&Head::read(head).with(body), &self.server.shared.acl) {
            Err(refused) => self.outbox.respond(number, &refused, false),
            Ok(exchange) => {
                let mut exchange = exchange.bounded(REST_REPLY_MAX_BYTES);
                let mut session = self.new_session(address, seed, now_ms);
                *session.input() = exchange.input();
                let request = HttpRequest { exchange, is_answered: false };
                self.add(number, session, Some(request), Vec::new(), now_ms);
                self.run(number, now_ms);
            }
        }
    }
}
