//! The commands of a request, written as RESP while they are read.

use std::ops::Range;

use smallvec::SmallVec;

use crate::catalog::{self, Flags, Group};
use crate::resp::{write_argument, write_argument_count};

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
        let leading: SmallVec<[&[u8]; 2]> =
            (0..self.count).map_while(|number| self.leading(number)).collect();
        let spec = catalog::lookup_request(&leading)?;
        let name = spec.name.to_ascii_uppercase().replace('|', " ");
        if spec.is(Flags::EVENT_STREAM) {
            let path = spec.name;
            return Some(format!("ERR {name} answers with a stream of events: ask for the path /{path}"));
        }
        if spec.group == Group::Transactions {
            return Some(format!("ERR {name} needs a connection that lasts: ask for the path /multi-exec"));
        }
        let concerns_connection = spec.is(Flags::OWN_CONNECTION);
        concerns_connection
            .then(|| format!("ERR {name} concerns a connection, and every request has one of its own"))
    }

    /// One of the first two arguments.
    fn leading(&self, number: usize) -> Option<&[u8]> {
        self.leading.get(number).and_then(|place| self.written.get(place.clone()))
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
