//! File descriptors: a store that has none left cannot begin a datafile, so clients must leave it some.
//!
//! At the start the limit is raised as far as the system allows, and `maxclients` is fitted into what remains beside the
//! descriptors that the store keeps for itself. Clients beyond it are accepted, told so and closed, which needs one
//! descriptor at a time. Texts are Redis'.

use std::path::Path;

use edgecask_core::limits::UNSYNCED_BLOBS_MAX;
use edgecask_core::server::{HomeBounds, Settings};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

use crate::limits::{CLIENTS_LEAST, RESERVED_DESCRIPTORS, RESERVED_DESCRIPTORS_PART};

/// How the descriptors that there may be are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    /// For what the store opens beside its present datafiles, and for the process itself.
    kept: u64,
    /// For connections.
    clients: u64,
    /// Of those that are kept: for blobs that wait for a sync.
    unsynced_blobs: usize,
}

impl Shares {
    /// Shares out so many descriptors in a process whose store has so many datafiles, all of which are open all the time.
    /// Blobs are open while they are read or written.
    fn of(limit: u64, datafiles: u64) -> Shares {
        let kept = RESERVED_DESCRIPTORS.min(limit / RESERVED_DESCRIPTORS_PART);
        let left = limit.saturating_sub(kept).saturating_sub(datafiles);
        let clients = left.max(CLIENTS_LEAST.min(limit / RESERVED_DESCRIPTORS_PART)).max(1);
        let unsynced_blobs = usize::try_from(kept / 2).unwrap_or(UNSYNCED_BLOBS_MAX);
        Shares { kept, clients, unsynced_blobs: unsynced_blobs.clamp(1, UNSYNCED_BLOBS_MAX) }
    }
}

/// Fits `maxclients` into the limit of open descriptors, and bounds what CONFIG SET may make of it. The store is, or will
/// be, in `directory`. Returns how many blobs may wait for a sync as well.
pub fn fit_clients(settings: Settings, directory: &Path) -> (Settings, usize) {
    let wanted = u64::try_from(settings.number("maxclients")).unwrap_or_default();
    let Some(limit) = raise_limit() else { return (settings, UNSYNCED_BLOBS_MAX) };
    let files = datafiles(directory);
    let Shares { kept, clients: clients_max, unsynced_blobs } = Shares::of(limit, files);
    if kept.saturating_add(files).saturating_add(clients_max) > limit {
        warn!(
            "The store has {files} datafiles and {limit} files may be open: writes will be refused for want of descriptors. \
             Increase 'ulimit -n'."
        );
    }
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
    (settings, unsynced_blobs)
}

/// How many blobs may wait for a sync in a process that is not ours alone, so that its limit stays as it is.
pub fn unsynced_blobs_max(directory: &Path) -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(UNSYNCED_BLOBS_MAX, |limit| Shares::of(limit, datafiles(directory)).unsynced_blobs)
}

/// How many datafiles there are in a directory.
fn datafiles(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_datafile = |path: &Path| path.extension().is_some_and(|extension| extension == "data");
    entries.filter(|entry| is_datafile(&entry.path())).count() as u64
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

#[cfg(test)]
mod tests {
    use super::{Shares, datafiles};

    #[test]
    fn blobs_leave_no_descriptors_to_clients() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["0000000001.data", "0000000002.data", "MANIFEST", "0000000003.hidden"] {
            std::fs::write(directory.path().join(name), b"").expect("writes");
        }
        for number in 0..100 {
            std::fs::write(directory.path().join(format!("{number:020}.blob")), b"").expect("writes");
        }
        assert_eq!(datafiles(directory.path()), 2);
        assert_eq!(datafiles(&directory.path().join("none")), 0);
    }

    #[test]
    fn nothing_is_left_for_clients_or_the_store() {
        assert_eq!(Shares::of(16_384, 2), Shares { kept: 1024, clients: 15_358, unsynced_blobs: 512 });
        assert_eq!(Shares::of(256, 0), Shares { kept: 64, clients: 192, unsynced_blobs: 32 });
        // More datafiles than may be open.
        assert_eq!(Shares::of(1024, 5000), Shares { kept: 256, clients: 32, unsynced_blobs: 128 });
        assert_eq!(Shares::of(3, 9), Shares { kept: 0, clients: 1, unsynced_blobs: 1 });
    }
}
