//! The doors to a simulated disk: directory, file and metadata map. Visitors run on copies, without the lock.

use std::sync::Arc;

use parking_lot::Mutex;

use super::super::device::Bug;
use super::super::memory::{scan_pairs, slice};
use super::super::{Access, BootId, Device, DeviceFile, MetaMap, MetaOp, Result, StorageError};
use super::disk::{Change, Contents, Disk, Fate, Inode, NameChange};

/// The directory of a [`super::Simulation`].
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    disk: Arc<Mutex<Disk>>,
}

/// An open file of a [`SimulatedDevice`].
#[derive(Debug)]
pub struct SimulatedFile {
    disk: Arc<Mutex<Disk>>,
    inode: Inode,
    /// The name it was opened with, for messages.
    name: String,
}

/// The metadata map of a [`super::Simulation`].
#[derive(Clone, Debug)]
pub struct SimulatedMeta {
    disk: Arc<Mutex<Disk>>,
}

fn missing(name: &str) -> StorageError {
    StorageError::Missing(name.to_owned())
}

/// Makes an operation that changes something, and records the cuts at it if that is asked for.
fn operate<T>(disk: &mut Disk, operate: impl Fn(&mut Disk) -> Result<T>) -> Result<T> {
    disk.record(&operate);
    operate(disk)
}

impl SimulatedDevice {
    pub(super) fn new(disk: Arc<Mutex<Disk>>) -> SimulatedDevice {
        SimulatedDevice { disk }
    }

    fn file(&self, disk: &mut Disk, name: &str, inode: Inode) -> Result<SimulatedFile> {
        disk.files.get_mut(&inode).ok_or_else(|| missing(name))?.handles += 1;
        Ok(SimulatedFile { disk: self.disk.clone(), inode, name: name.to_owned() })
    }
}

impl Device for SimulatedDevice {
    type File = SimulatedFile;

    fn create(&self, name: &str, _access: Access) -> Result<SimulatedFile> {
        let mut disk = self.disk.lock();
        disk.check_descriptors()?;
        let inode = operate(&mut disk, |disk| {
            let fate = disk.begin(|| format!("create {name}"), true)?;
            if disk.names.contains_key(name) {
                return Err(StorageError::Refused(format!("{name} exists already")));
            }
            if fate != Fate::Failed {
                let inode = disk.new_inode();
                disk.change_names(NameChange::Create(name.to_owned(), inode));
            }
            fate.answer()?;
            disk.names.get(name).copied().ok_or_else(|| missing(name))
        })?;
        self.file(&mut disk, name, inode)
    }

    fn open(&self, name: &str, _access: Access) -> Result<SimulatedFile> {
        let mut disk = self.disk.lock();
        disk.check_power()?;
        disk.check_descriptors()?;
        let inode = *disk.names.get(name).ok_or_else(|| missing(name))?;
        self.file(&mut disk, name, inode)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let fate = disk.begin(|| format!("rename {from} to {to}"), false)?;
            let inode = *disk.names.get(from).ok_or_else(|| missing(from))?;
            if fate != Fate::Failed || disk.random().bool() {
                disk.change_names(NameChange::Rename(from.to_owned(), to.to_owned(), inode));
            }
            fate.answer()
        })
    }

    fn remove(&self, name: &str) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let fate = disk.begin(|| format!("remove {name}"), false)?;
            let inode = *disk.names.get(name).ok_or_else(|| missing(name))?;
            if fate != Fate::Failed || disk.random().bool() {
                disk.change_names(NameChange::Remove(name.to_owned(), inode));
            }
            fate.answer()
        })
    }

    fn list(&self) -> Result<Vec<String>> {
        let disk = self.disk.lock();
        disk.check_power()?;
        Ok(disk.names.keys().cloned().collect())
    }

    fn free_bytes(&self) -> Option<u64> {
        self.disk.lock().free_bytes()
    }

    fn sync_directory(&self) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let fate = disk.begin(|| "sync of the directory".to_owned(), false)?;
            match fate {
                Fate::Done if disk.plan.bug == Some(Bug::SkipDirectorySync) => {}
                Fate::Done => disk.sync_names(),
                // How much of it happened is for the one who asks what survived.
                Fate::Interrupted => {}
                Fate::Failed => disk.forget_pending_names(),
            }
            fate.answer()
        })
    }

    fn boot_id(&self) -> Option<BootId> {
        Some(BootId(u128::from(self.disk.lock().boots).to_le_bytes()))
    }

    fn grows_ahead(&self) -> bool {
        self.disk.lock().plan.preallocation_bytes > 0
    }
}

