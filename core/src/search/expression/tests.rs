use super::*;

/// The properties of the rows of these tests.
fn property(name: &[u8]) -> Option<Value> {
    Some(match name {
        b"a" => Value::Number(6.0),
        b"b" => Value::Number(4.0),
        b"text" => Value::text(b"hello world"),
        b"null" => Value::Null,
        b"list" => Value::list(vec![Value::text(b"x"), Value::text(b"y")]),
        b"a b" => Value::Number(1.0),
        b"place" => Value::text(b"1.2,3.4"),
        MATCHED_TERMS => Value::list(vec![Value::text(b"hello"), Value::text(b"world")]),
        _ => return None,
    })
}

fn evaluated(text: &str) -> Result<Value, Message> {
    let expression = Expression::parse(text.as_bytes())?;
    let values: Vec<Option<Value>> = expression.names().iter().map(|name| property(name)).collect();
    expression.evaluate(&|at| values.get(at)?.as_ref())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::List(items) => items.iter().map(shown).collect::<Vec<_>>().join("|"),
        other => String::from_utf8_lossy(&other.to_text()).into_owned(),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        match evaluated(text) {
            Ok(value) => assert_eq!(shown(&value), *expected, "{text}"),
            Err(why) => assert_eq!(format!("ERR {why}"), *expected, "{text}"),
        }
    }
}

#[test]
fn operators_bind_as_in_redisearch() {
    check(&[
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("2 ^ 3 ^ 2", "512"),
        ("-2 ^ 2", "4"),
        ("10 - 3 - 2", "5"),
        ("7 % 4 * 2", "6"),
        ("1+2", "3"),
        ("@a-1", "5"),
        ("@a - -1", "7"),
        ("1 < 2 && 2 < 1 || 1", "1"),
        ("!@a == 7", "1"),
        ("!1 && 0", "0"),
        ("!!5", "1"),
        ("3/0", "nan"),
        ("inf - inf", "-nan"),
        ("1e3", "1000"),
        ("-inf", "-inf"),
        ("0 && @absent", "0"),
        ("1 || @absent", "1"),
        ("@a\\ b + 1", "2"),
        ("NULL == NULL", "1"),
        ("@null < 1", "1"),
        ("@list == 'z'", "0"),
        ("'10' > 9", "1"),
        ("\"a\\\"b\" == 'a\"b'", "1"),
    ]);
}

#[test]
fn functions_answer() {
    check(&[
        ("abs(-2.5)", "2.5"),
        ("CEIL(1.2) + floor(1.8)", "3"),
        ("log2(8)", "3"),
        ("sqrt('x')", "nan"),
        ("log(-1)", "-nan"),
        ("exp(0)", "1"),
        ("upper(@text)", "HELLO WORLD"),
        ("lower(1)", "NULL"),
        ("startswith(@text, 'hell')", "1"),
        ("contains('aaaa', 'aa')", "3"),
        ("contains('ab', '')", "3"),
        ("contains('', 'ab')", "0"),
        ("strlen(@text)", "11"),
        ("substr(@text, 0, 5)", "hello"),
        ("substr(@text, -5, -1)", "worl"),
        ("substr(@text, -1000, 2)", ""),
        ("substr(@text, 3, -1000)", ""),
        ("format('%s is %s%%', @text, 2.5)", "hello world is 2.5%"),
        ("format('%s', NULL)", "(null)"),
        ("split('a, b,,c ')", "a|b|c"),
        ("split('a-b+c', '-+')", "a|b|c"),
        ("split('xax', ',', 'x')", "a"),
        ("to_number('12') + 1", "13"),
        ("to_str(1.5)", "1.5"),
        ("exists(@absent) + exists(@a) * 2", "2"),
        ("exists(@null)", "0"),
        ("case(@a > 5, 'large', @absent)", "large"),
        ("matched_terms()", "hello|world"),
        ("matched_terms(1)", "hello"),
        ("geodistance('1.2,3.4', @place)", "0"),
        ("geodistance(0, 0, 0, 1)", "111226.3"),
        ("geodistance('0,0', 0, 1)", "111226.3"),
        ("geodistance(0, 0, '0,1')", "111226.3"),
        ("geodistance('x', '0,1')", "nan"),
    ]);
}

