//! Room on the device: how large datafiles may become, how much is reserved, and when merge must take what it can get.
//!
//! A merge needs room for its output before it gives back its inputs. So a store that has filled its device can be freed from
//! inside only if something is left: ordinary writes leave a *reserve* of two datafiles, which commits that only take away
//! and merges may use in part ([`Room`](crate::storage::Room)). A datafile of which half is dead fits into what merge may
//! use, because datafiles are small on a small device.

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
        let reserve_bytes = datafile_max_bytes.saturating_mul(2).min(within_reach / RESERVE_PART);
        let is_scarce = free_bytes < reserve_bytes.saturating_mul(2);
        Plan { datafile_max_bytes, reserve_bytes, is_scarce }
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, Plan};
    use crate::storage::Room;

    const MB: u64 = 1024 * 1024;

    fn plan(free_bytes: u64, used_bytes: u64, live_bytes: u64) -> Plan {
        Facts { datafile_max_bytes: 256 * MB, free_bytes: Some(free_bytes), used_bytes, live_bytes }.plan()
    }

    #[test]
    fn merge_has_no_room_for_its_output() {
        for (free, used) in [(64 * MB, 0), (0, 64 * MB), (1 << 20, 1 << 20), (1 << 40, 0), (9000 * MB, MB)] {
            for live in [0, used / 2, used] {
                let plan = plan(free, used, live);
                // What removals must leave, less what merge must leave.
                let merge =
                    Room::TakingAway.leaves(plan.reserve_bytes) - Room::Merging.leaves(plan.reserve_bytes);
                assert!(merge >= plan.datafile_max_bytes / 2, "{plan:?}");
            }
        }
    }

    #[test]
    fn reserve_takes_much_of_a_disk() {
        assert_eq!(plan(64 * MB, 0, 0).reserve_bytes, 4 * MB);
        assert_eq!(plan(1 << 40, 0, 0).reserve_bytes, 128 * MB);
        assert_eq!(plan(1 << 40, 1 << 40, 1 << 40).reserve_bytes, 512 * MB);
        assert!(!plan(1 << 40, 1 << 40, 1 << 40).is_scarce);
        assert!(plan(7 * MB, 57 * MB, 5 * MB).is_scarce);
    }
}
