//! The gateway from outside: real files, real sockets, real processes.

mod damaged_blob_is_sent;
mod idle_memory;
mod limits;
mod long_requests;
mod metrics;
mod origin_answers_differ;
mod rest;
mod serving;
mod stopping;
mod storage;
mod support;
mod web;
