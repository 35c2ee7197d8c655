//! What the host drops, SQLite does not see any more; what fails or is killed leaves nothing.

mod common;

use common::{Collected, Database, Fault, TestHost, code};
use edgecask_core::engine::EngineError;
use edgecask_core::sql::{Access, SqlEngine, SqlError};
use edgecask_sql::Sqlite;

const SCHEMA: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INT, note TEXT);
    CREATE INDEX t_age ON t(age);
    CREATE INDEX t_part ON t(age, name) WHERE age > 10;
    CREATE TABLE log(what TEXT);
    CREATE TRIGGER t_log AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.name); END;
    CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES t(id) ON DELETE CASCADE);
    INSERT INTO t(name, age, note)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        SELECT 'name ' || i, i % 50, hex(zeroblob(i)) FROM n;
    INSERT INTO child(parent) SELECT id FROM t WHERE id % 3 = 0";

/// Statements of all kinds that change something.
const CHANGES: &[&str] = &[
    "INSERT INTO t(name, age) VALUES ('one more', 7)",
    "INSERT INTO t(name, age) SELECT 'second ' || id, age FROM t",
    "UPDATE t SET age = age + 1",
    "UPDATE t SET note = hex(zeroblob(3000)) WHERE id < 20",
    "DELETE FROM t WHERE id % 2 = 0",
    "DELETE FROM log",
    "CREATE TABLE late AS SELECT * FROM t",
    "CREATE INDEX late_index ON t(note, name)",
    "ALTER TABLE t ADD COLUMN extra DEFAULT 5",
    "ALTER TABLE t DROP COLUMN note",
    "DROP TABLE log",
    "REINDEX",
    "ANALYZE",
    "DELETE FROM t WHERE id > 10; VALUES (1)",
    "VACUUM",
    "INSERT INTO t(name) VALUES ('a'), ('b') RETURNING id; UPDATE t SET age = 0; DROP INDEX t_age",
    "BEGIN; UPDATE t SET age = 1; COMMIT; SAVEPOINT s; DELETE FROM child; RELEASE s; CREATE TABLE x(y)",
];

fn prepared() -> Database {
    let mut database = Database::new();
    database.must(SCHEMA);
    database.host.reset_counts();
    database
}

/// The same pages, with a connection of their own.
fn copy(database: &Database) -> Database {
    Database::open(TestHost { pages: database.host.pages.clone(), ..TestHost::default() })
}

#[test]
fn rows_of_a_dropped_transaction_stay_in_the_connections_view() {
    let mut database = prepared();
    let before = database.content();
    for change in CHANGES {
        database.host.begin();
        database.must(change);
        database.content();
        database.host.drop_transaction();
        database.forget();
        assert_eq!(database.content(), before, "{change}");
    }
    // What comes after is whole, for another connection too.
    database.must("INSERT INTO t(name, age) VALUES ('after', 1)");
    let after = database.content();
    assert_ne!(after, before);
    assert_eq!(copy(&database).content(), after);
}

#[test]
fn a_database_whose_creation_was_dropped_is_still_there() {
    let mut database = Database::new();
    for round in 0..3 {
        database.host.begin();
        database.must("CREATE TABLE a(x); INSERT INTO a VALUES (1)");
        database.host.drop_transaction();
        database.forget();
        assert!(database.host.pages.is_empty());
        assert_eq!(database.answer("SELECT * FROM a"), "ERR no such table: a", "{round}");
        assert_eq!(database.answer("SELECT count(*) FROM sqlite_schema"), "0;");
    }
    database.must("CREATE TABLE b(y); INSERT INTO b VALUES (2)");
    assert_eq!(database.answer("SELECT * FROM b"), "2;");
    assert_eq!(copy(&database).answer("SELECT * FROM b"), "2;");
}

#[test]
fn a_dropped_schema_is_taken_for_another_of_the_same_number() {
    let mut one = prepared();
    one.host.begin();
    one.must("CREATE TABLE dropped(x)");
    one.host.drop_transaction();
    // Before the connection hears of it, another one makes a table, and the schema gets the same number.
    let mut other = copy(&one);
    other.must("CREATE TABLE kept(y); INSERT INTO kept VALUES (5)");
    one.host.pages = other.host.pages.clone();
    one.forget();
    assert_eq!(one.answer("SELECT * FROM dropped"), "ERR no such table: dropped");
    assert_eq!(one.answer("SELECT y FROM kept"), "5;");
}

#[test]
fn pages_that_another_connection_wrote_are_not_seen() {
    let mut one = prepared();
    let mut other = copy(&one);
    for round in 0..5 {
        let (writer, reader) = if round % 2 == 0 { (&mut one, &mut other) } else { (&mut other, &mut one) };
        writer.must(&format!("INSERT INTO t(name, age) VALUES ('round {round}', 1)"));
        let expected = writer.content();
        reader.host.pages = writer.host.pages.clone();
        reader.forget();
        assert_eq!(reader.content(), expected, "{round}");
    }
}

