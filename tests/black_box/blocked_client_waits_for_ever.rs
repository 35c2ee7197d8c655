//! Blocked clients, listeners and those who wake them, on several workers at once: nothing is lost, delivered twice or
//! forgotten, and a client that only waits costs nothing.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use edgecask_core::resp::Value;
use edgecask_tests::process::{Gateway, Server, report};
use edgecask_tests::retry::{let_pass, wait_for};

/// Elements that producers push, each for one consumer.
const ELEMENTS: u64 = 20_000;
const PRODUCERS: u64 = 4;
const CONSUMERS: usize = 12;

/// Connections that wait while the processor's time is counted.
const SLEEPERS: usize = 2_000;

fn bulk(value: &Value) -> Option<String> {
    match value {
        Value::Bulk(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

/// Consumers wait for a moment only, so that many waits end by time just as an element comes; another connection ends
/// waits by CLIENT UNBLOCK meanwhile.
#[test]
fn element_is_lost_or_delivered_twice_between_blocked_clients() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).with("--threads", "2").must_start();
    let (consumed, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let begin = Instant::now();
    let elements: Vec<String> = thread::scope(|scope| {
        let consumers: Vec<_> = (0..CONSUMERS)
            .map(|number| {
                scope.spawn({
                    let (server, consumed) = (&server, &consumed);
                    move || consume(server, number, consumed)
                })
            })
            .collect();
        for producer in 0..PRODUCERS {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.client();
                for number in (0..ELEMENTS).filter(|number| number % PRODUCERS == producer) {
                    client.must(&format!("RPUSH queue{} {number}", number % 3));
                }
            });
        }
        scope.spawn(|| {
            let mut client = server.client();
            let mut id = 1;
            while !is_over.load(Ordering::Relaxed) {
                id = id % 40 + 1;
                client.must(&format!("CLIENT UNBLOCK {id}"));
            }
        });
        let all = consumers.into_iter().flat_map(|consumer| consumer.join().expect("no panic")).collect();
        is_over.store(true, Ordering::Relaxed);
        all
    });
    let distinct: HashSet<&String> = elements.iter().collect();
    assert_eq!((elements.len() as u64, distinct.len() as u64), (ELEMENTS, ELEMENTS));
    let mut client = server.client();
    for queue in ["queue0", "queue1", "queue2"] {
        assert_eq!(client.must(&format!("EXISTS {queue}")), Value::Integer(0));
    }
    report(&format!(
        "blocked clients: {ELEMENTS} elements, each to one of {CONSUMERS}, in {:.1} s",
        begin.elapsed().as_secs_f64()
    ));
}

/// Takes elements until all have been consumed by somebody.
fn consume(server: &Server, number: usize, consumed: &AtomicU64) -> Vec<String> {
    let mut client = server.client();
    let mut taken = Vec::new();
    // Every third one moves elements to a list of its own first.
    let own = format!("own{number}");
    while consumed.load(Ordering::SeqCst) < ELEMENTS {
        let element = if number % 3 == 2 {
            let queue = format!("queue{}", taken.len() % 3);
            let moved = bulk(&client.must(&format!("BLMOVE {queue} {own} LEFT RIGHT 0.002")));
            if moved.is_some() {
                assert_eq!(bulk(&client.must(&format!("LPOP {own}"))), moved);
            }
            moved
        } else {
            match client.must("BLPOP queue0 queue1 queue2 0.002") {
                Value::Array(parts) => parts.get(1).and_then(bulk),
                _ => None,
            }
        };
        if let Some(element) = element {
            consumed.fetch_add(1, Ordering::SeqCst);
            taken.push(element);
        }
    }
    taken
}

/// Every message must arrive at every listener, in the order in which one connection published them.
#[test]
fn published_message_is_lost_or_out_of_order() {
    const LISTENERS: usize = 20;
    const MESSAGES: i64 = 5_000;
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).with("--threads", "2").must_start();
    let mut listeners: Vec<_> = (0..LISTENERS).map(|_| server.client()).collect();
    for (number, listener) in listeners.iter_mut().enumerate() {
        listener.must(if number % 2 == 0 { "SUBSCRIBE channel" } else { "PSUBSCRIBE chan*" });
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = server.client();
            for number in 0..MESSAGES {
                assert_eq!(
                    client.must(&format!("PUBLISH channel {number}")),
                    Value::Integer(LISTENERS as i64)
                );
            }
        });
        for listener in &mut listeners {
            scope.spawn(move || {
                for number in 0..MESSAGES {
                    let Ok(Value::Array(parts)) = listener.receive() else { panic!("no message {number}") };
                    assert_eq!(parts.last().and_then(bulk), Some(number.to_string()));
                }
            });
        }
    });
}

/// A listener that never reads: what waits for it is bounded, and it is closed.
#[test]
fn listener_that_does_not_read_fills_the_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut deaf = server.client();
    deaf.must("SUBSCRIBE channel");
    let mut client = server.client();
    let before = server.resident_bytes();
    let message = "x".repeat(1_000_000);
    let mut most = 0;
    for _ in 0..200 {
        client.call(&["PUBLISH", "channel", &message]).expect("a reply");
        most = most.max(server.resident_bytes());
    }
    assert_eq!(client.must("PUBLISH channel end"), Value::Integer(0), "it was closed");
    let grown = most.saturating_sub(before);
    assert!(grown < 120_000_000, "the server grew by {grown} bytes");
}

/// Thousands that wait for keys or for messages, and the processor's time they take while nothing happens.
#[test]
fn waiting_costs_the_processor() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).with("--maxclients", "5000").must_start();
    let mut sleepers = Vec::new();
    for number in 0..SLEEPERS {
        let mut client = server.client();
        match number % 3 {
            0 => client.send(format!("BLPOP queue{number} 0\r\n").as_bytes()).expect("sent"),
            1 => client.send(format!("BLPOP queue{number} 600\r\n").as_bytes()).expect("sent"),
            _ => drop(client.must(&format!("SUBSCRIBE channel{number}"))),
        }
        sleepers.push(client);
    }
    let mut client = server.client();
    let blocked = (0..SLEEPERS).filter(|number| number % 3 < 2).count();
    wait_for(Duration::from_secs(10), || {
        let info = client.must("INFO clients");
        String::from_utf8_lossy(info.as_bytes().unwrap_or_default())
            .contains(&format!("blocked_clients:{blocked}\r\n"))
            .then_some(())
    })
    .expect("all are blocked");
    let before = cpu_ticks(&server);
    let_pass(Duration::from_secs(2));
    let spent = cpu_ticks(&server) - before;
    report(&format!("{SLEEPERS} waiting connections: {spent} ticks of 10 ms in 2 s"));
    assert!(spent <= 10, "{spent} ticks of the processor in 2 s");
    // They were really waiting.
    assert_eq!(client.must("RPUSH queue0 element"), Value::Integer(1));
    let Ok(Value::Array(parts)) = sleepers[0].receive() else { panic!("no element") };
    assert_eq!(parts.last().and_then(bulk), Some("element".to_string()));
}

/// The processor's time that a server has used, in hundredths of a second.
fn cpu_ticks(server: &Server) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).expect("the process lives");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("a number")).sum()
}
