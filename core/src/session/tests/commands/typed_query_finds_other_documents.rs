//! What SCORER INSTANT makes of queries: which words are open, what is filtered, what is marked.

use super::functions_of_the_store::Client;
use super::search_differs_from_a_rebuild::open;
use crate::bitcask::Bitcask;
use crate::server::Server;
use crate::storage::Simulation;

/// The keys of all results, one behind the other.
fn keys(client: &mut Client<'_>, query: &str, options: &[&str]) -> String {
    let mut request = vec!["FT.SEARCH", "i", query, "NOCONTENT", "SCORER", "INSTANT"];
    request.extend_from_slice(options);
    let reply = client.call(&request);
    let mut keys: Vec<&str> = reply.split(' ').skip(3).step_by(2).collect();
    keys.sort_unstable();
    keys.concat()
}

fn filled<'s>(server: &'s Server<Bitcask>, index: &str, documents: &[(&str, &[&str])]) -> Client<'s> {
    let mut client = Client::of(server);
    assert_eq!(client.say(&format!("FT.CREATE i ANALYZER INSTANT {index}")), "+OK");
    for (key, fields) in documents {
        client.call(&[&["HSET", key], *fields].concat());
    }
    client
}

#[test]
fn word_that_is_finished_or_quoted_stands_for_others_as_one_types() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = filled(
        &server,
        "SCHEMA t TEXT u TEXT",
        &[
            ("a", &["t", "kn sta"]),
            ("b", &["t", "knight stab"]),
            ("c", &["t", "knight sta"]),
            ("d", &["t", "xta"]),
            ("e", &["t", "the big", "u", "apple"]),
        ],
    );
    let mut keys = |query: &str| keys(&mut client, query, &[]);
    assert_eq!(keys("kn* sta"), "abc", "the last word is open, and the first has a star");
    assert_eq!(keys("kn sta"), "a");
    assert_eq!(keys("kn* sta "), "ac");
    assert_eq!(keys("sta kn*"), "ac");
    assert_eq!(keys("sta kn* "), "ac", "a star opens a word whatever comes behind it");
    assert_eq!(keys("sta"), "abc");
    assert_eq!(keys("\"sta\""), "ac", "a quotation is finished");
    assert_eq!(keys("-\"sta\""), "bde");
    assert_eq!((keys("aple").as_str(), keys("\"aple\"").as_str()), ("e", ""), "a quotation has no typos");
    assert_eq!(keys("\"big apple\""), "", "a phrase goes over from one field into the next");
    assert_eq!(keys("-\"big apple\""), "abcde");
    // As in RediSearch, all other searches count words through all fields.
    assert_eq!(client.call(&["FT.SEARCH", "i", "\"big apple\"", "NOCONTENT"]), "*2 :1 $1 e");
}

#[test]
fn words_behind_a_condition_are_whole_words() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let fields: &[&str] = &["t", "Don't Look Up", "u", "brave heart", "n", "5", "g", "a"];
    let index = "STOPWORDS 0 SCHEMA t TEXT u TEXT g TAG n NUMERIC";
    let mut client = filled(
        &server,
        index,
        &[("a", fields), ("b", &["t", "vol l\u{2019}avion", "u", "brave_knights heart"])],
    );
    for dialect in ["1", "2"] {
        for query in [
            "brave hear @n:[1 9]",
            "@n:[1 9] brave hear",
            "@n:[1 9] brvae heart",
            "@g:{a} brave hear",
            "\"up\" brave hear",
            "loo* brave hear",
            "(up|x) brave hear",
            "@n:[1 9] (brave hear)",
            "don't loo",
            "\"don't look\" bra",
            "up \"don't look\"",
            "'don't' up",
        ] {
            assert_eq!(keys(&mut client, query, &["DIALECT", dialect]), "a", "{query} {dialect}");
        }
        for query in [
            "vol l\u{2019}avio",
            "heart brave_knig",
            "heart brave_knigts",
            "l\u{2019}avi*",
            "brave_kni*",
            "brave\\-knig* heart",
        ] {
            let found = keys(&mut client, query, &["DIALECT", dialect]);
            assert!(found.contains('b'), "{query} {dialect}: {found}");
        }
    }
    let typed = &["DIALECT", "2", "PARAMS", "2", "q", "brave hear"];
    assert_eq!(
        (keys(&mut client, "@n:[1 2] $q", typed), keys(&mut client, "@n:[1 9] $q", typed)),
        (String::new(), "a".into())
    );
    assert_eq!(keys(&mut client, "-don't heart", &["DIALECT", "2"]), "b");
}

