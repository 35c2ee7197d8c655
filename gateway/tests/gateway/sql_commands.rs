//! The commands around SQL.EXEC and SQL.QUERY, over sockets.

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use crate::support::{Client, Server, answer, hear_bytes, request, say, start_in};

/// Asks on the database `shop`: the command, then other arguments.
fn ask(client: &mut Client, command: &str, rest: &[&str]) -> String {
    let words: Vec<&[u8]> = [command, "shop"].iter().chain(rest).map(|word| word.as_bytes()).collect();
    answer(client, &words)
}

fn exec(client: &mut Client, text: &str) -> String {
    ask(client, "SQL.EXEC", &[text])
}

fn query(client: &mut Client, text: &str) -> String {
    ask(client, "SQL.QUERY", &[text])
}

fn shop() -> (Server, Client) {
    let server = Server::start("");
    let mut client = server.connect();
    let made = exec(&mut client, "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL)");
    assert_eq!(made, ":0");
    assert_eq!(exec(&mut client, "INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'ink', 20)"), ":2");
    (server, client)
}

#[test]
fn name_of_a_parameter_is_a_value() {
    let (_server, mut client) = shop();
    let text = "SELECT :a + $b AS x, @c AS c";
    assert_eq!(
        ask(&mut client, "SQL.QUERY", &[text, "named", "@c", "ink", "$b", "2", ":a", "1"]),
        "[[x c] [3 ink]]"
    );
    assert_eq!(
        ask(&mut client, "SQL.QUERY", &[text, "NAMED", ":a", "1"]),
        "-ERR no value is given for the parameter $b"
    );
    let insert = "INSERT INTO item(name, price) VALUES (:name, :price)";
    assert_eq!(ask(&mut client, "SQL.EXEC", &[insert, "NAMED", ":price", "3", ":name", "cap"]), ":1");
    assert_eq!(query(&mut client, "SELECT price FROM item WHERE name = 'cap'"), "[[price] [3]]");
    // Otherwise the word is a value like any other.
    assert_eq!(ask(&mut client, "SQL.QUERY", &["SELECT ? AS a", "NAMED"]), "[[a] [NAMED]]");
    assert_eq!(ask(&mut client, "SQL.QUERY", &["SELECT ?||?||? AS a", "NAMED", "x", "y"]), "[[a] [NAMEDxy]]");
}

#[test]
fn script_is_longer_than_a_text_may_be() {
    let (_server, mut client) = shop();
    let mut script = String::from("CREATE TABLE log(line TEXT);");
    while script.len() < 1_500_000 {
        script.push_str(
            "INSERT INTO log VALUES ('0123456789012345678901234567890123456789012345678901234567890123');\n",
        );
    }
    let lines = script.lines().count();
    assert_eq!(exec(&mut client, &script), "-ERR the text of the statement is too long");
    assert_eq!(ask(&mut client, "SQL.SCRIPT", &[&script]), format!(":{lines}"));
    assert_eq!(query(&mut client, "SELECT count(*) AS n FROM log"), format!("[[n] [{lines}]]"));
    assert_eq!(
        ask(&mut client, "SQL.SCRIPT", &["DELETE FROM log; SELECT * FROM missing"]),
        "-ERR no such table: missing"
    );
    assert_eq!(
        ask(&mut client, "SQL.SCRIPT", &["DELETE FROM item; SELECT 1; DELETE FROM log WHERE rowid < 3"]),
        ":4"
    );
}

