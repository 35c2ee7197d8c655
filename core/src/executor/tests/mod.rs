//! What the executor promises, by symptom.

// wasm32 has no threads.
#[cfg(not(target_family = "wasm"))]
mod events_of_two_connections_out_of_order;
mod nested_call_differs;
mod reaction_missed_or_half_done;
mod run_that_was_thrown_away_leaves_a_trace;

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Caller, Executor, Ran, Stop};
use crate::acl::{Access, Registry, User};
use crate::bitcask::{Bitcask, Options};
use crate::command::admission::{Origin, admit, find};
use crate::command::{Context, Outcome};
use crate::engine::{Drafts, Engine};
use crate::resp::{Decoder, Protocol, Reply, Value};
use crate::server::hub::Inbox;
use crate::server::{Client, ClientCard, NoFacts, Server, Settings, Shared};
use crate::storage::memory::MemoryStorage;

const NOW_MS: u64 = 1_700_000_000_000;

/// A store in memory, and what sessions share.
fn server() -> Server<Bitcask> {
    let opened = Bitcask::open(Arc::new(MemoryStorage::new()), &Options::default());
    let store = opened.unwrap_or_else(|error| panic!("{error}")).store;
    with_engine(store)
}

fn with_engine<E>(engine: E) -> Server<E> {
    Server { engine, shared: Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS) }
}

/// A connection without a session.
struct Connection {
    executor: Executor,
    client: Client,
    reply: Reply,
}

impl Connection {
    fn new(id: u64) -> Connection {
        let inbox = Arc::new(Inbox::new(id, Arc::default()));
        inbox.set_protocol(Protocol::Resp3);
        let everything = User::standard(true, b"");
        let access = Access::of(Arc::new(everything.clone()), &Registry::new(everything));
        let client = Client::new(id, Arc::new(Mutex::new(ClientCard::default())), inbox, access, id);
        Connection { executor: Executor::default(), client, reply: Reply::new(Protocol::Resp2) }
    }

    /// Runs one request to its end.
    fn run<E: Engine>(&mut self, server: &Server<E>, request: &str) -> Value {
        let words: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let spec = find(&words).expect("a command");
        let admitted =
            admit(&server.shared, &self.client, spec, &words, Origin::Connection, || {}).expect("admitted");
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        let ran = self.executor.run(server, &mut caller, &admitted, &Drafts::new(), NOW_MS);
        match ran {
            Ok(Ran::Done) => self.take_reply(),
            Err(Stop::Error(error)) => Value::Error(error.reply_text().into_owned().into_bytes()),
            other => panic!("{request}: {other:?}"),
        }
    }

    /// Runs `body` as a handler that declares these keys.
    fn run_body<E: Engine>(
        &mut self,
        server: &Server<E>,
        keys: &[&[u8]],
        body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<(), Stop> {
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        self.executor.run_body(server, &mut caller, keys, NOW_MS, body)
    }

    fn take_reply(&mut self) -> Value {
        let bytes = self.reply.take().expect("memory is read");
        Decoder::new().decode(&bytes).expect("RESP").expect("a whole reply").0
    }

    /// The messages that others have sent it.
    fn messages(&self) -> Vec<Vec<u8>> {
        self.client.inbox.take(usize::MAX).pushes.iter().map(|message| message.to_vec()).collect()
    }
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}
