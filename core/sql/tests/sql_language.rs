//! SQL itself: each construct that a virtual table would not have had, parameters, and the functions that reach the host.

mod common;

use common::{Collected, Database, Fault, TestHost, code, named, placed};
use edgecask_core::sql::{Access, Parameter, SqlEngine, SqlError, SqlValue};
use edgecask_sql::Sqlite;

/// One after the other on one database, each with its answer.
const PROBES: &[(&str, &str)] = &[
    ("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INT CHECK(age >= 0))", ""),
    ("CREATE TABLE log(x)", ""),
    ("INSERT INTO t(name, age) VALUES ('a', 1), ('b', 2)", ""),
    ("CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END", ""),
    ("CREATE INDEX ix ON t(age)", ""),
    ("CREATE INDEX ix2 ON t(age % 10)", ""),
    ("INSERT INTO t(id, name, age) VALUES (1, 'z', 9) ON CONFLICT(id) DO UPDATE SET age = excluded.age", ""),
    ("SELECT * FROM t", "1|a|9;2|b|2;"),
    ("INSERT INTO t(name, age) VALUES ('c', 3) RETURNING id, name", "3|c;"),
    ("UPDATE t SET age = 33 WHERE name = 'c' RETURNING id, age", "3|33;"),
    ("INSERT OR REPLACE INTO t(id, name, age) VALUES (1, 'a', 5)", ""),
    ("INSERT OR IGNORE INTO t(id, name, age) VALUES (1, 'a', 5)", ""),
    ("INSERT INTO t(name, age) VALUES ('neg', -1)", "ERR CHECK constraint failed: age >= 0"),
    ("INSERT INTO t(name, age) VALUES ('b', 1)", "ERR UNIQUE constraint failed: t.name"),
    ("ALTER TABLE t ADD COLUMN extra TEXT", ""),
    (
        "CREATE VIEW v AS SELECT id, name, age FROM t; \
         CREATE TRIGGER vi INSTEAD OF INSERT ON v BEGIN \
             INSERT INTO t(name, age) VALUES (new.name, new.age); INSERT INTO log VALUES ('v'); \
         END; \
         INSERT INTO v(name, age) VALUES ('viaview', 7)",
        "",
    ),
    (
        "INSERT INTO t(name, age) VALUES ('n1', 1), ('n2', 1), ('b', 1)",
        "ERR UNIQUE constraint failed: t.name",
    ),
    ("SELECT count(*) FROM t", "4;"),
    ("BEGIN; SAVEPOINT s; INSERT INTO t(name, age) VALUES ('sp', 1); ROLLBACK TO s; COMMIT", ""),
    ("SELECT count(*) FROM t WHERE name = 'sp'", "0;"),
    ("BEGIN; INSERT INTO t(name, age) VALUES ('rb', 1); ROLLBACK", ""),
    ("SELECT count(*) FROM t WHERE name = 'rb'", "0;"),
    (
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3) \
         SELECT i, name FROM r JOIN t ON t.id = r.i",
        "1|a;2|b;3|c;",
    ),
    ("SELECT name FROM t WHERE id = '1'", "a;"),
    ("SELECT name FROM t WHERE id = 1.0", "a;"),
    ("SELECT name FROM t WHERE age = '5'", "a;"),
    ("SELECT count(*) FROM log", "4;"),
    (
        "SELECT name, row_number() OVER (ORDER BY age DESC), sum(age) OVER () FROM t WHERE id < 4",
        "c|1|40;a|2|40;b|3|40;",
    ),
    ("SELECT group_concat(name, '+') FROM t", "a+b+c+viaview;"),
    ("SELECT json_extract('{\"a\":[1,2]}', '$.a[1]'), '{\"b\":\"x\"}' ->> 'b'", "2|x;"),
    ("SELECT value FROM json_each('[1,\"two\",null]')", "1;two;NULL;"),
    ("SELECT round(sqrt(2), 3), floor(-1.5), pi() > 3", "1.414|-2.0|1;"),
    (
        "CREATE TABLE g(a INT, b INT GENERATED ALWAYS AS (a * 2) STORED, c AS (a + b)); INSERT INTO g VALUES (3)",
        "",
    ),
    ("SELECT * FROM g", "3|6|9;"),
    ("CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE k(p REFERENCES p ON DELETE CASCADE)", ""),
    ("INSERT INTO k VALUES (1)", "ERR FOREIGN KEY constraint failed"),
    ("INSERT INTO p VALUES (1); INSERT INTO k VALUES (1); DELETE FROM p; SELECT count(*) FROM k", "0;"),
    ("CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID, STRICT", "ERR missing datatype for w.v"),
    ("CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('b', 1), ('a', 2)", ""),
    ("SELECT * FROM w", "a|2;b|1;"),
    (
        "UPDATE t SET age = s.v FROM w AS s WHERE s.k = t.name; SELECT name, age FROM t WHERE id < 3",
        "a|2;b|1;",
    ),
    ("SELECT x FROM (VALUES (1), (2), (3)) AS q(x) EXCEPT SELECT 2", "ERR near \"(\": syntax error"),
    ("WITH q(x) AS (VALUES (1), (2), (3)) SELECT x FROM q EXCEPT SELECT 2", "1;3;"),
    (
        "SELECT a.id, b.v FROM t AS a LEFT JOIN w AS b ON b.k = a.name WHERE a.id IN (1, 3) ORDER BY 1",
        "1|2;3|NULL;",
    ),
    ("ALTER TABLE w RENAME COLUMN v TO value; SELECT value FROM w WHERE k = 'a'", "2;"),
    (
        "SELECT typeof(x'00'), x'00ff', 1e300 * 1e300, 9223372036854775807 + 1",
        "blob|00ffh|inf|9.223372036854776e18;",
    ),
    ("EXPLAIN QUERY PLAN SELECT * FROM t WHERE age % 10 = 3", "3|0|61|SEARCH t USING INDEX ix2 (<expr>=?);"),
    ("PRAGMA user_version = 7; PRAGMA user_version", "7;"),
    ("SELECT name FROM pragma_table_info('w')", "k;value;"),
    ("SELECT date('now'), datetime(1.5e9, 'unixepoch')", "2023-11-14|2017-07-14 02:40:00;"),
    ("  ; -- nothing\n /* here */ ;", ""),
    ("", ""),
    ("SELECT 1; -- the end", "1;"),
    ("VACUUM", ""),
    ("PRAGMA integrity_check", "ok;"),
];

