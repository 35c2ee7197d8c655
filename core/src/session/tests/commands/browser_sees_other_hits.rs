//! What a client of the HTTP dialect sees: each request is FT.HTTP's.

use std::sync::Arc;

use serde_json::{Value, json};

use super::functions_of_the_store::{Client, Log, NOW_MS, start};
use crate::bitcask::Bitcask;
use crate::command::search;
use crate::executor::Indexing;
use crate::limits::SEARCH_HTTP_REINDEXED_AT_ONCE;
use crate::server::Server;
use crate::storage::{Simulation, Storage};

pub(super) fn open(log: &Log) -> Server<Bitcask> {
    let storage: Arc<dyn Storage> = Arc::new(Simulation::new(1).open().expect("open"));
    let server = start(&storage, log);
    assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
    server
}

pub(super) fn settle(server: &Server<Bitcask>) {
    let mut indexing = Indexing::new(&server.shared);
    let steps = (0..10_000).find(|_| !indexing.step(server, NOW_MS).expect("a healthy store"));
    assert!(steps.is_some(), "the upkeep has no end");
}

/// The status and the body of an answer.
pub(super) fn ask(
    client: &mut Client<'_>,
    (method, path, query): (&str, &str, &str),
    body: &Value,
) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let reply = client.call(&["FT.HTTP", method, path, query, &body]);
    let status = reply.strip_prefix("*3 :").and_then(|rest| rest.get(..3)?.parse().ok());
    let text = reply.splitn(6, ' ').nth(5).unwrap_or_default();
    (status.unwrap_or_else(|| panic!("{reply}")), serde_json::from_str(text).expect("JSON"))
}

pub(super) fn good(client: &mut Client<'_>, (method, path): (&str, &str), body: Value) -> Value {
    let (status, answer) = ask(client, (method, path, ""), &body);
    assert!(status < 300 && answer.get("error").is_none_or(Value::is_null), "{method} {path}: {answer}");
    answer
}

pub(super) fn found(client: &mut Client<'_>, search: Value) -> Value {
    good(client, ("POST", "/indexes/films/search"), search)
}

pub(super) fn ids(answer: &Value) -> Vec<u64> {
    let hits = answer["hits"].as_array().expect("hits");
    hits.iter().filter_map(|hit| hit["id"].as_u64()).collect()
}

pub(super) const ALL: &str = "/indexes/films/documents";
pub(super) const SETTINGS: &str = "/indexes/films/settings";

/// Films of one series, of which the number alone tells some apart.
fn filled(client: &mut Client<'_>, settings: Value) {
    good(client, ("PATCH", SETTINGS), settings);
    let films = json!([
        {"id": 1, "title": "Star Wars", "votes": 800, "kind": "a"},
        {"id": 2, "title": "Star Wars", "votes": 700, "kind": "b"},
        {"id": 3, "title": "Star Wars", "votes": 900, "kind": "a"},
        {"id": 4, "title": "Star of many Wars", "votes": 5000, "kind": "b"},
        {"id": 5, "title": "Stare Wars", "votes": 9000, "kind": "c"},
    ]);
    good(client, ("POST", ALL), films);
}

const RULES: [&str; 6] = ["words", "typo", "proximity", "attribute", "sort", "exactness"];

#[test]
fn rule_of_the_index_changes_nothing_once_a_word_is_typed() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({"sortableAttributes": ["votes"], "searchableAttributes": ["title"]}));
    for (rule, order, first) in [("votes:desc", [3, 1, 2, 4], 5), ("votes:asc", [2, 1, 3, 4], 2)] {
        let rules: Vec<&str> = RULES.into_iter().chain([rule]).collect();
        good(&mut client, ("PATCH", SETTINGS), json!({"rankingRules": rules}));
        let some = ids(&found(&mut client, json!({"q": "star wars "})));
        assert_eq!(some, order, "{rule}: proximity outweighs it, and it breaks ties exactly");
        assert_eq!(ids(&found(&mut client, json!({"q": ""})))[0], first, "{rule}");
    }
    // Before the rules about words it outweighs them.
    good(
        &mut client,
        ("PATCH", SETTINGS),
        json!({"rankingRules": ["votes:desc", "words", "typo", "proximity"]}),
    );
    assert_eq!(ids(&found(&mut client, json!({"q": "wars"}))), [5, 4, 3, 1, 2]);
    // Rules that are not in the list count for nothing.
    good(&mut client, ("PATCH", SETTINGS), json!({"rankingRules": ["words", "votes:desc"]}));
    assert_eq!(ids(&found(&mut client, json!({"q": "star wars ", "limit": 4}))), [4, 3, 1, 2]);
    let (status, answer) =
        ask(&mut client, ("POST", "/indexes/films/search", ""), &json!({"q": "", "sort": ["votes:asc"]}));
    assert_eq!((status, &answer["code"]), (400, &json!("invalid_search_sort")), "no rule `sort`");
}

