use serde_json::json;

use super::*;
use crate::search::dialect::settings::Settings;
use crate::search::schema::Field;

const CODE: &str = "invalid_search_filter";

/// A filter as a short text.
fn show(filter: &Filter) -> String {
    let all = |parts: &[Filter], sign: &str| parts.iter().map(show).collect::<Vec<_>>().join(sign);
    match filter {
        Filter::And(parts) => format!("({})", all(parts, " & ")),
        Filter::Or(parts) => format!("({})", all(parts, " | ")),
        Filter::Not(part) => format!("!{}", show(part)),
        Filter::Is { attribute, test } => match test {
            Test::In(values) => format!("{attribute}={}", values.join(",")),
            Test::Range(from, to) => {
                let sign = |bound: &Bound| if bound.is_exclusive { "(" } else { "" };
                format!("{attribute}:[{}{} {}{}]", sign(from), from.value, sign(to), to.value)
            }
            other => format!("{attribute} {other:?}"),
        },
        Filter::Radius { center, radius_m } => format!("{center:?}~{radius_m}"),
        Filter::Box { top_right, bottom_left } => format!("{top_right:?}..{bottom_left:?}"),
    }
}

fn read(value: Value) -> String {
    match Filter::read(&value, CODE) {
        Ok(Some(filter)) => show(&filter),
        Ok(None) => String::new(),
        Err(fault) => format!("{}: {}", fault.code, fault.message),
    }
}

#[test]
fn filter_means_something_else() {
    for (text, meaning) in [
        ("genre = drama", "genre=drama"),
        ("genre=\"Science \\\"Fiction\\\"\"", "genre=Science \"Fiction\""),
        ("'my genre' != 'it\\'s'", "!my genre=it's"),
        ("a = 1 OR b = 2 AND c = 3", "(a=1 | (b=2 & c=3))"),
        ("(a = 1 OR b = 2) AND NOT c = 3", "((a=1 | b=2) & !c=3)"),
        ("NOT NOT a = 1", "a=1"),
        ("year > 1990", "year:[(1990 inf]"),
        ("year<=-1.5e3", "year:[-inf -1500]"),
        ("year 1990 TO 2000", "year:[1990 2000]"),
        ("genre IN [drama, 'x y',]", "genre=drama,x y"),
        ("genre NOT IN[]", "!genre="),
        ("a.b EXISTS AND c NOT EXISTS", "(a.b Exists & !c Exists)"),
        ("a IS NULL OR a IS NOT EMPTY", "(a Null | !a Empty)"),
        ("_geoRadius(45.5, 9.1, 2000)", "(45.5, 9.1)~2000"),
        ("_geoBoundingBox([45, 9], [44, -8])", "(45.0, 9.0)..(44.0, -8.0)"),
        ("städte = 東京", "städte=東京"),
        ("  ", ""),
        ("ANDROID = yes", "ANDROID=yes"),
    ] {
        assert_eq!(read(json!(text)), meaning, "{text}");
    }
    assert_eq!(read(json!(["a = 1", ["b = 2", "c = 3"], []])), "(a=1 & (b=2 | c=3))");
    assert_eq!(read(json!([["\"genre\"=\"Drama\""]])), "genre=Drama");
    assert_eq!(read(json!(null)), "");
}

#[test]
fn wrong_filter_is_accepted() {
    for (text, error) in [
        ("channel Ponce", "`channel Ponce`.\n1:14 channel Ponce"),
        (
            "a = 1 b = 2",
            "Found unexpected characters at the end of the filter: `b = 2`. You probably forgot an `OR` or an `AND` rule.\n7:12 a = 1 b = 2",
        ),
        ("a = ", "Was expecting a value but instead got nothing.\n5:5 a = "),
        ("a = 'x", "Expression `'x` is missing the following closing delimiter: `'`.\n5:7 a = 'x"),
        ("(a = 1", "is missing the following closing delimiter: `)`.\n1:7 (a = 1"),
        ("a IN (1)", "Expected `[` after `IN` keyword."),
        ("a IN [1", "Expected matching `]`"),
        ("a IN [1 2]", "Expected only comma-separated field names"),
        ("a > b", "Was expecting a number but instead got `b`.\n5:6 a > b"),
        ("_geo = 1", "`_geo` is a reserved keyword"),
        ("_geoRadius(1, 2)", "expects three arguments"),
        (
            "_geoRadius(100, 2, 3)",
            "Bad latitude `100`. Latitude must be contained between -90 and 90 degrees.",
        ),
        ("_geoBoundingBox([1, 2], [3])", "expects two pairs"),
        ("_geoBoundingBox(1, 2, 3, 4)", "expects two pairs"),
        ("a CONTAINS b", "feature_not_enabled"),
        ("AND", "Was expecting an operation"),
        ("a NOT", "Was expecting an operation"),
        ("a IS x", "Was expecting an operation"),
        ("(", "but instead got nothing"),
        ("\\", "Was expecting an operation"),
    ] {
        let answer = read(json!(text));
        assert!(answer.contains(error) && answer.contains(": "), "{text}: {answer}");
    }
    assert_eq!(
        read(json!(7)),
        "invalid_search_filter: Invalid syntax for the filter parameter: `expected String, Array, found: 7`."
    );
    assert!(read(json!([["a = 1", ["b = 2"]]])).contains("expected String, found"));
}

