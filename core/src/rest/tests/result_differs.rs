//! Replies of a session and the responses they become, in any splitting.

use proptest::prelude::*;

use super::{ask, ask_with, shown};
use crate::limits::REST_REPLY_MAX_BYTES;
use crate::rest::{Exchange, Response};

const BASE64: (&str, &str) = ("upstash-encoding", "base64");
const RESP2: (&str, &str) = ("upstash-response-format", "resp2");

fn response(exchange: &mut Exchange, pieces: &[&[u8]]) -> Option<Response> {
    let mut response = None;
    for piece in pieces {
        let taken = exchange.take(piece).expect("the replies are RESP");
        assert!(response.is_none() || taken.is_none(), "two responses");
        response = response.or(taken);
    }
    response
}

/// The response to a request, whole and byte by byte.
#[track_caller]
fn check(fields: &[(&str, &str)], target: &str, body: &str, replies: &[u8], status: u16, wanted: &[u8]) {
    let ask = || ask_with(fields, false, "POST", target, body).expect("the request is fine");
    let whole = response(&mut ask(), &[replies]).expect("the replies are complete");
    assert_eq!(whole.body.escape_ascii().to_string(), wanted.escape_ascii().to_string());
    assert_eq!(whole.status, status);
    let bytes: Vec<&[u8]> = replies.chunks(1).collect();
    assert_eq!(response(&mut ask(), &bytes), Some(whole));
    if let Some(incomplete) = replies.len().checked_sub(1) {
        assert_eq!(response(&mut ask(), &[&replies[..incomplete]]), None);
    }
}

#[track_caller]
fn check_one(replies: &str, text: &str, base64: &str) {
    check(&[], "/x", "", replies.as_bytes(), 200, format!("{{\"result\":{text}}}").as_bytes());
    check(&[BASE64], "/x", "", replies.as_bytes(), 200, format!("{{\"result\":{base64}}}").as_bytes());
    check(&[RESP2], "/x", "", replies.as_bytes(), 200, replies.as_bytes());
}

