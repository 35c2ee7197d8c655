//! SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once. SIGHUP reads certificates again.

use std::io;
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info, warn};

use crate::gateway::Gateway;
use crate::stop::StopRequest;
use crate::web::tls::Tls;

/// The exit code of a process that got the signal twice.
const IMPATIENT_EXIT_CODE: i32 = 1;

/// Starts the thread that waits for signals; before the store is read, which may take long.
///
/// # Errors
/// The system refuses the signal handlers or the thread.
pub fn watch(gateway: &Arc<Gateway>, tls: Option<&Arc<Tls>>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let gateway = Arc::downgrade(gateway);
    let tls = tls.cloned();
    // Before the thread, so that no signal is missed once this function has returned.
    let (mut terminate, mut interrupt, mut hangup) = {
        let _inside = runtime.enter();
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?)
    };
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            for is_first in [true, false] {
                loop {
                    tokio::select! {
                        _ = terminate.recv() => break,
                        _ = interrupt.recv() => break,
                        _ = hangup.recv() => reload(tls.as_deref()),
                    }
                }
                if is_first && let Some(gateway) = gateway.upgrade() {
                    info!("asked to stop by a signal");
                    gateway.stop.request(StopRequest { checkpoint: true });
                }
            }
            warn!("asked twice: ending at once");
            std::process::exit(IMPATIENT_EXIT_CODE);
        });
    })?;
    Ok(())
}

fn reload(tls: Option<&Tls>) {
    match tls.map(Tls::reload) {
        Some(Ok(())) => info!("certificates were read again"),
        Some(Err(error)) => {
            error!(%error, "the certificates in use stay, because the new ones cannot be used")
        }
        None => info!("there is nothing to read again on SIGHUP"),
    }
}
