//! Servers of the test's own, on free ports of the loopback address, which end with the test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running server.
pub struct Server {
    child: Child,
    pub port: u16,
    /// Where it speaks RESP over WebSocket.
    web_port: Option<u16>,
    _directory: Option<TempDir>,
}

/// The program `edgecask`: named by EDGECASK_BIN, or where cargo puts it beside this test.
fn program() -> PathBuf {
    std::env::var_os("EDGECASK_BIN").map_or_else(
        || {
            let test = std::env::current_exe().expect("a path");
            test.parent().and_then(Path::parent).expect("a folder of cargo").join("edgecask")
        },
        PathBuf::from,
    )
}

/// A port that was free a moment ago: another one each time, and none of those that systems give to connections (from 32,768 on).
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id().wrapping_mul(331).wrapping_add(NEXT.fetch_add(1, Relaxed));
        let port = u16::try_from(10_000 + number % 22_000).expect("a port");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until somebody listens.
pub fn wait_for(port: u16) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "nobody listens on port {port}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Server {
    /// Starts a redis-server, with more options.
    pub fn redis(options: &[&str]) -> Server {
        Self::redis_on(free_port(), options)
    }

    /// Starts an EdgeCask on a directory of its own, with a port for browsers.
    pub fn edgecask() -> Server {
        Self::edgecask_with(&[])
    }

    /// The same with more options.
    pub fn edgecask_with(options: &[&str]) -> Server {
        let (port, web_port) = (free_port(), free_port());
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = Command::new(program());
        command.arg("serve").arg("--dir").arg(directory.path());
        command.args(["--port", &port.to_string(), "--http-port", &web_port.to_string()]);
        command.args(options);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.expect("edgecask is built (make edgecask)");
        wait_for(port);
        wait_for(web_port);
        Server { child, port, web_port: Some(web_port), _directory: Some(directory) }
    }

    /// Its WebSocket as a URL.
    pub fn web_url(&self) -> String {
        format!("ws://127.0.0.1:{}/resp", self.web_port.expect("it has such a port"))
    }

    /// The same on a port.
    pub fn redis_on(port: u16, options: &[&str]) -> Server {
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        command.args(options).stdout(Stdio::null());
        let child = command.spawn().expect("redis-server is installed (make setup)");
        wait_for(port);
        Server { child, port, web_port: None, _directory: None }
    }

    /// Its address as a URL.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
