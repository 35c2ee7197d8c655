//! A function that does not end: others are served, are refused after a while, and can end it; nothing of it stays.

use std::time::{Duration, Instant};

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use super::{guest, server};
use crate::support::{Client, answer, hear, say, start_in};

const BUSY: &str =
    "-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";

/// Asks until the answer begins like this.
fn say_until(client: &mut Client, line: &str, wanted: &str) -> String {
    let begin = Instant::now();
    loop {
        let answer = say(client, line);
        if answer.starts_with(wanted) {
            return answer;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{answer}, and not {wanted}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn check_endless(threads: usize) {
    let server = server(&format!("--threads {threads}"));
    let (mut runner, mut other, mut killer) = (server.connect(), server.connect(), server.connect());
    assert_eq!(say(&mut killer, "CONFIG SET busy-reply-threshold 300"), "+OK");
    assert_eq!(say(&mut killer, "FUNCTION KILL"), "-NOTBUSY No scripts in execution right now.");
    runner.send(&crate::support::request(&[b"FCALL", b"spin", b"1", b"locked", b"GET", b"locked"]));
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(150) {
        let asked = Instant::now();
        assert_eq!(say(&mut other, "PING"), "+PONG");
        assert!(asked.elapsed() < Duration::from_millis(100), "took {:?}", asked.elapsed());
    }
    // It needs the lock, so it waits until it is refused.
    assert_eq!(say(&mut other, "SET locked x"), BUSY);
    say_until(&mut other, "PING", BUSY);
    let stats = say(&mut other, "FUNCTION STATS");
    assert!(stats.contains("[name spin command [FCALL spin 1 locked GET locked] duration_ms :"), "{stats}");
    assert!(say(&mut other, "SCRIPT KILL").starts_with("-BUSY"));
    assert_eq!(say(&mut killer, "FUNCTION KILL"), "+OK");
    let ended = hear(&mut runner);
    assert_eq!(ended, "-ERR Script killed by user with SCRIPT KILL... script: spin");
    say_until(&mut other, "PING", "+PONG");
    assert_eq!(say(&mut runner, "FCALL run 1 locked SET locked free"), "+OK");
}

#[test]
fn endless_function_stops_the_server() {
    check_endless(2);
}

#[test]
fn endless_function_stops_a_server_with_one_worker() {
    check_endless(1);
}

#[test]
fn function_that_has_written_is_killed_or_leaves_half_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
        let address = running.addresses()[0];
        let mut runner = Client::connect(address);
        assert_eq!(answer(&mut runner, &[b"FUNCTION", b"LOAD", &guest()]), "guest");
        runner.send(&crate::support::request(&[b"FCALL", b"spin", b"1", b"k", b"SET", b"k", b"half"]));
        let refused = say_until(&mut Client::connect(address), "FUNCTION KILL", "-UNKILLABLE");
        assert!(refused.contains("already executed write commands"), "{refused}");
        running.gateway().stop.request(StopRequest { checkpoint: false });
        assert!(running.wait());
    }
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts again");
    let mut client = Client::connect(running.addresses()[0]);
    assert_eq!(say(&mut client, "GET k"), "nil");
    assert_eq!(say(&mut client, "FCALL run 1 k SET k whole"), "+OK");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}
