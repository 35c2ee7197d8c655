//! The bound of the heap. It is the process', so this is a program of its own.

mod common;

use common::{Database, code};
use edgecask_sql::Sqlite;

#[test]
fn a_connection_that_ran_out_of_memory_is_of_no_use() {
    let engine = Sqlite::default();
    let mut database = Database::new();
    database.must("CREATE TABLE t(id INTEGER PRIMARY KEY, x); CREATE INDEX i ON t(x)");
    database.must(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         INSERT INTO t SELECT i, hex(zeroblob(i % 200)) FROM n",
    );
    database.must("CREATE VIEW edge AS SELECT id AS source, id % 2000 + 1 AS target FROM t");
    let before = database.content();
    let texts = [
        "SELECT x FROM t ORDER BY x || id",
        "UPDATE t SET x = x || 'more'",
        "CREATE TABLE late AS SELECT * FROM t ORDER BY x DESC",
        "SELECT hex(zeroblob(1000000))",
        "DELETE FROM t; INSERT INTO t SELECT 1, group_concat(hex(zeroblob(1000))) FROM sqlite_schema",
        "VACUUM",
        "SELECT count(path) FROM graph_walk('edge', 1, 'out', NULL, 0, 200)",
        "SELECT count(*) FROM graph_walk('edge', 1) WHERE traversal = 'dfs' AND filter = 'source > 0'",
        "SELECT count(*) FROM graph_path('edge', 1, 2000)",
        "SELECT count(*) FROM graph_pagerank('edge')",
    ];
    let (mut failures, mut passes) = (0, 0);
    for text in texts {
        // From next to nothing up to enough.
        for step in 0..60 {
            database.host.begin();
            engine.set_heap_limit(engine.heap_bytes() + 500 + step * step * 700);
            let outcome = database.run(text);
            engine.set_heap_limit(0);
            match code(&outcome) {
                Some(7) => {
                    failures += 1;
                    // The pages are as before without a word of the host.
                    database.host.commit();
                }
                None if outcome.is_ok() => {
                    passes += 1;
                    database.host.drop_transaction();
                    database.forget();
                }
                _ => panic!("{text}: {outcome:?}"),
            }
            assert_eq!(database.content(), before, "{text} at step {step}");
        }
    }
    assert!(failures > 30 && passes > 30, "{failures} failures, {passes} passes");
    // A new connection needs memory, too.
    engine.set_heap_limit(engine.heap_bytes() + 2000);
    let outcome = edgecask_core::sql::SqlEngine::open(&engine, &mut database.host, common::PAGE_BYTES);
    engine.set_heap_limit(0);
    assert!(outcome.is_err());
    assert_eq!(database.content(), before);
}
