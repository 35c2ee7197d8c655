//! `edgecask restore`: a store of its own, made of a backup.
//!
//! The backup is read as a whole first, as `edgecask check` does it, and nothing is written if anything in it is damaged.
//! Files are copied, never linked, so that the new store and the backup have nothing in common. The manifest comes last:
//! without one a directory with datafiles does not open.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use edgecask_core::bitcask::of_its_own;
use edgecask_core::storage::StorageError;

use crate::backup::{Told, names, refuse_without_store, sync_directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::{directory, failed};
use crate::upkeep::{UpkeepError, look};

const MANIFEST: &str = "MANIFEST";
const NEW_MANIFEST: &str = "MANIFEST.temporary";

/// Makes a store of a backup, or of any store that no server uses, in a directory that is empty or missing. False, with what
/// is damaged printed and nothing written, if anything is.
///
/// # Errors
/// A server uses one of the directories, the new one is not empty, or a disk fails.
pub fn run_restore(from: &Path, to: &Path, out: &mut dyn Write) -> Result<bool, UpkeepError> {
    refuse_without_store(from)?;
    let _from_lock = DirectoryLock::take_to_read(from)?;
    let (is_sound, text) = look(from)?;
    let print = |out: &mut dyn Write, text: &str| {
        out.write_all(text.as_bytes()).map_err(|error| UpkeepError::File("standard output".into(), error))
    };
    print(out, &text)?;
    if !is_sound {
        print(out, "nothing was restored; edgecask repair writes what can be read to a new directory\n")?;
        return Ok(false);
    }
    directory::make(to)?;
    if !names(to)?.is_empty() {
        let text = format!("{} is not empty: a store is restored to a directory of its own", to.display());
        return Err(StorageError::Refused(text).into());
    }
    let _to_lock = DirectoryLock::take(to)?;
    if let Err(error) = copy(from, to) {
        // So that the same command may be given again.
        for name in names(to).unwrap_or_default() {
            let _ = fs::remove_file(to.join(name));
        }
        return Err(error.into());
    }
    print(out, &format!("restored to {}\n", to.display()))?;
    Ok(true)
}

fn copy(from: &Path, to: &Path) -> Result<(), StorageError> {
    let mut files: Vec<String> = names(from)?;
    files.retain(|name| name.ends_with(".data") || name.ends_with(".blob"));
    files.sort_unstable();
    let len = |name: &String| fs::metadata(from.join(name)).map_or(0, |facts| facts.len());
    let all: u64 = files.iter().map(len).sum();
    let (mut done, mut told) = (0, Told::new());
    for name in &files {
        let copied = fs::copy(from.join(name), to.join(name))
            .and_then(|bytes| File::open(to.join(name))?.sync_all().map(|()| bytes));
        let shown = to.join(name).display().to_string();
        done += copied.map_err(|error| failed("cannot write", &shown, &error))?;
        told.tell("restored", done, all);
    }
    sync_directory(to)?;
    let shown = to.join(MANIFEST).display().to_string();
    let unwritable = |error| failed("cannot write", &shown, &error);
    // Stores of old builds have none.
    if files.is_empty() || from.join(MANIFEST).exists() {
        let manifest = fs::read(from.join(MANIFEST)).map_err(unwritable)?;
        let own = of_its_own(&manifest)
            .ok_or_else(|| StorageError::Damaged(format!("{shown}: the backup has no manifest")))?;
        let mut file = File::create_new(to.join(NEW_MANIFEST)).map_err(unwritable)?;
        file.write_all(&own).and_then(|()| file.sync_all()).map_err(unwritable)?;
        fs::rename(to.join(NEW_MANIFEST), to.join(MANIFEST)).map_err(unwritable)?;
        sync_directory(to)?;
    }
    let to = std::path::absolute(to).map_err(|error| failed("no place is", &shown, &error))?;
    to.parent().map_or(Ok(()), sync_directory)
}
