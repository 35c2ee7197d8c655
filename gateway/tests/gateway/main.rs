//! The gateway from outside: real files, real sockets, real processes.

mod limits;
mod serving;
mod stopping;
mod storage;
mod support;
