//! What AlchemyDB's documentation and tests say of its SQL, in its words, over RESP. Left out are its bugs, floats of 32 bits, unsigned
//! numbers, cursors in OFFSET, and what SQLite has other words for (LRU indexes, documents, Lua triggers).

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use crate::support::{Client, Server, answer, hear, hear_bytes, request, say, start_in};

/// Sends elements as AlchemyDB's client cuts them: at a bar.
fn cut(client: &mut Client, line: &str) -> String {
    let words: Vec<&[u8]> = line.split(" | ").map(str::as_bytes).collect();
    answer(client, &words)
}

fn check(client: &mut Client, cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(cut(client, line), *expected, "{line}");
    }
}

#[test]
fn documented_session_replies_differ() {
    let directory = tempfile::tempdir().expect("a directory");
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    check(
        &mut client,
        &[
            ("CREATE | TABLE | foo | (id INT PRIMARY KEY, val FLOAT, name TEXT)", "+OK"),
            ("CREATE | INDEX | foo_val_index | ON | foo | (val)", "+OK"),
            ("INSERT | INTO | foo | VALUES | (1,1.1111111,'one')", "+OK"),
            ("INSERT | INTO | foo | VALUES | (2,2.2222222,'two')", "+OK"),
            ("SELECT | * | FROM | foo | WHERE | id = 1", "[[id val name] [1 1.1111111 one]]"),
            ("SCAN | * | FROM | foo", "[[id val name] [1 1.1111111 one] [2 2.2222222 two]]"),
            ("UPDATE | foo | SET | val=9.999999 | WHERE | id = 1", ":1"),
            ("SELECT | * | FROM | foo | WHERE | id = 1", "[[id val name] [1 9.999999 one]]"),
            ("DELETE | FROM | foo | WHERE | id = 2", ":1"),
            ("SCAN | * | FROM | foo", "[[id val name] [1 9.999999 one]]"),
            ("DROP | INDEX | foo_val_index", ":1"),
        ],
    );
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    assert_eq!(cut(&mut client, "SCAN | * | FROM | foo"), "[[id val name] [1 9.999999 one]]");
    assert!(cut(&mut client, "DESC | foo").contains("[name val type FLOAT "));
    client.send(&request(&[b"DUMP", b"foo", b"TO", b"MYSQL"]));
    let dump = String::from_utf8(hear_bytes(&mut client)).expect("text");
    assert!(dump.contains("VALUES(1,9.999999,'one');"), "{dump}");
    assert_eq!(cut(&mut client, "DROP | TABLE | foo"), ":1");
    assert_eq!(cut(&mut client, "SHOW | TABLES"), "[[name type]]");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}

/// Its tables of the examples: a company with divisions, employees, customers and workers.
fn company() -> (Server, Client) {
    let server = Server::start("");
    let mut client = server.connect();
    check(
        &mut client,
        &[
            ("CREATE | TABLE division (id INT PRIMARY KEY, name TEXT, location TEXT)", "+OK"),
            (
                "CREATE | TABLE | employee | (id INT PRIMARY KEY, division INT, salary FLOAT, name TEXT)",
                "+OK",
            ),
            ("CREATE | TABLE | customer | (id INT PRIMARY KEY, employee INT, name TEXT, hobby TEXT)", "+OK"),
            ("CREATE | INDEX | employee_division | ON | employee | (division)", "+OK"),
            ("CREATE | INDEX | customer_employee | ON | customer | (employee)", "+OK"),
            (
                "INSERT | INTO | division | VALUES | (11,'bosses','N.Y.C') | (22,'workers','Chicago') | (33,'execs','Dubai')",
                "+OK",
            ),
            (
                "INSERT | INTO | employee | VALUES | (1,11,60000.66,'jim') (2,22,30000.33,'jack') (3,33,90000.99,'bob') (4,22,12000.5,'bill') (5,22,20000,'tim')",
                "+OK",
            ),
            (
                "INSERT | INTO | customer | VALUES | (1,2,'johnathan','sailing') | (2,2,'bill','fencing') | (3,4,'tom','stamps')",
                "+OK",
            ),
        ],
    );
    (server, client)
}

