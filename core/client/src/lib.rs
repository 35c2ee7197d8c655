//! A client of EdgeCask and of Redis.
//!
//! Modules in the order in which a request passes them.
#![forbid(unsafe_code)]

mod client;
mod connection;
mod cache;
mod pubsub;
mod scan;
mod script;
mod pipeline;
mod build;
mod request;
pub mod commands;
mod arg;
mod words;
mod reply;
mod pool;
mod link;
mod connector;
mod transport;
#[cfg(feature = "embedded")]
mod embedded;
mod url;
mod options;
mod error;
mod runtime;
pub mod limits;

#[cfg(feature = "json")]
pub use arg::Json;
pub use arg::{ToArg, ToArgs};
pub use build::Build;
pub use cache::Cache;
pub use client::Client;
pub use commands::{Commands, ConnectionCommands, HandMade, Trim, TrimTo};
pub use connection::Connection;
pub use edgecask_core::resp::{Event, Value};
pub use error::{Error, Result, ServerError};
pub use options::{Address, Options};
pub use pipeline::{Pipeline, Replies, Requests};
pub use pubsub::{Message, Notice, Subscription};
pub use reply::{Either, Entry, FromReply, ReplyReader};
pub use request::{Any, Request, Response};
pub use scan::Scan;
pub use script::Script;
pub use transport::Transport;
pub use words::Words;
