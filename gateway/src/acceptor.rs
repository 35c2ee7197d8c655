//! Accepts connections, refuses those beyond the limits, and assigns the others to the workers in turn.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tracing::{debug, warn};

use crate::gateway::{Gateway, Refusal};
use crate::limits::ACCEPT_RETRY;
use crate::workers::Workers;

/// Binds all addresses. For port 0 the system chooses a port, for each address by itself.
///
/// # Errors
/// An address cannot be bound; the error names it.
pub fn bind(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let bind_one = |address: &SocketAddr| {
        let listener = TcpListener::bind(address)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    addresses.iter().map(bind_one).collect()
}

/// Starts the accepting thread. When a stop is requested it ends, and ends the workers.
///
/// # Errors
/// The system refuses a thread or an event queue.
pub fn start(
    gateway: Arc<Gateway>,
    listeners: Vec<TcpListener>,
    workers: Workers,
) -> io::Result<JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    std::thread::Builder::new().name("acceptor".into()).spawn(move || {
        let workers = run(&runtime, &gateway, listeners, workers);
        workers.stop();
    })
}

fn run(
    runtime: &Runtime,
    gateway: &Arc<Gateway>,
    listeners: Vec<TcpListener>,
    mut workers: Workers,
) -> Workers {
    runtime.block_on(async {
        let (sender, mut accepted) = tokio::sync::mpsc::channel(1);
        let mut listening = JoinSet::new();
        for listener in listeners {
            listening.spawn(listen(listener, sender.clone()));
        }
        let assign = async {
            while let Some((stream, peer)) = accepted.recv().await {
                match gateway.admit(peer.ip()) {
                    Ok(()) => workers.assign(stream),
                    Err(refusal) => refuse(stream, refusal),
                }
            }
        };
        tokio::select! {
            () = assign => {}
            _ = gateway.stop.requested() => {}
        }
    });
    workers
}

async fn listen(listener: TcpListener, accepted: tokio::sync::mpsc::Sender<(TcpStream, SocketAddr)>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return warn!(%error, "cannot listen"),
    };
    loop {
        let outcome = listener.accept().await.and_then(|(stream, peer)| Ok((stream.into_std()?, peer)));
        match outcome {
            Ok(stream) => {
                if accepted.send(stream).await.is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => debug!(%error, "accept"),
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// Tells the peer why it is refused, as far as the socket takes the text at once.
fn refuse(mut stream: TcpStream, refusal: Refusal) {
    let _ = stream.write(format!("-{}\r\n", refusal.text()).as_bytes());
}
