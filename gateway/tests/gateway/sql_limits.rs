//! What SQL may take, by settings.

use std::time::{Duration, Instant};

use crate::support::{Client, Process, Server, answer, say};

fn exec(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.EXEC", b"shop", text.as_bytes()])
}

const ENDLESS: &str =
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";

#[test]
fn statement_runs_for_ever() {
    let server = Server::start("");
    let mut client = server.connect();
    assert_eq!(exec(&mut client, "CREATE TABLE t(x); INSERT INTO t VALUES (1)"), ":1");
    assert_eq!(say(&mut client, "CONFIG SET sql-time-max-ms 30"), "+OK");
    let late = "ERR the statement took longer than it may take (30 ms, sql-time-max-ms)";
    assert_eq!(exec(&mut client, ENDLESS), format!("-{late}"));
    // What the text did before is undone.
    assert_eq!(exec(&mut client, &format!("DELETE FROM t; {ENDLESS}")), format!("-{late}"));
    assert_eq!(exec(&mut client, "SELECT count(*) AS c FROM t"), "[[c] [1]]");
    // Of a transaction only the statement.
    assert_eq!(say(&mut client, "SQL.BEGIN shop"), "+OK");
    assert_eq!(exec(&mut client, "INSERT INTO t VALUES (2)"), ":1");
    assert_eq!(exec(&mut client, ENDLESS), format!("-{late}"));
    assert_eq!(say(&mut client, "SQL.COMMIT shop"), "+OK");
    assert_eq!(exec(&mut client, "SELECT count(*) AS c FROM t"), "[[c] [2]]");
    let cursor = answer(&mut client, &[b"SQL.CURSOR", b"OPEN", b"shop", ENDLESS.as_bytes()]);
    assert_eq!(cursor, format!("-{late}"));
    assert_eq!(say(&mut client, "CONFIG SET sql-time-max-ms 0"), "+OK");
    let many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000) SELECT count(*) AS c FROM c";
    assert_eq!(exec(&mut client, many), "[[c] [1000000]]");
}

#[test]
fn reply_has_more_rows_than_it_may() {
    let server = Server::start("");
    let mut client = server.connect();
    assert_eq!(exec(&mut client, "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)"), ":3");
    assert_eq!(say(&mut client, "CONFIG SET sql-reply-max-rows 2"), "+OK");
    let refused = exec(&mut client, "INSERT INTO t VALUES (4), (5), (6) RETURNING x");
    assert_eq!(refused, "-ERR the result has more rows than a reply may have (2, sql-reply-max-rows)");
    assert_eq!(exec(&mut client, "SELECT x FROM t LIMIT 2"), "[[x] [1] [2]]");
    assert_eq!(exec(&mut client, "SELECT count(*) AS c FROM t"), "[[c] [3]]");
    // A cursor has them all, some at a time.
    assert_eq!(answer(&mut client, &[b"SQL.CURSOR", b"OPEN", b"shop", b"SELECT x FROM t"]), "[:1 [x]]");
    assert_eq!(say(&mut client, "SQL.CURSOR FETCH shop 1 COUNT 100"), "[:1 [[1] [2]]]");
    assert_eq!(say(&mut client, "SQL.CURSOR FETCH shop 1 COUNT 100"), "[:0 [[3]]]");
    assert_eq!(say(&mut client, "CONFIG SET sql-reply-max-rows 0"), "+OK");
    assert_eq!(exec(&mut client, "SELECT x FROM t"), "[[x] [1] [2] [3]]");
}

#[test]
fn text_is_longer_than_it_may_be() {
    let server = Server::start("");
    let mut client = server.connect();
    let long = format!("CREATE TABLE t(x); -- {}", "x".repeat(100_000));
    assert_eq!(say(&mut client, "CONFIG SET sql-text-max-bytes 64kb"), "+OK");
    let refused = "-ERR the text is longer than it may be (65536 bytes, sql-text-max-bytes)";
    assert_eq!(exec(&mut client, &long), refused);
    assert_eq!(answer(&mut client, &[b"SQL.SCRIPT", b"shop", long.as_bytes()]), refused);
    assert_eq!(say(&mut client, "EXISTS shop"), ":0");
    assert!(say(&mut client, "CONFIG SET sql-text-max-bytes 1gb").starts_with("-ERR"));
    assert_eq!(say(&mut client, "CONFIG SET sql-text-max-bytes 16mb"), "+OK");
    assert_eq!(exec(&mut client, &long), ":0");
}

