//! Every protocol error, byte for byte as redis-server answers it.

use super::super::{Protocol, Reply, RequestLimits, RequestParser};
use super::{OPEN, feed};

#[track_caller]
fn check(limits: RequestLimits, stream: &[u8], reply: &[u8]) {
    let outcome = feed(&mut RequestParser::new(), &limits, stream, &[stream.len()]);
    let error = outcome.error.expect("the stream is a protocol error");
    let mut answer = Reply::new(Protocol::Resp2);
    answer.error_bytes(&error.text());
    assert_eq!(answer.as_bytes(), reply, "{:?}", answer.as_bytes().escape_ascii().to_string());
}

/// A stream that redis-server accepts or waits for.
#[track_caller]
fn check_no_error(limits: RequestLimits, stream: &[u8]) {
    let outcome = feed(&mut RequestParser::new(), &limits, stream, &[stream.len()]);
    assert_eq!(outcome.error, None);
}

const STRANGER: RequestLimits = RequestLimits::new(false);

#[test]
fn number_of_arguments() {
    let reply = b"-ERR Protocol error: invalid multibulk length\r\n";
    for count in
        ["2147483648", "4294967296", "99999999999999999999", "", "01", "+1", "-0", " 1", "1 ", "1xy", "abc"]
    {
        check(OPEN, format!("*{count}\r\n").as_bytes(), reply);
    }
    check_no_error(OPEN, b"*2147483647\r\n");
    check_no_error(OPEN, b"*-5\r\n*1\r\n$4\r\nPING\r\n");
    check(STRANGER, b"*11\r\n", b"-ERR Protocol error: unauthenticated multibulk length\r\n");
    check(STRANGER, b"*2147483648\r\n", reply);
    check_no_error(STRANGER, b"*10\r\n");
}

#[test]
fn length_of_an_argument() {
    let reply = b"-ERR Protocol error: invalid bulk length\r\n";
    for size in ["536870913", "-1", "", "04", "+4", "99999999999999999999", "4 ", "x"] {
        check(OPEN, format!("*1\r\n${size}\r\n").as_bytes(), reply);
        check(OPEN, format!("*2\r\n$1\r\na\r\n${size}\r\n").as_bytes(), reply);
    }
    check_no_error(OPEN, b"*1\r\n$536870912\r\n");
    check(STRANGER, b"*1\r\n$16385\r\n", b"-ERR Protocol error: unauthenticated bulk length\r\n");
    check(STRANGER, b"*1\r\n$536870913\r\n", reply);
    check_no_error(STRANGER, b"*1\r\n$16384\r\n");
    let small = RequestLimits { bulk_max_bytes: 10, arguments_max: 3, ..RequestLimits::new(true) };
    check(small, b"*1\r\n$11\r\n", reply);
    check_no_error(small, b"*3\r\n$10\r\n");
    check(small, b"*4\r\n", b"-ERR Protocol error: invalid multibulk length\r\n");
}

#[test]
fn no_dollar() {
    check(OPEN, b"*1\r\n#1\r\n", b"-ERR Protocol error: expected '$', got '#'\r\n");
    check(OPEN, b"*1\r\n\xff4\r\n", b"-ERR Protocol error: expected '$', got '\xff'\r\n");
    check(OPEN, b"*1\r\n\r\n", b"-ERR Protocol error: expected '$', got ' '\r\n");
    check(OPEN, b"*2\r\n$1\r\na\r\nb\r\n", b"-ERR Protocol error: expected '$', got 'b'\r\n");
    // As in Redis the line must be there before its first byte counts.
    check_no_error(OPEN, b"*1\r\n#1");
}

#[test]
fn lines_without_end() {
    let ones = vec![b'1'; 70_000];
    check(OPEN, &ones, b"-ERR Protocol error: too big inline request\r\n");
    check(OPEN, &[b"*", &ones[..]].concat(), b"-ERR Protocol error: too big mbulk count string\r\n");
    check(OPEN, &[b"*1\r\n$", &ones[..]].concat(), b"-ERR Protocol error: too big bulk count string\r\n");
    check(OPEN, &[b"*1\r\nx", &ones[..]].concat(), b"-ERR Protocol error: too big bulk count string\r\n");
}

#[test]
fn quotes() {
    for line in [
        "PING \"a",
        "PING 'a",
        "PING \"a\"b",
        "PING 'a'b",
        "PING \"a\\\"",
        "PING \"",
        "PING 'a\\'",
        "\"a\"\"b\"",
    ] {
        let stream = format!("{line}\r\n");
        check(OPEN, stream.as_bytes(), b"-ERR Protocol error: unbalanced quotes in request\r\n");
    }
}

#[test]
fn an_error_stays() {
    let mut parser = RequestParser::new();
    for stream in [&b"*1\r\n$x\r\n"[..], b"*1\r\n$x\r\n*1\r\n$4\r\nPING\r\n"] {
        let outcome = feed(&mut parser, &OPEN, stream, &[stream.len()]);
        assert_eq!(outcome.error, Some(super::super::ProtocolError::InvalidBulkLength));
        assert_eq!(outcome.consumed, 0);
    }
}
