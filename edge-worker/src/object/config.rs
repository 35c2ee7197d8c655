//! The settings of an object, which survive its sleep, and the fields of INFO about its host.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use edgecask_core::script::Level;
use edgecask_core::server::{HomeBounds, HostFacts, SETTINGS, ScriptBounds, Settings};

use crate::BUDGET;
use crate::host::{Host, LogLevel};
use crate::limits::{
    ARGUMENTS_MAX, CHANGES_MAX, HEAP_MAX_BYTES, NAME_MAX_BYTES, REPLY_MAX_BYTES, SCRIPT_MEMORY_MAX_BYTES,
    SCRIPT_STEPS_MAX, SOURCES_OF_EVAL_MAX_BYTES, SQL_STEPS_MAX, VALUE_MAX_BYTES,
};
use crate::storage::RowStorage;

/// The entry that holds the settings: lines of a name, a tab, and the text with its line ends escaped.
const SETTINGS_NAME: &str = "settings";

/// The line that holds a hash of the secret, so that a password set by a client ends with the secret that it replaced.
const SECRET_NAME: &str = "secret-before";

const PASSWORD: &str = "requirepass";

/// The field `monotonic_clock` of INFO where commands cannot be timed; the console reads it, too.
const NO_CLOCK: &str = "none";

/// Without a clock every command would seem to take no time, so histograms are off by default.
const NO_HISTOGRAMS: (&str, &str) = ("latency-tracking", "no");

/// The operator's configuration: settings, a line each (name, space, text), and the password, a secret of the worker.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The lines.
    pub settings: String,
    /// Empty if no password is set.
    pub password: String,
}

impl Config {
    fn changes(&self) -> Vec<(&str, String)> {
        let lines = self.settings.lines().filter_map(|line| line.trim().split_once(' '));
        let password = Some((PASSWORD, self.password.as_str())).filter(|(_, password)| !password.is_empty());
        let own = std::iter::once(NO_HISTOGRAMS);
        own.chain(lines).chain(password).map(|(name, text)| (name, text.trim().to_owned())).collect()
    }

    fn base(&self) -> Result<Settings, String> {
        Settings::new(&self.changes()).map_err(|error| error.to_string())
    }

    /// A hash that tells this secret from another one.
    fn mark(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.password.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The settings of an object: the operator's, with the changes that CONFIG SET made in an earlier life. A new secret
    /// replaces a password that clients had set.
    ///
    /// # Errors
    /// A setting has no such value.
    pub(super) fn settings<H: Host>(&self, storage: &RowStorage<H>) -> Result<Settings, String> {
        let persisted = storage.state(SETTINGS_NAME).unwrap_or_default();
        let persisted = String::from_utf8_lossy(&persisted).into_owned();
        let lines: Vec<(&str, &str)> = persisted.lines().filter_map(|line| line.split_once('\t')).collect();
        let mark = lines.iter().find(|(name, _)| *name == SECRET_NAME).map(|(_, mark)| *mark);
        let is_same_secret = self.password.is_empty() || mark == Some(&self.mark());
        let mut changes = self.changes();
        for (name, text) in lines {
            // A setting that this version does not know is left out.
            let is_known = SETTINGS.iter().any(|row| row.name == name);
            if is_known && (name != PASSWORD || is_same_secret) {
                changes.push((name, unescape(text)));
            }
        }
        let settings = Settings::new(&changes).map_err(|error| error.to_string())?;
        Ok(settings.within(HomeBounds {
            bulk_max_bytes: VALUE_MAX_BYTES,
            argument_max_bytes: VALUE_MAX_BYTES,
            name_max_bytes: NAME_MAX_BYTES,
            has_blobs: false,
            has_scrub: false,
            // It closes the connection; the platform ends an object that is idle.
            has_shutdown: true,
            is_read_only: false,
            arguments_max: ARGUMENTS_MAX,
            reply_max_bytes: REPLY_MAX_BYTES,
            changes_max: CHANGES_MAX,
            clients_max: i64::MAX,
            scripts: ScriptBounds {
                memory_bytes: SCRIPT_MEMORY_MAX_BYTES,
                steps: Some(SCRIPT_STEPS_MAX),
                sources_bytes: SOURCES_OF_EVAL_MAX_BYTES,
            },
            sql_steps: Some(SQL_STEPS_MAX),
            budget: BUDGET,
        }))
    }

    /// Persists the settings that clients have changed.
    pub(super) fn persist<H: Host>(&self, settings: &Settings, storage: &RowStorage<H>) {
        // The operator's settings were valid when the object was opened.
        let Ok(base) = self.base() else { return };
        let mut lines = format!("{SECRET_NAME}\t{}\n", self.mark());
        for (name, text) in settings.changed_since(&base) {
            lines.push_str(&format!("{name}\t{}\n", escape(&text)));
        }
        storage.put_state(SETTINGS_NAME, lines.as_bytes());
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.push(match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            }),
            _ => out.push(letter),
        }
    }
    out
}

/// The fields of INFO about the object.
pub(super) struct EdgeFacts<H: Host> {
    storage: Arc<RowStorage<H>>,
    run_id: String,
}

impl<H: Host> EdgeFacts<H> {
    pub(super) fn new(storage: Arc<RowStorage<H>>, seed: u64) -> EdgeFacts<H> {
        EdgeFacts { storage, run_id: format!("{seed:016x}{seed:016x}{:08x}", seed >> 32) }
    }
}

impl<H: Host> HostFacts for EdgeFacts<H> {
    fn fill_unguessable(&self, buffer: &mut [u8]) -> bool {
        let bytes = self.storage.random(buffer.len());
        let is_whole = bytes.len() == buffer.len();
        if is_whole {
            buffer.copy_from_slice(&bytes);
        }
        is_whole
    }

    fn log(&self, level: Level, text: &[u8]) {
        let level = match level {
            Level::Debug => LogLevel::Debug,
            Level::Verbose => LogLevel::Verbose,
            Level::Notice => LogLevel::Notice,
            Level::Warning => LogLevel::Warning,
        };
        self.storage.write_log(level, &String::from_utf8_lossy(text));
    }

    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        let used = self.storage.heap_bytes().to_string();
        let resident = self.storage.resident_bytes().to_string();
        vec![
            ("server", "os", "Cloudflare Workers wasm32".into()),
            ("server", "arch_bits", "32".into()),
            ("server", "run_id", self.run_id.clone()),
            ("server", "tcp_port", "0".into()),
            // The platform's clock stands still while an event runs, and the platform tells no processor time.
            ("server", "monotonic_clock", NO_CLOCK.into()),
            ("server", "sleeps_when_idle", "1".into()),
            ("memory", "used_memory", used),
            ("memory", "used_memory_rss", resident.clone()),
            ("memory", "used_memory_peak", resident),
            ("memory", "total_system_memory", HEAP_MAX_BYTES.to_string()),
            ("persistence", "storage_bytes", self.storage.stored_bytes().to_string()),
            // The output gate holds this reply until all writes before it are on the platform's disks.
            ("bitcask", "log_unsynced_bytes", "0".into()),
            ("bitcask", "log_syncs", self.storage.commits().to_string()),
        ]
    }
}
