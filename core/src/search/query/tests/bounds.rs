//! Long, deep and random texts.

use super::*;

#[test]
fn bounds() {
    let nested = |depth: usize| ["(".repeat(depth), "x".into(), ")".repeat(depth)].concat();
    let too_deep = "! Parser stack overflow. Try moving nested parentheses more to the left";
    for dialect in [1, 2] {
        assert_eq!(show(&nested(DEPTH_MAX), dialect), "x");
        assert_eq!(show(&nested(DEPTH_MAX + 1), dialect), too_deep);
        assert_eq!(show(&nested(100_000), dialect), too_deep);
        assert_eq!(show(&["-".repeat(100_000), "x".into()].concat(), dialect), too_deep);
        assert_eq!(show(&["@title:".into(), "~".repeat(100_000), "x".into()].concat(), dialect), too_deep);
        let wide = "x|".repeat(NODES_MAX + 1);
        assert_eq!(show(&wide, dialect), "! Query has more than 32768 parts");
        let tags = ["@tags:{", &"x|".repeat(NODES_MAX + 1), "x}"].concat();
        assert_eq!(show(&tags, dialect), "! Query has more than 32768 parts");
    }
}

#[test]
fn short_texts_with_long_results_end() {
    let schema = schema();
    let long = vec![b'x'; PARAMETERS_MAX_BYTES / 4];
    let context = Context {
        schema: &schema,
        dialect: 2,
        parameters: &[(b"long", &long)],
        is_verbatim: false,
        keeps_stop_words: false,
        is_typed: false,
    };
    assert!(parse(b"$long|$long|$long|$long", &context).is_ok());
    let error = parse(b"$long|@tags:{$long|$long*}|%$long%|w'$long'", &context).unwrap_err();
    assert_eq!(error.text, "Query has more than 4194304 bytes of parameters");
    let Ok(query) = parse(b"$long|$long|$long|$long", &context) else { panic!("a query") };
    let explanation = explain(&query, &schema, &|word| vec![word.to_vec()]);
    assert!(explanation.len() < 2 * EXPLAIN_MAX_BYTES);
}

#[test]
fn errors_are_one_line_of_text() {
    let Err(error) = read(b"@no\\\nne\xff:x", 2) else { panic!("an unknown field") };
    assert_eq!(error.text, "Unknown field at offset 0 near no ne\u{fffd}");
}

#[test]
fn random_texts_never_panic() {
    let parts: Vec<&[u8]> = vec![
        b"hello",
        b"the",
        b"5",
        b"-1.5",
        b"inf",
        b"|",
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b";",
        b"-",
        b"~",
        b"*",
        b"%",
        b"\"",
        b"'",
        b"=>",
        b"@title",
        b"@tags",
        b"@num",
        b"@place",
        b"@flat",
        b"@none",
        b"$hello",
        b"$vec",
        b"$",
        b" ",
        b"\\",
        b"w'",
        b"KNN",
        b"AS",
        b"VECTOR_RANGE",
        b"ismissing(",
        b">=",
        b"km",
        b"\xff",
        b"\xc3\xb6",
        b"\0",
        b"@tags:{",
        b"@num:[",
        b"@title:(",
        b"=>{$weight:",
        b"=>[KNN 5 @flat $vec",
    ];
    let seed = 20_261_127;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut queries = 0;
    for _ in 0..50_000 {
        let length = random.usize(0..16);
        let text: Vec<u8> = (0..length).flat_map(|_| parts[random.usize(0..parts.len())].to_vec()).collect();
        for dialect in 1..=4 {
            if let Ok(query) = read(&text, dialect) {
                queries += 1;
                assert!(!explain(&query, &schema(), &|word| vec![word.to_vec()]).is_empty());
            }
        }
    }
    assert!(queries > 10_000, "{queries} texts were queries");
}
