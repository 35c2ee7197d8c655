//! Crons of a server: they run when they are due, also after a restart, and one that never ends holds up nothing else.

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use crate::support::{Client, Server, ask, ask_until, start_in};

const LIBRARY: &[u8] = b"#!lua name=l
redis.register_function('tick', function() redis.call('INCR', 'ticks') end)
redis.register_function('endless', function() while true do end end)
redis.register_function('take', function() redis.call('INCR', 'locked') end)
redis.register_function('write_on', function() redis.call('SET', 'half', '1') while true do end end)
";

fn load(client: &mut Client) {
    assert_eq!(ask(client, &[b"FUNCTION", b"LOAD", LIBRARY]), "$1");
    client.expect_bytes(b"l\r\n");
}

/// Waits until the cron `tick` has run some times more.
fn wait_for_ticks(client: &mut Client) {
    client.expect(&[b"SET", b"ticks", b"0"], b"+OK\r\n");
    ask_until(client, &[b"EVAL", b"return redis.call('GET', 'ticks') + 0 > 3", b"0"], ":1");
}

#[test]
fn cron_does_not_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let start = || start_in(directory.path(), "--threads 1", Deadlines::default()).expect("it starts");
    let running = start();
    let mut client = Client::connect(running.addresses()[0]);
    load(&mut client);
    assert_eq!(ask(&mut client, &[b"CRON", b"CREATE", b"c", b"EVERY", b"5", b"CALL", b"tick"]), "+OK");
    wait_for_ticks(&mut client);
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
    let running = start();
    let mut client = Client::connect(running.addresses()[0]);
    wait_for_ticks(&mut client);
    assert_eq!(ask(&mut client, &[b"CRON", b"DROP", b"c"]), "+OK");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}

#[test]
fn endless_cron_holds_up_others_or_the_end_of_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let running = start_in(directory.path(), "--threads 1", Deadlines::default()).expect("it starts");
    let address = running.addresses()[0];
    let (mut client, mut other) = (Client::connect(address), Client::connect(address));
    load(&mut client);
    for (name, function) in [(&b"e"[..], &b"endless"[..]), (b"c", b"tick")] {
        assert_eq!(ask(&mut client, &[b"CRON", b"CREATE", name, b"EVERY", b"5", b"CALL", function]), "+OK");
    }
    wait_for_ticks(&mut client);
    assert_eq!(ask(&mut other, &[b"CONFIG", b"SET", b"busy-reply-threshold", b"50"]), "+OK");
    ask_until(
        &mut other,
        &[b"PING"],
        "-BUSY Redis is busy running a script. You can only call FUNCTION KILL",
    );
    assert_eq!(ask(&mut other, &[b"CRON", b"DROP", b"e"]), "+OK", "also while the server is busy");
    assert_eq!(ask(&mut other, &[b"FUNCTION", b"KILL"]), "+OK");
    ask_until(&mut other, &[b"CONFIG", b"SET", b"busy-reply-threshold", b"0"], "+OK");
    ask_until(&mut client, &[b"CRON", b"LOG", b"1"], "*1");
    let log: Vec<String> = (0..18).map(|_| client.line()).collect();
    assert!(log.iter().any(|line| line.contains("Script killed by user")), "{log:?}");
    // What has written is not killed, but ends with the server.
    assert_eq!(ask(&mut other, &[b"CRON", b"CREATE", b"w", b"EVERY", b"5", b"CALL", b"write_on"]), "+OK");
    ask_until(&mut other, &[b"FUNCTION", b"KILL"], "-UNKILLABLE");
    assert_eq!(ask(&mut other, &[b"CRON", b"DROP", b"w"]), "+OK");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait(), "a server with endless crons does not end");
    let running = start_in(directory.path(), "--threads 1", Deadlines::default()).expect("it starts");
    Client::connect(running.addresses()[0]).expect(&[b"EXISTS", b"half"], b":0\r\n");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}

/// A cron whose key a long script holds waits for it, and others run meanwhile.
#[test]
fn cron_that_waits_for_a_lock_is_lost() {
    let server = Server::start("--threads 1");
    let (mut client, mut runner) = (server.connect(), server.connect());
    load(&mut client);
    assert_eq!(ask(&mut client, &[b"CONFIG", b"SET", b"busy-reply-threshold", b"0"]), "+OK");
    runner.send(&crate::support::request(&[b"EVAL", b"while true do end", b"1", b"locked"]));
    assert_eq!(ask(&mut client, &[b"CRON", b"CREATE", b"t", b"EVERY", b"5", b"CALL", b"take"]), "+OK");
    assert_eq!(ask(&mut client, &[b"CRON", b"CREATE", b"c", b"EVERY", b"5", b"CALL", b"tick"]), "+OK");
    wait_for_ticks(&mut client);
    ask_until(&mut client, &[b"SCRIPT", b"KILL"], "+OK");
    assert!(runner.line().contains("killed"));
    ask_until(&mut client, &[b"EXISTS", b"locked"], ":1");
}
