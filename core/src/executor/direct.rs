//! GET and SET without options, past the transaction: the two commands that stores are measured by.
//!
//! An engine may know a shorter way to one string ([`Engine::get_string`], [`Engine::set_string`]); whatever it leaves
//! to the transaction, and every engine that knows none, is served as all commands are. Both ways reply the same. The
//! shorter way to write is a commit that concerns nobody: it is not taken while anybody is interested in writes.

use std::sync::atomic::Ordering;

use super::{Caller, Executor, fits};
use crate::catalog::{self, CommandId};
use crate::command::CommandError;
use crate::command::admission::Admitted;
use crate::engine::{Drafts, Engine, Piece, Sought, Touch};
use crate::server::hub::Interest;
use crate::server::{Client, Server, stored};

const GET: CommandId = catalog::id("get");
const SET: CommandId = catalog::id("set");

impl Executor {
    /// Runs the request if there is a shorter way; false if the transaction must.
    ///
    /// # Errors
    /// The error that is the reply; nothing has happened.
    #[inline]
    pub fn run_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        request: &Admitted<'_>,
        drafts: &Drafts,
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let (command, interest) = (request.spec().id, &server.shared.hub.interest);
        match request.args() {
            // Misses may be events, and reads of a client with a cache are remembered.
            [_, key]
                if command == GET && caller.client.tracking.is_none() && !interest.has(Interest::NOTIFY) =>
            {
                self.get_directly(server, caller, key, now_ms)
            }
            [_, key, value]
                if command == SET
                    && is_plain(server, drafts, value)
                    && !caller.client.no_touch
                    && !self.concerns_others(&server.shared, key) =>
            {
                self.set_directly(server, caller, key, value, now_ms)
            }
            _ => Ok(false),
        }
    }

    #[inline]
    fn get_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        key: &[u8],
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let reply = &mut *caller.reply;
        let touch = (!caller.client.no_touch).then(|| touch(server, caller.client, now_ms));
        let show = &mut |piece: Piece<'_>| match piece {
            Piece::Bytes(value) => reply.bulk(value),
            Piece::Stored { source, offset, len } => {
                reply.bulk_start(len);
                reply.stored(stored(source), offset, len);
                reply.bulk_end();
            }
        };
        match server.engine.get_string(caller.client.db, key, now_ms, touch, show)? {
            Sought::Found => {
                fits(caller.reply)?;
                self.hits += 1;
            }
            Sought::Missing => {
                self.misses += 1;
                caller.reply.null();
            }
            Sought::Unclear => return Ok(false),
        }
        Ok(true)
    }

    #[inline]
    fn set_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        key: &[u8],
        value: &[u8],
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let touch = touch(server, caller.client, now_ms);
        let mut scratch = self.overlay.take_scratch();
        let outcome = server.engine.set_string(caller.client.db, key, value, now_ms, touch, &mut scratch);
        self.overlay.put_scratch(scratch);
        let Some(stored) = outcome? else { return Ok(false) };
        if stored.has_expired {
            server.shared.counters.expired_keys.fetch_add(1, Ordering::Relaxed);
        }
        self.direct_changes += 1;
        self.note_commit(stored.receipt);
        let hub = &server.shared.hub;
        if hub.interest.has(Interest::TRACKING) {
            // Somebody has begun to keep a cache meanwhile and may have read what was before.
            hub.tracking.invalidate(&[key], Some(caller.client.id), &[]);
        }
        caller.reply.ok();
        Ok(true)
    }
}

/// Whether a value came with the request and belongs into the log.
fn is_plain<E>(server: &Server<E>, drafts: &Drafts, value: &[u8]) -> bool {
    drafts.is_empty() && (value.len() as u64) < server.shared.settings.blob_min_bytes()
}

/// How this use of a key is noted.
#[inline]
fn touch<E>(server: &Server<E>, client: &mut Client, now_ms: u64) -> Touch {
    server.shared.settings.memory().touch(now_ms, || client.random.u32(..))
}
