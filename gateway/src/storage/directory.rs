//! A directory of real files as a [`Device`].
//!
//! A name is open at most once: opening it again gives the same file. The safety of [`super::mapped`] rests on
//! that, and all handles of a file see the same length.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use edgecask_core::storage::{Access, BootId, Device, DeviceFile, Result, StorageError};
use parking_lot::Mutex;
use rustix::fs::StatFs;

use super::failed;
use super::mapped::MappedFile;

/// File systems where blocks given by fallocate are kept for the page writes that follow, and whose files no other
/// machine can cut: ext4, XFS, tmpfs, and an overlay over one of them. On all others files are not mapped.
const MAPPABLE_FILE_SYSTEMS: &[u64] = &[0xEF53, 0x5846_5342, 0x0102_1994, 0x794C_7630];

/// Where Linux tells the present run of the machine: a random number that it draws when it starts.
const BOOT_ID_FILE: &str = "/proc/sys/kernel/random/boot_id";

/// One directory of files.
pub struct Directory {
    path: PathBuf,
    /// For syncing names.
    handle: File,
    maps: bool,
    /// Whether processes that write here map files, and so make them longer before they append to them.
    grows_ahead: bool,
    is_read_only: bool,
    open: Mutex<HashMap<String, Weak<MappedFile>>>,
    /// Bytes of files that recovery has done.
    recovered: Arc<AtomicU64>,
}

/// One open file of a [`Directory`].
#[derive(Clone)]
pub struct Handle(Arc<MappedFile>);

impl Handle {
    /// The file itself, for calls that move its bytes inside the kernel (sendfile).
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.descriptor()
    }
}

impl Directory {
    /// Opens a directory that exists.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<Directory> {
        let name = path.display().to_string();
        let handle = File::open(path).map_err(|error| failed("cannot open", &name, &error))?;
        let maps = rustix::fs::fstatfs(&handle).is_ok_and(|facts| is_mappable(&facts));
        Ok(Directory {
            path: path.to_path_buf(),
            handle,
            maps,
            grows_ahead: maps,
            is_read_only: false,
            open: Mutex::default(),
            recovered: Arc::default(),
        })
    }

    /// The same, but without ever mapping a file, as on file systems that are not fit for it.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open_unmapped(path: &Path) -> Result<Directory> {
        Ok(Directory { maps: false, grows_ahead: false, ..Directory::open(path)? })
    }

    /// The same, which counts here the bytes of files that recovery has done.
    pub fn counting(self, recovered: Arc<AtomicU64>) -> Directory {
        Directory { recovered, ..self }
    }

    /// The same for reading only.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open_to_read(path: &Path) -> Result<Directory> {
        Ok(Directory { is_read_only: true, maps: false, ..Directory::open(path)? })
    }

    fn check_writable(&self) -> Result<()> {
        match self.is_read_only {
            true => Err(StorageError::Refused(format!("{} is only read", self.path.display()))),
            false => Ok(()),
        }
    }

    fn register(
        &self,
        open: &mut HashMap<String, Weak<MappedFile>>,
        name: &str,
        access: Access,
        options: &OpenOptions,
    ) -> Result<Handle> {
        let path = self.path.join(name);
        let shown = path.display().to_string();
        let file = options.open(&path).map_err(|error| failed("cannot open", &shown, &error))?;
        // Files that are read and written in large pieces gain nothing from a mapping.
        let maps = self.maps && access == Access::Log;
        let file = Arc::new(MappedFile::new(file, &shown, maps)?);
        open.retain(|_, file| file.strong_count() > 0);
        open.insert(name.to_string(), Arc::downgrade(&file));
        Ok(Handle(file))
    }
}

/// The type of a file system is a small signed or unsigned number depending on the machine.
#[allow(clippy::unnecessary_cast)]
fn is_mappable(facts: &StatFs) -> bool {
    MAPPABLE_FILE_SYSTEMS.contains(&(facts.f_type as u64 & 0xFFFF_FFFF))
}

impl Device for Directory {
    type File = Handle;

    fn create(&self, name: &str, access: Access) -> Result<Handle> {
        self.check_writable()?;
        let options = File::options().read(true).write(true).create_new(true).clone();
        self.register(&mut self.open.lock(), name, access, &options)
    }

    fn open(&self, name: &str, access: Access) -> Result<Handle> {
        let mut open = self.open.lock();
        match open.get(name).and_then(Weak::upgrade) {
            Some(file) => Ok(Handle(file)),
            None => {
                self.register(&mut open, name, access, File::options().read(true).write(!self.is_read_only))
            }
        }
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.check_writable()?;
        let mut open = self.open.lock();
        let renamed = fs::rename(self.path.join(from), self.path.join(to));
        renamed
            .map_err(|error| failed("cannot rename", &self.path.join(from).display().to_string(), &error))?;
        open.remove(to);
        if let Some(file) = open.remove(from) {
            open.insert(to.to_string(), file);
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.check_writable()?;
        let path = self.path.join(name);
        // An open file keeps its blocks, so they are freed after the lock is released.
        let held = File::open(&path);
        let mut open = self.open.lock();
        fs::remove_file(&path)
            .map_err(|error| failed("cannot remove", &path.display().to_string(), &error))?;
        open.remove(name);
        drop(open);
        drop(held);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        let shown = self.path.display().to_string();
        let unlistable = |error| failed("cannot list", &shown, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(unlistable)? {
            let entry = entry.map_err(unlistable)?;
            // The core uses no name that is not UTF-8.
            let name = entry.file_name().into_string().ok();
            if entry.file_type().map_err(unlistable)?.is_file() {
                names.extend(name);
            }
        }
        Ok(names)
    }

    /// Whatever prevents it (another file system, one without links, a name that merge has just taken away), the caller can
    /// copy.
    fn link(&self, place: &str, name: &str) -> Result<bool> {
        self.check_writable()?;
        Ok(fs::hard_link(place, self.path.join(name)).is_ok())
    }

    fn note_recovered(&self, bytes: u64) {
        self.recovered.fetch_add(bytes, Ordering::Relaxed);
    }

    fn free_bytes(&self) -> Option<u64> {
        rustix::fs::fstatvfs(&self.handle).ok().map(|facts| facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    fn sync_directory(&self) -> Result<()> {
        let shown = self.path.display().to_string();
        self.handle.sync_all().map_err(|error| failed("cannot sync", &shown, &error))
    }

    fn boot_id(&self) -> Option<BootId> {
        parse_boot_id(&fs::read_to_string(BOOT_ID_FILE).ok()?)
    }

    fn grows_ahead(&self) -> bool {
        self.grows_ahead
    }

    fn place(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

/// The number in a text of hexadecimal digits and hyphens.
fn parse_boot_id(text: &str) -> Option<BootId> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32)?;
    Some(BootId(number.to_le_bytes()))
}

impl DeviceFile for Handle {
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        self.0.write(offset, parts, 0)
    }

    fn write_leaving(&self, offset: u64, parts: &[&[u8]], leave_bytes: u64) -> Result<()> {
        self.0.write(offset, parts, leave_bytes)
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.0.read(offset, len, visit)
    }

    fn sync(&self) -> Result<()> {
        self.0.sync()
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.0.set_len(len)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.length())
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Handle({} bytes)", self.0.length())
    }
}

/// Makes the directory if it is missing.
///
/// # Errors
/// It cannot be made.
pub fn make(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| {
        StorageError::Refused(format!("cannot make the data directory {}: {error}", path.display()))
    })
}
