//! Server-sent events: what subscribers and monitors are told.

use proptest::prelude::*;

use super::{ask, shown};

/// What the stream sends, the first reply being in its head, whole and byte by byte.
#[track_caller]
fn check(target: &str, replies: &[u8], wanted: &str) {
    for size in [replies.len(), 1] {
        let mut exchange = ask("POST", target, "[]").expect("the request is fine");
        let mut sent = Vec::new();
        for piece in replies.chunks(size) {
            if !sent.is_empty() {
                sent.extend(exchange.events(piece).expect("RESP"));
            } else if let Some(head) = exchange.take(piece).expect("RESP") {
                assert_eq!(head.status, 200);
                sent = head.body;
            }
        }
        assert_eq!(String::from_utf8(sent).expect("text"), wanted);
    }
}

const SUBSCRIBED: &str = "*3\r\n$9\r\nsubscribe\r\n$4\r\nchat\r\n:1\r\n";

fn message(payload: &[u8]) -> Vec<u8> {
    let head = format!("*3\r\n$7\r\nmessage\r\n$4\r\nchat\r\n${}\r\n", payload.len());
    [head.as_bytes(), payload, b"\r\n"].concat()
}

#[track_caller]
fn check_payload(payload: &str, wanted: &str) {
    let replies = [SUBSCRIBED.as_bytes(), &message(payload.as_bytes())].concat();
    check("/subscribe/chat", &replies, &format!("data: subscribe,chat,1\n\ndata: message,chat,{wanted}\n\n"));
}

#[test]
fn subscribers() {
    check_payload("hello", "hello");
    check_payload("how are you, today?", "how are you, today?");
    check_payload("", "");
    check_payload(r#"{"a":"b\n"}"#, r#"{"a":"b\n"}"#);
    let several = "*3\r\n$10\r\npsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$10\r\npsubscribe\r\n$1\r\nb\r\n:2\r\n\
                   *4\r\n$8\r\npmessage\r\n$1\r\na\r\n$1\r\na\r\n$2\r\nhi\r\n";
    let wanted = "data: psubscribe,a,1\n\ndata: psubscribe,b,2\n\ndata: pmessage,a,a,hi\n\n";
    check("/psubscribe/a/b", several.as_bytes(), wanted);
}

#[test]
fn a_payload_of_several_lines_is_one_event() {
    check_payload("a\nmessage,other,b", r#""a\nmessage,other,b""#);
    check_payload("\r", r#""\r""#);
    check_payload("{\r\n  \"a\": 1\n}", "{    \"a\": 1 }");
    let replies = [SUBSCRIBED.as_bytes(), &message(b"\xff\n")].concat();
    check("/subscribe/chat", &replies, "data: subscribe,chat,1\n\ndata: message,chat,\"\u{fffd}\\n\"\n\n");
}

#[test]
fn monitors() {
    let replies = b"+OK\r\n+1721284005.242090 [0 127.0.0.1:1] \"GET\" \"k\\n\"\r\n";
    let wanted = "data: \"OK\"\n\ndata: 1721284005.242090 [0 127.0.0.1:1] \"GET\" \"k\\n\"\n\n";
    check("/monitor", replies, wanted);
}

#[test]
fn a_refused_stream_is_an_error() {
    let mut exchange = ask("POST", "/subscribe", "[]").expect("the request is fine");
    let error = b"-ERR wrong number of arguments for 'subscribe' command\r\n";
    let response = exchange.take(error).expect("RESP").expect("a response");
    let wanted = r#"{"error":"ERR wrong number of arguments for 'subscribe' command"}"#;
    assert_eq!(shown(&response), (400, wanted.to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_payload_makes_a_line_of_its_own(payload in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut exchange = ask("POST", "/subscribe/chat", "").expect("the request is fine");
        prop_assert!(exchange.take(SUBSCRIBED.as_bytes()).expect("RESP").is_some());
        let event = exchange.events(&message(&payload)).expect("RESP");
        prop_assert_eq!(event.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count(), 2);
        prop_assert!(event.starts_with(b"data: message,chat,") && event.ends_with(b"\n\n"));
    }
}
