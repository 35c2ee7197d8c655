//! How `edgecask backup` and `edgecask scrub` reach the server that uses a directory: a socket in that directory.
//!
//! Who may read and write the files of a store may ask for this, and nobody else: no network, no password, no name in the
//! command table. The socket is the file `control`, for the server's own user only. A request is sent whole before the answer
//! begins, and a connection is for one request:
//!
//! ```text
//! request    backup LF PATH, up to the end of the stream; PATH is absolute
//!            scrub LF
//! answer     lines: progress DONE ALL, any number of them, then one of
//!            whole TEXT      the backup is there, or the scrub is asked for (TEXT may have several lines)
//!            damaged TEXT    the same, and the store itself has lost something
//!            error TEXT      it is not
//! ```
//!
//! A path in the address of a socket has 107 bytes at most, so it is reached by the directory's descriptor.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use edgecask_core::storage::StorageError;
use mio::{Events, Interest, Poll, Token, Waker};
use tracing::{error, info, warn};

use crate::backup;
use crate::gateway::Gateway;
use crate::storage::failed;

/// The name of the socket.
const SOCKET: &str = "control";

/// The longest request: a path of the system's greatest length, and the words before it.
const REQUEST_MAX_BYTES: u64 = 8 * 1024;

/// A peer that does not send its request, or does not read its answer, for so long is left.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two lines about progress.
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);

/// What a server is asked for.
pub enum Request {
    /// A backup to this directory.
    Backup(PathBuf),
    /// A scrub of everything, soon.
    Scrub,
}

/// What it answers.
pub enum Answer {
    /// It was done: what came of it, and whether the store is well.
    Done(String, bool),
    /// It was not done, for this reason.
    Refused(String),
    /// No server uses the directory.
    NoServer,
}

/// The thread that answers.
pub struct Control {
    thread: JoinHandle<()>,
    waker: Waker,
}

impl Control {
    /// Opens the socket in the locked directory of a server that has read its store. None where the directory cannot have
    /// one: then there are no backups while the server runs.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(gateway: &Arc<Gateway>, directory: &Path) -> io::Result<Option<Control>> {
        let listener = match bind(directory) {
            Ok(listener) => listener,
            Err(error) => {
                warn!(%error, "no socket for edgecask backup in the data directory");
                return Ok(None);
            }
        };
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        // Both share their descriptor: one says when a peer is there, the other accepts it.
        let mut watched = mio::net::UnixListener::from_std(listener.try_clone()?);
        poll.registry().register(&mut watched, LISTENER, Interest::READABLE)?;
        let gateway = gateway.clone();
        let thread = std::thread::Builder::new().name("control".into()).spawn(move || {
            let _watched = watched;
            answer_all(&gateway, &listener, poll);
        })?;
        Ok(Some(Control { thread, waker }))
    }

    /// Ends the thread. A stop must have been requested: a backup that is under way is given up then.
    pub fn join(self) {
        if let Err(error) = self.waker.wake() {
            error!(%error, "the thread of the control socket cannot be woken");
            return;
        }
        if self.thread.join().is_err() {
            error!(thread = "control", "a thread panicked");
        }
    }
}

