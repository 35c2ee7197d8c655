//! Graphs and hostile texts: expressions that are more, edges without end, hosts that stop them.

mod common;

use common::{Collected, Database, Fault, placed};
use edgecask_core::sql::{Access, SqlError, SqlValue};

/// A chain of so many nodes, and the edge back from its end.
fn chain(nodes: i64) -> Database {
    let mut database = Database::new();
    database.must("CREATE TABLE edge(source INTEGER PRIMARY KEY, target INTEGER)");
    database.must(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {nodes}) \
         INSERT INTO edge SELECT i, i % {nodes} + 1 FROM n"
    ));
    database
}

#[test]
fn an_expression_does_more_than_it_may() {
    let mut database = chain(5);
    let before = database.content();
    for expression in [
        "1; DELETE FROM edge",
        "1) ; DELETE FROM edge; --",
        "1) OR (1",
        "1) UNION SELECT 1, 2, 3, 4, 5 FROM edge WHERE (1",
        "(DELETE FROM edge)",
        "(DELETE FROM edge RETURNING source)",
        "EXISTS (INSERT INTO edge VALUES (9, 9) RETURNING 1)",
        "(WITH x AS (SELECT 1) DELETE FROM edge)",
        "(PRAGMA user_version = 5)",
        "ATTACH 'x' AS y",
        "1 --",
        "1 /*",
        "'",
        "?1",
        ":a",
        "",
        "1, 2",
        "missing > 1",
        "no_function(1)",
        "count(*)",
        "target +",
        "\0",
        "\u{1}",
        "source ORDER BY 1",
        "source LIMIT 1",
        "raise(abort, 'x')",
    ] {
        for option in ["filter", "include", "prune", "cost_by"] {
            let text = format!("SELECT count(*) FROM graph_walk('edge', 1) WHERE {option} = ?");
            let parameters = [placed(SqlValue::Text(expression.as_bytes()))];
            let answer = database.query_with(&text, &parameters);
            assert!(answer.is_err(), "{option} {expression}: {answer:?}");
        }
        assert_eq!(database.content(), before, "{expression}");
    }
    // A filter that reads is fine, and sees no more than the statement.
    let text = "SELECT count(*) FROM graph_walk('edge', 1) WHERE filter = 'target IN (SELECT source FROM edge WHERE source < 4)'";
    assert_eq!(database.answer(text), "3;");
}

#[test]
fn an_expression_writes_where_the_statement_may_not() {
    let mut database = chain(5);
    database.must("CREATE TABLE t(x)");
    let mut rows = Collected::default();
    // A PRAGMA that is used as a table is prepared while the statement runs.
    let text = "SELECT count(*) FROM graph_walk('edge', 1) WHERE filter = '(SELECT count(*) FROM pragma_optimize) >= 0'";
    let before = database.content();
    let _ = database.run_with(text.as_bytes(), &[], Access::ReadOnly, &mut rows);
    assert_eq!(database.content(), before);
    // A command that it calls is called by a statement that only reads.
    let text = "SELECT count(*) FROM graph_walk('edge', 1) WHERE filter = 'redis(''SET'', ''k'', ''v'') > 0'";
    database.host.commands = Some(Box::new(|_, reply| {
        reply.text(b"ERR refused");
        Some(edgecask_core::script::Answer::Error)
    }));
    assert_eq!(database.answer(text), "ERR ERR refused");
    let text = "SELECT count(*) FROM graph_walk('edge', 1) WHERE filter = '(SELECT count(*) FROM pragma_journal_mode(''off'')) >= 0'";
    assert!(database.run_with(text.as_bytes(), &[], Access::Any, &mut rows).is_err());
    assert_eq!(database.answer("PRAGMA journal_mode"), "memory;");
}

#[test]
fn what_is_wrong_with_the_arguments_is_not_said() {
    let mut database = chain(3);
    database.must("CREATE TABLE weights(source, target, weight); INSERT INTO weights VALUES (1, 2, -1), (2, 3, 'x'), (5, 6, 9e999)");
    database.must("CREATE TABLE lacks(source, goal)");
    for (text, error) in [
        ("graph_walk", "graph_walk: the table of edges is missing or NULL"),
        ("graph_walk('edge')", "graph_walk: the node to begin at is missing or NULL"),
        ("graph_walk('edge', NULL)", "graph_walk: the node to begin at is missing or NULL"),
        ("graph_path('edge', 1)", "graph_path: the node to end at is missing or NULL"),
        ("graph_walk(5, 1)", "graph_walk: the table of edges is no text"),
        ("graph_walk(x'00', 1)", "graph_walk: the table of edges is no text"),
        ("graph_walk('missing', 1)", "graph_walk: no such table: missing"),
        ("graph_walk('lacks', 1)", "graph_walk: the table of edges lacks has no column target"),
        ("graph_components('lacks')", "graph_components: the table of edges lacks has no column target"),
        ("graph_walk('edge', 1, 'up')", "graph_walk: the direction is 'out', 'in' or 'both'"),
        ("graph_walk('edge', 1, 5)", "graph_walk: the direction is 'out', 'in' or 'both'"),
        ("graph_walk('edge', 1, 'out', 'T')", "graph_walk: the table of edges edge has no column type"),
        ("graph_walk('weights', 1, 'out', '[x')", "graph_walk: malformed JSON"),
        ("graph_walk('edge', 1, 'out', NULL, -1)", "graph_walk: min_depth is an integer of at least 0"),
        ("graph_walk('edge', 1, 'out', NULL, 0, 'x')", "graph_walk: max_depth is an integer of at least 0"),
        (
            "graph_walk('edge', 1, 'out', NULL, 0, 1, 'some')",
            "graph_walk: the uniqueness is 'node', 'path', 'edge' or 'none'",
        ),
        (
            "graph_walk('edge', 1, 'out', NULL, 0, 1, 'node', 'x')",
            "graph_walk: the traversal is 'bfs' or 'dfs'",
        ),
        ("graph_walk('edge', 1) WHERE filter = '1)'", "graph_walk: the filter has a parenthesis too many"),
        ("graph_walk('edge', 1) WHERE filter = 'missing > 1'", "graph_walk: no such column: missing"),
        (
            "graph_path('weights', 1, 2)",
            "graph_path: the cost of an edge on a path is a finite number of at least 0",
        ),
        ("graph_path('weights', 2, 3)", "graph_path: the cost of an edge is no number"),
        (
            "graph_path('weights', 5, 6)",
            "graph_path: the cost of an edge on a path is a finite number of at least 0",
        ),
    ] {
        assert_eq!(database.answer(&format!("SELECT * FROM {text}")), format!("ERR {error}"), "{text}");
    }
    let most = "SELECT count(*) FROM graph_walk('edge', 1, 'out', NULL, 0, 9223372036854775807)";
    assert_eq!(database.answer(most), "3;");
}