#[test]
fn query_answers_other_rows() {
    let (_server, mut client) = company();
    check(
        &mut client,
        &[
            (
                "SELECT | id, name | FROM | employee | WHERE | division BETWEEN 11 AND 22 ORDER BY salary LIMIT 2 OFFSET 1",
                "[[id name] [5 tim] [2 jack]]",
            ),
            (
                "SELECT | id, name | FROM | employee | WHERE | division = 22 AND salary >= 20000 AND name != 'tim'",
                "[[id name] [2 jack]]",
            ),
            (
                "SELECT | name | FROM | employee | WHERE | id IN (1,3,99) ORDER BY name DESC",
                "[[name] [jim] [bob]]",
            ),
            (
                "SELECT | name | FROM | employee | WHERE | id IN (SELECT employee FROM customer WHERE hobby = 'fencing')",
                "[[name] [jack]]",
            ),
            ("SELECT | COUNT(*) | FROM | employee | WHERE | division = 22", "[[COUNT(*)] [3]]"),
            ("SCAN | COUNT(*) | FROM | employee", "[[COUNT(*)] [5]]"),
            (
                "SCAN | id, name | FROM | employee | WHERE | name = 'bill' AND salary BETWEEN 10000 AND 20000",
                "[[id name] [4 bill]]",
            ),
            (
                "SELECT | d.name, e.name | FROM | division d, employee e | WHERE | e.division = d.id AND d.id BETWEEN 22 AND 33 ORDER BY e.name",
                "[[name name] [workers bill] [execs bob] [workers jack] [workers tim]]",
            ),
            (
                "SELECT | c.name, e.name, d.name | FROM | customer c, employee e, division d | WHERE | c.employee = e.id AND e.division = d.id AND c.id IN (1,3) ORDER BY c.id",
                "[[name name name] [johnathan jack workers] [tom bill workers]]",
            ),
            (
                "SELECT | a.name, b.name | FROM | employee a, employee b | WHERE | a.division = b.division AND a.id = 2 AND b.id > a.id ORDER BY b.id",
                "[[name name] [jack bill] [jack tim]]",
            ),
            (
                "UPDATE | employee | SET | salary = salary * 2, name = name || '!' | WHERE | division = 22",
                ":3",
            ),
            ("SELECT | name, salary | FROM | employee | WHERE | id = 4", "[[name salary] [bill! 24001]]"),
            ("INSERT | INTO | employee | (id, name) | VALUES | (6,'new')", "+OK"),
            (
                "INSERT | INTO | employee | VALUES | (6,11,1,'again')",
                "-ERR UNIQUE constraint failed: employee.id",
            ),
            (
                "INSERT | INTO | employee | VALUES | (6,11,1,'again') | ON DUPLICATE KEY UPDATE | division = 33, salary = 7",
                "+OK",
            ),
            ("REPLACE | INTO | employee | VALUES | (5,11,5,'tom')", "+OK"),
            (
                "SELECT | * | FROM | employee | WHERE | id > 4",
                "[[id division salary name] [5 11 5 tom] [6 33 7 new]]",
            ),
            ("DELETE | FROM | employee | WHERE | division BETWEEN 20 AND 30", ":2"),
            ("ALTER | TABLE | employee | ADD | COLUMN | state INT", "+OK"),
            (
                "EXPLAIN | SELECT | * | FROM | employee | WHERE | division = 1",
                "[SEARCH employee USING INDEX employee_division (division=?)]",
            ),
            (
                "SHOW | INDEXES",
                "[[name table] [customer_employee customer] [employee_division employee] [sqlite_autoindex_customer_1 customer] [sqlite_autoindex_division_1 division] [sqlite_autoindex_employee_1 employee]]",
            ),
            (
                "PREPARE | by_salary | AS | SELECT id FROM employee WHERE name != $2 AND salary > $1 ORDER BY id",
                "+OK",
            ),
            ("EXECUTE | by_salary | 6 | bob", "[[id] [1] [6]]"),
            ("EXECUTE | by_salary | 6", "-ERR 1 parameters are given, but the statements take more"),
        ],
    );
}

#[test]
fn unique_violation_changes_something() {
    let (_server, mut client) = company();
    check(
        &mut client,
        &[
            ("CREATE | UNIQUE INDEX | one_name | ON | employee | (name)", "+OK"),
            (
                "INSERT | INTO | employee | VALUES | (7,1,1,'x') (8,1,1,'bob')",
                "-ERR UNIQUE constraint failed: employee.name",
            ),
            (
                "UPDATE | employee | SET | name = 'bob' | WHERE | division = 22",
                "-ERR UNIQUE constraint failed: employee.name",
            ),
            ("SCAN | name | FROM | employee | ORDER BY id", "[[name] [jim] [jack] [bob] [bill] [tim]]"),
        ],
    );
}

