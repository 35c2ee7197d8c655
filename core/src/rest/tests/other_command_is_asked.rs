//! Requests and the commands that their sessions are asked.

use super::{ask, ask_with, commands};

#[track_caller]
fn check(method: &str, target: &str, body: &str, wanted: &[&str]) {
    let mut exchange = ask(method, target, body).expect("the request is fine");
    assert_eq!(commands(&mut exchange), wanted, "{method} {target} {body}");
    assert!(exchange.input().is_empty());
}

#[test]
fn one_command_in_a_body() {
    check("POST", "/", r#"["SET","key","value","EX",100]"#, &["SET key value EX 100"]);
    check("PUT", "", r#" [ "get" , "key" ] "#, &["get key"]);
    check("POST", "/?EX=1", r#"["PING"]"#, &["PING"]);
    check(
        "POST",
        "/",
        r#"["ECHO","a\"b\\\n\u0000 \u00e9\ud83d\ude00é"]"#,
        &[r#"ECHO a\"b\\\n\x00 \xc3\xa9\xf0\x9f\x98\x80\xc3\xa9"#],
    );
    check("POST", "/", r#"["ECHO",""]"#, &["ECHO "]);
}

#[test]
fn numbers_and_truth_values_as_they_are_written() {
    check(
        "POST",
        "/",
        r#"["X",0,-1,1.50,1e3,-0,9007199254740993,123456789012345678901234567890,true,false]"#,
        &["X 0 -1 1.50 1e3 -0 9007199254740993 123456789012345678901234567890 true false"],
    );
}

#[test]
fn half_a_surrogate_pair_becomes_the_replacement_character() {
    let mut exchange = ask("POST", "/", r#"["ECHO","a\ud83d","\udc00b"]"#).expect("the request is fine");
    let command = commands(&mut exchange).concat();
    assert!(command.starts_with(r"ECHO a\xef\xbf\xbd") && command.ends_with(r"\xef\xbf\xbdb"), "{command}");
    assert!(!command.contains(r"\xed"), "{command}");
}

#[test]
fn a_command_in_the_path() {
    check("GET", "/set/foo/bar", "", &["set foo bar"]);
    check("HEAD", "/GET/foo", "", &["GET foo"]);
    check("POST", "/info", "", &["info"]);
    check("GET", "/set/a%2Fb/%C3%A9%00%ff", "", &[r"set a/b \xc3\xa9\x00\xff"]);
    check("GET", "/set/foo/100%", "", &["set foo 100%"]);
    check("GET", "/set/a+b/c", "", &["set a+b c"]);
    check("GET", "/set/foo/", "", &["set foo "]);
    check("GET", "/mget/a//b", "", &["mget a  b"]);
    check("GET", "/pipelines/a", "", &["pipelines a"]);
}

#[test]
fn the_body_stands_between_path_and_query() {
    check("POST", "/set/foo?EX=100&NX", "value", &["set foo value EX 100 NX"]);
    check("PUT", "/set/foo", "[\"no\"]", &["set foo [\\\"no\\\"]"]);
    check("GET", "/get/foo", "ignored", &["get foo"]);
    check("GET", "/set/foo/bar?PX=1%2B1&GET=", "", &["set foo bar PX 1+1 GET "]);
    check("GET", "/set/foo/bar?a+b=c+d&&NX", "", &["set foo bar a b c d NX"]);
    check("GET", "/echo/a?_token=secret&=", "", &["echo a  "]);
    let mut binary = ask("POST", "/set/foo", b"\xff\0\r\n").expect("the request is fine");
    assert_eq!(commands(&mut binary), [r"set foo \xff\x00\r\n"]);
}

#[test]
fn pipelines_and_transactions() {
    let body = r#"[["SET","a",1],["MULTI"],[],["GET","a"],["subscribe","x"]]"#;
    check("POST", "/pipeline", body, &["SET a 1", "GET a"]);
    check("POST", "/multi-exec", r#"[["SET","a",1],["GET","a"]]"#, &["MULTI", "SET a 1", "GET a", "EXEC"]);
}

#[test]
fn streams() {
    check("POST", "/subscribe/chat", "[]", &["subscribe chat"]);
    check("GET", "/psubscribe/a%2a/b", "", &["psubscribe a* b"]);
    check("GET", "/SSubscribe/c?_token=x", "", &["SSubscribe c"]);
    check("POST", "/monitor", "[]", &["monitor"]);
    assert!(ask("POST", "/subscribe/chat", "").expect("the request is fine").is_stream());
    assert!(!ask("POST", "/publish/chat/hello", "").expect("the request is fine").is_stream());
}

#[test]
fn the_password_goes_first() {
    let bearer = &[("authorization", "Bearer secret")];
    let mut exchange = ask_with(bearer, true, "GET", "/get/a", "").expect("the request is fine");
    assert_eq!(commands(&mut exchange), ["AUTH secret", "get a"]);
    let mut exchange = ask_with(bearer, true, "POST", "/multi-exec", r#"[["GET","a"]]"#).expect("fine");
    assert_eq!(commands(&mut exchange), ["AUTH secret", "MULTI", "GET a", "EXEC"]);
}
