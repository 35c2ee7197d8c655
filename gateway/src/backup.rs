//! `edgecask backup`: a snapshot of a store in a directory of its own, taken by the server that uses the store, or by this
//! process where none does.
//!
//! The core says what belongs to it ([`Bitcask::backup`]). Here it gets its directory: everything is written to one whose name
//! ends in `.unfinished`, which gets its own name once all of it is on the disk. So a directory with the name that was asked
//! for is whole, and what a crash leaves is recognised, and removed by the next backup to the same name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgecask_core::bitcask::{Backup, BackupError, Bitcask, OnDamage, Options};
use edgecask_core::storage::{DeviceTarget, StorageError};

use crate::control::{self, Answer};
use crate::storage::directory::Directory;
use crate::storage::failed;
use crate::storage::lock::DirectoryLock;
use crate::store;
use crate::upkeep::{DATABASES, UpkeepError};

/// What the name of a backup ends with until it is whole.
const UNFINISHED_SUFFIX: &str = ".unfinished";

/// Between two lines that say how far a copy has come.
const TOLD_PERIOD: Duration = Duration::from_secs(2);

impl From<BackupError> for UpkeepError {
    fn from(error: BackupError) -> UpkeepError {
        match error {
            BackupError::Store(error) => UpkeepError::Engine(error),
            BackupError::Storage(error) => UpkeepError::Store(error.into()),
        }
    }
}

/// Takes a backup of the store in a directory to a new directory, and prints what is in it. True if everything is.
///
/// # Errors
/// There is no store, a server uses it and cannot take the backup, the new directory is there already, or a disk fails.
pub fn run_backup(directory: &Path, to: &Path, out: &mut dyn Write) -> Result<bool, UpkeepError> {
    let to =
        std::path::absolute(to).map_err(|error| failed("no place is", &to.display().to_string(), &error))?;
    let mut told = Told::new();
    let backup = match control::ask(directory, &control::Request::Backup(to.clone()), &mut |done, all| {
        told.tell("backed up", done, all);
    })? {
        Answer::Done(text, is_whole) => Some((text, is_whole)),
        Answer::Refused(text) => return Err(StorageError::Refused(text).into()),
        Answer::NoServer => None,
    };
    let (text, is_whole) = match backup {
        Some(backup) => backup,
        None => offline(directory, &to, &mut told)?,
    };
    writeln!(out, "{text}").map_err(|error| UpkeepError::File("standard output".into(), error))?;
    Ok(is_whole)
}

/// Has the server that uses a directory read everything in the background, and prints that.
///
/// # Errors
/// No server uses it, a scrub is under way, or scrubbing is switched off.
pub fn run_scrub(directory: &Path, out: &mut dyn Write) -> Result<bool, UpkeepError> {
    let shown = directory.display();
    let text = match control::ask(directory, &control::Request::Scrub, &mut |_, _| {})? {
        Answer::Done(text, _) => text,
        Answer::Refused(text) => return Err(StorageError::Refused(text).into()),
        Answer::NoServer => {
            let text = format!("no server uses {shown}; edgecask check {shown} reads everything now");
            return Err(StorageError::Refused(text).into());
        }
    };
    writeln!(out, "{text}").map_err(|error| UpkeepError::File("standard output".into(), error))?;
    Ok(true)
}

/// A backup of a store that no server uses.
fn offline(directory: &Path, to: &Path, told: &mut Told) -> Result<(String, bool), UpkeepError> {
    refuse_without_store(directory)?;
    let _lock = DirectoryLock::take(directory)?;
    let options = Options { databases: DATABASES, on_damage: OnDamage::Refuse, ..Options::default() };
    let store = store::load(directory, &options, &Arc::default())?;
    let backup = take(&store, to, &mut |done, all| {
        told.tell("backed up", done, all);
        true
    })?;
    Ok((describe(&backup, to), backup.damaged_blobs.is_empty()))
}

