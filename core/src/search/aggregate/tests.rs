use std::collections::BTreeMap;

use super::*;
use crate::search::value::{Message, Value};

/// Documents of these tests, as fields and values.
const DOCUMENTS: [&[(&str, &str)]; 6] = [
    &[("name", "a"), ("price", "10"), ("kind", "x"), ("age", "3")],
    &[("name", "b"), ("price", "3"), ("kind", "x")],
    &[("name", "c"), ("price", "8"), ("kind", "y"), ("age", "1")],
    &[("name", "d"), ("price", "10"), ("kind", "y"), ("age", "2")],
    &[("name", "e"), ("kind", "y")],
    &[("name", "f"), ("price", "-1"), ("age", "10")],
];

fn words(text: &str) -> Vec<&[u8]> {
    text.split('~')
        .flat_map(|part| part.split(' '))
        .filter(|word| !word.is_empty())
        .map(str::as_bytes)
        .collect()
}

fn facts_of<'a>(field: &'a dyn Fn(&[u8]) -> Option<FieldFacts>) -> Facts<'a> {
    Facts { is_json: false, field, distances: &[] }
}

/// name, price, kind and age are fields, of which age is SORTABLE.
fn field(name: &[u8]) -> Option<FieldFacts> {
    let is_known = [&b"name"[..], b"price", b"kind", b"age"].contains(&name);
    is_known.then_some(FieldFacts { is_sortable: name == b"age" })
}

fn run(words: &[&[u8]], ask: Ask<'_>) -> Result<(Vec<String>, u64), Message> {
    let request = parse(words)?;
    let plan = Plan::build(&request, &facts_of(&field))?;
    let mut pipeline = Pipeline::new(&plan, 1);
    let mut rows = Vec::new();
    for document in DOCUMENTS {
        if !pipeline.wants_more() {
            break;
        }
        let mut row = Row { values: vec![None; plan.width()], others: Vec::new() };
        let fields: BTreeMap<&[u8], &str> =
            document.iter().map(|(name, value)| (name.as_bytes(), *value)).collect();
        for input in plan.inputs() {
            if let Some(value) = fields.get(input.path.as_slice()) {
                let is_numeric = input.path == b"price" || input.path == b"age";
                row.set(input.column, Value::of_hash_field(value.as_bytes(), is_numeric));
            }
        }
        rows.extend(pipeline.push(row, ask)?);
    }
    pipeline.finish();
    while let Some(row) = pipeline.pull(ask)? {
        rows.push(row);
    }
    let shown = rows.iter().map(|row| {
        let fields = plan.output().iter().filter_map(|(name, column)| {
            let value = row.value(*column)?;
            Some(format!("{}={}", String::from_utf8_lossy(name), shown(value)))
        });
        fields.collect::<Vec<_>>().join(" ")
    });
    Ok((shown.collect(), pipeline.total()))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        other => String::from_utf8_lossy(&other.to_text()).into_owned(),
    }
}

/// The rows of a command, whose words stand between blanks.
fn check(command: &str, expected: &[&str]) {
    match run(&words(command), &mut |_| Ok(())) {
        Ok((rows, _)) => assert_eq!(rows, expected, "{command}"),
        Err(why) => assert_eq!([format!("ERR {why}")].as_slice(), expected, "{command}"),
    }
}

#[test]
fn rows_stream_through_apply_filter_and_limit() {
    check("LOAD 1 @name LIMIT 1 2", &["name=b", "name=c"]);
    check("LOAD 3 name AS n LIMIT 0 1", &["n=a"]);
    check("LOAD 1 @price APPLY @price*2 AS double FILTER @double>10 LIMIT 0 1", &["price=10 double=20"]);
    check("FILTER exists(@age)&&@age<3 LOAD 1 name", &["age=1 name=c", "age=2 name=d"]);
    check("LOAD 1 name APPLY upper(@name) AS name LIMIT 0 1", &["name=A"]);
    check("APPLY 1+1 LIMIT 0 1", &["1+1=2"]);
    check("LIMIT 0 0", &["", "", "", "", "", ""]);
}

#[test]
fn rows_sort_by_several_keys_and_those_without_come_last() {
    check(
        "SORTBY 2 @price DESC LOAD 1 name LIMIT 0 3",
        &["price=10 name=a", "price=10 name=d", "price=8 name=c"],
    );
    check(
        "LOAD 1 name SORTBY 1 @price",
        &[
            "name=f price=-1",
            "name=b price=3",
            "name=c price=8",
            "name=a price=10",
            "name=d price=10",
            "name=e",
        ],
    );
    check("SORTBY 4 @kind ASC @age DESC LIMIT 1 2", &["kind=x", "kind=y age=2"]);
    check("SORTBY 1 @name MAX 2", &["name=a", "name=b"]);
    check("SORTBY 1 @name LIMIT 4 5", &["name=e", "name=f"]);
    check(
        "LOAD 1 @name SORTBY 2 @age DESC MAX 9",
        &["name=f age=10", "name=a age=3", "name=d age=2", "name=c age=1", "name=b", "name=e"],
    );
}