#[test]
fn threshold_thins_the_page_and_not_the_total() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({"filterableAttributes": ["kind"]}));
    let search = |more: Value| {
        let mut search = json!({"q": "star wars", "facets": ["kind"], "showRankingScore": true});
        search.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        search
    };
    let all = found(&mut client, search(json!({})));
    let score = |at: usize| all["hits"][at]["_rankingScore"].as_f64().expect("a score");
    let least = (score(2) + score(3)) / 2.0;
    assert!(score(2) > score(3));
    let some = found(&mut client, search(json!({"rankingScoreThreshold": least})));
    assert_eq!((ids(&some), &some["estimatedTotalHits"]), (vec![1, 2, 3], &json!(3)));
    assert_eq!(some["facetDistribution"]["kind"], json!({"a": 2, "b": 1}));
    let paged =
        found(&mut client, search(json!({"rankingScoreThreshold": least, "hitsPerPage": 2, "page": 2})));
    assert_eq!((ids(&paged), &paged["totalPages"], &paged["totalHits"]), (vec![3], &json!(2), &json!(3)));
}

#[test]
fn search_takes_no_time() {
    let server = open(&Log::with_clock(3_000_000));
    let mut client = Client::of(&server);
    filled(&mut client, json!({"filterableAttributes": ["kind"]}));
    assert!(found(&mut client, json!({"q": "star"}))["processingTimeMs"].as_u64() > Some(0));
    let body = json!({"facetName": "kind", "exhaustiveFacetCount": true});
    let answer = good(&mut client, ("POST", "/indexes/films/facet-search"), body);
    assert!(answer["processingTimeMs"].as_u64() > Some(0));
    // A client keeps the answer to GET by its tag, which a time would change.
    let answer = good(&mut client, ("GET", "/indexes/films/search"), Value::Null);
    assert_eq!(answer["processingTimeMs"], 0);
}

#[test]
fn task_succeeds_before_documents_are_made_anew() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    let documents = |range: std::ops::RangeInclusive<usize>| -> Value {
        range.map(|id| json!({"id": id, "year": id % 10})).collect()
    };
    good(&mut client, ("POST", ALL), documents(1..=SEARCH_HTTP_REINDEXED_AT_ONCE));
    settle(&server);
    let change = |client: &mut Client<'_>, attributes: &[&str]| {
        let body = json!({"filterableAttributes": attributes});
        good(client, ("PATCH", SETTINGS), body)["taskUid"].to_string()
    };
    let status = |client: &mut Client<'_>, task: &str| {
        good(client, ("GET", &format!("/tasks/{task}")), Value::Null)["status"].clone()
    };
    let few = change(&mut client, &["year"]);
    assert_eq!(status(&mut client, &few), "succeeded", "made anew at once");
    good(&mut client, ("POST", ALL), json!([{"id": 0, "year": 0}]));
    let many = change(&mut client, &["year", "id"]);
    let again = change(&mut client, &["year", "id", "kind"]);
    for task in [&many, &again] {
        assert_eq!(status(&mut client, task), "processing");
    }
    settle(&server);
    for task in [&many, &again] {
        assert_eq!(status(&mut client, task), "succeeded");
    }
    assert_eq!(found(&mut client, json!({"filter": "year = 3"}))["estimatedTotalHits"], 1000);
}

#[test]
fn parameter_of_documents_is_ignored() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({}));
    let update = json!([{"id": 1, "votes": 1}, {"id": 77, "title": "Alien"}]);
    let (status, _) = ask(&mut client, ("PUT", ALL, "skipCreation=true"), &update);
    assert_eq!(status, 202);
    assert_eq!(good(&mut client, ("GET", "/indexes/films/documents/1"), Value::Null)["votes"], 1);
    assert_eq!(ask(&mut client, ("GET", "/indexes/films/documents/77", ""), &Value::Null).0, 404);
    for query in ["customMetadata=x", "csvDelimiter=;", "skipCreation=perhaps"] {
        assert_eq!(ask(&mut client, ("POST", ALL, query), &update).0, 400, "{query}");
    }
    assert_eq!(ask(&mut client, ("GET", ALL, "retrieveVectors=true"), &Value::Null).0, 400);
    assert_eq!(ask(&mut client, ("GET", ALL, "retrieveVectors=false"), &Value::Null).0, 200);
}