#[test]
fn prepared_statement_is_forgotten() {
    let directory = tempfile::tempdir().expect("a directory");
    for start in 0..2 {
        let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
        let mut client = Client::connect(running.addresses()[0]);
        if start == 0 {
            exec(&mut client, "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)");
            assert_eq!(
                ask(&mut client, "SQL.EXECUTE", &["add", "pen"]),
                "-ERR no statement is prepared with the name 'add'"
            );
            assert_eq!(ask(&mut client, "SQL.DROPSTMT", &["add"]), ":0");
            assert_eq!(ask(&mut client, "SQL.PREPARE", &["add", "INSERT INTO item(name) VALUES (?)"]), "+OK");
            assert_eq!(
                ask(&mut client, "SQL.PREPARE", &["find", "SELECT name FROM item WHERE id = ?"]),
                "+OK"
            );
        }
        assert_eq!(ask(&mut client, "SQL.EXECUTE", &["add", "pen"]), ":1");
        let row = (start + 1).to_string();
        assert_eq!(ask(&mut client, "SQL.EXECUTE", &["find", &row]), "[[name] [pen]]");
        running.gateway().stop.request(StopRequest { checkpoint: false });
        assert!(running.wait());
    }
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    // It goes where its database goes.
    assert_eq!(say(&mut client, "COPY shop second"), ":1");
    assert_eq!(say(&mut client, "RENAME shop third"), "+OK");
    for key in ["second", "third"] {
        assert_eq!(say(&mut client, &format!("SQL.EXECUTE_RO {key} find 2")), "[[name] [pen]]");
        assert_eq!(say(&mut client, &format!("SQL.TABLES {key}")), "[[name type] [item table]]");
    }
    assert_eq!(
        say(&mut client, "SQL.EXECUTE_RO third add x"),
        "-ERR the statement changes the database, which it may not do here"
    );
    assert_eq!(say(&mut client, "SQL.DROPSTMT third find"), ":1");
    assert_eq!(
        say(&mut client, "SQL.EXECUTE third find 2"),
        "-ERR no statement is prepared with the name 'find'"
    );
    assert_eq!(
        say(&mut client, "SQL.EXECUTE third add"),
        "-ERR 0 parameters are given, but the statements take more"
    );
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}

#[test]
fn wrong_statement_is_prepared() {
    let (_server, mut client) = shop();
    for (text, error) in [
        ("SELEC 1", "-ERR near \"SELEC\": syntax error"),
        ("SELECT * FROM missing", "-ERR no such table: missing"),
        ("SELECT 1; SELECT colour FROM item", "-ERR no such column: colour"),
        (" -- nothing", "-ERR the text has no statement"),
    ] {
        assert_eq!(ask(&mut client, "SQL.PREPARE", &["wrong", text]), error);
    }
    // None of them has run.
    assert_eq!(ask(&mut client, "SQL.PREPARE", &["drop", "DELETE FROM item"]), "+OK");
    assert_eq!(ask(&mut client, "SQL.PREPARE", &["drop", "DELETE FROM item WHERE id = :id"]), "+OK");
    assert_eq!(query(&mut client, "SELECT count(*) AS n FROM item"), "[[n] [2]]");
    // In a MULTI, one after the other.
    say(&mut client, "MULTI");
    ask(&mut client, "SQL.EXECUTE", &["drop", "NAMED", ":id", "1"]);
    ask(&mut client, "SQL.EXECUTE", &["drop", "2"]);
    ask(&mut client, "SQL.EXECUTE", &["drop"]);
    assert_eq!(say(&mut client, "EXEC"), "[:1 :1 -ERR no value is given for the parameter :id]");
}

#[test]
fn table_is_not_described() {
    let (_server, mut client) = shop();
    let text = "CREATE TABLE sale(id INTEGER PRIMARY KEY, item INT NOT NULL DEFAULT 1 REFERENCES item(id) ON DELETE CASCADE, \
        n INT, twice AS (n * 2)); CREATE INDEX \"by, item\" ON sale(item, n + 1) WHERE n > 0; \
        CREATE VIEW cheap AS SELECT * FROM item WHERE price < 2; \
        CREATE TRIGGER sold AFTER INSERT ON sale BEGIN UPDATE item SET price = price + 1; END";
    assert_eq!(exec(&mut client, text), ":0");
    assert_eq!(ask(&mut client, "SQL.TABLES", &[]), "[[name type] [cheap view] [item table] [sale table]]");
    let described = ask(&mut client, "SQL.DESC", &["SALE"]);
    for part in [
        "[name sale type table sql CREATE TABLE sale(",
        "rows :0 columns [",
        "[name id type INTEGER notnull :0 default nil pk :1 generated :0]",
        "[name item type INT notnull :1 default 1 pk :0 generated :0]",
        "[name twice type  notnull :0 default nil pk :0 generated :1]",
        "indexes [[name by, item unique :0 partial :1 sql CREATE INDEX \"by, item\" ON sale(item, n + 1) WHERE n > 0 columns [item nil]]]",
        "triggers [[name sold sql CREATE TRIGGER sold",
        "foreign_keys [[id :0 from item table item to id on_update NO ACTION on_delete CASCADE]]]",
    ] {
        assert!(described.contains(part), "{part} in {described}");
    }
    assert!(ask(&mut client, "SQL.DESC", &["item"]).contains("rows :2 "));
    assert!(ask(&mut client, "SQL.DESC", &["cheap"]).contains("type view"));
    assert_eq!(ask(&mut client, "SQL.DESC", &["nothing"]), "-ERR no such table: nothing");
    assert_eq!(answer(&mut client, &[b"SQL.TABLES", b"nowhere"]), "[[name type]]");
    assert_eq!(say(&mut client, "EXISTS nowhere"), ":0");
}