/// One call of LIKE, which nothing can stop.
#[test]
fn one_call_on_a_long_value_keeps_others_waiting() {
    let server = Server::start("--threads 1");
    let mut client = server.connect();
    assert_eq!(exec(&mut client, "CREATE TABLE t(x); INSERT INTO t VALUES (hex(zeroblob(1500000)))"), ":1");
    let statement = "SELECT count(*) AS c FROM t WHERE x LIKE '%' || hex(zeroblob(400)) || '1'";
    let begin = Instant::now();
    let slow = std::thread::spawn(move || exec(&mut client, statement));
    let mut other = server.connect();
    let mut longest = Duration::ZERO;
    while !slow.is_finished() {
        let asked = Instant::now();
        assert_eq!(say(&mut other, "PING"), "+PONG");
        longest = longest.max(asked.elapsed());
    }
    let took = begin.elapsed();
    assert_eq!(slow.join().expect("an answer"), "[[c] [0]]");
    assert!(
        took > Duration::from_millis(100),
        "the statement is over in {took:?}, so this test says nothing"
    );
    assert!(longest < took / 3, "a PING took {longest:?} beside a statement of {took:?}");
}

/// What waits for nobody may be as long as ever, whichever part of a statement it is.
#[test]
fn long_values_are_refused() {
    let server = Server::start("--threads 1");
    let mut client = server.connect();
    let columns: String = (0..900).map(|number| format!(", column_{number:_>90}")).collect();
    assert_eq!(exec(&mut client, &format!("CREATE TABLE wide(id INTEGER PRIMARY KEY{columns})")), ":0");
    assert_eq!(exec(&mut client, "INSERT INTO wide(id) VALUES (1)"), ":1");
    assert_eq!(exec(&mut client, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)"), ":0");
    let long = "v".repeat(300_000);
    let parameter: [&[u8]; 4] = [b"SQL.EXEC", b"shop", b"INSERT INTO t(x) VALUES (?)", long.as_bytes()];
    assert_eq!(answer(&mut client, &parameter), ":1");
    assert_eq!(exec(&mut client, &format!("INSERT INTO t(x) VALUES ('{long}')")), ":1");
    assert_eq!(exec(&mut client, "SELECT count(*) AS c, max(length(x)) AS l FROM t"), "[[c l] [2 300000]]");
    assert_eq!(exec(&mut client, "SELECT x FROM t WHERE id = 2"), format!("[[x] [{long}]]"));
    // Another connection, which reads the schema first.
    assert_eq!(say(&mut client, "RENAME shop other"), "+OK");
    assert_eq!(say(&mut client, "COPY other shop"), ":1");
    assert_eq!(exec(&mut client, "SELECT id FROM wide"), "[[id] [1]]");
    assert!(say(&mut client, "SQL.DESC shop wide").contains("column_"));
    assert_eq!(exec(&mut client, "SELECT length(zeroblob(65000000)) AS l"), "[[l] [65000000]]");
    assert_eq!(exec(&mut client, "SELECT length(zeroblob(70000000)) AS l"), "-ERR string or blob too big");
    // In a transaction of Redis, too.
    assert_eq!(say(&mut client, "MULTI"), "+OK");
    assert_eq!(answer(&mut client, &parameter), "+QUEUED");
    assert_eq!(say(&mut client, "SET k v"), "+QUEUED");
    assert_eq!(say(&mut client, "EXEC"), "[:1 +OK]");
    assert_eq!(exec(&mut client, "SELECT count(*) AS c FROM t"), "[[c] [3]]");
}

/// In a process of its own: the bound is that of all databases of a process.
#[test]
fn statement_takes_all_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let process = Process::start(directory.path());
    let mut client = process.connect();
    assert_eq!(exec(&mut client, "CREATE TABLE t(x); INSERT INTO t VALUES (1)"), ":1");
    assert_eq!(say(&mut client, "CONFIG SET sql-memory-max-bytes 4mb"), "+OK");
    let large = "SELECT length(group_concat(zeroblob(1000000), '')) AS l FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8))";
    assert_eq!(exec(&mut client, large), "-ERR out of memory");
    assert_eq!(exec(&mut client, &format!("DELETE FROM t; {large}")), "-ERR out of memory");
    assert_eq!(exec(&mut client, "SELECT count(*) AS c FROM t"), "[[c] [1]]");
    assert_eq!(say(&mut client, "CONFIG SET sql-memory-max-bytes 0"), "+OK");
    let length = exec(&mut client, large);
    assert!(length.starts_with("[[l] "), "{length}");
}