#[test]
fn deep_or_long_filter_exhausts_the_stack() {
    let deep = format!("{}a = 1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(read(json!(deep)).contains("maximum depth"));
    let fits = format!("{}a = 1{}", "(".repeat(DEPTH_MAX), ")".repeat(DEPTH_MAX));
    assert_eq!(read(json!(fits)), "a=1");
    assert_eq!(read(json!(format!("{}a = 1", "NOT ".repeat(100_000)))), "a=1");
    let long = vec!["a = 1"; CONDITIONS_MAX + 1].join(" OR ");
    assert!(read(json!(long)).contains("Too many filter conditions"));
    let list = format!("a IN [{}]", "x,".repeat(CONDITIONS_MAX));
    assert!(read(json!(list)).contains("Too many filter conditions"));
}

fn field(name: &str, kind: FieldKind) -> Field {
    Field {
        name: name.into(),
        path: Vec::new(),
        kind,
        is_sortable: false,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty: false,
        has_missing: false,
    }
}

#[test]
fn node_is_about_another_field() {
    let tag = || FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false };
    let fields = vec![
        field("facts", tag()),
        field("tag_year", tag()),
        field("number_year", FieldKind::Numeric),
        field("geo", FieldKind::Geo),
        field("number__geo.lat", FieldKind::Numeric),
        field("number__geo.lng", FieldKind::Numeric),
    ];
    let schema = Schema { fields, ..Schema::default() };
    let mut settings = Settings::default();
    settings.update(&json!({"filterableAttributes": ["year", "_geo"]})).expect("valid");
    let node = |text: &str| {
        let filter = Filter::read(&json!(text), CODE).expect("a filter").expect("not empty");
        filter.node(&schema, settings.filterable(), CODE).map(|node| node.clause)
    };
    let bound = |value| Bound { value, is_exclusive: false };
    let number = |value| Node::from(Clause::Number(FieldId(2), bound(value), bound(value)));
    assert_eq!(
        node("year = 1.990e3"),
        Ok(Clause::Or(vec![Clause::Tag(FieldId(1), vec![word("1.990e3")]).into(), number(1990.0)]))
    );
    assert_eq!(node("year = soon"), Ok(Clause::Tag(FieldId(1), vec![word("soon")])));
    assert_eq!(node("year IS NULL"), Ok(Clause::Tag(FieldId(0), vec![word("n:year")])));
    assert_eq!(node("year 1 TO 2"), Ok(Clause::Number(FieldId(2), bound(1.0), bound(2.0))));
    let Ok(Clause::And(sides)) = node("_geoBoundingBox([10, -170], [-10, 170])") else { panic!("a box") };
    assert!(matches!(sides.get(1).map(|side| &side.clause), Some(Clause::Or(halves)) if halves.len() == 2));
    assert_eq!(
        node("genre = drama").map_err(|fault| fault.message),
        Err(
            "Attribute `genre` is not filterable. Available filterable attribute patterns are: `year, _geo`."
                .to_owned()
        )
    );
}

#[test]
fn feature_of_a_filterable_attribute_is_ignored() {
    let mut settings = Settings::default();
    let patch = json!({"filterableAttributes": [
        "year",
        {"attributePatterns": ["genre"], "features": {"facetSearch": true}},
        {"attributePatterns": ["price"], "features": {"filter": {"equality": false, "comparison": true}}},
    ]});
    settings.update(&patch).expect("valid");
    let code = |text: &str| {
        let filter = Filter::read(&json!(text), CODE).expect("a filter").expect("not empty");
        filter.node(&Schema::default(), settings.filterable(), CODE).map_or_else(|fault| fault.code, |_| "")
    };
    for good in ["year = 1", "year > 1", "genre = a", "genre EXISTS", "price > 1", "price 1 TO 2"] {
        assert_eq!(code(good), "", "{good}");
    }
    for wrong in ["genre > 1", "price = 1", "price IN [1, 2]", "price != 1"] {
        assert_eq!(code(wrong), CODE, "{wrong}");
    }
}
