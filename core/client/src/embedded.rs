//! A client whose store is in this process: no server, no port, one directory or the process's memory.

use edgecask::embedded::{Embedded, EmbeddedError, EmbeddedOptions};

use crate::client::Client;
use crate::error::{Error, Result};
use crate::options::{Address, Options};

impl From<EmbeddedError> for Error {
    fn from(error: EmbeddedError) -> Error {
        std::io::Error::other(error).into()
    }
}

impl Options {
    /// Opens the store of the address, if that is one in this process.
    pub(crate) async fn open_store(&mut self) -> Result<()> {
        if self.store.is_some() || !self.is_embedded() {
            return Ok(());
        }
        let address = self.address.clone();
        let options =
            EmbeddedOptions { read_only: self.read_only, create: !self.read_only, ..Default::default() };
        let opening = tokio::task::spawn_blocking(move || match address {
            Address::Directory(directory) => Embedded::open(&directory, &options),
            _ => Embedded::memory(&options),
        });
        self.store = Some(opening.await.map_err(std::io::Error::from)??);
        Ok(())
    }
}

impl Client {
    fn store(&self) -> Result<&Embedded> {
        let store = self.options().store.as_ref();
        store.ok_or(Error::Invalid(
            "the store is not in this process: its server merges and syncs by itself".into(),
        ))
    }

    /// Merges datafiles of a store in this process until nothing is left to be gained.
    ///
    /// # Errors
    /// The disk fails or is full, the store is only read or not in this process.
    pub async fn merge(&self) -> Result<()> {
        let store = self.store()?.clone();
        let merging = tokio::task::spawn_blocking(move || store.merge());
        Ok(merging.await.map_err(std::io::Error::from)??)
    }

    /// Waits until all that a store in this process has written would survive the loss of power.
    ///
    /// # Errors
    /// The disk fails, or the store is not in this process.
    pub async fn sync(&self) -> Result<()> {
        let store = self.store()?.clone();
        let syncing = tokio::task::spawn_blocking(move || store.sync());
        Ok(syncing.await.map_err(std::io::Error::from)??)
    }
}
