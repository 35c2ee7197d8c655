//! How far a copy has come: a small text file, written anew whenever what it says is safe at the target.

use std::fs;
use std::path::{Path, PathBuf};

use super::{CopyError, Result};

const HEAD: &str = "edgecask copy 1";

/// What a file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    path: PathBuf,
    from: String,
    to: String,
    /// Of what the source's cursors are good for.
    identity: String,
    /// How many databases are copied.
    pub(super) database: usize,
    /// Where the walk over the next one goes on.
    pub(super) cursor: u64,
    pub(super) keys: u64,
    pub(super) bytes: u64,
    is_begun: bool,
}

impl Noted {
    /// The file of a copy that nobody gave a name, in the current directory.
    pub(super) fn usual_path(from: &str, to: &str) -> PathBuf {
        // Any sum would do that tells copies apart.
        let sum = format!("{from} {to}").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        PathBuf::from(format!("edgecask-copy-{sum:016x}.state"))
    }

    /// Reads the file, if there is one. A walk whose cursors are good for nothing any more begins again.
    ///
    /// # Errors
    /// It cannot be read, or is of another copy.
    pub(super) fn read(path: &Path, (from, to): (&str, &str), identity: &str) -> Result<Noted> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(CopyError::Io(path.display().to_string(), error)),
        };
        let mut noted = Noted {
            path: path.to_owned(),
            from: from.into(),
            to: to.into(),
            identity: identity.into(),
            ..Noted::default()
        };
        let mut lines = text.lines();
        if lines.next().is_none() {
            return Ok(noted);
        }
        let is_ours = text.starts_with(HEAD)
            && lines.next() == Some(format!("from {from}").as_str())
            && lines.next() == Some(format!("to {to}").as_str());
        if !is_ours {
            return Err(CopyError::Other(format!(
                "{} is about another copy; remove it or name another file with --state",
                path.display()
            )));
        }
        noted.is_begun = true;
        let is_same = lines.next() == Some(format!("source {identity}").as_str());
        for line in lines {
            let (name, number) = line.split_once(' ').unwrap_or((line, ""));
            let Ok(number) = number.parse::<u64>() else { continue };
            match name {
                "databases" => noted.database = usize::try_from(number).unwrap_or(0),
                "cursor" if is_same => noted.cursor = number,
                "keys" => noted.keys = number,
                "bytes" => noted.bytes = number,
                _ => {}
            }
        }
        Ok(noted)
    }

    /// Whether the file was there: something may be copied already.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Writes the file anew.
    pub(super) fn write(&self) -> Result<()> {
        let Noted { path, from, to, identity, database, cursor, keys, bytes, .. } = self;
        let text = format!(
            "{HEAD}\nfrom {from}\nto {to}\nsource {identity}\ndatabases {database}\ncursor {cursor}\nkeys {keys}\nbytes {bytes}\n"
        );
        let unfinished = path.with_extension("unfinished");
        let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
        written.map_err(|error| CopyError::Io(path.display().to_string(), error))
    }

    /// Removes it: the copy is whole.
    pub(super) fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(CopyError::Io(self.path.display().to_string(), error))
            }
            _ => Ok(()),
        }
    }
}