#[test]
fn plan_runs_the_statement() {
    let (_server, mut client) = shop();
    assert_eq!(
        ask(&mut client, "SQL.EXPLAIN", &["SELECT * FROM item WHERE id = ?"]),
        "[SEARCH item USING INTEGER PRIMARY KEY (rowid=?)]"
    );
    let plan =
        ask(&mut client, "SQL.EXPLAIN", &["SELECT (SELECT max(price) FROM item) FROM item ORDER BY price"]);
    assert_eq!(plan, "[SCAN item SCALAR SUBQUERY 1   SEARCH item USE TEMP B-TREE FOR ORDER BY]");
    assert!(ask(&mut client, "SQL.EXPLAIN", &["DELETE FROM item WHERE id = ?", "1"]).contains("SEARCH item"));
    assert_eq!(
        ask(&mut client, "SQL.EXPLAIN", &["SELECT 1; DELETE FROM item"]),
        "-ERR the plan of one statement can be asked for at a time"
    );
    assert!(ask(&mut client, "SQL.EXPLAIN", &["; DELETE FROM item"]).starts_with("-ERR"));
    assert_eq!(query(&mut client, "SELECT count(*) AS n FROM item"), "[[n] [2]]");
}

#[test]
fn numbers_of_a_database_are_missing() {
    let (_server, mut client) = shop();
    let stats = ask(&mut client, "SQL.STATS", &[]);
    for part in [
        "[pages :",
        "page_bytes :2048",
        "patches :",
        "schema_version :1",
        "free_pages :0",
        "tables :1 indexes :1]",
    ] {
        assert!(stats.contains(part), "{part} in {stats}");
    }
    assert!(say(&mut client, "SQL.STATS").starts_with("[idle_connections_bytes :"));
    assert_eq!(say(&mut client, "SQL.STATS nowhere"), "-ERR no such key");
}

/// Values that texts get wrong.
const HARD: &str = "CREATE TABLE hard(\"a \"\"b\" TEXT, 'c`d' REAL, e, UNIQUE(\"a \"\"b\")); \
    CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT, y TEXT AS (x || '!') STORED); \
    INSERT INTO hard VALUES ('it''s', 0.1, NULL), ('two' || char(10) || 'lines' || char(13), 1e300, x'00ff'), \
        ('zero' || char(0) || 'end', -0.0, 9223372036854775807), ('\\back`tick\"', 3.0, -9223372036854775808), \
        ('', 1e999, CAST(x'ff41' AS TEXT)), ('é€😀', 2.2250738585072014e-308, 123456789.123456789); \
    INSERT INTO auto(x) VALUES ('a'), ('b'); DELETE FROM auto WHERE id = 2; \
    CREATE INDEX partly ON hard(e) WHERE e IS NOT NULL; CREATE VIEW v AS SELECT * FROM hard; \
    CREATE TRIGGER tr AFTER INSERT ON auto BEGIN DELETE FROM hard; END";

/// All that a database has, in one line.
const SHOWN: &str = "SELECT (SELECT group_concat(quote(\"a \"\"b\") || quote(\"c`d\") || typeof(\"c`d\") || quote(e) || typeof(e) \
    || hex(\"a \"\"b\"), ';') FROM (SELECT * FROM hard ORDER BY rowid)) AS h, \
    (SELECT group_concat(id || x || y) FROM auto) AS a, (SELECT seq FROM sqlite_sequence) AS s, \
    (SELECT group_concat(type || name || sql) FROM (SELECT * FROM sqlite_schema ORDER BY name)) AS t";

