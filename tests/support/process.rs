//! Servers as processes: `edgecask` and `redis-server` on free loopback ports with directories of their own.
//!
//! A server ends with its handle. Only processes started here are ever signalled, by their own id.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use edgecask_core::resp::Value;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::Client;
use crate::ports::free_address;
use crate::retry::wait_for;
use crate::web_socket::Cutting;

/// So many more ports are tried.
const PORTS_TRIED: usize = 3;

/// A server that does not answer by then does not start.
const START_LIMIT: Duration = Duration::from_secs(30);

/// A server that has not ended so long after SIGTERM gets SIGKILL.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Where the log of a server goes, beside its data.
const LOG_FILE: &str = "test-server.log";

/// How an `edgecask` is started.
#[derive(Clone, Debug)]
pub struct Gateway {
    directory: PathBuf,
    flags: Vec<OsString>,
    web: Option<SocketAddr>,
}

/// The flag for the longest value.
const LIMIT_FLAG: &str = "--proto-max-bulk-len";

/// A running server.
pub struct Server {
    child: Child,
    address: SocketAddr,
    web: Option<SocketAddr>,
    log: PathBuf,
    /// The directory of a server that was given none.
    _scratch: Option<TempDir>,
}

/// A server that ended instead of starting.
#[derive(Debug)]
pub struct NoStart {
    /// How it ended; none if it neither ended nor answered.
    pub status: Option<ExitStatus>,
    /// What it logged.
    pub log: String,
}

impl Gateway {
    /// One on a directory, which may hold a store.
    pub fn on(directory: &Path) -> Gateway {
        Gateway { directory: directory.to_path_buf(), flags: Vec::new(), web: None }
    }

    /// The same with a flag and its value.
    pub fn with(mut self, flag: &str, value: &str) -> Gateway {
        self.flags.extend([flag.into(), value.into()]);
        self
    }

    /// The same with a port for browsers.
    pub fn with_web(mut self) -> Gateway {
        let address = free_address();
        self.web = Some(address);
        self.with("--http-port", &address.port().to_string())
    }

    /// Starts it and waits until it answers. Another program may take the port meanwhile: then it is tried with another one.
    pub fn start(&self) -> Result<Server, NoStart> {
        let mut started = self.start_once();
        for _ in 0..PORTS_TRIED {
            match &started {
                Err(problem) if problem.log.contains("Address already in use") => started = self.start_once(),
                _ => break,
            }
        }
        started
    }

    fn start_once(&self) -> Result<Server, NoStart> {
        let address = free_address();
        let mut command = Command::new(edgecask_program());
        command.arg("serve").arg("--port").arg(address.port().to_string()).arg("--dir").arg(&self.directory);
        // Many run at a time, and only few are asked by HTTP. Flags win over the environment.
        command.env("EDGECASK_HTTP_PORT", "off").args(&self.flags);
        if self.flags.iter().all(|flag| flag != LIMIT_FLAG) {
            // Redis' own limit, so that both refuse the same.
            command.args([LIMIT_FLAG, "512mb"]);
        }
        let logs = tempfile::tempdir().expect("a directory for the log");
        let mut server = Server::spawn(command, address, Some(logs))?;
        server.web = self.web;
        Ok(server)
    }

    /// Starts it where that must work.
    pub fn must_start(&self) -> Server {
        self.start().unwrap_or_else(|problem| panic!("edgecask does not start:\n{}", problem.log))
    }

    /// Starts it where it must refuse, and gives its last words.
    pub fn must_refuse(&self) -> String {
        match self.start() {
            Ok(_) => panic!("edgecask starts on {}", self.directory.display()),
            Err(NoStart { status, log }) => {
                let status = status.unwrap_or_else(|| panic!("edgecask hangs:\n{log}"));
                assert!(!status.success(), "edgecask ends well without serving:\n{log}");
                log
            }
        }
    }
}