#[test]
fn stop_words_and_synonyms_hold_for_one_word_only() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({"stopWords": ["of the", "don't"], "synonyms": {"Krieg": ["wars"]}}));
    let strict = |q: &str| json!({"q": q, "matchingStrategy": "all"});
    assert_eq!(ids(&found(&mut client, strict("star of the wars "))).len(), 4);
    assert_eq!(ids(&found(&mut client, strict("don't star of wars "))), [4], "only both words are left out");
    assert_eq!(ids(&found(&mut client, strict("star krieg "))).len(), 4);
}

/// Documents of an index whose attribute `p` is filterable and sortable.
fn with_p(client: &mut Client<'_>, values: &[Value]) {
    let settings = json!({"filterableAttributes": ["p"], "sortableAttributes": ["p"]});
    good(client, ("PATCH", SETTINGS), settings);
    let documents: Value = (1..).zip(values).map(|(id, p): (usize, _)| json!({"id": id, "p": p})).collect();
    good(client, ("POST", ALL), documents);
}

#[test]
fn array_counts_by_its_first_element() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    with_p(&mut client, &[json!([5, 1, 9]), json!([4]), json!([6, 2]), json!(["z", "B"]), json!(["c"])]);
    let answer = found(&mut client, json!({"facets": ["p"]}));
    assert_eq!(answer["facetStats"]["p"], json!({"min": 1, "max": 9}));
    assert_eq!(ids(&found(&mut client, json!({"sort": ["p:asc"]}))), [1, 3, 2, 4, 5]);
    assert_eq!(ids(&found(&mut client, json!({"sort": ["p:desc"]}))), [1, 3, 2, 5, 4]);
}

#[test]
fn facet_counts_other_documents_than_its_filter() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["p"]}));
    let documents = r#"[{"id":1,"p":1.50},{"id":2,"p":1.5},{"id":3,"p":15e-1},{"id":4,"p":[1.500,-0.0,0]},
        {"id":5,"p":9007199254740993},{"id":6,"p":"ΟΔΟΣ"},{"id":7,"p":"οδος"},{"id":8,"p":"Οδοσ"}]"#;
    let reply = client.call(&["FT.HTTP", "POST", ALL, "", documents]);
    assert!(reply.starts_with("*3 :202 "), "{reply}");
    let counts = found(&mut client, json!({"facets": ["p"]}))["facetDistribution"]["p"].clone();
    assert_eq!(counts, json!({"1.5": 4, "0": 1, "9007199254740993": 1, "ΟΔΟΣ": 3}));
    for (value, count) in counts.as_object().expect("an object") {
        for value in [value.as_str(), if value == "1.5" { "1.50" } else { value }] {
            let answer = found(&mut client, json!({"filter": format!("p = \"{value}\""), "facets": ["p"]}));
            assert_eq!(&answer["estimatedTotalHits"], count, "{value}");
        }
    }
}

#[test]
fn hits_share_a_value_by_which_they_are_distinct() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    let lists = [json!(["a", "b"]), json!(["B", "c"]), json!(["c"]), json!([]), json!(null), json!("A")];
    with_p(&mut client, &lists);
    let answer = found(&mut client, json!({"distinct": "p"}));
    assert_eq!(ids(&answer), [1, 3, 4, 5]);
    assert_eq!(answer["estimatedTotalHits"], 4);
}

#[test]
fn facet_is_not_found_by_its_words() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    with_p(&mut client, &[json!("Sci-Fi"), json!("Science"), json!("C++"), json!("Hi Sci-Fi")]);
    for (query, values) in [
        ("sci fi", vec!["Hi Sci-Fi", "Sci-Fi"]),
        ("sci-f", vec!["Hi Sci-Fi", "Sci-Fi"]),
        ("sci", vec!["Hi Sci-Fi", "Sci-Fi", "Science"]),
        ("ci", vec![]),
        ("c+", vec!["C++"]),
        ("++", vec![]),
    ] {
        let body = json!({"facetName": "p", "facetQuery": query});
        let answer = good(&mut client, ("POST", "/indexes/films/facet-search"), body);
        let hits = answer["facetHits"].as_array().expect("hits");
        let found: Vec<&str> = hits.iter().filter_map(|hit| hit["value"].as_str()).collect();
        assert_eq!(found, values, "{query}");
    }
}

