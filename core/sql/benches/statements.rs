//! What statements cost on pages in memory: `cargo bench -p edgecask-sql`. Each line is the best of some rounds; the pages that a host
//! would log are counted beside it.

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
const ROWS: i64 = 20_000;
const ROUNDS: usize = 5;

#[derive(Default)]
struct BenchHost {
    pages: Vec<Vec<u8>>,
    reads: u64,
    writes: u64,
}

impl SqlHost for BenchHost {
    fn read_page(&mut self, page: u32, offset: usize, out: &mut [u8]) -> Result<bool, EngineError> {
        self.reads += 1;
        let bytes = self.pages.get(page as usize).and_then(|page| page.get(offset..offset + out.len()));
        let Some(bytes) = bytes else { return Ok(false) };
        out.copy_from_slice(bytes);
        Ok(true)
    }

    fn write_page(&mut self, page: u32, bytes: &[u8]) -> Result<(), EngineError> {
        self.writes += 1;
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

    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        black_box(arguments);
        reply.text(b"value-of-16-byte");
        Answer::Value
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

struct Ignored;

impl Rows for Ignored {
    fn columns(&mut self, names: &[&[u8]]) {
        black_box(names);
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        black_box(values);
        ControlFlow::Continue(())
    }
}

struct Bench {
    connection: Box<dyn SqlConnection>,
    host: BenchHost,
    /// Numbers that differ from call to call.
    state: u64,
}

impl Bench {
    fn run(&mut self, text: &str, values: &[SqlValue<'_>]) {
        let parameters: Vec<Parameter<'_>> =
            values.iter().map(|value| Parameter { name: None, value: *value }).collect();
        let text = SqlText { text: text.as_bytes(), parameters: &parameters, access: Access::Any };
        let limits = SqlLimits { text_bytes: 1 << 20, value_bytes: 1 << 24 };
        if let Err(error) = self.connection.run(&mut self.host, &text, &limits, &mut Ignored) {
            panic!("{error}");
        }
    }

    fn number(&mut self) -> i64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 20) as i64
    }

    fn measure(&mut self, name: &str, runs: u32, mut act: impl FnMut(&mut Bench)) {
        let mut best = f64::INFINITY;
        let (reads, writes) = (self.host.reads, self.host.writes);
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            for _ in 0..runs {
                act(self);
            }
            best = best.min(begin.elapsed().as_nanos() as f64 / f64::from(runs));
        }
        let all = f64::from(runs) * ROUNDS as f64;
        println!(
            "{name:44} {best:9.0} ns  {:5.2} pages written  {:5.2} read",
            (self.host.writes - writes) as f64 / all,
            (self.host.reads - reads) as f64 / all
        );
    }
}

fn main() {
    let engine = Sqlite::with_cache_kib(64 * 1024);
    let mut host = BenchHost::default();
    let connection = engine.open(&mut host, PAGE_BYTES).unwrap_or_else(|error| panic!("{error}"));
    let mut bench = Bench { connection, host, state: 1 };
    bench.run(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, age INT, city TEXT);
         CREATE UNIQUE INDEX t_name ON t(name); CREATE INDEX t_age ON t(age); CREATE INDEX t_city ON t(city, age);
         CREATE TABLE one(id INTEGER PRIMARY KEY, age INT); CREATE INDEX one_age ON one(age);
         CREATE TABLE plain(id INTEGER PRIMARY KEY, note TEXT, n INT)",
        &[],
    );
    const INSERT: &str = "INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?)";
    let insert = |bench: &mut Bench, id: i64| {
        let (name, city) = (format!("user name {id}"), format!("city {}", id % 997));
        let (name, city) = (SqlValue::Text(name.as_bytes()), SqlValue::Text(city.as_bytes()));
        bench.run(INSERT, &[SqlValue::Integer(id), name, SqlValue::Integer(id % 90), city]);
    };
    (1..=ROWS).for_each(|id| insert(&mut bench, id * 7919));
    for id in 1..=ROWS {
        bench.run("INSERT INTO plain VALUES (?, 'some note of a row', 0)", &[SqlValue::Integer(id)]);
    }
    bench.measure("SELECT 1", 200_000, |bench| bench.run("SELECT 1", &[]));
    bench.measure("SELECT by rowid", 200_000, |bench| {
        let id = bench.number() % ROWS + 1;
        bench.run("SELECT id, note, n FROM plain WHERE id = ?", &[SqlValue::Integer(id)]);
    });
    bench.measure("SELECT by rowid, text parsed", 20_000, |bench| {
        let id = bench.number() % ROWS + 1;
        bench.run(&format!("SELECT id, note, n FROM plain WHERE id = {id} -- {}", bench.state), &[]);
    });
    bench.measure("SELECT by a unique text index", 100_000, |bench| {
        let name = format!("user name {}", (bench.number() % ROWS + 1) * 7919);
        bench.run("SELECT * FROM t WHERE name = ?", &[SqlValue::Text(name.as_bytes())]);
    });
    bench.measure("range of 100", 20_000, |bench| {
        let id = SqlValue::Integer(bench.number() % ROWS);
        bench.run("SELECT id, note, n FROM plain WHERE id > ? ORDER BY id LIMIT 100", &[id]);
    });
    bench.measure("UPDATE without index", 50_000, |bench| {
        let id = SqlValue::Integer(bench.number() % ROWS + 1);
        bench.run("UPDATE plain SET n = n + 1 WHERE id = ?", &[id]);
    });
    let mut next = 0;
    bench.measure("INSERT ascending, 1 index", 20_000, |bench| {
        next += 1;
        bench.run("INSERT INTO one VALUES (?, ?)", &[SqlValue::Integer(next), SqlValue::Integer(next % 90)]);
    });
    bench.measure("INSERT random, 3 indexes", 20_000, |bench| {
        let id = bench.number();
        insert(bench, id);
    });
    bench
        .measure("SELECT redis('GET', 'key')", 100_000, |bench| bench.run("SELECT redis('GET', 'key')", &[]));
    bench.measure("BEGIN; SELECT 1; COMMIT", 100_000, |bench| bench.run("BEGIN; SELECT 1; COMMIT", &[]));
    let connection = bench.connection.memory_bytes();
    println!(
        "pages {}, connection {} KiB, heap {} KiB",
        bench.host.pages.len(),
        connection >> 10,
        engine.heap_bytes() >> 10
    );
}
