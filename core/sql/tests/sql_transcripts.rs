//! The transcripts of SQL in process: sessions, commands and SQLite on the reference engine. With `EDGECASK_UPDATE=1` that of graphs gets the
//! replies that came, to be read before they are kept.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use edgecask_core::engine::memory::MemoryEngine;
use edgecask_core::resp::{Decoder, write_request};
use edgecask_core::server::{NoFacts, Server, Settings, Shared};
use edgecask_core::session::{Peer, Session};
use edgecask_core::transcript::{self, Step};
use edgecask_sql::Sqlite;

const START_MS: u64 = 1_700_000_000_000;

/// A request that is to run again is over after fewer turns.
const TURNS_MAX: u32 = 10_000;

/// RESP3 has types, and nodes that are integers are such.
const IN_RESP3: &str = r#"> GRAPH.ADDEDGE numbers 1 NEXT 2 WEIGHT 0.5
(integer) 1
> GRAPH.ADDEDGE numbers 2 NEXT 3
(integer) 1
> GRAPH.GETNODE numbers 1
1# "id" => (integer) 1
2# "label" => (nil)
3# "properties" => "{}"
> GRAPH.NEIGHBORS numbers 1
1) 1) (integer) 2
   2) "NEXT"
   3) (double) 0.5
   4) "out"
> GRAPH.PATH numbers 1 3
1) (double) 1.5
2) 1) 1) (integer) 1
      2) (nil)
      3) (double) 0
   2) 1) (integer) 2
      2) "NEXT"
      3) (double) 0.5
   3) 1) (integer) 3
      2) "NEXT"
      3) (double) 1.5
> GRAPH.GETEDGE numbers 1 NEXT 2
1# "source" => (integer) 1
2# "type" => "NEXT"
3# "target" => (integer) 2
4# "weight" => (double) 0.5
5# "properties" => "{}"
> GRAPH.GETEDGE numbers 2 NEXT 1
(nil)
> GRAPH.PATH numbers 3 1
(nil)
> GRAPH.WALK numbers 1 UNIQUE none MAXDEPTH 3
1) 1) (integer) 1
   2) (integer) 0
   3) (double) 0
2) 1) (integer) 2
   2) (integer) 1
   3) (double) 0.5
3) 1) (integer) 3
   2) (integer) 2
   3) (double) 1.5
"#;

/// A transaction that lasts for several requests; it would end where a connection sleeps, as those of the transcripts do at the edge.
const IN_A_TRANSACTION: &str = r#"> GRAPH.ADDNODE social gina
(integer) 1
> SQL.BEGIN social
OK
> GRAPH.ADDEDGE social hans KNOWS ida
(integer) 1
> GRAPH.PATH social hans ida
1) "1"
2) 1) 1) "hans"
      2) (nil)
      3) "0"
   2) 1) "ida"
      2) "KNOWS"
      3) "1"
> GRAPH.ADDEDGE social ida KNOWS jan PROPERTIES x
(error) ERR malformed JSON
> GRAPH.GETEDGE social ida KNOWS jan
(nil)
> GRAPH.GETNODE social jan
(nil)
> GRAPH.WALK social hans UNIQUE none
(error) ERR graph_walk: a walk with the uniqueness 'none' needs a max_depth
> GRAPH.NEIGHBORS social ida DIRECTION in
1) 1) "hans"
   2) "KNOWS"
   3) "1"
   4) "in"
> SQL.ROLLBACK social
OK
> GRAPH.GETNODE social hans
(nil)
> GRAPH.ADDEDGE social hans KNOWS ida
(integer) 1
"#;

/// Runs a transcript; its text with the replies that came, and those that differ.
fn run(text: &str, greeting: &[&str]) -> (String, Vec<String>) {
    let settings = Settings::new(&[]).expect("settings");
    let shared = Shared::new(settings, Box::new(NoFacts), START_MS);
    shared.sql.set_engine(Arc::new(Sqlite::default()));
    let server = Server { engine: MemoryEngine::new(16), shared };
    let mut session = Session::new(&server.shared, Peer::default(), 1, START_MS);
    if !greeting.is_empty() {
        write_request(greeting, session.input());
        session.process(&server, START_MS);
        session.reply().take().expect("memory is read");
    }
    let (mut out, mut differences) = (String::new(), Vec::new());
    let lines: Vec<&str> = text.lines().collect();
    let mut written = 0;
    for step in transcript::parse(text).expect("a transcript") {
        let Step::Request { line, connection: 1, unordered, args, expected } = step else {
            panic!("one connection and no waiting");
        };
        write_request(&args, session.input());
        let mut progress = session.process(&server, START_MS);
        for _ in 0..TURNS_MAX {
            if !progress.is_suspended && !progress.is_paused && progress.wake_at_ms.is_none() {
                break;
            }
            progress = session.process_at_length(&server, START_MS);
        }
        let bytes = session.reply().take().expect("memory is read");
        let (value, used) =
            Decoder::new().decode(&bytes).expect("a well-formed reply").expect("a whole reply");
        assert_eq!(used, bytes.len(), "one reply to one request");
        let shown = transcript::show(&value, unordered);
        if shown != expected {
            differences.push(format!("line {line}: {shown}\ninstead of\n{expected}"));
        }
        // Comments in front of a request, and the request.
        let begin = lines.iter().take(line).skip(written).filter(|line| line.starts_with('#'));
        begin.for_each(|line| out.push_str(&format!("{line}\n")));
        written = line;
        writeln!(out, "{}\n{shown}", lines.get(line - 1).expect("a line")).expect("memory is written");
    }
    (out, differences)
}

fn check(name: &str, may_update: bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts").join(name);
    let text = std::fs::read_to_string(&path).expect("a transcript");
    let (written, differences) = run(&text, &[]);
    if may_update && std::env::var_os("EDGECASK_UPDATE").is_some() {
        return std::fs::write(&path, written).expect("a transcript");
    }
    assert!(differences.is_empty(), "{name}: {}", differences.join("\n"));
}

#[test]
fn commands_of_graphs_reply_otherwise() {
    check("graph.txt", true);
}

#[test]
fn commands_of_graphs_lose_types() {
    let (_, differences) = run(IN_RESP3, &["HELLO", "3"]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn an_edge_that_is_refused_stays_in_a_transaction() {
    let (_, differences) = run(IN_A_TRANSACTION, &[]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
