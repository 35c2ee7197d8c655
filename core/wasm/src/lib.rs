//! Functions as modules of WebAssembly: the engine `wasm` of FUNCTION and FCALL in all homes of EdgeCask.
//!
//! A library is a module of plain exports and linear memory; docs/functions.md describes what it imports and exports. The same modules
//! run on two engines behind one trait of the core, [`Runtime`](edgecask_core::script::Runtime): the feature `wasmtime` compiles them
//! to machine code for the gateway, the feature `wasmi` interprets them at the edge and in the browser, where no code may be made at
//! run time.
//!
//! - `limits` says how large a module may be.
//! - `scan` looks at the sections of a module before an engine does.
//! - `interface` is what a guest may import and must export.
//! - `guest_value` is the form of values in the memory of a guest.
//! - `imports` defines the imports in the linker of an engine, `caller` is what they do.
//! - `engine` is what an engine must do; `modules` shares compiled modules; `runtime` is the core's trait over both.
//! - `wasmtime` and `ticker`, and `wasmi`, are the engines.
//!
//! Promises: no module crashes the process, takes more memory or steps than its run may, or outlives a kill; an instance whose run
//! did not end well is never used again. Never here: unsafe code, precompiled code, a file or a socket.
#![deny(unsafe_code)]
#![cfg_attr(not(feature = "engine"), allow(dead_code, unused_imports, unused_macros))]

mod limits;
mod scan;
mod interface;
mod guest_value;
mod imports;
mod caller;
mod engine;
mod modules;
mod runtime;

#[cfg(feature = "wasmtime")]
mod ticker;
#[cfg(feature = "wasmtime")]
mod wasmtime;
#[cfg(feature = "wasmi")]
mod wasmi;

#[cfg(feature = "wasmi")]
pub use wasmi::wasmi_runtimes;
#[cfg(feature = "wasmtime")]
pub use wasmtime::wasmtime_runtimes;