#[test]
fn document_with_a_wrong_position_is_taken() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    let wrong = [
        json!("x"),
        json!([1, 2]),
        json!({"lat": 95, "lng": 1}),
        json!({"lat": 1}),
        json!({"lat": 1, "lng": "x"}),
    ];
    let code = |client: &mut Client<'_>, geo: &Value| {
        let (status, answer) = ask(client, ("POST", ALL, ""), &json!([{"id": 1}, {"id": 2, "_geo": geo}]));
        assert_eq!(status, 202, "{answer}");
        answer["error"]["code"].clone()
    };
    assert_eq!(code(&mut client, &wrong[0]), Value::Null, "nothing asks for positions");
    good(&mut client, ("DELETE", ALL), Value::Null);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["_geo"]}));
    for geo in &wrong {
        assert_eq!(code(&mut client, geo), "invalid_document_geo_field", "{geo}");
    }
    assert_eq!(ids(&found(&mut client, json!({}))), [0; 0], "all or none");
    for geo in [json!(null), json!({"lat": "-90", "lng": 180})] {
        assert_eq!(code(&mut client, &geo), Value::Null, "{geo}");
    }
}

#[test]
fn attribute_is_taken_for_an_option() {
    const OPTIONS: [&str; 14] = [
        "weight",
        "sortable",
        "noindex",
        "separator",
        "nostem",
        "withsuffixtrie",
        "indexempty",
        "indexmissing",
        "casesensitive",
        "phonetic",
        "unf",
        "as",
        "\0,",
        "*",
    ];
    let machine = Simulation::new(1);
    let log = Log::default();
    {
        let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("open"));
        let server = start(&storage, &log);
        let mut client = Client::of(&server);
        let mut film = json!({"id": 1, "title": "other"});
        for option in OPTIONS {
            film[option] = json!(["word", option]);
        }
        good(&mut client, ("POST", ALL), json!([film]));
        let some = &OPTIONS[..13];
        good(
            &mut client,
            ("PATCH", SETTINGS),
            json!({"filterableAttributes": some, "sortableAttributes": some}),
        );
        good(&mut client, ("PATCH", SETTINGS), json!({"searchableAttributes": some}));
    }
    let storage: Arc<dyn Storage> = Arc::new(machine.after_kill().open().expect("open"));
    let server = start(&storage, &log);
    assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
    let mut client = Client::of(&server);
    assert_eq!(ids(&found(&mut client, json!({"q": "word", "filter": "weight = word"}))), [1]);
    let schema = "FT.CREATE i PREFIX 1 film: SCHEMA title TEXT";
    assert_eq!(client.say(schema), "+OK");
    for option in &OPTIONS[..12] {
        assert_eq!(client.say(&format!("FT.ALTER i SCHEMA ADD {option} NUMERIC")), "+OK");
    }
    assert!(client.say("FT.ALTER i SCHEMA ADD \0, NUMERIC").starts_with("-Invalid field name"));
    assert!(client.say("FT.CREATE j SCHEMA \0, TEXT").starts_with("-Invalid field name"));
    client.say("HSET film:1 weight 7");
    settle(&server);
    assert!(client.say("FT.SEARCH i @weight:[7,7] NOCONTENT").contains("film:1"));
    assert!(!client.say("FT.INFO i").contains('\0'));
}

