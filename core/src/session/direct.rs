//! GET and SET without options, past the transaction: the two commands that stores are measured by.
//!
//! An engine may know a shorter way to one string ([`Engine::get_string`], [`Engine::set_string`]); whatever it leaves
//! to the transaction, and every engine that knows none, is served as all commands are. Both ways reply the same.

use std::sync::atomic::Ordering;

use super::State;
use super::dispatch::fits;
use crate::catalog::{self, CommandId};
use crate::command::CommandError;
use crate::engine::{Engine, Piece, Sought, access_clock};
use crate::server::Server;
use crate::server::hub::Interest;

const GET: CommandId = catalog::id("get");
const SET: CommandId = catalog::id("set");

impl State {
    /// Runs the request if there is a shorter way; false if the transaction must.
    #[inline]
    pub(super) fn run_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        command: CommandId,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let interest = &server.shared.hub.interest;
        match args {
            // Misses may be events, and reads of a client with a cache are remembered.
            [_, key]
                if command == GET && self.client.tracking.is_none() && !interest.has(Interest::NOTIFY) =>
            {
                self.get_directly(server, key, now_ms)
            }
            [_, key, value]
                if command == SET && self.is_plain(server, value) && !interest.has(Interest::OF_WRITES) =>
            {
                self.set_directly(server, key, value, now_ms)
            }
            _ => Ok(false),
        }
    }

    /// Whether a value came with the request and belongs into the log.
    fn is_plain<E>(&self, server: &Server<E>, value: &[u8]) -> bool {
        self.drafts.is_empty() && (value.len() as u64) < server.shared.settings.blob_min_bytes()
    }

    fn get_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        key: &[u8],
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let reply = &mut self.reply;
        let accessed_s = (!self.client.no_touch).then(|| access_clock(now_ms));
        let show = &mut |piece: Piece<'_>| match piece {
            Piece::Bytes(value) => reply.bulk(value),
            Piece::Stored { source, offset, len } => {
                reply.bulk_start(len);
                reply.stored(source, offset, len);
                reply.bulk_end();
            }
        };
        match server.engine.get_string(self.client.db, key, now_ms, accessed_s, show)? {
            Sought::Found => {
                fits(&self.reply)?;
                self.hits += 1;
            }
            Sought::Missing => {
                self.misses += 1;
                self.reply.null();
            }
            Sought::Unclear => return Ok(false),
        }
        Ok(true)
    }

    fn set_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        key: &[u8],
        value: &[u8],
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let mut scratch = self.overlay.take_scratch();
        let outcome = server.engine.set_string(self.client.db, key, value, now_ms, &mut scratch);
        self.overlay.put_scratch(scratch);
        let Some(stored) = outcome? else { return Ok(false) };
        if stored.has_expired {
            server.shared.counters.expired_keys.fetch_add(1, Ordering::Relaxed);
        }
        self.wrote = self.wrote.max(stored.receipt);
        self.changes += 1;
        let hub = &server.shared.hub;
        if hub.interest.has(Interest::TRACKING) {
            // Somebody has begun to keep a cache meanwhile and may have read what was before.
            hub.tracking.invalidate(&[key], Some(self.client.id));
        }
        self.reply.ok();
        Ok(true)
    }
}
