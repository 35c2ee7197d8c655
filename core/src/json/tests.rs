use std::fmt::Write as _;

use super::format::{Format, write};
use super::node::{InOne, Node};
use super::text::parse;

fn printed(text: &str, format: Format<'_>) -> String {
    let parsed = parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut out = Vec::new();
    write(&Node::new(parsed.packed), format, &mut InOne, &mut out).expect("a whole value");
    String::from_utf8(out).expect("UTF-8")
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    assert_eq!(printed(text, Format::default()), wanted, "{text}");
}

#[test]
fn value_comes_back_as_another_one() {
    for text in [
        "null",
        "true",
        "false",
        "127",
        "128",
        "-1",
        "18446744073709551615",
        "1.5",
        "0.1000000000000000055511151231257827",
        r#""""#,
        r#""a""#,
        r#""\"\\\n\u0001é𝄞""#,
        "[]",
        "{}",
        r#"[[],{},[[1,"b",null]]]"#,
        r#"{"b":1,"a":{"c":[true,false]},"":2}"#,
    ] {
        check(text, text);
    }
    check(" [ 1 ,\t{ \"a\" : 2 } ]\r\n", r#"[1,{"a":2}]"#);
    check(r#""\u00e9\ud834\udd1e\/""#, r#""é𝄞/""#);
    let long = "x".repeat(300);
    check(
        &format!(r#"{{"{long}":"{long}","y":"{}"}}"#, "z".repeat(63)),
        &format!(r#"{{"{long}":"{long}","y":"{}"}}"#, "z".repeat(63)),
    );
}

#[test]
fn member_that_comes_twice_stays_twice() {
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
    check(r#"{"a":{"x":1,"x":[2,{"y":1,"y":2}]},"b":2,"\u0061":[1]}"#, r#"{"a":[1],"b":2}"#);
    check(r#"[{"a":{"x":1,"x":[2,{"y":1,"y":2}]}},5]"#, r#"[{"a":{"x":[2,{"y":2}]}},5]"#);
}

#[test]
fn text_that_is_no_json_is_taken() {
    for (text, wanted) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[1,]", "expected value at line 1 column 4"),
        ("{\"a\"}", "expected `:` at line 1 column 5"),
        ("1 2", "trailing characters at line 1 column 3"),
        ("nul", "EOF while parsing a value at line 1 column 3"),
        ("1e999", "number out of range"),
        ("\"\\ud800\"", "unexpected end of hex escape at line 1 column 8"),
        ("'a'", "expected value at line 1 column 1"),
    ] {
        assert_eq!(parse(text.as_bytes()).map(|_| ()), Err(wanted.to_owned()), "{text}");
    }
    assert!(parse(b"\"\xFF\"").is_err());
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(parse(deep(super::DEPTH_MAX).as_bytes()).map(|parsed| parsed.depth), Ok(super::DEPTH_MAX));
    assert!(parse(deep(super::DEPTH_MAX + 1).as_bytes()).is_err());
}

#[test]
fn layout_differs_from_redisjsons() {
    let format = Format { indent: b"\t", newline: b"\n", space: b" " };
    assert_eq!(
        printed(r#"{"a":[1,{}],"b":{"c":[]}}"#, format),
        "{\n\t\"a\": [\n\t\t1,\n\t\t{}\n\t],\n\t\"b\": {\n\t\t\"c\": []\n\t}\n}"
    );
}

#[test]
fn damaged_value_is_read_past_its_end() {
    let whole = parse(br#"{"a":[1,2.5,"xyz",{"b":null}],"c":12345678901234567890123}"#).expect("JSON").packed;
    for at in 0..whole.len() {
        for byte in [0, 1, 7, 8, 9, 0x0B, 0x7F, 0x80, 0xFF] {
            let mut damaged = whole.clone();
            if let Some(place) = damaged.get_mut(at) {
                *place = byte;
            }
            // Anything but a panic.
            let _ = write(&Node::new(damaged), Format::default(), &mut InOne, &mut Vec::new());
        }
        let cut = whole.get(..at).unwrap_or_default().to_vec();
        assert!(
            write(&Node::new(cut), Format::default(), &mut InOne, &mut Vec::new()).is_err(),
            "cut at {at}"
        );
    }
}

fn random(generator: &mut fastrand::Rng, depth: usize, out: &mut String) {
    let text = |generator: &mut fastrand::Rng, out: &mut String| {
        let length = if generator.u8(..20) == 0 { 80 } else { 4 };
        let text: String = (0..generator.usize(..length)).map(|_| generator.char('\0'..'\u{200}')).collect();
        out.push_str(&serde_json::to_string(&text).expect("a string"));
    };
    let count = if depth > 5 { 0 } else { generator.usize(..5) };
    match generator.u8(..8) {
        0 => out.push_str("null"),
        1 => out.push_str(if generator.bool() { "true" } else { "false" }),
        2 => write!(out, "{}", generator.i64(..) >> generator.u32(..64)).expect("a number"),
        3 => write!(out, "{:?}", generator.f64() * 1e6).expect("a number"),
        4 => text(generator, out),
        5 | 6 => {
            out.push('[');
            for at in 0..count {
                out.push_str(if at > 0 { "," } else { "" });
                random(generator, depth + 1, out);
            }
            out.push(']');
        }
        _ => {
            out.push('{');
            for at in 0..count {
                out.push_str(if at > 0 { "," } else { "" });
                text(generator, out);
                out.push(':');
                random(generator, depth + 1, out);
            }
            out.push('}');
        }
    }
}

#[test]
fn random_value_comes_back_as_another_one() {
    let seed = 22;
    let mut generator = fastrand::Rng::with_seed(seed);
    for round in 0..3000 {
        let mut text = String::new();
        random(&mut generator, 0, &mut text);
        let ours: serde_json::Value =
            serde_json::from_str(&printed(&text, Format::default())).expect("what was printed is JSON");
        let theirs: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(ours, theirs, "seed {seed}, round {round}: {text}");
    }
}

#[test]
fn changed_text_is_read_as_another_value() {
    const PARTS: [&str; 18] = [
        "[", "]", "{", "}", ",", ":", "\"", "\\", "\\u00", "1", "-", "e9", ".", "null", "true", " ",
        "\u{e9}", "\"a\":",
    ];
    let seed = 23;
    let mut generator = fastrand::Rng::with_seed(seed);
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut text = String::new();
        random(&mut generator, 2, &mut text);
        let mut text: Vec<char> = text.chars().collect();
        for _ in 0..generator.usize(..3) {
            let at = generator.usize(..=text.len());
            match generator.u8(..3) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => drop(text.splice(at..at, PARTS[generator.usize(..PARTS.len())].chars())),
                _ => text.truncate(at),
            }
        }
        let text: String = text.into_iter().collect();
        let theirs: Result<serde_json::Value, _> = serde_json::from_str(&text);
        let ours = parse(text.as_bytes());
        // What serde_json's numbers cannot hold are digits here.
        let is_large = theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
        assert!(ours.is_ok() == theirs.is_ok() || is_large, "seed {seed}, round {round}: {text}: {ours:?}");
        accepted += u32::from(ours.is_ok());
    }
    assert!(accepted > 3000, "only {accepted} texts were accepted");
}
