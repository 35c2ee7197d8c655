//! `edgecask check` and `edgecask repair`: a store at rest is read as a whole, and what can be read of a damaged one is
//! written to another directory. Neither changes the store that it reads.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgecask_core::bitcask::{Bitcask, Checked, OnDamage, OpenError, Options, check};
use edgecask_core::command::search;
use edgecask_core::data::mend::mend;
use edgecask_core::engine::{Admin, Engine, EngineError, Overlay, Scope, Txn};
use edgecask_core::storage::{DeviceStorage, StorageError};

use crate::clock::{now_ms, seed};
use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::{Failure, Meta};

/// As many logical databases as there can be: a key of one that the server shows must not be taken for garbage.
pub(crate) const DATABASES: u32 = 65_535;

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
/// There is no store in the directory, a server uses it, or it cannot be read.
pub fn run_check(directory: &Path, out: &mut dyn io::Write) -> Result<bool, UpkeepError> {
    check_there(directory)?;
    let _lock = DirectoryLock::take_to_read(directory)?;
    let (is_sound, text) = look(directory)?;
    out.write_all(text.as_bytes()).map_err(|error| UpkeepError::File("standard output".into(), error))?;
    Ok(is_sound)
}

/// Fails if a directory has nothing that a store consists of or leaves behind: its name may be a typing error.
fn check_there(directory: &Path) -> Result<(), UpkeepError> {
    let nothing = || {
        let text = format!("there is no store in {}", directory.display());
        UpkeepError::from(StorageError::Refused(text))
    };
    let is_of_store = |name: &str| {
        let parts = [".data", ".blob", ".damaged", ".torn-"];
        ["MANIFEST", "meta"].contains(&name) || parts.iter().any(|part| name.contains(part))
    };
    for entry in fs::read_dir(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => nothing(),
        _ => UpkeepError::File(directory.display().to_string(), error),
    })? {
        let name = entry.map_err(failed(directory))?.file_name();
        if name.to_str().is_some_and(is_of_store) {
            return Ok(());
        }
    }
    Err(nothing())
}

/// Reads the store in a locked directory: whether nothing is damaged, and what was found.
pub(crate) fn look(directory: &Path) -> Result<(bool, String), UpkeepError> {
    let (checked, notes) = read(directory, &Scratch::new())?;
    Ok((checked.is_sound(), describe(&checked, &notes)))
}

/// Writes what can be read of the store in one directory to a new one; prints, and leaves there, a report of what is lost.
/// True if nothing is. All of the new store is on the disk when it returns.
///
/// # Errors
/// There is no store, a server uses one of the directories, the new one is not empty, or a disk fails.
pub fn run_repair(from: &Path, to: &Path, out: &mut dyn io::Write) -> Result<bool, UpkeepError> {
    check_there(from)?;
    let _from_lock = DirectoryLock::take_to_read(from)?;
    make_durably(to)?;
    if fs::read_dir(to).map_err(failed(to))?.next().is_some() {
        let text = format!("{} is not empty: repair writes to a directory of its own", to.display());
        return Err(StorageError::Refused(text).into());
    }
    let _to_lock = DirectoryLock::take(to)?;
    // What is lost is found, and named, in the original.
    let scratch = Scratch::new();
    let (checked, notes) = read(from, &scratch)?;
    for name in file_names(from)? {
        let copy = to.join(&name);
        fs::copy(from.join(&name), &copy).map_err(failed(&copy))?;
        sync(&copy)?;
    }
    // Recovery relies on all of them.
    sync(to)?;
    let storage = DeviceStorage::open(Directory::open(to)?, Meta::open(&to.join("meta")))?;
    let options =
        Options { databases: DATABASES, seed: seed(), on_damage: OnDamage::Salvage, ..Options::default() };
    let opened = Bitcask::open(Arc::new(storage), &options)?;
    let store = opened.store;
    for blob in &checked.damaged_blobs {
        let (Some(db), Some(key)) = (blob.db, &blob.key) else { continue };
        let mut snapshot = store.begin(Scope::Keys(&[key]))?;
        let mut overlay = Overlay::new();
        let mut txn = Txn::new(&mut snapshot, &mut overlay, now_ms());
        match blob.lacks_sums {
            true => txn.renew_sums(db, key)?,
            false => drop(txn.remove(db, key)?),
        }
        store.commit(snapshot, &mut overlay, now_ms(), &mut |_| {})?;
    }
    // What damage took of a value may be said by the rest of it.
    let mut mended = Vec::new();
    if opened.is_unmended {
        mended = mend(&store, DATABASES)?;
        search::forget_maps(&store, now_ms())?;
    }
    Admin::checkpoint(&store, now_ms())?;
    store.note_mended()?;
    store.sweep_blobs()?;
    drop(store);
    // The original has the damaged datafiles, and the report is the one below.
    let torn = opened.torn_tail.into_iter().chain(opened.cut_datafile).filter_map(|torn| torn.set_aside);
    let torn: Vec<String> = torn.collect();
    for place in opened.set_aside.iter().chain(&opened.reports).chain(&torn) {
        fs::remove_file(place).map_err(failed(Path::new(place)))?;
    }
    let mut report = describe(&checked, &notes);
    for line in opened.earlier_report.iter().flat_map(|report| report.lines()) {
        let _ = writeln!(report, "found by an earlier start, whose salvage was cut short: {line}");
    }
    for mended in &mended {
        let _ = writeln!(report, "{mended}");
    }
    let count = checked.damaged_blobs.iter().filter(|blob| !blob.lacks_sums).count();
    if count > 0 {
        let _ = writeln!(report, "{count} keys with damaged blobs are not in the new store");
    }
    if checked.torn_tail.is_some() || checked.cut_datafile.is_some() {
        let _ = writeln!(report, "the end of the log that was cut off is not in the new store");
    }
    let _ = writeln!(report, "repaired into {}", to.display());
    fs::write(to.join(REPORT_FILE), &report).map_err(failed(&to.join(REPORT_FILE)))?;
    sync(&to.join(REPORT_FILE))?;
    sync(to)?;
    out.write_all(report.as_bytes()).map_err(|error| UpkeepError::File("standard output".into(), error))?;
    Ok(checked.is_sound())
}

