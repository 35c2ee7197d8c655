//! File descriptors: a store that has none left cannot begin a datafile, so clients must leave it some.
//!
//! At the start the limit is raised as far as the system allows, and `maxclients` is fitted into what remains beside the
//! descriptors that the store keeps for itself. Clients beyond it are accepted, told so and closed, which needs one
//! descriptor at a time. Texts are Redis'.

use std::path::Path;

use edgecask_core::server::{HomeBounds, Settings};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

use crate::limits::{RESERVED_DESCRIPTORS, RESERVED_DESCRIPTORS_PART};

/// Fits `maxclients` into the limit of open descriptors, and bounds what CONFIG SET may make of it. The store is, or will
/// be, in `directory`.
pub fn fit_clients(settings: Settings, directory: &Path) -> Settings {
    let wanted = u64::try_from(settings.number("maxclients")).unwrap_or_default();
    let Some(limit) = raise_limit() else { return settings };
    let kept = RESERVED_DESCRIPTORS.min(limit / RESERVED_DESCRIPTORS_PART);
    // Every file of the store may be open all the time.
    let files = std::fs::read_dir(directory).map_or(0, |entries| entries.count() as u64);
    let clients_max = limit.saturating_sub(kept).saturating_sub(files).max(1);
    let bounds = *settings.bounds();
    let settings =
        settings.within(HomeBounds { clients_max: i64::try_from(clients_max).unwrap_or(i64::MAX), ..bounds });
    if wanted > clients_max {
        let needed = wanted.saturating_add(kept).saturating_add(files);
        warn!("You requested maxclients of {wanted} requiring at least {needed} max file descriptors.");
        // Accepted: it is what the bound allows.
        let _ = settings.set("maxclients", &clients_max.to_string());
        warn!(
            "Current maximum open files is {limit}. maxclients has been reduced to {clients_max} to compensate for low \
             ulimit. If you need higher maxclients increase 'ulimit -n'."
        );
    }
    settings
}

/// Raises the soft limit of open descriptors to the hard one; returns the limit there is then, if there is one.
fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    if limit.maximum == Some(current) {
        return Some(current);
    }
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            warn!("Server can't set maximum open files to {:?} because of OS error: {error}.", limit.maximum);
            Some(current)
        }
    }
}
