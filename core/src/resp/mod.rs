//! RESP, the wire of Redis: bytes to requests, replies to bytes, and back again for clients.
//!
//! - [`RequestParser`] cuts one request after the other out of a connection's input buffer; arguments borrow it.
//! - [`Reply`] writes RESP2 or RESP3 into the connection's output buffer.
//! - [`write_request`] writes a request, [`Events`] reads replies as borrowed pieces, and [`Decoder`] as owned [`Value`]s;
//!   they serve the client library, the console and tests.
//! - [`split_line`] splits what a person typed into words, with quotes and escapes.
//! - [`parse_i64`], [`parse_f64`], [`format_f64`]: numbers exactly as Redis reads and prints them.
//!
//! Promises: any split of the same bytes gives the same requests and the same error; a byte is looked at a bounded
//! number of times however it arrives; memory grows with bytes received, never with a number a peer announced.
//! Nothing here recurses on input, knows a command, or does I/O. Nothing here knows what a store is either: a reply names
//! bytes that are stored elsewhere by a trait of its own ([`StoredBytes`]), a home with little memory says by values how much
//! a reply may take ([`ReplyBounds`]), and the bounds of the wire are this module's own ([`limits`]). So a client can use it.

mod decode;
mod encode;
mod events;
mod inline;
pub mod limits;
mod quote;
mod reply;
mod request;
mod stored;
mod value;

#[cfg(test)]
mod tests;

pub use decode::Decoder;
pub use encode::{write_argument, write_argument_count, write_request};
pub use events::{Aggregate, DecodeError, Event, Events};
pub use inline::split_line;
pub use quote::quote;
pub use reply::{Deferred, Front, Part, Protocol, Reply, ReplyBounds};
pub use request::{Args, Arriving, Parsed, ProtocolError, RequestLimits, RequestParser, second_argument};
pub use stored::{StoredBytes, StoredError};
pub use value::Value;

pub use crate::number::{FloatText, format_f64, parse_f64, parse_i64, parse_u64};
