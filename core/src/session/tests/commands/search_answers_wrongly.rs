//! Faults of indexes that an adversary found: an index that follows its database too late or its walk too long, queries that are read
//! otherwise than documents, options that say nothing.

use super::functions_of_the_store::{Client, NOW_MS};
use super::search_differs_from_a_rebuild::{open, settle};
use crate::bitcask::Bitcask;
use crate::executor::Indexing;
use crate::limits::SEARCH_SCANNED_IN_A_STEP;
use crate::server::Server;
use crate::server::search::Progress;
use crate::storage::Simulation;

/// A walk over so many keys takes some steps.
const KEYS: usize = SEARCH_SCANNED_IN_A_STEP * 3;

fn count(client: &mut Client<'_>, query: &str) -> String {
    let reply = client.call(&["FT.SEARCH", "i", query, "LIMIT", "0", "0", "DIALECT", "2"]);
    reply.split(' ').nth(1).unwrap_or(&reply).to_string()
}

/// Lets the walk of an index come about half way.
fn walk_half(server: &Server<Bitcask>) -> Indexing {
    let mut indexing = Indexing::new(&server.shared);
    let is_half = || {
        let present = server.shared.search.present();
        present.iter().any(|index| {
            matches!(index.contents.progress(), Progress::Scanning { done, .. } if done as usize >= SEARCH_SCANNED_IN_A_STEP)
        })
    };
    while !is_half() {
        assert!(indexing.step(server, NOW_MS).expect("a healthy store"), "it is through already");
    }
    indexing
}

fn finish(server: &Server<Bitcask>, mut indexing: Indexing) {
    while indexing.step(server, NOW_MS).expect("a healthy store") {}
}

#[test]
fn field_that_comes_during_a_walk_is_missing_in_what_was_walked() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    for key in 0..KEYS {
        client.call(&["HSET", &format!("d:{key}"), "t", "hello", "u", "world"]);
    }
    assert_eq!(client.say("FT.CREATE i PREFIX 1 d: SCHEMA t TEXT"), "+OK");
    let indexing = walk_half(&server);
    assert_eq!(client.say("FT.ALTER i SCHEMA ADD u TEXT"), "+OK");
    finish(&server, indexing);
    assert_eq!(count(&mut client, "@u:world"), format!(":{KEYS}"));
    assert_eq!(count(&mut client, "@t:hello"), format!(":{KEYS}"));
}

#[test]
fn walk_goes_on_in_the_database_of_before() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    for key in 0..KEYS {
        client.call(&["HSET", &format!("d:{key}"), "t", "zero"]);
    }
    client.say("SELECT 1");
    for key in 0..2 * KEYS {
        client.call(&["HSET", &format!("d:{key}"), "t", "one"]);
    }
    client.say("SELECT 0");
    assert_eq!(client.say("FT.CREATE i PREFIX 1 d: SCHEMA t TEXT"), "+OK");
    let indexing = walk_half(&server);
    assert_eq!(client.say("SWAPDB 0 1"), "+OK");
    finish(&server, indexing);
    client.say("SELECT 1");
    assert_eq!(count(&mut client, "zero"), format!(":{KEYS}"));
    assert_eq!(count(&mut client, "one"), ":0");
}

#[test]
fn index_goes_with_a_flush_that_came_before_it() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    let transact = |client: &mut Client<'_>, requests: &[&str]| {
        client.say("MULTI");
        requests.iter().for_each(|request| assert_eq!(client.say(request), "+QUEUED"));
        client.say("EXEC")
    };
    assert_eq!(client.say("FT.CREATE i PREFIX 1 d: SCHEMA t TEXT"), "+OK");
    client.say("HSET d:1 t zebra");
    let reply = transact(
        &mut client,
        &["FLUSHDB", "FT.CREATE j PREFIX 1 d: SCHEMA t TEXT", "HSET d:2 t zebra", "FT._LIST"],
    );
    assert!(reply.starts_with("*4 +OK +OK :1"), "{reply}");
    assert!(client.say("FT._LIST").ends_with(" j"));
    assert!(client.say("FT.SEARCH j zebra NOCONTENT").contains(":1 "));

    // An index of before is gone at once.
    let reply = transact(&mut client, &["HSET d:3 t kept", "FLUSHDB", "FT.SEARCH j zebra", "SET k v"]);
    assert!(reply.contains("no such index"), "{reply}");
    assert!(client.say("GET k").ends_with('v'));

    let reply = transact(&mut client, &["SWAPDB 0 1", "FT.CREATE n SCHEMA t TEXT"]);
    assert!(reply.ends_with("+OK +OK"), "{reply}");
    assert!(client.say("FT._LIST").ends_with(" n"));

    client.say("HSET a t word");
    settle(&server, NOW_MS);
    let reply = transact(&mut client, &["SWAPDB 0 1", "HSET b t word", "FT._LIST"]);
    assert!(reply.ends_with("*0"), "{reply}");
    client.say("SELECT 1");
    assert!(client.say("FT.SEARCH n word NOCONTENT").starts_with("*2 :1 "));
}

