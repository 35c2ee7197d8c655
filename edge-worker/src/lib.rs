//! The core in a Durable Object of Cloudflare, as one WebAssembly instance an object.
//!
//! JavaScript (`worker/`) owns sockets, alarms and SQLite; it hands events in as bytes and carries out what comes back as
//! bytes. Everything between is here, and but for [`border`](self) it is safe Rust that its tests run natively.
//!
//! Modules in data-flow order:

pub mod object;

pub mod outbox;

pub mod storage;

pub mod host;

pub mod limits;

#[cfg(target_arch = "wasm32")]
mod ffi;

/// How much of `limits::MEMORY_MAX_BYTES` is left. Tests that run natively have no end of it.
#[cfg(target_arch = "wasm32")]
pub(crate) const BUDGET: edgecask_core::memory_budget::MemoryBudget =
    edgecask_core::memory_budget::MemoryBudget::counted(ffi::bytes_left);
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const BUDGET: edgecask_core::memory_budget::MemoryBudget =
    edgecask_core::memory_budget::MemoryBudget::UNBOUNDED;
