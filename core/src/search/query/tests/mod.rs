//! Tables of queries and their trees, the latter as FT.EXPLAIN shows them, on one line.

mod bounds;

use super::explain::explain;
use super::tree::{Clause, Pattern, Query};
use super::{Context, DEPTH_MAX, EXPLAIN_MAX_BYTES, NODES_MAX, PARAMETERS_MAX_BYTES, ParseError, parse};
use crate::search::schema::{Field, FieldId, FieldKind, Metric, Number, Schema, VectorOptions};

fn field(name: &str, kind: FieldKind, has_empty: bool) -> Field {
    Field {
        name: name.into(),
        path: name.into(),
        kind,
        is_sortable: false,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty,
        has_missing: has_empty,
    }
}

fn schema() -> Schema {
    let text = || FieldKind::Text { weight: 1.0, has_stems: true, has_suffixes: false };
    let tag = || FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false };
    let vector = |is_hnsw| {
        FieldKind::Vector(VectorOptions {
            dimension: 1,
            number: Number::Float32,
            metric: Metric::L2,
            is_hnsw,
            attributes: Vec::new(),
        })
    };
    Schema {
        fields: vec![
            field("title", text(), false),
            field("body", text(), true),
            field("tags", tag(), false),
            field("maybe", tag(), true),
            field("num", FieldKind::Numeric, false),
            field("place", FieldKind::Geo, false),
            field("flat", vector(false), false),
            field("hnsw", vector(true), false),
        ],
        stop_words: Some(vec!["a".into(), "as".into(), "the".into()]),
        ..Schema::default()
    }
}

const PARAMETERS: [(&[u8], &[u8]); 12] = [
    (b"hello", b"Hello"),
    (b"year", b"2020"),
    (b"low", b"(3"),
    (b"high", b"+inf"),
    (b"vec", &[0, 0, 128, 63]),
    (b"empty", b""),
    (b"tag", b"a-B c"),
    (b"unit", b"km"),
    (b"k", b"7"),
    (b"bad", b"x"),
    (b"glob", b"a*b"),
    (b"yes", b"true"),
];

fn read(text: &[u8], dialect: u8) -> Result<Query, ParseError> {
    let schema = schema();
    let context = Context {
        schema: &schema,
        dialect,
        parameters: &PARAMETERS,
        is_verbatim: false,
        keeps_stop_words: false,
        is_typed: false,
    };
    parse(text, &context)
}

fn show(text: &str, dialect: u8) -> String {
    match read(text.as_bytes(), dialect) {
        Ok(query) => {
            let text = explain(&query, &schema(), &|_| Vec::new());
            String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Err(error) => ["! ", &error.text].concat(),
    }
}

#[track_caller]
fn check(dialect: u8, table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(show(text, dialect), *expected, "dialect {dialect}: {text}");
    }
}

#[test]
fn words_and_precedence_of_dialect_2() {
    let table = [
        ("Hello WÖRLD", "INTERSECT { hello wörld }"),
        ("hello world | foo", "UNION { INTERSECT { hello world } foo }"),
        ("hello world | \"goodbye\" moon", "UNION { INTERSECT { hello world } INTERSECT { goodbye moon } }"),
        ("a | b|c", "UNION { b c }"),
        ("(hello | foo) (bar)", "INTERSECT { UNION { hello foo } bar }"),
        ("-hello world", "INTERSECT { NOT{ hello } world }"),
        ("-(hello world)", "NOT{ INTERSECT { hello world } }"),
        ("hello -- world", "INTERSECT { hello NOT{ NOT{ world } } }"),
        ("hello ~world foo", "INTERSECT { hello OPTIONAL{ world } foo }"),
        ("hello-world", "INTERSECT { hello NOT{ world } }"),
        ("hello\\-world", "hello-world"),
        ("office#home it's run.jump", "INTERSECT { office home it s run jump }"),
        // RediSearch's table lets signs and fields take patterns and numbers behind a word.
        ("-hello wor* foo", "INTERSECT { NOT{ INTERSECT { hello PREFIX{wor*} } } foo }"),
        ("@title:hello world", "INTERSECT { @title:hello world }"),
        ("@title:hello 2020 foo", "INTERSECT { @title:INTERSECT { @title:hello @title:2020 } foo }"),
        ("-information -2nd -5", "INTERSECT { NOT{ information } NOT{ INTERSECT { 2nd -5 } } }"),
        ("b | c @num:[1 2]", "UNION { b INTERSECT { c NUMERIC {1.000000 <= @num <= 2.000000} } }"),
        (
            "b | c | d @num:[1 2] e | f",
            "UNION { INTERSECT { UNION { b c d } NUMERIC {1.000000 <= @num <= 2.000000} e } f }",
        ),
        ("b | c | @tags:{d} e", "UNION { b c INTERSECT { TAG:@tags { d } e } }"),
        ("the", "<empty>"),
        ("the | a", "<empty>"),
        ("-the hello", "hello"),
        ("", "<empty>"),
        (" ,. ", "<empty>"),
        ("*", "<WILDCARD>"),
        ("((*))", "<WILDCARD>"),
        ("(*) hello", "! Syntax error at offset 4 near hello"),
        ("* hello", "! Syntax error at offset 2 near hello"),
        ("(hello", "! Syntax error at offset 6 near hello"),
        ("hello)", "! Syntax error at offset 5 near hello"),
        ("hello |", "! Syntax error at offset 7 near hello"),
        ("()", "! Syntax error at offset 1 near "),
        ("ten%percent", "! Syntax error at offset 11 near percent"),
        ("inside:out", "! Syntax error at offset 6 near inside"),
    ];
    check(2, &table);
    check(3, &table);
    check(4, &table);
}