#[test]
fn token_for_searches_reads_what_no_search_displays() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({"displayedAttributes": ["id", "title"]}));
    client.say("ACL SETUSER page on >p ~films:* +ft.http_ro");
    client.say("ACL SETUSER reader on >p %R~films:* +@read");
    client.say("ACL SETUSER half on >p ~films:* +ft.http_ro (~other:* +hgetall)");
    let status = |user: &str, (method, path): (&str, &str)| {
        let mut client = Client::of(&server);
        assert_eq!(client.say(&format!("AUTH {user} p")), "+OK");
        let reply = client.call(&["FT.HTTP_RO", method, path, "", "{}"]);
        reply.split(' ').nth(1).unwrap_or_default().trim_start_matches(':').to_owned()
    };
    for request in [("POST", "/indexes/films/search"), ("GET", "/indexes/films/search"), ("GET", "/health")] {
        assert_eq!(status("page", request), "200", "{request:?}");
    }
    for request in [
        ("GET", ALL),
        ("GET", "/indexes/films/documents/1"),
        ("POST", "/indexes/films/documents/fetch"),
        ("GET", SETTINGS),
        ("GET", "/indexes/films/settings/synonyms"),
        ("GET", "/indexes/films/stats"),
        ("GET", "/indexes/films"),
        ("GET", "/indexes"),
        ("GET", "/tasks"),
    ] {
        assert_eq!(status("reader", request), "200", "{request:?}");
        assert_eq!(status("page", request), "FT.HTTP_RO", "{request:?}");
        assert_eq!(status("half", request), "FT.HTTP_RO", "{request:?}");
    }
}

#[test]
fn words_of_other_attributes_are_found() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({}));
    good(&mut client, ("POST", ALL), json!([{"id": 6, "later": "comet", "even": "comet"}]));
    let search = |name: &str| json!({"q": "comet", "attributesToSearchOn": [name]});
    assert_eq!(ids(&found(&mut client, json!({"q": "comet"}))), [6]);
    assert_eq!(ids(&found(&mut client, search("title"))), Vec::<u64>::new());
    for name in ["later", "never"] {
        let (status, answer) = ask(&mut client, ("POST", "/indexes/films/search", ""), &search(name));
        let code = json!("invalid_search_attributes_to_search_on");
        assert_eq!((status, &answer["code"]), (400, &code), "{name}");
    }
    good(&mut client, ("PATCH", SETTINGS), json!({"searchableAttributes": ["title", "later", "never"]}));
    assert_eq!(ids(&found(&mut client, search("later"))), [6]);
    assert_eq!(ids(&found(&mut client, search("never"))), Vec::<u64>::new());
}

#[test]
fn number_is_read_as_the_one_beside_it() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    // Numbers of 16 and 17 digits, some of which a quick way to read them gets wrong.
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let numbers: Vec<f64> = std::iter::once(0.9179550430877189).chain((0..100).map(|_| next())).collect();
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["p"]}));
    let films: Value = (1..).zip(&numbers).map(|(id, p): (usize, _)| json!({"id": id, "p": p})).collect();
    good(&mut client, ("POST", ALL), films);
    for (id, number) in (1u64..).zip(&numbers) {
        let answer = found(&mut client, json!({"filter": format!("p >= {number} AND p <= {number}")}));
        assert_eq!(ids(&answer), [id], "{number}");
    }
}

#[test]
fn filter_of_a_fetch_is_ignored() {
    let server = open(&Log::default());
    let mut client = Client::of(&server);
    filled(&mut client, json!({"filterableAttributes": ["kind"]}));
    let body = json!({"ids": [1, 2, 3, 77], "filter": "kind = a", "limit": 1, "offset": 1});
    let answer = good(&mut client, ("POST", "/indexes/films/documents/fetch"), body);
    assert_eq!((answer["total"].clone(), answer["results"][0]["id"].clone()), (json!(2), json!(3)));
    let answer = good(&mut client, ("POST", "/indexes/films/documents/fetch"), json!({"ids": [5, 1, 5]}));
    assert_eq!(answer["total"], 2);
}

#[test]
fn phrase_goes_over_into_the_next_attribute() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(
        &mut client,
        ("POST", ALL),
        json!([{"id": 1, "title": "the big", "plot": "apple pie"}, {"id": 2, "title": "big apple", "plot": "x"}]),
    );
    settle(&server);
    let mut of = |q: &str| ids(&found(&mut client, json!({ "q": q })));
    assert_eq!(of("\"big apple\""), [2]);
    assert_eq!(of("-\"big apple\""), [1]);
    assert_eq!(of("-\"apple pie\" big"), [2]);
}

