use serde_json::json;

use super::*;
use crate::search::schema::FIELD_MARK;

fn of(patch: Value) -> Settings {
    let mut settings = Settings::new(None, 7);
    settings.update(&patch).expect("settings are valid");
    settings
}

fn code(patch: Value) -> (&'static str, String) {
    let fault = Settings::new(None, 7).update(&patch).expect_err("settings are wrong");
    (fault.code, fault.message)
}

fn named(name: &str) -> &'static Setting {
    SETTINGS.iter().find(|setting| setting.name == name).expect("there is such a setting")
}

#[test]
fn default_is_lost() {
    let settings = of(
        json!({"typoTolerance": {"minWordSizeForTypos": {"oneTypo": 4}}, "pagination": {"maxTotalHits": 5}}),
    );
    let typos = settings.typos();
    assert_eq!((typos.one_from, typos.two_from, typos.is_enabled), (4, 9, true));
    assert_eq!(settings.max_total_hits(), 5);
    assert_eq!(settings.max_values_per_facet(), 100);
    assert_eq!(settings.all()["typoTolerance"]["minWordSizeForTypos"], json!({"oneTypo": 4, "twoTypos": 9}));
    assert_eq!(settings.all().as_object().map(Map::len), Some(SETTINGS.len()));
}

#[test]
fn partial_update_forgets_members() {
    let mut settings = of(json!({"faceting": {"sortFacetValuesBy": {"genre": "count"}}}));
    settings.update(&json!({"faceting": {"maxValuesPerFacet": 9}})).expect("valid");
    assert!(settings.is_facet_by_count("genre") && !settings.is_facet_by_count("year"));
    assert_eq!(settings.max_values_per_facet(), 9);
    settings.update(&json!({"faceting": {"sortFacetValuesBy": {"genre": null}}})).expect("valid");
    assert!(!settings.is_facet_by_count("genre"));
    settings.update(&json!({"faceting": null})).expect("valid");
    assert_eq!(settings.max_values_per_facet(), 100);
    settings.update(&json!({"synonyms": {"a": ["b"]}})).expect("valid");
    settings.set(named("synonyms"), &json!({"c": ["d"]})).expect("valid");
    assert_eq!(settings.synonyms(), [("c".to_owned(), vec!["d".to_owned()])]);
}

#[test]
fn settings_are_read_as_others() {
    let mut settings = of(json!({"sortableAttributes": ["year"], "rankingRules": ["words", "likes:desc"]}));
    settings.primary_key = Some("id".to_owned());
    assert_eq!(Settings::parse(&settings.text()), Some(settings.clone()));
    assert_eq!(
        settings.rules(),
        [Rule::BuiltIn(BuiltIn::Words), Rule::By { attribute: "likes".to_owned(), is_descending: true }]
    );
    assert_eq!(Settings::parse(b"{}"), None);
    assert_eq!(Settings::parse(b""), None);
}

#[test]
fn wrong_setting_is_accepted() {
    let (code_of, message) = code(json!({"searchableAttributes": "title"}));
    assert_eq!(code_of, "invalid_settings_searchable_attributes");
    assert_eq!(
        message,
        "Invalid value type at `.searchableAttributes`: expected an array, but found a string: `\"title\"`"
    );
    assert_eq!(code(json!({"rankingRules": ["words", "best"]})).0, "invalid_settings_ranking_rules");
    assert_eq!(code(json!({"embedders": {"a": {}}})).0, "feature_not_enabled");
    assert_eq!(code(json!({"filterableAttributes": ["a.*"]})).0, "feature_not_enabled");
    assert_eq!(code(json!({"nothing": 1})).0, "bad_request");
    assert_eq!(code(json!([])).0, "bad_request");
    let sizes = json!({"typoTolerance": {"minWordSizeForTypos": {"oneTypo": 9, "twoTypos": 5}}});
    assert_eq!(code(sizes).0, "invalid_settings_typo_tolerance");
    let mut settings = of(json!({"embedders": {}, "dictionary": []}));
    let before = settings.clone();
    assert!(settings.update(&json!({"stopWords": ["the"], "pagination": 1})).is_err());
    assert_eq!(settings, before);
}

fn line(settings: &Settings, seen: &[&str]) -> String {
    let seen: Vec<String> = seen.iter().map(|name| (*name).to_owned()).collect();
    let words = words("films", settings, &seen);
    let words = words.split(|word| *word == FIELD_MARK.as_bytes()).map(|field| field.join(&b' '));
    String::from_utf8(words.collect::<Vec<_>>().join(&b' ')).expect("words are texts")
}

#[test]
fn schema_lacks_a_field() {
    assert_eq!(
        line(&Settings::default(), &["title"]),
        "ON HASH PREFIX 1 films: ANALYZER INSTANT STOPWORDS 0 SCHEMA facts TAG CASESENSITIVE \
         title AS text_title TEXT NOSTEM * AS text_* TEXT NOSTEM"
    );
    let settings = of(json!({
        "searchableAttributes": ["title", "cast.name", "title"],
        "filterableAttributes": ["genre", "_geo"],
        "sortableAttributes": ["year", "genre"],
        "rankingRules": ["likes:desc"],
        "stopWords": ["the"],
    }));
    assert_eq!(
        line(&settings, &["other"]),
        "ON HASH PREFIX 1 films: ANALYZER INSTANT STOPWORDS 1 the SCHEMA facts TAG CASESENSITIVE \
         genre AS tag_genre TAG SORTABLE genre AS number_genre NUMERIC SORTABLE \
         _geo AS geo GEO _geo.lat AS number__geo.lat NUMERIC SORTABLE _geo.lng AS number__geo.lng NUMERIC SORTABLE \
         year AS tag_year TAG SORTABLE NOINDEX year AS number_year NUMERIC SORTABLE NOINDEX \
         likes AS tag_likes TAG SORTABLE NOINDEX likes AS number_likes NUMERIC SORTABLE NOINDEX \
         title AS text_title TEXT NOSTEM cast.name AS text_cast.name TEXT NOSTEM"
    );
}