#[test]
fn index_type_changes_a_result() {
    let server = Server::start("");
    let mut client = server.connect();
    let kinds = ["INT", "BIGINT", "FLOAT", "TEXT"];
    let value = |kind: &str, number: i64| match kind {
        "FLOAT" => format!("{number}.5"),
        "TEXT" => format!("'t{number:03}'"),
        _ => number.to_string(),
    };
    for (pk, fk) in kinds.iter().flat_map(|pk| kinds.map(|fk| (*pk, fk))) {
        let table = format!("t_{pk}_{fk}");
        check(
            &mut client,
            &[(&format!("CREATE | TABLE | {table} | (pk {pk} PRIMARY KEY, fk {fk}, n INT)"), "+OK")],
        );
        // The index is made over half of the rows.
        for n in 0..60 {
            if n == 30 {
                assert_eq!(
                    cut(&mut client, &format!("CREATE | INDEX | i_{table} | ON | {table} | (fk)")),
                    "+OK"
                );
            }
            let row = format!("({},{},{n})", value(pk, n * 7 % 60), value(fk, n % 10));
            assert_eq!(cut(&mut client, &format!("INSERT | INTO | {table} | VALUES | {row}")), "+OK");
        }
        let model = |keep: &dyn Fn(i64) -> bool| {
            let rows: Vec<i64> = (0..60).filter(|n| keep(n % 10)).collect();
            let rows: Vec<String> = rows.iter().map(|n| format!(" [{n}]")).collect();
            format!("[[n]{}]", rows.concat())
        };
        let mut select =
            |clause: String| cut(&mut client, &format!("SELECT | n | FROM | {table} | WHERE | {clause}"));
        assert_eq!(select(format!("fk = {} ORDER BY n", value(fk, 3))), model(&|fk| fk == 3), "{table}");
        assert_eq!(
            select(format!("fk BETWEEN {} AND {} ORDER BY n", value(fk, 2), value(fk, 4))),
            model(&|fk| (2..=4).contains(&fk))
        );
        assert_eq!(
            select(format!("fk IN ({},{}) ORDER BY n", value(fk, 1), value(fk, 9))),
            model(&|fk| fk == 1 || fk == 9)
        );
        assert_eq!(
            select(format!("fk = {} ORDER BY pk DESC LIMIT 1", value(fk, 0))),
            "[[n] [50]]",
            "{table}"
        );
        let range = format!("fk BETWEEN {} AND {}", value(fk, 5), value(fk, 6));
        assert_eq!(
            cut(&mut client, &format!("UPDATE | {table} | SET | n = n + 100 | WHERE | {range}")),
            ":12"
        );
        assert_eq!(cut(&mut client, &format!("DELETE | FROM | {table} | WHERE | {range}")), ":12");
        assert_eq!(cut(&mut client, &format!("SCAN | COUNT(*) | FROM | {table}")), "[[COUNT(*)] [48]]");
        assert_eq!(cut(&mut client, &format!("DROP | TABLE | {table}")), ":2");
    }
}

#[test]
fn order_by_several_columns_is_another_one() {
    let server = Server::start("");
    let mut client = server.connect();
    check(
        &mut client,
        &[
            ("CREATE | TABLE | ob | (id INT PRIMARY KEY, i INT, j INT, k INT)", "+OK"),
            ("INSERT | INTO | ob | VALUES | (1,1,2,3) (2,1,2,1) (3,1,1,9) (4,0,5,5)", "+OK"),
            ("SCAN | id | FROM | ob | ORDER BY | i,j,k", "[[id] [4] [3] [2] [1]]"),
            ("SCAN | id | FROM | ob | ORDER BY | i DESC,j,k DESC", "[[id] [3] [1] [2] [4]]"),
            ("SCAN | id | FROM | ob | ORDER BY | j DESC LIMIT 2 OFFSET 1", "[[id] [1] [2]]"),
        ],
    );
}

