//! What the reply writer writes, the decoder reads as the same value, in both protocols and for any split.

use proptest::prelude::*;

use super::super::{Decoder, Protocol, Reply, Value};

/// Writes a value; recursion is fine, the tree is the test's own.
fn write(reply: &mut Reply, value: &Value) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a test's text is ASCII");
    match value {
        Value::Simple(status) => reply.simple(&text(status)),
        Value::Error(error) => reply.error_bytes(error),
        Value::Integer(value) => reply.integer(*value),
        Value::Bulk(bytes) => reply.bulk(bytes),
        Value::Null => reply.null(),
        Value::Array(values) => {
            reply.array(values.len());
            values.iter().for_each(|value| write(reply, value));
        }
        Value::Map(pairs) => {
            let mark = reply.defer();
            for (key, value) in pairs {
                write(reply, key);
                write(reply, value);
            }
            reply.finish_map(mark, pairs.len());
        }
        Value::Set(values) => {
            reply.set(values.len());
            values.iter().for_each(|value| write(reply, value));
        }
        Value::Push(values) => {
            reply.push(values.len());
            values.iter().for_each(|value| write(reply, value));
        }
        Value::Double(value) => reply.double(*value),
        Value::Boolean(value) => reply.boolean(*value),
        Value::BigNumber(digits) => reply.big_number(&text(digits)),
        Value::Verbatim { format, text: body } => reply.verbatim(&text(format), body),
        Value::BlobError(error) => {
            reply.raw(format!("!{}\r\n", error.len()).as_bytes());
            reply.raw(error);
            reply.raw(b"\r\n");
        }
    }
}

/// What a RESP2 client sees of a value.
fn in_resp2(value: &Value) -> Value {
    let all = |values: &[Value]| Value::Array(values.iter().map(in_resp2).collect());
    match value {
        Value::Array(values) | Value::Set(values) | Value::Push(values) => all(values),
        Value::Map(pairs) => {
            Value::Array(pairs.iter().flat_map(|(key, value)| [in_resp2(key), in_resp2(value)]).collect())
        }
        Value::Double(value) => Value::Bulk(super::super::format_f64(*value).as_bytes().to_vec()),
        Value::Boolean(value) => Value::Integer(i64::from(*value)),
        Value::BigNumber(digits) => Value::Bulk(digits.clone()),
        Value::Verbatim { text, .. } => Value::Bulk(text.clone()),
        other => other.clone(),
    }
}

fn values() -> impl Strategy<Value = Value> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let line = || "[ -~]{0,20}".prop_map(String::into_bytes);
    let digits = (any::<bool>(), prop::collection::vec(b'0'..=b'9', 1..50))
        .prop_map(|(minus, digits)| if minus { [&b"-"[..], &digits].concat() } else { digits });
    let leaf = prop_oneof![
        line().prop_map(Value::Simple),
        line().prop_map(Value::Error),
        any::<i64>().prop_map(Value::Integer),
        bytes().prop_map(Value::Bulk),
        Just(Value::Null),
        any::<f64>().prop_filter("NaN differs from itself", |value| !value.is_nan()).prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        digits.prop_map(Value::BigNumber),
        bytes().prop_map(|text| Value::Verbatim { format: *b"txt", text }),
        bytes().prop_map(Value::BlobError),
    ];
    leaf.prop_recursive(5, 60, 12, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..12);
        prop_oneof![
            list().prop_map(Value::Array),
            list().prop_map(Value::Set),
            list().prop_map(Value::Push),
            prop::collection::vec((inner.clone(), inner.clone()), 0..12).prop_map(Value::Map),
        ]
    })
}

/// Decodes byte by byte and checks that nothing comes before the last byte.
fn decode_slowly(bytes: &[u8]) -> Value {
    let mut decoder = Decoder::new();
    for end in 0..bytes.len() {
        assert_eq!(decoder.decode(&bytes[..end]), Ok(None));
    }
    let (value, consumed) = decoder.decode(bytes).expect("valid").expect("complete");
    assert_eq!(consumed, bytes.len());
    value
}

