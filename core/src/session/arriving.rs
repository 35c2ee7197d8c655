//! A huge value on its way: its bytes leave the input as they come and go to a blob that no key refers to yet.
//!
//! So a connection needs no more memory for a value of gigabytes than for a small one. When the request is whole its
//! handler finds the value as a [`Draft`] in place of the argument, which stands empty. If the peer goes away, or the
//! command refuses, the draft is dropped and the blob with it; the key keeps what it had.
//!
//! A long argument of a command that the connection's user may not run goes nowhere: it is dropped as it comes, and the request
//! is refused once it is whole.

use std::task::Waker;

use crate::catalog::{self, CommandSpec};
use crate::engine::Drafts;
use crate::engine::{Draft, Engine, EngineError};
use crate::limits::DENIED_ARGUMENT_MAX_BYTES;
use crate::resp::{Arriving, ProtocolError, RequestParser};

use crate::server::{Client, Server};

/// Bytes of an argument's line end.
const LINE_END_BYTES: usize = 2;

/// An argument that goes to a blob.
pub(super) struct Stream {
    number: usize,
    /// Bytes of the argument that have not come, its line end included.
    missing: usize,
    /// An error (a full disk, say) waits for the end of the request; what still comes is dropped.
    draft: Result<Draft, EngineError>,
    /// The blob takes no more at the moment.
    is_held_up: bool,
}

impl Stream {
    /// What is to be done with the argument on which the parser waits: None if it stays in the input.
    pub(super) fn begin<E: Engine>(
        server: &Server<E>,
        client: &Client,
        parser: &RequestParser,
        input: &[u8],
    ) -> Result<Option<Stream>, ProtocolError> {
        let Some(Arriving { number, size, .. }) = parser.arriving() else { return Ok(None) };
        let spec = parser.argument(input, 0).and_then(catalog::lookup);
        let of_container = |spec: &'static CommandSpec| {
            // Behind the word of the subcommand.
            let word = parser.argument(input, 1).filter(|_| number > 1 && spec.is_container());
            word.and_then(|word| catalog::lookup_sub(spec, word)).unwrap_or(spec)
        };
        if size > DENIED_ARGUMENT_MAX_BYTES
            && spec.is_some_and(|spec| !may_run(server, client, of_container(spec)))
        {
            let missing = size.saturating_add(LINE_END_BYTES);
            // The check of the whole request says so, too, unless the user has got the permission meanwhile.
            let dropped = EngineError::Refused("NOPERM the user may not run this command".into());
            return Ok(Some(Stream { number, missing, draft: Err(dropped), is_held_up: false }));
        }
        if (size as u64) < server.shared.settings.blob_min_bytes() {
            return Ok(None);
        }
        if spec.is_some_and(|spec| spec.streams(number)) {
            let missing = size.saturating_add(LINE_END_BYTES);
            return Ok(Some(Stream { number, missing, draft: server.engine.draft(), is_held_up: false }));
        }
        // What stays in memory is bounded whatever `proto-max-bulk-len` says.
        if size as u64 > server.shared.settings.bounds().argument_max_bytes {
            Err(ProtocolError::InvalidBulkLength)
        } else {
            Ok(None)
        }
    }

    /// Takes what has come of the argument out of the input, at whose offset `position` it stands. Nothing is taken where the blob
    /// takes no more at the moment; then the waker is woken when it does.
    pub(super) fn feed(&mut self, input: &mut Vec<u8>, position: usize, waker: &dyn Fn() -> Waker) {
        self.is_held_up = self.draft.as_ref().is_ok_and(|draft| !draft.takes_more(&waker()));
        if self.is_held_up {
            return;
        }
        let count = self.missing.min(input.len().saturating_sub(position));
        let value_len = count.min(self.missing.saturating_sub(LINE_END_BYTES));
        let written = match (&mut self.draft, input.get(position..position + value_len)) {
            (Ok(draft), Some(bytes)) if !bytes.is_empty() => draft.append(bytes),
            _ => Ok(()),
        };
        if let Err(error) = written {
            self.draft = Err(error);
        }
        self.missing -= count;
        // Nearly always nothing stands behind.
        input.drain(position..position + count);
    }

    /// Bytes that must come before anything can run.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Whether bytes that have come cannot be taken at the moment.
    pub(super) fn is_held_up(&self) -> bool {
        self.is_held_up
    }

    /// Hands the argument over to the request.
    pub(super) fn finish(self, drafts: &mut Drafts) {
        drafts.push(self.number, self.draft);
    }
}

/// Whether a request that begins with this name may be allowed to the connection's user.
fn may_run<E>(server: &Server<E>, client: &Client, spec: &CommandSpec) -> bool {
    let acl = &server.shared.acl;
    if client.access.is_fresh(acl) {
        return client.access.user().may_run(spec);
    }
    acl.user(client.access.user().name()).is_some_and(|user| user.may_run(spec))
}
