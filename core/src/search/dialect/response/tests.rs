use serde_json::{Value, json};

use super::*;
use crate::search::dialect::document::parse_documents;
use crate::search::dialect::request::parse_search;
use crate::search::dialect::settings::Settings;
use crate::search::highlight::{Hit, Matcher};

/// Matches words that begin so.
struct Begins(&'static str);

impl Matches for Begins {
    fn with_matcher(&mut self, _attribute: &str, run: &mut dyn FnMut(&mut Matcher<'_>)) {
        let prefix = self.0;
        run(&mut |token| {
            let characters = Some(prefix.chars().count());
            token.text.starts_with(prefix).then_some(Hit { characters, ..Hit::of(0) })
        });
    }
}

const DOCUMENT: &str = r#"{"id":7,"title":"A man","plot":"one two three four man five six","price":1.50,
    "cast":{"lead":"Mann","age":70,"list":["x man","y"]},"none":null}"#;

fn hit(search: Value, settings: Value, score: Option<f64>) -> String {
    hit_of(DOCUMENT, search, settings, score)
}

fn hit_of(document: &str, search: Value, settings: Value, score: Option<f64>) -> String {
    let document = parse_documents(document.as_bytes()).expect("a document").remove(0);
    let search = parse_search(search.to_string().as_bytes()).expect("a search");
    let mut read = Settings::default();
    read.update(&settings).expect("settings");
    let mut out = Vec::new();
    write_hit(&document, &Shown::new(&search, &read), &mut Begins("man"), (score, None), &mut out);
    let text = String::from_utf8(out).expect("JSON is a text");
    let _: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    text
}

#[test]
fn hit_shows_other_attributes() {
    assert_eq!(
        hit(json!({"attributesToRetrieve": ["id", "price", "cast.lead"]}), json!({}), Some(0.5)),
        r#"{"id":7,"price":1.50,"cast":{"lead":"Mann"},"_rankingScore":0.5}"#
    );
    assert_eq!(
        hit(
            json!({"attributesToRetrieve": ["id", "title"]}),
            json!({"displayedAttributes": ["title", "plot"]}),
            None
        ),
        r#"{"title":"A man"}"#
    );
    assert_eq!(hit(json!({"attributesToRetrieve": []}), json!({}), None), "{}");
}

#[test]
fn match_is_marked_elsewhere() {
    assert_eq!(
        hit(
            json!({"attributesToRetrieve": ["id", "title", "plot", "price"], "attributesToHighlight": ["title", "id"], "attributesToCrop": ["plot:3"]}),
            json!({}),
            None
        ),
        r#"{"id":7,"title":"A man","plot":"one two three four man five six","price":1.50,"_formatted":{"id":"7","title":"A <em>man</em>","plot":"…four man five…","price":1.50}}"#
    );
    assert_eq!(
        hit(
            json!({"attributesToRetrieve": ["cast", "none"], "attributesToHighlight": ["*"], "highlightPreTag": "[", "highlightPostTag": "]"}),
            json!({}),
            None
        ),
        r#"{"cast":{"lead":"Mann","age":70,"list":["x man","y"]},"none":null,"_formatted":{"id":"7","title":"A [man]","plot":"one two three four [man] five six","price":"1.50","cast":{"lead":"[Man]n","age":"70","list":["x [man]","y"]},"none":null}}"#
    );
    assert_eq!(
        hit(json!({"attributesToRetrieve": ["title", "cast"], "showMatchesPosition": true}), json!({}), None),
        r#"{"title":"A man","cast":{"lead":"Mann","age":70,"list":["x man","y"]},"_matchesPosition":{"title":[{"start":2,"length":3}],"plot":[{"start":19,"length":3}],"cast.lead":[{"start":0,"length":3}],"cast.list":[{"start":2,"length":3,"indices":[0]}]}}"#
    );
}

#[test]
fn mark_is_missing_where_the_attribute_is_not_retrieved() {
    let displayed = json!({"displayedAttributes": ["id", "title", "cast.lead"]});
    let formatted = |search: Value| hit(search, displayed.clone(), None);
    assert_eq!(
        formatted(
            json!({"attributesToRetrieve": ["id"], "attributesToHighlight": ["title"], "attributesToCrop": ["plot", "cast"]})
        ),
        r#"{"id":7,"_formatted":{"id":7,"title":"A <em>man</em>","cast":{"lead":"Mann"}}}"#
    );
    assert_eq!(
        formatted(
            json!({"attributesToRetrieve": [], "attributesToHighlight": ["cast.lead"], "showMatchesPosition": true})
        ),
        r#"{"_formatted":{"cast":{"lead":"<em>Man</em>n"}},"_matchesPosition":{"title":[{"start":2,"length":3}],"cast.lead":[{"start":0,"length":3}]}}"#
    );
    for nothing in ["plot", "unknown"] {
        let search = json!({"attributesToRetrieve": ["none"], "attributesToHighlight": [nothing]});
        assert_eq!(formatted(search), "{}");
    }
}

#[test]
fn digits_inside_of_objects_are_rounded() {
    const NESTED: &str = r#"{"id":1,"z":{"n":12345678901234567890123,"b":1.50,"a":[{"x":0.10},{"y":1}]}}"#;
    let shown = |search: Value| hit_of(NESTED, search, json!({}), None);
    assert_eq!(
        shown(json!({"attributesToRetrieve": ["z.n", "z.a.x"], "attributesToHighlight": ["z.a"]})),
        r#"{"z":{"n":12345678901234567890123,"a":[{"x":0.10}]},"_formatted":{"z":{"n":12345678901234567890123,"a":[{"x":"0.10"},{"y":"1"}]}}}"#
    );
}

#[test]
fn matches_in_objects_of_an_array_are_told_twice() {
    const CAST: &str = r#"{"id":1,"cast":[{"name":"man one"},{"name":"x"},{"name":["a","two man"]}]}"#;
    assert_eq!(
        hit_of(CAST, json!({"attributesToRetrieve": ["id"], "showMatchesPosition": true}), json!({}), None),
        r#"{"id":1,"_matchesPosition":{"cast.name":[{"start":0,"length":3,"indices":[0]},{"start":4,"length":3,"indices":[2,1]}]}}"#
    );
}

#[test]
fn answer_lacks_what_a_client_reads() {
    let facets = [Facet {
        name: "year".to_owned(),
        counts: vec![("1999".to_owned(), 2)],
        range: Some((1999.0, 2001.5)),
    }];
    let mut answer = Answer {
        index_uid: Some("films"),
        query: "a\"b",
        page: Page { offset: 0, limit: 20, numbered: None },
        total: 31,
        is_exhaustive: false,
        processing_time_ms: 3,
        facets: Some(&facets),
    };
    let text = |answer: &Answer<'_>| {
        let mut out = Vec::new();
        write_answer(answer, b"{},{}", &mut out);
        String::from_utf8(out).expect("a text")
    };
    assert_eq!(
        text(&answer),
        r#"{"indexUid":"films","hits":[{},{}],"query":"a\"b","processingTimeMs":3,"limit":20,"offset":0,"estimatedTotalHits":31,"facetDistribution":{"year":{"1999":2}},"facetStats":{"year":{"min":1999,"max":2001.5}},"exhaustive":false}"#
    );
    answer.page.numbered = Some((2, 10));
    (answer.index_uid, answer.facets) = (None, None);
    assert!(text(&answer).contains(r#""hitsPerPage":10,"page":2,"totalPages":4,"totalHits":31,"#));
    answer.page.numbered = Some((1, 0));
    assert!(text(&answer).contains(r#""totalPages":0"#));
}

#[test]
fn values_of_a_facet_are_in_another_order() {
    let of = || vec![("b".to_owned(), 1), ("c".to_owned(), 5), ("a".to_owned(), 1)];
    let names = |is_by_count: bool, most: u64| {
        let mut counts = of();
        order_counts(&mut counts, is_by_count, most);
        counts.into_iter().map(|(value, _)| value).collect::<String>()
    };
    assert_eq!((names(false, 9), names(true, 2)), ("abc".to_owned(), "ca".to_owned()));
    let mut out = Vec::new();
    write_facet_hits(&of(), Some("x"), 1, &mut out);
    assert!(out.starts_with(br#"{"facetHits":[{"value":"b","count":1},"#));
    assert!(out.ends_with(br#"],"facetQuery":"x","processingTimeMs":1}"#));
}
