//! A device that forgets: what the disk of a crashed machine may hold, decided by a seed.
//!
//! One [`Simulation`] is one machine: a directory of files and a metadata map over one count of operations. Every
//! operation that changes something (write, sync, set_len, create, rename, remove, sync_directory, apply,
//! apply_lazily) has a number, from 0; faults are planned for numbers. A crash test runs its workload once to learn how
//! many operations it makes, then once for each of them with the power cut there, and for every [`Survival`] opens what
//! is left and looks whether everything that was acknowledged is still there. Or it runs its workload once and takes what a
//! cut at each of the operations would have left ([`Simulation::record_cuts`]).
//!
//! The model of the disk is the weakest that POSIX allows and that databases are written for:
//! - Contents of a file are durable after its sync, names after the sync of the directory, neither implies the other.
//! - Before that any part may survive, in any order; a sector of 512 bytes is old or new, never a mixture.
//! - A sync that fails drops the unsynced bytes (of the directory: names): they stay readable, later syncs succeed, they
//!   never become durable. A process started again without a loss of power cannot tell, so tests must not promise
//!   anything about what it builds on them.
//! - A rename is atomic. The metadata map is atomic, and `apply` is durable when it returned.
//!
//! The loss of power begins another run of the machine ([`super::Storage::boot_id`]); the end of a process does not.
//!
//! It must never read a clock or draw randomness that does not come from its seed.

#[cfg(test)]
mod crash_tests;
mod device;
mod disk;
mod recording;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

pub use device::{SimulatedDevice, SimulatedFile, SimulatedMeta};
pub use recording::Cut;

use super::device::Bug;
use super::{DeviceStorage, Result};
use disk::Disk;

/// [`super::Storage`] on a simulated machine.
pub type SimulatedStorage = DeviceStorage<SimulatedDevice, SimulatedMeta>;

/// Where in an operation the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before anything of it happened.
    Before,
    /// In the middle: a write reaches the operating system in part, anything else may or may not have happened.
    During,
}

/// What of the unsynced changes the loss of power leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// Nothing.
    None,
    /// Everything.
    All,
    /// Of each file the first few changes, the last one in part (cut at a sector or anywhere); of the directory and of
    /// the metadata map the first few. How many is decided by the seed.
    Torn(u64),
    /// Of each file some sectors, the others old or zero, and some length it had; some of the changes of names, each by
    /// itself; of the metadata map the first few. Which is decided by the seed.
    Subset(u64),
}

impl Survival {
    /// One of each kind, and a second of those that have a seed.
    pub fn samples(seed: u64) -> [Survival; 6] {
        let other = seed.wrapping_add(1);
        [
            Survival::None,
            Survival::All,
            Survival::Torn(seed),
            Survival::Torn(other),
            Survival::Subset(seed),
            Survival::Subset(other),
        ]
    }
}

/// A machine. Clones are the same machine; [`Simulation::after_power_loss`] and [`Simulation::after_kill`] make a new
/// one and leave this one as it is, so that one run can end in many ways.
#[derive(Clone, Debug)]
pub struct Simulation {
    disk: Arc<Mutex<Disk>>,
}

impl Simulation {
    /// A machine with an empty disk. The seed decides how much of an interrupted or failing operation happens.
    pub fn new(seed: u64) -> Simulation {
        Simulation::with(Disk::new(seed))
    }

    fn with(disk: Disk) -> Simulation {
        Simulation { disk: Arc::new(Mutex::new(disk)) }
    }

    /// Opens the store on this machine, with the injected bug if there is one.
    pub fn open(&self) -> Result<SimulatedStorage> {
        let bug = self.disk.lock().plan.bug;
        SimulatedStorage::open_with_bug(self.device(), self.meta(), bug)
    }

    /// The directory of this machine.
    pub fn device(&self) -> SimulatedDevice {
        SimulatedDevice::new(self.disk.clone())
    }

    /// The metadata map of this machine.
    pub fn meta(&self) -> SimulatedMeta {
        SimulatedMeta::new(self.disk.clone())
    }

    /// How many operations began, which is the number of the next one.
    pub fn operations(&self) -> u64 {
        self.disk.lock().operations
    }

    /// The machine after the loss of power, now or when it was planned: what survived, all of it durable, no handles,
    /// no planned faults, operations counted from 0. Capacity, preallocation and injected bug stay.
    pub fn after_power_loss(&self, survival: Survival) -> Simulation {
        Simulation::with(self.disk.lock().after_power_loss(survival))
    }