#[test]
fn a_kill_leaves_rows() {
    let mut database = prepared();
    let before = database.content();
    let mut kills = 0;
    for change in CHANGES {
        for tick in 1.. {
            database.host.reset_counts();
            database.host.begin();
            database.host.at_tick = Some((tick, Fault::Kill));
            let outcome = database.run(change);
            database.host.reset_counts();
            if outcome.is_ok() {
                database.host.drop_transaction();
                database.forget();
                break;
            }
            kills += 1;
            assert_eq!(outcome, Err(SqlError::Killed), "{change} at tick {tick}");
            // The pages are as before without a word of the host.
            assert_eq!(database.content(), before, "{change} at tick {tick}");
            database.host.commit();
        }
    }
    assert!(kills > 50, "{kills} kills");
    assert_eq!(copy(&database).content(), before);
}

#[test]
fn a_failed_write_leaves_rows() {
    let mut database = prepared();
    let before = database.content();
    let mut failures = 0;
    for change in CHANGES {
        for write in 1.. {
            database.host.reset_counts();
            database.host.begin();
            database.host.at_write = Some((write, Fault::Engine(EngineError::BudgetExceeded)));
            let outcome = database.run(change);
            let was_reached = database.host.writes >= write;
            database.host.reset_counts();
            database.host.drop_transaction();
            database.forget();
            assert_eq!(database.content(), before, "{change} at write {write}");
            if !was_reached {
                assert!(outcome.is_ok(), "{change}");
                break;
            }
            failures += 1;
            assert_eq!(
                outcome,
                Err(SqlError::Engine(EngineError::BudgetExceeded)),
                "{change} at write {write}"
            );
        }
    }
    assert!(failures > 100, "{failures} failures");
}

#[test]
fn a_failed_read_is_taken_for_a_damaged_database() {
    let mut database = prepared();
    let before = database.content();
    for text in ["SELECT count(*), sum(age), max(note) FROM t", "UPDATE t SET note = name WHERE age = 3"] {
        for read in 1.. {
            database.host.begin();
            database.forget();
            database.host.reset_counts();
            database.host.at_read = Some((read, Fault::Engine(EngineError::NotHere)));
            let outcome = database.run(text);
            let was_reached = database.host.reads >= read;
            database.host.reset_counts();
            database.host.drop_transaction();
            database.forget();
            if !was_reached {
                assert!(outcome.is_ok());
                break;
            }
            assert_eq!(outcome, Err(SqlError::Abandoned), "{text} at read {read}");
        }
        assert_eq!(database.content(), before);
    }
}

#[test]
fn a_panic_of_the_host_takes_the_connection_along() {
    let mut database = prepared();
    let before = database.content();
    for fault in ["tick", "write", "read", "call", "rows"] {
        database.host.begin();
        database.forget();
        database.host.reset_counts();
        let panic = Some((2, Fault::Panic));
        let mut rows = Collected { panics: fault == "rows", ..Collected::default() };
        match fault {
            "tick" => database.host.at_tick = panic,
            "write" => database.host.at_write = panic,
            "read" => database.host.at_read = panic,
            "call" => database.host.at_call = panic,
            _ => {}
        }
        let text = "UPDATE t SET age = redis('INCR', 'n') RETURNING id";
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            database.run_with(text.as_bytes(), &[], Access::Any, &mut rows)
        }));
        assert!(outcome.is_err(), "{fault}");
        database.host.reset_counts();
        database.host.drop_transaction();
        assert_eq!(database.content(), before, "{fault}");
    }
    assert_eq!(copy(&database).content(), before);
}

#[test]
fn rows_that_nobody_takes_are_changed_all_the_same() {
    let mut database = prepared();
    let before = database.content();
    for text in ["UPDATE t SET age = 99 RETURNING id", "DELETE FROM log; DELETE FROM t RETURNING *"] {
        let mut rows = Collected { room: Some(3), ..Collected::default() };
        let outcome = database.run_with(text.as_bytes(), &[], Access::Any, &mut rows);
        assert_eq!(code(&outcome), Some(18), "{text}");
        assert_eq!(rows.rows, 3);
        assert_eq!(database.content(), before, "{text}");
    }
}

