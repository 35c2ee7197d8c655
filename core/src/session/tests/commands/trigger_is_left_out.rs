//! Triggers where nobody asks for the change: eviction, a pause, a connection that is woken. And what others hear of the keys
//! that a trigger writes.

use std::sync::atomic::Ordering;

use super::functions_of_the_store::Client;
use super::write_passes_by_a_trigger::{server, take_notes};
use crate::executor::{Expiry, used_bytes};

#[test]
fn key_is_evicted_without_its_trigger() {
    let server = server(&["count ON delete PREFIX goes CALL sum", "keep ON delete PREFIX stays CALL refuse"]);
    let mut client = Client::of(&server);
    for n in 0..12 {
        client.say(&format!("SET stays:{n} value EX 10000"));
    }
    client.now_ms += 5000;
    let limit = used_bytes(&server) + 40_000;
    assert_eq!(client.say(&format!("CONFIG SET maxmemory {limit} maxmemory-policy volatile-lru")), "+OK");
    for n in 0..3000 {
        client.now_ms += 1;
        assert_eq!(client.say(&format!("SET goes:{n} value EX 10000")), "+OK");
    }
    let evicted = server.shared.memory.evicted_keys.load(Ordering::Relaxed);
    assert!(evicted > 500, "{evicted}");
    let total = evicted.to_string();
    assert_eq!(client.say("GET total"), format!("${} {total}", total.len()), "each caused a run");
    let all: Vec<String> = (0..12).map(|n| format!("stays:{n}")).collect();
    assert_eq!(client.say(&format!("EXISTS {}", all.join(" "))), ":12");
    let stats = client.say("TRIGGER STATS");
    assert!(stats.contains("$4 keep $4 runs :0 $8 refusals :"), "{stats}");
    assert!(!stats.contains("$4 keep $4 runs :0 $8 refusals :0 "), "{stats}");
    // Where only such keys are left, there is no room.
    client.say("CONFIG SET maxmemory 1");
    let refused = (0..4000).any(|_| client.say("SET more value").starts_with("-OOM "));
    assert!(refused, "{}", client.say("INFO memory"));
    assert_eq!(client.say("CONFIG SET maxmemory 0"), "+OK");
    assert_eq!(client.say(&format!("EXISTS {}", all.join(" "))), ":12");
}

#[test]
fn trigger_runs_in_a_pause() {
    let server = server(&["t ON all PREFIX k CALL note"]);
    let (mut client, mut writer) = (Client::of(&server), Client::of(&server));
    for key in ["k1", "k2"] {
        client.say(&format!("SET {key} v PX 10"));
    }
    take_notes(&mut client);
    client.now_ms += 20;
    assert_eq!(client.say("CLIENT PAUSE 100 WRITE"), "+OK");
    writer.now_ms = client.now_ms;
    assert_eq!(writer.say("SET k3 new"), "", "it is held back");
    // Their time has come, and they go when something may change again.
    assert_eq!(client.say("GET k1"), "$-1");
    assert_eq!(Expiry::new(&server.shared).step(&server, client.now_ms, 100).expect("healthy").keys, 0);
    assert_eq!(client.say("LLEN notes"), ":0");
    (client.now_ms, writer.now_ms) = (client.now_ms + 200, writer.now_ms + 200);
    assert_eq!(writer.replies(), "+OK");
    assert_eq!(client.say("GET k1"), "$-1");
    assert_eq!(Expiry::new(&server.shared).step(&server, client.now_ms, 100).expect("healthy").keys, 1);
    assert_eq!(
        take_notes(&mut client),
        ["create:k3:none:string:0:-", "expire:k1:string:none:0:v", "expire:k2:string:none:0:v"]
    );
}

/// What a trigger refuses is the reply of the connection that was woken; the one that woke it has nothing to do with it.
#[test]
fn woken_connection_passes_by_a_trigger() {
    let server = server(&["t ON delete PREFIX k IF list CALL refuse"]);
    let (mut waiting, mut pusher) = (Client::of(&server), Client::of(&server));
    assert_eq!(waiting.say("BLPOP k 0"), "");
    assert_eq!(pusher.say("RPUSH k x"), ":1");
    assert_eq!(waiting.replies(), "-ERR no such thing");
    assert_eq!(pusher.say("LRANGE k 0 -1"), "*1 $1 x");
    // It waits no longer.
    assert_eq!(waiting.say("PING"), "+PONG");
    assert_eq!(pusher.say("RPUSH k y"), ":2");
    assert_eq!(waiting.say("BLPOP k 0"), "*2 $1 k $1 x");
    assert_eq!(waiting.say("BLPOP k 0"), "-ERR no such thing");
}

#[test]
fn nobody_hears_of_what_a_trigger_writes() {
    let server = server(&["t ON all PREFIX k CALL sum", "u ON create PREFIX kk CALL refuse"]);
    let (mut client, mut listener, mut cache) =
        (Client::of(&server), Client::of(&server), Client::of(&server));
    client.say("CONFIG SET notify-keyspace-events EA");
    listener.say("PSUBSCRIBE __keyevent@0__:*");
    assert_eq!(client.say("SET total 0"), "+OK");
    listener.replies();
    cache.say("HELLO 3");
    assert_eq!(cache.say("CLIENT TRACKING ON"), "+OK");
    assert_eq!(cache.say("GET total"), "$1 0");
    assert_eq!(client.say("SET kk 1"), "-ERR no such thing");
    assert_eq!((listener.replies(), cache.replies()), (String::new(), String::new()), "it has not happened");
    assert_eq!(client.say("SET k 1"), "+OK");
    let heard = listener.replies();
    let events: Vec<&str> =
        heard.split(' ').filter(|word| word.starts_with("__keyevent") && !word.ends_with('*')).collect();
    assert_eq!(events, ["__keyevent@0__:set", "__keyevent@0__:incrby"], "{heard}");
    assert!(heard.ends_with("$5 total"), "{heard}");
    assert_eq!(cache.replies(), ">2 $10 invalidate *1 $5 total");
    // The connection's own write is no different.
    assert_eq!(cache.say("GET total"), "$1 1");
    let replies = cache.say("SET k 2");
    assert!(replies.contains("+OK") && replies.contains("invalidate *1 $5 total"), "{replies}");
}
