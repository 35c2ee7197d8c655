//! A client of EdgeCask and of Redis, which allocates nothing for a request.
//!
//! ```no_run
//! # async fn example() -> edgecask_client::Result<()> {
//! use edgecask_client::{Client, Commands};
//!
//! let client = Client::connect("redis://localhost").await?;
//! client.set("greeting", "hello").ex(60).await?;
//! let greeting: Option<String> = client.get("greeting").reply().await?;
//! let visits = client.incr("visits").await?;
//! # Ok(()) }
//! ```
//!
//! A [`Client`] is cheap to clone, and all tasks of a program share one. Short requests of all callers go over one
//! connection, those of callers that wake together in one write. Values of 64 KiB and more, transactions over watched keys, and
//! commands that block have connections of a pool to themselves.
//!
//! | what | where |
//! | --- | --- |
//! | every command as a method | [`Commands`], [`HandMade`], for the owner of a connection [`ConnectionCommands`] |
//! | any command by name | [`Client::cmd`] |
//! | another type of reply | [`Request::reply`] |
//! | several requests at once | [`Client::pipeline`], [`Client::run`], [`Client::transaction`], [`Client::watch`] |
//! | values without an allocation, of any size | [`Client::get_into`], [`Client::get_with`], [`Client::get_to`], [`Client::write_to`], [`Client::set_from`], [`Client::set_from_reader`] |
//! | messages | [`Client::subscribe`], [`Client::psubscribe`], [`Client::ssubscribe`] |
//! | streams | [`Client::entries`], [`Client::group_entries`] |
//! | what the server runs | [`Client::monitor`] |
//! | what it says of itself | [`Info`] |
//! | walks | [`Client::scan_keys`], [`Client::scan_fields`], [`Client::scan_members`], [`Client::scan_scores`], [`Client::fold`] |
//! | scripts and functions | [`Script`], [`Library`] |
//! | replies that the server keeps up to date | [`Client::cache`] |
//! | servers, and stores in this process | [`Options::from_url`] |
//! | types of one's own | [`ToArg`], [`FromReply`] |
//!
//! # What may be relied on
//!
//! - *Cancellation.* Nothing is sent before a request is first polled. A future that is dropped leaves nobody a wrong reply: on
//!   the shared connection its reply is read and dropped, a connection that it had for itself is closed. The command may run all
//!   the same. A buffer that was lent is empty afterwards.
//! - *Errors* are one type. [`Error::may_have_run`] says whether the request may have had its effect, [`Error::is_retry_safe`]
//!   whether it may be sent again.
//! - *Deadlines.* A request has [`Options::timeout`], in which waiting for a connection and for room counts; a command that blocks has
//!   its own time besides. A value that is streamed has its time anew with every part.
//! - *Bounds.* Bytes and requests of a connection are bounded, so are connections, messages of a subscription, and the cache. While
//!   the server is away, only callers wait; nothing is stored for them.
//! - *Reconnecting* goes on for ever, with pauses that grow to half a second. A client that has connected once never gives up.
//!
//! # A store in the same process
//!
//! With the feature `embedded`, `edgecask:DIR` opens the directory itself, without a server and without a port:
//!
//! ```no_run
//! # #[cfg(feature = "embedded")]
//! # async fn example() -> edgecask_client::Result<()> {
//! use edgecask_client::{Client, Commands};
//!
//! let client = Client::connect("edgecask:./data").await?;
//! client.set("greeting", "hello").await?;
//! assert_eq!(client.get("greeting").await?, Some(b"hello".to_vec()));
//! let bytes = client.fold(0, |sum, _key, value| sum + value.len()).await?;
//! client.del("greeting").await?;
//! client.merge().await?;
//! client.sync().await?;
//! # Ok(()) }
//! ```
//!
//! One process may have it open for writing; another one gets an error with the words `locked by pid`. With
//! `edgecask:DIR?read_only=1` it is only read, beside others that read. `edgecask:memory` is a store in the memory of this process,
//! for tests.
//!
//! # In a browser, Node or a Worker
//!
//! Compiled for `wasm32-unknown-unknown` the client has the same API over WebSockets: `ws://` and `wss://` URLs open those of the home,
//! and `Options::opened_by` takes them from an `Opener`, such as sockets of an upgrade in a Worker, or one that is there already. Tasks
//! and timers are those of JavaScript's event loop. The package `@edgecask/client` (`core/client/js`) is made of it.
//!
//! The modules stand in the order in which a request passes them.
#![forbid(unsafe_code)]
#![cfg_attr(
    target_family = "wasm",
    allow(
        clippy::arc_with_non_send_sync,
        reason = "one text for all homes; where there are threads these go between them"
    )
)]

mod client;
mod connection;
mod cache;
mod pubsub;
mod monitor;
mod queue;
mod entries;
mod scan;
mod script;
mod pipeline;
mod requests;
mod build;
mod request;
pub mod commands;
mod arg;
mod words;
mod info;
mod reply;
mod pool;
mod link;
mod connector;
mod transport;
#[cfg(all(feature = "embedded", not(target_family = "wasm")))]
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
pub use entries::{Entries, GroupEntries};
pub use error::{Error, Result, ServerError};
pub use info::Info;
pub use monitor::{Monitor, Observed};
pub use options::{Address, Options};
pub use pipeline::{Pipeline, Replies};
pub use pubsub::{Message, Notice, Subscription};
pub use reply::{Either, Entry, FromReply, ReplyReader, Wire};
pub use request::{Any, Request, Response};
pub use requests::Requests;
pub use scan::Scan;
pub use script::{Library, Script};
#[cfg(target_family = "wasm")]
pub use transport::Opener;
pub use transport::Transport;
pub use words::Words;