#[test]
fn times_are_those_of_c_in_utc() {
    check(&[
        ("timefmt(0)", "1970-01-01T00:00:00Z"),
        ("timefmt(1517417144, '%a %A %b %B %d %e %j')", "Wed Wednesday Jan January 31 31 031"),
        ("timefmt(1517417144, '%D %r %R %y %C %u %w')", "01/31/18 04:45:44 PM 16:45 18 20 3 3"),
        ("timefmt(1230768000, '%G-W%V %U %W %%%Q')", "2009-W01 00 00 %%Q"),
        ("timefmt(1104537600, '%G-W%V')", "2004-W53"),
        ("timefmt(-1, '%F %T')", "1969-12-31 23:59:59"),
        ("timefmt(951782400, '%F')", "2000-02-29"),
        ("timefmt(4107542400, '%F')", "2100-03-01"),
        ("timefmt(inf, '%F')", "NULL"),
        ("timefmt(0, '')", "NULL"),
        ("parsetime('2018-01-31T16:45:44Z', '%FT%TZ')", "1517417144"),
        ("parsetime('31 January 2018 4:05 PM', '%d %b %Y %I:%M %p')", "1517414700"),
        ("parsetime('031 18', '%j %y')", "1517356800"),
        ("parsetime('12', '%s')", "12"),
        ("parsetime('99', '%d')", "NULL"),
        ("parsetime('hello', 'a')", "NULL"),
        ("day(1517417144)", "1517356800"),
        ("hour(1517417144)", "1517414400"),
        ("minute(1517417144)", "1517417100"),
        ("month(1517417144)", "1514764800"),
        ("dayofweek(1517417144)", "3"),
        ("dayofmonth(1517417144)", "31"),
        ("dayofyear(1517417144)", "30"),
        ("year(1517417144)", "2018"),
        ("monthofyear(1517417144)", "0"),
        ("year(-1)", "NULL"),
        ("year('x')", "NULL"),
        ("hour(1e300)", "NULL"),
    ]);
    // Every day for some centuries, there and back.
    for day in (-200_000..200_000_i64).step_by(13) {
        let text = time::format(day as f64 * 86_400.0, b"%Y %j %m %d").unwrap();
        let parts: Vec<&[u8]> = text.split(|byte| *byte == b' ').collect();
        let date = [parts[0], parts[2], parts[3]].join(&b'-');
        assert_eq!(time::parse(&date, b"%Y-%m-%d"), Some(day * 86_400), "{day}");
        assert_eq!(time::parse(&[parts[0], parts[1]].join(&b' '), b"%Y %j"), Some(day * 86_400), "{day}");
    }
}

#[test]
fn errors_have_redisearch_texts() {
    check(&[
        (
            "@absent + 1",
            "ERR Could not find the value for a parameter name, consider using EXISTS if applicable for absent",
        ),
        ("'a' + 1", "ERR Could not convert value to a number"),
        ("@null + 1", "ERR Could not convert value to a number"),
        ("'a' < 1", "ERR Error converting string 'a' to number"),
        ("foo(1)", "ERR Unknown function name 'foo'"),
        ("foo", "ERR Unknown symbol 'foo'"),
        ("abs()", "ERR Function 'abs' expects 1 arguments, but got 0"),
        ("split()", "ERR Function 'split' expects between 1 and 3 arguments, but got 0"),
        (
            "strlen(1)",
            "ERR Invalid type (1) for argument 0 in function 'strlen'. VALIDATE_ARG__STRING(v, 0) was false.",
        ),
        ("substr(1, 1, 1)", "ERR Invalid type for substr. Expected string"),
        ("to_number('x')", "ERR to_number: cannot convert string 'x'"),
        ("format('%')", "ERR Bad format string!"),
        ("format('%s')", "ERR Not enough arguments for format"),
        ("format('%d', 1)", "ERR Unknown format specifier passed"),
        ("", "ERR Syntax error at offset 0 near ''"),
        ("1 2", "ERR Syntax error at offset 2 near '2'"),
        ("1 +", "ERR Syntax error at offset 3 near ''"),
        ("(1", "ERR Syntax error at offset 2 near ''"),
        ("-@a", "ERR Syntax error at offset 0 near '-'"),
        ("1 == 1 == 1", "ERR Syntax error at offset 7 near '=='"),
        ("'abc", "ERR Syntax error at offset 0 near ''abc'"),
        ("@", "ERR Syntax error at offset 0 near '@'"),
        ("abs(1,)", "ERR Syntax error at offset 6 near ')'"),
        ("1 $ 2", "ERR Syntax error at offset 2 near '$'"),
    ]);
}

