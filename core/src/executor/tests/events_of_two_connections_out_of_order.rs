//! Events of the keyspace come in the order of the commits, though two threads write one key.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Connection, server};
use crate::resp::Value;
use crate::server::feed::{Entry, Follower};

/// How often each thread has to succeed, which it can only after the other one.
const WRITES: usize = 500;

/// Remembers the places of commits in the order in which it heard of them.
#[derive(Default)]
struct Places(Mutex<Vec<u64>>);

impl Follower for Places {
    fn committed(&self, entry: &Entry) {
        self.0.lock().push(entry.receipt.position());
    }
}

#[test]
fn events_of_two_connections_out_of_order() {
    let server = server();
    server.shared.settings.set("notify-keyspace-events", "KEA").expect("a setting");
    server.shared.settings_changed();
    let places = Arc::new(Places::default());
    let hub = &server.shared.hub;
    server.shared.feed.follow(&hub.interest, places.clone());
    let mut listener = Connection::new(1);
    listener.run(&server, "PSUBSCRIBE __keyspace@0__:k");
    std::thread::scope(|scope| {
        // One makes the key, the other takes it away: what is seen must be possible.
        for (id, request) in [(2, "SETNX k v"), (3, "DEL k")] {
            let server = &server;
            scope.spawn(move || {
                let mut connection = Connection::new(id);
                let mut count = 0;
                while count < WRITES {
                    count += usize::from(connection.run(server, request) == Value::Integer(1));
                    std::thread::yield_now();
                }
            });
        }
    });
    let mut is_there = false;
    let messages = listener.messages();
    assert_eq!(messages.len(), 2 * WRITES);
    for message in &messages {
        let is_set = message.windows(3).any(|bytes| bytes == b"set");
        assert_ne!(is_set, is_there, "{}", message.escape_ascii());
        is_there = is_set;
    }
    let is_left = Connection::new(4).run(&server, "EXISTS k") == Value::Integer(1);
    assert_eq!(is_there, is_left, "the last event is what is left");
    let places = places.0.lock();
    assert!(places.is_sorted(), "the feed is in the order of the log");
    assert!(places.len() >= messages.len());
}