#[test]
fn groups_reduce() {
    check(
        "GROUPBY 1 @kind REDUCE COUNT 0",
        &[
            "kind=x __generated_aliascount=2",
            "kind=y __generated_aliascount=3",
            "kind=NULL __generated_aliascount=1",
        ],
    );
    check(
        "GROUPBY 0 REDUCE sum 1 @price AS s REDUCE avg 1 @price REDUCE min 1 price AS lo REDUCE max 1 @price AS hi",
        &["s=30 __generated_aliasavgprice=6 lo=-1 hi=10"],
    );
    check("GROUPBY 0 REDUCE STDDEV 1 @age AS d REDUCE QUANTILE 2 @age 0.5 AS q", &["d=4.08248290464 q=2"]);
    check("GROUPBY 0 REDUCE QUANTILE 2 @age 0 AS low REDUCE QUANTILE 3 @age 1 100 AS top", &["low=1 top=10"]);
    check(
        "GROUPBY 0 REDUCE TOLIST 1 @price AS l REDUCE COUNT_DISTINCT 1 @price AS c",
        &["l=[10,3,8,-1] c=4"],
    );
    check("GROUPBY 0 REDUCE COUNT_DISTINCTISH 1 @kind AS c", &["c=2"]);
    check("GROUPBY 1 @kind REDUCE FIRST_VALUE 1 @name AS n", &["kind=x n=a", "kind=y n=c", "kind=NULL n=f"]);
    check("GROUPBY 0 REDUCE FIRST_VALUE 4 @name by @age desc AS n", &["n=f"]);
    check("GROUPBY 0 REDUCE FIRST_VALUE 3 @name BY @age AS n", &["n=c"]);
    check(
        "GROUPBY 1 @kind REDUCE SUM 1 @age AS s REDUCE MIN 1 @age AS m SORTBY 2 @s DESC LIMIT 0 1",
        &["kind=NULL s=10 m=10"],
    );
    check(
        "FILTER !exists(@age) GROUPBY 1 @kind REDUCE AVG 1 @age AS a REDUCE MAX 1 @age AS m LIMIT 0 1",
        &["kind=x a=nan m=0"],
    );
    check(
        "GROUPBY 1 @kind REDUCE COUNT 0 AS c FILTER @c>1 APPLY @c*10 AS c GROUPBY 0 REDUCE SUM 1 @c AS all",
        &["all=50"],
    );
    check("GROUPBY 1 @kind REDUCE HLL 1 @name AS h GROUPBY 0 REDUCE HLL_SUM 1 @h AS n", &["n=6"]);
}

#[test]
fn lists_make_a_group_for_each_element() {
    let list =
        "APPLY split(\"p,q\") AS l APPLY split(\"1,2,2\") AS m LIMIT 0 1 GROUPBY 2 @l @m REDUCE COUNT 0 AS c";
    check(list, &["l=p m=1 c=1", "l=q m=1 c=1", "l=p m=2 c=2", "l=q m=2 c=2"]);
    check("APPLY split(\"\") AS l GROUPBY 1 @l REDUCE COUNT 0 AS c", &["l=NULL c=6"]);
}

#[test]
fn samples_depend_on_the_seed_only() {
    let command = words("GROUPBY 0 REDUCE RANDOM_SAMPLE 2 @name 3 AS s");
    let (rows, _) = run(&command, &mut |_| Ok(())).unwrap();
    assert_eq!(run(&command, &mut |_| Ok(())).unwrap().0, rows);
    assert_eq!(rows[0].matches(',').count(), 2, "{rows:?}");
}

#[test]
fn totals_count_before_limits() {
    for (command, total) in [
        ("LIMIT 0 0", 6),
        ("FILTER exists(@age)", 4),
        ("SORTBY 1 @name MAX 2", 6),
        ("GROUPBY 1 @kind", 3),
        ("GROUPBY 1 @kind LIMIT 0 1", 3),
        ("GROUPBY 1 @kind LIMIT 0 0", 3),
        ("GROUPBY 1 @kind SORTBY 1 @kind LIMIT 0 1", 3),
    ] {
        assert_eq!(run(&words(command), &mut |_| Ok(())).unwrap().1, total, "{command}");
    }
}

