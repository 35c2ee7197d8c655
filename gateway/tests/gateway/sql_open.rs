//! What a client has open of a database between its requests, and statements that take long, while others write.

use crate::support::{Client, Server, answer, hear, request, say};

fn exec(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.EXEC", b"shop", text.as_bytes()])
}

fn query(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.QUERY", b"shop", text.as_bytes()])
}

/// A server with a table of 1 to `rows`, and a client.
fn numbers(rows: u64) -> (Server, Client) {
    let server = Server::start("");
    let mut client = server.connect();
    assert_eq!(say(&mut client, "CONFIG SET sql-busy-timeout 0"), "+OK");
    exec(&mut client, "CREATE TABLE number(n INTEGER PRIMARY KEY, word TEXT)");
    let fill = format!(
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) INSERT INTO number SELECT n, 'word ' || n FROM c"
    );
    assert_eq!(exec(&mut client, &fill), format!(":{rows}"));
    (server, client)
}

#[test]
fn others_see_an_open_transaction() {
    let (server, mut client) = numbers(3);
    let mut other = server.connect();
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut client, "UPDATE number SET word = 'new' WHERE n = 1"), ":1");
    assert_eq!(query(&mut client, "SELECT word FROM number WHERE n = 1"), "[[word] [new]]");
    assert_eq!(query(&mut other, "SELECT word FROM number WHERE n = 1"), "[[word] [word 1]]");
    // A failed statement leaves the transaction as it was.
    assert_eq!(
        exec(&mut client, "INSERT INTO number VALUES (4, 'x'), (1, 'y')"),
        "-ERR UNIQUE constraint failed: number.n"
    );
    assert_eq!(exec(&mut client, "SAVEPOINT a"), ":0");
    assert_eq!(exec(&mut client, "DELETE FROM number"), ":3");
    assert_eq!(exec(&mut client, "ROLLBACK TO a; RELEASE a"), ":0");
    // Another one cannot write now, but it can read.
    assert_eq!(exec(&mut other, "DELETE FROM number"), "-ERR database is locked");
    assert_eq!(query(&mut other, "SELECT count(*) AS c FROM number"), "[[c] [3]]");
    assert_eq!(say(&mut client, "SQL.COMMIT shop"), "+OK");
    assert_eq!(query(&mut other, "SELECT group_concat(word) AS w FROM number"), "[[w] [new,word 2,word 3]]");
    assert_eq!(exec(&mut other, "DELETE FROM number WHERE n = 3"), ":1");
    assert_eq!(say(&mut client, "SQL.COMMIT shop"), "-ERR no transaction is open on this database");
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [2]]");
    assert_eq!(query(&mut client, "PRAGMA integrity_check"), "[[integrity_check] [ok]]");
}

#[test]
fn transaction_that_is_not_committed_leaves_something() {
    let (server, mut client) = numbers(1000);
    let fill = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) INSERT INTO number SELECT 2000 + n, hex(randomblob(300)) FROM c";
    // More than the connection keeps in memory.
    assert_eq!(say(&mut client, "SQL.BEGIN shop IMMEDIATE"), "+OK");
    assert_eq!(exec(&mut client, fill), ":20000");
    assert_eq!(exec(&mut client, "DELETE FROM number WHERE n <= 500"), ":500");
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [20500]]");
    assert_eq!(say(&mut client, "SQL.ROLLBACK shop"), "+OK");
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [1000]]");
    // The same by a text.
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut client, "DELETE FROM number; ROLLBACK"), ":1000");
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [1000]]");
    // By a connection that goes.
    let mut other = server.connect();
    assert_eq!(say(&mut other, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut other, "DELETE FROM number"), ":1000");
    assert_eq!(exec(&mut client, "DELETE FROM number"), "-ERR database is locked");
    assert_eq!(say(&mut other, "QUIT"), "+OK");
    // Its session ends some time after.
    while exec(&mut client, "UPDATE number SET word = 'mine' WHERE n = 1") != ":1" {}
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [1000]]");
    // And one that is committed, after it was cut and has grown again.
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut client, fill), ":20000");
    assert_eq!(exec(&mut client, "DELETE FROM number WHERE n > 10; COMMIT"), ":20990");
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [10]]");
    assert_eq!(exec(&mut client, "VACUUM"), ":0");
    assert_eq!(query(&mut client, "PRAGMA integrity_check"), "[[integrity_check] [ok]]");
}

#[test]
fn transaction_reads_what_was_committed_after_it_began() {
    let (server, mut client) = numbers(3);
    let mut other = server.connect();
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(query(&mut client, "SELECT count(*) AS c FROM number"), "[[c] [3]]");
    assert_eq!(exec(&mut other, "DELETE FROM number WHERE n = 1"), ":1");
    assert_eq!(exec(&mut other, "INSERT INTO number VALUES (7, 'seven'), (8, 'eight')"), ":2");
    assert_eq!(query(&mut client, "SELECT group_concat(n) AS n FROM number"), "[[n] [1,2,3]]");
    // It may no longer write: what it has read is not what is there.
    assert_eq!(exec(&mut client, "DELETE FROM number WHERE n = 2"), "-ERR database is locked");
    assert_eq!(say(&mut client, "SQL.ROLLBACK shop"), "+OK");
    assert_eq!(query(&mut client, "SELECT group_concat(n) AS n FROM number"), "[[n] [2,3,7,8]]");
    // The key goes meanwhile.
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut client, "DELETE FROM number"), ":4");
    assert_eq!(say(&mut other, "RENAME shop store"), "+OK");
    let gone = exec(&mut client, "DELETE FROM number");
    assert!(gone.starts_with("-ERR the database was removed"), "{gone}");
    assert_eq!(answer(&mut other, &[b"SQL.EXEC", b"store", b"DELETE FROM number WHERE n = 8"]), ":1");
}

