use serde_json::json;

use super::*;
use crate::search::dialect::settings::{Settings, words};
use crate::search::schema::{FIELD_MARK, Field, FieldKind, Schema};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn value_comes_back_as_another() {
    for (json, bytes) in [
        (r#""Up""#, "Up"),
        (r#""""#, ""),
        ("2009", "2009"),
        (r#""2009""#, r#""2009""#),
        ("1.10", "1.10"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1e400", "1e400"),
        ("null", "null"),
        (r#""null""#, r#""null""#),
        (r#""nullable""#, "nullable"),
        (r#""[x]""#, "[x]"),
        (r#""[1]""#, r#""[1]""#),
        (r#"[1,"a b"]"#, r#"[1,"a b"]"#),
        (r#"{"a":{"b":"c \" d"}}"#, r#"{"a":{"b":"c \" d"}}"#),
        // A string with quotes around it, and one that would be read without them.
        (r#""\"Up\"""#, r#""Up""#),
        (r#""\"7\"""#, r#""\"7\"""#),
        (r#""\"\\\"7\\\"\"""#, r#""\"\\\"7\\\"\"""#),
        (r#"" 7""#, " 7"),
        (r#""7 ""#, "7 "),
        (r#""7\n""#, "7\n"),
        (r#""-""#, "-"),
        (r#""東京\u0000""#, "東京\0"),
        (r#""\ud800""#, r#""\ud800""#),
        (r#""\"\\ud800\"""#, r#""\"\\ud800\"""#),
    ] {
        let field = stored(json);
        assert_eq!(text(&field), bytes, "{json}");
        let back = json_of(&field);
        match (serde_json::from_str::<String>(&back), serde_json::from_str::<String>(json)) {
            (Ok(one), Ok(other)) => assert_eq!(one, other),
            _ => assert_eq!(back, json),
        }
    }
}

#[test]
fn bytes_of_a_hash_come_back_as_others() {
    for bytes in [
        "",
        "\"",
        "\"\"",
        "\"a\"",
        "\"7\"",
        "\"\\\"7\\\"\"",
        "7",
        "-7",
        "07",
        "+7",
        "1.",
        "[",
        "[]",
        "{}",
        "{a}",
        "tru",
        "true",
        "\\",
        " ",
        "NaN",
    ] {
        assert_eq!(text(&stored(&json_of(bytes.as_bytes()))), bytes);
    }
    assert_eq!(json_of(b"{ \"a b\" : [ 1 , 2 ] }"), r#"{"a b":[1,2]}"#);
    assert_eq!(json_of(b"a\xFF"), "\"a\u{FFFD}\"");
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(json_of(deep.as_bytes()), deep);
}

#[test]
fn hash_without_id_is_none_of_the_documents() {
    let fields = [(b"title".to_vec(), b"Up".to_vec()), (b"year".to_vec(), b"2009".to_vec())];
    let mut out = Vec::new();
    Document::of_hash(&fields, Some(("id", b"8"))).write(&mut out);
    assert_eq!(text(&out), r#"{"id":8,"title":"Up","year":2009}"#);
    assert_eq!(Document::of_hash(&fields, Some(("year", b"8"))).attributes.len(), 2);
}

fn fault<T: std::fmt::Debug>(result: Result<T, Fault>) -> &'static str {
    result.expect_err("a fault").code
}

#[test]
fn body_is_read_as_other_documents() {
    let names = |body: &str| -> Vec<String> {
        let documents = parse_documents(body.as_bytes()).expect("documents");
        documents
            .iter()
            .map(|document| {
                let mut out = Vec::new();
                document.write(&mut out);
                text(&out)
            })
            .collect()
    };
    assert_eq!(names(r#" [ {"b": 1, "a": [ 1.50 ]}, {} ]"#), [r#"{"b":1,"a":[1.50]}"#, "{}"]);
    assert_eq!(names("{\"a\":1}\n{\"a\":2}\n"), [r#"{"a":1}"#, r#"{"a":2}"#]);
    assert_eq!(names(r#"{"a":1,"b":2,"a":3,"a":4,"c":5}"#), [r#"{"a":4,"b":2,"c":5}"#]);
    assert_eq!(fault(parse_documents(b" ")), "missing_payload");
    for body in ["[1]", "id,title\n1,Up", "{", "[{}", "7"] {
        assert_eq!(fault(parse_documents(body.as_bytes())), "malformed_payload", "{body}");
    }
    assert_eq!(delete_ids(br#"[1, "a-b", -3]"#), Ok(vec!["1".to_owned(), "a-b".to_owned(), "-3".to_owned()]));
    assert_eq!(fault(delete_ids(b"{}")), "bad_request");
    assert_eq!(fault(delete_ids(b"[1.5]")), "invalid_document_id");
}

#[test]
fn wrong_id_is_accepted() {
    let document = |body: &str| parse_documents(body.as_bytes()).expect("documents").remove(0);
    assert_eq!(document(r#"{"id":7}"#).id("id"), Ok("7".to_owned()));
    assert_eq!(document(r#"{"id":"a_B-7"}"#).id("id"), Ok("a_B-7".to_owned()));
    for id in ["1.5", "null", "true", "[1]", r#""""#, r#""a b""#, r#""ä""#, "1e3", r#""a:b""#] {
        assert_eq!(fault(document(&format!("{{\"id\":{id}}}")).id("id")), "invalid_document_id", "{id}");
    }
    let missing = document(r#"{"a":1}"#).id("id").expect_err("no id");
    assert_eq!(missing.message, "Document doesn't have a `id` attribute: `{\"a\":1}`.");
}

#[test]
fn primary_key_is_guessed_wrongly() {
    let documents = |body: &str| parse_documents(body.as_bytes()).expect("documents");
    let infer = |body: &str| primary_key(Primary::default(), &documents(body));
    assert_eq!(infer(r#"{"title":1,"filmId":2}"#), Ok(Some("filmId".to_owned())));
    assert_eq!(fault(infer(r#"{"title":1}"#)), "index_primary_key_no_candidate_found");
    assert_eq!(fault(infer(r#"{"id":1,"object_id":1}"#)), "index_primary_key_multiple_candidates_found");
    assert_eq!(infer("[]"), Ok(None));
    let primary = Primary { current: Some("id"), asked: Some("sku"), has_documents: true };
    assert_eq!(fault(primary_key(primary, &[])), "index_primary_key_already_exists");
    assert_eq!(primary_key(Primary { has_documents: false, ..primary }, &[]), Ok(Some("sku".to_owned())));
}

/// The schema that settings mean, without the command that reads their words.
fn schema(patch: serde_json::Value, seen: &[&str]) -> Schema {
    let mut settings = Settings::new(None, 0);
    settings.update(&patch).expect("settings");
    let seen: Vec<String> = seen.iter().map(|name| (*name).to_owned()).collect();
    let words: Vec<String> = words("films", &settings, &seen).iter().map(|word| text(word)).collect();
    let words: Vec<String> = words.into_iter().filter(|word| word != FIELD_MARK).collect();
    let mut words = words.iter().map(String::as_str).skip_while(|word| *word != "SCHEMA").skip(1).peekable();
    let mut schema = Schema::default();
    while let Some(path) = words.next() {
        let name = if words.next_if_eq(&"AS").is_some() { words.next().expect("a name") } else { path };
        let kind = match words.next().expect("a type") {
            "TEXT" => FieldKind::Text { weight: 1.0, has_stems: false, has_suffixes: false },
            "TAG" => FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false },
            "NUMERIC" => FieldKind::Numeric,
            _ => FieldKind::Geo,
        };
        let mut field = Field {
            name: name.into(),
            path: path.into(),
            kind,
            is_sortable: false,
            is_unnormalized: false,
            is_not_indexed: false,
            has_empty: false,
            has_missing: false,
        };
        while let Some(option) =
            words.next_if(|word| matches!(*word, "SORTABLE" | "NOINDEX" | "NOSTEM" | "CASESENSITIVE"))
        {
            field.is_sortable |= option == "SORTABLE";
            field.is_not_indexed |= option == "NOINDEX";
        }
        schema.fields.push(field);
    }
    schema
}

fn shown(schema: &Schema, document: &str) -> Vec<String> {
    let document = parse_documents(document.as_bytes()).expect("a document").remove(0);
    let hash: Vec<(Vec<u8>, Vec<u8>)> =
        document.fields().map(|(name, value)| (name.to_vec(), value.into_owned())).collect();
    let fields = Fields::new(hash.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
    let texts = |texts: &[Vec<u8>]| texts.iter().map(|one| text(one)).collect::<Vec<_>>().join("|");
    held(schema, &fields)
        .into_iter()
        .map(|(id, held)| {
            let name = schema.field(id).map(|field| text(&field.name)).unwrap_or_default();
            match held {
                Held::Texts(all) => format!("{name}: {}", texts(&all)),
                Held::Tags(all, first) => {
                    format!("{name}: {} ^{}", texts(&all), text(&first.unwrap_or_default()))
                }
                Held::Numbers(all) => format!("{name}: {all:?}"),
                Held::Positions(all) => format!("{name}: {all:?}"),
            }
        })
        .collect()
}

#[test]
fn index_sees_other_values() {
    let schema = schema(
        json!({
            "searchableAttributes": ["title", "cast.name", "info"],
            "filterableAttributes": ["genre", "cast.age", "note", "_geo"],
            "sortableAttributes": ["year"],
        }),
        &[],
    );
    let document = r#"{"id":1,"title":"Up","year":"2009","genre":[" Drama ",7,true,null,"Drama"],"note":null,
        "cast":[{"name":"Ed","age":70},{"name":["Jo","Al"],"age":[8,"x"]}],
        "info":{"a":"x","b":[{"c":1.50}]},"_geo":{"lat":"45.5","lng":9},"other":"unseen"}"#;
    assert_eq!(
        shown(&schema, document),
        [
            "facts: e:cast.age|e:genre|e:note|n:note ^",
            "tag_genre: 7|Drama|true ^7",
            "number_genre: [7.0]",
            "tag_cast.age: 70|8|x ^70",
            "number_cast.age: [70.0, 8.0]",
            "geo: [(9.0, 45.5)]",
            "number__geo.lat: [45.5]",
            "number__geo.lng: [9.0]",
            "tag_year: 2009 ^2009",
            "text_title: Up",
            "text_cast.name: Ed|Jo|Al",
            "text_info: x|1.50",
        ]
    );
    assert_eq!(
        shown(&schema, r#"{"genre":[],"note":"","_geo":[1,2],"cast":7}"#),
        ["facts: e:genre|e:note|z:genre|z:note ^"]
    );
}

#[test]
fn new_attribute_is_not_found() {
    let document = r#"{"id":1,"title":"Up","plot":{"text":"old man"},"rank":1.50}"#;
    assert_eq!(
        shown(&schema(json!({}), &["id", "title"]), document),
        ["text_id: 1", "text_title: Up", "text_*: old man|1.50"]
    );
    let nested = r#"{"plot":{"n":12345678901234567890123,"m":[0.10]}}"#;
    assert_eq!(shown(&schema(json!({}), &["plot"]), nested), ["text_plot: 12345678901234567890123|0.10"]);
    let deep = format!(r#"{{"a":{}{},"b":"kept"}}"#, "[".repeat(200), "]".repeat(200));
    assert!(shown(&schema(json!({}), &[]), &deep).concat().ends_with("|kept"));
}
