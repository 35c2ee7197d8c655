//! SQL over sockets, on real files: what a statement does is what the store has, whatever becomes of its transaction.

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use crate::support::{Client, Server, answer, request, say, start_in};

/// Runs a text on the database `shop`.
fn exec(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.EXEC", b"shop", text.as_bytes()])
}

/// The same where it only reads.
fn query(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.QUERY", b"shop", text.as_bytes()])
}

fn shop() -> (Server, Client) {
    let server = Server::start("");
    let mut client = server.connect();
    assert_eq!(
        exec(&mut client, "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL)"),
        ":0"
    );
    assert_eq!(exec(&mut client, "INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'ink', 20)"), ":2");
    (server, client)
}

#[test]
fn database_is_no_key() {
    let (_server, mut client) = shop();
    assert_eq!(say(&mut client, "TYPE shop"), "+sqldb");
    assert_eq!(say(&mut client, "SCAN 0 TYPE sqldb"), "[0 [shop]]");
    assert_eq!(
        say(&mut client, "GET shop"),
        "-WRONGTYPE Operation against a key holding the wrong kind of value"
    );
    assert_eq!(say(&mut client, "SET text x"), "+OK");
    assert_eq!(
        say(&mut client, "SQL.QUERY text SELECT"),
        "-WRONGTYPE Operation against a key holding the wrong kind of value"
    );
    assert_eq!(say(&mut client, "RENAME shop other"), "+OK");
    assert_eq!(say(&mut client, "COPY other third"), ":1");
    assert_eq!(answer(&mut client, &[b"SQL.EXEC", b"other", b"DELETE FROM item WHERE id = 1"]), ":1");
    let rows = |key: &[u8]| [b"SQL.QUERY", key, b"SELECT name FROM item ORDER BY 1"].map(<[u8]>::to_vec);
    let mut names = |key: &[u8]| {
        let words = rows(key);
        answer(&mut client, &[&words[0], &words[1], &words[2]])
    };
    assert_eq!(names(b"other"), "[[name] [ink]]");
    assert_eq!(names(b"third"), "[[name] [ink] [pen]]");
    assert_eq!(names(b"shop"), "-ERR no such table: item");
    assert_eq!(say(&mut client, "EXISTS shop"), ":0");
    assert_eq!(say(&mut client, "RENAME third other"), "+OK");
    assert_eq!(
        answer(&mut client, &[b"SQL.QUERY", b"other", b"SELECT count(*) AS n FROM item"]),
        "[[n] [2]]"
    );
    assert_eq!(say(&mut client, "DEL other"), ":1");
    assert_eq!(answer(&mut client, &[b"SQL.EXEC", b"other", b"CREATE TABLE item(x)"]), ":0");
    assert_eq!(
        answer(&mut client, &[b"SQL.QUERY", b"other", b"SELECT count(*) AS n FROM item"]),
        "[[n] [0]]"
    );
}

#[test]
fn value_changes_its_type() {
    let (_server, mut client) = shop();
    let text = b"SELECT ?, ?, ?, typeof(?1), typeof(?2), typeof(?3), NULL";
    let words: [&[u8]; 6] = [b"SQL.QUERY", b"shop", text, b"12", b"1.50", &[0xff, 0]];
    let shown = answer(&mut client, &words);
    assert!(shown.starts_with("[[? ? ?"), "{shown}");
    assert!(shown.ends_with("integer text blob nil]]"), "{shown}");
    assert_eq!(
        query(&mut client, "SELECT price, price * 2 AS p FROM item ORDER BY id LIMIT 1"),
        "[[price p] [1.5 3]]"
    );
    client.send(&request(&[b"HELLO", b"3"]));
    // The modules are the last of the map.
    while client.line() != "*0" {}
    client.send(&request(&[b"SQL.QUERY", b"shop", b"SELECT id, price, name, NULL FROM item LIMIT 1"]));
    let lines: Vec<String> = (0..16).map(|_| client.line()).collect();
    assert_eq!(lines[10..], ["*4", ":1", ",1.5", "$3", "pen", "_"].map(String::from)[..], "{lines:?}");
}

