//! One workerd, started by `server.mjs` on a directory that outlives it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use edgecask_tests::client::Client;
use edgecask_tests::retry::let_pass;
use edgecask_tests::web_socket::Cutting;

use crate::home::{Home, Program};

/// A running server. It ends when this is dropped.
pub struct Worker {
    program: Program,
    address: SocketAddr,
    workerd: u32,
}

impl Worker {
    /// Starts a server; `bindings` are `NAME=value`.
    pub fn start(directory: &Path, bindings: &[&str]) -> Worker {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("edge/server.mjs");
        let (program, line) = Program::start(Command::new("node").arg(script).arg(directory).args(bindings));
        let (url, workerd) = line.split_once(' ').unwrap_or_else(|| panic!("no start: {line}"));
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse().expect("an address");
        Worker { program, address, workerd: workerd.parse().expect("a process id") }
    }

    /// A connection to a database of this name.
    pub fn connect(&self, database: &str, cutting: Cutting) -> Client {
        let path = format!("/db/{database}/resp");
        Client::connect_web_to(self.address, &path, cutting)
            .unwrap_or_else(|error| panic!("cannot connect to {}{path}: {error}", self.address))
    }

    /// Kills workerd as SIGKILL does, and ends what had started it.
    pub fn kill(mut self) {
        assert!(self.workerd > 0, "workerd was not found");
        let killed =
            Command::new("kill").arg("-9").arg(self.workerd.to_string()).status().expect("kill runs");
        assert!(killed.success(), "workerd had gone");
        let _ = self.program.process.kill();
    }
}

impl Home for Worker {
    /// One whose messages and fragments have random lengths, others for each number.
    fn client(&self, database: &str, number: u64) -> Client {
        self.connect(database, Cutting::Random(fastrand::Rng::with_seed(number)))
    }

    fn let_pass(&self, _database: &str, pause_ms: u64) {
        // What is to expire in these milliseconds has, a moment later.
        let_pass(Duration::from_millis(pause_ms + 10));
    }
}
