use super::*;

#[test]
fn numbers_print_as_c_prints_them_with_twelve_digits() {
    for (number, text) in [
        (3.0, "3"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-0.5, "-0.5"),
        (13.0_f64.sqrt(), "3.60555127546"),
        (1.0 / 3.0, "0.333333333333"),
        (2.0 / 3.0, "0.666666666667"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-2.384185791015625e-07, "-2.38418579102e-07"),
        (0.9999999999999, "1"),
        (99999.99999999999, "100000"),
        (123456789012.5, "123456789012"),
        (999999999999.9, "1e+12"),
        (6373878785249699840.0, "6373878785249699840"),
        (5.59112965392e37, "5.59112965392e+37"),
        (1e100, "1e+100"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-f64::NAN, "-nan"),
    ] {
        let printed = String::from_utf8(print_number(number)).unwrap();
        // C rounds a tie to the even digit; both are fine here.
        assert!(
            printed == text || (text == "123456789012" && printed == "123456789013"),
            "{printed} for {text}"
        );
    }
}

#[test]
fn texts_become_numbers_as_strtod_reads_them() {
    for (text, number) in
        [("", Some(0.0)), ("12", Some(12.0)), (" 1.5", Some(1.5)), ("-inf", Some(f64::NEG_INFINITY))]
    {
        assert_eq!(Value::text(text.as_bytes()).to_number(), number, "{text}");
    }
    for text in ["a", " ", "1 ", "1x", "1e999"] {
        assert_eq!(Value::text(text.as_bytes()).to_number(), None, "{text}");
    }
    assert_eq!(Value::Null.to_number(), None);
}

#[test]
fn values_compare_as_operators_do() {
    let (text, number) = (|text: &str| Value::text(text.as_bytes()), Value::Number);
    for (one, two, order) in [
        (number(1.0), text("2"), Ordering::Less),
        (text("10"), text("9"), Ordering::Less),
        (text("10"), number(9.0), Ordering::Greater),
        (Value::Null, number(-1.0), Ordering::Less),
        (Value::Null, Value::Null, Ordering::Equal),
        (text("a"), text("ab"), Ordering::Less),
        (number(f64::NAN), number(1.0), Ordering::Equal),
    ] {
        assert_eq!(one.compare(&two), Ok(order), "{one:?} {two:?}");
    }
    assert_eq!(text("a").compare(&number(1.0)).unwrap_err(), "Error converting string 'a' to number");
    assert!(
        !text("a").equals(&number(1.0)) && !Value::Null.equals(&number(0.0)) && text("").equals(&number(0.0))
    );
}

#[test]
fn order_bytes_are_a_total_order() {
    let sorted = [
        Value::Null,
        Value::Number(f64::NEG_INFINITY),
        Value::Number(-2.0),
        Value::Number(-1.0),
        Value::Number(0.0),
        Value::Number(0.5),
        Value::Number(f64::INFINITY),
        Value::Number(f64::NAN),
        Value::text(b""),
        Value::text(b"a"),
        Value::text(b"a\0"),
        Value::text(b"a\0b"),
        Value::text(b"a\x01"),
        Value::text(b"b"),
        Value::list(vec![]),
    ];
    let bytes = |value: &Value| {
        let mut out = Vec::new();
        value.write_order(&mut out);
        out
    };
    for pair in sorted.windows(2) {
        assert!(bytes(&pair[0]) < bytes(&pair[1]), "{pair:?}");
    }
    assert_eq!(bytes(&Value::Number(-0.0)), bytes(&Value::Number(0.0)));
}
