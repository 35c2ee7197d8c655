//! Freezing: a session as bytes, so that a home may forget it between two messages and have it back when the next comes.
//!
//! ```text
//!  version u8 = 3 | the fields below in order
//!  number  u64 little-endian        bytes  length u32, then so many        list  count u32, then so many
//!  option  u8 0, or u8 1 and the value
//! ```
//!
//! It promises that a frozen and thawed session replies as if it had stayed: protocol, database, login and user, name, an open
//! MULTI, watches, subscriptions, MONITOR, a blocked command with its place in line, where its walks by HSCAN and its like stand,
//! and input that is not a whole request yet are all kept. A client with a cache gets an invalidation of all keys, since which keys it had read is not kept. What has output or
//! mail left, or a transaction or cursor of SQL open, cannot be frozen. All sessions are to be thawed before any of them runs again: only then do they miss nothing.
//!
//! Bytes that are no frozen session are an error, never a panic.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::transaction::{Multi, Queued, WatchedKey};
use super::{Peer, Session};
use crate::acl::Access;
use crate::catalog::{self, CommandSpec};
use crate::engine::Drafts;
use crate::engine::{Engine, Kind};
use crate::limits::SCAN_POSITIONS_KEPT_BYTES;
use crate::resp::{Protocol, Reply};
use crate::server::hub::{Mode, Nothing, Subscriptions, Topic, TopicKind, Tracking, Wait, Waiter};
use crate::server::{ReplyMode, Server};

const VERSION: u8 = 3;

/// The bytes are no frozen session of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a frozen session of this version")]
pub struct ThawError;

type Thawed<T> = Result<T, ThawError>;

const MODES: [Mode; 4] = [Mode::All, Mode::OptIn, Mode::OptOut, Mode::Broadcast];
const REPLY_MODES: [ReplyMode; 4] = [ReplyMode::On, ReplyMode::Off, ReplyMode::SkipNext, ReplyMode::SkipThis];

impl Session {
    /// The session as at most so many bytes; None if they do not hold it, while it has output or mail, in the middle of a
    /// huge value, or with a transaction or a cursor of SQL open.
    pub fn freeze<E: Engine>(&self, server: &Server<E>, max_bytes: usize) -> Option<Vec<u8>> {
        let (client, transaction) = (self.connection.client(), self.connection.transaction());
        let is_at_rest = self.connection.is_at_rest() && !self.pipeline.is_streaming() && !self.is_closing;
        let multi = transaction.multi();
        let has_drafts =
            multi.is_some_and(|multi| multi.queue().iter().any(|queued| !queued.drafts().is_empty()));
        let has_sql = client.sql.as_ref().is_some_and(|open| !open.is_empty());
        if !is_at_rest || has_drafts || has_sql {
            return None;
        }
        let mut out = Writer { bytes: vec![VERSION], max_bytes, is_full: false };
        out.number(client.id);
        out.number(u64::from(client.db));
        let card = client.card.lock();
        for truth in [
            client.authenticated,
            self.connection.reply().protocol() == Protocol::Resp3,
            client.no_touch,
            client.labels.no_evict,
            client.is_monitor,
            transaction.watch().is_tripped(),
        ] {
            out.truth(truth);
        }
        out.bytes(client.access.user().name());
        out.place(&REPLY_MODES, client.reply_mode);
        out.number(client.random.get_seed());
        out.number(card.connected_at_ms);
        // Idle times are shown in seconds, and what does not change need not be kept again.
        out.number(card.active_at_ms / 1000 * 1000);
        for text in [card.address.as_bytes(), card.local_address.as_bytes()] {
            out.bytes(text);
        }
        for text in [&client.labels.name, &client.labels.library_name, &client.labels.library_version] {
            out.bytes(text);
        }
        out.bytes(client.last_command.as_bytes());
        drop(card);
        out.bytes(self.pipeline.waiting_input());
        out.option(multi, |out, multi| {
            out.truth(multi.is_refused());
            out.list(multi.queue().iter(), |out, queued| out.request(queued.spec(), queued.args()));
        });
        out.list(transaction.watched().iter(), |out, watched| {
            out.number(u64::from(watched.db));
            out.bytes(&watched.key);
            out.option(watched.expires_at_ms, Writer::number);
        });
        out.option(client.subscriptions.as_deref(), |out, subscriptions| {
            for names in [&subscriptions.channels, &subscriptions.patterns, &subscriptions.shards] {
                out.list(names.iter(), |out, name| out.bytes(name));
            }
        });
        out.option(client.tracking.as_deref(), |out, tracking| {
            out.place(&MODES, tracking.mode);
            out.truth(tracking.no_loop);
            out.option(tracking.redirect, Writer::number);
            out.list(tracking.prefixes.iter(), |out, prefix| out.bytes(prefix));
            out.option(tracking.caching, Writer::truth);
        });
        let arrival = server.shared.hub.waiting.arrival(client.id).unwrap_or_default();
        out.option(self.connection.waiting().waiter(), |out, waiter| {
            out.number(arrival);
            out.request(waiter.spec, waiter.request.iter().map(Vec::as_slice));
            let wait = &waiter.wait;
            out.list(wait.keys.iter(), |out, key| out.bytes(key));
            out.put(&[wait.kind as u8]);
            out.truth(wait.takes);
            out.truth(wait.ends_without_key);
            out.truth(wait.nothing == Nothing::Array);
            out.option(wait.until_ms, Writer::number);
        });
        let positions = server.shared.scan_positions.lock();
        out.bytes(&positions.freeze(client.walks.iter().copied(), SCAN_POSITIONS_KEPT_BYTES));
        (!out.is_full).then_some(out.bytes)
    }

