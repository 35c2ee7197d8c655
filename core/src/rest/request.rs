//! A request understood: who asks, what is asked, and how it is to be answered.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::body::{Fault, read_command, read_commands};
use super::commands::{Arguments, Commands};
use super::credentials::auth;
use super::exchange::{Kind, Style};
use super::hrana;
use super::json::Strings;
use super::search;
use super::{Exchange, Request, Response};
use crate::acl::Registry;
use crate::catalog::{self, Flags};
use crate::resp::write_request;

/// The parameter that holds the token.
const TOKEN: &[u8] = b"_token";

/// What the session of a request is to be asked before the request's body is received, so that strangers cannot make
/// the host hold bodies: nothing, or an exchange whose response, unless its status is 200, goes to the peer.
pub fn log_in(request: &Request<'_>, users: &Registry) -> Result<Option<Exchange>, Response> {
    let query = read_query(request.query.unwrap_or_default());
    let style = Style::Json(Strings::Text);
    if search::is_meant(request) {
        let auth = auth(request, query.token.as_deref(), users).map_err(|_| search::no_password())?;
        let kind = Kind::Search(search::Asked::default());
        return Ok(auth.map(|auth| Exchange::new(Some(auth), kind, style, Commands::default())));
    }
    let auth = auth(request, query.token.as_deref(), users)?;
    Ok(auth.map(|auth| Exchange::new(Some(auth), Kind::Pipeline, style, Commands::default())))
}

/// Begins the exchange of one request, or refuses it. `users` tells whether its session may run nothing before it has logged
/// in, and which tokens name a user.
pub fn begin(request: &Request<'_>, users: &Registry) -> Result<Exchange, Response> {
    if search::is_meant(request) {
        let query = read_query(request.query.unwrap_or_default());
        let auth = auth(request, query.token.as_deref(), users).map_err(|_| search::no_password())?;
        let (commands, asked) = search::read(request)?;
        return Ok(Exchange::new(auth, Kind::Search(asked), Style::Json(Strings::Text), commands));
    }
    let hrana = hrana::read(request.method, request.path, request.body)?;
    let stream = stream_of(request.path);
    let allowed: &[&str] = if stream { &["GET", "POST"] } else { &["GET", "HEAD", "POST", "PUT"] };
    if !allowed.contains(&request.method) {
        let mut response = Response::error(405, b"ERR this method is not allowed here");
        response.headers.push(("allow", allowed.join(", ")));
        return Err(response);
    }
    let query = read_query(request.query.unwrap_or_default());
    let auth = auth(request, query.token.as_deref(), users)?;
    let style = read_style(request)?;
    let (kind, commands) = if let Some(commands) = hrana {
        (Kind::Hrana, commands)
    } else if stream {
        let mut arguments = Arguments::default();
        push_path(request.path, &mut arguments);
        query.arguments.iter().for_each(|argument| arguments.push(argument));
        (Kind::Stream, single(arguments, false)?)
    } else {
        match request.path {
            "" | "/" => {
                let read = read_command(request.body).map_err(|fault| refuse(fault, "command"))?;
                (Kind::Single, single(read, true)?)
            }
            "/pipeline" => (Kind::Pipeline, batch(request.body, "pipeline")?),
            "/multi-exec" => (Kind::Transaction, transaction(request.body)?),
            path => {
                let mut arguments = Arguments::default();
                push_path(path, &mut arguments);
                if matches!(request.method, "POST" | "PUT") && !request.body.is_empty() {
                    arguments.push(request.body);
                }
                query.arguments.iter().for_each(|argument| arguments.push(argument));
                (Kind::Single, single(arguments, true)?)
            }
        }
    };
    Ok(Exchange::new(auth, kind, style, commands))
}

fn refuse(fault: Fault, what: &str) -> Response {
    let text = match fault {
        Fault::Syntax(why) => format!("ERR failed to parse {what}: {why}"),
        Fault::Text(text) => text,
    };
    Response::error(400, text.as_bytes())
}

