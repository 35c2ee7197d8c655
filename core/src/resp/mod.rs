//! RESP, the wire of Redis: bytes to requests, replies to bytes, and back again for clients.
//!
//! - [`RequestParser`] cuts one request after the other out of a connection's input buffer; arguments borrow it.
//! - [`Reply`] writes RESP2 or RESP3 into the connection's output buffer.
//! - [`write_request`] writes a request, and [`Decoder`] reads replies into owned [`Value`]s; they serve clients, the
//!   console and tests.
//! - [`split_line`] splits what a person typed into words, with quotes and escapes.
//! - [`parse_i64`], [`parse_f64`], [`format_f64`]: numbers exactly as Redis reads and prints them.
//!
//! Promises: any split of the same bytes gives the same requests and the same error; a byte is looked at a bounded
//! number of times however it arrives; memory grows with bytes received, never with a number a peer announced.
//! Nothing here recurses on input, knows a command, or does I/O.

mod decode;
mod encode;
mod inline;
mod number;
mod quote;
mod reply;
mod request;
mod value;

#[cfg(test)]
mod tests;

pub use decode::{DecodeError, Decoder};
pub use encode::{write_argument, write_argument_count, write_request};
pub use inline::split_line;
pub use number::{FloatText, format_f64, parse_f64, parse_i64, parse_u64};
pub use quote::quote;
pub use reply::{Deferred, Front, Part, Protocol, Reply};
pub use request::{Args, Arriving, Parsed, ProtocolError, RequestLimits, RequestParser, second_argument};
pub use value::Value;