#[test]
fn precedence_of_dialect_1() {
    check(
        1,
        &[
            ("hello world | foo", "UNION { INTERSECT { hello world } foo }"),
            (
                "hello world | \"goodbye\" moon",
                "INTERSECT { UNION { INTERSECT { hello world } goodbye } moon }",
            ),
            ("hello the world | foo", "INTERSECT { hello UNION { world foo } }"),
            ("@title:hello world", "@title:INTERSECT { @title:hello @title:world }"),
            ("@title:hello (world)", "INTERSECT { @title:hello world }"),
            ("@title:hello | world", "@title:UNION { @title:hello @title:world }"),
            ("-hello world \"foo\"", "INTERSECT { NOT{ INTERSECT { hello world } } foo }"),
            ("~hello world \"foo\"", "OPTIONAL{ INTERSECT { hello world foo } }"),
            ("@title:(@num:[0 10])", "NUMERIC {0.000000 <= @num <= 10.000000}"),
            ("\"hello world\" \"foo\"", "INTERSECT { EXACT { hello world } foo }"),
            ("\"hello-world\"", "! Syntax error at offset 6 near hello"),
            ("\"$hello\"", "! Syntax error at offset 1 near hello"),
            ("\"\"", "! Syntax error at offset 1 near "),
            ("@title:@num:[0 10]", "NUMERIC {0.000000 <= @num <= 10.000000}"),
            ("@title:@body:hello", "@NULL:hello"),
            ("@tags:{foo}}}}", "TAG:@tags { foo }"),
            ("(*)", "! Syntax error at offset 1 near "),
            ("$hello", "! Syntax error at offset 0 near hello"),
            ("w'a*'", "INTERSECT { w PREFIX{a*} }"),
            ("@none:hello", "@NULL:hello"),
            ("hello @none:[1 2] @none:{x}", "hello"),
            ("@title:[1 2]", "<empty>"),
            ("@num>=5", "! Syntax error at offset 6 near 5"),
            ("@num:[5]", "! Syntax error at offset 7 near 5"),
            ("hello=>[KNN 1 @flat $vec]", "! Syntax error at offset 5 near >"),
        ],
    );
}

#[test]
fn patterns_and_phrases() {
    check(
        2,
        &[
            ("w* *D *oR* h", "INTERSECT { PREFIX{w*} SUFFIX{*d} INFIX{*or*} h }"),
            ("star*moon", "INTERSECT { PREFIX{star*} moon }"),
            ("w'He?l*\\'' a", "WILDCARD{he?l*'}"),
            ("w'$glob'", "WILDCARD{a*b}"),
            ("%Hello% %%b%% %%%the%%%", "INTERSECT { FUZZY{hello} FUZZY{b} FUZZY{the} }"),
            ("%%hello%", "! Syntax error at offset 8 near hello"),
            ("%%%%a%%%%", "! Syntax error at offset 3 near "),
            ("\"Hello, big-World\"", "EXACT { hello big world }"),
            ("\"hello the world\"", "EXACT { hello world }"),
            ("\"the\"", "<empty>"),
            ("\"$hello\"", "$hello"),
            ("\"one\u{1}two\"", "EXACT { one two }"),
            ("\"say \\\"hi\\\"\"", "EXACT { say \"hi\" }"),
            ("'hello world'", "EXACT { hello world }"),
            ("many\"few", "! Syntax error at offset 4 near many"),
            ("great'wall great'wall", "! Syntax error at offset 5 near great"),
            ("$hello $year", "INTERSECT { hello 2020 }"),
            ("$hello* *$hello *$hello*", "INTERSECT { PREFIX{hello*} SUFFIX{*hello} INFIX{*hello*} }"),
            ("%$hello%", "FUZZY{hello}"),
            ("$nothing", "! No such parameter `nothing`"),
        ],
    );
}

