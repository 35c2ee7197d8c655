//! Connections that tasks serve instead of workers: WebSocket, HTTP and TLS.
//!
//! In the order in which a connection meets them: a [`Listener`](listeners::Listener) accepts and counts it, [`tls`] may
//! decrypt it, [`http`] answers its requests or upgrades it to a [`websocket`], and [`connection`] drives a session over its
//! transport. A task stays on one thread. Commands run inline, as on a worker, and those that take long leave the thread
//! ([`session`]).

pub mod protocol;
pub mod listeners;
pub mod threads;
pub mod tls;
pub mod http;
pub mod response;
pub mod write_timeout;
pub mod origin;
pub mod console;
pub mod frames;
pub mod websocket;
pub mod tls_stream;
pub mod rest;
pub mod metrics;
pub mod connection;
pub mod session;
