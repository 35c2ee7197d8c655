//! The cost of a command without the network: sessions on a store in files, a pipeline at a time.
//!
//! `cargo bench -p edgecask --bench session [-- KEYS [COMMAND PIPELINE [BATCHES] | triggers | program]]` prints nanoseconds a command, the
//! best of several runs: for strings with keys drawn from ten times as many as there are (so that one GET in ten finds its key),
//! for the other types with the requests of redis-benchmark, in one key of each. EVALSHA and FCALL call a script and a function of
//! Lua that are one GET. Then what triggers, reactions and nested calls cost.
//!
//! Instructions do not depend on the machine's load: `valgrind --tool=callgrind --toggle-collect='*Bench*process*'` in front of the
//! program counts those of the requests alone, in 15 runs of BATCHES pipelines.

use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use edgecask::clock::now_ms;
use edgecask::embedded::{Embedded, EmbeddedOptions};
use edgecask::interpreters;
use edgecask::process_info::ProcessInfo;
use edgecask::store::{self, Store};
use edgecask_core::engine::{Changed, Txn};
use edgecask_core::executor::{Caller, Executor};
use edgecask_core::resp::{Reply, write_request};
use edgecask_core::server::hub::Inbox;
use edgecask_core::server::reaction::Reaction;
use edgecask_core::server::{Client, Server, Settings, Shared};
use edgecask_core::session::{Peer, Progress, Session};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The requests of redis-benchmark, and a transaction; `#` stands for a random number.
const REQUESTS: &[(&str, &str)] = &[
    ("GET", "GET key:#"),
    ("SET", "SET key:# xxx"),
    ("INCR", "INCR counter:#"),
    ("HSET", "HSET myhash element:# xxx"),
    ("LPUSH", "LPUSH mylist xxx"),
    ("SADD", "SADD myset element:#"),
    ("ZADD", "ZADD myzset 0 element:#"),
    ("LRANGE", "LRANGE mylist 0 99"),
    (
        "MSET",
        "MSET key:# xxx key:# xxx key:# xxx key:# xxx key:# xxx key:# xxx key:# xxx key:# xxx key:# xxx key:# xxx",
    ),
    ("LPOP", "LPOP mylist"),
    ("XADD", "XADD mystream * myfield mydata"),
    ("MULTI", "MULTI ; SET key:# xxx ; HSET myhash element:# xxx ; INCR counter:# ; EXEC"),
    // The script that `Bench::add_scripts` loads.
    ("EVALSHA", "EVALSHA 620cd258c2c9c88c9d10db67812ccf663d96bdc6 1 key:#"),
    ("FCALL", "FCALL get 1 key:#"),
];

const RUNS: u32 = 15;
const BATCHES: u32 = 20_000;

struct Bench {
    server: Server<Store>,
    session: Session,
    random: u64,
    range: u64,
}

impl Bench {
    /// A number below the range; splitmix64.
    fn number(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % self.range
    }

    /// Runs one request, which must go well.
    fn ask(&mut self, request: &[&str]) {
        write_request(request, self.session.input());
        self.process();
        let reply = self.session.reply().take().expect("memory");
        assert!(!reply.starts_with(b"-"), "{request:?}: {}", String::from_utf8_lossy(&reply));
    }

    /// Loads what EVALSHA and FCALL call.
    fn add_scripts(&mut self) {
        interpreters::add(&self.server.shared, true);
        self.ask(&["SCRIPT", "LOAD", "return redis.call('GET',KEYS[1])"]);
        let library = "#!lua name=strings\nredis.register_function('get', function(keys) return redis.call('GET', keys[1]) end)";
        self.ask(&["FUNCTION", "LOAD", library]);
    }

    /// Runs what is in the input. Not inlined, so that a profiler finds it by its name.
    #[inline(never)]
    fn process(&mut self) -> Progress {
        self.session.process(&self.server, 1_700_000_000_000)
    }