#[test]
fn text_fields() {
    check(
        2,
        &[
            ("@title|body:(hello | foo)", "@title|body:UNION { @title|body:hello @title|body:foo }"),
            ("@title:-hello", "@title:NOT{ @title:hello }"),
            ("@title:the hello", "hello"),
            ("@title:\"hello world\"", "@title:EXACT { @title:hello @title:world }"),
            ("@title:(@num:[0 10])", "! Syntax error at offset 8 near num"),
            ("@title:@body:hello", "! Syntax error at offset 7 near body"),
            ("@title:(two\u{1}words)", "@title:INTERSECT { @title:two @title:words }"),
            (
                "@title:(single\\%term *\\:term)",
                "@title:INTERSECT { @title:single%term @title:SUFFIX{*:term} }",
            ),
            ("@none:hello", "! Unknown field at offset 0 near none"),
            ("hello @title|none:hello", "! Unknown field at offset 13 near none"),
            ("@tags:hello", "! Syntax error: expected a TEXT field at offset 0 near tags"),
            ("@title|num:hello", "! Syntax error: expected a TEXT field at offset 7 near num"),
            ("@body:\"\"", "@body:\"\""),
            ("@body:''", "@body:\"\""),
            ("@body:$empty", "@body:\"\""),
            ("\"\"", "\"\""),
            (
                "@title:\"\"",
                "! Use `INDEXEMPTY` in field creation in order to index and query for empty strings",
            ),
            ("ismissing(@maybe)", "ISMISSING{maybe}"),
            ("-ISMISSING(@maybe)", "NOT{ ISMISSING{maybe} }"),
            (
                "ismissing(@tags)",
                "! 'ismissing' requires defining the field with 'INDEXMISSING' at offset 10 near tags",
            ),
            ("ismissing", "ismissing"),
        ],
    );
}

#[test]
fn tags() {
    check(
        2,
        &[
            ("@tags:{ Hello | b c|\"d-e*\" }", "TAG:@tags { Hello b c d-e* }"),
            (
                "@tags:{pre* | *suf | *in* | w'a?*'}",
                "TAG:@tags { PREFIX{pre*} SUFFIX{*suf} INFIX{*in*} WILDCARD{a?*} }",
            ),
            ("@tags:{\"a-b\"* | *\"a b\" | *'c:d'*}", "TAG:@tags { PREFIX{a-b*} SUFFIX{*a b} INFIX{*c:d*} }"),
            ("@tags:{a\\-b\\ c | a\\}b | a\\|b | a\\\\b}", "TAG:@tags { a-b c a}b a|b a\\b }"),
            ("@tags:{$tag | $hello*}", "TAG:@tags { a-B c PREFIX{Hello*} }"),
            ("@tags:{the | -99999}", "TAG:@tags { the -99999 }"),
            ("@tags:{café | 中文}", "TAG:@tags { café 中文 }"),
            // Punctuation between braces separates words, and signs are signs.
            ("@tags:{a.b}", "TAG:@tags { a b }"),
            ("@tags:{foo-bar}", "! Syntax error at offset 10 near foo"),
            ("@tags:{hello:42}", "! Syntax error at offset 12 near hello"),
            ("@tags:{w'1?'*}", "! Syntax error at offset 12 near 1?"),
            ("@tags:{}", "! Syntax error at offset 7 near tags"),
            ("@tags:{a", "! Syntax error at offset 8 near a"),
            ("@tags:{a b*}", "! Syntax error at offset 9 near b"),
            ("@maybe:{\"\"}", "TAG:@maybe { \"\" }"),
            ("@title:{a}", "! Syntax error: expected a TAG field at offset 0 near title"),
            ("-@tags:{a} @tags:{b}", "INTERSECT { NOT{ TAG:@tags { a } } TAG:@tags { b } }"),
        ],
    );
    let Ok(query) = read(b"@tags:{b  c | D\\*}", 2) else { panic!("a tag") };
    let Clause::Tag(_, values) = query.root.clause else { panic!("a tag") };
    let word = |text: &[u8]| Pattern::Word { text: text.to_vec(), is_verbatim: true };
    assert_eq!(values, [word(b"b c"), word(b"D*")]);
}

