//! Inline requests, against what redis-server made of the same lines.

use super::feed_whole;

#[track_caller]
fn check(line: &[u8], words: &[&[u8]]) {
    for line_end in [&b"\n"[..], b"\r\n"] {
        let stream = [line, line_end].concat();
        let outcome = feed_whole(&stream);
        assert_eq!((outcome.error, outcome.consumed), (None, stream.len()));
        assert_eq!(outcome.requests, [words]);
    }
}

#[test]
fn words_and_blanks() {
    check(b"PING", &[b"PING"]);
    check(b"  SET\tk \r v  ", &[b"SET", b"k", b"v"]);
    check(b"", &[]);
    check(b" \t\x0b\x0c ", &[]);
    check(b"PING a\rb", &[b"PING", b"a", b"b"]);
    check(b"PING a\x0bb \x0bc", &[b"PING", b"a\x0bb", b"c"]);
    check(b"PING \\x41", &[b"PING", b"\\x41"]);
    check(b"PING a\0b", &[b"PING", b"a\0b"]);
    check(b"PING caf\xe9 *1", &[b"PING", b"caf\xe9", b"*1"]);
}

#[test]
fn double_quotes() {
    check(b"PING \"a\\x41\\n\\r\\t\\b\\a\\q\\\\\"", &[b"PING", b"aA\n\r\t\x08\x07q\\"]);
    check(b"PING \"\\xfF\\x4\\xg1\"", &[b"PING", b"\xffx4xg1"]);
    check(b"PING \"\"", &[b"PING", b""]);
    check(b"PING foo\"bar baz\"", &[b"PING", b"foobar baz"]);
    check(b"PING \"a\"\x0bb", &[b"PING", b"a", b"b"]);
    check(b"PING \"it's\" \"\\\"\"", &[b"PING", b"it's", b"\""]);
}

#[test]
fn single_quotes() {
    check(b"PING 'a\\'b\\n\"'", &[b"PING", b"a'b\\n\""]);
    check(b"PING '' x'y z'", &[b"PING", b"", b"xy z"]);
    // Only the quote is escaped: a backslash before the backslash is another one, and the second escapes the quote.
    check(b"PING 'a\\\\b' 'a\\\\' '", &[b"PING", b"a\\\\b", b"a\\' "]);
}
