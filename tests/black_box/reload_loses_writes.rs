//! DEBUG RELOAD while others write, watch, wait and listen: no acknowledged write is lost, and nobody else notices.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use edgecask_core::resp::Value;
use edgecask_tests::process::{Gateway, Server, report};

const WRITERS: u64 = 6;
const RELOADS: u64 = 40;
const WITHIN: Duration = Duration::from_secs(60);

/// A value of its own for every write, of very different lengths: some are blobs.
fn value(writer: u64, number: u64) -> String {
    format!("{writer}-{number}-").repeat([1, 5, 400, 6000][(number % 4) as usize])
}

fn integer(number: u64) -> Value {
    Value::Integer(i64::try_from(number).expect("a small number"))
}

/// Writes until it is over and reads what it wrote; returns how many rounds were acknowledged. `begun` counts writers with a first round.
fn write(server: &Server, writer: u64, is_over: &AtomicBool, begun: &AtomicU64) -> u64 {
    let mut client = server.client();
    let mut round = 0;
    while !is_over.load(Ordering::Relaxed) {
        let next = round + 1;
        assert_eq!(client.must(&format!("INCR counter{writer}")), integer(next), "writer {writer}");
        assert_eq!(client.must(&format!("RPUSH list{writer} {next}")), integer(next), "writer {writer}");
        client.must(&format!("SET string{writer} {}", value(writer, next)));
        client.must(&format!("HSET hash{writer} field{} {next}", next % 10));
        let read = client.must(&format!("GET string{writer}"));
        assert_eq!(read, Value::Bulk(value(writer, next).into()), "writer {writer}, round {next}");
        begun.fetch_add(u64::from(round == 0), Ordering::Relaxed);
        round = next;
    }
    round
}

/// What must be there after so many rounds.
fn check(server: &Server, writer: u64, rounds: u64) {
    let mut client = server.client();
    let expected = Value::Bulk(rounds.to_string().into());
    assert_eq!(client.must(&format!("GET counter{writer}")), expected);
    assert_eq!(client.must(&format!("LLEN list{writer}")), integer(rounds));
    assert_eq!(client.must(&format!("LINDEX list{writer} -1")), expected);
    assert_eq!(client.must(&format!("HGET hash{writer} field{}", rounds % 10)), expected);
    assert_eq!(client.must(&format!("GET string{writer}")), Value::Bulk(value(writer, rounds).into()));
}

#[test]
fn acknowledged_write_is_lost_in_a_reload() {
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path())
        .with("--threads", "2")
        .with("--enable-debug-command", "yes")
        .with("--blob-min-bytes", "20000");
    let server = gateway.must_start();
    let mut admin = server.client();
    admin.must("SET watched value");
    let mut watcher = server.client();
    watcher.must("WATCH watched");
    let mut waiter = server.client();
    waiter.send(b"BLPOP queue 0\r\n").expect("sent");
    let mut listener = server.client();
    listener.must("SUBSCRIBE news");
    let (is_over, begun) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut longest, begin) = (Duration::ZERO, Instant::now());
    let rounds: Vec<u64> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (server, is_over, begun) = (&server, &is_over, &begun);
                scope.spawn(move || write(server, writer, is_over, begun))
            })
            .collect();
        let mut reloads = 0;
        while (reloads < RELOADS || begun.load(Ordering::Relaxed) < WRITERS)
            && begin.elapsed() < WITHIN
            && !writers.iter().any(|writer| writer.is_finished())
        {
            let command = ["DEBUG RELOAD", "DEBUG RELOAD NOSAVE"][(reloads % 2) as usize];
            let asked = Instant::now();
            let reply = admin.must(command);
            longest = longest.max(asked.elapsed());
            assert_eq!(reply, Value::Simple("OK".into()), "{command}");
            reloads += 1;
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(reloads >= 5, "only {reloads} reloads");
        writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
    });
    watcher.must("MULTI");
    watcher.must("SET watched changed");
    assert_eq!(watcher.must("EXEC"), Value::Array(vec![Value::Simple("OK".into())]), "nobody changed it");
    admin.must("RPUSH queue element");
    let popped = Value::Array(vec![Value::Bulk(b"queue".into()), Value::Bulk(b"element".into())]);
    assert_eq!(waiter.receive().expect("a reply"), popped);
    assert_eq!(admin.must("PUBLISH news headline"), Value::Integer(1));
    assert!(rounds.iter().all(|rounds| *rounds > 0), "{rounds:?}");
    for (writer, rounds) in (0..).zip(&rounds) {
        check(&server, writer, *rounds);
    }
    assert_eq!(admin.must("DEBUG RELOAD"), Value::Simple("OK".into()));
    let digest = admin.must("DEBUG DIGEST");
    server.kill();
    let server = gateway.must_start();
    assert_eq!(server.client().must("DEBUG DIGEST"), digest);
    for (writer, rounds) in (0..).zip(&rounds) {
        check(&server, writer, *rounds);
    }
    report(&format!(
        "reloads beside {WRITERS} writers: {} rounds of writes, the longest reload took {} ms",
        rounds.iter().sum::<u64>(),
        longest.as_millis()
    ));
}
