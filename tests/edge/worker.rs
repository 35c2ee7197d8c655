//! One workerd, started by `server.mjs` on a directory that outlives it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use edgecask_tests::client::Client;
use edgecask_tests::web_socket::Cutting;

/// A running server. It ends when this is dropped.
pub struct Worker {
    process: Child,
    address: SocketAddr,
    workerd: u32,
}

impl Worker {
    /// Starts a server; `bindings` are `NAME=value`.
    pub fn start(directory: &Path, bindings: &[&str]) -> Worker {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("edge/server.mjs");
        let mut process = Command::new("node")
            .arg(script)
            .arg(directory)
            .args(bindings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("it says where it is");
        let (url, workerd) = line.trim().split_once(' ').unwrap_or_else(|| panic!("no start: {line}"));
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse().expect("an address");
        Worker { process, address, workerd: workerd.parse().expect("a process id") }
    }

    /// A connection to a database of this name.
    pub fn client(&self, database: &str, cutting: Cutting) -> Client {
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
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The end of its input asks it to stop.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
