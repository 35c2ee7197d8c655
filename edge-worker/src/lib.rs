//! The core in a Durable Object of Cloudflare, as one WebAssembly instance an object.
//!
//! JavaScript (`worker/`) owns sockets, alarms and SQLite. It passes events in as bytes and carries out the messages that
//! come back as bytes. This crate is safe Rust except for `ffi`, and its tests run natively.
//!
//! Modules in data-flow order:

pub mod origin;

pub mod object;

pub mod outbox;

pub mod storage;

pub mod host;

pub mod limits;

#[cfg(target_arch = "wasm32")]
mod ffi;

/// The part of `limits::MEMORY_MAX_BYTES` that is left. Native tests have no bound.
#[cfg(target_arch = "wasm32")]
pub(crate) const BUDGET: edgecask_core::memory_budget::MemoryBudget =
    edgecask_core::memory_budget::MemoryBudget::counted(ffi::bytes_left);
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const BUDGET: edgecask_core::memory_budget::MemoryBudget =
    edgecask_core::memory_budget::MemoryBudget::UNBOUNDED;
