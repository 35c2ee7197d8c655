//! Tables over graphs: the questions of AlchemyDB's graphs with its answers, and the forms that edges may have.

mod common;

use common::{Database, placed};
use edgecask_core::sql::SqlValue;

/// A database with a table of edges: `A KNOWS B 5, …`.
fn graph(edges: &str) -> Database {
    let mut database = Database::new();
    database.must(
        "CREATE TABLE edge(source TEXT, type TEXT, target TEXT, weight REAL, PRIMARY KEY(source, type, target)) WITHOUT ROWID;
        CREATE INDEX edge_target ON edge(target, type, source)",
    );
    add(&mut database, edges);
    database
}

fn add(database: &mut Database, edges: &str) {
    for edge in edges.split(',') {
        let words: Vec<&str> = edge.split_whitespace().collect();
        let [source, kind, target, rest @ ..] = words.as_slice() else { panic!("{edge}") };
        let weight = rest.first().unwrap_or(&"NULL");
        database.must(&format!("INSERT INTO edge VALUES ('{source}', '{kind}', '{target}', {weight})"));
    }
}

/// The first column of a query, joined.
fn nodes(database: &mut Database, text: &str) -> String {
    database.answer(text).replace(';', " ").trim_end().to_owned()
}

#[test]
fn cities_have_another_route() {
    let mut database = graph(
        "DC ROAD LEX 50, LEX ROAD STL 50, STL ROAD KC 50, KC ROAD DEN 50, DEN ROAD SLC 50, SLC ROAD SF 50, \
         DC ROAD CHI 350, CHI ROAD SF 350, DC ROAD NYC 300, NYC ROAD SF 300, DC ROAD ATL 200, ATL ROAD DAL 200, \
         DAL ROAD SF 100, DC ROAD RIC 200, RIC ROAD PHX 100, PHX ROAD SF 100",
    );
    let path = database.answer("SELECT step, node, type, cost FROM graph_path('edge', 'DC', 'SF')");
    assert_eq!(
        path,
        "0|DC|NULL|0.0;1|LEX|ROAD|50.0;2|STL|ROAD|100.0;3|KC|ROAD|150.0;4|DEN|ROAD|200.0;5|SLC|ROAD|250.0;6|SF|ROAD|300.0;"
    );
    let costs =
        "SELECT cost FROM graph_walk('edge', 'DC', uniqueness := 'path') WHERE node = 'SF' ORDER BY cost";
    let costs = costs.replace("uniqueness := 'path'", "NULL, NULL, NULL, NULL, 'path'");
    assert_eq!(nodes(&mut database, &costs), "300.0 400.0 500.0 600.0 700.0");
    // The fewest roads.
    let steps = "SELECT node FROM graph_path('edge', 'DC', 'SF') WHERE cost_by = '1'";
    assert_eq!(nodes(&mut database, steps), "DC CHI SF");
    // Roads lead in both directions.
    let back = "SELECT max(cost) FROM graph_path('edge', 'SF', 'DC', 'both')";
    assert_eq!(nodes(&mut database, back), "300.0");
    assert_eq!(database.answer("SELECT * FROM graph_path('edge', 'SF', 'DC')"), "");
}

#[test]
fn the_best_path_is_not_the_cheapest() {
    let mut database = graph(
        "A LINK B 100, A LINK C 35, C LINK B 35, A LINK D 30, D LINK B 30, A LINK E 25, E LINK B 25, A LINK F 20, \
         F LINK B 20, A LINK I 5, I LINK J 5, J LINK K 5, K LINK L 5, L LINK M 5, M LINK B 5",
    );
    let path = "SELECT group_concat(node, '') || ' ' || max(cost) FROM graph_path('edge', 'A', 'B')";
    assert_eq!(nodes(&mut database, path), "AIJKLMB 30.0");
    // What takes a link away leads to the next best.
    for (filter, answer) in [
        ("target <> 'I'", "AFB 40.0"),
        ("target NOT IN ('I', 'F')", "AEB 50.0"),
        ("target NOT IN ('I', 'F', 'E')", "ADB 60.0"),
        ("target NOT IN ('I', 'F', 'E', 'D')", "ACB 70.0"),
        ("target NOT IN ('I', 'F', 'E', 'D', 'C')", "AB 100.0"),
    ] {
        let path = format!("{path} WHERE filter = '{}'", filter.replace('\'', "''"));
        assert_eq!(nodes(&mut database, &path), answer);
    }
}

