//! Transactions that share their requests to the cluster.
//!
//! A request costs much the same whether it is about one key or some dozens: the servers' time goes where requests are made,
//! not where bytes are moved. So only some requests are under way at a time, and what comes meanwhile is part of the next ones. One
//! that comes alone goes at once. `reads` are those of transactions that only read, `writes` those that rest on nothing that was read.

pub(super) mod reads;
pub(super) mod writes;

use std::time::Duration;

use super::latency::Latency;

/// A request is slow if it takes so many times as long as others do in the mean,
const SLOW_TIMES: u32 = 4;

/// and at least as long as this.
const SLOW_MIN: Duration = Duration::from_millis(20);

/// After how long a request is slow: those that are do not keep others waiting.
fn slow(usual: &Latency) -> Duration {
    (usual.mean() * SLOW_TIMES).max(SLOW_MIN)
}
