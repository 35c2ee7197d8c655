//! A run that traps leaves nothing: no key, no message. One that fails by itself leaves what it wrote, as in Lua.

use super::server;
use crate::support::{hear, say};

const TRAPPED: &str = "-ERR Error running script trap, unreachable code reached";

#[test]
fn trap_leaves_what_it_wrote() {
    let server = server("");
    let (mut client, mut listener) = (server.connect(), server.connect());
    assert_eq!(say(&mut listener, "SUBSCRIBE news"), "[subscribe news :1]");
    assert_eq!(say(&mut client, "FCALL trap 1 k SET k half"), TRAPPED);
    assert_eq!(say(&mut client, "FCALL trap 0 SET undeclared half"), TRAPPED);
    assert_eq!(say(&mut client, "FCALL trap 0 PUBLISH news half"), TRAPPED);
    assert_eq!(say(&mut client, "EXISTS k undeclared"), ":0");
    assert_eq!(say(&mut client, "FCALL run 0 PUBLISH news whole"), ":1");
    assert_eq!(hear(&mut listener), "[message news whole]");
    assert_eq!(say(&mut client, "FCALL fail 1 k SET k v"), "-ERR it failed");
    assert_eq!(say(&mut client, "GET k"), "v");
    // Of the commands of a failed run some have been counted, of the runs all.
    let failed = say(&mut client, "INFO errorstats");
    assert!(failed.contains("errorstat_ERR:count=4"), "{failed}");
}

#[test]
fn trap_in_a_transaction_undoes_more_than_its_run() {
    let server = server("");
    let mut client = server.connect();
    assert_eq!(say(&mut client, "MULTI"), "+OK");
    for line in ["SET before 1", "FCALL trap 0 SET half 1", "FCALL run 0 GET before", "SET after 1"] {
        assert_eq!(say(&mut client, line), "+QUEUED");
    }
    assert_eq!(say(&mut client, "EXEC"), format!("[+OK {TRAPPED} 1 +OK]"));
    assert_eq!(say(&mut client, "MGET before half after"), "[1 nil 1]");
}

#[test]
fn trap_in_a_trigger_lets_the_write_through() {
    let server = server("");
    let mut client = server.connect();
    assert_eq!(say(&mut client, "TRIGGER CREATE noting ON create,change PREFIX item: CALL note"), "+OK");
    assert_eq!(say(&mut client, "SET item:1 a"), "+OK");
    assert_eq!(say(&mut client, "FCALL run 0 SET item:1 b"), "+OK");
    assert_eq!(say(&mut client, "LRANGE notes 0 -1"), "[create change]");
    // Its arguments are no command; the function answers that error, which refuses the write.
    assert_eq!(say(&mut client, "TRIGGER CREATE refusing ON create PREFIX refused: CALL run"), "+OK");
    let refused = say(&mut client, "SET refused:1 a");
    assert!(refused.starts_with("-ERR Unknown Redis command called from script"), "{refused}");
    assert_eq!(say(&mut client, "TRIGGER CREATE trapping ON create PREFIX trapped: CALL trap"), "+OK");
    let trapped = say(&mut client, "SET trapped:1 a");
    assert!(trapped.contains("unreachable code reached"), "{trapped}");
    assert_eq!(say(&mut client, "EXISTS refused:1 trapped:1"), ":0");
    let deleted = say(&mut client, "FUNCTION DELETE guest");
    assert!(deleted.starts_with("-ERR"), "{deleted}");
    assert_eq!(say(&mut client, "SET item:2 a"), "+OK");
}
