//! A server in memory, and connections that are driven as a host drives them.

mod connection_outstays_its_deadline;
mod pieces_are_not_the_reply;
mod session_allocates_a_buffer_for_every_reply;
mod wait_ends_at_the_wrong_time;

use super::{Driver, Now, TimeLimits};
use crate::engine::memory::MemoryEngine;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const UNIX_MS: u64 = 1_700_000_000_000;
const STEADY_MS: u64 = 5_000;
const LIMITS: TimeLimits = TimeLimits { login_ms: 10_000, idle_ms: Some(60_000) };

struct Home {
    server: Server<MemoryEngine>,
    now: Now,
}

impl Home {
    fn new(settings: &[(&'static str, &str)]) -> Home {
        let settings: Vec<_> = settings.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        let settings = Settings::new(&settings).expect("settings");
        let shared = Shared::new(settings, Box::new(NoFacts), UNIX_MS);
        let now = Now { unix_ms: UNIX_MS, steady_ms: STEADY_MS };
        Home { server: Server { engine: MemoryEngine::new(16), shared }, now }
    }

    fn connect(&self) -> Driver {
        let session = Session::new(&self.server.shared, Peer::default(), 1, self.now.unix_ms);
        Driver::new(session, self.now)
    }

    fn pass(&mut self, pause_ms: u64) {
        self.now.unix_ms += pause_ms;
        self.now.steady_ms += pause_ms;
    }

    /// Runs requests of a connection, and takes the replies.
    fn run(&self, driver: &mut Driver, input: &str) -> String {
        driver.input().extend_from_slice(input.as_bytes());
        driver.run(&self.server, self.now);
        let reply = driver.reply().take().expect("memory is read");
        driver.has_sent_all();
        String::from_utf8(reply).expect("text")
    }
}