#[test]
fn filter_of_many_numbers_takes_too_long() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["n", "tag"]}));
    let documents: Vec<Value> =
        (0..2_000).map(|id| json!({"id": id, "n": [id, -id], "tag": format!("t{id}")})).collect();
    good(&mut client, ("POST", ALL), json!(documents));
    settle(&server);
    client.say("FT.CONFIG SET TIMEOUT 1");
    let mut total = |filter: String| {
        let answer = found(&mut client, json!({"filter": filter, "limit": 0, "hitsPerPage": 1}));
        answer["totalHits"].clone()
    };
    let list = |sign: &str| (0..900).map(|n| format!("{sign}{}", 2 * n)).collect::<Vec<_>>().join(",");
    assert_eq!(total(format!("n IN [{}]", list(""))), 900);
    assert_eq!(total(format!("n IN [{}]", list("-"))), 900, "second numbers of arrays");
    let any = (0..900).map(|n| format!("n = {n}.0 OR n {n} TO {}", n + 3)).collect::<Vec<_>>().join(" OR ");
    assert_eq!(total(any), 903);
    assert_eq!(total("n = 1 OR n > 1990 OR n < -1998 OR tag = t5".to_owned()), 11);
}

#[test]
fn hash_is_not_found_by_the_id_that_it_is_shown_with() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["id"]}));
    good(&mut client, ("POST", ALL), json!([{"id": 7, "title": "Up"}]));
    client.call(&["HSET", "films:8", "title", "Down", "seen", "true"]);
    settle(&server);
    assert_eq!(ids(&found(&mut client, json!({"filter": "id = 8"}))), [8]);
    assert_eq!(ids(&found(&mut client, json!({"filter": "id >= 7"}))), [7, 8]);
    let stats = good(&mut client, ("GET", "/indexes/films/stats"), Value::Null);
    assert_eq!(stats["fieldDistribution"], json!({"id": 2, "title": 2}));
    client.say("DEL films:7");
    settle(&server);
    let stats = good(&mut client, ("GET", "/indexes/films/stats"), Value::Null);
    assert_eq!(
        stats,
        json!({"numberOfDocuments": 1, "isIndexing": false, "fieldDistribution": {"id": 1, "title": 1}})
    );
}

#[test]
fn hash_that_was_there_before_the_primary_key_has_no_id() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(&mut client, ("POST", "/indexes"), json!({"uid": "films"}));
    good(
        &mut client,
        ("PATCH", SETTINGS),
        json!({"filterableAttributes": ["id"], "searchableAttributes": ["title"]}),
    );
    client.call(&["HSET", "films:8", "title", "Down"]);
    settle(&server);
    assert_eq!(ids(&found(&mut client, json!({"filter": "id = 8"}))), [0; 0]);
    good(&mut client, ("POST", ALL), json!([{"id": 7, "title": "Up"}]));
    settle(&server);
    assert_eq!(ids(&found(&mut client, json!({"filter": "id = 8"}))), [8]);
}

#[test]
fn positions_and_marks_of_a_hit_take_all_memory() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    let words = vec!["a"; 40_000];
    let nested = (0..100).fold(json!(words), |inner, _| json!([inner]));
    good(&mut client, ("POST", ALL), json!([{"id": 1, "title": nested}]));
    settle(&server);
    let few =
        found(&mut client, json!({"q": "a", "attributesToRetrieve": ["id"], "showMatchesPosition": true}));
    let of_title = few["hits"][0]["_matchesPosition"]["title"].as_array().expect("matches");
    assert_eq!((of_title.len(), of_title[39_999]["indices"].as_array().map(Vec::len)), (40_000, Some(101)));
    let search = |tag: String| json!({"q": "a", "attributesToHighlight": ["title"], "highlightPreTag": tag});
    assert_eq!(ids(&found(&mut client, search("<b>".to_owned()))), [1]);
    let path = ("POST", "/indexes/films/search", "");
    let (status, answer) = ask(&mut client, path, &search("x".repeat(4_000)));
    assert_eq!((status, &answer["code"]), (413, &json!("payload_too_large")), "160 MB");
}

