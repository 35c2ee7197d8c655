//! The file of users (`--aclfile`): read at the start and by ACL LOAD, replaced by ACL SAVE.
//!
//! It is replaced as a whole: a file beside it is written, synced, and takes its name. It holds no passwords but hashes of
//! them, which are nobody's business either, so only the server's user may read what it writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgecask_core::acl::{User, parse_users_file};

/// What stands behind the name of the file while it is being written.
const NEW_SUFFIX: &str = ".new";

const OWNER_ONLY: u32 = 0o600;

/// The file.
#[derive(Clone, Debug)]
pub struct UsersFile {
    path: PathBuf,
}

impl UsersFile {
    /// The file at a path.
    pub fn at(path: &Path) -> UsersFile {
        UsersFile { path: path.to_path_buf() }
    }

    /// Its bytes.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.path)
    }

    /// The users in it.
    ///
    /// # Errors
    /// It cannot be read, or says something that is no rule.
    pub fn users(&self, all_channels: bool) -> Result<Vec<Arc<User>>, String> {
        let shown = self.path.display().to_string();
        let text = self.read().map_err(|error| format!("cannot read the file of users {shown}: {error}"))?;
        parse_users_file(&text, &shown, all_channels)
    }

    /// Replaces it.
    ///
    /// # Errors
    /// The new file cannot be written, or cannot take the name; the file is as before.
    pub fn write(&self, text: &[u8]) -> io::Result<()> {
        let mut new = self.path.clone().into_os_string();
        new.push(NEW_SUFFIX);
        let new = PathBuf::from(new);
        let written = write_synced(&new, text).and_then(|()| fs::rename(&new, &self.path));
        if written.is_err() {
            // What is left of it is of no use; the error of the write is the one that counts.
            let _ = fs::remove_file(&new);
        }
        written?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

fn write_synced(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_write_takes_the_users_along() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("users.acl");
        let file = UsersFile::at(&path);
        assert!(file.users(false).expect_err("no file").contains("users.acl"));
        file.write(b"user ann on nopass\n").expect("writes");
        file.write(b"user bea on nopass\n").expect("writes again");
        assert_eq!(file.users(false).expect("a file")[0].name(), b"bea");
        fs::create_dir(folder.path().join("users.acl.new")).expect("a directory in its way");
        assert!(file.write(b"user cid on nopass\n").is_err());
        assert_eq!(file.read().expect("the file"), b"user bea on nopass\n");
    }
}