#[test]
fn memory_is_asked_for_and_a_refusal_ends_the_request() {
    for command in [
        "GROUPBY 1 @name",
        "SORTBY 1 @name",
        "GROUPBY 0 REDUCE TOLIST 1 @name",
        "GROUPBY 0 REDUCE COUNT_DISTINCT 1 @name",
        "GROUPBY 0 REDUCE QUANTILE 2 @price 0.5",
    ] {
        let mut left = 400;
        let mut ask = |bytes: u64| {
            left = u64::checked_sub(left, bytes).ok_or("no memory")?;
            Ok(())
        };
        let refused = run(&words(command), &mut ask).is_err();
        let mut asked = 0;
        run(&words(command), &mut |bytes| {
            asked += bytes;
            Ok(())
        })
        .unwrap();
        assert_eq!(refused, asked > 400, "{command}: {asked}");
        assert!(asked > 100, "{command}: {asked}");
    }
    // A heap of one row holds one row.
    let mut asked = 0;
    run(&words("SORTBY 2 @name DESC MAX 1"), &mut |bytes| {
        asked += bytes;
        Ok(())
    })
    .unwrap();
    assert!(asked < 400, "{asked}");
}

#[test]
fn sketches_count_within_their_error() {
    let mut few = distinct::Distinctish::Few(distinct::Hashes::new(9));
    let (mut one, mut two) = (distinct::Sketch::new(), distinct::Sketch::new());
    for number in 0..100_000_u32 {
        let hash = distinct::hash(&Value::Number(f64::from(number)));
        few.add(hash);
        if number % 3 == 0 {
            one.add(hash)
        } else {
            two.add(hash)
        }
        if number == 200 {
            assert_eq!(few.count(), 201.0);
        }
    }
    assert!((few.count() - 100_000.0).abs() < 5_000.0, "{}", few.count());
    one.merge(&two.to_value());
    one.merge(&Value::text(b"Hx"));
    one.merge(&Value::Null);
    assert_eq!(one.count(), few.count());
}

#[test]
fn requests_have_options_in_any_case() {
    let request = parse(&words(
        "verbatim InOrder NOSTOPWORDS addscores SLOP -1 language german scorer TFIDF INKEYS 1 k INFIELDS 2 a b withcount \
         LOAD * params 2 p q TIMEOUT 50 DIALECT 3 FORMAT string WITHCURSOR maxidle 10 COUNT 5 limit 0 0",
    ))
    .unwrap();
    let expected = Request {
        steps: vec![
            Step::LoadAll,
            Step::Arrange(Arrangement { is_count_only: true, ..Arrangement::default() }),
        ],
        is_verbatim: true,
        is_in_order: true,
        keeps_stop_words: true,
        slop: Some(-1),
        language: Some(b"german".to_vec()),
        scorer: Some(b"TFIDF".to_vec()),
        keys: Some(vec![b"k".to_vec()]),
        fields: Some(vec![b"a".to_vec(), b"b".to_vec()]),
        adds_scores: true,
        has_count: Some(true),
        dialect: Some(3),
        timeout_ms: Some(50),
        is_expanded: Some(false),
        parameters: vec![(b"p".to_vec(), b"q".to_vec())],
        cursor: Some(Cursor { count: Some(5), max_idle_ms: Some(10) }),
    };
    assert_eq!(request, expected);
}