#[test]
fn statement_that_writes_runs_as_a_query() {
    let (_server, mut client) = shop();
    for text in ["DELETE FROM item", "SELECT 1; DELETE FROM item", "CREATE TABLE x(y)"] {
        let refused = query(&mut client, text);
        assert_eq!(refused, "-ERR the statement changes the database, which it may not do here", "{text}");
    }
    assert_eq!(
        query(&mut client, "SELECT redis('SET', 'k', 'v')"),
        "-ERR Write commands are not allowed from SQL that only reads"
    );
    assert_eq!(query(&mut client, "SELECT count(*) FROM item"), "[[count(*)] [2]]");
}

#[test]
fn transaction_of_both_happens_by_halves() {
    let (_server, mut client) = shop();
    for line in ["MULTI", "SET k v"] {
        say(&mut client, line);
    }
    exec(&mut client, "INSERT INTO item VALUES (3, 'cap', 3)");
    exec(&mut client, "INSERT INTO item VALUES (4, 'pen', 4)");
    exec(&mut client, "UPDATE item SET price = price + 1 WHERE id = 3");
    assert_eq!(say(&mut client, "EXEC"), "[+OK :1 -ERR UNIQUE constraint failed: item.name :1]");
    assert_eq!(query(&mut client, "SELECT id, price FROM item WHERE id > 2"), "[[id price] [3 4]]");

    // Nothing of a transaction that is not carried out.
    let mut other = _server.connect();
    assert_eq!(say(&mut client, "WATCH shop"), "+OK");
    assert_eq!(exec(&mut other, "DELETE FROM item WHERE id = 3"), ":1");
    say(&mut client, "MULTI");
    exec(&mut client, "DELETE FROM item");
    assert_eq!(say(&mut client, "EXEC"), "*-1");
    assert_eq!(query(&mut client, "SELECT count(*) FROM item"), "[[count(*)] [2]]");
}

#[test]
fn failed_statement_leaves_what_it_called() {
    let (_server, mut client) = shop();
    let text = "INSERT INTO item SELECT 10, redis('INCR', 'n'), 1 UNION ALL SELECT 1, redis('INCR', 'n'), 1";
    assert_eq!(exec(&mut client, text), "-ERR UNIQUE constraint failed: item.id");
    assert_eq!(say(&mut client, "EXISTS n"), ":0");
    // In a transaction that goes on, too.
    say(&mut client, "MULTI");
    say(&mut client, "SET before 1");
    exec(&mut client, text);
    exec(&mut client, "INSERT INTO item VALUES (5, redis('GET', 'before'), 0)");
    assert_eq!(say(&mut client, "EXEC"), "[+OK -ERR UNIQUE constraint failed: item.id :1]");
    assert_eq!(say(&mut client, "EXISTS n"), ":0");
    assert_eq!(query(&mut client, "SELECT name FROM item WHERE id IN (5, 10)"), "[[name] [1]]");
    // And where a script calls it.
    let script =
        "local ok = redis.pcall('SQL.EXEC', 'shop', ARGV[1]) redis.call('SET', 'after', 1) return ok.err";
    let failed = answer(&mut client, &[b"EVAL", script.as_bytes(), b"1", b"shop", text.as_bytes()]);
    assert_eq!(failed, "ERR UNIQUE constraint failed: item.name");
    assert_eq!(say(&mut client, "EXISTS n after"), ":1");
}

#[test]
fn answer_of_a_command_is_in_an_index() {
    let (_server, mut client) = shop();
    for (text, shown) in [
        (
            "CREATE INDEX i ON item(redis('GET', name))",
            "-ERR non-deterministic functions prohibited in index expressions",
        ),
        (
            "CREATE INDEX i ON item(id) WHERE redis('GET', name)",
            "-ERR non-deterministic functions prohibited in partial index WHERE clauses",
        ),
        (
            "CREATE TABLE t(a, b AS (redis('GET', a)))",
            "-ERR non-deterministic functions prohibited in generated columns",
        ),
        ("CREATE TABLE t(a CHECK (redis('INCR', 'checked') < 3), b DEFAULT (redis('INCR', 'made')))", ":0"),
        ("INSERT INTO t(a) VALUES (1), (2)", ":2"),
        ("INSERT INTO t(a) VALUES (3)", "-ERR CHECK constraint failed: redis('INCR', 'checked') < 3"),
        ("SELECT a, b FROM t", "[[a b] [1 1] [2 2]]"),
    ] {
        assert_eq!(exec(&mut client, text), shown, "{text}");
    }
    assert_eq!(say(&mut client, "MGET checked made"), "[2 2]");
}

