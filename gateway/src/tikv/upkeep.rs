//! The thread that keeps house in a store that is in a cluster: a step of the core's, keys that have expired, a rest.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use edgecask_core::executor::Expiry;
use edgecask_core::ordered::Pace;

use crate::clock::now_ms;
use crate::gateway::Gateway;
use crate::limits::EXPIRE_STEP_KEYS;

/// It rests after a step for as long as the step took, but no longer than this: most of the time it has only waited.
const REST_MAX: Duration = Duration::from_millis(10);

/// The loop of the thread, until maintenance is to stop.
pub fn run(gateway: &Gateway, pace: Pace) {
    let server = &gateway.server;
    let Some(cluster) = server.engine.cluster() else { return };
    let mut expiry = Expiry::new(&server.shared);
    expiry.set_has_thread();
    loop {
        let begin = Instant::now();
        let rest = Duration::from_millis(cluster.upkeep(now_ms(), pace));
        let mut has_expired = false;
        if cluster.has_expired_keys() && server.shared.expires_actively.load(Ordering::Relaxed) {
            has_expired = remove_expired(gateway, &mut expiry);
        }
        let rest = if has_expired { Duration::ZERO } else { rest };
        if gateway.maintenance.rest_keys(rest.max(begin.elapsed().min(REST_MAX))) {
            break;
        }
    }
    cluster.end_upkeep(now_ms());
}

/// Removes some keys; true if there may be more.
fn remove_expired(gateway: &Gateway, expiry: &mut Expiry) -> bool {
    loop {
        match expiry.step(&gateway.server, now_ms(), EXPIRE_STEP_KEYS) {
            Ok(expired) if expired.is_suspended && expiry.wait(&gateway.server) => {}
            Ok(expired) => return expired.has_more && expired.keys > 0,
            // The cluster does not answer. Hints stay until their keys are gone.
            Err(_) => return false,
        }
    }
}
