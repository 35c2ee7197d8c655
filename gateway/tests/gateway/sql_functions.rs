//! Functions of libraries in SQL, and SQL in functions and triggers.

use crate::support::{Client, Server, answer, say};

const LIBRARY: &str = "#!lua name=l
redis.register_function{function_name='double', flags={'deterministic'}, callback=function(keys, args) return args[1] * 2 end}
redis.register_function{function_name='reach', flags={'deterministic'}, callback=function(keys, args) return redis.call('GET', args[1]) end}
redis.register_function{function_name='look', flags={'no-writes'}, callback=function(keys, args) return redis.call('GET', args[1]) end}
redis.register_function('bump', function(keys, args) return redis.call('INCR', args[1]) end)
redis.register_function('fail', function(keys, args) redis.call('SET', 'failed', '1') return redis.error_reply('MINE it failed') end)
redis.register_function('again', function(keys, args) return redis.call('SQL.EXEC', args[1], 'SELECT again(?) AS x', args[1] .. 'x') end)
redis.register_function('note', function(keys, args)
  redis.call('SQL.EXEC', 'log', 'INSERT INTO log VALUES (?, double(?))', keys[1], redis.call('GET', keys[1]))
end)
";

fn exec(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.EXEC", b"shop", text.as_bytes()])
}

fn load(client: &mut Client, library: &str) {
    assert_eq!(answer(client, &[b"FUNCTION", b"LOAD", b"REPLACE", library.as_bytes()]), "l");
}

#[test]
fn function_of_a_library_is_unknown_to_sql() {
    let server = Server::start("");
    let mut client = server.connect();
    assert_eq!(exec(&mut client, "SELECT double(2)"), "-ERR no such function: double");
    load(&mut client, LIBRARY);
    assert!(say(&mut client, "FUNCTION LIST").contains("deterministic"));
    say(&mut client, "SET k v");
    for (text, rows) in [
        ("SELECT double(2) AS a, DOUBLE('3') AS b, double(NULL) AS c", "[[a b c] [4 6 nil]]"),
        ("SELECT look('k') AS x", "[[x] [v]]"),
        ("SELECT reach('k')", "-ERR A deterministic function may not call commands"),
        ("CREATE TABLE t(x CHECK(double(x) < 100), d AS (double(x)))", ":0"),
        ("CREATE INDEX i ON t(double(x))", ":0"),
        ("CREATE INDEX j ON t(look(x))", "-ERR non-deterministic functions prohibited in index expressions"),
        (
            "CREATE TRIGGER tr AFTER INSERT ON t WHEN bump('inserted') > 0 BEGIN SELECT bump('fired'); END",
            ":0",
        ),
        ("INSERT INTO t VALUES (3), (1), (2)", ":3"),
        ("INSERT INTO t VALUES (50)", "-ERR CHECK constraint failed: double(x) < 100"),
        ("SELECT x, d FROM t WHERE double(x) >= 4 ORDER BY double(x) DESC", "[[x d] [3 6] [2 4]]"),
        ("EXPLAIN QUERY PLAN SELECT x FROM t WHERE double(x) = 4", "using"),
        ("INSERT INTO t SELECT fail(x) FROM t", "-MINE it failed"),
        ("SELECT count(bump('n')) AS c FROM t", "[[c] [3]]"),
        ("SELECT again('a')", "-ERR too many statements run inside each other"),
        ("SELECT abs('x', 1)", "-ERR wrong number of arguments to function abs()"),
    ] {
        let shown = exec(&mut client, text);
        match rows {
            "using" => assert!(shown.contains("USING INDEX i"), "{shown}"),
            _ if rows.contains("too many") || rows.starts_with("-MINE") || rows.contains("may not call") => {
                assert!(
                    shown.contains(rows.trim_start_matches("-ERR ").trim_start_matches('-')),
                    "{text}: {shown}"
                );
            }
            _ => assert_eq!(shown, rows, "{text}"),
        }
    }
    let nested = answer(&mut client, &[b"FCALL", b"again", b"0", b"a"]);
    assert!(nested.contains("too many statements"), "{nested}");
    assert_eq!(say(&mut client, "MGET inserted fired n failed"), "[3 3 3 nil]");
    // One that may write is none for those that only read.
    let read = |client: &mut Client, text: &str| answer(client, &[b"SQL.QUERY", b"shop", text.as_bytes()]);
    assert_eq!(read(&mut client, "SELECT double(4) AS x"), "[[x] [8]]");
    let refused = read(&mut client, "SELECT bump('n') AS x");
    assert!(refused.contains("Can not execute a script with write flag"), "{refused}");

    // Another connection, and other libraries.
    let mut other = server.connect();
    assert_eq!(exec(&mut other, "SELECT x FROM t WHERE double(x) = 4"), "[[x] [2]]");
    load(
        &mut other,
        &LIBRARY
            .replace("args[1] * 2", "args[1] * 3")
            .replace("'look', flags={'no-writes'}", "'look', flags={'deterministic'}"),
    );
    assert_eq!(exec(&mut client, "SELECT double(2) AS a"), "[[a] [6]]");
    assert_eq!(exec(&mut client, "REINDEX; SELECT x FROM t WHERE double(x) = 6"), "[[x] [2]]");
    let refused = exec(&mut client, "CREATE INDEX j ON t(look('k'))");
    assert!(refused.starts_with("-ERR A deterministic function may not call commands"), "{refused}");
    load(&mut other, &LIBRARY.replace("'double', flags={'deterministic'}", "'double', flags={'no-writes'}"));
    assert_eq!(exec(&mut client, "SELECT double(2) AS a"), "[[a] [4]]");
    let rename = "ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME TO t";
    assert_eq!(
        exec(&mut client, rename),
        "-ERR error in table t: non-deterministic functions prohibited in generated columns"
    );
    assert_eq!(exec(&mut client, "SELECT count(*) AS n FROM t"), "[[n] [3]]");
    assert_eq!(exec(&mut client, rename), ":0");
    assert_eq!(say(&mut client, "FUNCTION DELETE l"), "+OK");
    assert_eq!(exec(&mut client, "SELECT double(2) AS a"), "-ERR no such function: double");
    assert_eq!(exec(&mut client, "INSERT INTO t VALUES (7)"), "-ERR unknown function: double()");
    assert_eq!(exec(&mut client, "CREATE TABLE v(x); INSERT INTO v VALUES (1)"), ":1");
    assert_eq!(exec(&mut client, "SELECT count(*) AS n FROM t"), "[[n] [3]]");
}

