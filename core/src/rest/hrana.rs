//! The paths of libSQL's clients: Hrana over HTTP as JSON.
//!
//! | path | what it is |
//! | --- | --- |
//! | `/v2`, `/v3` | GET: whether this version is spoken |
//! | `/v2/pipeline`, `/v3/pipeline`, `/v3/cursor` | POST: a body for the default database |
//! | `/sql/key/…` | the same for the database with this key |
//!
//! What bodies mean is a command's affair (`SQL.HRANA`): here they are passed on.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::Response;
use super::commands::{Arguments, Commands};
use crate::limits::SQL_DEFAULT_DATABASE;
use crate::resp::Value;

/// What a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Version,
    Pipeline,
    Cursor,
}

/// The key of the database and what is asked of it, if the path is one of libSQL's.
fn asked(path: &str) -> Option<(Cow<'_, [u8]>, Asked)> {
    let (key, rest) = match path.strip_prefix("/sql/").and_then(|rest| rest.split_once('/')) {
        Some((key, rest)) => (percent_decode_str(key).into(), rest),
        None => (SQL_DEFAULT_DATABASE.as_bytes().into(), path.strip_prefix('/')?),
    };
    let asked = match rest.trim_end_matches('/') {
        "v2" | "v3" => Asked::Version,
        "v2/pipeline" | "v3/pipeline" => Asked::Pipeline,
        "v3/cursor" => Asked::Cursor,
        _ => return None,
    };
    Some((key, asked))
}

/// The command for a request with such a path; None for another path. The error answers a request at once, which may be good.
pub(super) fn read(method: &str, path: &str, body: &[u8]) -> Result<Option<Commands>, Response> {
    let Some((key, asked)) = asked(path) else { return Ok(None) };
    let word: &[u8] = match (asked, method) {
        (Asked::Version, "GET" | "HEAD") => {
            return Err(Response::new(200, "text/plain", b"Hrana\n".to_vec()));
        }
        (Asked::Pipeline, "POST") => b"PIPELINE",
        (Asked::Cursor, "POST") => b"CURSOR",
        (Asked::Version, _) => return Err(not_allowed("GET, HEAD")),
        _ => return Err(not_allowed("POST")),
    };
    let mut arguments = Arguments::default();
    for argument in [b"SQL.HRANA", &*key, word, body] {
        arguments.push(argument);
    }
    let mut commands = Commands::default();
    commands.push(&mut arguments, None);
    Ok(Some(commands))
}

fn not_allowed(methods: &str) -> Response {
    let mut response = refuse(405, "this method is not allowed here", "METHOD_NOT_ALLOWED");
    response.headers.push(("allow", methods.to_owned()));
    response
}

/// The response to a body.
pub(super) fn respond(value: &Value) -> Response {
    match value {
        Value::Bulk(body) => Response::json(200, body.clone()),
        other => {
            let text = String::from_utf8_lossy(other.as_error().unwrap_or(b"ERR no such reply")).into_owned();
            let (status, code) = match text.split(' ').next() {
                Some("NOAUTH" | "WRONGPASS") => (401, "AUTH_REQUIRED"),
                Some("NOPERM") => (403, "AUTH_FORBIDDEN"),
                _ if text.contains("STREAM_EXPIRED") => (400, "STREAM_EXPIRED"),
                _ => (400, "HTTP_BAD_REQUEST"),
            };
            let text = text.strip_prefix("ERR ").unwrap_or(&text);
            refuse(status, text.strip_prefix("STREAM_EXPIRED ").unwrap_or(text), code)
        }
    }
}

fn refuse(status: u16, message: &str, code: &str) -> Response {
    Response::json(status, serde_json::json!({ "message": message, "code": code }).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_libsql_is_taken_for_a_command() {
        let known =
            |path| asked(path).map(|(key, asked)| (String::from_utf8_lossy(&key).into_owned(), asked));
        assert_eq!(known("/v2/pipeline"), Some(("sql".into(), Asked::Pipeline)));
        assert_eq!(known("/sql/my%20shop/v3/cursor"), Some(("my shop".into(), Asked::Cursor)));
        assert_eq!(known("/sql/shop/v3/"), Some(("shop".into(), Asked::Version)));
        assert_eq!(known("/v2"), Some(("sql".into(), Asked::Version)));
        for path in ["/", "/v1/pipeline", "/sql/shop", "/get/v2", "/v3-protobuf", "/sql/shop/get/x"] {
            assert_eq!(known(path), None, "{path}");
        }
    }
}
