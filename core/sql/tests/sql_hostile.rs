//! Texts that mean harm: each ends soon, as it must, and leaves the connection fit.

mod common;

use common::{Database, Fault};
use edgecask_core::sql::SqlError;

/// Ticks after which a statement is killed: some 20 million steps.
const TICKS_MAX: u64 = 20_000;

fn deep(before: &str, after: &str, levels: usize) -> String {
    format!("SELECT {}1{}", before.repeat(levels), after.repeat(levels))
}

#[test]
fn a_text_that_means_harm_is_run() {
    let texts: Vec<(String, &str)> = [
        ("ATTACH 'x.db' AS x", "ATTACH is not allowed"),
        ("ATTACH '' AS x", "ATTACH is not allowed"),
        ("ATTACH ':memory:' AS x", "ATTACH is not allowed"),
        ("DETACH main", "DETACH is not allowed"),
        ("VACUUM INTO 'x.db'", "VACUUM INTO is not allowed"),
        ("VACUUM INTO ':memory:'", "VACUUM INTO is not allowed"),
        ("PRAGMA writable_schema = ON", "PRAGMA writable_schema is not allowed"),
        ("PRAGMA writable_schema = RESET", "PRAGMA writable_schema is not allowed"),
        ("PRAGMA journal_mode = OFF", "PRAGMA journal_mode may not be set"),
        ("PRAGMA journal_mode = WAL", "PRAGMA journal_mode may not be set"),
        ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA locking_mode may not be set"),
        ("PRAGMA page_size = 4096", "PRAGMA page_size may not be set"),
        ("PRAGMA cache_size = 1000000", "PRAGMA cache_size may not be set"),
        ("PRAGMA schema_version = 1", "PRAGMA schema_version may not be set"),
        ("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys may not be set"),
        ("PRAGMA temp_store_directory = '/'", "PRAGMA temp_store_directory is not allowed"),
        ("PRAGMA hard_heap_limit = 1", "PRAGMA hard_heap_limit is not allowed"),
        ("PRAGMA main.trusted_schema = 1", "PRAGMA trusted_schema is not allowed"),
        ("PRAGMA case_sensitive_like = 1", "PRAGMA case_sensitive_like is not allowed"),
        ("SELECT * FROM pragma_wal_checkpoint", "no such table"),
        ("SELECT load_extension('x')", "no such function: load_extension"),
        ("SELECT readfile('/etc/passwd')", "no such function: readfile"),
        ("UPDATE sqlite_schema SET sql = ''", "table sqlite_master may not be modified"),
        ("INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)", "table sqlite_master may not be modified"),
        ("CREATE VIRTUAL TABLE x USING fts5(a)", "no such module: fts5"),
        ("SELECT * FROM dbstat", "no such table: dbstat"),
        ("SELECT * FROM sqlite_dbpage", "no such table: sqlite_dbpage"),
        ("SELECT zeroblob(2000000000)", "string or blob too big"),
        ("SELECT hex(zeroblob(16000000))", "string or blob too big"),
        ("SELECT randomblob(2000000000)", "string or blob too big"),
        ("SELECT printf('%.*c', 1000000000, 'x')", "string or blob too big"),
        ("SELECT printf('%1000000000d', 1)", "string or blob too big"),
        ("SELECT replace(hex(zeroblob(4000)), '0', hex(zeroblob(4000)))", "string or blob too big"),
        ("SELECT group_concat(hex(zeroblob(1000000))) FROM t", "string or blob too big"),
        ("SELECT 'x' LIKE printf('%2000c', 'x')", "LIKE or GLOB pattern too complex"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", "killed"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT -1", "killed"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) INSERT INTO t SELECT i FROM n", "killed"),
        ("SELECT count(*) FROM t a, t b, t c, t d, t e, t f, t g, t h", "killed"),
        ("SELECT * FROM t LIMIT 9223372036854775807 OFFSET 9223372036854775807", ""),
        ("CREATE TRIGGER again AFTER INSERT ON t BEGIN INSERT INTO t VALUES (new.x + 1); END; INSERT INTO t VALUES (1)", ""),
        ("SELECT 1 UNION SELECT 1 ORDER BY 1 COLLATE nosuch", "no such collation"),
        ("SELECT ?40000", "variable number must be between"),
        ("SELECT instr(hex(zeroblob(3000000)), hex(zeroblob(1500000)) || 'x')", "killed"),
        ("SELECT replace(hex(zeroblob(3000000)), hex(zeroblob(1500000)) || 'x', '')", "killed"),
        ("SELECT trim(hex(zeroblob(3000000)), replace(hex(zeroblob(1500000)), '0', 'x') || '0')", "killed"),
        ("SELECT json_pretty('['||replace(hex(zeroblob(10000)),'00','1,')||'1]', hex(zeroblob(500000)))", "string or blob too big"),
        ("SELECT abs(-9223372036854775808)", "integer overflow"),
        ("CREATE TABLE x AS SELECT * FROM nosuch.t", "no such table: nosuch.t"),
    ]
    .into_iter()
    .map(|(text, end)| (text.to_string(), end))
    .chain([
        (deep("(", ")", 5000), "any"),
        (deep("-", "", 5000), "any"),
        (deep("NOT ", "", 5000), "any"),
        (deep("abs(", ")", 5000), "any"),
        (deep("1+(", ")", 2000), "any"),
        (deep("(SELECT ", ")", 2000), "any"),
        (deep("1 AND ", "", 900), ""),
        (deep("1 AND ", "", 5000), "Expression tree is too large"),
        (format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(5000)), "too many terms in compound SELECT"),
        (format!("SELECT {}1", "1,".repeat(2000)), "too many columns in result set"),
        (format!("SELECT max({}1)", "1,".repeat(200)), "too many arguments on function max"),
        (format!("SELECT '{}'", "x".repeat(2 << 20)), "any"),
        (format!("SELECT 1 FROM {}t", "t,".repeat(100)), "at most 64 tables in a join"),
        (format!("SELECT json('{}')", "[".repeat(100_000)), "malformed JSON"),
        (format!("INSERT INTO t VALUES {}(1)", "(1),".repeat(50_000)), ""),
        ("SELECT 1;".repeat(50_000), ""),
        (";".repeat(1_000_000), ""),
        ("/* ".repeat(500_000), ""),
        (format!("SELECT 1 IN ({}1)", "1,".repeat(100_000)), ""),
        ("WITH a AS (SELECT 1),".to_string() + &deep("(", ")", 50), "any"),
    ])
    .collect();
    assert!(texts.len() >= 60, "{} texts", texts.len());

    let mut database = Database::new();
    database.must("CREATE TABLE t(x)");
    database.must("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i FROM n");
    let before = database.content();
    for (text, end) in &texts {
        let shown: String = text.chars().take(100).collect();
        database.host.reset_counts();
        database.host.at_tick = Some((TICKS_MAX, Fault::Kill));
        database.host.begin();
        let outcome = database.run(text);
        assert!(database.host.ticks <= TICKS_MAX, "{shown}");
        match (&outcome, *end) {
            (_, "any") | (Ok(_), "") | (Err(SqlError::Killed), "killed") => {}
            (Err(SqlError::Failed { message, .. }), end) if !end.is_empty() && message.contains(end) => {}
            _ => panic!("{shown}: {outcome:?}"),
        }
        if outcome.is_ok() {
            database.host.drop_transaction();
            database.forget();
        } else {
            database.host.commit();
        }
        database.host.reset_counts();
        assert_eq!(database.content(), before, "{shown}");
    }
}

