//! What all sessions of one server share: who is connected, settings, counters, and what connections tell each other.
//!
//! Commands and sessions read and change it; it knows neither. Everything here is shared by reference, each part under a
//! lock of its own that is held for a look-up and never while a command runs.

mod carry_out;
mod client;
mod effect;
mod eviction;
pub mod feed;
pub mod hub;
mod loading;
mod metrics;
pub mod monitors;
mod orphans;
pub mod outbox;
pub mod peers;
mod prefixes;
pub mod reaction;
pub mod scan_positions;
pub mod scripts;
pub mod search;
pub mod sql;
mod settings;
mod shared;
mod stored_blob;
pub mod triggers;
pub mod crons;

pub(crate) use carry_out::carry_out;
pub use client::{Client, ClientCard, Known, Labels, ReplyMode, SqlWait};
pub(crate) use client::{Mark, Saved};
pub use effect::Effect;
pub(crate) use eviction::Candidate;
pub use eviction::Memory;
pub use loading::Loading;
pub use metrics::{
    CommandStatistics, Event, Histogram, LatencyMonitor, Rates, SlowEntry, SlowLog, Spike, Statistics,
};
pub(crate) use metrics::{REDACTED, shown};
pub use orphans::Orphans;
pub use settings::{
    Accepted, First, HomeBounds, MemorySettings, OutputLimits, Policy, SETTINGS, ScriptBounds, SettingError,
    SettingKind, SettingPlace, SettingSpec, Settings,
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
