//! What all sessions of one server share: who is connected, settings, counters, and what connections tell each other.
//!
//! Commands and sessions read and change it; it knows neither. Everything here is shared by reference, each part under a
//! lock of its own that is held for a look-up and never while a command runs.

mod client;
mod effect;
pub mod hub;
mod metrics;
pub mod scan_positions;
mod settings;
mod shared;
mod stored_blob;

pub use client::{Client, ClientCard, Known, ReplyMode, WatchedKey};
pub use effect::Effect;
pub use metrics::{
    CommandStatistics, Event, Histogram, LatencyMonitor, Rates, SlowEntry, SlowLog, Spike, Statistics,
};
pub(crate) use metrics::{REDACTED, shown};
pub use settings::{
    HomeBounds, OutputLimits, SETTINGS, SettingError, SettingKind, SettingPlace, SettingSpec, Settings,
};
pub use shared::{Counters, HostFacts, NoFacts, REDIS_VERSION, Shared, Shortage};
pub(crate) use stored_blob::stored;

/// An engine and what its sessions share.
pub struct Server<E> {
    /// The store.
    pub engine: E,
    /// Everything else.
    pub shared: Shared,
}