#[test]
fn rows_are_stored_otherwise() {
    let (_server, mut client) = company();
    check(
        &mut client,
        &[
            (
                "SELECT | name,salary | FROM | employee | WHERE | division BETWEEN 11 AND 33 | STORE | HSET | h_worker",
                ":5",
            ),
            ("HGET | h_worker | jim", "60000.66"),
            (
                "SELECT | name | FROM | employee | WHERE | division = 22 ORDER BY name DESC | STORE | RPUSH | l_worker",
                ":3",
            ),
            ("LRANGE | l_worker | 0 | -1", "[tim jack bill]"),
            (
                "SELECT | division,salary,name | FROM | employee | WHERE | id > 0 | STORE | ZADD | z_worker$",
                ":5",
            ),
            ("ZREVRANGE | z_worker:22 | 0 | 1", "[jack tim]"),
            ("ZSCORE | z_worker:11 | jim", "60000.66"),
            ("SELECT | id,name | FROM | employee | WHERE | division = 22 | STORE | INSERT | copied", "+OK"),
            ("SCAN | * | FROM | copied", "[[id name] [2 jack] [4 bill] [5 tim]]"),
            (
                "SELECT | name | FROM | employee | WHERE | id > 0 | STORE | GET | x",
                "-ERR SQL.STORE takes a command that writes, and not itself",
            ),
        ],
    );
}

#[test]
fn table_of_a_key_has_other_values() {
    let server = Server::start("");
    let mut client = server.connect();
    for line in ["RPUSH l a b c", "SADD s one", "ZADD z 1.5 x 2 y", "HSET h f v g w", "SET t text"] {
        say(&mut client, line);
    }
    answer(&mut client, &[b"RPUSH", b"l", b"it's, \"a\"\nline", &[0xff, 0]]);
    check(
        &mut client,
        &[
            ("CREATE | TABLE | copy_l | AS | DUMP | l", "+OK"),
            (
                "SCAN | pk, hex(value) AS v | FROM | copy_l | WHERE | pk > 3",
                "[[pk v] [4 697427732C202261220A6C696E65] [5 FF00]]",
            ),
            ("CREATE | TABLE | copy_s | AS | DUMP | s", "+OK"),
            ("SCAN | * | FROM | copy_s", "[[pk value] [1 one]]"),
            ("CREATE | TABLE | copy_z | AS | DUMP | z", "+OK"),
            (
                "SCAN | *, typeof(value) | FROM | copy_z",
                "[[pk name value typeof(value)] [1 x 1.5 real] [2 y 2 real]]",
            ),
            ("CREATE | TABLE | copy_h | AS | DUMP | h", "+OK"),
            ("SCAN | * | FROM | copy_h", "[[pk name value] [1 f v] [2 g w]]"),
            ("CREATE | TABLE | copy_h | AS | DUMP | h", "-ERR table \"copy_h\" already exists"),
            ("CREATE | TABLE | part_l | AS | LRANGE | l | 0 | 1", "+OK"),
            ("SCAN | * | FROM | part_l", "[[pk value] [1 a] [2 b]]"),
            ("CREATE | TABLE | part_z | AS | ZRANGE | z | 0 | 0 | WITHSCORES", "+OK"),
            ("SCAN | * | FROM | part_z", "[[pk name value] [1 x 1.5]]"),
            ("CREATE | TABLE | again | AS | DUMP | copy_h", "+OK"),
            ("SCAN | * | FROM | again", "[[pk name value] [1 f v] [2 g w]]"),
            ("CREATE | TABLE | chosen | AS | SELECT name FROM copy_h WHERE pk = 2", "+OK"),
            ("SCAN | * | FROM | chosen", "[[name] [g]]"),
        ],
    );
}

#[test]
fn normal_form_differs() {
    let server = Server::start("");
    let mut client = server.connect();
    for line in [
        "SET user:1:name bill",
        "SET user:1:age 33",
        "SET user:2:name jane",
        "SET user:2:age 22",
        "SET user:1:payment:type cash",
        "SET user:2:address:street main",
    ] {
        say(&mut client, line);
    }
    answer(&mut client, &[b"SET", b"user:1:city", b"capitol city"]);
    check(
        &mut client,
        &[
            (
                "NORM | user:* | payment,address",
                "[CREATE TABLE \"user\" (pk INTEGER PRIMARY KEY, \"age\" INT, \"city\" TEXT, \"name\" TEXT) \
              CREATE TABLE \"user_address\" (pk INTEGER PRIMARY KEY, \"street\" TEXT) \
              CREATE TABLE \"user_payment\" (pk INTEGER PRIMARY KEY, \"type\" TEXT)]",
            ),
            (
                "SELECT | user.name, p.type | FROM | user, user_payment p | WHERE | user.pk = p.pk",
                "[[name type] [bill cash]]",
            ),
            ("DENORM | user | user:*", ":2"),
            ("HGETALL | user:2", "[age 22 name jane]"),
            ("HGET | user:1 | city", "capitol city"),
        ],
    );
}