    /// The session that was frozen as these bytes, with its place among others again.
    pub fn thaw<E: Engine>(server: &Server<E>, frozen: &[u8], now_ms: u64) -> Result<Session, ThawError> {
        let mut from = Reader(frozen);
        if from.byte()? != VERSION {
            return Err(ThawError);
        }
        let id = from.number()?;
        if server.shared.clients.lock().contains_key(&id) {
            return Err(ThawError);
        }
        server.shared.client_was(id);
        let mut session = Session::numbered(id, &server.shared, Peer::default(), 0, now_ms);
        let outcome = session.thaw_fields(server, &mut from);
        if outcome.is_err() || !from.0.is_empty() {
            session.close(server);
            return Err(ThawError);
        }
        session.count_memory();
        Ok(session)
    }

    fn thaw_fields<E: Engine>(&mut self, server: &Server<E>, from: &mut Reader<'_>) -> Result<(), ThawError> {
        let shared = &server.shared;
        let client = self.connection.client_mut();
        client.db = from.small()?;
        if client.db >= shared.settings.databases() {
            return Err(ThawError);
        }
        client.authenticated = from.truth()?;
        let is_resp3 = from.truth()?;
        let protocol = if is_resp3 { Protocol::Resp3 } else { Protocol::Resp2 };
        client.inbox.set_protocol(protocol);
        client.no_touch = from.truth()?;
        client.labels_mut().no_evict = from.truth()?;
        client.is_monitor = from.truth()?;
        let is_tripped = from.truth()?;
        let user = shared.acl.user(from.bytes()?).ok_or(ThawError)?;
        client.access = Access::of(user, &shared.acl);
        client.show_user(&mut client.card.lock());
        client.reply_mode = from.place(&REPLY_MODES)?;
        client.random = fastrand::Rng::with_seed(from.number()?);
        let last_active_ms;
        {
            let mut card = client.card.lock();
            card.connected_at_ms = from.number()?;
            last_active_ms = from.number()?;
            card.address = from.text()?;
            card.local_address = from.text()?;
        }
        client.labels_mut().name = from.bytes()?.to_vec();
        client.labels_mut().library_name = from.bytes()?.to_vec();
        client.labels_mut().library_version = from.bytes()?.to_vec();
        client.last_command = match from.bytes()? {
            b"" => "",
            name => catalog::lookup_full(name).ok_or(ThawError)?.name,
        };
        *self.pipeline.input() = from.bytes()?.to_vec();
        let multi = from.option(|from| {
            let refused = from.truth()?;
            let queue = from.list(|from| {
                let (spec, request) = from.request()?;
                let args: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
                Ok(Queued::new(spec, &args, Drafts::new()))
            })?;
            Ok(Multi::of(queue, refused))
        })?;
        let watched = from.list(|from| {
            let (db, key) = (from.small()?, from.bytes()?.to_vec());
            // Only engines that nobody else commits to are where sessions freeze.
            Ok(WatchedKey { db, key, expires_at_ms: from.option(Reader::number)?, version: 0 })
        })?;
        self.connection.reply_mut().set_protocol(protocol);
        self.connection.resume_transaction(&server.engine, multi, watched, is_tripped);
        let client = self.connection.client_mut();
        let subscriptions = from.option(|from| {
            let mut names = || Ok(from.list(|from| Ok(from.bytes()?.to_vec()))?.into_iter().collect());
            let channels: BTreeSet<Vec<u8>> = names()?;
            Ok(Subscriptions { channels, patterns: names()?, shards: names()? })
        })?;
        if let Some(mut subscriptions) = subscriptions {
            client.inbox.set_subscriptions(subscriptions.count());
            for kind in [TopicKind::Channel, TopicKind::Pattern, TopicKind::Shard] {
                for name in subscriptions.of(kind).iter() {
                    shared.hub.pubsub.subscribe(Topic { kind, name }, &client.inbox);
                }
            }
            client.subscriptions = Some(Box::new(subscriptions));
        }
        let tracking = from.option(|from| {
            Ok(Tracking {
                mode: from.place(&MODES)?,
                no_loop: from.truth()?,
                redirect: from.option(Reader::number)?,
                prefixes: from.list(|from| Ok(from.bytes()?.to_vec()))?.into_iter().collect(),
                caching: from.option(Reader::truth)?,
            })
        })?;
        client.tracking = tracking.map(Box::new);
        if client.is_monitor {
            shared.hub.add_monitor(&client.inbox);
        }
        let waiting = from.option(|from| {
            let arrival = from.number()?;
            let (spec, request) = from.request()?;
            let keys = from.list(|from| Ok(from.bytes()?.to_vec()))?;
            let kind = Kind::from_number(from.byte()?).ok_or(ThawError)?;
            let (takes, ends_without_key) = (from.truth()?, from.truth()?);
            let nothing = if from.truth()? { Nothing::Array } else { Nothing::Value };
            let until_ms = from.option(Reader::number)?;
            let wait = Wait { keys, kind, takes, ends_without_key, until_ms, nothing, request: None };
            Ok((arrival, spec, request, wait))
        })?;
        if let Some((arrival, spec, request, wait)) = waiting {
            let waiter = Arc::new(Waiter::new(client.for_waiting(), protocol, spec, request, wait));
            shared.hub.waiting.add_at(&shared.hub.interest, &waiter, arrival);
            self.connection.resume_wait(waiter);
        }
        let client = self.connection.client_mut();
        client.walks = shared.scan_positions.lock().thaw(from.bytes()?).into();
        client.show(if is_resp3 { 3 } else { 2 }, last_active_ms);
        Ok(())
    }

