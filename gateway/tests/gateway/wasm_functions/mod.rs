//! Functions as modules of WebAssembly, over sockets.

mod function_cannot_be_ended;
mod function_may_more_than_its_caller;
mod library_is_lost;
mod module_harms_the_server;
mod trap_leaves_half;

use crate::support::{Server, answer};

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

/// A server with the library `guest`.
fn server(flags: &str) -> Server {
    let server = Server::start(flags);
    assert_eq!(answer(&mut server.connect(), &[b"FUNCTION", b"LOAD", &guest()]), "guest");
    server
}
