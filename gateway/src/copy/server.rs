//! A server that speaks RESP: EdgeCask, or Redis from 7.0 on.
//!
//! What it says of a key is a payload of DUMP, which becomes a key of a scratch store in memory: so its keys are read, and compared, by the
//! code that does so for stores. Strings from a megabyte on travel in parts.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use edgecask_core::data::digest::StringDigest;
use edgecask_core::data::rdb::{self, Limits};
use edgecask_core::engine::memory::MemoryEngine;
use edgecask_core::engine::{Db, Kind, NewRoot, run_alone};
use edgecask_core::memory_budget::MemoryBudget;
use edgecask_core::resp::limits::BULK_MAX_BYTES;
use edgecask_core::resp::{Decoder, Value, write_argument, write_argument_count, write_request};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConnection, StreamOwned};

use super::item::{self, Form, HUGE_BYTES, Huge, PART_BYTES, Pair, Taken};
use super::place::{Address, TlsOptions};
use super::side::{KeyDigest, ReadPart};
use super::{CopyError, Result, store};
use crate::clock::now_ms;
use crate::web::tls::client_config;

/// How long a server may take for a reply, or for taking a request.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// A payload of DUMP is a little longer than the longest string.
const PAYLOAD_MAX_BYTES: u64 = 2 * BULK_MAX_BYTES;

/// Between two keys of a walk.
const SCAN_COUNT: &[u8] = b"256";

/// A connection.
pub(super) struct Server {
    address: String,
    stream: Box<dyn Stream>,
    input: Vec<u8>,
    decoder: Decoder,
    selected: Db,
    /// The keys that were taken last, as if they were in database 0.
    scratch: MemoryEngine,
}

/// Bytes in and out, plain or under TLS.
trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// What a server says of a key before it is read.
enum Seen {
    Gone,
    Huge(Huge),
    /// When it expires.
    Short(Option<u64>),
}

/// The stream under TLS, after the handshake.
fn under_tls(mut stream: TcpStream, address: &str, tls: &TlsOptions) -> io::Result<Box<dyn Stream>> {
    let identity = tls.identity.as_ref().map(|(certificate, key)| (certificate.as_path(), key.as_path()));
    let config = client_config(tls.authority.as_deref(), identity).map_err(io::Error::other)?;
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    let mut session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(&mut stream)?;
    }
    Ok(Box::new(StreamOwned::new(session, stream)))
}

/// The text of a reply that is an error.
fn error_text(reply: &Value) -> Option<String> {
    reply.as_error().map(|error| String::from_utf8_lossy(error).into_owned())
}

