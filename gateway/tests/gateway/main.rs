//! The gateway from outside: real files, real sockets, real processes.

mod idle_memory;
mod limits;
mod memory_is_not_given_back;
mod metrics;
mod origin_answers_differ;
mod rest;
mod serving;
mod stopping;
mod storage;
mod support;
mod web;
