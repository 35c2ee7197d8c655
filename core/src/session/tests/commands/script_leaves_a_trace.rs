//! Scripts are one with their transaction: runs that are thrown away, that fail or that are undone leave nothing that they should
//! not.

use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::Ordering;

use crate::bitcask::{Bitcask, Options};
use crate::command::script::libraries;
#[cfg(not(target_arch = "wasm32"))]
use crate::engine::{Engine, Scope};
use crate::resp::write_request;
use crate::script::lines::Lines;
use crate::server::scripts::ScriptEngine;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::Storage;
use crate::storage::memory::MemoryStorage;

const NOW_MS: u64 = 1_700_000_000_000;

/// A server whose `lua` is the interpreter for tests, and whose `wasm` is, too, but undoes what fails.
fn server(storage: &Arc<dyn Storage>) -> Server<Bitcask> {
    let engine = Bitcask::open(storage.clone(), &Options::default()).expect("open").store;
    let shared = Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS);
    shared.scripts.add_engine(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lines::default()))));
    shared.scripts.add_engine(ScriptEngine::new("wasm", true, Box::new(|| Box::new(Lines::default()))));
    let server = Server { engine, shared };
    assert_eq!(libraries::restore(&server, NOW_MS), Ok(Vec::new()));
    server
}

fn memory() -> Arc<dyn Storage> {
    Arc::new(MemoryStorage::new())
}

struct Client<'s> {
    server: &'s Server<Bitcask>,
    session: Session,
}