    /// Has a client with a cache begin anew. To be called once all sessions are thawed, since it may redirect.
    pub fn begin_tracking_again<E: Engine>(&mut self, server: &Server<E>) {
        let client = self.connection.client();
        let Some(tracking) = client.tracking.as_deref() else { return };
        let known = tracking.redirect.and_then(|id| server.shared.clients.lock().get(&id).cloned());
        let told = known.map(|known| known.inbox);
        let hub = &server.shared.hub;
        hub.tracking.begin(&hub.interest, &client.inbox, told.clone(), tracking);
        let reader = told.unwrap_or_else(|| client.inbox.clone());
        if tracking.mode != Mode::Broadcast && reader.protocol() == Protocol::Resp3 {
            let mut forget = Reply::new(Protocol::Resp3);
            forget.push(2);
            forget.bulk(b"invalidate");
            forget.null();
            reader.push(forget.as_bytes().into());
        }
    }
}

struct Writer {
    bytes: Vec<u8>,
    max_bytes: usize,
    /// Whether something did not fit; nothing is added from then on.
    is_full: bool,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.is_full |= self.bytes.len() + bytes.len() > self.max_bytes;
        if !self.is_full {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn number(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }

    fn truth(&mut self, truth: bool) {
        self.put(&[u8::from(truth)]);
    }

    fn count(&mut self, count: usize) {
        // What is longer than this does not fit any home that freezes.
        self.put(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.put(bytes);
    }

    fn place<T: PartialEq>(&mut self, all: &[T], one: T) {
        self.put(&[all.iter().position(|each| *each == one).unwrap_or_default() as u8]);
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.truth(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Writer, T)) {
        self.count(items.len());
        items.for_each(|item| write(self, item));
    }

    fn request<'a>(&mut self, spec: &CommandSpec, args: impl ExactSizeIterator<Item = &'a [u8]>) {
        self.bytes(spec.name.as_bytes());
        self.list(args, Writer::bytes);
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Thawed<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(ThawError)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Thawed<u8> {
        self.take(1)?.first().copied().ok_or(ThawError)
    }

    fn number(&mut self) -> Thawed<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| ThawError)?))
    }

    fn small(&mut self) -> Thawed<u32> {
        u32::try_from(self.number()?).map_err(|_| ThawError)
    }

    fn truth(&mut self) -> Thawed<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ThawError),
        }
    }

    fn count(&mut self) -> Thawed<usize> {
        let count = u32::from_le_bytes(self.take(4)?.try_into().map_err(|_| ThawError)?);
        usize::try_from(count).map_err(|_| ThawError)
    }

    fn bytes(&mut self) -> Thawed<&'b [u8]> {
        let count = self.count()?;
        self.take(count)
    }

    fn text(&mut self) -> Thawed<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| ThawError)
    }

    fn place<T: Copy>(&mut self, all: &[T]) -> Thawed<T> {
        all.get(usize::from(self.byte()?)).copied().ok_or(ThawError)
    }

    fn option<T>(&mut self, read: impl FnOnce(&mut Reader<'b>) -> Thawed<T>) -> Thawed<Option<T>> {
        if self.truth()? { read(self).map(Some) } else { Ok(None) }
    }

    /// Memory grows as items come: every one takes at least a byte.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Reader<'b>) -> Thawed<T>) -> Thawed<Vec<T>> {
        let count = self.count()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn request(&mut self) -> Thawed<(&'static CommandSpec, Vec<Vec<u8>>)> {
        let spec = catalog::lookup_full(self.bytes()?).ok_or(ThawError)?;
        Ok((spec, self.list(|from| Ok(from.bytes()?.to_vec()))?))
    }
}