proptest! {
    // No file of past failures is written: what is found goes into a test of its own.
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_values_read_back(values in prop::collection::vec(values(), 1..4)) {
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let mut reply = Reply::new(protocol);
            let mut decoder = Decoder::new();
            values.iter().for_each(|value| write(&mut reply, value));
            let bytes = reply.take().expect("nothing is stored");
            let mut rest = &bytes[..];
            for value in &values {
                let expected = if protocol == Protocol::Resp2 { in_resp2(value) } else { value.clone() };
                let (decoded, consumed) = decoder.decode(rest).expect("valid").expect("complete");
                prop_assert_eq!(&decoded, &expected);
                prop_assert_eq!(decode_slowly(&rest[..consumed]), expected);
                rest = &rest[consumed..];
            }
            prop_assert!(rest.is_empty());
            prop_assert_eq!(decoder.decode(rest), Ok(None));
        }
    }
}

#[track_caller]
fn check(bytes: &[u8], value: &Value) {
    assert_eq!(&decode_slowly(bytes), value);
}

#[test]
fn forms_that_the_writer_does_not_make() {
    check(b"*-1\r\n", &Value::Null);
    check(b":+7\r\n", &Value::Integer(7));
    check(b",10\r\n", &Value::Double(10.0));
    check(b",-inf\r\n", &Value::Double(f64::NEG_INFINITY));
    check(b"$4\r\n\r\n\r\n\r\n", &Value::Bulk(b"\r\n\r\n".to_vec()));
    let decoded = Decoder::new().decode(b",nan\r\n");
    assert!(matches!(decoded, Ok(Some((Value::Double(value), 6))) if value.is_nan()));
}

#[test]
fn attributes_are_skipped() {
    check(b"|1\r\n+ttl\r\n:3600\r\n:5\r\n", &Value::Integer(5));
    check(b"|0\r\n|1\r\n*1\r\n|0\r\n+a\r\n_\r\n:5\r\n", &Value::Integer(5));
    let numbers = Value::Array(vec![Value::Integer(1), Value::Integer(2)]);
    check(b"*2\r\n:1\r\n|1\r\n+key\r\n*2\r\n:8\r\n:9\r\n:2\r\n", &numbers);
}

#[test]
fn malformed_replies() {
    let replies = [
        ":\r\n",
        ":1x\r\n",
        ":01\r\n",
        "#x\r\n",
        "_x\r\n",
        "(1.5\r\n",
        "(\r\n",
        ",x\r\n",
        "$-2\r\n",
        "$x\r\n",
        "$?\r\n",
        "*-2\r\n",
        "*?\r\n",
        "~-1\r\n",
        "=3\r\ntxt\r\n",
        "=5\r\ntxt-a\r\n",
        "!-1\r\n",
    ];
    for reply in replies {
        let decoded = Decoder::new().decode(reply.as_bytes());
        assert_eq!(decoded, Err(super::super::DecodeError::Malformed(reply.as_bytes()[0])), "{reply:?}");
    }
    use super::super::DecodeError::{BulkTooLong, MissingLineEnd, UnknownType};
    assert_eq!(Decoder::new().decode(b"\r\n"), Err(UnknownType(b'\r')));
    assert_eq!(Decoder::new().decode(b"?1\r\n"), Err(UnknownType(b'?')));
    assert_eq!(Decoder::new().decode(b"+OK\n"), Err(MissingLineEnd));
    assert_eq!(Decoder::new().decode(b"\n"), Err(MissingLineEnd));
    assert_eq!(Decoder::new().decode(b"$1\r\nabc"), Err(MissingLineEnd));
    assert_eq!(Decoder::with_bulk_max_bytes(9).decode(b"$10\r\n"), Err(BulkTooLong { size_bytes: 10 }));
}

#[test]
fn texts_of_a_value() {
    assert_eq!(Value::Bulk(b"a".to_vec()).as_bytes(), Some(&b"a"[..]));
    assert_eq!(Value::Error(b"ERR".to_vec()).as_bytes(), None);
    assert_eq!(Value::Error(b"ERR".to_vec()).as_error(), Some(&b"ERR"[..]));
    assert_eq!(Value::Null.as_error(), None);
}