#[test]
fn results() {
    check_one("+OK\r\n", r#""OK""#, r#""OK""#);
    check_one("+PONG\r\n", r#""PONG""#, r#""UE9ORw==""#);
    check_one("$2\r\nOK\r\n", r#""OK""#, r#""T0s=""#);
    check_one("$0\r\n\r\n", r#""""#, r#""""#);
    check_one(":-7\r\n", "-7", "-7");
    check_one(":9223372036854775807\r\n", "9223372036854775807", "9223372036854775807");
    check_one("$-1\r\n", "null", "null");
    check_one("*-1\r\n", "null", "null");
    check_one("*0\r\n", "[]", "[]");
    check_one("*3\r\n$1\r\na\r\n:1\r\n$-1\r\n", r#"["a",1,null]"#, r#"["YQ==",1,null]"#);
    check_one("*2\r\n+OK\r\n*2\r\n$1\r\na\r\n*0\r\n", r#"["OK",["a",[]]]"#, r#"["T0s=",["YQ==",[]]]"#);
    check_one("$8\r\n\"\\\r\n\0é\u{1f}\r\n", r#""\"\\\r\n\u0000é\u001f""#, r#""IlwNCgDDqR8=""#);
}

#[test]
fn replies_of_resp3_are_those_of_resp2() {
    check_one("%1\r\n$1\r\na\r\n,1.5\r\n", r#"["a","1.5"]"#, r#"["YQ==","MS41"]"#);
    check_one("~2\r\n#t\r\n#f\r\n", "[1,0]", "[1,0]");
    check_one("_\r\n", "null", "null");
    check_one("=6\r\ntxt:hi\r\n", r#""hi""#, r#""aGk=""#);
    check_one("(123\r\n", r#""123""#, r#""MTIz""#);
    check_one("*1\r\n-ERR x\r\n", r#"["ERR x"]"#, r#"["RVJSIHg="]"#);
}

#[test]
fn bytes_that_are_no_text() {
    check(&[], "/x", "", b"$3\r\na\xff\xfe\r\n", 200, "{\"result\":\"a\u{fffd}\u{fffd}\"}".as_bytes());
    check(&[BASE64], "/x", "", b"$3\r\na\xff\xfe\r\n", 200, b"{\"result\":\"Yf/+\"}");
    check(&[], "/x", "", b"-ERR \xff\"\r\n", 400, "{\"error\":\"ERR \u{fffd}\\\"\"}".as_bytes());
}

#[test]
fn errors() {
    let error = b"-WRONGTYPE Operation\r\n";
    check(&[], "/x", "", error, 400, br#"{"error":"WRONGTYPE Operation"}"#);
    check(&[BASE64], "/x", "", error, 400, br#"{"error":"WRONGTYPE Operation"}"#);
    check(&[RESP2], "/x", "", error, 400, error);
}

#[test]
fn pipelines() {
    let body = r#"[["SET","a",1],[],["WATCH","a"],["GET","a"],["LPOP","a"],["QUIT"]]"#;
    let replies = b"+OK\r\n$1\r\n1\r\n-WRONGTYPE x\r\n";
    let watch = "ERR WATCH needs a connection that lasts: ask for the path /multi-exec";
    let quit = "ERR QUIT concerns a connection, and every request has one of its own";
    let items = |one: &str| {
        format!(
            "[{{\"result\":\"OK\"}},{{\"error\":\"ERR empty pipeline command\"}},{{\"error\":\"{watch}\"}},\
             {{\"result\":\"{one}\"}},{{\"error\":\"WRONGTYPE x\"}},{{\"error\":\"{quit}\"}}]"
        )
    };
    check(&[], "/pipeline", body, replies, 200, items("1").as_bytes());
    check(&[BASE64], "/pipeline", body, replies, 200, items("MQ==").as_bytes());
    let resp2 =
        format!("+OK\r\n-ERR empty pipeline command\r\n-{watch}\r\n$1\r\n1\r\n-WRONGTYPE x\r\n-{quit}\r\n");
    check(&[RESP2], "/pipeline", body, replies, 200, resp2.as_bytes());
}

#[test]
fn a_pipeline_of_which_nothing_is_asked_is_answered_at_once() {
    let mut exchange = ask("POST", "/pipeline", r#"[["QUIT"],[]]"#).expect("the request is fine");
    assert_eq!(exchange.input(), b"");
    let response = exchange.take(b"").expect("RESP").expect("a response");
    assert_eq!(response.status, 200);
    assert!(shown(&response).1.ends_with(r#",{"error":"ERR empty pipeline command"}]"#));
    // A request without a valid token does not learn even that.
    let fields = &[("authorization", "Bearer x")];
    let mut exchange = ask_with(fields, true, "POST", "/pipeline", "[[]]").expect("the request is fine");
    assert_eq!(exchange.take(b""), Ok(None));
    assert_eq!(exchange.take(b"-WRONGPASS x\r\n").expect("RESP").map(|response| response.status), Some(401));
}

#[test]
fn transactions() {
    let body = r#"[["SET","a",1],["LPOP","a"]]"#;
    let queued = "+OK\r\n+QUEUED\r\n+QUEUED\r\n";
    let replies = format!("{queued}*2\r\n+OK\r\n-WRONGTYPE x\r\n");
    let wanted = br#"[{"result":"OK"},{"error":"WRONGTYPE x"}]"#;
    for fields in [&[][..], &[BASE64], &[RESP2], &[RESP2, BASE64]] {
        check(fields, "/multi-exec", body, replies.as_bytes(), 200, wanted);
    }
    let replies = "+OK\r\n-ERR unknown command 'SEX'\r\n-ERR second\r\n-EXECABORT Transaction discarded.\r\n";
    let error = br#"{"error":"EXECABORT Transaction discarded because of: ERR unknown command 'SEX'"}"#;
    check(&[BASE64], "/multi-exec", body, replies.as_bytes(), 400, error);
    let replies = format!("{queued}-MISCONF no disk\r\n");
    check(&[], "/multi-exec", body, replies.as_bytes(), 400, br#"{"error":"MISCONF no disk"}"#);
}

#[test]
fn types_of_content() {
    let content_type = |fields: &[(&str, &str)], target: &str, replies: &[u8]| {
        let mut exchange = ask_with(fields, false, "POST", target, "").expect("the request is fine");
        let response = exchange.take(replies).expect("RESP").expect("a response");
        response.headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    assert_eq!(content_type(&[], "/ping", b"+PONG\r\n"), ["content-type: application/json"]);
    assert_eq!(content_type(&[RESP2], "/ping", b"+PONG\r\n"), ["content-type: application/octet-stream"]);
    let stream = ["content-type: text/event-stream", "cache-control: no-cache"];
    assert_eq!(content_type(&[], "/monitor", b"+OK\r\n"), stream);
}

#[test]
fn a_reply_above_the_limit_is_an_error_and_never_held() {
    let too_large = |replies: &[&[u8]]| {
        let mut exchange = ask("GET", "/get/a", "").expect("the request is fine");
        let response = response(&mut exchange, replies).expect("a response");
        assert_eq!(response.status, 400);
        assert!(shown(&response).1.starts_with("{\"error\":\"ERR the reply is above "), "{response:?}");
    };
    too_large(&[format!("${}\r\n", REST_REPLY_MAX_BYTES + 1).as_bytes()]);
    let piece = vec![b'x'; 1 << 20];
    let mut pieces = vec![&piece[..]; (REST_REPLY_MAX_BYTES >> 20) as usize];
    let head = format!("*2\r\n${REST_REPLY_MAX_BYTES}\r\n");
    pieces.insert(0, head.as_bytes());
    too_large(&pieces);
}

#[test]
fn a_session_that_ends_early_and_one_that_speaks_no_resp() {
    let mut exchange = ask("GET", "/get/a", "").expect("the request is fine");
    assert_eq!(exchange.take(b"$5\r\nab"), Ok(None));
    assert_eq!(exchange.closed().status, 500);
    assert!(exchange.take(b"cdefgh").is_err());
}

fn reply() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::collection::vec(any::<u8>(), 0..20);
    let leaf = prop_oneof![
        text.prop_map(|text| [format!("${}\r\n", text.len()).as_bytes(), &text, b"\r\n"].concat()),
        any::<i64>().prop_map(|number| format!(":{number}\r\n").into_bytes()),
        Just(b"$-1\r\n".to_vec()),
        Just(b"+OK\r\n".to_vec()),
        "[ -~]{0,9}".prop_map(|text| format!("-ERR {text}\r\n").into_bytes()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop::collection::vec(inner, 0..4)
            .prop_map(|values| [format!("*{}\r\n", values.len()).into_bytes(), values.concat()].concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_splitting_gives_the_same_response(
        replies in prop::collection::vec(reply(), 1..6),
        refused in prop::collection::vec(any::<bool>(), 1..9),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        style in prop::sample::select(vec![&[][..], &[BASE64], &[RESP2]]),
    ) {
        let mut body: Vec<&str> = refused.iter().filter(|refused| **refused).map(|_| r#"["MULTI"]"#).collect();
        replies.iter().for_each(|_| body.insert(body.len() / 2, r#"["PING"]"#));
        let ask = || ask_with(style, false, "POST", "/pipeline", format!("[{}]", body.join(",")));
        let stream = replies.concat();
        let whole = response(&mut ask().expect("fine"), &[&stream]);
        prop_assert!(whole.is_some());
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        places.sort_unstable();
        let starts = std::iter::once(0).chain(places.iter().copied());
        let ends = places.iter().copied().chain([stream.len()]);
        let pieces: Vec<&[u8]> = starts.zip(ends).map(|(start, end)| &stream[start..end]).collect();
        prop_assert_eq!(response(&mut ask().expect("fine"), &pieces), whole.clone());
        if !style.contains(&RESP2) {
            let body = whole.map(|whole| whole.body).unwrap_or_default();
            let items: Vec<serde_json::Value> = serde_json::from_slice(&body).expect("JSON");
            prop_assert_eq!(items.len(), body_len(&refused, &replies));
        }
    }
}

fn body_len(refused: &[bool], replies: &[Vec<u8>]) -> usize {
    refused.iter().filter(|refused| **refused).count() + replies.len()
}