#[test]
fn a_statement_of_several_fails_and_the_others_stay() {
    let mut database = prepared();
    let before = database.content();
    for text in [
        "INSERT INTO log VALUES ('x'); INSERT INTO nowhere VALUES (1)",
        "INSERT INTO log VALUES ('x'); INSERT INTO t(name) VALUES ('name 1')",
        "CREATE TABLE late(x); BEGIN; INSERT INTO late VALUES (1); COMMIT; SELECT * FROM nowhere",
        "SAVEPOINT a; INSERT INTO log VALUES ('x'); RELEASE a; syntax error",
        "INSERT INTO log VALUES ('x'); COMMIT",
        "INSERT INTO log VALUES ('x'); ROLLBACK",
        "BEGIN; INSERT INTO log VALUES ('x'); BEGIN",
        "BEGIN; INSERT INTO log VALUES ('x')",
        "SAVEPOINT a; INSERT INTO log VALUES ('x')",
        "INSERT INTO log VALUES ('x'); SAVEPOINT a; RELEASE b",
        "INSERT INTO log VALUES ('x'); INSERT OR ROLLBACK INTO t(name) VALUES ('name 1')",
        "INSERT INTO log VALUES ('x'); VACUUM",
        "BEGIN",
        "SAVEPOINT a",
        "COMMIT",
        "DELETE FROM t WHERE id = 1; PRAGMA defer_foreign_keys = ON; INSERT INTO child(parent) VALUES (1)",
        "PRAGMA defer_foreign_keys = ON; INSERT INTO child(parent) VALUES (77777)",
    ] {
        let outcome = database.run(text);
        assert!(matches!(outcome, Err(SqlError::Failed { .. })), "{text}: {outcome:?}");
        assert_eq!(database.content(), before, "{text}");
    }
    assert_eq!(
        database.answer("BEGIN; DELETE FROM log"),
        "ERR the text begins a transaction and does not end it, so it was rolled back"
    );
}

#[test]
fn a_text_that_begins_and_ends_its_own_transactions_is_refused() {
    let mut database = Database::new();
    for (text, rows) in [
        ("CREATE TABLE t(x); BEGIN; INSERT INTO t VALUES (1); COMMIT; SELECT * FROM t", "1;"),
        ("BEGIN; INSERT INTO t VALUES (2); ROLLBACK; SELECT * FROM t", "1;"),
        ("BEGIN IMMEDIATE; INSERT INTO t VALUES (3); END TRANSACTION; SELECT max(x) FROM t", "3;"),
        ("SAVEPOINT a; INSERT INTO t VALUES (4); ROLLBACK TO a; RELEASE a; SELECT max(x) FROM t", "3;"),
        ("SAVEPOINT a; SAVEPOINT b; INSERT INTO t VALUES (5); RELEASE A; SELECT max(x) FROM t", "5;"),
        ("SAVEPOINT a; INSERT INTO t VALUES (6); COMMIT; SELECT max(x) FROM t", "6;"),
        ("SAVEPOINT a; INSERT INTO t VALUES (7); ROLLBACK; BEGIN; ROLLBACK; SELECT max(x) FROM t", "6;"),
        ("BEGIN; SAVEPOINT a; INSERT INTO t VALUES (8); ROLLBACK TO a; COMMIT; SELECT max(x) FROM t", "6;"),
    ] {
        assert_eq!(database.answer(text), rows, "{text}");
    }
}

#[test]
fn temporary_tables_stay_for_the_next_user() {
    let mut database = prepared();
    let text = "CREATE TEMP TABLE mine AS SELECT id FROM t WHERE id < 4; SELECT sum(id) FROM mine";
    for _ in 0..3 {
        assert_eq!(database.answer(text), "6;");
        assert_eq!(database.answer("SELECT * FROM mine"), "ERR no such table: mine");
    }
    assert_eq!(database.answer("SELECT count(*) FROM t"), "300;");
}

#[test]
fn a_statement_writes_the_first_page_for_its_counters() {
    let mut database = prepared();
    database.must("UPDATE t SET age = 1 WHERE id = 5");
    database.host.reset_counts();
    for age in 0..20 {
        database.must(&format!("UPDATE t SET note = '{age}' WHERE id = 5"));
    }
    assert_eq!(
        (database.host.first_page_writes, database.host.reads, database.host.size_questions),
        (0, 0, 0)
    );
    assert_eq!(database.host.writes, 20);
    let content = database.content();
    assert_eq!(copy(&database).content(), content);
    // And another that goes on from there is seen.
    database.forget();
    assert_eq!(database.content(), content);
}

#[test]
fn pages_that_are_no_database_are_opened() {
    for byte in [0, 7] {
        let mut host = TestHost { pages: [(0, vec![byte; 2048])].into(), ..TestHost::default() };
        assert!(Sqlite::default().open(&mut host, 2048).is_err(), "{byte}");
    }
    for page_bytes in [0, 100, 256, 1000, 131_072] {
        assert!(Sqlite::default().open(&mut TestHost::default(), page_bytes).is_err());
    }
    let mut database = prepared();
    assert!(Sqlite::default().open(&mut database.host, 4096).is_err());
}

#[test]
fn an_error_of_the_engine_while_a_database_is_opened_is_lost() {
    let mut database = prepared();
    for (fault, error) in [
        (EngineError::NotHere, SqlError::Abandoned),
        (EngineError::BudgetExceeded, SqlError::Engine(EngineError::BudgetExceeded)),
    ] {
        database.host.reset_counts();
        database.host.at_read = Some((1, Fault::Engine(fault)));
        assert_eq!(Sqlite::default().open(&mut database.host, 2048).err(), Some(error));
    }
}
