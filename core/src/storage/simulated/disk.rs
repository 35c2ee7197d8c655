//! What a simulated disk holds: for readers, durably, and in between.
//!
//! Invariant: what readers see is what is durable with all pending changes made, except for what a failed sync dropped
//! from the pending ones and for preallocated zeros, which only the next process sees.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;

use super::super::device::Bug;
use super::super::memory::{Pairs, apply_to_pairs, overwrite, resize};
use super::super::{MetaOp, Result, StorageError};
use super::{Moment, Survival};

/// What a disk writes whole or not at all.
const SECTOR_BYTES: usize = 512;

/// The number of a file's contents, whatever its name.
pub(super) type Inode = u64;

/// A change of a file's contents.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    SetLen(u64),
}

impl Change {
    pub(super) fn apply(&self, bytes: &mut Vec<u8>) -> Result<()> {
        match self {
            Change::Write { offset, bytes: new } => overwrite(bytes, *offset, &[new]),
            Change::SetLen(len) => resize(bytes, *len),
        }
    }

    /// The length of a file of `len` bytes afterwards.
    pub(super) fn len_after(&self, len: u64) -> u64 {
        match self {
            Change::Write { bytes, .. } if bytes.is_empty() => len,
            Change::Write { offset, bytes } => len.max(offset.saturating_add(bytes.len() as u64)),
            Change::SetLen(len) => *len,
        }
    }
}

/// The contents of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// What readers see.
    pub(super) visible: Vec<u8>,
    durable: Vec<u8>,
    /// Unsynced changes in their order.
    pending: Vec<Change>,
    /// The length the next process finds: with preallocation it is larger than what readers of this one see.
    allocated: u64,
    pub(super) handles: usize,
}

impl Contents {
    /// Makes a change; a file that grows is preallocated up to the next multiple of `step` bytes behind `reach`.
    pub(super) fn change(&mut self, change: Change, reach: u64, step: u64) -> Result<()> {
        change.apply(&mut self.visible)?;
        let len = self.visible.len() as u64;
        let needed = if step > 0 { len.max(reach) } else { len };
        match change {
            Change::SetLen(len) => self.allocated = len,
            Change::Write { .. } if needed > self.allocated => {
                self.allocated = needed.next_multiple_of(step.max(1));
                if self.allocated > len {
                    self.pending.push(Change::SetLen(self.allocated));
                }
            }
            Change::Write { .. } => {}
        }
        self.pending.push(change);
        Ok(())
    }

    /// What the next process sees if this one just ends.
    fn end_process(&mut self) {
        self.handles = 0;
        let allocated = usize::try_from(self.allocated).unwrap_or(usize::MAX);
        self.visible.resize(allocated.max(self.visible.len()), 0);
    }