#[test]
fn prefix_of_characters_without_spaces_finds_nothing() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = filled(
        &server,
        "SCHEMA t TEXT",
        &[
            ("a", &["t", "\u{6771}\u{4eac}\u{30bf}\u{30ef}\u{30fc} tower"]),
            ("b", &["t", "\u{6771}\u{4eac} tower"]),
        ],
    );
    assert_eq!(keys(&mut client, "\u{6771}\u{4eac}\u{30bf}*", &[]), "a");
    assert_eq!(keys(&mut client, "\u{6771}\u{4eac}\u{30bf}* tow", &[]), "a");
    assert_eq!(keys(&mut client, "\u{6771}\u{4eac}*", &[]), "ab");
    assert_eq!(client.call(&["FT.SEARCH", "i", "\u{6771}\u{4eac}\u{30bf}*", "NOCONTENT"]), "*2 :1 $1 a");
}

#[test]
fn stop_word_is_lost_as_one_types_or_in_a_quotation() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = filled(
        &server,
        "SCHEMA t TEXT",
        &[
            ("a", &["t", "lord of the rings"]),
            ("b", &["t", "lord rings"]),
            ("c", &["t", "Theodora Forrest"]),
            ("d", &["t", "brave heart"]),
        ],
    );
    for dialect in ["1", "2"] {
        let mut keys = |query: &str| keys(&mut client, query, &["DIALECT", dialect, "VERBATIM"]);
        assert_eq!(keys("\"lord of the rings\""), "a");
        assert_eq!(keys("\"lord rings\""), "b");
        assert_eq!((keys("the").as_str(), keys("for").as_str()), ("ac", "c"));
        assert_eq!(keys("lord the "), "ab", "a stop word is left out once it is finished");
        assert_eq!(keys("lord the ring"), "ab");
        assert_eq!((keys("lord -the"), keys("lord -the ")), ("ab".to_owned(), "ab".to_owned()));
        assert_eq!(keys("brav the "), "", "a blank ends the word before a stop word");
    }
    assert_eq!(keys(&mut client, "-\"lord of the rings\"", &["DIALECT", "2"]), "bcd");
    assert_eq!(client.call(&["FT.SEARCH", "i", "\"lord of the rings\"", "NOCONTENT"]), "*2 :1 $1 a");
}

#[test]
fn quotation_is_forgotten_or_finds_what_means_the_same() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = filled(
        &server,
        "SCHEMA t TEXT",
        &[
            ("a", &["t", "alpha one two three four five six seven eight nine"]),
            ("b", &["t", "brave knight"]),
            ("c", &["t", "bold knight"]),
        ],
    );
    assert_eq!(client.say("FT.SYNUPDATE i g brave bold"), "+OK");
    let mut keys = |query: &str, options: &[&str]| keys(&mut client, query, options);
    assert_eq!(keys("\"one two three four five six seven eight\" \"nine\"", &[]), "a");
    assert_eq!(keys("\"one two three four five six seven eight\" \"nosuch\"", &[]), "");
    let many =
        ["one", "two", "three", "four", "five", "six", "seven", "eight"].map(|word| format!("\"{word}\""));
    assert_eq!(keys(&many.join(" "), &[]), "a");
    assert_eq!(keys(&format!("{} \"nosuch\"", many.join(" ")), &[]), "");
    assert_eq!((keys("brave", &[]).as_str(), keys("brave", &["VERBATIM"]).as_str()), ("bc", "b"));
    assert_eq!(keys("\"brave\"", &[]), "b");
    assert_eq!(keys("\"brave\" -\"brave\"", &["DIALECT", "2"]), "");
    assert_eq!((keys("\"\" knigh", &[]).as_str(), keys("knigh \"\"", &[]).as_str()), ("bc", "bc"));
}

#[test]
fn results_lack_marks_keys_or_payloads() {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = filled(
        &server,
        "PAYLOAD_FIELD p SCHEMA t TEXT n NUMERIC SORTABLE u TEXT",
        &[("a", &["t", "brave heart", "n", "1", "p", "PAY", "u", "y"]), ("b", &["t", "x", "u", "x"])],
    );
    for query in ["brave heart", "heart brave "] {
        let reply =
            client.call(&["FT.SEARCH", "i", query, "HIGHLIGHT", "RETURN", "1", "t", "SCORER", "INSTANT"]);
        assert!(reply.contains("<b>brave</b> <b>heart</b>"), "{query}: {reply}");
    }
    assert_eq!(
        client.say("FT.SEARCH i brav NOCONTENT WITHSORTKEYS SORTBY n SCORER INSTANT"),
        "*3 :1 $1 a $2 #1"
    );
    assert_eq!(client.say("FT.SEARCH i heart WITHPAYLOADS NOCONTENT"), "*3 :1 $1 a $3 PAY");
    assert_eq!(client.say("FT.CONFIG SET MAXSEARCHRESULTS 1"), "+OK");
    assert_eq!(client.say("FT.SEARCH i * NOCONTENT SORTBY u"), "*2 :2 $1 b");
    assert_eq!(client.say("FT.SEARCH i * NOCONTENT SCORER HAMMING PAYLOAD PAY"), "*2 :2 $1 a");
    assert_eq!(client.say("FT.ALIASADD one i"), "+OK");
    assert!(client.say("FT.ALIASADD two one").starts_with("-Unknown index name"));
}
