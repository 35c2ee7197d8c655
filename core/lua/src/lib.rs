//! Lua 5.1 with Redis' sandbox: the interpreter of EVAL, FUNCTION and FCALL in all homes of EdgeCask.
//!
//! PUC Lua 5.1.5 is compiled from the sources in the crate `lua-src`, changed by the patches that `PATCHES.md` lists, behind a
//! shim in C (`csrc/`) whose border is plain bytes. [`Lua`] implements the trait [`Runtime`](edgecask_core::script::Runtime).
//!
//! - `runtime` is that implementation: what a run takes, and how it ended.
//! - `caller` is what a running script reaches: commands, the log, ticks, and the libraries.
//! - `arguments` turns what a script gives to a command into bytes.
//! - `library`, `json`, `message_pack` and `structure` are Redis' libraries, over flat bytes.
//! - `ffi` is the border to C, and the only file with unsafe code.
//!
//! Promises: no script crashes the process, takes more memory or steps than its run may, or outlives a kill; after any run the
//! interpreter is fit for the next. A script sees what redis-server 7.0.15 shows it, error texts and the order of `pairs`
//! included, apart from the differences that `PATCHES.md` names.
#![deny(unsafe_code)]

mod arguments;
mod caller;
#[allow(unsafe_code)]
mod ffi;
mod json;
mod library;
mod message_pack;
mod number;
mod runtime;
mod structure;

pub use runtime::Lua;