fn bind(directory: &Path) -> io::Result<UnixListener> {
    let path = directory.join(SOCKET);
    match fs::remove_file(&path) {
        // The lock of the directory is held, so nobody listens there any more.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (_handle, address) = address(directory)?;
    let listener = UnixListener::bind(address)?;
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A short path of the socket, for as long as the handle is there.
fn address(directory: &Path) -> io::Result<(File, PathBuf)> {
    let handle = File::open(directory)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", handle.as_raw_fd()));
    Ok((handle, path))
}

fn answer_all(gateway: &Gateway, listener: &UnixListener, mut poll: Poll) {
    let mut events = Events::with_capacity(2);
    while gateway.stop.request_made().is_none() {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Err(error) = answer(gateway, stream) {
                    warn!(%error, "a request through the control socket was not answered");
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if let Err(error) = poll.poll(&mut events, None)
                    && error.kind() != io::ErrorKind::Interrupted
                {
                    error!(%error, "the control socket cannot be waited for");
                    return;
                }
            }
            // No descriptor is left, say: the cause does not go away at once.
            Err(_) => {
                let _ = poll.poll(&mut events, Some(PROGRESS_PERIOD));
            }
        }
    }
}

fn answer(gateway: &Gateway, mut stream: UnixStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    (&stream).take(REQUEST_MAX_BYTES).read_to_end(&mut request)?;
    let text = match parse(request) {
        Some(Request::Backup(to)) => back_up(gateway, &to, &mut stream),
        Some(Request::Scrub) => scrub(gateway),
        None => "error this server does not know such a request\n".to_owned(),
    };
    stream.write_all(text.as_bytes())
}

/// Has the maintenance thread begin a scrub.
fn scrub(gateway: &Gateway) -> String {
    if gateway.server.shared.settings.number("scrub-bytes-per-second") == 0 {
        return "error scrub-bytes-per-second is 0\n".to_owned();
    }
    let known = gateway.server.engine.scrubbing();
    if known.is_on {
        return format!("error a scrub is under way: {} of {} bytes\n", known.done_bytes, known.all_bytes);
    }
    gateway.maintenance.scrub.ask();
    gateway.maintenance.wake();
    "whole scrubbing; INFO bitcask, /metrics and the log say what it finds\n".to_owned()
}

fn parse(request: Vec<u8>) -> Option<Request> {
    if request == b"scrub\n" {
        return Some(Request::Scrub);
    }
    let path = request.strip_prefix(b"backup\n")?;
    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
    path.is_absolute().then_some(Request::Backup(path))
}

/// Takes a backup, and returns the answer. It goes on if the peer is gone.
fn back_up(gateway: &Gateway, to: &Path, stream: &mut UnixStream) -> String {
    let begin = Instant::now();
    let mut next = begin + PROGRESS_PERIOD;
    let mut is_heard = true;
    let taken = backup::take(&gateway.server.engine, to, &mut |done, all| {
        if is_heard && Instant::now() >= next {
            next = Instant::now() + PROGRESS_PERIOD;
            is_heard = writeln!(stream, "progress {done} {all}").is_ok();
        }
        gateway.stop.request_made().is_none()
    });
    match taken {
        Ok(backup) => {
            let took_ms = begin.elapsed().as_millis() as u64;
            info!(to = %to.display(), took_ms, linked_bytes = backup.linked_bytes, copied_bytes = backup.copied_bytes, "backup taken");
            let word = if backup.damaged_blobs.is_empty() { "whole" } else { "damaged" };
            format!("{word} {}\n", backup::describe(&backup, to))
        }
        Err(error) => {
            warn!(to = %to.display(), %error, "no backup was taken");
            format!("error {error}\n")
        }
    }
}

/// Asks the server that uses a directory, if one does. `progress` gets the bytes that are done and those that there are.
///
/// # Errors
/// The server ended before it answered.
pub fn ask(
    directory: &Path,
    request: &Request,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Answer, StorageError> {
    let shown = directory.display().to_string();
    let connected = address(directory).and_then(|(_handle, address)| UnixStream::connect(address));
    let stream = match connected {
        Ok(stream) => stream,
        // A server that was killed has left the socket behind.
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused].contains(&error.kind()) => {
            return Ok(Answer::NoServer);
        }
        Err(error) => return Err(failed("cannot reach the server in", &shown, &error)),
    };
    let lost = |error: io::Error| failed("no answer of the server in", &shown, &error);
    let bytes = match request {
        Request::Backup(path) => [b"backup\n", path.as_os_str().as_bytes()].concat(),
        Request::Scrub => b"scrub\n".to_vec(),
    };
    let sent = (&stream).write_all(&bytes);
    sent.and_then(|()| stream.shutdown(Shutdown::Write)).map_err(lost)?;
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        lines.read_line(&mut line).map_err(lost)?;
        let mut words = line.split_whitespace();
        if words.next() != Some("progress") {
            break;
        }
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        progress(number(), number());
    }
    lines.read_to_string(&mut line).map_err(lost)?;
    let (word, text) = line.trim_end().split_once(' ').unwrap_or_default();
    let text = text.to_owned();
    match word {
        "whole" => Ok(Answer::Done(text, true)),
        "damaged" => Ok(Answer::Done(text, false)),
        "error" => Ok(Answer::Refused(text)),
        _ => Err(StorageError::Io(format!("the server in {shown} ended before it answered"))),
    }
}
