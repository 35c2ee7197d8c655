//! A blocked command ends at its time and not before, a paused connection goes on, and input does not pile up meanwhile.

use super::super::{Driver, Now};
use super::{Home, STEADY_MS, UNIX_MS};
use crate::limits::{BLOCKED_INPUT_MAX_BYTES, OUTPUT_PAUSE_BYTES};

#[test]
fn blocked_command_ends_early_or_never() {
    let mut home = Home::new(&[]);
    let mut waiting = home.connect();
    assert_eq!(home.run(&mut waiting, "BLPOP list 2\r\n"), "");
    assert_eq!(waiting.alarm_ms(), Some(STEADY_MS + 2000));
    home.pass(1999);
    assert!(!waiting.has_work(home.now.steady_ms));
    home.pass(1);
    assert!(waiting.has_work(home.now.steady_ms));
    assert_eq!(home.run(&mut waiting, ""), "*-1\r\n");
    assert_eq!(waiting.alarm_ms(), None);
    assert!(!waiting.has_work(home.now.steady_ms));
}

#[test]
fn alarm_that_is_a_fraction_early_is_lost() {
    let home = Home::new(&[]);
    let mut waiting = home.connect();
    home.run(&mut waiting, "BLPOP list 1\r\n");
    // The steady clock has come to the next millisecond, the unix time has not.
    let early = Home { now: Now { unix_ms: UNIX_MS + 999, steady_ms: STEADY_MS + 1000 }, ..home };
    assert!(waiting.has_work(early.now.steady_ms));
    assert_eq!(early.run(&mut waiting, ""), "");
    assert_eq!(waiting.alarm_ms(), Some(STEADY_MS + 1001));
}

#[test]
fn thawed_session_forgets_when_its_wait_ends_or_when_it_connected() {
    let mut home = Home::new(&[("requirepass", "secret")]);
    let mut waiting = home.connect();
    home.run(&mut waiting, "AUTH secret\r\nBLPOP list 3\r\n");
    let stranger = home.connect();
    home.pass(1000);
    let later = Home { now: home.now, ..Home::new(&[("requirepass", "secret")]) };
    for (before, due_ms) in [(waiting, STEADY_MS + 3000), (stranger, STEADY_MS + 10_000)] {
        let frozen = before.session().freeze(&home.server, usize::MAX).expect("it fits");
        let thawed =
            crate::session::Session::thaw(&later.server, &frozen, later.now.unix_ms).expect("it is one");
        let driver = Driver::new(thawed, later.now);
        assert_eq!(driver.due_ms(&later.server.shared, super::LIMITS), Some(due_ms));
    }
}

#[test]
fn connection_whose_replies_piled_up_stands_still() {
    let home = Home::new(&[]);
    let mut peer = home.connect();
    let value = "v".repeat(OUTPUT_PAUSE_BYTES);
    home.run(&mut peer, &format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n{value}\r\n", value.len()));
    let first = home.run(&mut peer, "GET k\r\nGET k\r\n");
    assert!(peer.has_work(home.now.steady_ms), "the second request has not run");
    assert_eq!(home.run(&mut peer, ""), first);
    assert_eq!(home.run(&mut peer, ""), "");
    assert!(!peer.has_work(home.now.steady_ms));
}

#[test]
fn blocked_connection_fills_the_memory() {
    let home = Home::new(&[]);
    let mut peer = home.connect();
    home.run(&mut peer, "BLPOP list 0\r\n");
    assert!(peer.may_receive());
    peer.input().resize(BLOCKED_INPUT_MAX_BYTES, b'x');
    assert!(!peer.may_receive());
}

#[test]
fn message_of_another_connection_waits_for_the_next_request() {
    let home = Home::new(&[]);
    let (mut listener, mut other) = (home.connect(), home.connect());
    home.run(&mut listener, "SUBSCRIBE news\r\n");
    assert!(!listener.has_work(home.now.steady_ms));
    assert_eq!(home.run(&mut other, "PUBLISH news hello\r\n"), ":1\r\n");
    assert!(listener.has_work(home.now.steady_ms));
    assert_eq!(home.run(&mut listener, ""), "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
}