impl SimulatedFile {
    fn contents<'d>(&self, disk: &'d mut Disk) -> Result<&'d mut Contents> {
        disk.files.get_mut(&self.inode).ok_or_else(|| missing(&self.name))
    }

    /// Makes a change if there is room for it and so many bytes beside it. With preallocation the file is long enough for all
    /// that was to be written, up to `reach`.
    fn change(&self, disk: &mut Disk, change: Change, reach: u64, leave_bytes: u64) -> Result<()> {
        let len = self.contents(disk)?.visible.len() as u64;
        disk.check_room(len, change.len_after(len), leave_bytes)?;
        let step = disk.plan.preallocation_bytes;
        self.contents(disk)?.change(change, reach, step)
    }
}

impl DeviceFile for SimulatedFile {
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        self.write_leaving(offset, parts, 0)
    }

    fn write_leaving(&self, offset: u64, parts: &[&[u8]], leave_bytes: u64) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let mut bytes = parts.concat();
            let len = self.contents(disk)?.visible.len() as u64;
            let reach = offset.saturating_add(bytes.len() as u64);
            let grows = reach > len;
            let what = || format!("write of {} bytes at {offset} of {}", bytes.len(), self.name);
            let fate = disk.begin(what, grows)?;
            if fate != Fate::Done {
                bytes.truncate(disk.random().usize(..=bytes.len()));
            }
            self.change(disk, Change::Write { offset, bytes }, reach, leave_bytes)?;
            fate.answer()
        })
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let bytes = {
            let mut disk = self.disk.lock();
            disk.check_power()?;
            slice(&self.contents(&mut disk)?.visible, offset, len)?.to_vec()
        };
        visit(&bytes);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let fate = disk.begin(|| format!("sync of {}", self.name), false)?;
            let skip = disk.plan.bug == Some(Bug::SkipFileSync);
            let contents = self.contents(disk)?;
            match fate {
                Fate::Done if skip => {}
                Fate::Done => contents.sync()?,
                // How much of it happened is for the one who asks what survived.
                Fate::Interrupted => {}
                Fate::Failed => contents.forget_pending(),
            }
            fate.answer()
        })
    }

    fn set_len(&self, len: u64) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let grows = len > self.contents(disk)?.visible.len() as u64;
            let fate = disk.begin(|| format!("set_len of {} to {len}", self.name), grows)?;
            if fate != Fate::Failed || disk.random().bool() {
                self.change(disk, Change::SetLen(len), len, 0)?;
            }
            fate.answer()
        })
    }

    fn len(&self) -> Result<u64> {
        let mut disk = self.disk.lock();
        disk.check_power()?;
        Ok(self.contents(&mut disk)?.visible.len() as u64)
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        if let Ok(contents) = self.contents(&mut self.disk.lock()) {
            contents.handles = contents.handles.saturating_sub(1);
        }
    }
}

impl SimulatedMeta {
    pub(super) fn new(disk: Arc<Mutex<Disk>>) -> SimulatedMeta {
        SimulatedMeta { disk }
    }

    fn change(&self, what: &str, changes: &[MetaOp], durably: bool) -> Result<()> {
        operate(&mut self.disk.lock(), |disk| {
            let grows = changes.iter().any(|change| matches!(change, MetaOp::Put(..)));
            let fate = disk.begin(|| format!("{what} of {} changes", changes.len()), grows)?;
            match fate {
                Fate::Done => disk.change_pairs(changes, durably),
                // It reached the map, but perhaps not the disk.
                Fate::Interrupted => disk.change_pairs(changes, false),
                Fate::Failed if disk.random().bool() => disk.change_pairs(changes, durably),
                Fate::Failed => {}
            }
            fate.answer()
        })
    }
}

impl MetaMap for SimulatedMeta {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let disk = self.disk.lock();
        disk.check_power()?;
        Ok(disk.pairs.get(key).cloned())
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let mut found = Vec::new();
        {
            let disk = self.disk.lock();
            disk.check_power()?;
            scan_pairs(&disk.pairs, prefix, &mut |key, value| {
                found.push((key.to_vec(), value.to_vec()));
                true
            });
        }
        for (key, value) in found {
            if !visit(&key, &value) {
                break;
            }
        }
        Ok(())
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        self.change("apply", changes, true)
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        self.change("apply_lazily", changes, false)
    }
}
