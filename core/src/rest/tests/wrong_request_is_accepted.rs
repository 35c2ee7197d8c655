//! Requests that are refused before a session is asked.

use super::{ask, ask_with, shown};
use crate::limits::REST_COMMANDS_MAX;
use crate::rest::Response;

#[track_caller]
fn check(method: &str, target: &str, body: &str, status: u16, error: &str) {
    let response = ask(method, target, body).expect_err("the request is refused");
    let wanted = format!("{{\"error\":\"{error}\"}}");
    assert_eq!(shown(&response), (status, wanted), "{method} {target} {body}");
    assert_eq!(response.headers.first(), Some(&("content-type", "application/json".to_owned())));
}

#[test]
fn methods() {
    for method in ["DELETE", "PATCH", "OPTIONS", "get"] {
        check(method, "/get/a", "", 405, "ERR this method is not allowed here");
    }
    check("PUT", "/subscribe/a", "", 405, "ERR this method is not allowed here");
    let response = ask("DELETE", "/", "").expect_err("the request is refused");
    assert_eq!(response.headers.last(), Some(&("allow", "GET, HEAD, POST, PUT".to_owned())));
}

#[test]
fn bodies_that_are_no_commands() {
    for body in ["", "null", "{}", "\"PING\"", "17", "PING"] {
        check("POST", "/", body, 400, "ERR failed to parse command: expected a JSON array");
        let expected = "ERR failed to parse pipeline request: expected a JSON array";
        check("POST", "/pipeline", body, 400, expected);
    }
    check("GET", "/", "", 400, "ERR failed to parse command: expected a JSON array");
    let expected = "ERR failed to parse pipeline request: expected a JSON array";
    check("POST", "/pipeline", r#"["GET","a"]"#, 400, expected);
    check("POST", "/pipeline", r#"[["GET","a"],{"command":["GET"]}]"#, 400, expected);
    check("POST", "/", "[]", 400, "ERR empty command");
    check("POST", "/pipeline", "[]", 400, "ERR empty pipeline request");
    check("POST", "/multi-exec", "[]", 400, "ERR empty transaction request");
    check("POST", "/multi-exec", r#"[["GET","a"],[]]"#, 400, "ERR empty pipeline command");
}

#[test]
fn invalid_json_names_the_place() {
    for (body, why) in [
        (r#"["GET""#, "EOF while parsing a list at line 1 column 6"),
        (r#"["GET",]"#, "trailing comma at line 1 column 8"),
        (r#"["GET"]]"#, "trailing characters at line 1 column 8"),
        ("[\n'GET']", "expected value at line 2 column 1"),
        (
            "[\"a\nb\"]",
            "control character (\\\\u0000-\\\\u001F) found while parsing a string at line 1 column 3",
        ),
        (r#"["\x"]"#, "invalid escape at line 1 column 4"),
        ("[1x]", "expected `,` or `]` at line 1 column 3"),
    ] {
        check("POST", "/", body, 400, &format!("ERR failed to parse command: {why}"));
    }
    let response = ask("POST", "/", b"[\"\xff\"]").expect_err("the request is refused");
    assert!(
        shown(&response).1.starts_with("{\"error\":\"ERR failed to parse command: invalid"),
        "{response:?}"
    );
}

#[test]
fn arguments_of_other_types() {
    check("POST", "/", r#"["SET","a",null]"#, 400, "ERR null args are not supported");
    check("POST", "/", r#"["SET","a",[1]]"#, 400, r#"ERR unsupported arg type: \"[\": json.Delim"#);
    check("POST", "/", r#"[["SET","a",1]]"#, 400, r#"ERR unsupported arg type: \"[\": json.Delim"#);
    check("POST", "/pipeline", r#"[["SET","a",{}]]"#, 400, r#"ERR unsupported arg type: \"{\": json.Delim"#);
}

#[test]
fn commands_that_need_a_connection() {
    let transaction = "needs a connection that lasts: ask for the path /multi-exec";
    let connection = "concerns a connection, and every request has one of its own";
    for name in ["MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"] {
        check("GET", &format!("/{name}"), "", 400, &format!("ERR {name} {transaction}"));
    }
    for name in ["AUTH", "HELLO", "RESET", "QUIT", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"] {
        check("GET", &format!("/{}/x", name.to_lowercase()), "", 400, &format!("ERR {name} {connection}"));
    }
    check("POST", "/", r#"["Client","Reply","OFF"]"#, 400, &format!("ERR CLIENT REPLY {connection}"));
    assert!(ask("POST", "/", r#"["CLIENT","ID"]"#).is_ok());
    for name in ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR"] {
        let path = name.to_lowercase();
        let error = format!("ERR {name} answers with a stream of events: ask for the path /{path}");
        check("POST", "/", &format!(r#"["{path}","x"]"#), 400, &error);
        check("POST", "/multi-exec", &format!(r#"[["SET","a","b"],["{name}","x"]]"#), 400, &error);
    }
}

#[test]
fn header_fields() {
    let check = |fields: &[(&str, &str)], target: &str, error: Option<&str>| {
        let body = r#"[["GET","a"]]"#;
        let refused = ask_with(fields, false, "POST", target, body).err();
        let wanted = error.map(|error| (400, format!("{{\"error\":\"{error}\"}}")));
        assert_eq!(refused.as_ref().map(shown), wanted, "{fields:?}");
    };
    let (encoding, format) = ("upstash-encoding", "upstash-response-format");
    check(&[(encoding, "base64"), (format, "json")], "/pipeline", None);
    check(&[(encoding, ""), (format, "RESP2")], "/pipeline", None);
    check(&[(encoding, "base64"), (format, "resp2")], "/multi-exec", None);
    let both = "ERR Upstash-Encoding does not go with resp2";
    check(&[(encoding, "base64"), (format, "resp2")], "/pipeline", Some(both));
    check(&[(encoding, "gzip")], "/pipeline", Some("ERR Upstash-Encoding is neither empty nor base64"));
    check(&[(format, "xml")], "/pipeline", Some("ERR Upstash-Response-Format is neither json nor resp2"));
}

#[test]
fn too_many_commands() {
    let pipeline = |count: usize| format!("[{}]", vec![r#"["PING"]"#; count].join(","));
    assert!(ask("POST", "/pipeline", pipeline(REST_COMMANDS_MAX)).is_ok());
    let error = format!("ERR more than {REST_COMMANDS_MAX} commands in one request");
    check("POST", "/pipeline", &pipeline(REST_COMMANDS_MAX + 1), 400, &error);
}

#[test]
fn too_large_a_body() {
    assert_eq!(Response::body_too_large().status, 413);
}

#[test]
fn body_of_another_type_is_taken_for_documents() {
    let code = |method: &str, path: &str, content_type: &[(&str, &str)]| match ask_with(
        content_type,
        false,
        method,
        path,
        "[]",
    ) {
        Ok(_) => (200, String::new()),
        Err(response) => shown(&response),
    };
    let (documents, search) = ("/indexes/films/documents", "/indexes/films/search");
    for name in ["application/json", "Application/JSON; charset=utf-8", "application/x-ndjson"] {
        assert_eq!(code("POST", documents, &[("content-type", name)]).0, 200, "{name}");
    }
    assert_eq!(code("POST", search, &[]).0, 200);
    assert_eq!(code("DELETE", "/indexes/films", &[("content-type", "application/json")]).0, 200);
    for (path, name) in [
        (documents, "text/csv"),
        (documents, "application/x-www-form-urlencoded"),
        (search, "application/x-ndjson"),
    ] {
        let (status, body) = code("POST", path, &[("content-type", name)]);
        assert_eq!(status, 415, "{path} {name}");
        assert!(body.contains("invalid_content_type"), "{body}");
    }
    let encoded =
        |name| code("POST", search, &[("content-type", "application/json"), ("content-encoding", name)]);
    assert_eq!(encoded("identity").0, 200);
    let (status, body) = encoded("gzip");
    assert!(status == 415 && body.contains("`gzip` is not supported"), "{body}");
}
