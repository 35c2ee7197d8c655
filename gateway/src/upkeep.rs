//! `edgecask check` and `edgecask repair`: a store at rest is read as a whole, and what can be read of a damaged one is
//! written to another directory. Neither changes the store that it reads.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgecask_core::bitcask::{Bitcask, Checked, OnDamage, OpenError, Options, check};
use edgecask_core::engine::{Admin, Engine, EngineError, Overlay, Scope, Txn};
use edgecask_core::storage::{DeviceStorage, MemoryMeta, StorageError};

use crate::clock::{now_ms, seed};
use crate::findings;
use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::Meta;

/// As many logical databases as there can be: a key of one that the server shows must not be taken for garbage.
const DATABASES: u32 = 65_535;

/// The report that repair leaves in the new directory.
const REPORT_FILE: &str = "repair-report.txt";

/// Why a store could not be checked or repaired.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// It cannot be read, or the new one cannot be written.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// A file cannot be copied or written.
    #[error("{0}: {1}")]
    File(String, io::Error),
    /// A key cannot be removed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StorageError> for UpkeepError {
    fn from(error: StorageError) -> UpkeepError {
        UpkeepError::Store(error.into())
    }
}

/// Reads the store in a directory and prints what is wrong with it, a line each. True if nothing is.
///
/// # Errors
/// A server uses the directory, or it cannot be read.
pub fn run_check(directory: &Path, out: &mut dyn io::Write) -> Result<bool, UpkeepError> {
    let _lock = DirectoryLock::take_to_read(directory)?;
    let scratch = Scratch::new();
    let checked = read(directory, &scratch)?;
    let text = describe(&checked);
    out.write_all(text.as_bytes()).map_err(|error| UpkeepError::File("standard output".into(), error))?;
    Ok(checked.is_sound())
}

/// Writes what can be read of the store in one directory to a new one; prints, and leaves there, a report of what is lost.
/// True if nothing is.
///
/// # Errors
/// A server uses one of the directories, the new one is not empty, or a disk fails.
pub fn run_repair(from: &Path, to: &Path, out: &mut dyn io::Write) -> Result<bool, UpkeepError> {
    let _from_lock = DirectoryLock::take_to_read(from)?;
    directory::make(to)?;
    let failed = |path: &Path| {
        let shown = path.display().to_string();
        move |error| UpkeepError::File(shown, error)
    };
    if fs::read_dir(to).map_err(failed(to))?.next().is_some() {
        let text = format!("{} is not empty: repair writes to a directory of its own", to.display());
        return Err(StorageError::Refused(text).into());
    }
    let _to_lock = DirectoryLock::take(to)?;
    // What is lost is found, and named, in the original.
    let scratch = Scratch::new();
    let checked = read(from, &scratch)?;
    for name in file_names(from)? {
        fs::copy(from.join(&name), to.join(&name)).map_err(failed(&to.join(&name)))?;
    }
    let storage = DeviceStorage::open(Directory::open(to)?, Meta::open(&to.join("meta"))?)?;
    let options =
        Options { databases: DATABASES, seed: seed(), on_damage: OnDamage::Salvage, ..Options::default() };
    let opened = Bitcask::open(Arc::new(storage), &options)?;
    let store = opened.store;
    for blob in &checked.damaged_blobs {
        let (Some(db), Some(key)) = (blob.db, &blob.key) else { continue };
        let mut snapshot = store.begin(Scope::Keys(&[key]))?;
        let mut overlay = Overlay::new();
        Txn::new(&mut snapshot, &mut overlay, now_ms()).remove(db, key)?;
        store.commit(snapshot, &mut overlay, now_ms(), &mut |_| {})?;
    }
    Admin::checkpoint(&store, now_ms())?;
    store.sweep_blobs()?;
    drop(store);
    for place in &opened.set_aside {
        fs::remove_file(place).map_err(failed(Path::new(place)))?;
    }
    let mut report = describe(&checked);
    if !checked.damaged_blobs.is_empty() {
        let count = checked.damaged_blobs.len();
        let _ = writeln!(report, "{count} keys with damaged blobs are not in the new store");
    }
    if checked.torn_tail.is_some() {
        let _ = writeln!(report, "the end of the log that was cut off is not in the new store");
    }
    let _ = writeln!(report, "repaired into {}", to.display());
    fs::write(to.join(REPORT_FILE), &report).map_err(failed(&to.join(REPORT_FILE)))?;
    out.write_all(report.as_bytes()).map_err(|error| UpkeepError::File("standard output".into(), error))?;
    Ok(checked.is_sound())
}

fn read(directory: &Path, scratch: &Scratch) -> Result<Checked, UpkeepError> {
    let meta = scratch.copy_of(&directory.join("meta"));
    let storage = DeviceStorage::open_to_read(Directory::open_to_read(directory)?, meta)?;
    Ok(check(&storage, DATABASES)?)
}

/// What was found, a line each, and a summary.
fn describe(checked: &Checked) -> String {
    let mut lines: Vec<String> = checked.damages.iter().map(findings::damage).collect();
    lines.extend(checked.losses.iter().map(findings::loss));
    lines.extend(checked.damaged_blobs.iter().map(findings::damaged_blob));
    if let Some(torn) = &checked.torn_tail {
        lines.push(format!(
            "note: the next start cuts {} bytes with {} whole frames off datafile {} at offset {}: they were never synced",
            torn.bytes, torn.whole_frames, torn.file, torn.offset
        ));
    }
    for file in &checked.rejected_hints {
        lines.push(format!(
            "note: the hints of datafile {file} do not fit; the next start reads the datafile instead"
        ));
    }
    let Checked { datafiles, records, blobs, .. } = checked;
    let damaged = checked.damages.len() + checked.damaged_blobs.len();
    lines.push(format!("{datafiles} datafiles, {records} records, {blobs} blobs: {damaged} damaged places"));
    lines.join("\n") + "\n"
}

/// The names of the datafiles, the blobs and the manifest.
fn file_names(directory: &Path) -> Result<Vec<String>, UpkeepError> {
    let failed = |error| UpkeepError::File(directory.display().to_string(), error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().into_string().unwrap_or_default();
        if name == "MANIFEST" || name.ends_with(".data") || name.ends_with(".blob") {
            names.push(name);
        }
    }
    Ok(names)
}

/// A directory for a copy of the metadata map, since sled writes to what it opens.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        Scratch(std::env::temp_dir().join(format!("edgecask-{}-{:016x}", std::process::id(), seed())))
    }

    /// An open copy of the map; an empty one if there is none, or none that can be copied and read.
    fn copy_of(&self, folder: &Path) -> Meta {
        match copy_folder(folder, &self.0) {
            Ok(()) => Meta::open(&self.0).unwrap_or_else(|_| Meta::Memory(MemoryMeta::default())),
            Err(_) => Meta::Memory(MemoryMeta::default()),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let mut open = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = open.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if entry.file_type()?.is_dir() {
                open.push((source, target));
            } else {
                fs::copy(source, target)?;
            }
        }
    }
    Ok(())
}
