//! The gateway from outside: real files, real sockets, real processes.

mod idle_memory;
mod limits;
mod serving;
mod stopping;
mod storage;
mod support;
mod web;