/// Users A to G: who knows whom, and who saw whose picture.
fn users() -> Database {
    graph(
        "A KNOWS B, A KNOWS C, B KNOWS D, B KNOWS E, C KNOWS F, C KNOWS G, B KNOWS A, D SAW A, F SAW A, G SAW B, A SAW B",
    )
}

#[test]
fn friends_of_friends_are_others() {
    let mut database = users();
    let friends = "SELECT node FROM graph_walk('edge', 'A', 'out', 'KNOWS', 2, 2)";
    assert_eq!(nodes(&mut database, friends), "D E F G");
    let routes = "SELECT route FROM graph_walk('edge', 'A', 'out', 'KNOWS', 2, 2) WHERE node = 'F'";
    assert_eq!(nodes(&mut database, routes), "A-[KNOWS]->C-[KNOWS]->F");
    // Those of them who saw my picture, in either order of the walk.
    for order in ["bfs", "dfs"] {
        let saw = format!(
            "SELECT node FROM graph_walk('edge', 'A', 'out', 'KNOWS', 2, 2) AS w WHERE traversal = '{order}' \
             AND EXISTS (SELECT 1 FROM edge WHERE source = w.node AND type = 'SAW' AND target = 'A')"
        );
        assert_eq!(nodes(&mut database, &saw), "D F");
    }
    // And the friend between us was seen by me.
    let seen = "SELECT node FROM graph_walk('edge', 'A', 'out', 'KNOWS', 2, 2) AS w \
        WHERE EXISTS (SELECT 1 FROM edge WHERE source = w.node AND type = 'SAW' AND target = 'A') \
        AND EXISTS (SELECT 1 FROM edge WHERE source = 'A' AND type = 'SAW' AND target = w.previous)";
    assert_eq!(nodes(&mut database, seen), "D");
}

#[test]
fn a_view_does_not_expand() {
    let mut database = users();
    // Two steps are one edge.
    database.must(
        "CREATE VIEW fof AS SELECT a.source, 'FOF' AS type, b.target FROM edge a JOIN edge b ON b.source = a.target \
         WHERE a.type = 'KNOWS' AND b.type = 'KNOWS' AND b.target <> a.source",
    );
    let walk = "SELECT node FROM graph_walk('fof', 'A', 'out', NULL, 1, 1) ORDER BY node";
    assert_eq!(nodes(&mut database, walk), "D E F G");
}

#[test]
fn a_straight_route_is_not_taken() {
    let mut database =
        graph("A ROAD C, C ROAD D, D ROAD B, A ROAD E, E ROAD B, A ROAD G, G ROAD H, H ROAD B");
    database.must(
        "CREATE TABLE place(name TEXT PRIMARY KEY, x REAL, y REAL);
        INSERT INTO place VALUES ('A', 0, 0), ('B', 9, 0), ('C', 2, 5), ('D', 7, 5), ('E', 4, -6), ('G', 3, 0), ('H', 6, 0);
        CREATE VIEW road AS SELECT e.source, e.type, e.target,
          sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)) AS weight
          FROM edge e JOIN place a ON a.name = e.source JOIN place b ON b.name = e.target",
    );
    let path = "SELECT group_concat(node, '') || ' ' || max(cost) FROM graph_path('road', 'A', 'B')";
    assert_eq!(nodes(&mut database, path), "AGHB 9.0");
    // Without the places the fewest roads count.
    let path = "SELECT group_concat(node, '') FROM graph_path('edge', 'A', 'B')";
    assert_eq!(nodes(&mut database, path), "AEB");
}

