//! The thread that reads definitions again which another server has changed.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use edgecask_core::command::Reloading;
use edgecask_core::server::peers::LinkId;
use tracing::warn;

use crate::clock::now_ms;
use crate::gateway::Gateway;
use crate::limits::{PEER_DEFINITIONS_PERIOD, PEER_LOOK_PERIOD};

/// Who is told when the definitions have been read.
pub(super) enum Reader {
    /// A peer that asked for it under this number.
    Peer(LinkId, u64),
    /// The server itself.
    Own(tokio::sync::oneshot::Sender<()>),
}

/// The thread.
pub(super) struct Definitions {
    requests: Sender<Reader>,
    thread: JoinHandle<()>,
}

impl Definitions {
    /// Starts it.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn start(gateway: &Arc<Gateway>) -> io::Result<Definitions> {
        let (requests, receiver) = channel();
        let gateway = gateway.clone();
        let thread = std::thread::Builder::new().name("definitions".into());
        let thread = thread.spawn(move || run(&gateway, &receiver))?;
        Ok(Definitions { requests, thread })
    }

    pub(super) fn requests(&self) -> Sender<Reader> {
        self.requests.clone()
    }

    pub(super) fn into_thread(self) -> JoinHandle<()> {
        self.thread
    }
}

/// Reads when somebody asks for it, and every so often: a message may be lost with its sender.
fn run(gateway: &Gateway, requests: &Receiver<Reader>) {
    let (mut open, mut reloading) = (Vec::new(), Reloading::default());
    let mut pause = PEER_DEFINITIONS_PERIOD;
    while gateway.stop.request_made().is_none() {
        match requests.recv_timeout(pause) {
            Ok(reader) => {
                open.push(reader);
                open.extend(requests.try_iter());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        match reloading.reload(&gateway.server, now_ms()) {
            Ok(()) => {
                open.drain(..).for_each(|reader| tell(gateway, reader));
                pause = PEER_DEFINITIONS_PERIOD;
            }
            Err(error) => {
                // Those who ask wait; the cluster may be back soon.
                if !open.is_empty() {
                    warn!(%error, "definitions that another server has changed cannot be read yet");
                }
                pause = if open.is_empty() { PEER_DEFINITIONS_PERIOD } else { PEER_LOOK_PERIOD / 10 };
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

fn tell(gateway: &Gateway, reader: Reader) {
    match reader {
        Reader::Peer(link, number) => gateway.server.shared.peers.done(link, number),
        Reader::Own(waits) => drop(waits.send(())),
    }
}