    /// Makes pending changes durable.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.pending.drain(..).try_for_each(|change| change.apply(&mut self.durable))
    }

    /// A sync that fails: readers still see the bytes, but nothing will ever make them durable.
    pub(super) fn forget_pending(&mut self) {
        self.pending.clear();
    }

    fn make_all_durable(&mut self, bytes: Vec<u8>) {
        *self = Contents {
            durable: bytes.clone(),
            allocated: bytes.len() as u64,
            visible: bytes,
            pending: Vec::new(),
            handles: self.handles,
        };
    }

    fn flip(&mut self, offset: usize, mask: u8) -> bool {
        let flip = |bytes: &mut [u8], at: Option<usize>| {
            at.and_then(|at| bytes.get_mut(at)).map(|byte| *byte ^= mask).is_some()
        };
        flip(&mut self.durable, Some(offset));
        for change in &mut self.pending {
            if let Change::Write { offset: start, bytes } = change {
                flip(bytes, usize::try_from(*start).ok().and_then(|start| offset.checked_sub(start)));
            }
        }
        flip(&mut self.visible, Some(offset))
    }

    /// What the loss of power leaves.
    fn survivors(&self, survival: Survival, random: &mut Rng) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let kept = match survival {
            Survival::None => 0,
            Survival::All => self.pending.len(),
            Survival::Torn(_) => random.usize(..=self.pending.len()),
            Survival::Subset(_) => return self.some_sectors(random),
        };
        let mut survivors: Vec<Change> = self.pending.iter().take(kept).cloned().collect();
        if let (Survival::Torn(_), Some(Change::Write { offset, bytes })) = (survival, self.pending.get(kept))
        {
            let mut end = random.usize(..=bytes.len());
            if random.bool() {
                let past_sector = (offset.wrapping_add(end as u64) % SECTOR_BYTES as u64) as usize;
                end = end.saturating_sub(past_sector);
            }
            survivors.push(Change::Write { offset: *offset, bytes: bytes[..end].to_vec() });
        }
        for change in &survivors {
            replay(change, &mut bytes);
        }
        bytes
    }

    fn some_sectors(&self, random: &mut Rng) -> Vec<u8> {
        // Bytes past the end are zeros here, so that the sectors of old and new line up whatever their lengths were.
        let (mut old, mut new) = (self.durable.clone(), self.durable.clone());
        let mut lengths = vec![self.durable.len()];
        let mut touched = BTreeSet::new();
        for change in &self.pending {
            let before = new.len();
            replay(change, &mut new);
            lengths.push(new.len());
            let span = match change {
                Change::Write { offset, bytes } => {
                    let start = usize::try_from(*offset).unwrap_or(usize::MAX);
                    start.min(before)..start.saturating_add(bytes.len())
                }
                Change::SetLen(_) => before.min(new.len())..before.max(new.len()),
            };
            if !span.is_empty() {
                touched.extend(span.start / SECTOR_BYTES..=(span.end - 1) / SECTOR_BYTES);
            }
        }
        // The file system may also have grown the file sector by sector.
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let whole_sectors = longest - longest % SECTOR_BYTES;
        lengths.extend((whole_sectors > self.durable.len()).then_some(whole_sectors));
        let len = random.choice(lengths).unwrap_or(0);
        old.resize(len, 0);
        new.resize(len, 0);
        for (number, sector) in old.chunks_mut(SECTOR_BYTES).enumerate() {
            if touched.contains(&number) && random.bool() {
                let start = number * SECTOR_BYTES;
                sector.copy_from_slice(&new[start..start + sector.len()]);
            }
        }
        old
    }
}

/// Makes a change that was possible when it was made the first time.
fn replay(change: &Change, bytes: &mut Vec<u8>) {
    change.apply(bytes).expect("Invariant: a pending change fitted into memory once already");
}

/// A change of the directory. It names the contents too, so that it means something even when those before it are lost.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Create(String, Inode),
    Rename(String, String, Inode),
    Remove(String, Inode),
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, Inode>) {
        let mut unlink = |name: &String, inode: &Inode| {
            if names.get(name) == Some(inode) {
                names.remove(name);
            }
        };
        match self {
            NameChange::Create(name, inode) => {
                names.insert(name.clone(), *inode);
            }
            NameChange::Rename(from, to, inode) => {
                unlink(from, inode);
                names.insert(to.clone(), *inode);
            }
            NameChange::Remove(name, inode) => unlink(name, inode),
        }
    }
}

/// The faults to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) power_cut: Option<(u64, Moment)>,
    pub(super) fail_at: Option<u64>,
    pub(super) fail_from: Option<u64>,
    pub(super) full_from: Option<u64>,
    pub(super) capacity_bytes: Option<u64>,
    pub(super) is_out_of_descriptors: bool,
    /// Files grow in steps of so many bytes, if not 0.
    pub(super) preallocation_bytes: u64,
    pub(super) bug: Option<Bug>,
}

impl Plan {
    /// What stays when the machine or the process starts again.
    pub(super) fn without_faults(&self) -> Plan {
        let (capacity_bytes, bug) = (self.capacity_bytes, self.bug);
        Plan { bug, capacity_bytes, preallocation_bytes: self.preallocation_bytes, ..Plan::default() }
    }
}

/// What becomes of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It succeeds.
    Done,
    /// The power goes in the middle.
    Interrupted,
    /// It fails, and nobody knows how far it got.
    Failed,
}

impl Fate {
    /// What the caller is told.
    pub(super) fn answer(self) -> Result<()> {
        match self {
            Fate::Done => Ok(()),
            Fate::Interrupted => Err(power_is_off()),
            Fate::Failed => Err(StorageError::Io("a planned failure".into())),
        }
    }
}

fn power_is_off() -> StorageError {
    StorageError::Io("the power is off".into())
}

