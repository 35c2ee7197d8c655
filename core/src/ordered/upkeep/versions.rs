//! Letting go of versions of values that no transaction sees any more: every write leaves one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Timer;
use super::site::Site;
use crate::ordered::cluster::{Cluster, ClusterError};

/// The state of it, which the cluster's call reaches.
#[derive(Debug, Default)]
struct State {
    is_under_way: AtomicBool,
    /// Up to when versions are gone, in milliseconds of the cluster's clock.
    safe_point_ms: AtomicU64,
    failures: AtomicU64,
}

/// The collecting of versions.
#[derive(Debug, Default)]
pub(super) struct Versions {
    state: Arc<State>,
    timer: Mutex<Timer>,
}

impl Versions {
    /// Begins anew from time to time, unless it is still under way.
    pub(super) fn step<C: Cluster>(&self, site: &Site<'_, C>) -> Result<bool, ClusterError> {
        let life_ms = site.pace.life_ms;
        if !site.pace.collects_versions || !self.timer.lock().is_due(site.now_ms, life_ms / 4) {
            return Ok(false);
        }
        if self.state.is_under_way.swap(true, Ordering::Relaxed) {
            return Ok(false);
        }
        let state = self.state.clone();
        site.cluster.collect_versions(
            life_ms,
            Box::new(move |outcome| {
                match outcome {
                    Ok(safe_point_ms) => {
                        state.safe_point_ms.fetch_max(safe_point_ms.unwrap_or(0), Ordering::Relaxed);
                    }
                    Err(_) => {
                        state.failures.fetch_add(1, Ordering::Relaxed);
                    }
                }
                state.is_under_way.store(false, Ordering::Relaxed);
            }),
        );
        Ok(false)
    }

    /// Up to when versions are gone, and how often it failed.
    pub(super) fn facts(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.state.safe_point_ms), read(&self.state.failures))
    }
}
