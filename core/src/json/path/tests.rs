use super::{Ended, find, parse, parse_legacy};
use crate::json::format::{Format, write};
use crate::json::node::{InOne, Node};
use crate::json::text;

const STORE: &str = r#"{"store":{"book":[
    {"category":"reference","author":"Nigel Rees","title":"Sayings","price":8.95},
    {"category":"fiction","author":"Evelyn Waugh","title":"Sword","price":12.99},
    {"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99}],
    "bicycle":{"color":"red","price":399},"a-b":1}}"#;

fn document(text: &str) -> Node {
    Node::new(text::parse(text.as_bytes()).expect("JSON").packed)
}

fn printed(node: &Node) -> String {
    let mut out = Vec::new();
    write(node, Format::default(), &mut InOne, &mut out).expect("a whole value");
    String::from_utf8(out).expect("UTF-8")
}

#[track_caller]
fn check(path: &str, wanted: &[&str]) {
    let query = match path.starts_with('$') {
        true => parse(path),
        false => parse_legacy(path),
    };
    let query = query.unwrap_or_else(|fault| panic!("{path}: {fault:?}"));
    let found = find(&query, &document(STORE), &mut InOne, &mut 1_000_000).expect("it was followed");
    let found: Vec<String> = found.iter().map(|found| printed(&found.node)).collect();
    assert_eq!(found, wanted, "{path}");
}

