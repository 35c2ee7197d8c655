//! Events of the keyspace under random requests: a listener of each server must hear the same, in the same order.
//!
//! The events of keys that expire in the background come at any time, so `expired` is left out; and so are
//! consumers of streams, which 7.2 makes even where they get nothing. Replies are the differential run's; here one that
//! differs only has both servers start over.

use std::fmt::Write;

use edgecask_core::resp::{Value, write_request};
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, redis, report};

use super::allowed::{Allowed, typed};
use super::pair::{Bundle, Pair};
use super::values::Values;

/// Requests of a run.
const COMMANDS: u64 = 30_000;

/// The classes of a run, one after the other.
const CLASSES: &[&str] = &["KEAnm", "Kg$nm", "Eghlszm", "KEA"];

/// A channel that nobody but the listeners hears of.
const MARK: &[u8] = b"__keymark__:";

/// Events that are left out.
const UNTOLD: &[&[u8]] = &[b"expired", b"xgroup-createconsumer", b"xgroup-delconsumer"];

/// Different bundles after which a run gives up.
const DIFFERENT_MAX: usize = 20;

#[test]
fn events_differ_from_redis_servers() {
    let wanted =
        std::env::var("EDGECASK_COMMANDS").ok().and_then(|count| count.parse().ok()).unwrap_or(COMMANDS);
    let seed = super::seed();
    report(&format!("events: EDGECASK_SEED={seed}"));
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&[]));
    let mut listeners = [ours.client(), theirs.client()];
    for listener in &mut listeners {
        listener.must("PSUBSCRIBE __key*__:*");
    }
    let mut pair = Pair::new(&ours, &theirs, Allowed::read());
    let mut values = Values::new(seed, super::now_s());
    let (mut different, mut heard) = (Vec::new(), 0);
    let share = wanted / CLASSES.len() as u64;
    for (turn, classes) in CLASSES.iter().enumerate() {
        for client in [&mut pair.ours, &mut pair.theirs] {
            client.must(&format!("CONFIG SET notify-keyspace-events {classes}"));
        }
        while pair.compared < share * (turn as u64 + 1) {
            let bundle = super::bundle(&mut values);
            if bundle.requests.iter().any(|request| is_of_later_versions(request)) {
                continue;
            }
            // Sorting a set reads what its members lead to in the order in which they are kept.
            let has_own_order = bundle.requests.iter().any(|request| is_sort(request));
            let select = super::select(&mut values);
            let told = told(classes, &bundle);
            let is_same = pair.batch(&[select, bundle]);
            let [mut ours, mut theirs] = hear(&mut pair, &mut listeners);
            if has_own_order {
                ours.sort_unstable();
                theirs.sort_unstable();
            }
            heard += theirs.len();
            if is_same && ours != theirs {
                different.push(format!("{told}    redis:    {theirs:?}\n    edgecask: {ours:?}"));
                assert!(different.len() < DIFFERENT_MAX, "{}", different.join("\n"));
            }
        }
    }
    report(&format!(
        "events: {} requests, {heard} events, {} bundles differ from redis-server",
        pair.compared,
        different.len()
    ));
    assert!(heard > 0, "no events");
    assert!(different.is_empty(), "seed {seed}:\n{}", different.join("\n"));
}

fn told(classes: &str, bundle: &Bundle) -> String {
    bundle.requests.iter().fold(String::new(), |mut text, request| {
        let _ = writeln!(text, "{classes}> {}", typed(request));
        text
    })
}

fn is_sort(request: &[Vec<u8>]) -> bool {
    let name = request.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
    matches!(name.as_slice(), b"sort" | b"sort_ro")
}

/// The oracle refuses what came with 7.2 before it looks for a key.
fn is_of_later_versions(request: &[Vec<u8>]) -> bool {
    let name = request.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
    matches!(name.as_slice(), b"zrank" | b"zrevrank") && request.len() > 3
        || name == b"lpos" && request.contains(&b"-9223372036854775808".to_vec())
}

/// What each listener has heard since the last time, but for [`UNTOLD`].
fn hear(pair: &mut Pair, listeners: &mut [Client; 2]) -> [Vec<String>; 2] {
    let mut mark = Vec::new();
    write_request(&[b"PUBLISH", MARK, b""], &mut mark);
    let [ours, theirs] = listeners;
    [(&mut pair.ours, ours), (&mut pair.theirs, theirs)].map(|(client, listener)| {
        let published = client.exchange(&mark, 1).expect("a server that lives");
        assert_eq!(published[0].value, Value::Integer(1), "somebody listens");
        let mut events = Vec::new();
        loop {
            let message = listener.receive().expect("a message");
            let (Value::Array(parts) | Value::Push(parts)) = &message else { panic!("{message:?}") };
            let text = |at: usize| parts.get(at).and_then(Value::as_bytes).unwrap_or_default();
            if text(2) == MARK {
                return events;
            }
            if !UNTOLD.iter().any(|event| text(2).ends_with(&[b":", *event].concat()) || text(3) == *event) {
                events.push(format!("{} {}", text(2).escape_ascii(), text(3).escape_ascii()));
            }
        }
    })
}
