use serde_json::json;

use super::*;

fn fault(value: Value) -> (&'static str, String) {
    let fault = parse_search(value.to_string().as_bytes()).expect_err("a fault");
    (fault.code, fault.message)
}

#[test]
fn request_of_instant_meilisearch_is_refused() {
    // What the adapter sends for a search box with a facet list and pages.
    let body = json!({"queries": [{
        "indexUid": "films", "q": "up", "facets": ["genre"], "attributesToHighlight": ["*"],
        "attributesToCrop": ["plot:20", "*"], "highlightPreTag": "__ais-highlight__", "highlightPostTag": "__/ais-highlight__",
        "limit": 21, "offset": 0, "filter": [["\"genre\"=\"Drama\""], "\"year\">=1990"], "sort": ["year:desc"],
        "attributesToRetrieve": ["*"], "hybrid": null,
    }]});
    let searches = parse_multi_search(body.to_string().as_bytes()).expect("valid");
    let search = searches.first().expect("one");
    assert_eq!((search.limit, search.q.as_deref(), &search.retrieved), (21, Some("up"), &None));
    assert_eq!(search.cropped[0], Crop { attribute: "plot".to_owned(), words: 20 });
    assert_eq!(search.cropped[1], Crop { attribute: "*".to_owned(), words: 10 });
    assert!(matches!(&search.filter, Some(Filter::And(parts)) if parts.len() == 2));
    assert_eq!(search.sort, [Sort { by: SortBy::Attribute("year".to_owned()), is_descending: true }]);
    assert_eq!(parse_search(b"").expect("valid").limit, 20);
}

