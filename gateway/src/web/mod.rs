//! What the gateway says over HTTP.

pub mod metrics;