#[test]
fn dump_loses_something() {
    let (_server, mut client) = shop();
    assert_eq!(ask(&mut client, "SQL.SCRIPT", &["DROP TABLE item"]), ":0");
    assert!(ask(&mut client, "SQL.SCRIPT", &[HARD]).starts_with(':'));
    ask(&mut client, "SQL.PREPARE", &["one", "SELECT 1"]);
    client.send(&request(&[b"SQL.DUMP", b"shop"]));
    let dump = hear_bytes(&mut client);
    assert!(answer(&mut client, &[b"SQL.SCRIPT", b"again", &dump]).starts_with(':'));
    let before = query(&mut client, SHOWN);
    assert!(before.contains("it''s") && before.contains("e+999"), "{before}");
    assert_eq!(answer(&mut client, &[b"SQL.QUERY", b"again", SHOWN.as_bytes()]), before);
    assert_eq!(say(&mut client, "SQL.EXECUTE again one"), "[[1] [1]]");

    client.send(&request(&[b"SQL.DUMP", b"shop", b"auto", b"TO", b"sqlite"]));
    let one = String::from_utf8(hear_bytes(&mut client)).expect("text");
    assert!(one.contains("INSERT INTO \"auto\"(\"id\",\"x\") VALUES(1,'a');"), "{one}");
    assert!(!one.contains("hard("), "{one}");
    assert_eq!(say(&mut client, "SQL.DUMP shop nothing"), "-ERR no such table: nothing");
    assert_eq!(say(&mut client, "SQL.DUMP shop auto TO ORACLE"), "-ERR syntax error");
}

