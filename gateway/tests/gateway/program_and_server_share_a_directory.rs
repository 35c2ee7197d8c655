//! A directory has one process that writes, a program or a server, or several that read; who has it is told.

use std::fs;
use std::path::Path;
use std::process::Command;

use edgecask::embedded::{Embedded, EmbeddedOptions};
use edgecask::limits::Deadlines;

use crate::program::Caller;
use crate::support::start_in;

fn options(read_only: bool) -> EmbeddedOptions {
    EmbeddedOptions { read_only, ..EmbeddedOptions::default() }
}

fn refusal(directory: &Path, read_only: bool) -> String {
    match Embedded::open(directory, &options(read_only)) {
        Ok(_) => panic!("it opens"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn program_and_server_share_a_directory() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &options(false)).expect("opens");
    let locked = format!("locked by pid {}", std::process::id());
    for read_only in [false, true] {
        let told = refusal(folder.path(), read_only);
        assert!(told.contains(&locked), "{told}");
    }
    let mut server = Command::new(env!("CARGO_BIN_EXE_edgecask"));
    let ended = server.args(["--port", "0", "--http-port", "0", "--dir"]).arg(folder.path()).output();
    let told = String::from_utf8(ended.expect("runs").stderr).expect("text");
    assert!(told.contains(&locked), "{told}");
    store.close().expect("closes");
    let running = start_in(folder.path(), "", Deadlines::default()).expect("the server starts");
    let told = refusal(folder.path(), false);
    assert!(told.contains(&locked), "{told}");
    running.gateway().stop.request(edgecask::stop::StopRequest { checkpoint: false });
    assert!(running.wait());
    Embedded::open(folder.path(), &options(false)).expect("opens again").close().expect("closes");
}

#[test]
fn missing_store_is_made_though_nobody_wants_that() {
    let folder = tempfile::tempdir().expect("a directory");
    let missing = folder.path().join("missing");
    let told = refusal(&missing, true);
    assert!(told.contains("there is no store in"), "{told}");
    let only_there = EmbeddedOptions { create: false, ..EmbeddedOptions::default() };
    assert!(Embedded::open(&missing, &only_there).is_err() && !missing.exists());
    let unknown = EmbeddedOptions { settings: vec![("no-such".into(), "1".into())], ..Default::default() };
    assert!(Embedded::open(&missing, &unknown).is_err() && !missing.exists());
    let told = refusal(folder.path(), true);
    assert!(told.contains("there is no store in"), "{told}");
    assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0);
}

/// All files of a directory with their contents, sorted by names.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).expect("lists") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => all.push((name, fs::read(&path).expect("reads"))),
        }
    }
    all.sort();
    all
}

#[test]
fn reader_changes_the_store() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &options(false)).expect("opens");
    let mut caller = Caller::of(&store);
    let long = "v".repeat(2_000_000);
    assert_eq!(caller.say("SET a 1"), "OK");
    assert_eq!(caller.say("SET gone 1 PX 1"), "OK");
    assert_eq!(caller.ask(&[b"SET", b"long", long.as_bytes()]), "OK");
    assert_eq!(caller.say("RPUSH l 1 2 3"), "3");
    assert_eq!(
        caller.ask(&[
            b"FUNCTION",
            b"LOAD",
            b"#!lua name=l\nredis.register_function('f', function() return 7 end)"
        ]),
        "l"
    );
    drop(caller);
    store.close().expect("closes");
    // What a killed process leaves behind the end of the log.
    let datafile = fs::read_dir(folder.path()).expect("lists").flatten().map(|entry| entry.path());
    let datafile = datafile.filter(|path| path.extension().is_some_and(|end| end == "data")).max();
    let datafile = datafile.expect("there is one");
    let mut bytes = fs::read(&datafile).expect("reads");
    bytes.extend_from_slice(&[0; 5000]);
    fs::write(&datafile, bytes).expect("writes");
    // Nothing on a backup was ever locked.
    fs::remove_file(folder.path().join("control")).ok();
    let before = contents(folder.path());
    {
        let readers = [true, true].map(|read_only| {
            Embedded::open(folder.path(), &options(read_only)).expect("readers bear each other")
        });
        let told = refusal(folder.path(), false);
        assert!(told.contains("opened it to read"), "{told}");
        for store in &readers {
            let mut caller = Caller::of(store);
            assert_eq!(caller.say("GET a"), "1");
            assert_eq!(caller.say("GET gone"), "nil");
            assert!(caller.ask(&[b"GET", b"long"]) == long);
            assert_eq!(caller.say("LRANGE l 0 -1"), "[1 2 3]");
            assert_eq!(caller.say("FCALL f 0"), "7");
            let refused = "-READONLY the store was opened to be read only";
            for line in [
                "SET a 2",
                "DEL a",
                "FLUSHALL",
                "SAVE",
                "BGREWRITEAOF",
                "ACL SETUSER other on",
                "BLPOP none 0",
            ] {
                assert_eq!(caller.say(line), refused, "{line}");
            }
            assert_eq!(caller.say("MULTI"), "OK");
            assert_eq!(caller.say("GET a"), "QUEUED");
            assert_eq!(caller.say("EXEC"), "[1]");
            let told = caller.ask(&[b"EVAL", b"return redis.call('SET', 'a', '3')", b"1", b"a"]);
            assert!(told.contains("READONLY"), "{told}");
            assert_eq!(caller.say("GET a"), "1");
            assert!(store.merge().is_err());
        }
    }
    assert!(contents(folder.path()) == before, "the directory has changed");
    let mut caller = Caller::of(&Embedded::open(folder.path(), &options(false)).expect("opens"));
    assert_eq!(caller.say("GET a"), "1");
}

#[test]
fn index_of_a_reader_never_answers_without_its_segments() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &options(false)).expect("opens");
    let mut caller = Caller::of(&store);
    assert_eq!(caller.say("FT.CREATE i SCHEMA t TEXT"), "OK");
    // More than are read again before a store is open.
    let documents = edgecask_core::limits::SEARCH_REBUILT_AT_ONCE + 100;
    for number in 0..documents {
        assert_eq!(caller.say(&format!("HSET {number} t w{}", number % 10)), "1");
    }
    drop(caller);
    store.close().expect("closes");
    for entry in fs::read_dir(folder.path()).expect("lists").flatten() {
        if entry.path().extension().is_some_and(|end| end == "derived") {
            fs::remove_file(entry.path()).expect("removes");
        }
    }
    fs::remove_file(folder.path().join("control")).ok();
    let before = contents(folder.path());
    {
        let reader = Embedded::open(folder.path(), &options(true)).expect("opens");
        let wanted = format!("[{}]", documents);
        Caller::of(&reader).say_until("FT.SEARCH i * LIMIT 0 0", &wanted);
    }
    assert!(contents(folder.path()) == before, "the directory has changed");
}