/// Takes a backup of an open store to a new directory. `progress` gets the bytes that are done and those that there are, and
/// says whether to go on.
///
/// # Errors
/// The directory is there already or cannot be written, another process is writing it, or the store cannot be read.
pub fn take(
    store: &Bitcask,
    to: &Path,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Backup, UpkeepError> {
    if fs::symlink_metadata(to).is_ok() {
        let text = format!("{} is there already: a backup is a directory of its own", to.display());
        return Err(StorageError::Refused(text).into());
    }
    let unfinished = Unfinished::make(to)?;
    let mut target = DeviceTarget::new(Directory::open(&unfinished.path)?, progress);
    let backup = store.backup(&mut target)?;
    drop(target);
    unfinished.finish(to)?;
    Ok(backup)
}

/// What a backup consists of, in a line, and what the store itself lacks in another.
pub fn describe(backup: &Backup, to: &Path) -> String {
    let Backup { datafiles, blobs, linked_bytes, copied_bytes, damaged_blobs } = backup;
    let mut text = format!(
        "{}: {datafiles} datafiles, {blobs} blobs: {linked_bytes} bytes linked, {copied_bytes} bytes copied",
        to.display()
    );
    if !damaged_blobs.is_empty() {
        let numbers: Vec<String> = damaged_blobs.iter().map(|id| id.0.to_string()).collect();
        text += &format!(
            "\ndamaged: the store has lost blobs, wholly or in part ({}); edgecask check names their keys",
            numbers.join(", ")
        );
    }
    text
}

/// Refuses a directory in which no store lies, so that none is made there.
pub fn refuse_without_store(directory: &Path) -> Result<(), StorageError> {
    let shown = directory.display().to_string();
    let nothing = || StorageError::Refused(format!("there is no store in {shown}"));
    let entries = fs::read_dir(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => nothing(),
        _ => failed("cannot list", &shown, &error),
    })?;
    let is_ours = |name: &str| name == "MANIFEST" || name.ends_with(".data");
    let mut names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    match names.any(|name| is_ours(&name)) {
        true => Ok(()),
        false => Err(nothing()),
    }
}

/// A directory that is being filled. Dropping it removes it.
struct Unfinished {
    path: PathBuf,
    lock: Option<DirectoryLock>,
    is_finished: bool,
}

impl Unfinished {
    /// Makes the directory. What an earlier backup left there is removed.
    fn make(to: &Path) -> Result<Unfinished, StorageError> {
        let mut path = to.as_os_str().to_owned();
        path.push(UNFINISHED_SUFFIX);
        let path = PathBuf::from(path);
        let shown = path.display().to_string();
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|error| failed("cannot make", &shown, &error))?,
        }
        let lock = DirectoryLock::take(&path)?;
        let others = names(&path)?.into_iter().find(|name| !is_of_a_backup(name));
        if let Some(other) = others {
            let text =
                format!("{shown} is no backup: it has {other} in it. Remove it or choose another name");
            return Err(StorageError::Refused(text));
        }
        let unfinished = Unfinished { path, lock: Some(lock), is_finished: false };
        unfinished.clear()?;
        Ok(unfinished)
    }

    /// Removes all files but the lock.
    fn clear(&self) -> Result<(), StorageError> {
        for name in names(&self.path)?.iter().filter(|name| *name != "lock") {
            let path = self.path.join(name);
            fs::remove_file(&path)
                .map_err(|error| failed("cannot remove", &path.display().to_string(), &error))?;
        }
        Ok(())
    }

    /// Gives the directory its own name, durably.
    fn finish(mut self, to: &Path) -> Result<(), StorageError> {
        let shown = to.display().to_string();
        fs::remove_file(self.path.join("lock")).map_err(|error| failed("cannot unlock", &shown, &error))?;
        sync_directory(&self.path)?;
        fs::rename(&self.path, to).map_err(|error| failed("cannot name", &shown, &error))?;
        self.is_finished = true;
        sync_directory(to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished {
            // As far as that is possible; the next backup to the same name does the rest.
            let _ = self.clear();
            let _ = fs::remove_file(self.path.join("lock"));
            let _ = fs::remove_dir(&self.path);
        }
        drop(self.lock.take());
    }
}

fn is_of_a_backup(name: &str) -> bool {
    [".data", ".blob"].iter().any(|suffix| name.ends_with(suffix))
        || ["MANIFEST", "MANIFEST.temporary", "lock"].contains(&name)
}

/// The names in a directory.
pub fn names(directory: &Path) -> Result<Vec<String>, StorageError> {
    let shown = directory.display().to_string();
    let unlistable = |error| failed("cannot list", &shown, &error);
    let entries = fs::read_dir(directory).map_err(unlistable)?;
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<Vec<String>>>().map_err(unlistable)
}

/// Makes the names in a directory survive the loss of power.
pub fn sync_directory(directory: &Path) -> Result<(), StorageError> {
    let synced = File::open(directory).and_then(|handle| handle.sync_all());
    synced.map_err(|error| failed("cannot sync", &directory.display().to_string(), &error))
}

/// Says on standard error how far something long has come.
pub struct Told {
    next: Instant,
}

impl Told {
    /// The first line comes after [`TOLD_PERIOD`].
    pub fn new() -> Told {
        Told { next: Instant::now() + TOLD_PERIOD }
    }

    /// Says it, unless that was said a moment ago.
    pub fn tell(&mut self, what: &str, done_bytes: u64, all_bytes: u64) {
        if Instant::now() >= self.next {
            self.next = Instant::now() + TOLD_PERIOD;
            let percent = done_bytes.saturating_mul(100) / all_bytes.max(1);
            eprintln!("{what}: {done_bytes} of {all_bytes} bytes ({percent} %)");
        }
    }
}

impl Default for Told {
    fn default() -> Told {
        Told::new()
    }
}
