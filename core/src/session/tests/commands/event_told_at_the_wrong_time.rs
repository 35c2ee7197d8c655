//! Events of the keyspace stand in the order in which a command met and changed keys.

use super::Console;
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::resp::{Decoder, Value};

/// What a listener of the keyspace was told since it was last asked: events and keys.
fn events<E: Engine>(console: &mut Console<E>, listener: usize) -> Vec<String> {
    let session = &mut console.sessions[listener - 1];
    session.process(&console.server, console.now_ms);
    let bytes = session.reply().take().expect("memory is read");
    let (mut rest, mut told) = (bytes.as_slice(), Vec::new());
    while let Some((message, used)) = Decoder::new().decode(rest).expect("well-formed messages") {
        let (Value::Array(parts) | Value::Push(parts)) = &message else { panic!("{message:?}") };
        let text = |at: usize| String::from_utf8_lossy(parts[at].as_bytes().unwrap_or_default()).into_owned();
        told.push(format!("{} {}", text(2).trim_start_matches("__keyevent@0__:"), text(3)));
        rest = &rest[used..];
    }
    told
}

#[test]
fn expired_keys_are_not_told_of_where_a_command_meets_them() {
    let mut console = Console::new(MemoryEngine::new(16));
    let ask = |console: &mut Console<MemoryEngine>, connection: usize, request: &str| {
        console.call(connection, &request.split(' ').map(Vec::from).collect::<Vec<_>>())
    };
    ask(&mut console, 1, "CONFIG SET notify-keyspace-events EAnm");
    ask(&mut console, 2, "PSUBSCRIBE __key*__:*");
    for (request, expected) in [
        ("MGET none a b none", "keymiss none, expired a, keymiss a, expired b, keymiss b, keymiss none"),
        ("DEL a b", "expired a, expired b"),
        ("MSET a 1 b 2", "expired a, new a, set a, expired b, new b, set b"),
        ("GETSET a 1", "expired a, keymiss a, new a, set a"),
        ("LPUSH a 1", "expired a, new a, lpush a"),
        ("OBJECT ENCODING a", "expired a"),
        ("SINTER a b", "expired a, keymiss a, expired b, keymiss b"),
    ] {
        for key in ["a", "b"] {
            ask(&mut console, 1, &format!("SET {key} 1 PX 10"));
        }
        console.now_ms += 20;
        events(&mut console, 2);
        ask(&mut console, 1, request);
        assert_eq!(events(&mut console, 2).join(", "), expected, "{request}");
    }
}