#[test]
fn path_finds_something_else() {
    check("$.store.book[0].price", &["8.95"]);
    check("$..price", &["8.95", "12.99", "8.99", "399"]);
    check("$.store.book[-1].title", &[r#""Moby Dick""#]);
    check("$.store.book[?@.price < 10].title", &[r#""Sayings""#, r#""Moby Dick""#]);
    check("$.store.book[?(@.isbn)].price", &["8.99"]);
    check("$..book[?(@.author =~ \"(?i)^e\")].price", &["12.99"]);
    check("$..book[?match(@.author, '.*e.*')].price", &["8.95", "12.99", "8.99"]);
    check("$..book[?search(@.author, '\\\\p{Lu}e')].price", &["8.95", "8.99"]);
    check("$.store.book[0:2].price", &["8.95", "12.99"]);
    check("$.store.book[::-2].price", &["8.99", "8.95"]);
    check("$.store['bicycle','a-b']", &[r#"{"color":"red","price":399}"#, "1"]);
    check("$.store.book[?length(@.title) == 5 && !@.isbn].title", &[r#""Sword""#]);
    check("$[?count(@.*) == 3]['a-b']", &["1"]);
    check("$.store.a-b", &["1"]);
    check("$.nothing", &[]);
}

#[test]
fn older_path_finds_something_else() {
    check(".store.bicycle.color", &[r#""red""#]);
    check("store.bicycle.color", &[r#""red""#]);
    check("store.book[1].price", &["12.99"]);
    check("[\"store\"][\"a-b\"]", &["1"]);
    check(".[\"store\"].a-b", &["1"]);
    check("$.store.[\"book\"].[0].price", &["8.95"]);
    check("..isbn", &[r#""0-553-21311-3""#]);
    let query = parse_legacy(".").expect("the whole document");
    assert!(query.segments.is_empty());
}

#[test]
fn path_that_is_none_is_followed() {
    for path in [
        "",
        "a",
        "$.",
        "$..",
        "$[",
        "$[]",
        "$[1",
        "$['a]",
        "$[01]",
        "$[-0]",
        "$[1,]",
        "$.1",
        "$[?]",
        "$[?@.a ==]",
        "$[?1]",
        "$[?@..a == 1]",
        "$[?(@.a]",
        "$[?nothing(@.a)]",
        "$[?!@.a == 1]",
        "$[9007199254740993]",
        "$ ",
        "$.a ",
        "$[?'\\ud800' == 1]",
        "$.[a]",
    ] {
        assert!(parse(path).is_err(), "{path}");
    }
    let deep = ["$[?", &"(".repeat(100_000)].concat();
    assert!(parse(&deep).is_err());
    let deep = "$[?@".repeat(100_000);
    assert!(parse(&deep).is_err());
}

#[test]
fn path_takes_as_long_as_it_likes() {
    let document = document(&format!("[{}0]", "[1,2,3],".repeat(500)));
    for path in ["$..*..*..*..*", "$[?count($..*) > 0]..*", "$[?$[?$[?@ == 1]]]"] {
        let query = parse(path).expect("a path");
        assert_eq!(
            find(&query, &document, &mut InOne, &mut 20_000).map(|_| ()),
            Err(Ended::TooMuch),
            "{path}"
        );
    }
    let document = self::document(&format!("[\"{}\"]", "a".repeat(100_000)));
    let query = parse(&format!("$[?@ =~ '{}b']", "(a*)*".repeat(100))).expect("a path");
    assert_eq!(find(&query, &document, &mut InOne, &mut 20_000).map(|_| ()), Err(Ended::TooMuch));
}

#[test]
fn place_leads_elsewhere() {
    let document = document(STORE);
    let found =
        find(&parse("$..price").expect("a path"), &document, &mut InOne, &mut 1000).expect("it was followed");
    for found in found {
        let mut node = document.clone();
        for step in found.place.steps() {
            let parts = node.parts(&mut InOne).expect("a whole value");
            node = parts.into_iter().find(|(other, _)| *other == step).expect("a part").1;
        }
        assert_eq!(printed(&node), printed(&found.node));
    }
}

/// Paths that have every kind of segment, selector and expression.
const PATHS: [&str; 12] = [
    "$.store.book[0].title",
    "$['store']['book'][-1:0:-2,1,*,'a']",
    "$..book[?@.price < 10 && !(@.isbn || @['a'])].title",
    "$[?count(@..*) >= 2.5e1 || length(@.b) == 0]",
    "$[?match(@.a, '[a-z]+(x|y)*') && search(@.b, \"\\\\p{Lu}{2,3}.\")]",
    "$[?value($..c) != null && @ == true]",
    "$..[1:5:2]..*",
    "store.book[0]",
    ".a..b[*].c",
    "[\"a\"][1].b",
    "$[?(@.a==-0.5E-3)]",
    "$['\\u00e9\\ud83d\\ude00\\n']",
];

#[test]
fn changed_path_makes_the_parser_panic() {
    const PARTS: [&str; 24] = [
        "[",
        "]",
        "?",
        "(",
        ")",
        "@",
        "$",
        ".",
        "..",
        "*",
        "'",
        "\"",
        "\\",
        ",",
        ":",
        "!",
        "&&",
        "||",
        "==",
        "<",
        "1e",
        "-",
        "\u{1F600}",
        "match(",
    ];
    let seed = 22;
    let mut random = fastrand::Rng::with_seed(seed);
    let store = document(STORE);
    let mut accepted = 0;
    for _ in 0..30_000 {
        let mut path: Vec<char> = PATHS[random.usize(..PATHS.len())].chars().collect();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..=path.len());
            match random.u8(..3) {
                0 if at < path.len() => drop(path.remove(at)),
                1 => drop(path.splice(at..at, PARTS[random.usize(..PARTS.len())].chars())),
                _ => path.rotate_left(at),
            }
        }
        let path: String = path.into_iter().collect();
        for query in [parse(&path), parse_legacy(&path)].into_iter().flatten() {
            accepted += 1;
            // It ends, too.
            let _ = find(&query, &store, &mut InOne, &mut 10_000);
        }
    }
    assert!(accepted > 1000, "only {accepted} paths were accepted");
}

#[test]
fn nested_path_overflows_the_stack() {
    for part in [
        "[?(",
        "[?!",
        "[?@[?",
        "[?count(",
        "[?@.a==value(",
        "[",
        "..",
        "(",
        "[?@.a&&(",
        "[?match(@,'(",
        "[?length(length(",
    ] {
        let path = format!("${}", part.repeat(50_000));
        assert!(parse(&path).is_err() || part == "..", "{part}");
        let _ = parse_legacy(&path);
    }
    let pattern = format!("$[?match(@, '{}')]", "(".repeat(20_000));
    if let Ok(query) = parse(&pattern) {
        let found = find(&query, &document(r#"["a"]"#), &mut InOne, &mut 10_000);
        assert!(matches!(&found, Err(Ended::TooMuch)) || found.is_ok_and(|found| found.is_empty()));
    }
}