impl Server {
    pub(super) fn connect(address: &Address) -> Result<Server> {
        let failed = |error| CopyError::Io(address.address.clone(), error);
        let mut last = None;
        for resolved in address.address.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&resolved, PATIENCE) {
                Ok(stream) => return Server::begin(stream, address),
                Err(error) => last = Some(error),
            }
        }
        Err(failed(last.unwrap_or_else(|| std::io::ErrorKind::NotFound.into())))
    }

    fn begin(stream: TcpStream, address: &Address) -> Result<Server> {
        let failed = |error| CopyError::Io(address.address.clone(), error);
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let stream = match &address.tls {
            None => Box::new(stream) as Box<dyn Stream>,
            Some(tls) => under_tls(stream, &address.address, tls).map_err(failed)?,
        };
        let mut server = Server {
            address: address.address.clone(),
            stream,
            input: Vec::new(),
            decoder: Decoder::with_bulk_max_bytes(PAYLOAD_MAX_BYTES),
            selected: 0,
            scratch: MemoryEngine::new(1),
        };
        if let Some(password) = &address.password {
            match &address.user {
                Some(user) => server.call(&[b"AUTH", user.as_bytes(), password.as_bytes()])?,
                None => server.call(&[b"AUTH", password.as_bytes()])?,
            };
        }
        server.call(&[b"PING"])?;
        Ok(server)
    }

    fn failed(&self, error: std::io::Error) -> CopyError {
        CopyError::Io(self.address.clone(), error)
    }

    fn strange(&self, what: &str) -> CopyError {
        CopyError::Other(format!("{}: a reply to {what} is none", self.address))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let sent = self.stream.write_all(bytes).and_then(|()| self.stream.flush());
        sent.map_err(|error| self.failed(error))
    }

    /// The next reply, whether it is an error or not.
    fn reply(&mut self) -> Result<Value> {
        loop {
            if let Some((value, used)) = self.decoder.decode(&self.input)? {
                self.input.drain(..used);
                if !matches!(value, Value::Push(_)) {
                    return Ok(value);
                }
                continue;
            }
            let mut space = [0; READ_BYTES];
            match self.stream.read(&mut space).map_err(|error| self.failed(error))? {
                0 => return Err(self.failed(std::io::ErrorKind::UnexpectedEof.into())),
                count => self.input.extend_from_slice(space.get(..count).unwrap_or_default()),
            }
        }
    }

    /// A request that must go well.
    fn call(&mut self, args: &[&[u8]]) -> Result<Value> {
        let mut request = Vec::new();
        write_request(args, &mut request);
        self.send(&request)?;
        let reply = self.reply()?;
        match error_text(&reply) {
            Some(error) => Err(CopyError::Other(format!(
                "{}: {}: {error}",
                self.address,
                String::from_utf8_lossy(args.first().copied().unwrap_or_default())
            ))),
            None => Ok(reply),
        }
    }

    fn select(&mut self, db: Db) -> Result<()> {
        if self.selected != db {
            self.call(&[b"SELECT", db.to_string().as_bytes()])?;
            self.selected = db;
        }
        Ok(())
    }

    /// The lines of a section of INFO.
    fn info(&mut self, section: &str) -> Result<String> {
        let reply = self.call(&[b"INFO", section.as_bytes()])?;
        Ok(String::from_utf8_lossy(reply.as_bytes().unwrap_or_default()).into_owned())
    }

    pub(super) fn databases(&mut self) -> Result<Vec<Db>> {
        let info = self.info("keyspace")?;
        let of_line = |line: &str| line.strip_prefix("db")?.split_once(':')?.0.parse().ok();
        Ok(info.lines().filter_map(of_line).collect())
    }

    pub(super) fn run_id(&mut self) -> Result<String> {
        let info = self.info("server")?;
        let id = info.lines().find_map(|line| line.strip_prefix("run_id:"));
        Ok(id.unwrap_or_default().trim().to_owned())
    }

    pub(super) fn scan(&mut self, db: Db, cursor: u64) -> Result<(u64, Vec<Vec<u8>>)> {
        self.select(db)?;
        let reply = self.call(&[b"SCAN", cursor.to_string().as_bytes(), b"COUNT", SCAN_COUNT])?;
        let Value::Array(parts) = reply else { return Err(self.strange("SCAN")) };
        let mut parts = parts.into_iter();
        let next = parts.next().and_then(|next| std::str::from_utf8(next.as_bytes()?).ok()?.parse().ok());
        let (Some(next), Some(Value::Array(keys))) = (next, parts.next()) else {
            return Err(self.strange("SCAN"));
        };
        Ok((next, keys.into_iter().filter_map(|key| key.as_bytes().map(<[u8]>::to_vec)).collect()))
    }

    /// What there is to know of keys before they are read.
    fn look(&mut self, keys: &[&[u8]]) -> Result<Vec<Seen>> {
        let mut requests = Vec::new();
        for key in keys {
            write_request(&[&b"PEXPIRETIME"[..], key], &mut requests);
            write_request(&[&b"STRLEN"[..], key], &mut requests);
        }
        self.send(&requests)?;
        let mut seen = Vec::new();
        let mut refusal = None;
        for key in keys {
            let (expiry, len) = (self.reply()?, self.reply()?);
            let expires_at_ms = match expiry {
                Value::Integer(-2) => {
                    seen.push(Seen::Gone);
                    continue;
                }
                Value::Integer(at) => u64::try_from(at).ok(),
                other => {
                    let error = error_text(&other).unwrap_or_default();
                    refusal = Some(format!("{}: Redis 7.0 or later is needed: {error}", self.address));
                    continue;
                }
            };
            // Of other types the length is an error.
            let len = if let Value::Integer(len) = len { u64::try_from(len).unwrap_or(0) } else { 0 };
            seen.push(if len < HUGE_BYTES {
                Seen::Short(expires_at_ms)
            } else {
                let root = NewRoot { expires_at_ms, ..NewRoot::of(Kind::String) };
                Seen::Huge(Huge { key: key.to_vec(), len, root })
            });
        }
        refusal.map_or(Ok(seen), |text| Err(CopyError::Other(text)))
    }

    /// Reads keys into the scratch store; says of each what it is, or why it cannot be read.
    fn fetch(&mut self, db: Db, keys: &[&[u8]]) -> Result<Vec<std::result::Result<Seen, String>>> {
        self.select(db)?;
        self.scratch = MemoryEngine::new(1);
        let seen = self.look(keys)?;
        let mut requests = Vec::new();
        for (key, _) in keys.iter().zip(&seen).filter(|(_, seen)| matches!(seen, Seen::Short(_))) {
            write_request(&[&b"DUMP"[..], key], &mut requests);
        }
        self.send(&requests)?;
        let mut all = Vec::new();
        for (key, seen) in keys.iter().zip(seen) {
            let Seen::Short(expires_at_ms) = seen else {
                all.push(Ok(seen));
                continue;
            };
            let reply = self.reply()?;
            all.push(match reply {
                Value::Null => Ok(Seen::Gone),
                Value::Bulk(payload) => self.unpack(key, &payload, expires_at_ms).map(|()| seen),
                other => Err(error_text(&other).unwrap_or_default()),
            });
        }
        Ok(all)
    }

    /// Puts what DUMP said into the scratch store.
    fn unpack(
        &self,
        key: &[u8],
        payload: &[u8],
        expires_at_ms: Option<u64>,
    ) -> std::result::Result<(), String> {
        let body = rdb::open(payload).ok_or(
            "the server's DUMP has a version that is not known here, of a later Redis than 7.2 perhaps",
        )?;
        let value = rdb::load(body, MemoryBudget::UNBOUNDED).map_err(|error| format!("DUMP: {error}"))?;
        run_alone(&self.scratch, &[key], now_ms(), &mut |txn| {
            rdb::store(txn, 0, key, &value, expires_at_ms, &Limits::default()).map_err(item::engine_error)
        })
        .map_err(|error| error.to_string())
    }

    pub(super) fn take(&mut self, db: Db, keys: &[&[u8]], form: Form) -> Result<Vec<Taken>> {
        let fetched = self.fetch(db, keys)?;
        let there: Vec<&[u8]> = keys
            .iter()
            .zip(&fetched)
            .filter(|(_, seen)| matches!(seen, Ok(Seen::Short(_))))
            .map(|(key, _)| *key)
            .collect();
        let mut taken = Vec::new();
        while taken.len() < there.len() {
            taken.extend(item::take(&self.scratch, 0, there.get(taken.len()..).unwrap_or_default(), form)?);
        }
        let mut taken = taken.into_iter();
        let each = keys.iter().zip(fetched).map(|(key, seen)| match seen {
            Ok(Seen::Gone) => Taken::Gone,
            Ok(Seen::Huge(string)) => Taken::Huge(string),
            Ok(Seen::Short(_)) => taken.next().unwrap_or(Taken::Gone),
            Err(why) => Taken::Refused { key: key.to_vec(), why },
        });
        Ok(each.collect())
    }

    pub(super) fn take_more(&self, _db: Db, key: &[u8], after: &[u8]) -> Result<(Vec<Pair>, bool)> {
        item::take_more(&self.scratch, 0, key, after)
    }

    pub(super) fn read(&mut self, db: Db, key: &[u8], offset: u64, len: u64) -> Result<Vec<u8>> {
        self.select(db)?;
        let last = offset.saturating_add(len).saturating_sub(1);
        let range = [offset.to_string(), last.to_string()];
        match self.call(&[b"GETRANGE", key, range[0].as_bytes(), range[1].as_bytes()])? {
            Value::Bulk(part) => Ok(part),
            _ => Err(self.strange("GETRANGE")),
        }
    }

    /// Returns the keys that it refuses, with its words.
    pub(super) fn put(&mut self, db: Db, keys: &[Taken]) -> Result<Vec<(Vec<u8>, String)>> {
        self.select(db)?;
        let mut requests = Vec::new();
        let mut sent = Vec::new();
        for taken in keys {
            let Taken::Payload { key, expires_at_ms, payload } = taken else { continue };
            let at = expires_at_ms.unwrap_or(0).to_string();
            write_request(
                &[&b"RESTORE"[..], key, at.as_bytes(), payload, b"REPLACE", b"ABSTTL"],
                &mut requests,
            );
            sent.push(key);
        }
        self.send(&requests)?;
        let mut refused = Vec::new();
        for key in sent {
            let reply = self.reply()?;
            refused.extend(error_text(&reply).map(|error| (key.clone(), error)));
        }
        Ok(refused)
    }

    /// One SET, whose value is sent as it is read.
    pub(super) fn put_huge(&mut self, db: Db, string: &Huge, read: ReadPart<'_>) -> Result<Option<String>> {
        self.select(db)?;
        let at = string.root.expires_at_ms.map(|at| at.to_string());
        let mut head = Vec::new();
        write_argument_count(if at.is_some() { 5 } else { 3 }, &mut head);
        write_argument(b"SET", &mut head);
        write_argument(&string.key, &mut head);
        head.extend_from_slice(format!("${}\r\n", string.len).as_bytes());
        self.send(&head)?;
        let mut offset = 0;
        while offset < string.len {
            let part = read(offset, (PART_BYTES as u64).min(string.len - offset))?;
            if part.is_empty() {
                // The request cannot be ended.
                return Err(CopyError::Other(format!(
                    "the value of {} became shorter while it was read",
                    string.key.escape_ascii()
                )));
            }
            offset += part.len() as u64;
            self.send(&part)?;
        }
        let mut foot = b"\r\n".to_vec();
        if let Some(at) = at {
            write_argument(b"PXAT", &mut foot);
            write_argument(at.as_bytes(), &mut foot);
        }
        self.send(&foot)?;
        Ok(error_text(&self.reply()?))
    }

    pub(super) fn digests(&mut self, db: Db, keys: &[&[u8]]) -> Result<Vec<KeyDigest>> {
        let fetched = self.fetch(db, keys)?;
        let short = store::digests(&self.scratch, 0, keys)?;
        let mut all = Vec::new();
        for (seen, short) in fetched.into_iter().zip(short) {
            all.push(match seen {
                Err(why) => Err(why),
                Ok(Seen::Gone) => Ok(None),
                Ok(Seen::Short(_)) => short,
                Ok(Seen::Huge(string)) => {
                    let mut digest = StringDigest::default();
                    let mut offset = 0;
                    while offset < string.len {
                        let part = self.read(db, &string.key, offset, PART_BYTES as u64)?;
                        if part.is_empty() {
                            break;
                        }
                        offset += part.len() as u64;
                        digest.add(&part);
                    }
                    Ok(Some(digest.of_key(&string.key, string.root.expires_at_ms)))
                }
            });
        }
        Ok(all)
    }

    pub(super) fn exist(&mut self, db: Db, keys: &[&[u8]]) -> Result<Vec<bool>> {
        self.select(db)?;
        let mut requests = Vec::new();
        keys.iter().for_each(|key| write_request(&[&b"EXISTS"[..], key], &mut requests));
        self.send(&requests)?;
        keys.iter().map(|_| Ok(self.reply()? == Value::Integer(1))).collect()
    }
}