impl<'s> Client<'s> {
    fn of(server: &'s Server<Bitcask>) -> Client<'s> {
        Client { server, session: Session::new(&server.shared, Peer::default(), 1, NOW_MS) }
    }

    fn call(&mut self, args: &[&str]) -> String {
        let args: Vec<&[u8]> = args.iter().map(|argument| argument.as_bytes()).collect();
        write_request(&args, self.session.input());
        self.session.process(self.server, NOW_MS);
        let reply = self.session.reply().take().expect("memory is read");
        String::from_utf8(reply).expect("text").replace("\r\n", " ").trim_end().to_owned()
    }
}

#[test]
fn run_without_memory_keeps_what_it_wrote() {
    let server = server(&memory());
    let mut client = Client::of(&server);
    let said = client.call(&["EVAL", "SET K1 x\nPUBLISH news x\ndevour", "1", "half"]);
    assert!(said.starts_with("-ERR Error running script "), "{said}");
    assert!(said.ends_with(", not enough memory (it may have 268435456 bytes here)"), "{said}");
    assert_eq!(client.call(&["EXISTS", "half"]), ":0");
}

#[cfg(not(target_arch = "wasm32"))]
#[test]
fn abandoned_run_is_seen() {
    let server = server(&memory());
    let mut listener = Client::of(&server);
    listener.call(&["SUBSCRIBE", "news"]);
    let mut client = Client::of(&server);
    let text = "INCR K1\nPUBLISH news A1\nINCR not-declared\nINCR nor-this\nGET K1";
    let before = server.shared.reruns.load(Ordering::Relaxed);
    // Another transaction has the lock of one of its keys when it gets there.
    let locked = server.engine.begin(Scope::Keys(&[b"nor-this"])).expect("it is free");
    let reply = std::thread::scope(|scope| {
        let run = scope.spawn(|| client.call(&["EVAL", text, "1", "declared", "hello"]));
        while server.shared.reruns.load(Ordering::Relaxed) == before {
            std::thread::yield_now();
        }
        drop(locked);
        run.join().expect("no panic")
    });
    assert_eq!(reply, "$1 1");
    for key in ["declared", "not-declared", "nor-this"] {
        assert_eq!(client.call(&["GET", key]), "$1 1", "{key}: only the last run has happened");
    }
    listener.session.process(&server, NOW_MS);
    let told = String::from_utf8(listener.session.reply().take().expect("memory")).expect("text");
    assert_eq!(told.matches("hello").count(), 1, "{told}");
    assert!(client.call(&["INFO", "commandstats"]).contains("cmdstat_incr:calls=3,"));
}

#[test]
fn script_swaps_only_the_keys_that_it_has_declared() {
    let server = server(&memory());
    let mut client = Client::of(&server);
    let names: Vec<String> = (0..50).map(|number| format!("key:{number}")).collect();
    for name in &names {
        assert_eq!(client.call(&["SET", name, "of 0"]), "+OK");
    }
    for keys in [["1", "key:1"], ["0", "no key"]] {
        assert_eq!(client.call(&["EVAL", "SWAPDB 0 1", keys[0], keys[1]]), "+OK");
        let found = names.iter().filter(|name| client.call(&["EXISTS", name]) == ":1").count();
        assert_eq!(found, if keys[0] == "1" { 0 } else { names.len() }, "all of them or none");
    }
    assert_eq!(client.call(&["EVAL", "DBSIZE", "1", "key:1"]), ":50", "not those of one shard");
    assert_eq!(client.call(&["EVAL", "SET K1 again\nFLUSHDB\nDBSIZE", "1", "key:1"]), ":0");
    assert_eq!(client.call(&["DBSIZE"]), ":0");
}

/// Threads whose scripts touch keys that they do not declare, in opposite orders, among them one that reads both keys at once.
#[cfg(not(target_arch = "wasm32"))]
#[test]
fn undeclared_keys_under_contention_are_half_done() {
    const RUNS: usize = 300;
    let server = server(&memory());
    std::thread::scope(|scope| {
        for (first, second) in [("a", "b"), ("b", "a"), ("a", "b")] {
            let server = &server;
            scope.spawn(move || {
                let mut client = Client::of(server);
                for _ in 0..RUNS {
                    let text = format!("INCR {first}\nINCR {second}");
                    assert!(client.call(&["EVAL", &text, "0"]).starts_with(':'));
                }
            });
        }
        let server = &server;
        scope.spawn(move || {
            let mut client = Client::of(server);
            for _ in 0..RUNS {
                let pair = client.call(&["MGET", "a", "b"]);
                let words: Vec<&str> = pair.split(' ').collect();
                assert!(
                    words.len() < 5 || words[2] == words[4],
                    "{pair}: one of the two has happened without the other"
                );
            }
        });
    });
    let all = (3 * RUNS).to_string();
    let mut client = Client::of(&server);
    assert_eq!(client.call(&["MGET", "a", "b"]), format!("*2 ${0} {all} ${0} {all}", all.len()));
}

#[test]
fn failed_script_loses_what_it_wrote_before() {
    let server = server(&memory());
    let mut client = Client::of(&server);
    let error = client.call(&["EVAL", "SET K1 kept\nfail ERR no more\nSET K1 lost", "1", "k"]);
    assert!(error.starts_with("-ERR no more"), "{error}");
    assert_eq!(client.call(&["GET", "k"]), "$4 kept");
    let error = client.call(&["EVAL", "SET K1 kept-again\nLPUSH K1 x", "1", "k"]);
    assert!(error.starts_with("-WRONGTYPE"), "{error}");
    assert_eq!(client.call(&["GET", "k"]), "$10 kept-again");
    let statistics = client.call(&["INFO", "everything"]);
    for line in ["cmdstat_lpush:calls=1,", "errorstat_WRONGTYPE:count=1", "errorstat_ERR:count=1"] {
        assert!(statistics.contains(line), "{line} is not in {statistics}");
    }
}

#[test]
fn failed_function_of_a_language_that_undoes_keeps_something() {
    let server = server(&memory());
    let mut client = Client::of(&server);
    let library = "#!wasm name=undone\nfunction half\nSET K1 half\nPUBLISH news half\ntrap unreachable\n";
    assert_eq!(client.call(&["FUNCTION", "LOAD", library]), "$6 undone");
    let mut listener = Client::of(&server);
    listener.call(&["SUBSCRIBE", "news"]);
    assert!(
        client.call(&["FCALL", "half", "1", "k"]).starts_with("-ERR Error running script half, unreachable")
    );
    assert_eq!(client.call(&["GET", "k"]), "$-1");
    for request in
        [&["MULTI"][..], &["SET", "k", "whole"], &["FCALL", "half", "1", "k"], &["APPEND", "k", "!"]]
    {
        client.call(request);
    }
    assert!(client.call(&["EXEC"]).ends_with(":6"), "what stands beside it happens");
    assert_eq!(client.call(&["GET", "k"]), "$6 whole!");
    listener.session.process(&server, NOW_MS);
    assert!(listener.session.reply().is_empty(), "nothing was published");
}

#[test]
fn script_changes_the_database_of_its_connection() {
    let server = server(&memory());
    let mut client = Client::of(&server);
    client.call(&["EVAL", "SELECT 3\nSET K1 there", "1", "k"]);
    assert_eq!(client.call(&["GET", "k"]), "$-1");
    client.call(&["SELECT", "3"]);
    assert_eq!(client.call(&["GET", "k"]), "$5 there");
}

#[test]
fn functions_are_lost_at_a_restart() {
    let storage = memory();
    let library = "#!lua name=kept\nfunction first\nINCR K1\nfunction second\nGET K1\n";
    {
        let server = server(&storage);
        let mut client = Client::of(&server);
        assert_eq!(client.call(&["FUNCTION", "LOAD", library]), "$4 kept");
        assert_eq!(client.call(&["FCALL", "first", "1", "k"]), ":1");
        // What a transaction has loaded it may call at once; what is discarded is not there.
        client.call(&["MULTI"]);
        client.call(&["FUNCTION", "LOAD", "#!lua name=other\nfunction third\nINCR K1\n"]);
        client.call(&["FCALL", "third", "1", "k"]);
        assert_eq!(client.call(&["EXEC"]), "*2 $5 other :2");
    }
    let server = server(&storage);
    let mut client = Client::of(&server);
    assert_eq!(client.call(&["FCALL", "third", "1", "k"]), ":3");
    assert_eq!(client.call(&["FUNCTION", "DELETE", "other"]), "+OK");
    assert_eq!(client.call(&["FCALL", "third", "1", "k"]), "-ERR Function not found");
    let payload = {
        let args: [&[u8]; 2] = [b"FUNCTION", b"DUMP"];
        write_request(&args, client.session.input());
        client.session.process(&server, NOW_MS);
        client.session.reply().take().expect("memory")
    };
    let begin = payload.iter().position(|byte| *byte == b'\n').expect("a bulk") + 1;
    let payload = &payload[begin..payload.len() - 2];
    assert_eq!(client.call(&["FUNCTION", "FLUSH"]), "+OK");
    assert_eq!(client.call(&["FCALL", "first", "1", "k"]), "-ERR Function not found");
    let args: [&[u8]; 3] = [b"FUNCTION", b"RESTORE", payload];
    write_request(&args, client.session.input());
    client.session.process(&server, NOW_MS);
    assert_eq!(client.session.reply().take().expect("memory"), b"+OK\r\n");
    assert_eq!(client.call(&["FCALL", "first", "1", "k"]), ":4");
}

#[test]
fn library_that_this_home_cannot_load_goes_from_the_store() {
    let storage = memory();
    {
        let server = server(&storage);
        let library = "#!wasm name=foreign\nfunction third\nINCR K1\n";
        assert_eq!(Client::of(&server).call(&["FUNCTION", "LOAD", library]), "$7 foreign");
    }
    {
        let engine = Bitcask::open(storage.clone(), &Options::default()).expect("open").store;
        let server = Server { engine, shared: Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS) };
        let unusable = libraries::restore(&server, NOW_MS).expect("a healthy store");
        assert_eq!(unusable.len(), 1);
        assert_eq!(
            (unusable[0].name.as_slice(), unusable[0].reason.as_str()),
            (&b"foreign"[..], "ERR Engine 'wasm' not found")
        );
    }
    let server = server(&storage);
    assert_eq!(Client::of(&server).call(&["FCALL", "third", "1", "k"]), ":1");
}

#[test]
fn made_up_error_codes_fill_the_memory() {
    let server = server(&memory());
    let mut client = Client::of(&server);
    for number in 0..1000 {
        client.call(&["EVAL", &format!("fail CODE{number} text"), "0"]);
    }
    let shown = client.call(&["INFO", "errorstats"]);
    assert!(shown.matches("errorstat_").count() <= 128, "{shown}");
    assert!(client.call(&["INFO", "stats"]).contains("total_error_replies:1000"));
}
