//! The portable core of EdgeCask: everything that is the same on the gateway, at the edge and in a browser tab.
//!
//! The modules are listed in the order in which data flows through them; a module uses only what stands below it
//! (`tests/module_order` enforces it). Nothing in this crate does I/O, reads a clock, draws randomness, spawns a thread
//! or awaits: bytes, `now` and seeds come in as arguments, replies and effects go out as values.

pub mod driver;

pub mod rest;

pub mod session;

pub mod executor;

pub mod command;

pub mod server;

pub mod acl;

pub mod catalog;

#[doc(hidden)]
pub mod transcript;

pub mod sql;

pub mod search;

pub mod script;

pub mod resp;

pub mod data;

pub mod bitcask;

pub mod ordered;

pub mod engine;

pub mod storage;

pub mod json;

pub mod packed;

pub mod glob;

pub mod sorted;

pub mod origin;

pub mod number;

pub mod memory_budget;

pub mod limits;
