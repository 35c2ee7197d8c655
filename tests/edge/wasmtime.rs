//! The worker's WebAssembly under wasmtime, by `wasmtime_home.py`: no JavaScript, rows in memory, and a clock that only
//! transcripts move.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

use edgecask_tests::client::Client;

use crate::home::{Home, Program};

/// A running home. It ends when this is dropped.
pub struct Wasmtime {
    _program: Program,
    address: SocketAddr,
}

impl Wasmtime {
    /// Starts one.
    pub fn start(flags: &[&str]) -> Wasmtime {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut python = Command::new(tests.join("../.build/venv/bin/python"));
        let (program, line) = Program::start(python.arg(tests.join("edge/wasmtime_home.py")).args(flags));
        let port = line.parse().unwrap_or_else(|_| panic!("no start: {line}"));
        Wasmtime { _program: program, address: (Ipv4Addr::LOCALHOST, port).into() }
    }

    fn connect(&self, first_line: &str) -> Client {
        let connected = Client::connect(self.address)
            .and_then(|mut client| client.send(format!("{first_line}\n").as_bytes()).map(|()| client));
        connected.unwrap_or_else(|error| panic!("cannot connect to {}: {error}", self.address))
    }
}

impl Home for Wasmtime {
    fn client(&self, database: &str, _number: u64) -> Client {
        self.connect(database)
    }

    fn let_pass(&self, database: &str, pause_ms: u64) {
        let rest = self.connect(&format!("{database} {pause_ms}")).receive_until_closed();
        assert_eq!(rest.expect("it closes"), b"");
    }
}
