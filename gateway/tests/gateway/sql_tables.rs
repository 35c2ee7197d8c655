//! Tables over keys, by the commands themselves: the rows of a key, its rights and its transaction.

use crate::support::{Client, Server, answer, say};

fn query(client: &mut Client, text: &str) -> String {
    answer(client, &[b"SQL.QUERY", b"shop", text.as_bytes()])
}

#[test]
fn table_over_a_key_differs_from_the_key() {
    let server = Server::start("");
    let mut client = server.connect();
    for number in 0..500 {
        for line in [
            format!("HSET h f{number} v{number}"),
            format!("SADD s m{number}"),
            format!("RPUSH l {number}"),
            format!("ZADD z {} m{number}", number % 50),
            format!("XADD x {}-{} n {number}", 1000 + number / 2, number % 2),
        ] {
            assert!(!say(&mut client, &line).starts_with('-'), "{line}");
        }
    }
    for line in ["HSET user:1 name ann", "HSET user:2 name bob", "SET text x", "ZADD z inf top"] {
        assert!(!say(&mut client, line).starts_with('-'), "{line}");
    }
    let text = "CREATE TABLE user(id INTEGER PRIMARY KEY); INSERT INTO user VALUES (1), (2), (3)";
    assert_eq!(answer(&mut client, &[b"SQL.EXEC", b"shop", text.as_bytes()]), ":3");
    for (text, rows) in [
        ("SELECT count(*) AS n, count(DISTINCT value) AS d FROM redis_hash('h')", "[[n d] [500 500]]"),
        ("SELECT value FROM redis_hash('h') WHERE field = 'f7'", "[[value] [v7]]"),
        ("SELECT count(DISTINCT member) AS n FROM redis_set('s')", "[[n] [500]]"),
        ("SELECT count(*) AS n FROM redis_set('s') WHERE member IN ('m1', 'no')", "[[n] [1]]"),
        ("SELECT count(*) AS n, sum(value = position) AS s FROM redis_list('l')", "[[n s] [500 500]]"),
        ("SELECT value FROM redis_list('l') ORDER BY position DESC LIMIT 2", "[[value] [499] [498]]"),
        ("SELECT value FROM redis_list('l') WHERE position BETWEEN 130 AND 131", "[[value] [130] [131]]"),
        ("SELECT count(*) AS n, max(rank) AS r FROM redis_zset('z')", "[[n r] [501 500]]"),
        (
            "SELECT count(*) AS n, min(rank) AS r FROM redis_zset('z') WHERE score >= 10 AND score < 20",
            "[[n r] [100 100]]",
        ),
        ("SELECT score, rank FROM redis_zset('z') WHERE member = 'm51'", "[[score rank] [1 19]]"),
        ("SELECT member FROM redis_zset('z') ORDER BY score DESC LIMIT 1", "[[member] [top]]"),
        ("SELECT count(*) AS n FROM redis_stream('x')", "[[n] [500]]"),
        (
            "SELECT id, fields ->> 'n' AS n FROM redis_stream('x') WHERE ms = 1100",
            "[[id n] [1100-0 200] [1100-1 201]]",
        ),
        (
            "SELECT ms, seq FROM redis_stream('x') WHERE id > '1249-0' ORDER BY ms DESC, seq DESC",
            "[[ms seq] [1249 1]]",
        ),
        (
            "SELECT key, type FROM redis_keys('user:*') ORDER BY key",
            "[[key type] [user:1 hash] [user:2 hash]]",
        ),
        ("SELECT key FROM redis_keys() WHERE type = 'zset'", "[[key] [z]]"),
        (
            "SELECT u.id, h.value FROM user u, redis_hash('user:' || u.id) h WHERE h.field = 'name'",
            "[[id value] [1 ann] [2 bob]]",
        ),
        ("SELECT * FROM redis_hash('none')", "[[field value]]"),
        (
            "SELECT * FROM redis_hash('text')",
            "-ERR WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
    ] {
        assert_eq!(query(&mut client, text), rows, "{text}");
    }

    // What the transaction has changed is seen, and what the user may not read is not.
    say(&mut client, "MULTI");
    say(&mut client, "HSET user:3 name eve");
    answer(
        &mut client,
        &[b"SQL.EXEC", b"shop", b"CREATE TABLE names AS SELECT key, value FROM redis_hash('user:3')"],
    );
    assert_eq!(say(&mut client, "EXEC"), "[:1 :0]");
    assert_eq!(query(&mut client, "SELECT * FROM names"), "[[key value] [user:3 eve]]");
    assert_eq!(say(&mut client, "ACL SETUSER reader on nopass ~shop ~open +sql.query +hscan +scan"), "+OK");
    assert_eq!(say(&mut client, "AUTH reader x"), "+OK");
    assert_eq!(query(&mut client, "SELECT * FROM redis_hash('open')"), "[[field value]]");
    let refused = query(&mut client, "SELECT * FROM redis_hash('h')");
    assert!(refused.contains("NOPERM"), "{refused}");
    let refused = query(&mut client, "SELECT * FROM redis_set('open')");
    assert!(refused.contains("NOPERM"), "{refused}");
}
