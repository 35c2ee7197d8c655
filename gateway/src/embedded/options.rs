//! How a store in a program is opened.

use std::path::Path;

use edgecask_core::bitcask::OnDamage;
use edgecask_core::server::{HomeBounds, Settings};

use super::EmbeddedError;
use crate::limits::{BULK_MAX_BYTES, MEMORY_DATAFILE_MAX_BYTES, SCRUB_BYTES_PER_SECOND, SCRUB_INTERVAL_DAYS};
use crate::sync::Appendfsync;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// Whether it is only read: every write is an error (`READONLY`), and the directory stays as it is.
    /// Several processes may have it open so at a time, beside none that writes.
    pub read_only: bool,
    /// Whether the directory, and a store in it, are made if they are missing.
    pub create: bool,
    /// When the log is synced: a reply is handed out once this policy allows it.
    pub appendfsync: Appendfsync,
    /// Number of logical databases.
    pub databases: u32,
    /// What to do about damage.
    pub on_damage: OnDamage,
    /// Other settings by the names that CONFIG has for them, immutable ones included.
    pub settings: Vec<(String, String)>,
}

impl Default for EmbeddedOptions {
    fn default() -> EmbeddedOptions {
        EmbeddedOptions {
            read_only: false,
            create: true,
            appendfsync: Appendfsync::default(),
            databases: 16,
            on_damage: OnDamage::Refuse,
            settings: Vec::new(),
        }
    }
}

/// What the store is in.
#[derive(Clone, Copy)]
pub(super) enum Place<'d> {
    Directory(&'d Path),
    ReadOnly(&'d Path),
    Memory,
}

impl EmbeddedOptions {
    /// The settings that CONFIG GET and SET see.
    ///
    /// # Errors
    /// There is no such setting, or it does not take such a value.
    pub(super) fn settings(&self, place: Place<'_>) -> Result<Settings, EmbeddedError> {
        let (directory, appendfsync) = match place {
            Place::Directory(directory) => (Some(directory), self.appendfsync),
            // There is nothing to sync.
            Place::ReadOnly(directory) => (Some(directory), Appendfsync::No),
            Place::Memory => (None, Appendfsync::No),
        };
        let shown = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let shown = directory.map_or_else(String::new, |path| shown(path).display().to_string());
        let is_in_memory = matches!(place, Place::Memory);
        let mut settings = vec![
            ("appendfsync", appendfsync.word().to_owned()),
            ("databases", self.databases.to_string()),
            ("dir", shown),
            ("port", "0".into()),
            ("proto-max-bulk-len", BULK_MAX_BYTES.to_string()),
            ("scrub-bytes-per-second", SCRUB_BYTES_PER_SECOND.to_string()),
            ("scrub-interval-days", SCRUB_INTERVAL_DAYS.to_string()),
        ];
        if is_in_memory {
            let datafile_max_bytes = MEMORY_DATAFILE_MAX_BYTES.to_string();
            settings
                .extend([("datafile-max-bytes", datafile_max_bytes), ("scrub-bytes-per-second", "0".into())]);
        }
        settings.extend(self.settings.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let settings = Settings::new(&settings).map_err(|error| EmbeddedError::Option(error.to_string()))?;
        Ok(settings.within(HomeBounds {
            has_shutdown: false,
            is_read_only: matches!(place, Place::ReadOnly(_)),
            has_scrub: matches!(place, Place::Directory(_)),
            ..HomeBounds::default()
        }))
    }
}