/// One disk with its plan of faults.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    seed: u64,
    pub(super) plan: Plan,
    pub(super) operations: u64,
    /// How often the power came back.
    pub(super) boots: u64,
    power_off: bool,
    pub(super) faults_seen: Vec<String>,
    /// The operation at which the power went.
    pub(super) cut_operation: Option<String>,
    /// The disk as each loss of power so far would have left it, if that is recorded.
    pub(super) cuts: Option<Vec<(Disk, Moment)>>,

    pub(super) names: BTreeMap<String, Inode>,
    durable_names: BTreeMap<String, Inode>,
    pending_names: Vec<NameChange>,
    pub(super) files: BTreeMap<Inode, Contents>,
    next_inode: Inode,

    pub(super) pairs: Pairs,
    durable_pairs: Pairs,
    /// Batches that are not durable yet, in their order.
    pending_pairs: Vec<Vec<MetaOp>>,
}

impl Disk {
    pub(super) fn new(seed: u64) -> Disk {
        Disk {
            seed,
            plan: Plan::default(),
            operations: 0,
            boots: 0,
            power_off: false,
            faults_seen: Vec::new(),
            cut_operation: None,
            cuts: None,
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: Vec::new(),
            files: BTreeMap::new(),
            next_inode: 0,
            pairs: Pairs::new(),
            durable_pairs: Pairs::new(),
            pending_pairs: Vec::new(),
        }
    }

    /// Refuses everything once the power is off.
    pub(super) fn check_power(&self) -> Result<()> {
        if self.power_off { Err(power_is_off()) } else { Ok(()) }
    }

    /// Begins an operation: counts it and tells what becomes of it. `grows` says whether it needs room.
    pub(super) fn begin(&mut self, what: impl Fn() -> String, grows: bool) -> Result<Fate> {
        self.check_power()?;
        let number = self.operations;
        self.operations += 1;
        let mut note = |fault: &str| self.faults_seen.push(format!("{fault} operation {number}: {}", what()));
        match self.plan.power_cut {
            Some((at, Moment::Before)) if at == number => {
                note("power cut before");
                self.power_off = true;
                self.cut_operation = Some(what());
                return Err(power_is_off());
            }
            Some((at, Moment::During)) if at == number => {
                note("power cut during");
                self.power_off = true;
                self.cut_operation = Some(what());
                return Ok(Fate::Interrupted);
            }
            _ => {}
        }
        if self.plan.fail_at == Some(number) || self.plan.fail_from.is_some_and(|from| from <= number) {
            note("failure of");
            return Ok(Fate::Failed);
        }
        if grows && self.plan.full_from.is_some_and(|from| from <= number) {
            note("full disk at");
            return Err(StorageError::Full("a planned shortage".into()));
        }
        Ok(Fate::Done)
    }

    /// Refuses to open a file where no descriptor is left.
    pub(super) fn check_descriptors(&self) -> Result<()> {
        match self.plan.is_out_of_descriptors {
            true => Err(StorageError::Exhausted("a planned want of descriptors".into())),
            false => Ok(()),
        }
    }

