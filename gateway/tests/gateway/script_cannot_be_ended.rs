//! A script that runs for long: others go on, are told that the server is busy after a while, and can end it.

use std::time::{Duration, Instant};

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use crate::support::{Client, Server, ask, ask_until, start_in};

const BUSY: &str = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
const ENDLESS: &[u8] = b"while true do end";

/// `busy-reply-threshold` of these tests.
const THRESHOLD: Duration = Duration::from_millis(300);

fn server(threads: usize) -> Server {
    let server = Server::start(&format!("--threads {threads}"));
    let threshold = THRESHOLD.as_millis().to_string();
    let set = ask(&mut server.connect(), &[b"CONFIG", b"SET", b"busy-reply-threshold", threshold.as_bytes()]);
    assert_eq!(set, "+OK");
    server
}

fn check_endless(threads: usize) {
    let server = server(threads);
    let (mut runner, mut other, mut killer) = (server.connect(), server.connect(), server.connect());
    assert_eq!(ask(&mut killer, &[b"SCRIPT", b"KILL"]), "-NOTBUSY No scripts in execution right now.");
    runner.send(&crate::support::request(&[b"EVAL", ENDLESS, b"1", b"locked"]));
    // Others are served until the threshold, whichever worker they are at.
    let begin = Instant::now();
    while begin.elapsed() < THRESHOLD / 2 {
        let asked = Instant::now();
        assert_eq!(ask(&mut other, &[b"PING"]), "+PONG");
        assert!(asked.elapsed() < Duration::from_millis(100), "took {:?}", asked.elapsed());
    }
    ask_until(&mut other, &[b"PING"], BUSY);
    for request in [&[&b"GET"[..], b"locked"][..], &[b"GET", b"free"], &[b"SET", b"free", b"1"], &[b"INFO"]] {
        assert_eq!(ask(&mut other, request), BUSY);
    }
    assert_eq!(
        ask(&mut other, &[b"FUNCTION", b"KILL"]),
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
    );
    assert_eq!(ask(&mut killer, &[b"SCRIPT", b"KILL"]), "+OK");
    let ended = runner.line();
    assert!(ended.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{ended}");
    ask_until(&mut other, &[b"PING"], "+PONG");
    assert_eq!(ask(&mut runner, &[b"SET", b"locked", b"free again"]), "+OK");
}

#[test]
fn endless_script_stops_the_server() {
    check_endless(2);
}

#[test]
fn endless_script_stops_a_server_with_one_worker() {
    check_endless(1);
}

#[test]
fn script_that_has_written_is_killed_or_leaves_half_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
        let address = running.addresses()[0];
        let mut runner = Client::connect(address);
        let script = b"redis.call('SET', KEYS[1], 'half') while true do end";
        runner.send(&crate::support::request(&[b"EVAL", script, b"1", b"k"]));
        let mut killer = Client::connect(address);
        let told = ask_until(&mut killer, &[b"SCRIPT", b"KILL"], "-UNKILLABLE");
        assert!(told.contains("already executed write commands"), "{told}");
        running.gateway().stop.request(StopRequest { checkpoint: false });
        assert!(running.wait());
    }
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts again");
    assert_eq!(ask(&mut Client::connect(running.addresses()[0]), &[b"GET", b"k"]), "$-1");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}

#[test]
fn function_that_runs_is_ended_by_script_kill() {
    let server = server(2);
    let (mut runner, mut other) = (server.connect(), server.connect());
    let library = b"#!lua name=l\nredis.register_function('endless', function() while true do end end)";
    assert_eq!(ask(&mut other, &[b"FUNCTION", b"LOAD", library]), "$1");
    other.expect_bytes(b"l\r\n");
    runner.send(&crate::support::request(&[b"FCALL", b"endless", b"0"]));
    ask_until(
        &mut other,
        &[b"PING"],
        "-BUSY Redis is busy running a script. You can only call FUNCTION KILL",
    );
    assert!(ask(&mut other, &[b"SCRIPT", b"KILL"]).starts_with("-BUSY"));
    other.send(&crate::support::request(&[b"FUNCTION", b"STATS"]));
    let stats: Vec<String> = (0..19).map(|_| other.line()).collect();
    assert!(
        stats.iter().any(|line| line == "endless") && stats.iter().any(|line| line == "duration_ms"),
        "{stats:?}"
    );
    let mut killer = server.connect();
    assert_eq!(ask(&mut killer, &[b"FUNCTION", b"KILL"]), "+OK");
    let ended = runner.line();
    assert!(
        ended.contains("Script killed by user with SCRIPT KILL... script: endless, on @user_function:"),
        "{ended}"
    );
}

#[test]
fn long_script_is_counted_or_published_twice() {
    // It takes longer than a worker has for it, so it begins again on a thread of its own.
    let server = server(2);
    let script = b"redis.call('INCR', KEYS[1]) for i = 1, 3000000 do local x = {} end return redis.call('INCR', KEYS[1])";
    let mut client = server.connect();
    assert_eq!(ask(&mut client, &[b"EVAL", script, b"1", b"k"]), ":2");
    assert_eq!(ask(&mut client, &[b"GET", b"k"]), "$1");
    client.expect_bytes(b"2\r\n");
}

/// SCRIPT KILL undoes the whole transaction around a script. What the queue wrote before the script is no reason to refuse it.
#[test]
fn transaction_of_a_killed_script_leaves_half_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
        let address = running.addresses()[0];
        let (mut runner, mut killer) = (Client::connect(address), Client::connect(address));
        let queue = |runner: &mut Client, script: &[u8]| {
            assert_eq!(ask(runner, &[b"MULTI"]), "+OK");
            for request in [
                &[&b"SET"[..], b"before", b"1"][..],
                &[b"EVAL", script, b"1", b"k"],
                &[b"SET", b"behind", b"1"],
            ] {
                assert_eq!(ask(runner, request), "+QUEUED");
            }
            runner.send(&crate::support::request(&[b"EXEC"]));
        };
        queue(&mut runner, ENDLESS);
        ask_until(&mut killer, &[b"SCRIPT", b"KILL"], "+OK");
        let ended = runner.line();
        assert!(ended.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{ended}");
        assert_eq!(ask(&mut runner, &[b"EXISTS", b"before", b"k", b"behind"]), ":0");
        queue(&mut runner, b"redis.call('SET', KEYS[1], 'half') while true do end");
        let told = ask_until(&mut killer, &[b"SCRIPT", b"KILL"], "-UNKILLABLE");
        assert!(told.contains("already executed write commands"), "{told}");
        running.gateway().stop.request(StopRequest { checkpoint: false });
        assert!(running.wait());
    }
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts again");
    let mut client = Client::connect(running.addresses()[0]);
    assert_eq!(ask(&mut client, &[b"EXISTS", b"before", b"k", b"behind"]), ":0");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}
