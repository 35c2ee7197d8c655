//! Commands of search, each beside what another request would have been answered.

use std::sync::Arc;

use super::functions_of_the_store::{Client, Log, NOW_MS, start};
use crate::bitcask::Bitcask;
use crate::command::search;
use crate::executor::Indexing;
use crate::resp::write_request;
use crate::server::Server;
use crate::storage::{Simulation, Storage};

fn open() -> Server<Bitcask> {
    let storage: Arc<dyn Storage> = Arc::new(Simulation::new(1).open().expect("open"));
    let server = start(&storage, &Log::default());
    assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
    server
}

fn settle(server: &Server<Bitcask>) {
    let mut indexing = Indexing::new(&server.shared);
    let steps = (0..10_000).find(|_| !indexing.step(server, NOW_MS).expect("a healthy store"));
    assert!(steps.is_some(), "the upkeep has no end");
}

/// The reply to requests that come together.
fn together(client: &mut Client<'_>, requests: &[&str]) -> String {
    for request in requests {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        write_request(&args, client.session.input());
    }
    client.replies()
}

#[test]
fn search_is_superseded_by_one_of_another_index_or_without_latest() {
    let server = open();
    let mut client = Client::of(&server);
    for index in ["d1", "d2"] {
        let made = client.say(&format!("FT.CREATE {index} PREFIX 1 d: SCHEMA latest TEXT"));
        assert_eq!(made, "+OK");
    }
    settle(&server);
    client.say("HSET d:1 latest be");
    let first = "FT.SEARCH d1 be NOCONTENT LATEST";
    let count = |reply: &str| reply.matches("SUPERSEDED").count();
    for (requests, superseded) in [
        (vec![first, "FT.SEARCH d2 be LATEST"], 0),
        (vec![first, "FT.SEARCH d1 be RETURN 1 latest"], 0),
        (vec![first, "FT.SEARCH d1 be INFIELDS 1 latest"], 0),
        (vec![first, "FT.SEARCH d1 be PARAMS 2 latest 1"], 0),
        (vec![first, "FT.SEARCH d1 be RETURN 1 latest LATEST"], 1),
        (vec!["FT.SEARCH d1 be RETURN 1 latest", first], 0),
        (vec![first, "FT.SEARCH d2 be LATEST", "ft.search d1 b latest"], 1),
    ] {
        let reply = together(&mut client, &requests);
        assert_eq!(count(&reply), superseded, "{requests:?}: {reply}");
    }
}
