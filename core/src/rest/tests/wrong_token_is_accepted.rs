//! Who may ask, and by which credentials.

use super::{Fields, ask_with, commands, shown, users};
use crate::rest::{Request, log_in};

const UNAUTHORIZED: &str = r#"{"error":"WRONGPASS invalid or missing auth token"}"#;

/// The first command of the session that `GET /ping` is for.
#[track_caller]
fn check(requires_password: bool, header: Option<&str>, target: &str, wanted: &str) {
    let fields: Vec<_> = header.iter().map(|header| ("authorization", *header)).collect();
    let exchange = ask_with(&fields, requires_password, "GET", target, "");
    let first = exchange.map(|mut exchange| commands(&mut exchange).swap_remove(0));
    assert_eq!(first.unwrap_or_else(|refused| shown(&refused).1), wanted, "{header:?} {target}");
}

#[test]
fn where_a_password_is_required() {
    check(true, Some("Bearer secret"), "/ping", "AUTH secret");
    check(true, Some("bearer  secret "), "/ping", "AUTH secret");
    check(true, Some("secret"), "/ping", "AUTH secret");
    check(true, Some("Bearer a b"), "/ping", "AUTH a b");
    // default:secret, :secret, ada:se:cret
    check(true, Some("Basic ZGVmYXVsdDpzZWNyZXQ="), "/ping", "AUTH default secret");
    check(true, Some("Basic OnNlY3JldA=="), "/ping", "AUTH default secret");
    check(true, Some("basic YWRhOnNlOmNyZXQ="), "/ping", "AUTH ada se:cret");
    check(true, None, "/ping?_token=a%20b", "AUTH a b");
    check(true, Some("Bearer other"), "/ping?_token=secret&_token=third", "AUTH secret");
    for header in ["", "Bearer", "Bearer ", "Basic", "Basic !", "Basic ZGVmYXVsdA=="] {
        check(true, Some(header), "/ping", UNAUTHORIZED);
    }
    check(true, None, "/ping", UNAUTHORIZED);
    check(true, None, "/ping?_token", UNAUTHORIZED);
    check(true, None, "/ping?_token=", UNAUTHORIZED);
}

#[test]
fn where_none_is_required_only_users_log_in() {
    check(false, None, "/ping", "ping");
    check(false, Some("Bearer anything"), "/ping?_token=anything", "ping");
    check(false, Some("Basic ZGVmYXVsdDpzZWNyZXQ="), "/ping", "ping");
    check(false, Some("Basic YWRhOnNlOmNyZXQ="), "/ping", "AUTH ada se:cret");
}

#[test]
fn token_names_a_user() {
    for requires_password in [true, false] {
        check(requires_password, Some("Bearer ada:se:cret"), "/ping", "AUTH ada se:cret");
        check(requires_password, None, "/ping?_token=secret:word", "AUTH secret word");
    }
    check(true, Some("Bearer nobody:word"), "/ping", "AUTH nobody:word");
    check(false, Some("Bearer nobody:word"), "/ping", "ping");
    check(true, Some("Bearer ada"), "/ping", "AUTH ada");
}

#[test]
fn a_request_without_a_token_is_refused_before_its_body_is_looked_at() {
    let refused = ask_with(&[], true, "POST", "/", "no JSON").expect_err("the request is refused");
    assert_eq!(shown(&refused), (401, UNAUTHORIZED.to_owned()));
    assert_eq!(refused.headers.last(), Some(&("www-authenticate", "Bearer".to_owned())));
}

#[test]
fn a_wrong_token_is_the_only_answer() {
    let fields = &[("authorization", "Bearer wrong"), ("upstash-encoding", "base64")];
    for target in ["/get/a", "/subscribe/a"] {
        let mut exchange = ask_with(fields, true, "GET", target, "").expect("the request is fine");
        let replies =
            b"-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH required.\r\n";
        let response = exchange.take(replies).expect("RESP").expect("a response");
        assert_eq!(shown(&response), (401, UNAUTHORIZED.to_owned()));
        assert_eq!(exchange.take(b"+more\r\n"), Ok(None));
    }
}

#[test]
fn a_password_that_is_set_meanwhile_is_missing() {
    let mut exchange = ask_with(&[], false, "GET", "/get/a", "").expect("the request is fine");
    let response = exchange.take(b"-NOAUTH Authentication required.\r\n").expect("RESP").expect("a response");
    assert_eq!(shown(&response), (401, r#"{"error":"NOAUTH Authentication required."}"#.to_owned()));
}

#[test]
fn strangers_are_known_before_their_bodies_come() {
    let log_in = |header: &str, requires_password| {
        let headers = &Fields(&[("authorization", header)]);
        let request = Request { method: "POST", path: "/", query: None, headers, body: b"" };
        log_in(&request, &users(requires_password))
    };
    for (reply, status) in [("+OK\r\n", 200), ("-WRONGPASS invalid\r\n", 401)] {
        let mut exchange = log_in("Bearer secret", true).expect("the request is fine").expect("a password");
        assert_eq!(commands(&mut exchange), ["AUTH secret"]);
        assert_eq!(exchange.take(b""), Ok(None));
        let response = exchange.take(reply.as_bytes()).expect("RESP").expect("a response");
        assert_eq!(response.status, status);
    }
    assert!(log_in("Bearer secret", false).expect("the request is fine").is_none());
    assert_eq!(log_in("", true).expect_err("the request is refused").status, 401);
}
