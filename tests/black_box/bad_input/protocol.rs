//! Bytes that are no RESP, and requests that fit no row of the catalog.

use std::io::ErrorKind;

use edgecask_core::catalog::{self, CommandSpec};
use edgecask_core::resp::Value;
use edgecask_tests::process::{Gateway, Server, redis, report};

/// What redis-server answers with a protocol error, and how it begins.
fn malformed() -> Vec<(&'static str, Vec<u8>)> {
    let run = |start: &[u8], byte: u8, count: usize| [start, &vec![byte; count]].concat();
    vec![
        ("invalid multibulk length", b"*abc\r\n".to_vec()),
        ("invalid multibulk length", b"*2147483648\r\n".to_vec()),
        ("invalid multibulk length", b"*99999999999999999999\r\n".to_vec()),
        ("invalid multibulk length", b"* 1\r\n".to_vec()),
        ("expected '$', got 'X'", b"*1\r\nX\r\n".to_vec()),
        ("expected '$', got '*'", b"*2\r\n$4\r\nPING\r\n*1\r\n".to_vec()),
        ("expected '$', got '\u{7f}'", b"*1\r\n\x7f\r\n".to_vec()),
        ("invalid bulk length", b"*1\r\n$abc\r\n".to_vec()),
        ("invalid bulk length", b"*1\r\n$-1\r\n".to_vec()),
        ("invalid bulk length", b"*1\r\n$536870913\r\n".to_vec()),
        ("invalid bulk length", b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1073741824\r\n".to_vec()),
        ("unbalanced quotes in request", b"GET \"abc\r\n".to_vec()),
        ("unbalanced quotes in request", b"GET 'abc\"\r\n".to_vec()),
        ("unbalanced quotes in request", b"GET \"abc\"def\r\n".to_vec()),
        ("too big inline request", run(b"", b'a', 64 * 1024 + 1)),
        ("too big mbulk count string", run(b"*", b'1', 64 * 1024 + 1)),
        ("too big bulk count string", run(b"*1\r\n$", b'1', 64 * 1024 + 1)),
    ]
}

/// All a server sends in answer to bytes that end the connection.
fn answer(server: &Server, bytes: &[u8]) -> Vec<u8> {
    let mut client = server.client();
    client.send(bytes).expect("a fresh connection takes them");
    let answer = client.receive_until_closed();
    answer.unwrap_or_else(|error| {
        panic!("no answer to {:?}: {error}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]))
    })
}

#[test]
fn protocol_errors_read_otherwise() {
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&[]));
    for (text, bytes) in malformed() {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let expected = format!("-ERR Protocol error: {text}\r\n");
        for server in [&ours, &theirs] {
            assert_eq!(String::from_utf8_lossy(&answer(server, &bytes)), expected, "{shown:?}");
        }
        // What came before in the same bytes is answered.
        let behind = [b"PING\r\n", bytes.as_slice()].concat();
        assert_eq!(
            String::from_utf8_lossy(&answer(&ours, &behind)),
            format!("+PONG\r\n{expected}"),
            "{shown:?}"
        );
    }
}

#[test]
fn an_inline_request_of_ten_megabytes_is_taken_in() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let before = server.resident_bytes();
    let mut client = server.client();
    let piece = vec![b'a'; 1 << 20];
    // The server closes long before all has been sent.
    let refused = (0..10).find_map(|_| client.send(&piece).err());
    assert!(
        refused
            .is_none_or(|error| matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)),
        "an orderly end"
    );
    assert_eq!(server.client().must("PING"), Value::Simple(b"PONG".to_vec()));
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 8 << 20, "10 MB of an inline request cost {grown} bytes");
}

/// Arguments that do not fit a row's arity: one too few and, where the number is fixed, one too many.
fn misfits(spec: &CommandSpec) -> Vec<Vec<String>> {
    let words: Vec<String> = spec.name.split('|').map(str::to_owned).collect();
    let wanted = usize::from(spec.arity.unsigned_abs());
    let with = |count: usize| {
        let mut request = words.clone();
        request.resize(count, "x".to_owned());
        request
    };
    let too_few = (wanted > words.len()).then(|| with(wanted - 1));
    let too_many = (spec.arity > 0).then(|| with(wanted + 1));
    too_few.into_iter().chain(too_many).collect()
}

#[test]
fn wrong_arity_is_answered_otherwise() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut client = server.client();
    let mut count = 0;
    for spec in catalog::all() {
        for request in misfits(spec) {
            let reply = client.call(&request).expect("the connection lives");
            // An EXEC that is refused says what becomes of its transaction, even where none is open, as in Redis.
            let code =
                if spec.name == "exec" { "EXECABORT Transaction discarded because of:" } else { "ERR" };
            let expected = format!("{code} wrong number of arguments for '{}' command", spec.name);
            assert_eq!(reply.as_error().map(String::from_utf8_lossy), Some(expected.into()), "{request:?}");
            count += 1;
        }
    }
    assert!(count > catalog::COMMAND_COUNT, "most rows can be misfitted");
    report(&format!("wrong arity: {count} requests for {} rows, each refused by name", catalog::COUNT));
}