fn single(mut arguments: Arguments, may_be_refused: bool) -> Result<Commands, Response> {
    if arguments.is_empty() {
        return Err(Response::error(400, b"ERR empty command"));
    }
    if let Some(refusal) = arguments.refusal().filter(|_| may_be_refused) {
        return Err(Response::error(400, refusal.as_bytes()));
    }
    let mut commands = Commands::default();
    commands.push(&mut arguments, None);
    Ok(commands)
}

fn batch(body: &[u8], what: &str) -> Result<Commands, Response> {
    let commands = read_commands(body).map_err(|fault| refuse(fault, &format!("{what} request")))?;
    if commands.refusals.is_empty() {
        return Err(Response::error(400, format!("ERR empty {what} request").as_bytes()));
    }
    Ok(commands)
}

/// A transaction is refused as a whole if one of its commands is.
fn transaction(body: &[u8]) -> Result<Commands, Response> {
    let commands = batch(body, "transaction")?;
    if let Some(refusal) = commands.refusals.iter().flatten().next() {
        return Err(Response::error(400, refusal.as_bytes()));
    }
    let mut input = Vec::with_capacity(commands.input.len() + 32);
    write_request(&["MULTI"], &mut input);
    input.extend_from_slice(&commands.input);
    write_request(&["EXEC"], &mut input);
    Ok(Commands { input, ..commands })
}

/// Whether the path asks for a stream.
fn stream_of(path: &str) -> bool {
    let name = segments(path).next().unwrap_or_default();
    catalog::lookup(&name).is_some_and(|spec| spec.is(Flags::EVENT_STREAM))
}

fn push_path(path: &str, arguments: &mut Arguments) {
    segments(path).for_each(|segment| arguments.push(&segment));
}

fn segments(path: &str) -> impl Iterator<Item = Cow<'_, [u8]>> {
    path.strip_prefix('/').unwrap_or(path).split('/').map(decode)
}

/// Percent signs that encode nothing stay as they are.
fn decode(text: &str) -> Cow<'_, [u8]> {
    percent_decode_str(text).into()
}

#[derive(Default)]
struct Query {
    token: Option<Vec<u8>>,
    arguments: Vec<Vec<u8>>,
}

fn read_query(query: &str) -> Query {
    let mut read = Query::default();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = match parameter.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (parameter, None),
        };
        let (name, value) = (decode_parameter(name), value.map(decode_parameter));
        if name == TOKEN {
            read.token = read.token.or(value.filter(|value| !value.is_empty()));
        } else {
            read.arguments.push(name);
            read.arguments.extend(value);
        }
    }
    read
}

fn decode_parameter(text: &str) -> Vec<u8> {
    decode(&text.replace('+', " ")).into_owned()
}

fn read_style(request: &Request<'_>) -> Result<Style, Response> {
    let strings = match request.headers.get("upstash-encoding").map(<[u8]>::trim_ascii) {
        None | Some(b"") => Strings::Text,
        Some(name) if name.eq_ignore_ascii_case(b"base64") => Strings::Base64,
        Some(_) => return Err(Response::error(400, b"ERR Upstash-Encoding is neither empty nor base64")),
    };
    match request.headers.get("upstash-response-format").map(<[u8]>::trim_ascii) {
        Some(name) if name.eq_ignore_ascii_case(b"resp2") => match strings {
            _ if request.path == "/multi-exec" => Ok(Style::Json(strings)),
            Strings::Text => Ok(Style::Resp2),
            Strings::Base64 => Err(Response::error(400, b"ERR Upstash-Encoding does not go with resp2")),
        },
        None | Some(b"") => Ok(Style::Json(strings)),
        Some(name) if name.eq_ignore_ascii_case(b"json") => Ok(Style::Json(strings)),
        Some(_) => Err(Response::error(400, b"ERR Upstash-Response-Format is neither json nor resp2")),
    }
}
