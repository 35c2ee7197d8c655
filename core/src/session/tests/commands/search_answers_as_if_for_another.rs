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
    client.say("HSET d:1 latest word");
    let first = "FT.SEARCH d1 word NOCONTENT LATEST";
    let count = |reply: &str| reply.matches("SUPERSEDED").count();
    for (requests, superseded) in [
        (vec![first, "FT.SEARCH d2 word LATEST"], 0),
        (vec![first, "FT.SEARCH d1 word RETURN 1 latest"], 0),
        (vec![first, "FT.SEARCH d1 word INFIELDS 1 latest"], 0),
        (vec![first, "FT.SEARCH d1 word PARAMS 2 latest 1"], 0),
        (vec![first, "FT.SEARCH d1 word RETURN 1 latest LATEST"], 1),
        (vec!["FT.SEARCH d1 word RETURN 1 latest", first], 0),
        (vec![first, "SELECT 1", first, "SELECT 0"], 0),
        (vec![first, "FT.SEARCH d2 word LATEST", "ft.search d1 w latest"], 1),
    ] {
        let reply = together(&mut client, &requests);
        assert_eq!(count(&reply), superseded, "{requests:?}: {reply}");
    }
}

#[test]
fn no_fields_are_asked_for_and_empty_ones_come() {
    let server = open();
    let mut client = Client::of(&server);
    client.say("FT.CREATE d PREFIX 1 d: SCHEMA t TEXT");
    client.say("HSET d:1 t word");
    assert_eq!(client.say("FT.SEARCH d word NOCONTENT"), "*2 :1 $3 d:1");
    assert_eq!(client.say("FT.SEARCH d word RETURN 0"), "*2 :1 $3 d:1");
    assert_eq!(client.say("FT.SEARCH d word RETURN 1 t"), "*3 :1 $3 d:1 *2 $1 t $4 word");
}

#[test]
fn document_in_an_unknown_language_is_not_found() {
    let server = open();
    let mut client = Client::of(&server);
    client.say("FT.CREATE d PREFIX 1 d: LANGUAGE_FIELD l SCHEMA t TEXT");
    client.say("HSET d:1 t runs l klingon");
    client.call(&["HSET", "d:2", "t", "runs", "l", ""]);
    assert!(client.say("FT.SEARCH d running NOCONTENT").starts_with("*3 :2 "), "the default has stems");
}

#[test]
fn cursor_shows_documents_of_keys_that_are_forbidden() {
    let server = open();
    let mut client = Client::of(&server);
    client.say("FT.CREATE d PREFIX 1 d: SCHEMA t TEXT");
    (1..4).for_each(|number| drop(client.say(&format!("HSET d:{number} t be"))));
    let reply = client.say("FT.AGGREGATE d * LOAD 1 t WITHCURSOR COUNT 1");
    let id = reply.rsplit(':').next().expect("a cursor").to_owned();
    client.say("ACL SETUSER other on nopass +@all ~other:*");
    let mut other = Client::of(&server);
    assert_eq!(other.say("AUTH other x"), "+OK");
    for subcommand in ["READ", "DEL"] {
        let reply = other.say(&format!("FT.CURSOR {subcommand} d {id}"));
        assert!(reply.starts_with("-NOPERM"), "{subcommand}: {reply}");
    }
    assert!(client.say(&format!("FT.CURSOR READ d {id}")).starts_with("*2 *2 :1 "));
}

#[test]
fn transaction_does_not_see_what_it_has_changed() {
    let server = open();
    let mut client = Client::of(&server);
    client.say("FT.CREATE d PREFIX 1 d: SCHEMA g TAG t TEXT n NUMERIC");
    client.say("HSET d:1 g old t matrix");
    let requests = [
        "MULTI",
        "HSET d:2 g new t matrice",
        "DEL d:1",
        "FT.TAGVALS d g",
        "FT.SPELLCHECK d matric",
        "FT.SPELLCHECK d matrice",
        "EXEC",
    ];
    let reply = together(&mut client, &requests);
    let reply = reply.rsplit("+QUEUED ").next().unwrap_or_default();
    assert!(reply.contains("*1 $3 new ") && reply.contains("$7 matrice "), "{reply}");
    assert!(!reply.contains("old") && !reply.contains("$6 matrix ") && reply.ends_with("*0"), "{reply}");
}

#[test]
fn transaction_takes_any_hash_for_a_document() {
    let server = open();
    let mut client = Client::of(&server);
    client.say("FT.CREATE d PREFIX 1 d: SCHEMA n NUMERIC");
    client.say("HSET d:none n letters");
    client.say("HSET d:1 n 1");
    client.say("HSET d:2 n 2");
    let requests = [
        "MULTI",
        "HSET other a 1",
        "HSET d:new n 5",
        "HSET d:bad n letters",
        "HSET d:2 n letters",
        "FT.DEL d d:none",
        "FT.DEL d d:bad",
        "FT.DEL d d:2",
        "FT.DEL d d:1",
        "FT.DEL d d:new",
        "EXEC",
    ];
    let reply = together(&mut client, &requests);
    assert!(reply.ends_with("*9 :1 :1 :1 :0 :0 :0 :0 :1 :1"), "{reply}");
    assert_eq!(client.say("EXISTS d:none d:bad d:2 d:1 d:new"), ":3");
}