#[test]
fn a_construct_of_sql_answers_otherwise() {
    let mut database = Database::open(TestHost { now_ms: 1_700_000_000_000, ..TestHost::default() });
    for (text, answer) in PROBES {
        let got = database.answer(text);
        if text.starts_with("EXPLAIN") {
            assert_eq!(got.split('|').next_back(), answer.split('|').next_back(), "{text}");
        } else {
            assert_eq!(got, *answer, "{text}");
        }
    }
}

#[test]
fn sqlite_is_compiled_with_other_options() {
    let mut database = Database::new();
    let options = database.answer("PRAGMA compile_options");
    for wanted in
        ["ENABLE_MATH_FUNCTIONS", "OMIT_LOAD_EXTENSION", "OMIT_SHARED_CACHE", "TEMP_STORE=3", "THREADSAFE=2"]
    {
        assert!(options.contains(wanted), "{wanted} is not in {options}");
    }
    for unwanted in ["FTS", "RTREE", "STAT4", "SESSION", "DBSTAT", "COLUMN_METADATA", "USE_URI", "PREUPDATE"]
    {
        assert!(!options.contains(unwanted), "{unwanted} is in {options}");
    }
    assert!(Sqlite::default().version().starts_with("3."));
}

#[test]
fn changed_rows_are_counted_wrongly() {
    let mut database = Database::new();
    let text = "CREATE TABLE t(x); CREATE TABLE log(x); \
         CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.x), (new.x); END";
    assert_eq!(database.must(text).changed_rows, 0);
    let done = database.must("INSERT INTO t VALUES (1), (2), (3)");
    assert_eq!((done.changed_rows, done.last_insert_rowid, done.has_result), (3, 3, false));
    assert_eq!(database.must("CREATE TABLE u(x)").changed_rows, 0);
    assert_eq!(database.must("UPDATE t SET x = 0; DELETE FROM log").changed_rows, 9);
    let done = database.must("DELETE FROM t WHERE 0; SELECT 1");
    assert_eq!((done.changed_rows, done.has_result), (0, true));
    assert!(database.must("SELECT 1 WHERE 0").has_result);
    assert!(!database.must("SELECT 1; DELETE FROM t").has_result);
}

