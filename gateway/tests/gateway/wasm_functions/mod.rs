//! Functions as modules of WebAssembly, over sockets.

mod function_cannot_be_ended;
mod function_may_more_than_its_caller;
mod library_is_lost;
mod module_harms_the_server;
mod trap_leaves_half;

use std::io::Read;

use crate::support::{Client, Server, request};

/// A module whose functions run commands.
const GUEST: &str = include_str!("../../../../core/wasm/tests/guests/commands.wat");

/// The source of the library `guest`: a first line, then the module.
fn guest() -> Vec<u8> {
    library("guest", GUEST)
}

/// The source of a library of this name, from a module's text.
fn library(name: &str, module: &str) -> Vec<u8> {
    let module = wat::parse_str(module).expect("a module in text");
    [format!("#!wasm name={name}\n").as_bytes(), &module].concat()
}

/// Asks with these words.
fn ask(client: &mut Client, words: &[&[u8]]) -> String {
    client.send(&request(words));
    hear(client)
}

/// The same for words in a line, with spaces between them.
fn say(client: &mut Client, line: &str) -> String {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    ask(client, &words)
}

/// A whole reply of RESP2 on one line: texts as they are, arrays in brackets.
fn hear(client: &mut Client) -> String {
    // How many values are missing in each array that has begun.
    let mut missing = Vec::new();
    let mut shown = String::new();
    loop {
        let line = client.line();
        let count = line.get(1..).and_then(|count| count.parse::<usize>().ok());
        match (line.as_bytes().first(), count) {
            (Some(b'*'), Some(count)) if count > 0 => {
                shown.push('[');
                missing.push(count);
                continue;
            }
            (Some(b'*'), Some(_)) => shown.push_str("[]"),
            (Some(b'$'), Some(length)) => shown.push_str(&String::from_utf8_lossy(&body(client, length))),
            (Some(b'$'), None) => shown.push_str("nil"),
            _ => shown.push_str(&line),
        }
        loop {
            let Some(innermost) = missing.last_mut() else { return shown };
            *innermost -= 1;
            if *innermost > 0 {
                shown.push(' ');
                break;
            }
            shown.push(']');
            missing.pop();
        }
    }
}

/// The bytes of a reply that is one string.
fn hear_bytes(client: &mut Client) -> Vec<u8> {
    let line = client.line();
    let length = line.strip_prefix('$').and_then(|length| length.parse().ok());
    let length = length.unwrap_or_else(|| panic!("no string: {line}"));
    body(client, length)
}

fn body(client: &mut Client, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length + 2];
    client.stream.read_exact(&mut bytes).expect("a string");
    bytes.truncate(length);
    bytes
}

/// A server with the library `guest`.
fn server(flags: &str) -> Server {
    let server = Server::start(flags);
    assert_eq!(ask(&mut server.connect(), &[b"FUNCTION", b"LOAD", &guest()]), "guest");
    server
}