/// What a store holds, and notes about its hints.
fn read(directory: &Path, scratch: &Scratch) -> Result<(Checked, Vec<String>), UpkeepError> {
    let folder = directory.join("meta");
    let (meta, unreadable) = scratch.copy_of(&folder);
    let failure = meta.failure();
    let storage = DeviceStorage::open_to_read(Directory::open_to_read(directory)?, meta)?;
    let checked = check(&storage, DATABASES)?;
    let failed = |failure: &Failure| {
        failure.get().map(|failure| format!("note: {} cannot be read: {failure}", folder.display()))
    };
    Ok((checked, unreadable.or_else(|| failed(&failure)).into_iter().collect()))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> UpkeepError {
    let shown = path.display().to_string();
    move |error| UpkeepError::File(shown, error)
}

/// Makes a file, or the names in a directory, survive the loss of power.
fn sync(path: &Path) -> Result<(), UpkeepError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed(path))
}

/// Makes a directory and those above it that are missing, so that they survive the loss of power.
fn make_durably(path: &Path) -> Result<(), UpkeepError> {
    let missing: Vec<&Path> = path.ancestors().take_while(|path| !path.exists()).collect();
    directory::make(path)?;
    for made in missing {
        // A relative path of one part has an empty one above it.
        match made.parent().filter(|above| !above.as_os_str().is_empty()) {
            Some(above) => sync(above)?,
            None => sync(Path::new("."))?,
        }
    }
    Ok(())
}

/// What was found, a line each, and a summary.
fn describe(checked: &Checked, notes: &[String]) -> String {
    let mut lines: Vec<String> = checked.damages.iter().map(|damage| damage.line()).collect();
    lines.extend(checked.losses.iter().map(ToString::to_string));
    lines.extend(checked.damaged_blobs.iter().map(ToString::to_string));
    for torn in checked.torn_tail.iter().chain(&checked.cut_datafile) {
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
    lines.extend_from_slice(notes);
    let Checked { datafiles, records, blobs, .. } = checked;
    let damaged = checked.damages.len() + checked.damaged_blobs.len();
    lines.push(format!("{datafiles} datafiles, {records} records, {blobs} blobs: {damaged} damaged places"));
    lines.join("\n") + "\n"
}

/// The names of the datafiles, the blobs, the manifest and the notes of recovery.
fn file_names(directory: &Path) -> Result<Vec<String>, UpkeepError> {
    let failed = |error| UpkeepError::File(directory.display().to_string(), error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().into_string().unwrap_or_default();
        let is_whole = ["MANIFEST", "REFUSED", "SALVAGE", "UNMENDED"].contains(&name.as_str());
        if is_whole || name.ends_with(".data") || name.ends_with(".blob") {
            names.push(name);
        }
    }
    Ok(names)
}

/// A directory for a copy of the metadata map, since sled writes to what it opens.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A name for one that is not there yet.
    pub(crate) fn new() -> Scratch {
        Scratch(std::env::temp_dir().join(format!("edgecask-{}-{:016x}", std::process::id(), seed())))
    }

    /// An open copy of the map. Without one, hints are not looked at, and a note says why unless there are none.
    pub(crate) fn copy_of(&self, folder: &Path) -> (Meta, Option<String>) {
        let shown = folder.display();
        match copy_folder(folder, &self.0) {
            Ok(()) => match Meta::open_as_it_is(&self.0) {
                Ok(meta) => (meta, None),
                Err(error) => {
                    let note =
                        format!("note: {shown} is damaged, and the next start makes it again: {error}");
                    (Meta::none(), Some(note))
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => (Meta::none(), None),
            Err(error) => {
                let to = self.0.display();
                let note =
                    format!("note: hints were not looked at: {shown} cannot be copied to {to}: {error}");
                (Meta::none(), Some(note))
            }
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