#[test]
fn columns_of_a_changed_table_have_their_old_names() {
    let mut database = Database::new();
    database.must("CREATE TABLE t(a, b)");
    for (change, names) in
        [("", "a b"), ("ALTER TABLE t ADD c", "a b c"), ("ALTER TABLE t RENAME a TO x", "x b c")]
    {
        database.must(change);
        let mut rows = Collected::default();
        database.run_with(b"SELECT * FROM t", &[], Access::Any, &mut rows).expect("runs");
        assert_eq!(rows.columns.join(" "), names);
    }
}

#[test]
fn parameters_go_to_other_places() {
    let mut database = Database::new();
    let (one, two, text) = (SqlValue::Integer(1), SqlValue::Integer(2), SqlValue::Text(b"x"));
    let cases: &[(&str, &[Parameter<'_>], &str)] = &[
        ("SELECT ?, ?", &[placed(one), placed(two)], "1|2;"),
        ("SELECT ?2, ?1, ?2", &[placed(one), placed(two)], "2|1|2;"),
        ("SELECT :a, @b, $c, :a", &[named("a", one), named("@b", two), named("$c", text)], "1|2|x|1;"),
        ("SELECT :a, ?", &[named(":a", one), placed(two)], "1|2;"),
        ("SELECT ?, :a", &[named(":a", one), placed(two)], "2|1;"),
        ("SELECT :a, :b", &[placed(one), placed(two)], "1|2;"),
        ("SELECT :a", &[named("a", one), named("b", two)], "1;"),
        ("SELECT ?; SELECT ?, ?", &[placed(one), placed(two), placed(text)], "2|x;"),
        ("SELECT :a; SELECT :a, ?", &[named("a", one), placed(two)], "1|2;"),
        ("BEGIN; SELECT 5; COMMIT; SELECT ?", &[placed(two)], "2;"),
        ("SELECT ?", &[placed(SqlValue::Null)], "NULL;"),
        (
            "SELECT typeof(?), typeof(?)",
            &[placed(SqlValue::Text(b"")), placed(SqlValue::Blob(b""))],
            "text|blob;",
        ),
        ("SELECT ?, ?", &[placed(SqlValue::Real(-0.5)), placed(SqlValue::Blob(b"\0\xff"))], "-0.5|00ffh;"),
    ];
    for _ in 0..2 {
        for (text, parameters, answer) in cases {
            assert_eq!(database.query_with(text, parameters).as_deref(), Ok(*answer), "{text}");
        }
    }
    let wrong: &[(&str, &[Parameter<'_>], &str)] = &[
        ("SELECT ?, ?", &[placed(one)], "1 parameters are given, but the statements take more"),
        ("SELECT ?", &[placed(one), placed(two)], "2 parameters are given, but the statements take 1"),
        ("SELECT 1", &[placed(one)], "1 parameters are given, but the statements take 0"),
        ("SELECT ?3", &[placed(one), placed(two)], "2 parameters are given, but the statements take more"),
        ("SELECT :a, :b", &[named("a", one)], "no value is given for the parameter :b"),
        ("SELECT 1; SELECT ?", &[], "0 parameters are given, but the statements take more"),
        (
            "BEGIN; SELECT ?; COMMIT",
            &[placed(one), placed(two)],
            "2 parameters are given, but the statements take 1",
        ),
        ("", &[placed(one)], "parameters are given, but the text has no statement"),
    ];
    for (text, parameters, message) in wrong {
        let outcome = database.query_with(text, parameters);
        assert_eq!(outcome.map_err(|error| error.to_string()), Err((*message).into()), "{text}");
    }
    // None of them is left over from before.
    assert_eq!(database.query("SELECT 1").as_deref(), Ok("1;"));
}

#[test]
fn a_statement_that_changes_something_runs_where_none_may() {
    let mut database = Database::new();
    database.must("CREATE TABLE t(x); INSERT INTO t VALUES (1); CREATE INDEX i ON t(x)");
    let pages = database.host.pages.clone();
    let mut read = |text: &str| {
        let mut rows = Collected::default();
        database.run_with(text.as_bytes(), &[], Access::ReadOnly, &mut rows).map(|_| rows.text)
    };
    for text in [
        "INSERT INTO t VALUES (2)",
        "SELECT 1; DELETE FROM t",
        "CREATE TABLE u(x)",
        "DROP TABLE t",
        "PRAGMA user_version = 3",
        "VACUUM",
        "ANALYZE",
        "REINDEX",
        "WITH q AS (SELECT 1) UPDATE t SET x = 5 RETURNING x",
        "BEGIN; DELETE FROM t; COMMIT",
    ] {
        assert_eq!(read(text), Err(SqlError::NotReadOnly), "{text}");
    }
    for (text, rows) in [
        ("SELECT x FROM t", "1;"),
        ("SELECT x FROM t; SELECT x + 1 FROM t", "2;"),
        ("BEGIN; SELECT x FROM t; COMMIT; VALUES (4)", "4;"),
        ("PRAGMA user_version", "0;"),
        ("PRAGMA integrity_check", "ok;"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(rows), "{text}");
    }
    assert!(read("EXPLAIN DELETE FROM t").is_ok());
    let _ = read("PRAGMA optimize");
    assert_eq!(database.host.pages, pages);
}

#[test]
fn a_reply_of_a_command_becomes_another_value() {
    let mut database = Database::new();
    for (text, answer) in [
        ("SELECT redis('SET', 'k', 'v'), redis('get', 'k'), redis('GET', 'none')", "OK|v|NULL;"),
        ("SELECT redis('INCR', 'n') + 1, typeof(redis('INCR', 'n'))", "2|integer;"),
        (
            "SELECT redis('ECHO', 1), redis('ECHO', -2.50), redis('ECHO', 3.0), redis('ECHO', 1e100)",
            "1|-2.5|3|1e+100;",
        ),
        ("SELECT redis('ECHO', x'00ff'), redis('ECHO', 'é')", "00ffh|é;"),
        ("SELECT redis('ECHO', 'a', 'b\"', x'ff')", "[\"a\",\"b\\\"\",\"\u{fffd}\"];"),
        ("SELECT redis('DOUBLE'), redis('MAP')", "1.5|{\"a\\\"b\":9223372036854775807,\"set\":[\"x\\n\"]};"),
        ("SELECT redis('MAP') ->> '$.set[0]'", "x\n;"),
        ("SELECT redis('NOSUCH')", "ERR ERR unknown command"),
        ("SELECT redis('ECHO', NULL)", "ERR an argument of redis() is NULL"),
        ("SELECT redis()", "ERR redis() needs the name of a command"),
        ("SELECT x FROM (SELECT 1 AS x UNION SELECT 2) WHERE redis('GET', 'k') = 'v' AND x > 1", "2;"),
        (
            "CREATE TABLE t(x); CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT redis('INCR', 'rows'); END; \
             INSERT INTO t VALUES (1), (2); SELECT redis('GET', 'rows')",
            "2;",
        ),
        ("CREATE VIEW v AS SELECT redis('GET', 'k') AS k; SELECT k FROM v", "v;"),
        (
            "CREATE INDEX i ON t(redis('GET', x))",
            "ERR non-deterministic functions prohibited in index expressions",
        ),
        (
            "CREATE INDEX i ON t(x) WHERE redis('GET', x)",
            "ERR non-deterministic functions prohibited in partial index WHERE clauses",
        ),
        (
            "CREATE TABLE u(x, y AS (redis('GET', x)))",
            "ERR non-deterministic functions prohibited in generated columns",
        ),
    ] {
        assert_eq!(database.answer(text), answer, "{text}");
    }
}

#[test]
fn a_call_that_ends_the_statement_is_caught() {
    let mut database = Database::new();
    database.must("CREATE TABLE t(x)");
    for (fault, error) in [(Fault::Kill, SqlError::Killed), (Fault::Abandon, SqlError::Abandoned)] {
        database.host.reset_counts();
        database.host.at_call = Some((2, fault));
        let text = "INSERT OR IGNORE INTO t SELECT coalesce(redis('INCR', 'a'), redis('INCR', 'b')) FROM (VALUES (1), (2))";
        assert_eq!(database.run(text), Err(error));
        assert_eq!(database.answer("SELECT * FROM t"), "");
    }
}

#[test]
fn sql_within_a_command_within_sql_uses_the_wrong_pages() {
    let mut outer = Database::new();
    let mut inner = Database::new();
    inner.must("CREATE TABLE t(x); INSERT INTO t VALUES ('inner')");
    outer.must("CREATE TABLE t(x); INSERT INTO t VALUES ('outer'), ('more')");
    inner.host.now_ms = 86_400_000;
    outer.host.other = Some(Box::new(inner));
    assert_eq!(
        outer.answer("SELECT x, redis('OTHER', 'SELECT x, date(''now'') FROM t'), date('now') FROM t"),
        "outer|inner|1970-01-02;|1970-01-01;more|inner|1970-01-02;|1970-01-01;"
    );
    outer.must("CREATE TRIGGER tr AFTER DELETE ON t BEGIN SELECT redis('OTHER', 'DELETE FROM t'); END; DELETE FROM t");
    assert_eq!(outer.answer("SELECT redis('OTHER', 'SELECT count(*) FROM t')"), "0;;");
    // A database that is in use is not there for a second use.
    let text = "SELECT redis('OTHER', 'SELECT redis(''OTHER'', ''SELECT 1'')')";
    assert_eq!(outer.answer(text), "ERR ERR ERR the database is in use");
    assert_eq!(outer.answer("SELECT redis('OTHER', 'SELECT 1')"), "1;;");
}

#[test]
fn a_repeated_run_gets_other_random_numbers() {
    let text = "SELECT random(), hex(randomblob(20)), length(randomblob(0)), abs(random() % 10) FROM (VALUES (1), (2))";
    let mut one = Database::new();
    let first = one.answer(text);
    let second = one.answer(text);
    assert_ne!(first, second);
    one.host.random = 0;
    assert_eq!(one.answer(text), first);
    assert_eq!(Database::new().answer(text), first);
}

#[test]
fn text_that_is_no_utf_8_breaks_something() {
    let mut database = Database::new();
    database.must("CREATE TABLE t(x)");
    let bad = SqlValue::Text(b"a\xff\xc3b");
    database.query_with("INSERT INTO t VALUES (?)", &[placed(bad)]).expect("runs");
    assert_eq!(database.answer("SELECT typeof(x), length(CAST(x AS BLOB)) FROM t"), "text|4;");
    for text in [&b"SELECT 'a\xff'"[..], b"SELECT \xff", b"\xff\xfe", b"SELECT 1 AS \"\xc3\""] {
        let _ = database.run_with(text, &[], Access::Any, &mut Collected::default());
    }
    let outcome = database.run_with(b"SELECT 1\0; DROP TABLE t", &[], Access::Any, &mut Collected::default());
    assert_eq!(code(&outcome), Some(1));
    assert_eq!(database.answer("SELECT count(*) FROM t"), "1;");
}

#[test]
fn an_error_does_not_say_where() {
    let mut database = Database::new();
    for (text, at) in
        [("SELECT nowhere", 7), ("SELECT 1;  SELECT 2, nowhere", 21), ("CREATE TABLE t(x); SELEC", 19)]
    {
        match database.run(text) {
            Err(SqlError::Failed { offset, .. }) => assert_eq!(offset, Some(at), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn prepared_statements_pile_up() {
    let mut database = Database::new();
    database.must("CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
    for round in 0..3000 {
        database.must(&format!("SELECT x FROM t WHERE id = {round} AND x = '{}'", "x".repeat(round)));
    }
    assert!(database.connection.memory_bytes() < 3 << 20, "{}", database.connection.memory_bytes());
    // One that stays is prepared again when its table changes.
    assert_eq!(database.answer("SELECT * FROM t"), "");
    database.must("INSERT INTO t VALUES (1, 2); ALTER TABLE t ADD y DEFAULT 3");
    assert_eq!(database.answer("SELECT * FROM t"), "1|2|3;");
    database.must("DROP TABLE t");
    assert_eq!(database.answer("SELECT * FROM t"), "ERR no such table: t");
}

/// What a call answers without all this, as [`Database::answer`] shows it.
fn sqlites_answer(plain: &rusqlite::Connection, text: &str) -> String {
    let row = plain
        .query_row(text, [], |row| Ok(format!("{}|{};", row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
    match row {
        Ok(row) => row,
        Err(rusqlite::Error::SqliteFailure(_, Some(message))) => format!("ERR {message}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn a_function_in_place_of_sqlites_own_answers_otherwise() {
    let plain = rusqlite::Connection::open_in_memory().expect("opens");
    let mut database = Database::new();
    let texts = [
        "NULL",
        "''",
        "'a'",
        "'aab'",
        "'ab'",
        "'baab '",
        "'  b  '",
        "'é'",
        "'aéaéb'",
        "x'c3'",
        "x'6161'",
        "x'00'",
        "12",
        "-1.5",
        "x''",
        "'a' || char(0)",
    ];
    let mut compared = 0;
    let mut compare = |call: String| {
        let text = format!("SELECT typeof({call}), hex({call})");
        let expected = sqlites_answer(&plain, &text);
        assert!(!expected.starts_with("ERR "), "{call}: {expected}");
        assert_eq!(database.answer(&text), expected, "{call}");
        compared += 1;
    };
    for one in texts {
        for function in ["trim", "ltrim", "rtrim"] {
            compare(format!("{function}({one})"));
        }
        for two in texts {
            for function in ["instr", "trim", "ltrim", "rtrim"] {
                compare(format!("{function}({one}, {two})"));
            }
            for three in ["NULL", "''", "'xyz'", "x'ff'", "7"] {
                compare(format!("replace({one}, {two}, {three})"));
            }
        }
    }
    assert!(compared > 2000, "{compared} calls");
}

/// Documents that differ in what counts for a patch: names twice, escaped, empty; objects in objects, numbers as they were written.
struct Documents(u64);

impl Documents {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    fn value(&mut self, depth: u64) -> String {
        const NAMES: [&str; 8] = ["a", "b", r"\u0061", r"\u00e9", "é", r"a\n", "", r"\ud83d\ude00"];
        const PLAIN: [&str; 8] = ["null", "1.50", "-0", "1e5", r#""x\"}""#, "true", r#""\u0041]""#, "[]"];
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0..3 => PLAIN[self.below(8) as usize].to_string(),
            3 => {
                let items: Vec<String> = (0..self.below(3)).map(|_| self.value(depth - 1)).collect();
                format!("[{}]", items.join(" , "))
            }
            _ => {
                let mut members = Vec::new();
                for _ in 0..self.below(5) {
                    members.push(format!("\"{}\": {}", NAMES[self.below(8) as usize], self.value(depth - 1)));
                }
                format!("{{ {} }}", members.join(","))
            }
        }
    }

    /// As an expression.
    fn expression(&mut self) -> String {
        let text = self.value(4).replace('\'', "''");
        match self.below(12) {
            0 => format!("jsonb('{text}')"),
            1 => "NULL".into(),
            2 => format!("'{text}}}'"),
            3 => "'{a: 1, ''b'': +.5, \"c\\x41\": Infinity,}'".into(),
            4 => "x'0cff'".into(),
            5 => "12".into(),
            _ => format!("'{text}'"),
        }
    }
}

#[test]
fn a_patch_of_json_differs_from_sqlites() {
    let plain = rusqlite::Connection::open_in_memory().expect("opens");
    let mut database = Database::new();
    let mut documents = Documents(1);
    let (mut patched, mut refused) = (0, 0);
    for _ in 0..4000 {
        let (target, patch) = (documents.expression(), documents.expression());
        for call in [
            format!("json_patch({target}, {patch})"),
            // Of its sizes in front of values there are several forms.
            format!("typeof(jsonb_patch({target}, {patch})) || json(jsonb_patch({target}, {patch}))"),
            format!("json_pretty({target})"),
            format!(
                "json_array(json_pretty({target}, '\t'), json_pretty({patch}, NULL), json_pretty({target}, x'2d00'))"
            ),
            format!("json_array(json_patch({target}, {patch}), jsonb_patch({target}, {patch}))"),
        ] {
            let text = format!("SELECT typeof({call}), hex({call})");
            let expected = sqlites_answer(&plain, &text);
            assert_eq!(database.answer(&text), expected, "{call}");
            *(if expected.starts_with("ERR ") { &mut refused } else { &mut patched }) += 1;
        }
    }
    assert!(patched > 5000 && refused > 500, "{patched} patched, {refused} refused");
}

#[test]
fn members_of_a_patch_are_looked_for_one_by_one() {
    let mut database = Database::new();
    let text = "WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 99999), \
                d(t, p) AS (SELECT '{' || group_concat('\"k' || i || '\":1') || '}', \
                                   '{' || group_concat('\"k' || (i + 50000) || '\":2') || '}' FROM k) \
                SELECT length(json_patch(t, p)), json_patch(t, p) ->> '$.k49999', json_patch(t, p) ->> '$.k50000' FROM d";
    let begin = std::time::Instant::now();
    assert_eq!(database.answer(text), "1688891|1|2;");
    // By SQLite's own function minutes.
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
}
