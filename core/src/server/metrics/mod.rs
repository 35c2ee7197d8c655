//! What is measured of the commands that run: counts and times of each, slow ones, spikes, rates.

mod histogram;
mod latency;
mod rates;
mod slow_log;
mod statistics;

pub use histogram::Histogram;
pub use latency::{Event, LatencyMonitor, Spike};
pub use rates::Rates;
pub(crate) use rates::Sample;
pub(crate) use slow_log::{REDACTED, shown};
pub use slow_log::{SlowEntry, SlowLog};
pub use statistics::{CommandStatistics, Statistics};