/// A `redis-server` in memory: the oracle.
pub fn redis(flags: &[&str]) -> Server {
    let address = free_address();
    let scratch = tempfile::tempdir().expect("a directory for redis-server");
    let mut command = Command::new("redis-server");
    command.args(["--port", &address.port().to_string(), "--bind", "127.0.0.1", "--save", ""]);
    command.arg("--dir").arg(scratch.path()).args(flags);
    let started = Server::spawn(command, address, Some(scratch));
    started.unwrap_or_else(|problem| panic!("redis-server does not start:\n{}", problem.log))
}

impl Server {
    fn spawn(mut command: Command, address: SocketAddr, scratch: Option<TempDir>) -> Result<Server, NoStart> {
        let directory =
            scratch.as_ref().map_or_else(std::env::temp_dir, |scratch| scratch.path().to_path_buf());
        let log = directory.join(LOG_FILE);
        let file = File::create(&log).expect("a log file");
        let copy = file.try_clone().expect("a second handle of the log");
        command.stdin(Stdio::null()).stdout(copy).stderr(file);
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let mut server = Server { child, address, web: None, log, _scratch: scratch };
        let answer = wait_for(START_LIMIT, || match server.child.try_wait() {
            Ok(Some(status)) => Some(Err(Some(status))),
            _ => is_answering(address).then_some(Ok(())),
        });
        match answer.unwrap_or(Err(None)) {
            Ok(()) => Ok(server),
            Err(status) => Err(NoStart { status, log: server.log() }),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The id of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A new connection.
    pub fn client(&self) -> Client {
        Client::connect(self.address)
            .unwrap_or_else(|error| panic!("cannot connect to {}: {error}", self.address))
    }

    /// Where browsers are served.
    pub fn web_address(&self) -> SocketAddr {
        self.web.expect("it was started with a port for browsers")
    }

    /// A new connection by WebSocket.
    pub fn web_client(&self, cutting: Cutting) -> Client {
        Client::connect_web(self.web_address(), cutting)
            .unwrap_or_else(|error| panic!("cannot connect to {}: {error}", self.web_address()))
    }

    /// What the server wrote to its standard output and error.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Memory of the process that is in RAM, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("the process lives");
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line for resident memory");
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of kilobytes");
        kilobytes * 1024
    }

    /// kill -9, and the process is gone when this returns.
    pub fn kill(mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("the process is ours");
    }

    /// SIGTERM, and the exit status once it has ended.
    pub fn stop(mut self) -> ExitStatus {
        self.terminate().expect("the server ends after SIGTERM")
    }

    fn terminate(&mut self) -> Option<ExitStatus> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(status);
        }
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)?;
        kill_process(pid, Signal::TERM).ok()?;
        wait_for(STOP_LIMIT, || self.child.try_wait().ok().flatten())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.terminate().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn is_answering(address: SocketAddr) -> bool {
    let answer = Client::connect(address).and_then(|mut client| client.call(&["PING"]));
    // A server with a password answers, too.
    answer.is_ok_and(|answer| matches!(&answer, Value::Simple(_)) || has_noauth(&answer))
}

fn has_noauth(answer: &Value) -> bool {
    answer.as_error().is_some_and(|error| error.starts_with(b"NOAUTH"))
}

/// The `edgecask` under test: `EDGECASK_BIN`, or what cargo built beside this test.
pub fn edgecask_program() -> PathBuf {
    let built = std::env::current_exe().ok().and_then(|test| {
        // target/PROFILE/deps/black_box-HASH or target/PROFILE/edgecask-bench
        test.ancestors()
            .skip(1)
            .take(2)
            .map(|folder| folder.join("edgecask"))
            .find(|program| program.is_file())
    });
    let program = std::env::var_os("EDGECASK_BIN").map(PathBuf::from).or(built);
    match program {
        Some(program) if program.is_file() => program,
        Some(program) => panic!("EDGECASK_BIN is {}, which is no file", program.display()),
        None => panic!("there is no edgecask to test: run `cargo build -p edgecask` or set EDGECASK_BIN"),
    }
}

/// Prints a line that `cargo test` does not capture: figures belong into the output of every run.
pub fn report(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
