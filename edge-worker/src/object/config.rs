//! An object's settings, which outlive its sleep, and what INFO says about its host.

use std::sync::Arc;

use edgecask_core::session::{HomeBounds, HostFacts, SETTINGS, Settings};

use crate::host::Host;
use crate::limits::{HEAP_MAX_BYTES, VALUE_MAX_BYTES};
use crate::storage::RowStorage;

/// Under which name the object keeps its settings: lines of a name, a tab, and the text with its line ends escaped.
pub(super) const SETTINGS_NAME: &str = "settings";

/// The setting that a secret of the worker decides.
const PASSWORD: &str = "requirepass";

/// The operator's settings, what an earlier life changed of them, and the worker's password.
pub(super) fn settings(kept: Option<&[u8]>, configured: &str, password: &str) -> Result<Settings, String> {
    let kept = String::from_utf8_lossy(kept.unwrap_or_default()).into_owned();
    let lines = configured.lines().filter_map(|line| line.trim().split_once(' '));
    let mut changes: Vec<(&str, String)> = lines.map(|(name, text)| (name, text.trim().to_owned())).collect();
    for line in kept.lines() {
        let Some((name, text)) = line.split_once('\t') else { continue };
        // One that a later version does not know any more is left out.
        if name != PASSWORD && SETTINGS.iter().any(|row| row.name == name) {
            changes.push((name, text.replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\")));
        }
    }
    if !password.is_empty() {
        changes.push((PASSWORD, password.to_owned()));
    }
    let settings = Settings::new(&changes).map_err(|error| error.to_string())?;
    Ok(settings.within(HomeBounds { bulk_max_bytes: VALUE_MAX_BYTES, has_blobs: false }))
}

/// What is to be kept of settings.
pub(super) fn kept_settings(settings: &Settings) -> Vec<u8> {
    let mut kept = String::new();
    for (name, text) in settings.changed() {
        if name != PASSWORD {
            let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
            kept.push_str(&format!("{name}\t{text}\n"));
        }
    }
    kept.into_bytes()
}

/// What INFO says about the object.
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
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        let used = self.storage.heap_bytes().to_string();
        vec![
            ("server", "os", "Cloudflare Workers wasm32".into()),
            ("server", "arch_bits", "32".into()),
            ("server", "run_id", self.run_id.clone()),
            ("server", "tcp_port", "0".into()),
            ("memory", "used_memory", used.clone()),
            ("memory", "used_memory_rss", used),
            ("memory", "total_system_memory", HEAP_MAX_BYTES.to_string()),
            ("persistence", "storage_bytes", self.storage.stored_bytes().to_string()),
        ]
    }
}