#[test]
fn setting_without_effect_is_accepted() {
    for (patch, named) in [
        (json!({"typoTolerance": {"disableOnWords": ["alien"]}}), "`disableOnWords`"),
        (json!({"typoTolerance": {"disableOnNumbers": true}}), "`disableOnNumbers`"),
        (
            json!({"localizedAttributes": [{"locales": ["jpn"], "attributePatterns": ["*_ja"]}]}),
            "`localizedAttributes`",
        ),
        (json!({"proximityPrecision": "byAttribute"}), "`proximityPrecision`"),
        (json!({"searchCutoffMs": 50}), "`searchCutoffMs`"),
        (json!({"dictionary": ["J. R. R."]}), "`dictionary`"),
        (json!({"synonyms": {"nyc": ["new york"]}}), "`new york`"),
        (json!({"synonyms": {"new york": ["nyc"]}}), "`new york`"),
        (json!({"synonyms": {"!": ["nyc"]}}), "`!`"),
    ] {
        let (code, message) = code(patch);
        assert_eq!(code, "feature_not_enabled", "{message}");
        assert!(message.contains(named), "{message}");
    }
    // What clients send that name each setting with its default.
    let mut settings = Settings::default();
    let all = settings.all();
    settings.update(&all).expect("defaults are valid");
    assert_eq!(settings.all(), all);
}

#[test]
fn ranking_rules_are_accepted_in_an_order_that_is_not_followed() {
    let code = |rules: &[&str]| {
        let fault = Settings::default().update(&json!({"rankingRules": rules})).err();
        fault.map_or("", |fault| fault.code)
    };
    for good in [
        &["words", "typo", "proximity", "attribute", "sort", "exactness"][..],
        &["words", "typo", "proximity", "attributeRank", "sort", "wordPosition", "exactness"],
        &["words", "typo", "proximity", "attribute", "sort", "exactness", "date:desc", "rank:asc"],
        &["sort", "words", "exactness"],
        &["date:desc", "sort", "words", "typo", "rank:asc"],
        &["words", "year:asc"],
        &["year:asc", "sort"],
        &[],
    ] {
        assert_eq!(code(good), "", "{good:?}");
    }
    for bad in [
        &["typo", "words"][..],
        &["words", "proximity", "typo"],
        &["words", "exactness", "attribute"],
        &["words", "words"],
        &["words", "exactness", "sort"],
        &["words", "date:desc", "typo"],
        &["words", "date:desc", "sort"],
    ] {
        assert_eq!(code(bad), "feature_not_enabled", "{bad:?}");
    }
    assert_eq!(code(&["_geoPoint(1,2):asc"]), "invalid_settings_ranking_rules");
}

#[test]
fn sizes_of_two_requests_contradict_each_other() {
    let mut settings = of(json!({"typoTolerance": {"minWordSizeForTypos": {"twoTypos": 5}}}));
    let one = |size: u64| json!({"typoTolerance": {"minWordSizeForTypos": {"oneTypo": size}}});
    let before = settings.clone();
    let fault = settings.update(&one(6)).expect_err("one typo from more letters on than two");
    assert_eq!((fault.code, &settings), ("invalid_settings_typo_tolerance", &before));
    assert_eq!(settings.update(&one(5)), Ok(()));
}

#[test]
fn attributes_beyond_the_limit_are_dropped() {
    let names =
        |count: usize, name: &str| -> Vec<String> { (0..count).map(|at| format!("{name}{at}")).collect() };
    let (most, texts) = (schema::USES_MAX, crate::limits::SEARCH_TEXT_FIELDS_MAX);
    let code = |patch: Value| Settings::new(None, 7).update(&patch).map_err(|fault| fault.code);
    let filterable = |count: usize| json!({"filterableAttributes": names(count, "a")});
    assert_eq!(code(filterable(most)), Ok(()));
    assert_eq!(code(filterable(most + 1)), Err("invalid_settings_filterable_attributes"));
    let searchable = |count: usize| json!({"searchableAttributes": names(count, "a")});
    assert_eq!(code(searchable(texts)), Ok(()));
    assert_eq!(code(searchable(texts + 1)), Err("invalid_settings_searchable_attributes"));
    let mut settings = of(filterable(most));
    let more = settings.update(&json!({"sortableAttributes": ["b"]})).map_err(|fault| fault.code);
    assert_eq!(more, Err("invalid_settings_sortable_attributes"));
    assert_eq!(settings.update(&json!({"sortableAttributes": ["a1"]})), Ok(()));
    // All of them have fields, with that of positions.
    let with_positions = [names(most - 1, "a"), vec!["_geo".to_owned()]].concat();
    let geo = of(json!({"filterableAttributes": with_positions}));
    let schema = line(&geo, &names(texts, "t").iter().map(String::as_str).collect::<Vec<_>>());
    assert!(schema.contains(&format!(" AS number_a{} ", most - 2)) && schema.contains(" AS geo "));
}

#[test]
fn field_of_positions_is_there_twice() {
    let settings =
        of(json!({"filterableAttributes": ["_geo.lat", "_geo"], "sortableAttributes": ["_geo.lng"]}));
    let schema = line(&settings, &[]);
    for name in [" AS number__geo.lat ", " AS number__geo.lng ", " AS tag__geo.lat ", " AS geo "] {
        assert_eq!(schema.matches(name).count(), 1, "{name}: {schema}");
    }
}
