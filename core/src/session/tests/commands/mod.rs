//! Commands as a session runs them: the transcripts, and what a transcript cannot show.

mod browser_sees_other_hits;
mod command_has_no_home;
mod command_takes_many_rounds;
mod cron_is_missed_or_fails_unseen;
mod damaged_collection_spoils_the_connection;
mod denial_is_not_logged;
mod document_differs_from_a_model;
mod document_is_changed_by_half;
mod documents_outlive_their_deletion;
mod event_told_at_the_wrong_time;
mod eviction_stops_at_one_key;
mod functions_of_the_store;
mod geo_reply_differs;
mod hash_walk_misses_a_field;
mod maxmemory_limits_nothing;
mod own_change_is_told_to_a_cache;
mod pipelined_request_differs;
// WebAssembly measures no time.
#[cfg(not(target_family = "wasm"))]
mod reads_of_a_cache_take_ever_longer;
mod reload_changes_a_reply;
mod reply_of_another_type;
mod replay_wants_something_else;
mod scan_of_a_foreign_cursor;
mod search_answers_as_if_for_another;
mod search_answers_wrongly;
mod search_differs_from_a_rebuild;
mod search_lacks_documents_after_a_repair;
mod script_leaves_a_trace;
mod server_reply_differs;
mod short_way_differs;
mod sorted_set_reply_differs;
mod temporary_index_goes_with_a_start;
mod transcript_differs;
mod typed_query_finds_other_documents;
mod trigger_is_left_out;
mod user_keeps_what_it_may_not_have;
mod users_are_lost_at_a_restart;
mod write_passes_by_a_trigger;

use crate::engine::Engine;
use crate::resp::{Decoder, Value, write_request};
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

/// A request that waits for its engine goes on after fewer turns.
const TURNS_MAX: u32 = 10_000;

const START_MS: u64 = 1_700_000_000_000;

/// A server in the test's own memory with a few connections.
struct Console<E> {
    server: Server<E>,
    sessions: Vec<Session>,
    now_ms: u64,
    /// Whether all sessions freeze and thaw before each request.
    sleeps: bool,
}

impl<E: Engine> Console<E> {
    fn new(engine: E) -> Console<E> {
        let settings = Settings::new(&[("enable-debug-command", "yes".into())]).expect("settings");
        let shared = Shared::new(settings, Box::new(NoFacts), START_MS);
        Console { server: Server { engine, shared }, sessions: Vec::new(), now_ms: START_MS, sleeps: false }
    }

    /// Has every session freeze and another thaw in its place.
    fn sleep(&mut self) {
        let mut frozen = Vec::new();
        for mut session in std::mem::take(&mut self.sessions) {
            frozen.push(session.freeze(&self.server, usize::MAX).expect("nothing is left to be sent"));
            session.close(&self.server);
        }
        for bytes in frozen {
            let mut session = Session::thaw(&self.server, &bytes, self.now_ms).expect("it was frozen so");
            session.begin_tracking_again(&self.server);
            self.sessions.push(session);
        }
    }

    /// Sends requests of a connection at once; gives their replies.
    fn call_together(&mut self, connection: usize, requests: &[Vec<Vec<u8>>]) -> Vec<Value> {
        // So that the connection is there.
        while self.sessions.len() < connection {
            let seed = self.sessions.len() as u64;
            self.sessions.push(Session::new(&self.server.shared, Peer::default(), seed, self.now_ms));
        }
        let session = &mut self.sessions[connection - 1];
        requests.iter().for_each(|args| write_request(args, session.input()));
        let mut progress = session.process(&self.server, self.now_ms);
        for _ in 0..TURNS_MAX {
            let is_over = !progress.is_suspended && !progress.is_paused && progress.wake_at_ms.is_none();
            if is_over {
                break;
            }
            progress = session.process(&self.server, progress.wake_at_ms.unwrap_or(self.now_ms));
        }
        values(&session.reply().take().expect("memory is read"))
    }

    fn call(&mut self, connection: usize, args: &[Vec<u8>]) -> Value {
        let bytes = self.call_for_bytes(connection, args);
        let (value, used) =
            Decoder::new().decode(&bytes).expect("a well-formed reply").expect("a whole reply");
        assert_eq!(used, bytes.len(), "one reply to one request");
        value
    }

    /// Sends a request; gives all that is sent back.
    fn call_for_bytes(&mut self, connection: usize, args: &[Vec<u8>]) -> Vec<u8> {
        if self.sleeps {
            self.sleep();
        }
        while self.sessions.len() < connection {
            let seed = self.sessions.len() as u64;
            self.sessions.push(Session::new(&self.server.shared, Peer::default(), seed, self.now_ms));
        }
        let session = &mut self.sessions[connection - 1];
        write_request(args, session.input());
        let mut progress = session.process(&self.server, self.now_ms);
        for _ in 0..TURNS_MAX {
            if !progress.is_suspended {
                break;
            }
            progress = session.process(&self.server, self.now_ms);
        }
        assert!(!progress.is_suspended, "a request waits for its engine for ever");
        if let Some(wake_at_ms) = progress.wake_at_ms {
            // Blocked, and nobody else is there: time passes.
            session.process(&self.server, wake_at_ms);
        }
        session.reply().take().expect("memory is read")
    }
}

/// The replies and messages that bytes hold.
fn values(mut bytes: &[u8]) -> Vec<Value> {
    let mut values = Vec::new();
    while let Some((value, used)) = Decoder::new().decode(bytes).expect("replies are whole") {
        values.push(value);
        bytes = &bytes[used..];
    }
    values
}
