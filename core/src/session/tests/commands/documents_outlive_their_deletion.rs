//! Documents stay although their deletion was answered well, or go although it was refused: while an index is made anew, in transactions, at
//! keys of other types.

use serde_json::{Value, json};

use super::browser_sees_other_hits::{ALL, SETTINGS, ask, good, open, settle};
use super::functions_of_the_store::{Client, Log};
use crate::limits::SEARCH_HTTP_REINDEXED_AT_ONCE;
use crate::server::search::Progress;

const MANY: usize = SEARCH_HTTP_REINDEXED_AT_ONCE + 1;

/// Begins to make more documents anew than one request does, since these attributes are for filters now.
fn begin_anew(client: &mut Client<'_>, attributes: &[&str]) {
    let documents: Value = (1..=MANY).map(|id| json!({"id": id, "t": id, "year": id % 10})).collect();
    good(client, ("POST", ALL), documents);
    good(client, ("PATCH", SETTINGS), json!({"filterableAttributes": attributes}));
}

#[test]
fn documents_stay_since_they_are_being_indexed() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    begin_anew(&mut client, &["year"]);
    client.say("SET films:string 1");
    good(&mut client, ("DELETE", ALL), Value::Null);
    assert_eq!(client.say("DBSIZE"), ":1", "the string is no document");
    settle(&server);

    begin_anew(&mut client, &["year", "t"]);
    let (status, answer) =
        ask(&mut client, ("POST", "/indexes/films/documents/delete", ""), &json!({"filter": "year = 3"}));
    assert_eq!((status, &answer["code"]), (503, &json!("index_not_accessible")));
    good(&mut client, ("DELETE", "/indexes/films"), Value::Null);
    assert_eq!(client.say("DBSIZE"), ":1");
}

#[test]
fn filter_finds_no_documents_that_are_not_indexed_yet() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["year"]}));
    client.say("FT.DROPINDEX films");
    client.say("HSET films:1 year 3");
    client.say("HSET films:2 year 4");
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["year"]}));
    client.say("HSET films:3 year 3");
    good(&mut client, ("POST", "/indexes/films/documents/delete"), json!({"filter": "year = 3"}));
    assert_eq!(client.say("EXISTS films:1 films:3"), ":0");
    assert_eq!(client.say("EXISTS films:2"), ":1");
}

#[test]
fn index_is_dropped_with_the_documents_of_before_a_transaction() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    client.say("FT.CREATE i PREFIX 1 film: SCHEMA title TEXT");
    for key in [1, 3, 5] {
        client.say(&format!("HSET film:{key} title red"));
    }
    settle(&server);
    for request in [
        "MULTI",
        "HSET film:2 title red",
        "SET film:1 string",
        "RENAME film:3 film:4",
        "RENAME film:5 other",
        "FT.DROPINDEX i DD",
    ] {
        client.say(request);
    }
    client.say("EXEC");
    assert_eq!(client.say("EXISTS film:2 film:3 film:4 film:5"), ":0");
    assert_eq!(client.say("GET film:1"), "$6 string");
    assert_eq!(client.say("EXISTS other"), ":1");

    client.say("MULTI");
    client.call(&["FT.HTTP", "POST", ALL, "", r#"[{"id": 1}]"#]);
    client.call(&["FT.HTTP", "DELETE", "/indexes/films", "", ""]);
    let reply = client.say("EXEC");
    assert!(!reply.contains("error"), "{reply}");
    assert_eq!(client.say("EXISTS films:1"), ":0");
}

#[test]
fn primary_key_changes_since_documents_are_not_counted_yet() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    begin_anew(&mut client, &["year"]);
    let code = |answer: (u16, Value)| answer.1["error"]["code"].clone();
    let added = ask(&mut client, ("POST", ALL, "primaryKey=t"), &json!([{"id": 1, "t": 7}]));
    assert_eq!(code(added), "index_primary_key_already_exists");
    let changed = ask(&mut client, ("PATCH", "/indexes/films", ""), &json!({"primaryKey": "t"}));
    assert_eq!(code(changed), "index_primary_key_already_exists");
    settle(&server);
    good(&mut client, ("DELETE", ALL), Value::Null);
    settle(&server);
    good(&mut client, ("PATCH", "/indexes/films"), json!({"primaryKey": "t"}));
}

