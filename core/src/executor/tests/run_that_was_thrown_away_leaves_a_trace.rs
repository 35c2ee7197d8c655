//! Runs that are thrown away are not seen by anybody: not in replies, not in messages, not in the connection's state.

use super::{Connection, Stop, bulk, server, with_engine};
use crate::command::CommandError;
use crate::engine::memory::MemoryEngine;
use crate::engine::waiting::{Odds, Waiting};
use crate::resp::Value;

/// Everything that a command can want of others, and then an error.
#[test]
fn refused_transaction_has_told_others() {
    let server = server();
    let (mut one, mut listener) = (Connection::new(1), Connection::new(2));
    listener.run(&server, "SUBSCRIBE channel");
    server.shared.hub.interest.has(0);
    let failed = one.run_body(&server, &[b"a"], |ctx| {
        ctx.call(&[b"SET", b"a", b"1"])?;
        assert_eq!(ctx.call(&[b"PUBLISH", b"channel", b"message"])?, Value::Integer(1));
        ctx.call(&[b"SELECT", b"3"])?;
        ctx.call(&[b"CLIENT", b"SETNAME", b"me"])?;
        ctx.call(&[b"CONFIG", b"SET", b"timeout", b"77"])?;
        let shown = ctx.call(&[b"CONFIG", b"GET", b"timeout"])?;
        assert_eq!(shown, Value::Array(vec![bulk("timeout"), bulk("77")]), "it reads what it has set");
        Err(CommandError::SYNTAX)
    });
    assert!(matches!(failed, Err(Stop::Error(_))), "{failed:?}");
    assert_eq!(listener.messages().len(), 0);
    assert_eq!((one.client.db, one.client.labels.name.len()), (0, 0));
    assert_eq!(server.shared.settings.number("timeout"), 0);
    assert_eq!(one.run(&server, "EXISTS a"), Value::Integer(0));
}

/// The same where the runs are repeated until they go through.
#[test]
fn repeated_transaction_has_told_others_twice() {
    let odds = Odds { read_percent: 40, commit_percent: 40, conflict_percent: 30, undeclared_percent: 30 };
    for seed in 0..50 {
        let server = with_engine(Waiting::with_odds(MemoryEngine::new(16), seed, odds));
        let (mut one, mut listener) = (Connection::new(1), Connection::new(2));
        listener.run(&server, "SUBSCRIBE channel");
        let mut runs = 0;
        let members = loop {
            let ran = one.run_body(&server, &[b"a", b"b"], |ctx| {
                runs += 1;
                ctx.call(&[b"RPUSH", b"a", b"1", b"2", b"3"])?;
                ctx.call(&[b"SADD", b"b", b"1", b"2", b"3", b"4", b"5"])?;
                ctx.call(&[b"PUBLISH", b"channel", b"message"])?;
                ctx.call(&[b"SELECT", b"3"])?;
                ctx.call(&[b"SELECT", b"0"])?;
                let random = ctx.call(&[b"SRANDMEMBER", b"b"])?;
                ctx.reply.bulk(random.as_bytes().unwrap_or_default());
                Ok(())
            });
            match ran {
                Ok(_) => break one.take_reply(),
                Err(Stop::Suspended) => assert!(one.reply.is_empty(), "nothing may be sent yet"),
                Err(Stop::Error(error)) => panic!("seed {seed}: {error:?}"),
            }
            assert!(runs < 1000, "seed {seed}: it never ends");
        };
        assert!(matches!(members, Value::Bulk(_)), "{members:?}");
        assert_eq!(listener.messages().len(), 1, "seed {seed} after {runs} runs");
    }
}