#[test]
fn a_view_of_its_own_graph_is_entered_without_end() {
    let mut database = chain(3);
    database.must("CREATE VIEW own AS SELECT node AS source, node AS target FROM graph_walk('own', 1)");
    let answer = database.answer("SELECT * FROM graph_walk('own', 1)");
    assert!(answer.contains("too many graphs are read from each other"), "{answer}");
    // One within the other is fine.
    database.must("CREATE VIEW two AS SELECT source, (SELECT max(node) FROM graph_walk('edge', source, 'out', NULL, 2, 2)) AS target FROM edge");
    assert_eq!(database.answer("SELECT group_concat(node) FROM graph_walk('two', 1)"), "1,3,2;");
    // The connection closes with what it has kept of both.
    drop(database);
}

#[test]
fn a_long_chain_overflows_the_stack() {
    let mut database = chain(100_000);
    for order in ["bfs", "dfs"] {
        let walk =
            format!("SELECT max(depth), count(*) FROM graph_walk('edge', 1) WHERE traversal = '{order}'");
        assert_eq!(database.answer(&walk), "99999|100000;");
    }
    assert_eq!(database.answer("SELECT max(cost) FROM graph_path('edge', 1, 100000)"), "99999.0;");
    let path = "SELECT json_array_length(path) FROM graph_walk('edge', 1) WHERE min_depth = 99999";
    assert_eq!(database.answer(path), "100000;");
    assert_eq!(database.answer("SELECT count(DISTINCT component) FROM graph_components('edge')"), "1;");
}

#[test]
fn a_walk_without_end_takes_all_memory() {
    let mut database = Database::new();
    database.must("CREATE TABLE e(source, target); CREATE INDEX i ON e(source)");
    database.must("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO e SELECT a.i, b.i FROM n a, n b");
    let text = "SELECT count(*) FROM graph_walk('e', 1) WHERE uniqueness = 'none' AND max_depth = 100";
    assert_eq!(database.answer(text), "ERR graph_walk: the graph takes more than 256 MiB of memory");
    // The memory is free again, and the connection works.
    let text = "SELECT count(*) FROM graph_walk('e', 1)";
    assert_eq!(database.answer(text), "40;");
    // Depth first the same walk takes next to nothing.
    let text = "SELECT node FROM graph_walk('e', 1) WHERE uniqueness = 'none' AND max_depth = 100 AND traversal = 'dfs' LIMIT 3";
    assert_eq!(database.answer(text), "1;1;1;");
}

#[test]
fn a_graph_is_not_stopped() {
    let mut database = chain(20_000);
    for text in [
        "SELECT count(*) FROM graph_walk('edge', 1)",
        "SELECT count(*) FROM graph_walk('edge', 1) WHERE traversal = 'dfs'",
        "SELECT count(*) FROM graph_path('edge', 1, 20000)",
        "SELECT count(*) FROM graph_components('edge')",
        "SELECT count(*) FROM graph_pagerank('edge')",
        "SELECT count(path) FROM graph_walk('edge', 1, 'out', NULL, 0, 3000)",
    ] {
        for at in [1, 30, 100] {
            database.host.reset_counts();
            database.host.ticks = 0;
            database.host.at_tick = Some((at, Fault::Kill));
            assert_eq!(database.run(text), Err(SqlError::Killed), "{text} {at}");
            database.host.at_tick = Some((database.host.ticks + at, Fault::Panic));
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| database.run(text)));
            assert!(caught.is_err(), "{text} {at}");
        }
        database.host.reset_counts();
        // Twenty thousand edges are some hundred ticks.
        database.must(text);
        assert!(database.host.ticks > 150, "{text}: {}", database.host.ticks);
    }
    assert_eq!(database.answer("SELECT count(*) FROM graph_walk('edge', 1, 'out', NULL, 0, 10)"), "11;");
}

#[test]
fn a_failed_read_breaks_the_graph() {
    let mut database = chain(2_000);
    let text = "SELECT count(*) FROM graph_walk('edge', 1)";
    assert_eq!(database.answer(text), "2000;");
    for at in 1..12 {
        database.forget();
        database.host.reset_counts();
        database.host.at_read = Some((at, Fault::Abandon));
        let outcome = database.run(text);
        assert!(matches!(outcome, Err(SqlError::Abandoned | SqlError::Engine(_))), "{at}: {outcome:?}");
        database.host.reset_counts();
        database.forget();
        assert_eq!(database.answer(text), "2000;", "{at}");
    }
}
