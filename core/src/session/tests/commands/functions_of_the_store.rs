//! A server whose functions are written in the language of [`Lines`], and its clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::bitcask::{Bitcask, Options};
use crate::command::script::{crons, libraries, triggers};
use crate::resp::write_request;
use crate::script::Level;
use crate::script::lines::Lines;
use crate::server::scripts::ScriptEngine;
use crate::server::{HostFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::Storage;

pub(super) const NOW_MS: u64 = 1_700_000_000_000;

/// A host that keeps the lines of its log.
#[derive(Clone, Default)]
pub(super) struct Log {
    pub lines: Arc<Mutex<Vec<String>>>,
    step_ns: u64,
    now_ns: Arc<AtomicU64>,
}

impl Log {
    /// One whose clock goes on by so much whenever it is looked at.
    pub fn with_clock(step_ns: u64) -> Log {
        Log { step_ns, ..Log::default() }
    }
}

impl HostFacts for Log {
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        Vec::new()
    }

    fn monotonic_ns(&self) -> u64 {
        self.now_ns.fetch_add(self.step_ns, Ordering::Relaxed)
    }

    fn log(&self, _level: Level, text: &[u8]) {
        self.lines.lock().push(String::from_utf8_lossy(text).into_owned());
    }
}

/// A server over this storage, started now.
pub(super) fn start(storage: &Arc<dyn Storage>, log: &Log) -> Server<Bitcask> {
    start_with(Bitcask::open(storage.clone(), &Options::default()).expect("open").store, log)
}

/// The same over a store that is open.
pub(super) fn start_with(engine: Bitcask, log: &Log) -> Server<Bitcask> {
    let shared = Shared::new(Settings::default(), Box::new(log.clone()), NOW_MS);
    shared.scripts.add_engine(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lines::default()))));
    let server = Server { engine, shared };
    assert_eq!(libraries::restore(&server, NOW_MS), Ok(Vec::new()));
    assert_eq!(triggers::restore(&server, NOW_MS), Ok(Vec::new()));
    assert_eq!(crons::restore(&server, NOW_MS), Ok(Vec::new()));
    server
}

pub(super) struct Client<'s> {
    pub server: &'s Server<Bitcask>,
    pub session: Session,
    pub now_ms: u64,
}

impl<'s> Client<'s> {
    pub fn of(server: &'s Server<Bitcask>) -> Client<'s> {
        let id = server.shared.next_client();
        Client { server, session: Session::new(&server.shared, Peer::default(), id, NOW_MS), now_ms: NOW_MS }
    }

    pub fn call(&mut self, args: &[&str]) -> String {
        let args: Vec<&[u8]> = args.iter().map(|argument| argument.as_bytes()).collect();
        write_request(&args, self.session.input());
        self.replies()
    }

    /// The same for words.
    pub fn say(&mut self, request: &str) -> String {
        self.call(&request.split(' ').collect::<Vec<_>>())
    }

    pub fn replies(&mut self) -> String {
        self.session.process(self.server, self.now_ms);
        let reply = self.session.reply().take().expect("memory is read");
        String::from_utf8(reply).expect("text").replace("\r\n", " ").trim_end().to_owned()
    }
}
