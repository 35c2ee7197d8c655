//! Room on the device: how large datafiles may become, how much is reserved, and when merge must take what it can get.
//!
//! A merge needs room for its output before it gives back its inputs. So a store that has filled its device can be freed from
//! inside only if something is left: ordinary writes leave a *reserve* of two datafiles, which commits that only take away
//! and merges may use in part ([`Room`](crate::storage::Room)). A datafile of which half is dead fits into what merge may
//! use, because datafiles are small on a small device.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A datafile takes at most this part of what the store has or could have.
const DATAFILE_PART: u64 = 32;

/// But so much in any case: a file costs a sync of the directory.
const DATAFILE_LEAST_BYTES: u64 = 64 * 1024;

/// With little live data datafiles are small as well, because merge cannot touch the one that is appended to.
const DATAFILE_PART_OF_LIVE: u64 = 8;

/// Files below this size gain nothing any more and cost syncs.
const SMALL_DATAFILE_BYTES: u64 = 64 * 1024 * 1024;

/// The reserve takes at most this part of what the store has or could have.
const RESERVE_PART: u64 = 8;

/// The same while a datafile is larger than one that is begun now: an earlier build made it, or one transaction fills it.
const RESERVE_PART_FOR_LARGE: u64 = 4;

/// What is known when a datafile is begun, and whenever merge looks for work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The largest datafile that the options allow.
    pub(super) datafile_max_bytes: u64,
    /// What is free on the device, if that is known.
    pub(super) free_bytes: Option<u64>,
    /// What datafiles and blobs take.
    pub(super) used_bytes: u64,
    /// What of the datafiles is live.
    pub(super) live_bytes: u64,
    /// The largest datafile that is there.
    pub(super) largest_bytes: u64,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// A datafile is sealed before it grows beyond this.
    pub(super) datafile_max_bytes: u64,
    /// What ordinary writes leave free.
    pub(super) reserve_bytes: u64,
    /// Whether ordinary writes are refused soon, or already.
    pub(super) is_scarce: bool,
}

impl Facts {
    pub(super) fn plan(self) -> Plan {
        let by_live = (self.live_bytes / DATAFILE_PART_OF_LIVE).max(SMALL_DATAFILE_BYTES);
        let wanted = self.datafile_max_bytes.min(by_live);
        let Some(free_bytes) = self.free_bytes else {
            return Plan { datafile_max_bytes: wanted, reserve_bytes: 0, is_scarce: false };
        };
        let within_reach = free_bytes.saturating_add(self.used_bytes);
        let datafile_max_bytes = wanted.min((within_reach / DATAFILE_PART).max(DATAFILE_LEAST_BYTES));
        let two_datafiles = datafile_max_bytes.saturating_mul(2).min(within_reach / RESERVE_PART);
        let reserve_bytes = if self.largest_bytes > datafile_max_bytes {
            let two_large = self.largest_bytes.saturating_mul(2).min(within_reach / RESERVE_PART_FOR_LARGE);
            two_large.max(two_datafiles)
        } else {
            two_datafiles
        };
        let is_scarce = free_bytes < reserve_bytes.saturating_mul(2);
        Plan { datafile_max_bytes, reserve_bytes, is_scarce }
    }
}

/// Room is there again once so much more than the reserve is free, in parts of it.
const CLEAR_PART: u64 = 4;

/// Whether ordinary writes are refused because the device is full. It does not change from moment to moment: it lasts from
/// the first refusal until a write as long as the refused one has succeeded, or clearly more is free than was then.
#[derive(Default)]
pub(super) struct Fullness {
    /// Less than the reserve is free.
    lacks_room: AtomicBool,
    was_refused: AtomicBool,
    /// The longest write that was refused, and the least that was free then.
    refused_bytes: AtomicU64,
    free_then_bytes: AtomicU64,
}

impl Fullness {
    pub(super) fn is_on(&self) -> bool {
        self.lacks_room.load(Ordering::Relaxed) || self.was_refused.load(Ordering::Relaxed)
    }

    /// A write of so many bytes was refused when so much was free, if that is known.
    pub(super) fn note_refused(&self, bytes: u64, free_bytes: Option<u64>) {
        let free_bytes = free_bytes.unwrap_or(u64::MAX);
        if self.was_refused.load(Ordering::Relaxed) {
            self.refused_bytes.fetch_max(bytes, Ordering::Relaxed);
            self.free_then_bytes.fetch_min(free_bytes, Ordering::Relaxed);
        } else {
            self.refused_bytes.store(bytes, Ordering::Relaxed);
            self.free_then_bytes.store(free_bytes, Ordering::Relaxed);
            self.was_refused.store(true, Ordering::Release);
        }
    }

    /// An ordinary write of so many bytes has succeeded.
    #[inline]
    pub(super) fn note_written(&self, bytes: u64) {
        if self.was_refused.load(Ordering::Relaxed) && bytes >= self.refused_bytes.load(Ordering::Relaxed) {
            self.was_refused.store(false, Ordering::Relaxed);
        }
    }

