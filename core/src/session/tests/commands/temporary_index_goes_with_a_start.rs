//! A start drops a TEMPORARY index with its documents, as if it had not been used since 1970.

use super::functions_of_the_store::{Client, NOW_MS};
use super::search_differs_from_a_rebuild::{open, settle};
use crate::storage::Simulation;

const IDLE_S: u64 = 60;

#[test]
fn temporary_index_goes_with_a_start() {
    let machine = Simulation::new(1);
    {
        let server = open(&machine);
        let mut client = Client::of(&server);
        assert_eq!(
            client.say(&format!("FT.CREATE index TEMPORARY {IDLE_S} PREFIX 1 doc: SCHEMA title TEXT")),
            "+OK"
        );
        assert_eq!(client.say("HSET doc:1 title red"), ":1");
    }
    let server = open(&machine.after_kill());
    settle(&server, NOW_MS);
    let is_there = || server.shared.search.present().named(0, b"index").is_some();
    assert!(is_there());
    let mut client = Client::of(&server);
    assert_eq!(client.say("EXISTS doc:1"), ":1");

    // A document or a search is a use.
    client.now_ms = NOW_MS + IDLE_S * 900;
    assert_eq!(client.say("HSET doc:2 title red"), ":1");
    settle(&server, NOW_MS + IDLE_S * 1800);
    assert!(is_there());
    client.now_ms = NOW_MS + IDLE_S * 1800;
    assert!(client.say("FT.SEARCH index red NOCONTENT").contains(":2 "));
    assert_eq!(server.shared.search.idle_at_ms(), Some(NOW_MS + IDLE_S * 2800));
    settle(&server, NOW_MS + IDLE_S * 2799);
    assert!(is_there());

    settle(&server, NOW_MS + IDLE_S * 2800);
    assert!(!is_there());
    assert_eq!(server.shared.search.idle_at_ms(), None);
    assert_eq!(client.say("EXISTS doc:1 doc:2"), ":0");
}
