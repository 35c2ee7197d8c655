//! Whole requests through sessions of a server in memory.

use super::{ask_with, shown};
use crate::engine::memory::MemoryEngine;
use crate::rest::Response;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const NOW_MS: u64 = 1_700_000_000_000;
const TOKEN: &[(&str, &str)] = &[("authorization", "Bearer secret")];

fn server(password: &str) -> Server<MemoryEngine> {
    let settings = Settings::default();
    settings.set("requirepass", password).expect("a password");
    Server { engine: MemoryEngine::new(16), shared: Shared::new(settings, Box::new(NoFacts), NOW_MS) }
}

/// Runs a session until it has nothing more to say.
fn run(server: &Server<MemoryEngine>, session: &mut Session) -> Vec<u8> {
    let mut replies = Vec::new();
    loop {
        let progress = session.process(server, NOW_MS);
        replies.extend(session.reply().take().expect("memory is read"));
        if !progress.is_paused {
            return replies;
        }
    }
}

fn respond(server: &Server<MemoryEngine>, fields: &[(&str, &str)], target: &str, body: &str) -> Response {
    let mut exchange = match ask_with(fields, true, "POST", target, body) {
        Ok(exchange) => exchange,
        Err(response) => return response,
    };
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    session.input().extend(exchange.input());
    let replies = run(server, &mut session);
    session.close(server);
    exchange.take(&replies).expect("RESP").unwrap_or_else(|| exchange.closed())
}

#[track_caller]
fn check(server: &Server<MemoryEngine>, target: &str, body: &str, status: u16, wanted: &str) {
    assert_eq!(shown(&respond(server, TOKEN, target, body)), (status, wanted.to_owned()), "{target} {body}");
}

#[test]
fn commands() {
    let server = server("secret");
    check(&server, "/", r#"["SET","a",1.50]"#, 200, r#"{"result":"OK"}"#);
    check(&server, "/get/a", "", 200, r#"{"result":"1.50"}"#);
    check(&server, "/set/a?EX=100&XX", "b c", 200, r#"{"result":"OK"}"#);
    check(&server, "/ttl/a", "", 200, r#"{"result":100}"#);
    check(&server, "/", r#"["HSET","h","f","v"]"#, 200, r#"{"result":1}"#);
    check(&server, "/hgetall/h", "", 200, r#"{"result":["f","v"]}"#);
    check(&server, "/", r#"["ZADD","z",1.5,"m"]"#, 200, r#"{"result":1}"#);
    check(&server, "/zscore/z/m", "", 200, r#"{"result":"1.5"}"#);
    check(&server, "/zscore/z/n", "", 200, r#"{"result":null}"#);
    let wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";
    check(&server, "/llen/a", "", 400, &format!("{{\"error\":\"{wrong_type}\"}}"));
    let items =
        r#"[{"result":"b c"},{"error":"ERR unknown command 'NOPE', with args beginning with: 'a' "}]"#;
    check(&server, "/pipeline", r#"[["GET","a"],["NOPE","a"]]"#, 200, items);
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let server = server("secret");
    check(
        &server,
        "/multi-exec",
        r#"[["SET","a",1],["INCR","a"]]"#,
        200,
        r#"[{"result":"OK"},{"result":2}]"#,
    );
    let error = "EXECABORT Transaction discarded because of: ERR wrong number of arguments for 'get' command";
    let body = r#"[["SET","a",9],["GET"]]"#;
    check(&server, "/multi-exec", body, 400, &format!("{{\"error\":\"{error}\"}}"));
    check(&server, "/get/a", "", 200, r#"{"result":"2"}"#);
}

#[test]
fn what_one_request_does_to_its_connection_ends_with_it() {
    let server = server("secret");
    check(
        &server,
        "/pipeline",
        r#"[["SELECT",3],["SET","a",1]]"#,
        200,
        r#"[{"result":"OK"},{"result":"OK"}]"#,
    );
    check(&server, "/get/a", "", 200, r#"{"result":null}"#);
}

#[test]
fn a_wrong_token_runs_nothing() {
    let server = server("secret");
    let wrong = &[("authorization", "Bearer wrong")];
    for (target, body) in [
        ("/", r#"["SET","a",1]"#),
        ("/pipeline", r#"[["SET","a",1]]"#),
        ("/multi-exec", r#"[["SET","a",1]]"#),
    ] {
        assert_eq!(respond(&server, wrong, target, body).status, 401);
    }
    check(&server, "/dbsize", "", 200, r#"{"result":0}"#);
}

#[test]
fn a_request_may_be_larger_than_what_strangers_may_send() {
    let server = server("secret");
    let value = "v".repeat(100_000);
    check(&server, "/set/a", &value, 200, r#"{"result":"OK"}"#);
    check(&server, "/", &format!("[\"DEL\"{}]", ",0".repeat(1000)), 200, r#"{"result":0}"#);
    check(&server, "/get/a", "", 200, &format!("{{\"result\":\"{value}\"}}"));
}

#[test]
fn a_subscriber_hears_what_other_requests_publish() {
    let server = server("secret");
    let mut exchange = ask_with(TOKEN, true, "POST", "/subscribe/chat", "[]").expect("the request is fine");
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    session.input().extend(exchange.input());
    let head = exchange.take(&run(&server, &mut session)).expect("RESP").expect("a response");
    assert_eq!(shown(&head), (200, "data: subscribe,chat,1\n\n".to_owned()));
    check(&server, "/", r#"["PUBLISH","chat","how are you, today?"]"#, 200, r#"{"result":1}"#);
    let events = exchange.events(&run(&server, &mut session)).expect("RESP");
    assert_eq!(String::from_utf8(events).expect("text"), "data: message,chat,how are you, today?\n\n");
    session.close(&server);
    check(&server, "/publish/chat", "nobody", 200, r#"{"result":0}"#);
}