#[test]
fn query_is_folded_otherwise_than_documents() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    let create = "FT.CREATE i ANALYZER INSTANT STOPWORDS 1 Épée PREFIX 1 f: SCHEMA t TEXT";
    assert_eq!(client.say(create), "+OK");
    for (key, text) in [
        ("f:1", "Mátrix revolutions"),
        ("f:2", "日本語の映画"),
        ("f:3", "ＦＵＬＬ width straße"),
        ("f:4", "épée fine"),
    ] {
        client.call(&["HSET", key, "t", text]);
    }
    assert_eq!(client.say("FT.SYNUPDATE i g Mátrix film"), "+OK");
    for (query, expected) in [
        ("Mátrix", ":1"),
        ("matrix", ":1"),
        ("MÁTRIX*", ":1"),
        ("*átrix", ":1"),
        ("日本語", ":1"),
        ("日本人", ":0"),
        ("ＦＵＬＬ", ":1"),
        ("straße", ":1"),
        ("strasse", ":1"),
        ("\"mátrix revolutions\"", ":1"),
        ("\"revolutions mátrix\"", ":0"),
        ("fine -mátrix", ":1"),
        ("revolutions -mátrix", ":0"),
        ("%Mátrox%", ":1"),
        ("film", ":1"),
        ("épée", ":0"),
        ("epee", ":0"),
    ] {
        assert_eq!(count(&mut client, query), expected, "{query}");
        // VERBATIM leaves out synonyms.
        if !query.contains(['*', '%']) && query != "film" {
            let request = ["FT.SEARCH", "i", query, "SCORER", "INSTANT", "VERBATIM", "LIMIT", "0", "0"];
            let reply = client.call(&request);
            assert!(reply.ends_with(expected) || expected == ":0", "{query}: {reply}");
        }
    }
}

#[test]
fn long_word_is_not_found_by_itself() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE i SCHEMA t TEXT"), "+OK");
    let word = "k".repeat(200);
    client.call(&["HSET", "a", "t", &word]);
    for query in [word.clone(), format!("{word}*"), "k".repeat(129), format!("\"{word}\"")] {
        assert_eq!(count(&mut client, &query), ":1", "{query}");
    }
}

#[test]
fn option_of_a_search_says_nothing() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE i PAYLOAD_FIELD p SCHEMA t TEXT n NUMERIC"), "+OK");
    for (key, payload) in [("a", "aaaa"), ("b", "aaab"), ("c", "longer")] {
        client.call(&["HSET", key, "t", "word", "p", payload]);
    }
    let reply = client.say("FT.SEARCH i word SCORER HAMMING PAYLOAD aaaa WITHSCORES NOCONTENT");
    assert_eq!(reply, "*7 :3 $1 a $1 1 $1 b $18 0.3333333333333333 $1 c $1 0");
    let reply =
        client.say("FT.SEARCH i word SCORER HAMMING PAYLOAD aaaa WITHSCORES NOCONTENT SORTBY t LIMIT 1 1");
    assert_eq!(reply, "*3 :3 $1 b $18 0.3333333333333333");
    for request in [
        "FT.SEARCH i word SCORER INSTANT SLOP 0",
        "FT.SEARCH i word SCORER INSTANT INORDER",
        "FT.SEARCH i word CAP 10",
        "FT.SEARCH i word POPULARITY n",
        "FT.AGGREGATE i word SCORER INSTANT ADDSCORES",
    ] {
        let reply = client.say(request);
        assert!(reply.starts_with('-'), "{request}: {reply}");
    }
}

#[test]
fn search_that_takes_too_long_answers_nothing_as_if_that_were_all() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE i SCHEMA t TEXT"), "+OK");
    for key in 0..400 {
        client.call(&["HSET", &format!("d:{key}"), "t", &"hello world ".repeat(4)]);
    }
    // Each alternative reads all documents.
    let query = vec!["hello"; 300].join("|");
    let reply = client.call(&["FT.SEARCH", "i", &query, "LIMIT", "0", "1", "TIMEOUT", "1"]);
    assert_eq!(reply, "-Timeout limit was reached");
}

#[test]
fn failure_is_counted_as_often_as_it_is_looked_at() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE i SCHEMA n NUMERIC"), "+OK");
    for request in ["MULTI", "HSET a n abc", "FT.SEARCH i *", "FT.SEARCH i *", "EXEC"] {
        client.say(request);
    }
    let is_one = |client: &mut Client<'_>| {
        let info = client.say("FT.INFO i");
        info.contains("hash_indexing_failures :1 ") || info.contains("hash_indexing_failures $1 1 ")
    };
    assert!(is_one(&mut client));
    // One that was there before the index.
    assert_eq!(client.say("FT.DROPINDEX i"), "+OK");
    assert_eq!(client.say("FT.CREATE i SCHEMA n NUMERIC"), "+OK");
    settle(&server, NOW_MS);
    assert!(is_one(&mut client));
}

#[test]
fn index_is_changed_by_a_user_who_may_not_read_its_keys() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE i PREFIX 1 film: SCHEMA t TEXT"), "+OK");
    assert_eq!(client.say("FT.ALIASADD a i"), "+OK");
    client.say("HSET film:1 t word");
    let reply = client.say("FT.AGGREGATE i * LOAD 1 @t WITHCURSOR COUNT 1");
    assert!(!reply.starts_with('-'), "{reply}");
    assert_eq!(client.say("ACL SETUSER u on nopass +@all ~other:*"), "+OK");
    assert_eq!(client.say("AUTH u x"), "+OK");
    for request in [
        "FT.ALTER i SCHEMA ADD n NUMERIC",
        "FT.DROPINDEX i",
        "FT.ALIASADD b i",
        "FT.ALIASUPDATE b i",
        "FT.ALIASDEL a",
        "FT.SYNUPDATE i g word",
        "FT.SYNDUMP i",
        "FT.INFO i",
        "FT.EXPLAIN i word",
        "FT.SEARCH i word",
    ] {
        let reply = client.say(request);
        assert!(reply.starts_with("-NOPERM"), "{request}: {reply}");
    }
}