#[test]
fn trigger_does_not_cap_rows() {
    let server = Server::start("");
    let mut client = server.connect();
    check(
        &mut client,
        &[
            ("CREATE | TABLE | cap | (id INTEGER PRIMARY KEY, fk INT)", "+OK"),
            ("CREATE | INDEX | cap_fk | ON | cap | (fk)", "+OK"),
            (
                "CREATE | TRIGGER | lt_cap | AFTER INSERT ON cap BEGIN DELETE FROM cap WHERE id IN (SELECT id FROM cap WHERE fk = NEW.fk ORDER BY id DESC LIMIT -1 OFFSET 100); END",
                "+OK",
            ),
        ],
    );
    for n in 0..1000 {
        let words = format!("INSERT | INTO | cap (fk) | VALUES | ({})", n % 5);
        assert_eq!(cut(&mut client, &words), "+OK");
    }
    assert_eq!(cut(&mut client, "SCAN | count(*), min(id) | FROM | cap"), "[[count(*) min(id)] [500 501]]");
}

#[test]
fn command_of_redis_is_lost_among_words() {
    let (_server, mut client) = company();
    check(
        &mut client,
        &[
            ("SELECT | 3", "+OK"),
            ("SHOW | TABLES", "[[name type]]"),
            ("SELECT | 0", "+OK"),
            ("SELECT | abc", "-ERR value is not an integer or out of range"),
            ("SELECT | 1 | 2", "-ERR wrong number of arguments for 'select' command"),
            ("SCAN | 0 | TYPE | sqldb", "[0 [sql]]"),
            ("SCAN | x", "-ERR invalid cursor"),
            ("DUMP | nothing", "nil"),
            ("INSERT | x", "-ERR unknown command 'INSERT', with args beginning with: 'x'"),
            ("UPDATE", "-ERR unknown command 'UPDATE', with args beginning with:"),
            ("SELECT | 1 | + | 2", "-ERR wrong number of arguments for 'select' command"),
            ("SELECT | * | FROM | nowhere", "-ERR no such table: nowhere"),
            ("TYPE | sql", "+sqldb"),
        ],
    );
    // In a transaction, a script and an inline request.
    for line in
        ["MULTI", "SET k v", "INSERT INTO division VALUES (44,'x','y')", "SELECT count(*) FROM division"]
    {
        say(&mut client, line);
    }
    assert_eq!(say(&mut client, "EXEC"), "[+OK +OK [[count(*)] [4]]]");
    let script = "return redis.call('SELECT', 'name', 'FROM', 'division', 'WHERE', 'id = 44')";
    assert_eq!(answer(&mut client, &[b"EVAL", script.as_bytes(), b"0"]), "[[name] [x]]");
    client.send(b"SELECT name FROM division WHERE id = 44\r\nDELETE FROM division WHERE id = 44\r\n");
    assert_eq!([hear(&mut client), hear(&mut client)], ["[[name] [x]]", ":1"]);
}

#[test]
fn user_without_rights_reads_the_default_database() {
    let (_server, mut client) = company();
    check(
        &mut client,
        &[
            ("CONFIG | GET | sql-default-database", "[sql-default-database sql]"),
            ("ACL | SETUSER | reader | on | nopass | ~sql | +@read | +select", "+OK"),
            ("ACL | SETUSER | other | on | nopass | ~other* | +@all", "+OK"),
            ("ACL | SETUSER | none | on | nopass | ~* | +@connection", "+OK"),
            ("AUTH | reader | x", "+OK"),
            ("SELECT | name | FROM | division | WHERE | id = 11", "[[name] [bosses]]"),
        ],
    );
    let refused = |client: &mut Client, line: &str| {
        let answer = cut(client, line);
        assert!(answer.starts_with("-NOPERM"), "{line}: {answer}");
    };
    refused(&mut client, "DELETE | FROM | division");
    refused(&mut client, "DROP | TABLE | division");
    assert_eq!(cut(&mut client, "AUTH | other | x"), "+OK");
    refused(&mut client, "SELECT | name | FROM | division");
    refused(&mut client, "CREATE | TABLE | t | AS | SMEMBERS | other");
    assert_eq!(cut(&mut client, "CONFIG | SET | sql-default-database | other"), "+OK");
    assert_eq!(cut(&mut client, "CREATE | TABLE | t | (x)"), "+OK");
    assert_eq!(cut(&mut client, "TYPE | other"), "+sqldb");
    assert_eq!(cut(&mut client, "AUTH | none | x"), "+OK");
    assert_eq!(cut(&mut client, "SELECT | 0"), "+OK");
    refused(&mut client, "SELECT | x | FROM | t");
}
