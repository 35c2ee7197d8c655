//! A store inside a program: what was acknowledged is there at the next start, however the program ended.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use edgecask::embedded::{Embedded, EmbeddedError, EmbeddedOptions};
use edgecask::sync::Appendfsync;

use crate::program::Caller;

/// Has a process of this very test write to a directory until it is killed.
const CHILD: &str = "EDGECASK_TEST_EMBEDDED_DIRECTORY";

fn open(directory: &Path, appendfsync: Appendfsync) -> Embedded {
    let options = EmbeddedOptions { appendfsync, ..EmbeddedOptions::default() };
    Embedded::open(directory, &options).expect("the store opens")
}

#[test]
fn values_are_gone_after_a_close() {
    let folder = tempfile::tempdir().expect("a directory");
    let long = "v".repeat(3_000_000);
    for (round, appendfsync) in
        [Appendfsync::Always, Appendfsync::Everysec, Appendfsync::No].into_iter().enumerate()
    {
        let store = open(&folder.path().join("made/as/well"), appendfsync);
        let mut caller = Caller::of(&store);
        assert_eq!(caller.say("INCR rounds"), (round + 1).to_string());
        if round == 0 {
            assert_eq!(caller.ask(&[b"SET", b"long", long.as_bytes()]), "OK");
            assert_eq!(caller.say("HSET h a 1 b 2"), "2");
            assert_eq!(caller.say("ACL SETUSER default on >secret -@all"), "OK");
        }
        assert!(caller.ask(&[b"GET", b"long"]) == long, "of a blob in pieces");
        assert_eq!(caller.say("HGET h b"), "2");
        store.sync().expect("syncs");
        store.merge().expect("merges");
        match round {
            // The last of all closes it.
            0 => drop((store.clone(), store, caller)),
            1 => {
                assert!(matches!(store.clone().close(), Err(EmbeddedError::InUse)));
                drop(caller);
                store.close().expect("all is on the disk");
            }
            _ => {
                assert!(matches!(store.close(), Err(EmbeddedError::InUse)));
                assert_eq!(caller.say("GET rounds"), "3");
            }
        }
    }
}

#[test]
fn threads_wait_for_each_others_syncs_for_ever() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = open(folder.path(), Appendfsync::Always);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut caller = Caller::of(&store);
                for _ in 0..100 {
                    let answer = caller.say("INCR n");
                    assert!(answer.parse::<u32>().is_ok(), "{answer}");
                }
            });
        }
    });
    assert_eq!(Caller::of(&store).say("GET n"), "400");
}

#[test]
fn rewritten_values_take_room_after_a_merge() {
    let folder = tempfile::tempdir().expect("a directory");
    let options = EmbeddedOptions {
        settings: vec![("datafile-max-bytes".into(), "1mb".into())],
        ..EmbeddedOptions::default()
    };
    for store in [Embedded::open(folder.path(), &options), Embedded::memory(&options)] {
        let store = store.expect("opens");
        let mut caller = Caller::of(&store);
        for number in 0..4000 {
            let value = format!("{number:01000}");
            assert_eq!(
                caller.ask(&[b"SET", format!("key:{}", number % 10).as_bytes(), value.as_bytes()]),
                "OK"
            );
        }
        store.merge().expect("merges");
        let info = caller.say("INFO bitcask");
        let used = info.lines().find_map(|line| line.strip_prefix("datafile_bytes:"));
        let used: u64 = used.unwrap_or_else(|| panic!("{info}")).parse().expect("a number");
        assert!(used < 100_000, "{used} of ten values");
        assert_eq!(caller.say("GET key:9"), format!("{:01000}", 3999));
    }
}

/// What the process does that is killed: it writes, and says which writes were acknowledged.
#[test]
fn child_that_is_killed() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let store = open(Path::new(&directory), Appendfsync::Everysec);
    let mut caller = Caller::of(&store);
    for number in 0_u64.. {
        let key = format!("key:{number}");
        assert_eq!(caller.ask(&[b"SET", key.as_bytes(), b"x"]), "OK");
        println!("wrote {number}");
    }
}

#[test]
fn killed_program_loses_what_it_was_told_to_be_written() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut last = 0;
    for round in 1..=2 {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "embedded_store_forgets::child_that_is_killed", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let said = BufReader::new(child.stdout.take().expect("a pipe"));
        let numbers = said.lines().map(|line| line.expect("a line"));
        let mut numbers = numbers.filter_map(|line| line.split("wrote ").nth(1)?.trim().parse::<u64>().ok());
        last = last.max(numbers.find(|number| *number >= 3000 * round).expect("it goes on"));
        child.kill().expect("a kill -9");
        last = numbers.fold(last, u64::max);
        child.wait().expect("ends");
        let store = open(folder.path(), Appendfsync::Everysec);
        let mut caller = Caller::of(&store);
        for number in 0..=last {
            assert_eq!(caller.say(&format!("GET key:{number}")), "x", "{number} of {last}");
        }
    }
}