#[test]
fn dump_is_no_text_of_mysql() {
    let (_server, mut client) = shop();
    let text = "CREATE TABLE note(id INT PRIMARY KEY, \"a`b\" TEXT NOT NULL, body TEXT, raw BLOB); CREATE INDEX by_a ON note(\"a`b\"); \
        INSERT INTO note VALUES (1, 'it''s \\ ' || char(10) || char(0), 'x', x'01ff'), (2, 'b', NULL, NULL)";
    exec(&mut client, text);
    client.send(&request(&[b"SQL.DUMP", b"shop", b"note", b"TO", b"MYSQL"]));
    let dump = String::from_utf8(hear_bytes(&mut client)).expect("text");
    let lines: Vec<&str> = dump.lines().collect();
    let expected = [
        "SET NAMES utf8mb4;",
        "SET FOREIGN_KEY_CHECKS=0;",
        "DROP TABLE IF EXISTS `note`;",
        "CREATE TABLE `note` (`id` BIGINT NOT NULL, `a``b` VARCHAR(255) NOT NULL, `body` LONGTEXT, `raw` LONGBLOB, PRIMARY KEY (`id`));",
        "LOCK TABLES `note` WRITE;",
        "INSERT INTO `note`(`id`,`a``b`,`body`,`raw`) VALUES(1,'it\\'s \\\\ \\n\\0','x',X'01FF'),(2,'b',NULL,NULL);",
        "CREATE INDEX `by_a` ON `note` (`a``b`);",
        "UNLOCK TABLES;",
        "SET FOREIGN_KEY_CHECKS=1;",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn rows_become_something_else_than_keys() {
    let (_server, mut client) = shop();
    exec(&mut client, "INSERT INTO item VALUES (3, 'a,''b' || char(10), NULL)");
    let store = |client: &mut Client, words: &[&str], text: &str| {
        let words: Vec<&[u8]> =
            ["SQL.STORE"].iter().chain(words).chain(&["shop", text]).map(|word| word.as_bytes()).collect();
        answer(client, &words)
    };
    let all = "SELECT id, name, price FROM item ORDER BY price DESC";
    assert_eq!(
        store(
            &mut client,
            &["ZADD", "prices", "$price", "${name}!$$"],
            "SELECT name, price FROM item WHERE price > 0"
        ),
        ":2"
    );
    assert_eq!(say(&mut client, "ZRANGE prices 0 -1 WITHSCORES"), "[pen!$ 1.5 ink!$ 20]");
    assert_eq!(store(&mut client, &["RPUSH", "list", "$2*"], all), ":3");
    assert_eq!(say(&mut client, "LRANGE list 0 -1"), "[ink 20 pen 1.5 a,'b\n ]");
    assert_eq!(store(&mut client, &["HSET", "item:$1", "name", "$2"], all), ":3");
    assert_eq!(say(&mut client, "HGETALL item:3"), "[name a,'b\n]");
    // An error leaves nothing, in a transaction that goes on as well.
    say(&mut client, "MULTI");
    say(&mut client, "SET before 1");
    store(&mut client, &["SADD", "$1", "x"], "SELECT * FROM (VALUES ('new'), ('list'))");
    store(&mut client, &["SADD", "set", "$9"], all);
    store(&mut client, &["GET", "$1"], all);
    assert_eq!(
        say(&mut client, "EXEC"),
        "[+OK -WRONGTYPE Operation against a key holding the wrong kind of value -ERR the result has no column for '$9' \
         -ERR SQL.STORE takes a command that writes, and not itself]"
    );
    assert_eq!(say(&mut client, "EXISTS new set before"), ":1");
    assert_eq!(
        store(&mut client, &["SQL.STORE", "SET", "a", "b", "shop", "SELECT 1"], all),
        "-ERR SQL.STORE takes a command that writes, and not itself"
    );
    // With the rights of the user.
    assert_eq!(say(&mut client, "ACL SETUSER bob on nopass ~shop ~mine* +@all"), "+OK");
    assert_eq!(say(&mut client, "AUTH bob x"), "+OK");
    assert_eq!(store(&mut client, &["SET", "mine:$1", "$2"], all), ":3");
    let denied = store(&mut client, &["SET", "other:$1", "$2"], all);
    assert!(denied.starts_with("-NOPERM"), "{denied}");
    assert_eq!(say(&mut client, "COMMAND GETKEYS SQL.STORE SET a$1 $2 shop text"), "[shop]");
}

#[test]
fn hashes_come_back_from_a_table_as_others() {
    let (_server, mut client) = shop();
    let hard: [&[u8]; 8] =
        [b"", b"a,b", b"it's \"q\" `t`", b"two\nlines\r\n", &[0, 255, 1], b"007", b"-0", "é€😀".as_bytes()];
    for number in 0..1000usize {
        let key = format!("user:{number}");
        let value = hard[number % hard.len()];
        let age = number.to_string();
        let mut words: Vec<&[u8]> = vec![b"HSET", key.as_bytes(), b"age", age.as_bytes(), b"the name", value];
        if number % 3 == 0 {
            words.extend([&b"only, some\"times"[..], b"x"]);
        }
        assert!(answer(&mut client, &words).starts_with(':'));
    }
    say(&mut client, "SET user:1:payment:card visa");
    say(&mut client, "SET user:2:payment:card amex");
    say(&mut client, "HSET user:2:address street main zip 01234");
    let made = ask(&mut client, "SQL.NORM", &["user:*", "payment,address"]);
    assert!(made.contains("CREATE TABLE \"user\" (pk INTEGER PRIMARY KEY, "), "{made}");
    assert!(made.contains("\"age\" INT") && made.contains("\"the name\" TEXT"), "{made}");
    assert!(
        made.contains(
            "CREATE TABLE \"user_address\" (pk INTEGER PRIMARY KEY, \"street\" TEXT, \"zip\" TEXT)"
        ),
        "{made}"
    );
    assert_eq!(
        query(&mut client, "SELECT card FROM user_payment JOIN user USING (pk) WHERE age = 2"),
        "[[card] [amex]]"
    );
    assert_eq!(
        query(&mut client, "SELECT typeof(age) AS a, count(*) AS n FROM user GROUP BY 1"),
        "[[a n] [integer 1000]]"
    );
    assert_eq!(ask(&mut client, "SQL.DENORM", &["user", "copy:*:x"]), ":1000");
    for number in 0..1000 {
        let mut fields = |key: String| -> std::collections::BTreeMap<Vec<u8>, Vec<u8>> {
            client.send(&request(&[b"HGETALL", key.as_bytes()]));
            let count: usize = client.line()[1..].parse().expect("a count");
            (0..count / 2).map(|_| (hear_bytes(&mut client), hear_bytes(&mut client))).collect()
        };
        assert_eq!(fields(format!("copy:{number}:x")), fields(format!("user:{number}")), "{number}");
    }
    assert_eq!(ask(&mut client, "SQL.NORM", &["user"]), "-ERR table \"user\" already exists");
    assert_eq!(ask(&mut client, "SQL.NORM", &["nobody"]), ":0");
    assert_eq!(
        ask(&mut client, "SQL.DENORM", &["user", "copy"]),
        "-ERR the pattern needs a * for the primary key"
    );
    assert_eq!(say(&mut client, "SET group:a:name x"), "+OK");
    assert_eq!(
        ask(&mut client, "SQL.NORM", &["group"]),
        "[CREATE TABLE \"group\" (pk TEXT PRIMARY KEY, \"name\" TEXT)]"
    );
}
