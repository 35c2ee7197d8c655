//! Where objects of the edge worker live: what the suites ask of workerd and of wasmtime alike.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use edgecask_tests::client::Client;

/// Objects of the edge worker, found by name.
pub trait Home: Sync {
    /// A connection to a database of this name. A number of its own tells it from others where it is of use.
    fn client(&self, database: &str, number: u64) -> Client;

    /// Has so much time go by for a database, and a moment more where time goes on by itself.
    fn let_pass(&self, database: &str, pause_ms: u64);
}

/// A program that says in one line where it is, and serves until its input ends. It ends when this is dropped.
pub struct Program {
    pub process: Child,
}

impl Program {
    /// Starts it; gives its line, too.
    pub fn start(command: &mut Command) -> (Program, String) {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("it says where it is");
        (Program { process }, line.trim().to_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The end of its input asks it to stop.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