    /// Looks at what is free now.
    pub(super) fn look(&self, free_bytes: Option<u64>, reserve_bytes: u64) {
        let Some(free_bytes) = free_bytes else { return };
        let clear_bytes = reserve_bytes.saturating_add(reserve_bytes / CLEAR_PART);
        if free_bytes < reserve_bytes {
            self.lacks_room.store(true, Ordering::Relaxed);
        } else if free_bytes >= clear_bytes {
            self.lacks_room.store(false, Ordering::Relaxed);
        }
        if self.was_refused.load(Ordering::Acquire) {
            // A quota refuses while much is free, so what was free then counts as well.
            let refused_bytes = self.refused_bytes.load(Ordering::Relaxed).max(reserve_bytes / CLEAR_PART);
            let least = reserve_bytes.max(self.free_then_bytes.load(Ordering::Relaxed));
            if free_bytes >= least.saturating_add(refused_bytes) {
                self.was_refused.store(false, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, Fullness, Plan};
    use crate::storage::Room;

    const MB: u64 = 1024 * 1024;

    fn plan(free_bytes: u64, used_bytes: u64, live_bytes: u64) -> Plan {
        Facts {
            datafile_max_bytes: 256 * MB,
            free_bytes: Some(free_bytes),
            used_bytes,
            live_bytes,
            largest_bytes: 0,
        }
        .plan()
    }

    #[test]
    fn merge_has_no_room_for_its_output() {
        for (free, used) in [(64 * MB, 0), (0, 64 * MB), (1 << 20, 1 << 20), (1 << 40, 0), (9000 * MB, MB)] {
            for live in [0, used / 2, used] {
                let plan = plan(free, used, live);
                // What removals must leave, less what merge must leave.
                let merge = Room::TakingAway.leaves(plan.reserve_bytes, 0)
                    - Room::Merging.leaves(plan.reserve_bytes, 0);
                assert!(merge >= plan.datafile_max_bytes / 2, "{plan:?}");
            }
        }
    }

    /// Half of a file of an earlier build is dead, on a disk of two gigabytes.
    #[test]
    fn large_file_of_an_earlier_build_is_never_merged() {
        let facts = Facts {
            datafile_max_bytes: 256 * MB,
            free_bytes: Some(1000 * MB),
            used_bytes: 1000 * MB,
            live_bytes: 900 * MB,
            largest_bytes: 256 * MB,
        };
        let reserve_bytes = facts.plan().reserve_bytes;
        let room = Room::TakingAway.leaves(reserve_bytes, 0) - Room::Merging.leaves(reserve_bytes, 0);
        assert!(room >= 128 * MB, "{room}");
        assert_eq!(Facts { largest_bytes: 60 * MB, ..facts }.plan().reserve_bytes, 125 * MB);
    }

    #[test]
    fn reserve_takes_much_of_a_disk() {
        assert_eq!(plan(64 * MB, 0, 0).reserve_bytes, 4 * MB);
        assert_eq!(plan(1 << 40, 0, 0).reserve_bytes, 128 * MB);
        assert_eq!(plan(1 << 40, 1 << 40, 1 << 40).reserve_bytes, 512 * MB);
        assert!(!plan(1 << 40, 1 << 40, 1 << 40).is_scarce);
        assert!(plan(7 * MB, 57 * MB, 5 * MB).is_scarce);
    }

    #[test]
    fn health_flaps_on_a_full_device() {
        let (reserve, full) = (4 * MB, Fullness::default());
        // More than the reserve is free, and less than a write needs.
        full.look(Some(5 * MB), reserve);
        assert!(!full.is_on());
        full.note_refused(MB, Some(5 * MB));
        for _ in 0..10 {
            full.look(Some(5 * MB), reserve);
            full.note_written(MB - 1);
            assert!(full.is_on(), "nothing has changed");
        }
        full.note_written(MB);
        assert!(!full.is_on(), "such a write succeeds");
        full.note_refused(MB, Some(5 * MB));
        full.look(Some(6 * MB), reserve);
        assert!(!full.is_on(), "there is room");
        // Others fill the device, and nobody writes.
        full.look(Some(4 * MB - 1), reserve);
        full.note_written(MB);
        full.look(Some(4 * MB), reserve);
        assert!(full.is_on(), "hardly any more");
        full.look(Some(5 * MB), reserve);
        assert!(!full.is_on(), "there is room");
    }

    #[test]
    fn quota_is_taken_for_room() {
        let full = Fullness::default();
        full.note_refused(MB, Some(1000 * MB));
        full.look(Some(1000 * MB), 4 * MB);
        assert!(full.is_on());
        full.look(Some(1002 * MB), 4 * MB);
        assert!(!full.is_on(), "something was removed");
        full.note_refused(MB, None);
        full.look(None, 4 * MB);
        assert!(full.is_on());
        full.note_written(MB);
        assert!(!full.is_on());
    }
}