#[test]
fn new_database_is_there_before_its_commit() {
    let server = Server::start("");
    let (mut client, mut other) = (server.connect(), server.connect());
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut client, "CREATE TABLE t(x); INSERT INTO t VALUES (1)"), ":1");
    assert_eq!(say(&mut other, "EXISTS shop"), ":0");
    assert_eq!(say(&mut client, "MULTI"), "+OK");
    exec(&mut client, "SELECT 1");
    let refused = say(&mut client, "EXEC");
    assert!(refused.starts_with("[-ERR transactions of SQL.BEGIN"), "{refused}");
    let call = exec(&mut client, "SELECT redis('GET', 'x')");
    assert!(call.starts_with("-ERR redis(), tables over keys and functions cannot be used"), "{call}");
    assert_eq!(say(&mut client, "SQL.COMMIT shop"), "+OK");
    assert_eq!(query(&mut other, "SELECT x FROM t"), "[[x] [1]]");
    assert_eq!(say(&mut client, "SQL.BEGIN shop SLOWLY"), "-ERR syntax error");
}

#[test]
fn cursor_misses_rows_or_sees_later_ones() {
    let (server, mut client) = numbers(5000);
    let mut other = server.connect();
    let text: [&[u8]; 5] =
        [b"SQL.CURSOR", b"OPEN", b"shop", b"SELECT n, word FROM number WHERE n > ?", b"10"];
    assert_eq!(answer(&mut client, &text), "[:1 [n word]]");
    let mut seen = 0;
    loop {
        let rows = say(&mut client, "SQL.CURSOR FETCH shop 1 COUNT 400");
        seen += rows.matches("word ").count();
        assert!(!rows.contains("changed"), "{rows}");
        // Every page changes between two calls.
        assert_eq!(exec(&mut other, "UPDATE number SET word = 'changed ' || n"), ":5000");
        if rows.starts_with("[:0 ") {
            break;
        }
        assert!(rows.starts_with("[:1 [["), "{rows}");
    }
    assert_eq!(seen, 4990);
    assert_eq!(say(&mut client, "SQL.CURSOR FETCH shop 1"), "-ERR no such cursor");
    assert_eq!(answer(&mut client, &text), "[:2 [n word]]");
    assert_eq!(say(&mut client, "SQL.CURSOR FETCH other 2"), "-ERR no such cursor");
    assert_eq!(say(&mut client, "SQL.CURSOR FETCH shop 2 COUNT 1"), "[:2 [[11 changed 11]]]");
    assert_eq!(say(&mut client, "SQL.CURSOR CLOSE shop 2"), ":1");
    assert_eq!(say(&mut client, "SQL.CURSOR CLOSE shop 2"), ":0");
    let writes = answer(&mut client, &[b"SQL.CURSOR", b"OPEN", b"shop", b"DELETE FROM number"]);
    assert_eq!(writes, "-ERR the statement changes the database, which it may not do here");
}

#[test]
fn long_read_holds_up_those_that_write() {
    let (server, mut client) = numbers(100_000);
    let mut other = server.connect();
    // Every statement gives a hundred rows, far from each other, one word in common. The read may
    // begin before or after any of them, and never in the middle of one.
    let mut write = |written: u32| {
        let text = format!("UPDATE number SET word = 'word {written}' WHERE n % 1000 = 0");
        assert_eq!(exec(&mut other, &text), ":100");
    };
    write(0);
    // Half a second at least, and more than the connection keeps.
    let long = "SELECT count(*) AS c, count(DISTINCT CASE WHEN a.n % 1000 = 0 THEN a.word END) AS s, sum(length(b.word) > 0) AS l FROM number a JOIN number b ON b.n = (a.n * 7919) % 100000 + 1";
    let mut written = 0;
    client.send(&request(&[b"SQL.QUERY", b"shop", long.as_bytes()]));
    let reader = std::thread::spawn(move || hear(&mut client));
    while !reader.is_finished() {
        written += 1;
        write(written);
    }
    assert_eq!(reader.join().expect("the reader"), "[[c s l] [100000 1 100000]]");
    assert!(written > 3, "only {written} statements got through");
    assert_eq!(query(&mut other, "PRAGMA integrity_check"), "[[integrity_check] [ok]]");
}

#[test]
fn statement_hears_that_the_database_is_locked_with_no_transaction_open() {
    let (server, mut client) = numbers(1000);
    // Reads for long, lets others pass meanwhile, and then writes where they have written.
    let slow = "SELECT count(*) FROM number a JOIN number b WHERE a.n * b.n % 7 = 1; INSERT INTO number(word) VALUES ('slow')";
    client.send(&request(&[b"SQL.EXEC", b"shop", slow.as_bytes()]));
    let waiting = std::thread::spawn(move || hear(&mut client));
    let mut other = server.connect();
    let mut written = 0;
    while !waiting.is_finished() {
        assert_eq!(exec(&mut other, "UPDATE number SET word = 'fast' WHERE n = 1"), ":1");
        written += 1;
    }
    let heard = waiting.join().expect("the slow one");
    assert_eq!(heard, ":1");
    assert!(written > 0);
    assert_eq!(query(&mut other, "SELECT count(*) AS c FROM number WHERE word = 'slow'"), "[[c] [1]]");
}