#[test]
fn a_walk_in_both_directions_stops_at_an_arrow() {
    let mut database = graph("KEN LOVES JACK, JILL LOVES JACK");
    let walk = |direction| format!("SELECT route FROM graph_walk('edge', 'KEN', '{direction}')");
    assert_eq!(nodes(&mut database, &walk("both")), "KEN KEN-[LOVES]->JACK KEN-[LOVES]->JACK<-[LOVES]-JILL");
    assert_eq!(nodes(&mut database, &walk("out")), "KEN KEN-[LOVES]->JACK");
    assert_eq!(nodes(&mut database, &walk("in")), "KEN");
    let path = "SELECT node FROM graph_path('edge', 'KEN', 'JILL', 'both')";
    assert_eq!(nodes(&mut database, path), "KEN JACK JILL");
}

#[test]
fn a_cycle_has_no_end() {
    let mut database = graph("X NEXT Y, Y NEXT Z, Z NEXT X");
    for order in ["bfs", "dfs"] {
        let walk = format!(
            "SELECT node FROM graph_walk('edge', 'X') WHERE uniqueness = 'none' AND max_depth = 10 AND traversal = '{order}'"
        );
        assert_eq!(nodes(&mut database, &walk), "X Y Z X Y Z X Y Z X Y");
        for (uniqueness, answer) in [("node", "X Y Z"), ("path", "X Y Z"), ("edge", "X Y Z X")] {
            let walk = format!(
                "SELECT node FROM graph_walk('edge', 'X') WHERE uniqueness = '{uniqueness}' AND traversal = '{order}'"
            );
            assert_eq!(nodes(&mut database, &walk), answer, "{uniqueness} {order}");
        }
    }
    let endless = database.answer("SELECT node FROM graph_walk('edge', 'X') WHERE uniqueness = 'none'");
    assert_eq!(endless, "ERR graph_walk: a walk with the uniqueness 'none' needs a max_depth");
    // Rows come as they are asked for.
    let some = "SELECT node FROM graph_walk('edge', 'X') WHERE uniqueness = 'none' AND max_depth = 1000000000 LIMIT 4";
    assert_eq!(nodes(&mut database, some), "X Y Z X");
}

#[test]
fn a_path_visits_a_node_twice() {
    let mut database = graph("A LINK B, B LINK A, A LINK C, C LINK B, B LINK D, C LINK D, D LINK A");
    let walk = "SELECT path FROM graph_walk('edge', 'A') WHERE uniqueness = 'path'";
    assert_eq!(
        nodes(&mut database, walk),
        r#"["A"] ["A","B"] ["A","C"] ["A","B","D"] ["A","C","B"] ["A","C","D"] ["A","C","B","D"]"#
    );
    let walk = format!("{walk} AND traversal = 'dfs'");
    assert_eq!(
        nodes(&mut database, &walk),
        r#"["A"] ["A","B"] ["A","B","D"] ["A","C"] ["A","C","B"] ["A","C","B","D"] ["A","C","D"]"#
    );
}

#[test]
fn the_order_or_the_depth_of_a_walk_is_wrong() {
    let mut database = graph("1 T 2, 1 T 3, 2 T 4, 2 T 5, 3 T 6, 4 T 7, 7 T 8, 6 T 4");
    let walk = |rest: &str| format!("SELECT node FROM graph_walk('edge', 1) WHERE {rest}");
    for (rest, answer) in [
        ("1", "1 2 3 4 5 6 7 8"),
        ("traversal = 'dfs'", "1 2 4 7 8 5 3 6"),
        ("min_depth = 2 AND max_depth = 3", "4 5 6 7"),
        ("min_depth = 2 AND max_depth = 3 AND traversal = 'dfs'", "4 7 5 6"),
        ("max_depth = 0", "1"),
        ("min_depth = 1 AND max_depth = 1", "2 3"),
        ("min_depth = 9", ""),
        ("depth = 2", "4 5 6"),
        // INCLUDE and EXCLUDE, CONTINUE and PRUNE.
        ("include = 'target > 3'", "1 4 5 6 7 8"),
        ("prune = 'target = 4'", "1 2 3 4 5 6"),
        ("include = 'target <> 4' AND prune = 'target = 4'", "1 2 3 5 6"),
        ("filter = 'target <> 4'", "1 2 3 5 6"),
        ("filter = 'target <> 2'", "1 3 6 4 7 8"),
    ] {
        assert_eq!(nodes(&mut database, &walk(rest)), answer, "{rest}");
    }
    let columns = "SELECT node, depth, cost, type, previous FROM graph_walk('edge', '1') WHERE node = '7'";
    assert_eq!(database.answer(columns), "7|3|3.0|T|4;");
}

