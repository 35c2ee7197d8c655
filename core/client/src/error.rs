//! What can go wrong with a request, as one type; each error says whether the request may be sent again.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;

use edgecask_core::resp::DecodeError;

/// The outcome of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server answered with an error. Nothing is wrong with the connection.
    #[error(transparent)]
    Server(ServerError),
    /// The connection failed or could not be made.
    #[error("{error}")]
    Io {
        /// What the operating system says.
        error: Arc<io::Error>,
        /// Whether bytes of the request may have been sent.
        may_have_run: bool,
    },
    /// No reply, no connection or no room by the deadline.
    #[error("no {} within {after_ms} ms", what(*.may_have_run))]
    Timeout {
        /// The time that the request had.
        after_ms: u64,
        /// Whether bytes of the request may have been sent.
        may_have_run: bool,
    },
    /// The client was closed, or the connection of a transaction is gone.
    #[error("the connection is closed")]
    Closed {
        /// Whether bytes of the request may have been sent.
        may_have_run: bool,
    },
    /// The peer does not speak RESP. The connection is closed.
    #[error("{error} at byte {offset} of the connection")]
    Protocol {
        /// What is wrong.
        error: DecodeError,
        /// Bytes of the connection before it.
        offset: u64,
    },
    /// The reply is not of the type that was asked for. The request has run.
    #[error("a reply of type {found} where {expected} was expected")]
    Type {
        /// What the caller wanted.
        expected: Cow<'static, str>,
        /// What came.
        found: Cow<'static, str>,
    },
    /// The request cannot be sent: an address, an option or a value that no server could be asked with.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// A watched key was changed, so that the transaction has not happened.
    #[error("a watched key was changed")]
    Watched,
}

fn what(may_have_run: bool) -> &'static str {
    if may_have_run { "reply" } else { "connection" }
}

/// The text of a server's error, apart from its first word.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerError {
    text: Arc<str>,
}

impl ServerError {
    /// An error as it stands in a reply, without the dash. Bytes that are not UTF-8 are replaced.
    pub fn new(text: &[u8]) -> ServerError {
        ServerError { text: String::from_utf8_lossy(text).into() }
    }

    /// Its kind, which is the first word if that is in capitals (`WRONGTYPE`, `MOVED`, `NOAUTH`), else `ERR`.
    pub fn code(&self) -> &str {
        let word = self.text.split(' ').next().unwrap_or_default();
        let is_code = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_code { word } else { "ERR" }
    }

    /// The whole text, the code included.
    pub fn message(&self) -> &str {
        &self.text
    }

    /// Whether the server refused the request only for the moment and ran nothing of it.
    pub fn is_temporary(&self) -> bool {
        matches!(self.code(), "LOADING" | "BUSY" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN" | "BUSYKEY")
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "ServerError({:?})", self.text)
    }
}

impl std::error::Error for ServerError {}

impl Error {
    /// Whether the request may have had its effect although there is no result.
    pub fn may_have_run(&self) -> bool {
        match self {
            Error::Io { may_have_run, .. }
            | Error::Timeout { may_have_run, .. }
            | Error::Closed { may_have_run } => *may_have_run,
            Error::Protocol { .. } | Error::Type { .. } => true,
            Error::Server(_) | Error::Invalid(_) | Error::Watched => false,
        }
    }

    /// Whether the same request may be sent again with nothing happening twice, and may then succeed.
    pub fn is_retry_safe(&self) -> bool {
        match self {
            Error::Io { may_have_run, .. } | Error::Timeout { may_have_run, .. } => !may_have_run,
            Error::Server(error) => error.is_temporary(),
            Error::Watched => true,
            _ => false,
        }
    }

    /// The code of a server's error, such as `WRONGTYPE`.
    pub fn code(&self) -> Option<&str> {
        if let Error::Server(error) = self { Some(error.code()) } else { None }
    }

    /// The same failure for a request of which bytes may have been sent or not.
    pub(crate) fn for_request(&self, sent: bool) -> Error {
        match self {
            Error::Io { error, .. } => Error::Io { error: error.clone(), may_have_run: sent },
            Error::Timeout { after_ms, .. } => Error::Timeout { after_ms: *after_ms, may_have_run: sent },
            Error::Closed { .. } => Error::Closed { may_have_run: sent },
            Error::Protocol { .. } if !sent => Error::Closed { may_have_run: false },
            other => other.clone(),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io { error: Arc::new(error), may_have_run: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_word_in_capitals() {
        for (text, code) in [
            ("WRONGTYPE Operation against a key", "WRONGTYPE"),
            ("MOVED 1 127.0.0.1:7", "MOVED"),
            ("Error of a script", "ERR"),
            ("ERR syntax error", "ERR"),
            ("", "ERR"),
        ] {
            assert_eq!(ServerError::new(text.as_bytes()).code(), code, "{text:?}");
        }
    }

    #[test]
    fn only_what_has_not_run_may_be_sent_again() {
        let broken = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(broken.for_request(false).is_retry_safe());
        assert!(!broken.for_request(true).is_retry_safe());
        assert!(Error::Server(ServerError::new(b"LOADING the dataset")).is_retry_safe());
        assert!(!Error::Server(ServerError::new(b"WRONGTYPE x")).is_retry_safe());
    }
}
