//! Numbers against Redis' rules: `string2ll`, `strtod` and the layout of 7.2's double printer.

use crate::number::{format_f64, parse_f64, parse_i64, parse_u64};

#[test]
fn integers_are_strict() {
    for value in [0, 1, -1, 9, 10, i64::MAX, i64::MIN, i64::MIN + 1, 1_000_000_007] {
        assert_eq!(parse_i64(value.to_string().as_bytes()), Some(value));
    }
    for text in ["", "-", "+1", "01", "-01", "-0", "00", " 1", "1 ", "1.0", "0x1", "1e3", "--1", "\u{661}"] {
        assert_eq!(parse_i64(text.as_bytes()), None, "{text:?}");
        assert_eq!(parse_u64(text.as_bytes()), None, "{text:?}");
    }
    for text in
        ["9223372036854775808", "-9223372036854775809", "100000000000000000000", "18446744073709551616"]
    {
        assert_eq!(parse_i64(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(parse_u64(b"18446744073709551615"), Some(u64::MAX));
    assert_eq!(parse_u64(b"18446744073709551616"), None);
    assert_eq!(parse_u64(b"99999999999999999999"), None);
    assert_eq!(parse_u64(b"000000000000000000001"), None);
    assert_eq!(parse_u64(b"-1"), None);
}

#[test]
fn doubles_are_read_like_strtod() {
    let cases = [
        ("0", 0.0),
        ("1", 1.0),
        ("+1.5", 1.5),
        ("-1.5e3", -1500.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1E-2", 0.01),
        ("0e999", 0.0),
        ("inf", f64::INFINITY),
        ("+inf", f64::INFINITY),
        ("-INF", f64::NEG_INFINITY),
        ("Infinity", f64::INFINITY),
        ("4.9e-324", 5e-324),
        ("007", 7.0),
    ];
    for (text, value) in cases {
        assert_eq!(parse_f64(text.as_bytes()), Some(value), "{text:?}");
    }
    assert!(parse_f64(b"-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    let refused = [
        "", " 1", "1 ", "nan", "-nan", "NaN", "1e", "e1", ".", "+", "1e400", "-1e400", "1e-400", "1,5",
        "1_0", "infin", "0x10",
    ];
    for text in refused {
        assert_eq!(parse_f64(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(parse_f64(b"1\xff"), None);
}

#[test]
fn doubles_are_printed_like_redis_7_2() {
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-17.0, "-17"),
        (3.5, "3.5"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-1.5, "-1.5"),
        (1e15, "1000000000000000"),
        (1e18, "1000000000000000000"),
        (4_611_686_018_427_387_904.0, "4611686018427387904"),
        (9_223_372_036_854_775_808.0, "9223372036854776000"),
        (1e19, "1e+19"),
        (1.2345e19, "1.2345e+19"),
        (12_345_678_901_234_567_000.0, "12345678901234567000"),
        (1e100, "1e+100"),
        (-1e105, "-1e+105"),
        (1e22, "1e+22"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (5e-324, "5e-324"),
        (0.000001, "0.000001"),
        (0.0000001, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (0.001234567, "0.001234567"),
        (0.0001234567, "1.234567e-4"),
        (2.5000001, "2.5000001"),
        (std::f64::consts::PI, "3.141592653589793"),
        (1234.1234567, "1234.1234567"),
        (12345.1234567, "1.23451234567e+4"),
        (1693820458.123456, "1693820458.123456"),
        (13.361389338970184, "13.361389338970184"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-f64::NAN, "nan"),
    ];
    for (value, text) in cases {
        assert_eq!(format_f64(value).as_str(), text, "{value:e}");
        assert_eq!(format_f64(value).as_bytes(), text.as_bytes());
    }
}

#[test]
fn printed_doubles_read_back() {
    for seed in 0..200_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let value = match seed % 4 {
            0 => f64::from_bits(random.u64(..)),
            1 => random.f64() * 10_f64.powi(random.i32(-8..25)),
            2 => random.i64(-1_000_000_000..1_000_000_000) as f64 / 10_f64.powi(random.i32(0..12)),
            _ => random.i64(..) as f64 * f64::from(random.u16(1..)),
        };
        if value.is_nan() {
            continue;
        }
        let text = format_f64(value);
        assert_eq!(parse_f64(text.as_bytes()), Some(value), "seed {seed}: {value:e} as {}", text.as_str());
        assert!(text.as_bytes().len() <= 25, "seed {seed}");
    }
}