#[test]
fn refused_request_makes_an_index() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    assert_eq!(ask(&mut client, ("PATCH", SETTINGS, ""), &json!({"bogus": 1})).0, 400);
    assert_eq!(ask(&mut client, ("GET", "/indexes/films", ""), &Value::Null).0, 404);
}

/// Clients send the settings and the first documents at once.
#[cfg(not(target_arch = "wasm32"))]
#[test]
fn index_that_is_made_meanwhile_is_taken_for_a_stranger() {
    const ROUNDS: usize = 20_000;
    let server = open(&Log::default());
    let repeat = |method: &'static str, path: &'static str, body: Value| {
        let server = &server;
        move || {
            let mut client = Client::of(server);
            for _ in 0..ROUNDS {
                good(&mut client, (method, path), body.clone());
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = [
            scope.spawn(repeat("POST", ALL, json!([{"id": 1, "title": "red"}]))),
            scope.spawn(repeat("PATCH", SETTINGS, json!({"filterableAttributes": ["title"]}))),
        ];
        let mut client = Client::of(&server);
        while threads.iter().any(|thread| !thread.is_finished()) {
            client.say("FLUSHALL");
        }
    });
}

#[test]
fn document_replaces_a_value_of_another_type() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    client.say("SET films:9 string");
    for method in ["POST", "PUT"] {
        let reply = client.call(&["FT.HTTP", method, ALL, "", r#"[{"id": 8}, {"id": 9}]"#]);
        assert!(reply.starts_with("-WRONGTYPE"), "{reply}");
    }
    assert_eq!(client.say("GET films:9"), "$6 string");
    assert_eq!(client.say("EXISTS films:8"), ":0");
    assert_eq!(ask(&mut client, ("GET", "/indexes/films", ""), &Value::Null).0, 404);
}

#[test]
fn alias_leads_to_other_keys() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    good(&mut client, ("POST", ALL), json!([{"id": 1, "title": "red"}]));
    assert_eq!(client.say("FT.ALIASADD other films"), "+OK");
    let others = [("POST", "/indexes/other/search"), ("GET", "/indexes/other/documents/1")];
    for (method, path) in others {
        let (status, answer) = ask(&mut client, (method, path, ""), &json!({}));
        assert_eq!((status, &answer["code"]), (404, &json!("index_not_found")), "{path}");
    }
    let (_, answer) = ask(&mut client, ("POST", "/indexes/other/documents", ""), &json!([{"id": 1}]));
    assert_eq!(answer["error"]["code"], "index_already_exists");
    assert_eq!(client.say("EXISTS other:1"), ":0");
}

#[test]
fn index_is_dropped_without_documents_that_are_not_indexed_yet() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    client.say("HSET film:1 title red year 1");
    client.say("HSET film:2 title red year 2");
    client.say("HSET other:1 title red year 1");
    client.say("SET film:3 string");
    assert_eq!(
        client.say("FT.CREATE i PREFIX 1 film: FILTER @year==1 SCHEMA title TEXT year NUMERIC"),
        "+OK"
    );
    assert_eq!(client.say("FT.DROPINDEX i DD"), "+OK");
    assert_eq!(client.say("EXISTS film:1"), ":0");
    assert_eq!(
        client.say("EXISTS film:2 film:3 other:1"),
        ":3",
        "the filter keeps one out, the others are none"
    );

    client.say("FT.CREATE i PREFIX 1 film: SKIPINITIALSCAN SCHEMA title TEXT");
    client.say("HSET film:4 title red");
    assert_eq!(client.say("FT.DROPINDEX i DD"), "+OK");
    assert_eq!(client.say("EXISTS film:2 film:4"), ":1", "the index was to skip what was there");
}

#[test]
fn filter_deletes_less_while_an_index_is_read_again() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["year"]}));
    good(&mut client, ("POST", ALL), json!([{"id": 1, "year": 3}, {"id": 2, "year": 4}]));
    settle(&server);
    let present = server.shared.search.present();
    let index = present.named(0, b"films").expect("an index");
    for progress in [Progress::Closed, Progress::Rebuilding { left: 1, of: 2 }] {
        index.contents.set_progress(progress);
        let filter = json!({"filter": "year = 3"});
        let (status, answer) = ask(&mut client, ("POST", "/indexes/films/documents/delete", ""), &filter);
        assert_eq!((status, &answer["code"]), (503, &json!("index_not_accessible")));
    }
    good(&mut client, ("DELETE", ALL), Value::Null);
    assert_eq!(client.say("DBSIZE"), ":0");
}
