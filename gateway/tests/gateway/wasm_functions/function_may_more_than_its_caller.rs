//! A function does what the user that calls it may do, and one that only reads writes nothing.

use super::server;
use crate::support::say;

#[test]
fn function_reaches_what_its_caller_may_not() {
    let server = server("");
    let mut admin = server.connect();
    assert_eq!(say(&mut admin, "SET other:k secret"), "+OK");
    assert_eq!(
        say(&mut admin, "ACL SETUSER ann on >word ~own:* %R~shared:* &own:* +@all -del -function"),
        "+OK"
    );
    let mut ann = server.connect();
    assert_eq!(say(&mut ann, "AUTH ann word"), "+OK");
    assert_eq!(say(&mut ann, "FCALL run 1 own:k SET own:k mine"), "+OK");
    for (line, refusal) in [
        // Keys that are declared are looked at before the function runs.
        ("FCALL run 1 other:k GET other:k", "-NOPERM "),
        ("FCALL run 1 own:k GET other:k", "-NOPERM ACL failure in script"),
        ("FCALL run 0 GET other:k", "-NOPERM ACL failure in script"),
        ("FCALL run 0 SET shared:k x", "-NOPERM ACL failure in script"),
        ("FCALL run 1 own:k DEL own:k", "-NOPERM ACL failure in script"),
        ("FCALL run 0 PUBLISH other:news x", "-NOPERM ACL failure in script"),
        ("FUNCTION DELETE guest", "-NOPERM "),
    ] {
        let said = say(&mut ann, line);
        assert!(said.starts_with(refusal), "{line}: {said}");
    }
    assert_eq!(say(&mut ann, "FCALL run 0 GET shared:k"), "nil");
    assert_eq!(say(&mut ann, "FCALL run 0 GET own:k"), "mine");
    assert_eq!(say(&mut admin, "GET shared:k"), "nil");
    // The same function, for a user that may.
    assert_eq!(say(&mut admin, "FCALL run 1 own:k GET other:k"), "secret");
    let log = say(&mut admin, "ACL LOG");
    assert!(log.contains("context lua") && log.contains("object other:k"), "{log}");
    // What a user may changes between two calls.
    assert_eq!(say(&mut admin, "ACL SETUSER ann ~other:*"), "+OK");
    assert_eq!(say(&mut ann, "FCALL run 0 GET other:k"), "secret");
}

#[test]
fn function_that_only_reads_writes() {
    let server = server("");
    let mut client = server.connect();
    assert_eq!(say(&mut client, "SET k v"), "+OK");
    assert_eq!(
        say(&mut client, "FCALL_RO run 1 k GET k"),
        "-ERR Can not execute a script with write flag using *_ro command."
    );
    for command in ["FCALL", "FCALL_RO"] {
        assert_eq!(say(&mut client, &format!("{command} read 1 k GET k")), "v");
        let refused = say(&mut client, &format!("{command} read 1 k SET k w"));
        assert!(
            refused.starts_with("-ERR Write commands are not allowed from read-only scripts."),
            "{refused}"
        );
    }
    let nested = say(&mut client, "FCALL run 0 FCALL run 0 PING");
    assert!(nested.starts_with("-ERR This Redis command is not allowed from script"), "{nested}");
    assert_eq!(say(&mut client, "GET k"), "v");
}
