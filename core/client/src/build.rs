//! Requests that stand on nothing, for pipelines and transactions.

/// Makes requests that are sent with others: `Build.get("key")`. See [`Client::pipeline`](crate::Client::pipeline).
#[derive(Clone, Copy, Debug, Default)]
pub struct Build;