#[test]
fn triggers_that_set_off_each_other_have_no_end() {
    let mut database = Database::new();
    database.must("CREATE TABLE a(x); CREATE TABLE b(x)");
    let mut text = String::new();
    for level in 0..150 {
        text.push_str(&format!(
            "CREATE TABLE l{level}(x); CREATE TRIGGER t{level} AFTER INSERT ON l{level} \
             BEGIN INSERT INTO l{} VALUES (new.x); END;",
            level + 1
        ));
    }
    text.push_str("CREATE TABLE l150(x)");
    database.must(&text);
    assert_eq!(database.answer("INSERT INTO l0 VALUES (1)"), "ERR triggers nested too deep");
    assert_eq!(database.answer("SELECT count(*) FROM l5"), "0;");
    database.must("INSERT INTO l100 VALUES (1)");
    assert_eq!(database.answer("SELECT count(*) FROM l150"), "1;");
}

#[test]
fn a_setting_of_one_user_stays_for_the_next() {
    let mut database = Database::new();
    let settings = "SELECT (SELECT * FROM pragma_foreign_keys), (SELECT * FROM pragma_synchronous), \
         (SELECT * FROM pragma_cache_size), (SELECT * FROM pragma_journal_mode), (SELECT * FROM pragma_page_size), \
         (SELECT * FROM pragma_locking_mode)";
    let before = database.answer(settings);
    assert_eq!(before, "1|0|-8192|memory|2048|normal;");
    for text in [
        "PRAGMA foreign_keys = 0",
        "PRAGMA synchronous = 2",
        "PRAGMA cache_size = 5",
        "PRAGMA page_size = 512; VACUUM",
    ] {
        let _ = database.run(text);
        assert_eq!(database.answer(settings), before, "{text}");
    }
}