    /// The machine after the end of the process only: every change that returned is there, and still unsynced if it
    /// was. Works also after a planned loss of power, as if that had been the end of the process.
    pub fn after_kill(&self) -> Simulation {
        Simulation::with(self.disk.lock().after_kill())
    }

    /// Plans the loss of power: that operation and every later call, reads included, fail.
    pub fn cut_power_at(&self, operation: u64, moment: Moment) {
        self.disk.lock().plan.power_cut = Some((operation, moment));
    }

    /// Begins to keep what the loss of power before, and during, each operation would leave, while the run goes on.
    pub fn record_cuts(&self) {
        self.disk.lock().cuts.get_or_insert_default();
    }

    /// The cuts of the operations since the last call, in their order. None are kept without [`Simulation::record_cuts`].
    pub fn take_cuts(&self) -> Vec<Cut> {
        let cuts = self.disk.lock().cuts.as_mut().map(std::mem::take).unwrap_or_default();
        cuts.into_iter().map(Cut::of).collect()
    }

    /// Plans an input/output error of one operation.
    pub fn fail_at(&self, operation: u64) {
        self.disk.lock().plan.fail_at = Some(operation);
    }

    /// Plans input/output errors of all operations from this one on.
    pub fn fail_from(&self, operation: u64) {
        self.disk.lock().plan.fail_from = Some(operation);
    }

    /// Plans a full disk: from this operation on nothing can be created, no file grows and no metadata is put.
    pub fn full_from(&self, operation: u64) {
        self.disk.lock().plan.full_from = Some(operation);
    }

    /// Makes the process have no file descriptors left: no file can be created or opened. That is no fault of the disk.
    pub fn set_out_of_descriptors(&self, is_out: bool) {
        self.disk.lock().plan.is_out_of_descriptors = is_out;
    }

    /// Limits the sum of the lengths of all files; what would exceed it is refused as full.
    pub fn set_capacity_bytes(&self, capacity_bytes: Option<u64>) {
        self.disk.lock().plan.capacity_bytes = capacity_bytes;
    }

    /// Makes files grow in steps of so many bytes (0: exactly as needed), as homes do that preallocate: one that opens a
    /// file later finds zeros behind what was written, until it is cut. The process that writes does not see them.
    pub fn set_preallocation_bytes(&self, step_bytes: u64) {
        self.disk.lock().plan.preallocation_bytes = step_bytes;
    }

    /// Makes this machine, and the storage that [`Simulation::open`] gives, wrong in a classic way.
    #[doc(hidden)]
    pub fn inject(&self, bug: Option<Bug>) {
        self.disk.lock().plan.bug = bug;
    }

    /// Forgets planned faults and the capacity. A power that is already cut stays cut.
    pub fn clear_faults(&self) {
        let plan = &mut self.disk.lock().plan;
        *plan = disk::Plan { capacity_bytes: None, ..plan.without_faults() };
    }

    /// The faults that happened so far, in words, for the messages of failing tests.
    pub fn faults_seen(&self) -> Vec<String> {
        self.disk.lock().faults_seen.clone()
    }

    /// All names in the directory, in order.
    pub fn file_names(&self) -> Vec<String> {
        self.disk.lock().names.keys().cloned().collect()
    }

    /// What a file holds as seen by readers.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.disk.lock().bytes(name)
    }

    /// Puts a file there, durably, in place of what had this name.
    pub fn set_bytes(&self, name: &str, bytes: Vec<u8>) {
        self.disk.lock().set_bytes(name, bytes);
    }

    /// Takes a name away, durably. False if there was none.
    pub fn remove_file(&self, name: &str) -> bool {
        self.disk.lock().remove_file(name)
    }

    /// Flips one bit (0 to 7) of a file, on the disk and for readers. False if the file is not that long.
    pub fn flip_bit(&self, name: &str, offset: u64, bit: u8) -> bool {
        self.disk.lock().flip_bit(name, offset, bit)
    }

    /// A copy of the metadata map as seen by readers.
    pub fn meta_copy(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        self.disk.lock().pairs.clone()
    }

    /// Replaces the metadata map, durably: by nothing, by an older copy, by lies.
    pub fn set_meta(&self, pairs: BTreeMap<Vec<u8>, Vec<u8>>) {
        self.disk.lock().set_meta(pairs);
    }
}
