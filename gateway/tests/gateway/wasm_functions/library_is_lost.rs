//! Libraries last: through a restart, in FUNCTION DUMP, in a transaction, beside libraries of Lua.

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;

use super::{guest, server};
use crate::support::{Client, answer, hear_bytes, request, say, start_in};

const LUA: &[u8] = b"#!lua name=other\nredis.register_function('look', function(keys) return redis.call('GET', keys[1]) end)";

#[test]
fn restart_forgets_a_library() {
    let directory = tempfile::tempdir().expect("a directory");
    for start in 0..3 {
        let running = start_in(directory.path(), "", Deadlines::default()).expect("starts");
        let mut client = Client::connect(running.addresses()[0]);
        if start == 0 {
            assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", &guest()]), "guest");
            assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", LUA]), "other");
        }
        assert_eq!(say(&mut client, "FCALL run 1 k INCR k"), format!(":{}", start + 1));
        assert_eq!(say(&mut client, "FCALL look 1 k"), (start + 1).to_string());
        assert_eq!(
            say(&mut client, "FUNCTION STATS"),
            "[running_script nil engines [LUA [libraries_count :1 functions_count :1] WASM [libraries_count :1 functions_count :7]]]"
        );
        running.gateway().stop.request(StopRequest { checkpoint: start == 1 });
        assert!(running.wait());
    }
}

#[test]
fn list_or_dump_changes_a_module() {
    let server = server("");
    let mut client = server.connect();
    let listed = say(&mut client, "FUNCTION LIST LIBRARYNAME guest");
    let begin = "[[library_name guest engine WASM functions [";
    assert!(listed.starts_with(begin), "{listed}");
    assert!(listed.contains("[name read description nil flags [+no-writes]]"), "{listed}");
    assert!(listed.contains("[name run description nil flags []]"), "{listed}");
    client.send(&request(&[b"FUNCTION", b"LIST", b"WITHCODE"]));
    while client.line() != "library_code" {}
    assert_eq!(hear_bytes(&mut client), guest());

    client.send(&request(&[b"FUNCTION", b"DUMP"]));
    let dumped = hear_bytes(&mut client);
    assert_eq!(say(&mut client, "FUNCTION FLUSH"), "+OK");
    assert_eq!(say(&mut client, "FCALL run 0 PING"), "-ERR Function not found");
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"RESTORE", &dumped]), "+OK");
    assert_eq!(say(&mut client, "FCALL run 0 ECHO there"), "there");
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"RESTORE", &dumped]), "-ERR Library guest already exists");
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"RESTORE", &dumped, b"FLUSH"]), "+OK");
    assert_eq!(say(&mut client, "FUNCTION LIST LIBRARYNAME guest"), listed);
    assert_eq!(say(&mut client, "FUNCTION DELETE guest"), "+OK");
    assert_eq!(say(&mut client, "FCALL run 0 PING"), "-ERR Function not found");
}

#[test]
fn transaction_does_not_see_the_library_that_it_loads() {
    let server = server("");
    let mut client = server.connect();
    for line in ["FUNCTION FLUSH", "MULTI"] {
        assert_eq!(say(&mut client, line), "+OK");
    }
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", &guest()]), "+QUEUED");
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", LUA]), "+QUEUED");
    for line in ["FCALL run 1 k SET k 7", "FCALL look 1 k", "FCALL run 1 k INCR k", "FCALL look 1 k"] {
        assert_eq!(say(&mut client, line), "+QUEUED");
    }
    assert_eq!(say(&mut client, "EXEC"), "[guest other +OK 7 :8 8]");
}

#[test]
fn replaced_library_goes_on_as_it_was() {
    let server = server("--threads 1");
    let mut client = server.connect();
    assert_eq!(say(&mut client, "FCALL count 0"), ":1");
    assert_eq!(say(&mut client, "FCALL count 0"), ":2");
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", &guest()]), "-ERR Library 'guest' already exists");
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", b"REPLACE", &guest()]), "guest");
    assert_eq!(say(&mut client, "FCALL count 0"), ":1");
}
