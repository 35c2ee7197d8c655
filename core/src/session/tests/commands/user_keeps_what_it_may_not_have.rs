//! Connections whose user has changed or is gone.

use super::Console;
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::resp::{Value, write_request};

fn call<E: Engine>(console: &mut Console<E>, connection: usize, line: &str) -> Value {
    let args: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    console.call(connection, &args)
}

fn send<E: Engine>(console: &mut Console<E>, connection: usize, line: &str) -> String {
    let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let session = &mut console.sessions[connection - 1];
    write_request(&args, session.input());
    session.process(&console.server, console.now_ms);
    String::from_utf8_lossy(&session.reply().take().expect("memory is read")).into_owned()
}

fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

#[test]
fn subscriber_still_hears_what_it_may_not() {
    let mut console = Console::new(MemoryEngine::new(16));
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann on >p &a &b &c* +@pubsub"), ok());
    for connection in 2..=5 {
        assert_eq!(call(&mut console, connection, "AUTH ann p"), ok());
    }
    for (connection, line) in
        [(2, "SUBSCRIBE a"), (3, "PSUBSCRIBE c*"), (4, "SSUBSCRIBE b"), (5, "SUBSCRIBE b")]
    {
        assert!(send(&mut console, connection, line).contains("subscribe"));
    }
    // The same once more, and what nobody listens to.
    for rules in ["&a", "resetchannels &a &b &c*", "-@all", "resetchannels &b &c* +@all"] {
        assert_eq!(call(&mut console, 1, &format!("ACL SETUSER ann {rules}")), ok(), "{rules}");
    }
    let closed = |console: &Console<MemoryEngine>| -> Vec<bool> {
        console.sessions.iter().skip(1).map(|session| session.must_close()).collect()
    };
    assert_eq!(closed(&console), [true, false, false, false]);
    assert_eq!(call(&mut console, 1, "PUBLISH a m"), Value::Integer(0));
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann resetchannels &b &cd*"), ok());
    assert_eq!(closed(&console), [true, true, false, false]);
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann resetchannels (&b)"), ok());
    assert_eq!(closed(&console), [true, true, false, false]);
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann clearselectors"), ok());
    assert_eq!(closed(&console), [true, true, true, true]);
}

#[test]
fn connection_of_a_deleted_user_goes_on() {
    let mut console = Console::new(MemoryEngine::new(16));
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann on >p ~* +@all"), ok());
    for connection in 2..=3 {
        assert_eq!(call(&mut console, connection, "AUTH ann p"), ok());
    }
    // Off is no reason to go.
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann off"), ok());
    assert_eq!(call(&mut console, 2, "SET k v"), ok());
    assert_eq!(call(&mut console, 1, "CLIENT KILL USER ann ID 999"), Value::Integer(0));
    assert_eq!(call(&mut console, 1, "ACL DELUSER ann"), Value::Integer(1));
    assert!(console.sessions[1].must_close() && console.sessions[2].must_close());
    assert!(!console.sessions[0].must_close());
    // One that nobody has told runs nothing either, not even as a new user of that name.
    assert_eq!(call(&mut console, 4, "PING"), Value::Simple(b"PONG".to_vec()));
    assert_eq!(send(&mut console, 2, "GET k"), "");
}

#[test]
fn blocked_command_gets_what_its_user_may_not_read() {
    let mut console = Console::new(MemoryEngine::new(16));
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann on >p ~* +blpop"), ok());
    for connection in 2..=3 {
        assert_eq!(call(&mut console, connection, "AUTH ann p"), ok());
        assert_eq!(send(&mut console, connection, "BLPOP list 0"), "");
    }
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann resetkeys"), ok());
    assert_eq!(call(&mut console, 1, "RPUSH list 1"), Value::Integer(1));
    for connection in 2..=3 {
        let session = &mut console.sessions[connection - 1];
        session.process(&console.server, console.now_ms);
        let reply = session.reply().take().expect("memory is read");
        assert_eq!(reply, b"-NOPERM No permissions to access a key\r\n", "{}", reply.escape_ascii());
    }
    assert_eq!(call(&mut console, 1, "LLEN list"), Value::Integer(1));
    let Value::Array(entries) = call(&mut console, 1, "ACL LOG") else { panic!("an array") };
    assert_eq!(entries.len(), 1);
}

#[test]
fn frozen_connection_is_another_user() {
    let mut console = Console::new(MemoryEngine::new(16));
    console.sleeps = true;
    assert_eq!(call(&mut console, 1, "ACL SETUSER ann on >p +acl|whoami"), ok());
    assert_eq!(call(&mut console, 2, "AUTH ann p"), ok());
    assert_eq!(call(&mut console, 2, "ACL WHOAMI"), Value::Bulk(b"ann".to_vec()));
    assert!(call(&mut console, 2, "PING").as_error().is_some());
    let frozen = console.sessions[1].freeze(&console.server, usize::MAX).expect("nothing is left to be sent");
    console.sessions.pop().expect("a session").close(&console.server);
    assert_eq!(call(&mut console, 1, "ACL DELUSER ann"), Value::Integer(1));
    assert!(crate::session::Session::thaw(&console.server, &frozen, console.now_ms).is_err());
}
