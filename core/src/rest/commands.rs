//! The commands of a request, written as RESP while they are read.

use std::ops::Range;

use crate::resp::{write_argument, write_argument_count};

/// Paths that answer with a stream of events.
pub(super) const STREAMS: [&str; 4] = ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR"];
const TRANSACTION: [&str; 5] = ["MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"];
const CONNECTION: [&str; 7] =
    ["AUTH", "HELLO", "RESET", "QUIT", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"];

/// The arguments of one command.
#[derive(Default)]
pub(super) struct Arguments {
    /// All of them as RESP.
    written: Vec<u8>,
    count: usize,
    /// Where the first two stand in `written`.
    leading: [Range<usize>; 2],
}

impl Arguments {
    pub(super) fn push(&mut self, argument: &[u8]) {
        write_argument(argument, &mut self.written);
        if let Some(place) = self.leading.get_mut(self.count) {
            let end = self.written.len() - b"\r\n".len();
            *place = end - argument.len()..end;
        }
        self.count += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends the whole command to `out`; the next one can begin.
    pub(super) fn move_to(&mut self, out: &mut Vec<u8>) {
        write_argument_count(self.count, out);
        out.append(&mut self.written);
        *self = Arguments { written: std::mem::take(&mut self.written), ..Arguments::default() };
    }

    /// Why this command cannot be a request of its own, if so. Refused are all whose replies are none or several, or that
    /// would have the session take the next commands for something else.
    pub(super) fn refusal(&self) -> Option<String> {
        let among = |names: &[&'static str]| names.iter().copied().find(|name| self.is(0, name));
        if let Some(name) = among(&STREAMS) {
            let path = name.to_ascii_lowercase();
            return Some(format!("ERR {name} answers with a stream of events: ask for the path /{path}"));
        }
        if let Some(name) = among(&TRANSACTION) {
            return Some(format!("ERR {name} needs a connection that lasts: ask for the path /multi-exec"));
        }
        let is_client_reply = self.is(0, "CLIENT") && self.is(1, "REPLY");
        let name = if is_client_reply { "CLIENT REPLY" } else { among(&CONNECTION)? };
        Some(format!("ERR {name} concerns a connection, and every request has one of its own"))
    }

    /// Whether one of the first two arguments is this word.
    fn is(&self, number: usize, word: &str) -> bool {
        let place = self.leading.get(number).filter(|_| number < self.count);
        let argument = place.and_then(|place| self.written.get(place.clone()));
        argument.is_some_and(|argument| argument.eq_ignore_ascii_case(word.as_bytes()))
    }
}

/// What is asked of the session, and what is answered without it.
#[derive(Default)]
pub(super) struct Commands {
    /// The commands for the session as RESP.
    pub(super) input: Vec<u8>,
    /// One for each command of the request: why it is refused, or nothing if the session answers it.
    pub(super) refusals: Vec<Option<String>>,
}

impl Commands {
    pub(super) fn push(&mut self, arguments: &mut Arguments, refusal: Option<String>) {
        if refusal.is_some() {
            *arguments = Arguments::default();
        } else {
            arguments.move_to(&mut self.input);
        }
        self.refusals.push(refusal);
    }
}