#[test]
fn statement_or_fail_leaves_half_of_its_rows() {
    let (_server, mut client) = shop();
    let text = "INSERT OR FAIL INTO item(name) VALUES ('cap'), ('pen'), ('lid')";
    assert_eq!(exec(&mut client, text), "-ERR UNIQUE constraint failed: item.name");
    assert_eq!(query(&mut client, "SELECT count(*) AS n FROM item"), "[[n] [2]]");
    assert_eq!(exec(&mut client, &text.replace("FAIL", "IGNORE")), ":2");
}

#[test]
fn statement_changes_its_own_database_by_a_command() {
    let (_server, mut client) = shop();
    for command in
        ["'DEL', 'shop'", "'FLUSHALL'", "'RENAME', 'shop', 'x'", "'SQL.EXEC', 'shop', 'DELETE FROM item'"]
    {
        let refused = exec(&mut client, &format!("SELECT redis({command})"));
        let text = "-ERR a statement that runs on the database may not change its key by a command";
        assert_eq!(refused, text, "{command}");
    }
    let read = exec(&mut client, "SELECT redis('SQL.QUERY', 'shop', 'SELECT 1')");
    assert_eq!(read, "-ERR a statement on this database is running already");
    let other = "SELECT redis('SQL.EXEC', 'other', 'CREATE TABLE t(x)'), redis('SQL.EXEC', 'other', 'INSERT INTO t VALUES (7)')";
    assert_eq!(
        exec(&mut client, other),
        "[[redis('SQL.EXEC', 'other', 'CREATE TABLE t(x)') redis('SQL.EXEC', 'other', 'INSERT INTO t VALUES (7)')] [0 1]]"
    );
    assert_eq!(answer(&mut client, &[b"SQL.QUERY", b"other", b"SELECT x FROM t"]), "[[x] [7]]");
    assert_eq!(query(&mut client, "PRAGMA integrity_check"), "[[integrity_check] [ok]]");
}

#[test]
fn restart_loses_rows() {
    let directory = tempfile::tempdir().expect("a directory");
    for start in 0..4 {
        let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
        let mut client = Client::connect(running.addresses()[0]);
        if start == 0 {
            exec(
                &mut client,
                "CREATE TABLE log(id INTEGER PRIMARY KEY, line TEXT); CREATE INDEX by_line ON log(line)",
            );
        }
        for line in 0..300 {
            let text = format!("INSERT INTO log(line) VALUES ('{start} {line} {}')", "x".repeat(line % 97));
            assert_eq!(exec(&mut client, &text), ":1");
        }
        let rows = (start + 1) * 300;
        assert_eq!(
            query(&mut client, "SELECT count(*), max(id) FROM log"),
            format!("[[count(*) max(id)] [{rows} {rows}]]")
        );
        assert_eq!(query(&mut client, "PRAGMA integrity_check"), "[[integrity_check] [ok]]");
        running.gateway().stop.request(StopRequest { checkpoint: start == 1 });
        assert!(running.wait());
    }
}

#[test]
fn many_connections_see_half_a_transfer() {
    let (server, mut client) = shop();
    exec(&mut client, "CREATE TABLE account(id INTEGER PRIMARY KEY, amount INT)");
    exec(&mut client, "INSERT INTO account VALUES (1, 1000), (2, 1000), (3, 1000)");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let mut client = server.connect();
            scope.spawn(move || {
                for turn in 0..200 {
                    let (from, to) = (1 + (worker + turn) % 3, 1 + (worker + turn + 1) % 3);
                    let text = format!(
                        "UPDATE account SET amount = amount - 7 WHERE id = {from}; UPDATE account SET amount = amount + 7 WHERE id = {to}"
                    );
                    assert_eq!(exec(&mut client, &text), ":2");
                    assert_eq!(query(&mut client, "SELECT sum(amount) AS s FROM account"), "[[s] [3000]]");
                }
            });
        }
    });
    assert_eq!(query(&mut client, "PRAGMA integrity_check"), "[[integrity_check] [ok]]");
}

#[test]
fn long_statement_keeps_others_waiting() {
    let (server, mut client) = shop();
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000000) SELECT count(*) AS n FROM c";
    client.send(&request(&[b"SQL.QUERY", b"shop", endless.as_bytes()]));
    let mut other = server.connect();
    for _ in 0..50 {
        assert_eq!(say(&mut other, "PING"), "+PONG");
    }
    assert_eq!(crate::support::hear(&mut client), "[[n] [3000000]]");
}
