//! The paths of Meilisearch's clients: `/indexes/…`, `/multi-search`, `/tasks/…` and their like.
//!
//! What they mean is a command's affair (`FT.HTTP`, and `FT.HTTP_RO` for what only reads): here they are passed on, and its answer is the
//! response. Answers to GET have an entity tag, the hash of their body, and a client that has the body gets 304 without it. Errors have the
//! form that these clients know, also those about passwords.

use super::commands::{Arguments, Commands};
use super::{Request, Response};
use crate::resp::Value;
use crate::search::dialect::fault::Fault;
use crate::search::dialect::route::{Action, Route, is_of_dialect, route};

/// What is known of a request when its answer comes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Asked {
    /// Whether the answer has an entity tag.
    is_get: bool,
    /// The tags that the client has.
    known: Vec<u8>,
}

/// Whether a request is one of these.
pub(super) fn is_meant(request: &Request<'_>) -> bool {
    is_of_dialect(request.path)
}

/// The command for a request with such a path. The error answers it at once.
pub(super) fn read(request: &Request<'_>) -> Result<(Commands, Asked), Response> {
    let route = route(request.method, request.path).map_err(|fault| refuse(&fault))?;
    check_content_type(request, &route).map_err(|fault| refuse(&fault))?;
    let command: &[u8] = if route.changes() { b"FT.HTTP" } else { b"FT.HTTP_RO" };
    let method = if request.method == "HEAD" { "GET" } else { request.method };
    // A token that stands among the parameters is no parameter of the dialect.
    let query = request.query.unwrap_or_default().split('&');
    let query: Vec<&str> = query.filter(|parameter| !parameter.starts_with("_token=")).collect();
    let mut arguments = Arguments::default();
    for argument in
        [command, method.as_bytes(), request.path.as_bytes(), query.join("&").as_bytes(), request.body]
    {
        arguments.push(argument);
    }
    let mut commands = Commands::default();
    commands.push(&mut arguments, None);
    let known = request.headers.get("if-none-match").unwrap_or_default().to_vec();
    Ok((commands, Asked { is_get: method == "GET", known }))
}

/// Whether a body is of a type that the dialect reads, and not compressed. Without a type it is taken for JSON.
///
/// # Errors
/// It is of another.
fn check_content_type(request: &Request<'_>, route: &Route) -> Result<(), Fault> {
    if request.body.is_empty() {
        return Ok(());
    }
    let encoding = request.headers.get("content-encoding").unwrap_or(b"identity");
    if !encoding.eq_ignore_ascii_case(b"identity") {
        let encoding = String::from_utf8_lossy(encoding);
        let message = ["The Content-Encoding `", &encoding, "` is not supported: send the body as it is."];
        return Err(Fault::new("invalid_content_type", message.concat()));
    }
    let Some(field) = request.headers.get("content-type") else { return Ok(()) };
    let has_documents =
        matches!(route, Route::Index { action: Action::ReplaceDocuments | Action::UpdateDocuments, .. });
    let accepted: &[&str] =
        if has_documents { &["application/json", "application/x-ndjson"] } else { &["application/json"] };
    let name = field.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if accepted.iter().any(|accepted| name.eq_ignore_ascii_case(accepted.as_bytes())) {
        return Ok(());
    }
    let message = [
        "The Content-Type `",
        &String::from_utf8_lossy(name),
        "` is invalid. Accepted values for the Content-Type header are: `",
        &accepted.join("`, `"),
        "`",
    ];
    Err(Fault::new("invalid_content_type", message.concat()))
}

/// An error as these clients know it.
pub(super) fn refuse(fault: &Fault) -> Response {
    Response::json(fault.status(), fault.json().to_string().into_bytes())
}

/// The answer to credentials that are wrong.
pub(super) fn wrong_password() -> Response {
    refuse(&Fault::invalid_api_key())
}

/// The answer to credentials that are missing.
pub(super) fn no_password() -> Response {
    refuse(&Fault::missing_authorization())
}

/// The response that the command's reply is.
pub(super) fn respond(value: &Value, asked: &Asked) -> Response {
    if let Value::Array(parts) = value
        && let [Value::Integer(status), Value::Bulk(_), Value::Bulk(body)] = parts.as_slice()
    {
        let mut response = Response::json(u16::try_from(*status).unwrap_or(500), body.clone());
        if asked.is_get && response.status == 200 {
            let tag = format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(body));
            if has_tag(&asked.known, tag.as_bytes()) {
                response = Response { status: 304, headers: Vec::new(), body: Vec::new() };
            }
            response.headers.push(("etag", tag));
            response.headers.push(("cache-control", "no-cache".to_owned()));
        }
        return response;
    }
    let text = String::from_utf8_lossy(value.as_error().unwrap_or(b"ERR no such reply")).into_owned();
    let code = match text.split(' ').next() {
        Some("NOAUTH") => return no_password(),
        Some("WRONGPASS" | "NOPERM") => return wrong_password(),
        Some("LOADING" | "BUSY" | "MISCONF" | "READONLY") => "index_not_accessible",
        Some("OOM") => "no_space_left_on_device",
        _ => "bad_request",
    };
    refuse(&Fault::new(code, text))
}

/// Whether a tag stands in the list of a client; one that is weak there is the same.
fn has_tag(known: &[u8], tag: &[u8]) -> bool {
    known
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .any(|known| known == b"*" || known.strip_prefix(b"W/").unwrap_or(known) == tag)
}