#[test]
fn numbers_and_places() {
    check(
        2,
        &[
            ("@num:[1 (5.5]", "NUMERIC {1.000000 <= @num < 5.500000}"),
            ("@num:[(-inf, +inf]", "NUMERIC {-inf < @num <= inf}"),
            ("@num:[-1e-2 Inf]", "NUMERIC {-0.010000 <= @num <= inf}"),
            ("@num:[- 5 5]", "NUMERIC {-5.000000 <= @num <= 5.000000}"),
            ("@num:[$low -$year]", "NUMERIC {3.000000 < @num <= -2020.000000}"),
            ("@num:[5]", "NUMERIC {5.000000 <= @num <= 5.000000}"),
            ("@num==5", "NUMERIC {5.000000 <= @num <= 5.000000}"),
            ("@num != $year", "NOT{ NUMERIC {2020.000000 <= @num <= 2020.000000} }"),
            (
                "@num>=5 @num<-1",
                "INTERSECT { NUMERIC {5.000000 <= @num <= inf} NUMERIC {-inf <= @num < -1.000000} }",
            ),
            ("@num:[1 2", "! Syntax error at offset 9 near 2"),
            ("@num:[1 $bad]", "! Bad upper range: x"),
            ("@num==$bad", "! Invalid numeric value (x) for parameter `bad`"),
            ("@title:[1 2]", "! Syntax error: expected a NUMERIC field at offset 0 near title"),
            ("@title>5", "! Syntax error: expected a NUMERIC field at offset 0 near title"),
            ("@place:[29.5 -34 2 km]", "GEO place:{29.500000,-34.000000 --> 2.000000 km}"),
            ("@place:[29.5 34 $k $unit]", "GEO place:{29.500000,34.000000 --> 7.000000 km}"),
            ("@place:[29.5 34 2 furlong]", "! Invalid GeoFilter unit"),
            ("@place:[200 34 2 m]", "! Invalid GeoFilter lat/lon"),
            ("@place:[20 34 0 m]", "! Invalid GeoFilter radius"),
            ("@num:[20 34 1 m]", "! Syntax error: expected a GEO field at offset 0 near num"),
        ],
    );
}

#[test]
fn vectors() {
    check(
        2,
        &[
            (
                "*=>[KNN 10 @flat $vec]",
                "VECTOR {K=10 nearest vectors to `$vec` in vector index associated with field @flat, \
                 yields distance as `__flat_score`}",
            ),
            (
                "(@num:[1 2] hello)=>[KNN $k @hnsw $vec EF_RUNTIME 20 AS d]",
                "VECTOR { INTERSECT { NUMERIC {1.000000 <= @num <= 2.000000} hello } } => {K=7 nearest vectors to \
                 `$vec` in vector index associated with field @hnsw, EF_RUNTIME = 20, yields distance as `d`}",
            ),
            (
                "@title:hello=>[KNN 3 @flat $vec]=>{$yield_distance_as: far; $HYBRID_POLICY: ADHOC_BF}",
                "VECTOR { @title:hello } => {K=3 nearest vectors to `$vec` in vector index associated with field \
                 @flat, HYBRID_POLICY = ADHOC_BF, yields distance as `far`}",
            ),
            (
                "@flat:[VECTOR_RANGE 0.5 $vec]=>{$yield_distance_as: d}",
                "VECTOR {Vectors that are within 0.5 distance radius from `$vec` in vector index associated with \
                 field @flat, yields distance as `d`}",
            ),
            ("a b=>[KNN 3 @flat $vec]", "! Syntax error at offset 3 near >"),
            ("*=>[KNN 3 @title $vec]", "! Expected a VECTOR field at offset 10 near title"),
            ("*=>[KNN 3 @flat $nothing]", "! No such parameter `nothing`"),
            ("*=>[KNN x @flat $vec]", "! Syntax error at offset 8 near x"),
            ("*=>[KNN $bad @flat $vec]", "! Invalid numeric value (x) for parameter `bad`"),
            (
                "*=>[NN 3 @flat $vec]",
                "! Syntax error: Expecting Vector Similarity command at offset 4 near NN",
            ),
            (
                "*=>[KNN 3 @flat $hello]",
                "! Error parsing vector similarity query: query vector blob size (5) does not match index's \
                 expected size (4).",
            ),
            (
                "*=>[KNN 3 @flat $vec EF_RUNTIME 2]",
                "! Error parsing vector similarity parameters: Invalid option",
            ),
            (
                "*=>[KNN 3 @hnsw $vec EF_RUNTIME x]",
                "! Error parsing vector similarity parameters: Invalid value was given",
            ),
            ("*=>[KNN 3 @hnsw $vec COLOUR 2]", "! Invalid attribute colour"),
            (
                "*=>[KNN 3 @flat $vec AS d]=>{$yield_distance_as: e}",
                "! Distance field was specified twice for vector query: d and e",
            ),
            ("*=>[KNN 3 @flat $vec] hello", "! Syntax error at offset 22 near hello"),
            ("@flat:[WITHIN $vec]", "! Expected a GEOSHAPE field at offset 0 near flat"),
        ],
    );
}

