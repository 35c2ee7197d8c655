use super::{Reader, Value, Writer, read_reply, write_reply};
use crate::resp::{Protocol, Reply};

/// What a script gets for a reply, and what a client gets if the script returns it as it is.
fn there_and_back(bytes: &str, script: Protocol, client: Protocol) -> String {
    let mut flat = Writer::new(1 << 20);
    read_reply(bytes.as_bytes(), &mut flat).expect("a reply");
    let mut reply = Reply::new(client);
    let value = Reader::new(flat.as_bytes()).next().expect("a value");
    write_reply(value, script, &mut reply);
    String::from_utf8(reply.take().expect("no stored part")).expect("text")
}

#[test]
fn replies_of_resp2_come_back_as_they_were() {
    for bytes in [
        "+OK\r\n",
        ":-5\r\n",
        "$3\r\na\r\n\r\n",
        "$-1\r\n",
        "*2\r\n:1\r\n*1\r\n$0\r\n\r\n",
        "*0\r\n",
        "-WRONGTYPE no\r\n",
    ] {
        assert_eq!(there_and_back(bytes, Protocol::Resp2, Protocol::Resp2), bytes);
    }
    // An array that is missing is `false` to a script, which is no bulk to a client.
    assert_eq!(there_and_back("*-1\r\n", Protocol::Resp2, Protocol::Resp2), "$-1\r\n");
}

#[test]
fn replies_of_resp3_come_back_as_they_were() {
    for bytes in [
        "%2\r\n+a\r\n:1\r\n$1\r\nb\r\n~1\r\n:3\r\n",
        "~2\r\n$1\r\nx\r\n*1\r\n:7\r\n",
        ",1.5\r\n",
        ",inf\r\n",
        "#t\r\n",
        "#f\r\n",
        "_\r\n",
        "(123456789012345678901234567890\r\n",
        "=7\r\ntxt:abc\r\n",
    ] {
        assert_eq!(there_and_back(bytes, Protocol::Resp3, Protocol::Resp3), bytes);
    }
    assert_eq!(
        there_and_back("|1\r\n+ttl\r\n*1\r\n:1\r\n:5\r\n", Protocol::Resp3, Protocol::Resp3),
        ":5\r\n"
    );
    assert_eq!(
        there_and_back("%1\r\n+a\r\n,0.5\r\n", Protocol::Resp3, Protocol::Resp2),
        "*2\r\n+a\r\n$3\r\n0.5\r\n"
    );
}

#[test]
fn an_array_goes_on_in_the_pairs_and_ends_before_its_first_gap() {
    let mut flat = Writer::new(1 << 10);
    let mark = flat.table_start();
    flat.number(1.0);
    for (key, value) in [(3.0, 30.0), (2.0, 20.0), (5.0, 50.0)] {
        flat.number(key);
        flat.number(value);
    }
    flat.table_end(mark, 1, 3);
    let mut reply = Reply::new(Protocol::Resp2);
    write_reply(Reader::new(flat.as_bytes()).next().unwrap(), Protocol::Resp2, &mut reply);
    assert_eq!(reply.as_bytes(), b"*3\r\n:1\r\n:20\r\n:30\r\n");
}

#[test]
fn numbers_lose_their_fraction_as_in_c() {
    for (number, integer) in
        [(3.99, 3), (-3.99, -3), (1e300, i64::MIN), (f64::NAN, i64::MIN), (9.007e15, 9_007_000_000_000_000)]
    {
        let mut reply = Reply::new(Protocol::Resp2);
        write_reply(Value::Number(number), Protocol::Resp2, &mut reply);
        assert_eq!(reply.as_bytes(), format!(":{integer}\r\n").as_bytes());
    }
}

#[test]
fn integers_beyond_a_double_survive_where_the_interpreter_has_them() {
    let bytes = ":9007199254740993\r\n";
    for (mut flat, answer) in [(Writer::with_integers(64), bytes), (Writer::new(64), ":9007199254740992\r\n")]
    {
        read_reply(bytes.as_bytes(), &mut flat).expect("a reply");
        let mut reply = Reply::new(Protocol::Resp2);
        write_reply(Reader::new(flat.as_bytes()).next().expect("a value"), Protocol::Resp2, &mut reply);
        assert_eq!(reply.as_bytes(), answer.as_bytes());
    }
}

#[test]
fn any_cut_or_changed_byte_gives_an_error_or_a_value_but_no_panic() {
    let whole = "%2\r\n+a\r\n*2\r\n:1\r\n=7\r\ntxt:abc\r\n$1\r\nb\r\n~1\r\n,3\r\n".as_bytes();
    let mut flat = Writer::new(1 << 10);
    for end in 0..whole.len() {
        flat.reset(1 << 10);
        assert!(read_reply(&whole[..end], &mut flat).is_err(), "cut at {end}");
    }
    for at in 0..whole.len() {
        for byte in [0, b'9', b'*', b'\r', b'-'] {
            let mut bytes = whole.to_vec();
            bytes[at] = byte;
            flat.reset(1 << 10);
            _ = read_reply(&bytes, &mut flat);
        }
    }
    flat.reset(1 << 10);
    read_reply(whole, &mut flat).expect("whole");
    let flat = flat.as_bytes().to_vec();
    for at in 0..flat.len() {
        for byte in [0, 5, 255] {
            let mut bytes = flat.clone();
            bytes[at] = byte;
            let mut reply = Reply::new(Protocol::Resp3);
            if let Some(value) = Reader::new(&bytes).next() {
                // Counts that are no longer true leave an array that is too short or too long, never a panic.
                write_reply(value, Protocol::Resp3, &mut reply);
            }
        }
    }
}

#[test]
fn a_writer_stops_at_its_limit() {
    let mut flat = Writer::new(20);
    flat.text(b"0123456789");
    assert!(!flat.is_full());
    flat.text(b"0123456789");
    assert!(flat.is_full());
    assert_eq!(Reader::new(flat.as_bytes()).collect::<Vec<_>>(), [Value::Text(b"0123456789")]);
}
