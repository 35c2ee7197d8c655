//! Datafiles on anything that looks like one directory of files.

use super::Result;

/// One directory of files, as POSIX has it: names and contents become durable separately.
pub trait Device: Send + Sync + 'static {
    /// An open file.
    type File: DeviceFile;

    /// Creates a file that must not exist yet, empty.
    fn create(&self, name: &str) -> Result<Self::File>;

    /// Opens an existing file.
    fn open(&self, name: &str) -> Result<Self::File>;

    /// Gives a file another name, replacing what had it. Not durable before [`Device::sync_directory`].
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a name; open files stay readable. Not durable before [`Device::sync_directory`].
    fn remove(&self, name: &str) -> Result<()>;

    /// The names in the directory, in any order.
    fn list(&self) -> Result<Vec<String>>;

    /// Makes all names as they are now survive the loss of power.
    fn sync_directory(&self) -> Result<()>;
}

/// One open file of a [`Device`].
pub trait DeviceFile: Send + Sync + 'static {
    /// Writes `parts`, concatenated, at `offset`, making the file longer if needed. [`super::StorageError::Full`]
    /// means that nothing the caller had written before is harmed and the same write may be made again.
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<()>;

    /// Shows `len` bytes at `offset`, in one piece.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Makes contents and length survive the loss of power.
    fn sync(&self) -> Result<()>;

    /// Cuts or extends (with zeros) the file to `len` bytes.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Length in bytes.
    fn len(&self) -> Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}