    /// The generator for decisions about the operation that just began.
    pub(super) fn random(&self) -> Rng {
        Rng::with_seed(self.seed ^ self.operations.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Refuses a change of a file from `len` to `new_len` bytes when the capacity, less the bytes to leave free, does not
    /// allow it.
    pub(super) fn check_room(&self, len: u64, new_len: u64, leave_bytes: u64) -> Result<()> {
        let growth = new_len.saturating_sub(len);
        match self.free_bytes() {
            Some(free) if growth > 0 && growth > free.saturating_sub(leave_bytes) => {
                Err(StorageError::Full(format!("{free} bytes are free, and {leave_bytes} of them reserved")))
            }
            _ => Ok(()),
        }
    }

    /// What the files leave of the capacity, if there is one.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        let used = || self.files.values().map(|contents| contents.visible.len() as u64).sum();
        self.plan.capacity_bytes.map(|capacity| capacity.saturating_sub(used()))
    }

    /// New contents without a name.
    pub(super) fn new_inode(&mut self) -> Inode {
        self.next_inode += 1;
        self.files.insert(self.next_inode, Contents::default());
        self.next_inode
    }

    pub(super) fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    /// Makes the pending changes of names durable and frees what no name and no handle reaches any more.
    pub(super) fn sync_names(&mut self) {
        for change in self.pending_names.drain(..) {
            change.apply(&mut self.durable_names);
        }
        self.collect();
    }

    /// A sync of the directory that fails: the names stay visible and never become durable.
    pub(super) fn forget_pending_names(&mut self) {
        self.pending_names.clear();
    }

    fn collect(&mut self) {
        let named: BTreeSet<Inode> =
            self.names.values().chain(self.durable_names.values()).copied().collect();
        self.files.retain(|inode, contents| contents.handles > 0 || named.contains(inode));
    }

    pub(super) fn change_pairs(&mut self, changes: &[MetaOp], durably: bool) {
        apply_to_pairs(&mut self.pairs, changes);
        self.pending_pairs.push(changes.to_vec());
        if durably {
            for batch in self.pending_pairs.drain(..) {
                apply_to_pairs(&mut self.durable_pairs, &batch);
            }
        }
    }

    pub(super) fn after_power_loss(&self, survival: Survival) -> Disk {
        let mut random = Rng::with_seed(match survival {
            Survival::None | Survival::All => 0,
            Survival::Torn(seed) | Survival::Subset(seed) => seed ^ self.random().u64(..),
        });
        let mut prefix = |len: usize| match survival {
            Survival::None => 0,
            Survival::All => len,
            Survival::Torn(_) | Survival::Subset(_) => random.usize(..=len),
        };
        let (kept_names, kept_batches) = (prefix(self.pending_names.len()), prefix(self.pending_pairs.len()));

        let mut names = self.durable_names.clone();
        for (number, change) in self.pending_names.iter().enumerate() {
            let kept = match survival {
                Survival::Subset(_) => random.bool(),
                _ => number < kept_names,
            };
            if kept {
                change.apply(&mut names);
            }
        }
        let mut pairs = self.durable_pairs.clone();
        for batch in &self.pending_pairs[..kept_batches] {
            apply_to_pairs(&mut pairs, batch);
        }
        let mut files = BTreeMap::new();
        for inode in names.values() {
            let mut contents = Contents::default();
            if let Some(before) = self.files.get(inode) {
                contents.make_all_durable(before.survivors(survival, &mut random));
            }
            files.insert(*inode, contents);
        }
        Disk {
            plan: self.plan.without_faults(),
            boots: self.boots + 1,
            durable_names: names.clone(),
            names,
            files,
            next_inode: self.next_inode,
            durable_pairs: pairs.clone(),
            pairs,
            ..Disk::new(self.seed)
        }
    }

    pub(super) fn after_kill(&self) -> Disk {
        let mut disk = Disk { cuts: None, ..self.clone() };
        disk.plan = self.plan.without_faults();
        disk.operations = 0;
        disk.power_off = false;
        disk.faults_seen.clear();
        disk.cut_operation = None;
        disk.files.values_mut().for_each(Contents::end_process);
        disk
    }

    pub(super) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        Some(self.files.get(self.names.get(name)?)?.visible.clone())
    }

    pub(super) fn set_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        let inode = self.names.get(name).copied().unwrap_or_else(|| self.new_inode());
        self.files.entry(inode).or_default().make_all_durable(bytes);
        // At the end of the pending changes as well: one of them may concern this name.
        let change = NameChange::Create(name.to_owned(), inode);
        change.apply(&mut self.durable_names);
        self.change_names(change);
    }

    pub(super) fn remove_file(&mut self, name: &str) -> bool {
        let Some(inode) = self.names.get(name).copied() else {
            return false;
        };
        let change = NameChange::Remove(name.to_owned(), inode);
        change.apply(&mut self.durable_names);
        self.change_names(change);
        true
    }

    pub(super) fn flip_bit(&mut self, name: &str, offset: u64, bit: u8) -> bool {
        let (Some(inode), Ok(offset)) = (self.names.get(name), usize::try_from(offset)) else {
            return false;
        };
        self.files.get_mut(inode).is_some_and(|contents| contents.flip(offset, 1 << (bit & 7)))
    }

    pub(super) fn set_meta(&mut self, pairs: Pairs) {
        self.pending_pairs.clear();
        self.durable_pairs = pairs.clone();
        self.pairs = pairs;
    }
}