#[test]
fn neighbors_are_of_another_direction() {
    let mut database = graph("A KNOWS B 2, A LIKES B 3, C KNOWS A 4, A KNOWS A");
    for (text, answer) in [
        ("SELECT * FROM graph_neighbors('edge', 'A')", "A|KNOWS|NULL|out;B|KNOWS|2.0|out;B|LIKES|3.0|out;"),
        ("SELECT * FROM graph_neighbors('edge', 'A', 'in')", "A|KNOWS|NULL|in;C|KNOWS|4.0|in;"),
        ("SELECT node, direction FROM graph_neighbors('edge', 'A') WHERE direction = 'in'", "A|in;C|in;"),
        ("SELECT count(*) FROM graph_neighbors('edge', 'A', 'both')", "5;"),
        ("SELECT node FROM graph_neighbors('edge', 'A', 'out', 'LIKES')", "B;"),
        ("SELECT node FROM graph_neighbors('edge', 'A', 'both', '[\"LIKES\",\"HATES\"]')", "B;"),
        ("SELECT node FROM graph_neighbors('edge', 'A', NULL, '[]')", ""),
        ("SELECT node FROM graph_neighbors('edge', 'A') WHERE filter = 'weight > 2'", "B;"),
        ("SELECT node FROM graph_neighbors('edge', 'nobody')", ""),
        // For each row of another table.
        (
            "SELECT s.column1, count(n.node) FROM (VALUES ('A'), ('B'), ('C')) s LEFT JOIN graph_neighbors('edge', s.column1) n GROUP BY 1",
            "A|3;B|0;C|1;",
        ),
        ("SELECT start, node FROM graph_neighbors('edge', 'C')", "C|A;"),
        (
            "SELECT node FROM graph_neighbors('edge', 'C') WHERE node IN (SELECT node FROM graph_walk('edge', 'C'))",
            "A;",
        ),
        (
            "SELECT start, node FROM graph_neighbors WHERE edges = 'edge' AND start IN ('A', 'C') AND types = 'KNOWS'",
            "A|A;A|B;C|A;",
        ),
    ] {
        assert_eq!(database.answer(text), answer, "{text}");
    }
}

#[test]
fn a_node_loses_its_type() {
    let mut database = Database::new();
    database.must(
        "CREATE TABLE plain(source, target); CREATE INDEX plain_source ON plain(source);
        INSERT INTO plain VALUES (1, '1'), ('1', 2.5), (2.5, x'00ff'), (x'00ff', 3), (3, NULL), (NULL, 4), (3, 5.0), (5, 'é\"')",
    );
    let walk = "SELECT typeof(node), node FROM graph_walk('plain', 1)";
    assert_eq!(database.answer(walk), "integer|1;text|1;real|2.5;blob|00ffh;integer|3;real|5.0;text|é\";");
    let path = "SELECT path FROM graph_walk('plain', 3) WHERE depth = 2";
    assert_eq!(database.answer(path), "[3,5,\"é\\\"\"];");
    // A column with a type has its nodes, however they are written.
    database.must(
        "CREATE TABLE texts(source TEXT, target TEXT); INSERT INTO texts VALUES ('1', '2'), ('2', '1')",
    );
    let walk = "SELECT typeof(node), node FROM graph_walk('texts', 1)";
    assert_eq!(database.answer(walk), "text|1;text|2;");
    assert_eq!(database.answer("SELECT count(*) FROM graph_path('texts', 1, 2)"), "2;");
    database.must(
        "CREATE TABLE numbers(source INTEGER, target INTEGER); INSERT INTO numbers VALUES (1, 2), (2, 1)",
    );
    let walk = "SELECT typeof(node), node FROM graph_walk('numbers', '1')";
    assert_eq!(database.answer(walk), "integer|1;integer|2;");
    assert_eq!(database.answer("SELECT count(*) FROM graph_path('numbers', '1', '2')"), "2;");
}