#[test]
fn documents_are_gone_in_a_transaction_that_has_changed_settings() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["a"]}));
    let documents: Vec<Value> = (1..=5).map(|id| json!({"id": id, "a": id, "b": id, "t": "hello"})).collect();
    good(&mut client, ("POST", ALL), json!(documents));
    settle(&server);
    assert_eq!(client.say("MULTI"), "+OK");
    let mut put = |method: &str, path: &str, body: Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        assert_eq!(client.call(&["FT.HTTP", method, path, "", &body]), "+QUEUED");
    };
    put("PATCH", SETTINGS, json!({"filterableAttributes": ["a", "b"]}));
    put("POST", "/indexes/films/search", json!({"q": "hello", "limit": 0}));
    put(
        "POST",
        ALL,
        json!([{"id": 5, "a": 5, "b": 1, "t": "hello"}, {"id": 6, "a": 6, "b": 6, "t": "hello"}]),
    );
    put(
        "POST",
        "/indexes/films/search",
        json!({"q": "hello", "filter": "b = 1", "attributesToRetrieve": ["id"]}),
    );
    put("POST", "/indexes/films/documents/delete", json!({"filter": "b >= 4"}));
    put("POST", "/indexes/films/search", json!({"q": "hello", "limit": 0}));
    let reply = client.say("EXEC");
    let totals: Vec<&str> =
        reply.split("estimatedTotalHits\":").skip(1).filter_map(|rest| rest.split(',').next()).collect();
    assert_eq!(totals, ["5", "2", "4"], "{reply}");
    settle(&server);
    let mut left = ids(&found(&mut client, json!({"q": "hello"})));
    left.sort_unstable();
    assert_eq!(left, [1, 2, 3, 5]);
}

#[test]
fn half_a_character_hides_a_whole_object() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["o.name", "g", "n"]}));
    good(&mut client, ("POST", ALL), json!([{"id": 2, "n": 9_007_199_254_740_992u64}]));
    let half = r#"[{"id":1,"bio":["cut \ud83d"]}]"#;
    let reply = client.call(&["FT.HTTP", "POST", ALL, "", half]);
    assert!(reply.starts_with("*3 :400") && reply.contains("malformed_payload"), "{reply}");
    let whole = r#"[{"id":1,"bio":["\\ud83d \ud83d\ude00"]}]"#;
    assert!(client.call(&["FT.HTTP", "POST", ALL, "", whole]).starts_with("*3 :202"));
    // Nobody asks HSET for strict JSON.
    client.call(&["HSET", "films:1", "o", r#"{"name":"alice","bio":"cut \ud83d"}"#, "n", "9007199254740993"]);
    client.call(&["HSET", "films:1", "g", r#"["x","\\ud800\ud83d\ude00\udc00!"]"#]);
    settle(&server);
    let search =
        json!({"filter": "o.name = alice", "facets": ["g", "n"], "attributesToRetrieve": ["id", "o.bio"]});
    let answer = found(&mut client, search);
    assert_eq!(ids(&answer), [1]);
    assert_eq!(answer["hits"][0]["o"]["bio"], "cut \u{FFFD}");
    assert_eq!(answer["facetDistribution"]["g"], json!({"x": 1, "\\ud800\u{1F600}\u{FFFD}!": 1}));
    let facets = found(&mut client, json!({"facets": ["n"], "limit": 0}))["facetDistribution"]["n"].clone();
    assert_eq!(facets, json!({"9007199254740992": 1, "9007199254740993": 1}));
    let (status, answer) = ask(&mut client, ("PATCH", "/indexes/films", ""), &json!({"uid": "other"}));
    assert_eq!((status, &answer["code"]), (400, &json!("immutable_index_uid")));
}

#[test]
fn text_that_looks_like_a_number_is_compared_as_one() {
    let log = Log::default();
    let server = open(&log);
    let mut client = Client::of(&server);
    good(&mut client, ("PATCH", SETTINGS), json!({"filterableAttributes": ["a"]}));
    let body = r#"[{"id":1,"a":"7"},{"id":2,"a":"007"},{"id":3,"a":"7.0"},{"id":4,"a":7},{"id":5,"a":0.1},{"id":6,"a":0.10000000000000001},{"id":7,"a":"12e4"},{"id":8,"a":120000}]"#;
    assert!(client.call(&["FT.HTTP", "POST", ALL, "", body]).starts_with("*3 :202"));
    settle(&server);
    for (filter, expected) in [
        ("a = 7", &[1, 4][..]),
        ("a = 007", &[2, 4]),
        ("a = 7.0", &[3, 4]),
        ("a = '+7'", &[4]),
        ("a = 0.1", &[5, 6]),
        ("a = 12e4", &[7, 8]),
        ("a != 007", &[1, 3, 5, 6, 7, 8]),
        ("a IN [7.0, 120000]", &[3, 4, 8]),
    ] {
        let mut found = ids(&found(&mut client, json!({"filter": filter})));
        found.sort_unstable();
        assert_eq!(found, expected, "{filter}");
    }
}
