//! The typed API: a method for every command of the table.
//!
//! `generated/` is made from the table by core/tests/client_methods; what the grammar does not give is in `by_hand`.

mod by_hand;
#[allow(
    unused_imports,
    clippy::too_many_arguments,
    clippy::type_complexity,
    reason = "one head for all files"
)]
mod generated {
    //! Made from the table of commands.
    pub mod connection_methods;
    pub mod methods;
    pub mod options;
    pub mod words;
}

pub use by_hand::{HandMade, Trim, TrimTo};
pub use generated::connection_methods::ConnectionCommands;
pub use generated::methods::Commands;
pub use generated::{options, words};

use crate::build::Build;
use crate::client::Client;
use crate::connection::Connection;
use crate::request::Request;
use crate::words::Words;

/// What commands are methods of.
pub trait Begin: Sized {
    /// A request of these words.
    #[doc(hidden)]
    fn begin<Kind, Reply>(self, words: Words) -> Request<Self, Kind, Reply> {
        Request::new(self, words)
    }
}

impl Begin for &Client {}
impl Begin for &Connection {}
impl Begin for Build {}

impl Commands for &Client {}
impl Commands for &Connection {}
impl Commands for Build {}

/// What commands are methods of that change the state of a connection.
pub trait BeginOwn: Sized {
    /// A request of these words.
    #[doc(hidden)]
    fn begin<Kind, Reply>(self, words: Words) -> Request<Self, Kind, Reply>;
}

impl BeginOwn for &Connection {
    fn begin<Kind, Reply>(self, words: Words) -> Request<Self, Kind, Reply> {
        self.keep_from_others();
        Request::new(self, words)
    }
}

impl ConnectionCommands for &Connection {}
