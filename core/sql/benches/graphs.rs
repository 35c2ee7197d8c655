//! What questions to a graph cost on pages in memory: `cargo bench -p edgecask-sql --bench graphs`. 20,000 nodes, 100,000 edges with random
//! weights; each line is the best of some rounds, and the mean over many nodes. The text is the same each time, so it stays prepared.
#![allow(missing_docs)]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use edgecask_core::engine::EngineError;
use edgecask_core::script::{Answer, Tick, Writer};
use edgecask_core::sql::{
    Access, Parameter, Rows, SqlConnection, SqlEngine, SqlHost, SqlLimits, SqlText, SqlValue,
};
use edgecask_sql::Sqlite;

const PAGE_BYTES: usize = 2048;
const NODES: i64 = 20_000;
const EDGES: usize = 100_000;
const ROUNDS: usize = 5;

#[derive(Default)]
struct BenchHost {
    pages: Vec<Vec<u8>>,
}

impl SqlHost for BenchHost {
    fn read_page(&mut self, page: u32, offset: usize, out: &mut [u8]) -> Result<bool, EngineError> {
        let bytes = self.pages.get(page as usize).and_then(|page| page.get(offset..offset + out.len()));
        let Some(bytes) = bytes else { return Ok(false) };
        out.copy_from_slice(bytes);
        Ok(true)
    }

    fn write_page(&mut self, page: u32, bytes: &[u8]) -> Result<(), EngineError> {
        let page = page as usize;
        if self.pages.len() <= page {
            self.pages.resize(page + 1, Vec::new());
        }
        if let Some(place) = self.pages.get_mut(page) {
            place.clear();
            place.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn truncate(&mut self, pages: u32) -> Result<(), EngineError> {
        self.pages.truncate(pages as usize);
        Ok(())
    }

    fn page_count(&mut self) -> Result<u32, EngineError> {
        Ok(self.pages.len() as u32)
    }

    fn call(&mut self, _: &[&[u8]], reply: &mut Writer) -> Answer {
        reply.text(b"ERR there are no commands");
        Answer::Error
    }

    fn tick(&mut self) -> Tick {
        Tick::Continue
    }

    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        4
    }
}

/// The number of rows, and the last value of the last of them.
#[derive(Default)]
struct Counted {
    rows: u64,
    last: f64,
}

impl Rows for Counted {
    fn columns(&mut self, names: &[&[u8]]) {
        black_box(names);
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        self.rows += 1;
        match values.last() {
            Some(SqlValue::Real(value)) => self.last = *value,
            Some(SqlValue::Integer(value)) => self.last = *value as f64,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

struct Bench {
    connection: Box<dyn SqlConnection>,
    host: BenchHost,
}

impl Bench {
    fn run(&mut self, text: &str, values: &[i64]) -> Counted {
        let parameters: Vec<Parameter<'_>> =
            values.iter().map(|value| Parameter { name: None, value: SqlValue::Integer(*value) }).collect();
        let text = SqlText { text: text.as_bytes(), parameters: &parameters, access: Access::Any };
        let limits = SqlLimits { text_bytes: 1 << 20, value_bytes: 1 << 24 };
        let mut counted = Counted::default();
        if let Err(error) = self.connection.run(&mut self.host, &text, &limits, &mut counted) {
            panic!("{error}");
        }
        counted
    }

    /// A text with so many parameters, for each of so many first nodes.
    fn measure(&mut self, name: &str, text: &str, parameters: usize, runs: i64) {
        let mut best = f64::INFINITY;
        let (mut rows, mut last) = (0, 0.0);
        for _ in 0..ROUNDS {
            (rows, last) = (0, 0.0);
            let begin = Instant::now();
            for run in 0..runs {
                let values = [run * 7 % NODES, (run * 7919 + 500) % NODES];
                let counted = self.run(text, values.get(..parameters).unwrap_or_default());
                rows += counted.rows;
                last += counted.last;
            }
            best = best.min(begin.elapsed().as_secs_f64() / runs as f64);
        }
        let (rows, last) = (rows as f64 / runs as f64, last / runs as f64);
        println!("{name:56} {:12.1} us   {rows:8.1} rows, {last:10.2} at the end", best * 1e6);
    }
}

fn main() {
    let mut host = BenchHost::default();
    let connection = match Sqlite::default().open(&mut host, PAGE_BYTES) {
        Ok(connection) => connection,
        Err(error) => panic!("{error}"),
    };
    let mut bench = Bench { connection, host };
    bench.run(
        "CREATE TABLE graph_edge(source, type TEXT, target, weight REAL, properties TEXT, PRIMARY KEY(source, type, target)) WITHOUT ROWID;
        CREATE INDEX graph_edge_target ON graph_edge(target, type, source)",
        &[],
    );
    let mut state = 1_u64;
    let mut number = |bound: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64) % bound
    };
    bench.run("CREATE TABLE made(source, target, weight)", &[]);
    for _ in 0..EDGES {
        let values = [number(NODES), number(NODES), 1 + number(99)];
        bench.run("INSERT INTO made VALUES (?, ?, ?)", &values);
    }
    bench.run("INSERT OR IGNORE INTO graph_edge SELECT source, 'KNOWS', target, weight, NULL FROM made; DROP TABLE made", &[]);
    let bench = &mut bench;
    bench.measure("SELECT 1", "SELECT 1", 0, 10_000);
    bench.measure("neighbors", "SELECT count(*) FROM graph_neighbors('graph_edge', ?)", 1, 2_000);
    bench.measure(
        "friends of friends, by a join",
        "SELECT count(DISTINCT b.target) FROM graph_edge a JOIN graph_edge b ON b.source = a.target WHERE a.source = ?",
        1,
        2_000,
    );
    let friends = "SELECT count(*) FROM graph_walk('graph_edge', ?, 'out', NULL, 2, 2)";
    bench.measure("friends of friends", friends, 1, 2_000);
    let friends = "SELECT count(*) FROM graph_walk('graph_edge', ?, 'out', 'KNOWS', 2, 2)";
    bench.measure("friends of friends, one type", friends, 1, 2_000);
    for depth in [3, 4, 6] {
        let walk = format!("SELECT count(*) FROM graph_walk('graph_edge', ?, 'out', NULL, 0, {depth})");
        bench.measure(&format!("breadth first, depth {depth}"), &walk, 1, if depth == 3 { 500 } else { 20 });
    }
    let walk = "SELECT node, depth, route FROM graph_walk('graph_edge', ?, 'out', NULL, 0, 3)";
    bench.measure("breadth first, depth 3, with paths", walk, 1, 200);
    let path = "SELECT cost FROM graph_path('graph_edge', ?, ?)";
    bench.measure("cheapest path", path, 2, 100);
    let path = "SELECT cost FROM graph_path('graph_edge', ?, ?, 'both')";
    bench.measure("cheapest path in both directions", path, 2, 100);
    let path = "SELECT step FROM graph_path('graph_edge', ?, ?) WHERE cost_by = '1'";
    bench.measure("shortest path", path, 2, 100);
    bench.measure("components", "SELECT count(*) FROM graph_components('graph_edge')", 0, 2);
    bench.measure("rank of pages", "SELECT max(rank) FROM graph_pagerank('graph_edge')", 0, 2);
}