#[test]
fn sql_of_a_function_is_another_frame() {
    let server = Server::start("");
    let mut client = server.connect();
    load(&mut client, LIBRARY);
    assert_eq!(answer(&mut client, &[b"SQL.EXEC", b"log", b"CREATE TABLE log(key, n CHECK(n < 100))"]), ":0");
    assert_eq!(say(&mut client, "TRIGGER CREATE t ON create,change PREFIX item: CALL note"), "+OK");
    assert_eq!(say(&mut client, "SET item:1 4"), "+OK");
    // A statement that fails refuses the write that set the trigger off.
    let refused = say(&mut client, "SET item:2 400");
    assert!(refused.contains("CHECK constraint failed"), "{refused}");
    assert_eq!(say(&mut client, "EXISTS item:1 item:2"), ":1");
    // The write of a statement sets it off, too.
    assert_eq!(exec(&mut client, "SELECT redis('SET', 'item:3', 5) AS x"), "[[x] [OK]]");
    let rows = answer(&mut client, &[b"SQL.QUERY", b"log", b"SELECT * FROM log"]);
    assert_eq!(rows, "[[key n] [item:1 8] [item:3 10]]");
    assert_eq!(answer(&mut client, &[b"FCALL", b"note", b"1", b"item:1"]), "nil");
    let script = b"return redis.call('SQL.QUERY', 'log', 'SELECT count(*) AS n FROM log')";
    assert_eq!(answer(&mut client, &[b"EVAL", script, b"0"]), "[[n] [3]]");
}
