//! Writers that meet a transaction which another client has open.

use crate::support::{Client, Server, answer, hear, request, say};

fn exec(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.EXEC", b"shop", text.as_bytes()])
}

fn ask(client: &mut Client, text: &str) {
    client.send(&request(&[b"SQL.EXEC", b"shop", text.as_bytes()]));
}

/// Returns once so many connections wait.
fn until_blocked(client: &mut Client, count: usize) {
    while say(client, "CLIENT LIST").matches(" flags=b ").count() != count {
        std::thread::yield_now();
    }
}

/// A server with a table, a client with a transaction open that has changed it, and another client. Nothing ends by its time.
fn reserved() -> (Server, Client, Client) {
    let server = Server::start("");
    let (mut holder, mut other) = (server.connect(), server.connect());
    assert_eq!(exec(&mut holder, "CREATE TABLE t(x); INSERT INTO t VALUES (1)"), ":1");
    assert_eq!(say(&mut other, "CONFIG SET sql-busy-timeout 600000"), "+OK");
    assert_eq!(say(&mut holder, "SQL.BEGIN shop IMMEDIATE"), "+OK");
    assert_eq!(exec(&mut holder, "INSERT INTO t VALUES (2)"), ":1");
    (server, holder, other)
}

#[test]
fn writer_does_not_wait_for_the_end_of_a_transaction() {
    for end in ["SQL.COMMIT shop", "SQL.ROLLBACK shop", "QUIT"] {
        let (server, mut holder, mut writer) = reserved();
        let mut watcher = server.connect();
        ask(&mut writer, "INSERT INTO t VALUES (3); SELECT count(*) AS c FROM t");
        until_blocked(&mut watcher, 1);
        // Meanwhile others go on, with the same database too.
        assert_eq!(exec(&mut watcher, "SELECT count(*) AS c FROM t"), "[[c] [1]]");
        assert_eq!(say(&mut holder, end), "+OK");
        let count = if end == "SQL.COMMIT shop" { 3 } else { 2 };
        assert_eq!(hear(&mut writer), format!("[[c] [{count}]]"), "{end}");
        until_blocked(&mut watcher, 0);
    }
}

#[test]
fn several_writers_wait_and_some_never_come() {
    let (server, mut holder, mut first) = reserved();
    let (mut second, mut gone, mut watcher) = (server.connect(), server.connect(), server.connect());
    // One that begins, and one that has begun and read what is still there.
    first.send(&request(&[b"SQL.BEGIN", b"shop", b"IMMEDIATE"]));
    assert_eq!(say(&mut second, "SQL.BEGIN shop"), "+OK");
    ask(&mut second, "INSERT INTO t VALUES (4)");
    ask(&mut gone, "DELETE FROM t");
    until_blocked(&mut watcher, 3);
    drop(gone);
    until_blocked(&mut watcher, 2);
    assert_eq!(say(&mut holder, "SQL.ROLLBACK shop"), "+OK");
    // One of the two is first, and the other one waits for it.
    until_blocked(&mut watcher, 1);
    drop(first);
    assert_eq!(hear(&mut second), ":1");
    assert_eq!(say(&mut second, "SQL.COMMIT shop"), "+OK");
    assert_eq!(exec(&mut watcher, "SELECT group_concat(x) AS x FROM t"), "[[x] [1,4]]");
}

#[test]
fn writer_waits_longer_than_it_is_to() {
    let (_server, mut holder, mut writer) = reserved();
    assert_eq!(say(&mut writer, "CONFIG SET sql-busy-timeout 20"), "+OK");
    assert_eq!(exec(&mut writer, "DELETE FROM t"), "-ERR database is locked");
    assert_eq!(say(&mut writer, "CONFIG SET sql-busy-timeout 0"), "+OK");
    assert_eq!(exec(&mut writer, "DELETE FROM t"), "-ERR database is locked");
    assert_eq!(say(&mut holder, "SQL.COMMIT shop"), "+OK");
    assert_eq!(exec(&mut writer, "DELETE FROM t"), ":2");
}

#[test]
fn what_may_not_wait_waits() {
    let (_server, mut holder, mut writer) = reserved();
    assert_eq!(say(&mut writer, "MULTI"), "+OK");
    assert_eq!(exec(&mut writer, "DELETE FROM t"), "+QUEUED");
    assert_eq!(say(&mut writer, "EXEC"), "[-ERR database is locked]");
    let script = b"return redis.pcall('SQL.EXEC', KEYS[1], 'DELETE FROM t')";
    let heard = answer(&mut writer, &[b"EVAL", script, b"1", b"shop"]);
    assert_eq!(heard, "-ERR database is locked");
    // A transaction that reads what is no longer there would wait in vain.
    assert_eq!(say(&mut writer, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut writer, "SELECT count(*) AS c FROM t"), "[[c] [1]]");
    assert_eq!(say(&mut holder, "SQL.COMMIT shop"), "+OK");
    assert_eq!(exec(&mut writer, "DELETE FROM t"), "-ERR database is locked");
}
