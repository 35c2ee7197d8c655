//! The clock, timers, tasks and chance: tokio's and the system's on native machines, those of JavaScript in a browser or worker.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod web;

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::{Timer, now_ms, seed, spawn};
#[cfg(target_family = "wasm")]
pub(crate) use web::{Timer, now_ms, seed, spawn};