#[test]
fn depth_and_length_are_bounded() {
    let too_deep = "ERR Expression is too deep or too long";
    for text in [
        "(".repeat(100_000),
        "!".repeat(100_000) + "1",
        "abs(".repeat(100_000),
        "1^".repeat(100_000) + "1",
        "1+".repeat(100_000) + "1",
        "case(1,".repeat(100_000),
    ] {
        assert_eq!(format!("ERR {}", evaluated(&text).unwrap_err()), too_deep);
    }
    assert_eq!(evaluated(&format!("{}1{}", "(".repeat(150), ")".repeat(150))), Ok(Value::Number(1.0)));
    assert_eq!(evaluated(&("1+".repeat(150) + "1")), Ok(Value::Number(151.0)));
}

#[test]
fn texts_do_not_grow_without_bound() {
    let text = Value::text(&vec![b'a'; 3 * 1024 * 1024]);
    let value =
        |expression: &str| Expression::parse(expression.as_bytes()).unwrap().evaluate(&|_| Some(&text));
    assert_eq!(value("format('%s%s', @t, @t)").unwrap_err(), "Result of format is too long");
    assert_eq!(value("contains(@t, @t)").unwrap_err(), "Text to look for in contains is too long");
    assert_eq!(value("contains(@t, 'aaa')"), Ok(Value::Number(3.0 * 1024.0 * 1024.0 - 2.0)));
}

#[test]
fn filters_of_documents_do_not_match_where_a_value_lacks() {
    let matches = |text: &[u8]| {
        let expression = Expression::parse(text).unwrap();
        let values: Vec<Option<Value>> = expression.names().iter().map(|name| property(name)).collect();
        expression.matches(&|at| values.get(at)?.as_ref())
    };
    assert!(matches(b"@a > 5") && !matches(b"@a > 6") && !matches(b"@absent == 1") && !matches(b"@text + 1"));
}

#[test]
fn no_text_panics() {
    let pieces = [
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "%",
        "^",
        "==",
        "!=",
        "<",
        "<=",
        "&&",
        "||",
        "!",
        "@a",
        "@text",
        "@absent",
        "@list",
        "1",
        "-2.5",
        "inf",
        "NULL",
        "'x'",
        "\"%F %T\"",
        "'%s%%'",
        "\\",
        "'",
        "1e400",
        "99999999999",
        "abs(",
        "substr(",
        "timefmt(",
        "parsetime(",
        "split(",
        "format(",
        "case(",
        "exists(",
        "geodistance(",
        "matched_terms(",
        "contains(",
        "month(",
        "\0",
        "é",
    ];
    let seed = 11;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut values = 0;
    for round in 0..60_000 {
        let count = random.usize(1..12);
        let text: String = (0..count).map(|_| pieces[random.usize(..pieces.len())]).collect();
        let closed = text.clone() + &")".repeat(text.matches('(').count());
        values += usize::from(evaluated(&closed).is_ok());
        let mut bytes = text.into_bytes();
        let at = random.usize(..bytes.len());
        bytes[at] = random.u8(..);
        let _ = Expression::parse(&bytes);
        assert!(round < 60_000, "seed {seed}");
    }
    assert!(values > 1000, "{values}");
}
