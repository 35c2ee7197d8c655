//! Each file is named after what a client would see if it failed.

mod event_spans_lines;
mod hostile_body_wins;
mod other_command_is_asked;
mod over_a_session;
mod result_differs;
mod wrong_request_is_accepted;
mod wrong_token_is_accepted;

use super::{Exchange, Headers, Request, Response, begin};
use crate::acl::{Change, Registry, User};
use crate::resp::{Decoder, Value};

/// Header fields as a test writes them.
struct Fields<'f>(&'f [(&'f str, &'f str)]);

impl Headers for Fields<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_bytes())
    }
}

/// A request without header fields to a server that requires no password; the target is path and query.
fn ask(method: &str, target: &str, body: impl AsRef<[u8]>) -> Result<Exchange, Response> {
    ask_with(&[], false, method, target, body)
}

fn ask_with(
    fields: &[(&str, &str)],
    requires_password: bool,
    method: &str,
    target: &str,
    body: impl AsRef<[u8]>,
) -> Result<Exchange, Response> {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let headers = &Fields(fields);
    begin(&Request { method, path, query, headers, body: body.as_ref() }, &users(requires_password))
}

/// The default user and two others: `ada`, and `secret` who has the password `word`.
fn users(requires_password: bool) -> Registry {
    let password: &[u8] = if requires_password { b"secret" } else { b"" };
    let registry = Registry::new(User::standard(true, password));
    for (name, rules) in [(&b"ada"[..], &[&b"on"[..], b">se:cret"]), (b"secret", &[b"on", b">word"])] {
        let mut user = User::new(name, false);
        rules.iter().for_each(|rule| user.apply(rule, false).expect("a rule"));
        registry.apply(&Change::Set(user.into()));
    }
    registry
}

/// The commands that a session is asked, each in one line.
fn commands(exchange: &mut Exchange) -> Vec<String> {
    let input = exchange.input();
    let mut commands = Vec::new();
    let mut rest = &input[..];
    while let Some((command, size)) = Decoder::new().decode(rest).expect("requests are RESP") {
        let Value::Array(arguments) = command else { panic!("a request is no array") };
        let words = arguments.iter().map(|argument| argument.as_bytes().expect("a string"));
        commands.push(words.map(|word| word.escape_ascii().to_string()).collect::<Vec<_>>().join(" "));
        rest = &rest[size..];
    }
    assert!(rest.is_empty());
    commands
}

/// Status and body of a response.
fn shown(response: &Response) -> (u16, String) {
    (response.status, String::from_utf8(response.body.clone()).expect("the body is text"))
}