    /// The time that running so many pipelines of this length takes; making them is not counted.
    fn run(&mut self, command: &str, pipeline: u32, batches: u32) -> Duration {
        let mut took = Duration::ZERO;
        let found = REQUESTS.iter().find(|(name, _)| *name == command);
        let parts = found.map_or(command, |(_, request)| request).split(" ; ");
        let parts: Vec<Vec<&str>> = parts.map(|part| part.split(' ').collect()).collect();
        let mut requests = Vec::new();
        for _ in 0..batches {
            requests.clear();
            for words in (0..pipeline).flat_map(|_| &parts) {
                let mut number = || format!("{:012}", self.number());
                let args: Vec<String> = words
                    .iter()
                    .map(
                        |word| {
                            if word.contains('#') { word.replace('#', &number()) } else { word.to_string() }
                        },
                    )
                    .collect();
                write_request(&args, &mut requests);
            }
            self.session.input().extend_from_slice(&requests);
            let begin = Instant::now();
            let progress = self.process();
            took += begin.elapsed();
            assert!(!progress.is_paused && self.session.input().is_empty(), "{command}");
            self.session.reply().clear();
        }
        took
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let keys = arguments.first().map_or(4_000_000, |keys| keys.parse().expect("a number of keys"));
    let folder = tempfile::tempdir().expect("a directory");
    let opened = store::open(folder.path(), &edgecask_core::bitcask::Options::default()).expect("opens");
    let shared = Shared::new(
        Settings::default(),
        Box::new(ProcessInfo::new(0, None, 0, Arc::default(), Arc::default())),
        now_ms(),
    );
    let session = Session::new(&shared, Peer::default(), 1, now_ms());
    let server = Server { engine: opened.store, shared };
    let mut bench = Bench { server, session, random: 1, range: keys * 10 };
    bench.run("SET", 16, (keys / 16) as u32);
    bench.add_scripts();
    let mut cases: Vec<(&str, u32)> =
        REQUESTS.iter().flat_map(|(name, _)| [(*name, 16), (*name, 1)]).collect();
    if let [_, command, pipeline, ..] = arguments.as_slice() {
        cases = vec![(command.as_str(), pipeline.parse().expect("a length"))];
    }
    if let [_, only] = arguments.as_slice() {
        assert!(["triggers", "program"].contains(&only.as_str()), "{only}");
        return if only == "triggers" { triggers(&mut bench) } else { program() };
    }
    let batches = arguments.get(3).map_or(BATCHES, |batches| batches.parse().expect("a number"));
    for (command, pipeline) in cases.iter().copied() {
        let best = (0..RUNS).map(|_| bench.run(command, pipeline, batches)).min().expect("some runs");
        let each_ns = best.as_nanos() as f64 / f64::from(batches * pipeline);
        println!("{command:7} -P {pipeline:2}: {each_ns:7.1} ns");
    }
    if cases.len() > 1 {
        triggers(&mut bench);
        reactions(&mut bench);
        nested_calls(&bench.server);
        program();
    }
}

/// What a GET and a SET cost a program with a store inside: written and polled for, one at a time.
fn program() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &EmbeddedOptions::default()).expect("opens");
    let (mut connection, mut replies) = (store.connect(), Vec::new());
    for (name, words) in [("SET", &["SET", "key:000001", "xxx"][..]), ("GET", &["GET", "key:000001"])] {
        let mut request = Vec::new();
        write_request(words, &mut request);
        let mut run = || {
            let begin = Instant::now();
            for _ in 0..BATCHES {
                replies.clear();
                connection.write(&request);
                let polled = connection.poll_replies(&mut Context::from_waker(Waker::noop()), &mut replies);
                assert!(polled.is_ready() && replies.first() != Some(&b'-'), "{name}");
            }
            begin.elapsed()
        };
        let best = (0..RUNS).map(|_| run()).min().expect("some runs");
        println!("{name} inside a program: {:7.1} ns", best.as_nanos() as f64 / f64::from(BATCHES));
    }
}

/// What a SET costs with triggers for other keys, whose prefixes begin as its key does, and with one that runs a function of Lua
/// which does nothing.
fn triggers(bench: &mut Bench) {
    let library = "#!lua name=bench\nredis.register_function('nothing', function() end)";
    bench.ask(&["FUNCTION", "LOAD", library]);
    let create = |bench: &mut Bench, name: &str, prefix: &str| {
        bench.ask(&["TRIGGER", "CREATE", name, "ON", "all", "PREFIX", prefix, "CALL", "nothing"]);
    };
    for number in 0..=10 {
        if [0, 1, 10].contains(&number) {
            set(bench, &format!("triggers of others {number:2}"));
        }
        create(bench, &number.to_string(), &format!("kez:{number}"));
    }
    create(bench, "runs", "key:");
    set(bench, "and one that runs    ");
    for name in (0..=10).map(|number| number.to_string()).chain(["runs".to_owned()]) {
        bench.ask(&["TRIGGER", "DROP", &name]);
    }
}

fn set(bench: &mut Bench, name: &str) {
    let best = (0..RUNS).map(|_| bench.run("SET", 16, BATCHES / 4)).min().expect("some runs");
    println!("SET    -P 16, {name}: {:7.1} ns", best.as_nanos() as f64 / f64::from(BATCHES / 4 * 16));
}

/// Looks at every change and does nothing.
struct Idle;

impl Reaction for Idle {
    fn concerns(&self, changed: &Changed) -> bool {
        !changed.key.is_empty()
    }

    fn react(&self, changes: &[Changed], _txn: &mut Txn<'_>) -> edgecask_core::engine::Result<()> {
        black_box(changes);
        Ok(())
    }
}

/// What a SET costs with nobody, one and ten who look at every change before it is committed.
fn reactions(bench: &mut Bench) {
    for (name, count) in [("none", 0), ("one", 1), ("ten", 9)] {
        for _ in 0..count {
            let shared = &bench.server.shared;
            shared.reactions.add(&shared.hub.interest, Arc::new(Idle));
        }
        set(bench, &format!("reactions {name:4}"));
    }
}

/// What a call of GET costs from inside a running transaction, its reply as a value.
fn nested_calls(server: &Server<Store>) {
    const CALLS: u32 = 1000;
    let inbox = Arc::new(Inbox::new(u64::MAX, Arc::default()));
    let mut client = Client::new(u64::MAX, Arc::default(), inbox, server.shared.default_access(), 1);
    let (mut reply, mut executor) = (Reply::default(), Executor::default());
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let mut caller = Caller { client: &mut client, reply: &mut reply };
        let ran = executor.run_body(server, &mut caller, &[b"key:nested"], 1_700_000_000_000, |ctx| {
            ctx.call(&[b"SET", b"key:nested", b"xxx"])?;
            let begin = Instant::now();
            for _ in 0..CALLS {
                black_box(ctx.call(&[b"GET", b"key:nested"])?);
            }
            best = best.min(begin.elapsed());
            Ok(())
        });
        ran.expect("a healthy store");
    }
    println!("nested GET: {:7.1} ns", best.as_nanos() as f64 / f64::from(CALLS));
}