#[test]
fn errors_have_redisearch_texts() {
    for (command, text) in [
        ("foo", "Unknown argument `foo` at position 1 for <main>"),
        ("LOAD x", "Bad arguments for LOAD: Expected number of fields or `*`"),
        ("LOAD 2 a AS", "LOAD path AS name - must be accompanied with NAME"),
        ("LOAD 3 a AS as", "Alias for LOAD cannot be `AS`"),
        ("LIMIT 1", "LIMIT requires two arguments"),
        ("LIMIT a b", "LIMIT needs two numeric arguments"),
        ("LIMIT 5 0", "The `offset` of the LIMIT must be 0 when `num` is 0"),
        ("SORTBY 1 name", "MISSING ASC or DESC after sort field (name)"),
        ("SORTBY x", "Bad arguments for SORTBY: Could not convert argument to expected type"),
        (
            "SORTBY 1 @name SORTBY 1 @kind",
            "Multiple SORTBY steps are not allowed. Sort multiple fields in a single step",
        ),
        ("SORTBY 1 @none", "Property `none` not loaded nor in schema"),
        ("GROUPBY 1 kind", "Bad arguments for GROUPBY: Unknown property `kind`. Did you mean `@kind`?"),
        ("GROUPBY 2 @kind", "Bad arguments for GROUPBY: Expected an argument, but none provided"),
        ("GROUPBY 1 @none", "No such property `none`"),
        ("GROUPBY 2 @kind @kind", "Property `kind` specified more than once"),
        ("GROUPBY 0 REDUCE COUNT 1", "Bad arguments for COUNT: Expected an argument, but none provided"),
        ("GROUPBY 0 REDUCE COUNT 1 @name", "Count accepts 0 values only"),
        ("GROUPBY 0 REDUCE nope 0", "No such reducer: nope"),
        ("GROUPBY 0 REDUCE SUM 0", "Missing arguments for SUM"),
        ("GROUPBY 0 REDUCE SUM 1 @none", "Property `none` not present in document or pipeline"),
        ("GROUPBY 0 REDUCE SUM 2 @name 5", "Unknown argument `5` at position 1 for SUM"),
        ("GROUPBY 0 REDUCE QUANTILE 2 @age 2", "Percentage must be between 0.0 and 1.0"),
        ("GROUPBY 0 REDUCE RANDOM_SAMPLE 2 @age 2000", "Sample size too large"),
        (
            "GROUPBY 0 REDUCE FIRST_VALUE 3 @age NOTBY @name",
            "Unknown argument `NOTBY` at position 1 for FIRST_VALUE",
        ),
        ("GROUPBY 1 @kind LOAD 1 name", "LOAD cannot be applied after projectors or reducers"),
        ("GROUPBY 1 @kind SORTBY 1 @name", "Property `name` not loaded nor in schema"),
        ("APPLY @price AS p", "Property `price` not loaded nor in pipeline"),
        ("APPLY 1+ AS p", "Syntax error at offset 2 near ''"),
        ("APPLY 1 AS", "AS needs argument"),
        ("FILTER", "Bad arguments for APPLY/FILTER: Expected an argument, but none provided"),
        ("DIALECT 9", "DIALECT requires a non negative integer >=1 and <= 4"),
        ("TIMEOUT -1", "TIMEOUT requires a non negative integer."),
        ("PARAMS 1 a", "Parameters must be specified in PARAM VALUE pairs"),
        ("PARAMS 4 a 1 a 2", "Duplicate parameter `a`"),
        ("WITHCURSOR COUNT 0", "Bad arguments for COUNT: Value is outside acceptable bounds"),
        ("RETURN 1 a", "RETURN is not supported on FT.AGGREGATE"),
        ("LOAD 1 name VERBATIM", "Unknown argument `VERBATIM` at position 4 for <main>"),
        (
            "LOAD 1 age APPLY @age+1",
            "Could not find the value for a parameter name, consider using EXISTS if applicable for age",
        ),
    ] {
        check(command, &[&format!("ERR {text}")]);
    }
}

#[test]
fn loading_all_makes_every_name_known_for_hashes_only() {
    let plan = |command: &str, is_json| {
        let request = parse(&words(command)).unwrap();
        Plan::build(&request, &Facts { is_json, ..facts_of(&field) })
    };
    let hash = plan("LOAD * FILTER @other>1", false).unwrap();
    assert!(hash.loads_all() && hash.is_streaming());
    assert_eq!(hash.inputs(), [Input { kind: InputKind::Property, path: b"other".to_vec(), column: 0 }]);
    let json = plan("LOAD *", true).unwrap();
    assert!(!json.loads_all());
    assert_eq!(json.output(), [(b"$".to_vec(), 0)]);
    assert_eq!(
        plan("LOAD * APPLY @name AS n", true).unwrap_err(),
        "Property `name` not loaded nor in pipeline"
    );
    assert!(!plan("LOAD * GROUPBY 1 @other", false).unwrap().loads_all());
}

#[test]
fn no_words_panic() {
    let pieces = [
        "LOAD",
        "*",
        "1",
        "2",
        "3",
        "@name",
        "@price",
        "@kind",
        "GROUPBY",
        "REDUCE",
        "COUNT",
        "0",
        "AS",
        "x",
        "SUM",
        "TOLIST",
        "FIRST_VALUE",
        "BY",
        "DESC",
        "SORTBY",
        "MAX",
        "LIMIT",
        "APPLY",
        "@price*2",
        "split(\"a,b\")",
        "FILTER",
        "@x",
        "@l",
        "l",
        "exists(@price)",
        "QUANTILE",
        "0.5",
        "RANDOM_SAMPLE",
        "HLL",
        "HLL_SUM",
        "PARAMS",
        "WITHCURSOR",
        "DIALECT",
        "99999999999",
    ];
    let seed = 5;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut answers = 0;
    for _ in 0..60_000 {
        let count = random.usize(1..14);
        let command: Vec<&[u8]> =
            (0..count).map(|_| pieces[random.usize(..pieces.len())].as_bytes()).collect();
        answers += usize::from(run(&command, &mut |_| Ok(())).is_ok());
    }
    assert!(answers > 50, "{answers} with seed {seed}");
}