#[test]
fn attributes() {
    check(
        2,
        &[
            (
                "(hello world) => { $slop: 1; $inorder: true; $weight: 2.5; $phonetic: false }",
                "INTERSECT { hello world } => { $weight: 2.5; $slop: 1; $inorder: true; }",
            ),
            ("hello world=>{$weight:2}", "INTERSECT { hello world => {$weight: 2;} }"),
            ("((b c)=>{$inorder:$yes;}) d", "INTERSECT { INTERSECT { b c } => { $inorder: true; } d }"),
            ("(b c)=>{$slop:2}", "INTERSECT { b c } => { $slop: 2; $inorder: false; }"),
            ("hello=>{}", "hello"),
            ("(@title:hello)=>{$weight:2}", "@title:hello => {$weight: 2;}"),
            ("@title:hello=>{$weight:2} 5", "INTERSECT { @title:hello => {$weight: 2;} 5 }"),
            ("-hello=>{$weight:2} 5", "NOT{ INTERSECT { hello => {$weight: 2;} 5 } }"),
            ("@tags:{a}=>{$weight:0.2}", "TAG:@tags { a } => { $weight: 0.2; }"),
            ("hello=>{$colour:red}", "! Invalid attribute colour"),
            ("hello=>{$yield_distance_as:red}", "! Invalid attribute yield_distance_as"),
            ("hello=>{$slop:-2}", "! Invalid value (-2) for `slop`"),
            ("hello=>{$weight:x}", "! Invalid value (x) for `weight`"),
            ("hello=>{$weight 1}", "! Syntax error at offset 16 near 1"),
        ],
    );
}

#[test]
fn explain_indents_and_expands() {
    let expand = |word: &[u8]| vec![[b"+", word].concat()];
    let Ok(query) = read(b"@title:(hello -\"big world\")", 2) else { panic!("a query") };
    let expected = "@title:INTERSECT {\n  @title:UNION {\n    @title:hello\n    @title:+hello(expanded)\n  }\n  \
                    @title:NOT{\n    @title:EXACT {\n      @title:big\n      @title:world\n    }\n  }\n}\n";
    assert_eq!(String::from_utf8_lossy(&explain(&query, &schema(), &expand)), expected);
}

#[test]
fn flags_of_the_command() {
    let schema = schema();
    let context = Context {
        schema: &schema,
        dialect: 2,
        parameters: &[],
        is_verbatim: true,
        keeps_stop_words: true,
        is_typed: false,
    };
    let Ok(query) = parse(b"the", &context) else { panic!("a word") };
    assert_eq!(query.root.clause, Clause::Word(Pattern::Word { text: b"the".to_vec(), is_verbatim: true }));
}

#[test]
fn fields_are_named_once() {
    let Ok(query) = read(b"@title|body|title|title:x", 2) else { panic!("a query") };
    let Clause::In(fields, _) = query.root.clause else { panic!("fields") };
    assert_eq!(fields, [FieldId(0), FieldId(1)]);
}
