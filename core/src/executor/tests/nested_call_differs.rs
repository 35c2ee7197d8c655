//! A command called by another one does and replies what it would by itself, in the transaction of its caller.

use super::{Connection, Stop, bulk, server};
use crate::command::CommandError;
use crate::engine::{Engine, Scope};
use crate::resp::Value;

#[test]
fn nested_call_is_not_in_its_callers_transaction() {
    let server = server();
    let (mut one, mut other) = (Connection::new(1), Connection::new(2));
    let ran = one.run_body(&server, &[b"a"], |ctx| {
        assert_eq!(ctx.call(&[b"SET", b"a", b"1"])?, Value::Simple(b"OK".to_vec()));
        assert_eq!(ctx.call(&[b"INCR", b"a"])?, Value::Integer(2));
        assert_eq!(ctx.call(&[b"GET", b"a"])?, bulk("2"));
        ctx.reply.ok();
        Ok(())
    });
    assert!(ran.is_ok(), "{ran:?}");
    assert_eq!(other.run(&server, "GET a"), bulk("2"));
    let failed = one.run_body(&server, &[b"a"], |ctx| {
        ctx.call(&[b"SET", b"a", b"3"])?;
        Err(CommandError::SYNTAX)
    });
    assert!(matches!(failed, Err(Stop::Error(_))), "{failed:?}");
    assert_eq!(other.run(&server, "GET a"), bulk("2"), "nothing of it has happened");
}

#[test]
fn nested_call_is_not_checked() {
    let server = server();
    let mut one = Connection::new(1);
    let refused = |error: Result<Value, CommandError>| match error {
        Err(error) => error.reply_text().into_owned(),
        Ok(value) => panic!("{value:?}"),
    };
    let ran = one.run_body(&server, &[b"a"], |ctx| {
        assert!(refused(ctx.call(&[b"GET"])).starts_with("ERR wrong number of arguments"));
        assert!(refused(ctx.call(&[b"NOSUCH"])).starts_with("ERR unknown command"));
        assert!(refused(ctx.call(&[b"SUBSCRIBE", b"c"])).contains("not allowed from script"));
        assert!(refused(ctx.call(&[b"EXEC"])).contains("not allowed from script"));
        ctx.call(&[b"SET", b"a", b"text"])?;
        assert!(refused(ctx.call(&[b"LPUSH", b"a", b"1"])).starts_with("WRONGTYPE"));
        assert!(refused(ctx.call(&[b"INCR", b"a"])).starts_with("ERR value is not an integer"));
        // A command that would wait does not.
        let nothing = ctx.call(&[b"XREAD", b"BLOCK", b"0", b"STREAMS", b"a stream", b"$"])?;
        assert_eq!(nothing, Value::Null);
        ctx.reply.ok();
        Ok(())
    });
    assert!(ran.is_ok(), "{ran:?}");
}

/// A key that was not declared and is locked by another is found out by a run that is thrown away.
#[test]
fn undeclared_keys_end_a_transaction() {
    let server = server();
    let (mut one, mut other) = (Connection::new(1), Connection::new(2));
    for keys in [1, 3, 200] {
        let mut runs = 0;
        // While others have the locks it cannot take them in passing.
        let mut locked = Some(server.engine.begin(Scope::Everything).expect("memory"));
        let ran = one.run_body(&server, &[], |ctx| {
            runs += 1;
            for number in 0..keys {
                let key = format!("key {number}");
                let appended = ctx.call(&[b"APPEND", key.as_bytes(), b"x"]);
                if appended.is_err() {
                    locked = None;
                }
                appended?;
                ctx.call(&[b"PUBLISH", b"channel", b"once"])?;
            }
            ctx.reply.ok();
            Ok(())
        });
        assert!(ran.is_ok(), "{keys} keys: {ran:?}");
        assert!(runs > 1 && runs <= 10, "{keys} keys took {runs} runs");
        one.take_reply();
        for number in 0..keys {
            let mut whole = Connection::new(3);
            let value = whole.run_body(&server, &[], |ctx| {
                let key = format!("key {number}");
                assert_eq!(ctx.call(&[b"GETDEL", key.as_bytes()])?, bulk("x"));
                ctx.reply.ok();
                Ok(())
            });
            assert!(value.is_ok(), "{value:?}");
        }
    }
    assert_eq!(other.run(&server, "DBSIZE"), Value::Integer(0));
}

#[test]
fn error_that_a_handler_swallows_ends_the_repetition() {
    let server = server();
    let mut one = Connection::new(1);
    let mut values = Vec::new();
    let mut locked = Some(server.engine.begin(Scope::Everything).expect("memory"));
    let ran = one.run_body(&server, &[], |ctx| {
        // As a script does with pcall.
        values.push(ctx.call(&[b"SET", b"some key", b"1"]).is_ok());
        locked = None;
        ctx.reply.ok();
        Ok(())
    });
    assert!(ran.is_ok(), "{ran:?}");
    assert_eq!(values, [false, true]);
    one.take_reply();
    assert_eq!(one.run(&server, "GET some key".replace("some key", "x").as_str()), Value::Null);
}
