//! The REST dialect that `@upstash/redis` speaks, as a state machine without I/O: HTTP requests become RESP for a fresh
//! session, and what the session answers becomes HTTP responses.
//!
//! A host turns an HTTP request into a [`Request`] and calls [`begin`]. It feeds [`Exchange::input`] to a session of its
//! own for this request, and what that session answers to [`Exchange::take`], until a [`Response`] comes out; then it
//! closes the session. So nothing one request does to its connection reaches the next. A session that ends early is
//! answered with [`Exchange::closed`]. With [`log_in`] it can turn strangers away before it receives bodies. CORS, deadlines and the other paths of the port are the host's.
//!
//! What is asked (<https://upstash.com/docs/redis/features/restapi>):
//!
//! | request | commands |
//! | --- | --- |
//! | `/` with the JSON array `["SET", "key", 1]` | that one |
//! | `/set/key/value?EX=100&NX` | the path's segments, then the body of a POST or PUT unless it is empty, then the query: names, and values behind a `=`. Every slash separates, so a last one stands before an empty argument. `+` is a space in the query only |
//! | `/pipeline` with an array of such arrays | one after the other |
//! | `/multi-exec` with the same | as a transaction |
//! | `/v2/pipeline` and its like | a body of libSQL's clients for a database |
//! | `/indexes/…`, `/multi-search` and their like | a request of Meilisearch's clients (`search.rs`) |
//! | `/subscribe/channel`, `/psubscribe/pattern`, `/ssubscribe/channel`, `/monitor` | an endless stream of server-sent events; a body is ignored |
//!
//! Of JSON, strings are taken as they are (half a surrogate pair becomes U+FFFD), numbers and truth values as they are
//! written; null, arrays and objects are refused, as are empty commands. GET, HEAD, POST and PUT do the same; the host
//! leaves the body of an answer to HEAD out.
//!
//! Who asks: the password stands behind `Authorization: Bearer` (or there alone, or as the parameter `_token`, which goes
//! before the header). A token `user:password` names one of the users, as `Basic` does; any other is the password of the default
//! user, and is not looked at where that user needs none.
//!
//! What is answered: `{"result": …}` with 200, `{"error": "ERR …"}` with 400, or 401 if it is about the password; of
//! pipelines and transactions an array of these with 200, but a transaction that was discarded is one error with 400.
//! Sessions are asked in RESP2, so maps are flat arrays and doubles are strings. Integers are JSON numbers of up to 64
//! bits. Bytes that are no UTF-8 become U+FFFD; with `Upstash-Encoding: base64` strings are base64, but for the status OK
//! that is a whole result. With `Upstash-Response-Format: resp2` the replies come as they are, except of transactions.
//! No `Upstash-Sync-Token` is given: every request sees what was answered before. Telemetry headers are ignored.
//!
//! Commands that concern a connection (AUTH, HELLO, RESET, QUIT, CLIENT REPLY, UNSUBSCRIBE), transactions in parts (MULTI,
//! EXEC, DISCARD, WATCH, UNWATCH) and streams that are not asked for by path are refused; SELECT lasts for its request.
//! Commands that block do wait: the request ends when they do, or when the peer goes away.
//!
//! Promises: any split of the replies gives the same response; memory grows with bytes received, whose number
//! `limits.rs` bounds; no error is sent with status 200 but as an item. Nothing here knows what a command does.

mod body;
mod commands;
mod credentials;
mod events;
mod exchange;
mod hrana;
mod json;
mod request;
mod search;
#[cfg(test)]
mod tests;

pub use body::json_text;
pub use exchange::{Error, Exchange};
pub use request::{begin, log_in};

/// The header fields of a request.
pub trait Headers {
    /// The value of the first field of this name, which is in lower case.
    fn get(&self, name: &str) -> Option<&[u8]>;
}

/// What a host's HTTP layer understood of a request.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The method in capitals.
    pub method: &'a str,
    /// The path, still percent-encoded.
    pub path: &'a str,
    /// What stands behind the `?`, still percent-encoded.
    pub query: Option<&'a str>,
    /// The header fields.
    pub headers: &'a dyn Headers,
    /// The body, of at most `REST_BODY_MAX_BYTES`.
    pub body: &'a [u8],
}

/// What a host is to answer. To HEAD it leaves the body out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header fields, the names in lower case; neither the length nor the date is among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body; of a stream, the events up to now.
    pub body: Vec<u8>,
}

impl Response {
    /// The answer to a body of more than `REST_BODY_MAX_BYTES`.
    pub fn body_too_large() -> Response {
        Response::error(413, b"ERR the body is too large; RESP takes larger values")
    }

    /// The answer to a body that does not come in time.
    pub fn body_too_late() -> Response {
        Response::error(408, b"ERR the body did not come in time")
    }

    fn new(status: u16, content_type: &str, body: Vec<u8>) -> Response {
        Response { status, headers: vec![("content-type", content_type.to_owned())], body }
    }

    fn json(status: u16, body: Vec<u8>) -> Response {
        Response::new(status, "application/json", body)
    }

    /// An error that is about a request as a whole.
    pub fn error(status: u16, text: &[u8]) -> Response {
        let mut body = Vec::new();
        json::write_error(text, &mut body);
        Response::json(status, body)
    }
}
