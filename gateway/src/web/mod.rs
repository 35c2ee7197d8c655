//! Everything that is served by tasks instead of workers: WebSocket, HTTP and TLS.
//!
//! In the order in which a connection meets it: a [`Listener`](listeners::Listener) accepts it and counts it in, [`tls`] may be in between,
//! [`http`] understands requests and answers them or makes a [`websocket`] of the connection, and [`seat`] drives a session over
//! whatever carries its bytes. A task belongs to one thread for life. Commands run inline, as on a worker.

pub mod listeners;
pub mod threads;
pub mod tls;
pub mod http;
pub mod write_timeout;
pub mod origin;
pub mod console;
pub mod frames;
pub mod websocket;
pub mod tls_stream;
pub mod rest;
pub mod metrics;
pub mod connection;
