//! SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once.

use std::io;
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use crate::gateway::Gateway;
use crate::stop::StopRequest;

/// The exit code of a process that was told twice.
const IMPATIENT_EXIT_CODE: i32 = 1;

/// Starts the thread that listens for signals.
pub fn watch(gateway: &Arc<Gateway>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let gateway = Arc::downgrade(gateway);
    // Before the thread, so that no signal is missed once this function has returned.
    let (mut terminate, mut interrupt) = {
        let _inside = runtime.enter();
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
    };
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            for is_first in [true, false] {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
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