#[test]
fn wrong_request_is_accepted() {
    assert_eq!(
        fault(json!({"limit": "x"})),
        (
            "invalid_search_limit",
            "Invalid value type at `.limit`: expected a positive integer, but found a string: `\"x\"`"
                .to_owned()
        )
    );
    assert_eq!(fault(json!({"matchingStrategy": "some"})).0, "invalid_search_matching_strategy");
    assert_eq!(fault(json!({"attributesToCrop": [1]})).0, "invalid_search_attributes_to_crop");
    assert_eq!(fault(json!({"nothing": 1})).0, "bad_request");
    assert_eq!(fault(json!({"facetQuery": "a"})).0, "bad_request");
    assert_eq!(fault(json!({"locales": ["jpn"]})).0, "feature_not_enabled");
    assert_eq!(parse_search(br#"{"locales": [], "showRankingScoreDetails": false}"#).map(drop), Ok(()));
    assert_eq!(fault(json!({"hybrid": {"embedder": "x"}})).0, "feature_not_enabled");
    assert_eq!(fault(json!({"rankingScoreThreshold": 2})).0, "invalid_search_ranking_score_threshold");
    assert_eq!(fault(json!({"sort": ["year"]})).0, "invalid_search_sort");
    assert_eq!(fault(json!({"sort": ["_geoPoint(1):asc"]})).0, "invalid_search_sort");
    assert_eq!(fault(json!([])).0, "bad_request");
    let multi = |value: Value| parse_multi_search(value.to_string().as_bytes()).expect_err("a fault").code;
    assert_eq!(multi(json!({"queries": [{"q": "x"}]})), "missing_index_uid");
    assert_eq!(multi(json!({"queries": [{"indexUid": "a b"}]})), "invalid_index_uid");
    assert_eq!(multi(json!({"federation": {}, "queries": []})), "feature_not_enabled");
    assert_eq!(multi(json!({})), "bad_request");
    assert_eq!(multi(json!({"queries": vec![json!({"indexUid": "a"}); 129]})), "bad_request");
    assert_eq!(parse_search(b"{").expect_err("a fault").code, "malformed_payload");
    assert_eq!(parse_facet_search(b"{}").expect_err("a fault").code, "missing_facet_search_facet_name");
}

#[test]
fn parameter_is_read_as_another() {
    let read =
        |query: &str| parse_parameters(&crate::search::dialect::route::parameters(query).expect("few"));
    let search = read("q=a+b&limit=3&facets=genre,year&sort=_geoPoint(1,2):asc,year:desc&filter=a%3D1&showMatchesPosition=true").expect("valid");
    assert_eq!((search.q.as_deref(), search.limit, search.shows_positions), (Some("a b"), 3, true));
    assert_eq!((search.facets.len(), search.sort.len()), (2, 2));
    assert!(search.filter.is_some());
    assert!(matches!(read("filter=[\"a=1\",\"b=2\"]").expect("valid").filter, Some(Filter::And(_))));
    assert_eq!(read("limit=x").expect_err("a fault").code, "invalid_search_limit");
    assert_eq!(read("x=1").expect_err("a fault").code, "bad_request");
}

#[test]
fn attribute_is_used_against_the_settings() {
    let mut settings = Settings::default();
    settings
        .update(&json!({"filterableAttributes": ["genre"], "sortableAttributes": ["year"], "searchableAttributes": ["title"]}))
        .expect("valid");
    let check = |value: Value| {
        let members = value.as_object().expect("an object");
        let search = read(members, "").expect("valid");
        search.check("films", &settings).map_err(|fault| fault.code)
    };
    let good = json!({"facets": ["*", "genre"], "sort": ["year:asc"], "distinct": "genre", "attributesToSearchOn": ["title"], "facetName": "genre"});
    assert_eq!(check(good), Ok(()));
    assert_eq!(check(json!({"facets": ["year"]})), Err("invalid_search_facets"));
    assert_eq!(check(json!({"sort": ["genre:asc"]})), Err("invalid_search_sort"));
    assert_eq!(check(json!({"sort": ["_geoPoint(1,2):asc"]})), Err("invalid_search_sort"));
    assert_eq!(check(json!({"distinct": "year"})), Err("invalid_search_distinct"));
    assert_eq!(
        check(json!({"attributesToSearchOn": ["plot"]})),
        Err("invalid_search_attributes_to_search_on")
    );
    assert_eq!(check(json!({"facetName": "year"})), Err("invalid_facet_search_facet_name"));
    settings
        .update(
            &json!({"rankingRules": ["words"], "filterableAttributes": [{"attributePatterns": ["genre"]}]}),
        )
        .expect("valid");
    let check = |value: Value| {
        let search = read(value.as_object().expect("an object"), "").expect("valid");
        search.check("films", &settings).map_err(|fault| fault.code)
    };
    // Without the rule `sort`, and without the feature `facetSearch`.
    assert_eq!(check(json!({"sort": ["year:asc"]})), Err("invalid_search_sort"));
    assert_eq!(check(json!({"facetName": "genre"})), Err("invalid_facet_search_facet_name"));
    assert_eq!(check(json!({"facets": ["genre"]})), Ok(()));
}

#[test]
fn page_shows_other_hits() {
    let of = |value: Value| page(&parse_search(value.to_string().as_bytes()).expect("valid"), 100);
    assert_eq!(of(json!({})), Page { offset: 0, limit: 20, numbered: None });
    assert_eq!(of(json!({"offset": 90, "limit": 50})), Page { offset: 90, limit: 10, numbered: None });
    assert_eq!(
        of(json!({"offset": u64::MAX, "limit": u64::MAX})),
        Page { offset: 100, limit: 0, numbered: None }
    );
    assert_eq!(
        of(json!({"page": 3, "hitsPerPage": 10})),
        Page { offset: 20, limit: 10, numbered: Some((3, 10)) }
    );
    assert_eq!(of(json!({"page": 2})), Page { offset: 20, limit: 20, numbered: Some((2, 20)) });
    assert_eq!(of(json!({"page": 0})).limit, 0);
    assert_eq!(of(json!({"page": u64::MAX, "hitsPerPage": u64::MAX})).limit, 0);
}

#[test]
fn query_is_taken_apart_wrongly() {
    let shown = |query: &str| -> Vec<String> {
        let show = |part: &Part<'_>| {
            let quote = if part.is_phrase { "\"" } else { "" };
            let sign = if part.is_negative { "-" } else { "" };
            let end = if part.is_last { "*" } else { "" };
            [sign, quote, part.text, quote, end].concat()
        };
        parts(query).iter().map(show).collect()
    };
    for (query, expected) in [
        ("", vec![]),
        ("  ", vec![]),
        ("old man", vec!["old man*"]),
        ("old \"grand man\" x", vec!["old", "\"grand man\"", "x*"]),
        ("\"grand man", vec!["\"grand man\""]),
        ("old -man new", vec!["old", "-man", "new*"]),
        ("old -\"grand man\"", vec!["old", "-\"grand man\""]),
        ("well-known - x", vec!["well-known - x*"]),
        ("-", vec!["-*"]),
        ("a\"b\"c", vec!["a", "\"b\"", "c*"]),
        ("\"\"", vec![]),
        ("東京 -大阪", vec!["東京", "-大阪"]),
    ] {
        assert_eq!(shown(query), expected, "{query}");
    }
}
