//! Users across kill -9, in the store and in a file; and a server whose default user is off.

use std::fs;

use edgecask_core::resp::Value;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, Server};

const RULES: &str = "on >secret ~a* %R~r* &c +@read -get (+set ~b)";

/// The replies of a new connection as text.
fn ask(server: &Server, requests: &[&str]) -> Vec<String> {
    let mut client = server.client();
    requests.iter().map(|request| text(&mut client, request)).collect()
}

fn text(client: &mut Client, request: &str) -> String {
    match client.must(request) {
        Value::Array(items) => {
            let words = items
                .iter()
                .map(|item| String::from_utf8_lossy(item.as_bytes().unwrap_or_default()).into_owned());
            words.collect::<Vec<_>>().join("\n")
        }
        Value::Integer(number) => number.to_string(),
        value => {
            String::from_utf8_lossy(value.as_bytes().or(value.as_error()).unwrap_or_default()).into_owned()
        }
    }
}

#[test]
fn users_do_not_survive_a_kill() {
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path()).with("--appendfsync", "always");
    let server = gateway.must_start();
    let made = ask(
        &server,
        &[&format!("ACL SETUSER ann {RULES}"), "ACL SETUSER bea on", "ACL DELUSER bea", "ACL LIST"],
    );
    assert_eq!(made[..3], ["OK", "OK", "1"]);
    server.kill();
    let server = gateway.must_start();
    assert_eq!(ask(&server, &["ACL LIST"]), made[3..]);
    let replies = ask(&server, &["AUTH ann secret", "SET b 1", "GET a", "ACL WHOAMI"]);
    assert_eq!(replies[..2], ["OK", "OK"]);
    assert_eq!(replies[2], "NOPERM User ann has no permissions to run the 'get' command");
    // What nobody may see.
    assert!(!server.log().contains("secret"), "{}", server.log());
    server.kill();
    // With a checkpoint and hints.
    let server = gateway.must_start();
    assert_eq!(ask(&server, &["SAVE", "FLUSHALL"]), ["OK", "OK"]);
    assert!(server.stop().success());
    let off = gateway.with("--default-user", "off");
    let server = off.must_start();
    assert_eq!(
        ask(&server, &["PING", "AUTH default x", "AUTH ann secret"]),
        [
            "NOAUTH Authentication required.",
            "WRONGPASS invalid username-password pair or user is disabled.",
            "OK"
        ]
    );
}

#[test]
fn file_of_users_is_ignored() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("users.acl");
    let store = directory.path().join("store");
    let gateway = Gateway::on(&store).with("--aclfile", path.to_str().expect("text"));
    assert!(gateway.must_refuse().contains("users.acl"));
    fs::write(&path, "user ann on >secret +nosuch\n").expect("writes");
    let words = gateway.must_refuse();
    assert!(words.contains("Unknown command or category name in ACL"), "{words}");
    fs::write(&path, "user default on nopass +@all\nuser ann on >secret ~* &* +@all\n").expect("writes");
    let server = gateway.must_start();
    assert_eq!(ask(&server, &["AUTH ann secret", "SET k v", "CONFIG GET aclfile"])[2].lines().count(), 2);
    let replies = ask(&server, &["ACL SETUSER bea on nopass", "ACL SAVE", "ACL USERS"]);
    assert_eq!(replies, ["OK", "OK", "ann\nbea\ndefault"]);
    let saved = fs::read_to_string(&path).expect("the file");
    assert!(
        saved.contains("user bea on nopass resetchannels -@all\n") && !saved.contains("secret"),
        "{saved}"
    );
    // Not saved.
    assert_eq!(ask(&server, &["ACL SETUSER cid on"]), ["OK"]);
    server.kill();
    let server = gateway.must_start();
    assert_eq!(ask(&server, &["ACL USERS"]), ["ann\nbea\ndefault"]);
    fs::write(&path, "user ann on >secret +get +get|\n").expect("writes");
    let mut ann = server.client();
    assert_eq!(text(&mut ann, "AUTH ann secret"), "OK");
    let refused = ask(&server, &["ACL LOAD", "ACL USERS"]);
    assert!(
        refused[0].ends_with("no change to the previously active ACL rules was performed"),
        "{refused:?}"
    );
    assert_eq!(refused[1], "ann\nbea\ndefault");
    assert_eq!(text(&mut ann, "ACL WHOAMI"), "ann");
    fs::write(&path, "user ann on >other ~* +@all\n").expect("writes");
    assert_eq!(ask(&server, &["ACL LOAD", "ACL USERS"]), ["OK", "ann\ndefault"]);
    assert!(ann.receive_until_closed().is_ok());
    assert!(ask(&server, &["AUTH ann secret"])[0].starts_with("WRONGPASS"));
    server.kill();
    // Without the file the store has what it said last.
    let server = Gateway::on(&store).must_start();
    assert_eq!(ask(&server, &["ACL USERS", "AUTH ann other", "ACL SAVE"])[..2], ["ann\ndefault", "OK"]);
}

#[test]
fn password_can_be_guessed() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let passwords =
        ask(&server, &["ACL GENPASS", "ACL GENPASS", "ACL GENPASS 5", "ACL GENPASS 4096", "ACL GENPASS 1"]);
    let lengths: Vec<usize> = passwords.iter().map(String::len).collect();
    assert_eq!(lengths, [64, 64, 2, 1024, 1]);
    assert_ne!(passwords[0], passwords[1]);
    assert!(passwords.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_hexdigit())), "{passwords:?}");
}

#[test]
fn password_is_shown_by_the_slow_log() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut monitor = server.client();
    assert_eq!(text(&mut monitor, "MONITOR"), "OK");
    let mut client = server.client();
    for request in [
        "CONFIG SET slowlog-log-slower-than 0",
        "ACL SETUSER ann on >secret",
        "ACL DELUSER secret",
        "ACL GETUSER secret",
        "AUTH ann secret",
    ] {
        client.must(request);
    }
    let Value::Array(entries) = server.client().must("SLOWLOG GET 20") else { panic!("an array") };
    let shown = format!("{entries:?}");
    assert!(entries.len() >= 4 && shown.len() > 100);
    let secret = format!("{:?}", Value::Bulk(b"secret".to_vec()));
    assert!(!shown.contains(&secret), "{shown}");
    // The next line is AUTH's: an operator's commands are not shown.
    let line = monitor.receive().expect("a line");
    let line = String::from_utf8_lossy(line.as_bytes().unwrap_or_default()).into_owned();
    assert!(!line.contains("secret") && line.contains("AUTH"), "{line}");
}