#[test]
fn a_changed_schema_is_not_noticed() {
    let mut database = Database::new();
    database.must("CREATE TABLE e(source, target); INSERT INTO e VALUES (1, 2), (2, 3)");
    let path = "SELECT max(cost) FROM graph_path('e', 1, 3)";
    assert_eq!(database.answer(path), "2.0;");
    database.must("ALTER TABLE e ADD COLUMN weight; UPDATE e SET weight = 10");
    assert_eq!(database.answer(path), "20.0;");
    database.must("ALTER TABLE e DROP COLUMN weight");
    assert_eq!(database.answer(path), "2.0;");
    database.must("ALTER TABLE e RENAME COLUMN target TO goal");
    assert_eq!(database.answer(path), "ERR graph_path: the table of edges e has no column target");
    database.must("DROP TABLE e");
    assert_eq!(database.answer(path), "ERR graph_path: no such table: e");
    database.must("CREATE VIEW e AS SELECT 1 AS source, 3 AS target, 7 AS weight");
    assert_eq!(database.answer(path), "7.0;");
}

#[test]
fn a_statement_that_writes_does_not_see_the_graph() {
    let mut database = users();
    database.must("CREATE TABLE reached AS SELECT node, depth FROM graph_walk('edge', 'A', 'out', 'KNOWS')");
    assert_eq!(database.answer("SELECT count(*), max(depth) FROM reached"), "7|2;");
    database.must(
        "DELETE FROM edge WHERE source IN (SELECT node FROM graph_walk('edge', 'B', 'out', 'KNOWS', 1))",
    );
    assert_eq!(nodes(&mut database, "SELECT DISTINCT source FROM edge"), "B");
    database.must("CREATE TRIGGER t AFTER INSERT ON edge BEGIN INSERT INTO reached SELECT node, -1 FROM graph_neighbors('edge', new.source); END");
    add(&mut database, "Z KNOWS Q");
    assert_eq!(database.answer("SELECT node FROM reached WHERE depth = -1"), "Q;");
}

#[test]
fn a_table_with_a_strange_name_is_not_found() {
    let mut database = Database::new();
    database.must(
        "CREATE TABLE \"a \"\"b\"\"); --\"(source, target); INSERT INTO \"a \"\"b\"\"); --\" VALUES (1, 2)",
    );
    let parameters = [placed(SqlValue::Text(b"a \"b\"); --")), placed(SqlValue::Integer(1))];
    assert_eq!(
        database.query_with("SELECT node FROM graph_walk(?, ?)", &parameters).expect("a walk"),
        "1;2;"
    );
    database.must(
        "CREATE TEMP TABLE t(source, target); INSERT INTO t VALUES (1, 2); SELECT * FROM graph_walk('t', 1)",
    );
}

#[test]
fn a_function_of_a_library_is_unknown_to_a_graph() {
    let mut database = graph("A T B, B T C");
    database.host.library = Some(b"twice");
    let path = "SELECT max(cost) FROM graph_path('edge', 'A', 'C') WHERE cost_by = 'twice(5)'";
    assert_eq!(database.answer(path), "20.0;");
    let path = "SELECT max(cost) FROM graph_path('edge', 'A', 'C') WHERE cost_by = 'thrice(5)'";
    assert_eq!(database.answer(path), "ERR graph_path: no such function: thrice");
}

#[test]
fn a_path_without_an_index_is_searched_from_its_end() {
    let mut database = Database::new();
    database.must("CREATE TABLE e(source INTEGER, target INTEGER); CREATE INDEX s ON e(source)");
    database.must(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO e SELECT i, i + 1 FROM n",
    );
    let path = "SELECT max(step) FROM graph_path('e', 1, 1500)";
    database.host.reset_counts();
    assert_eq!(database.answer(path), "1499;");
    // Two thousand rows for each of some hundred nodes would be hundreds of ticks.
    assert!(database.host.ticks < 120, "{}", database.host.ticks);
}
