//! Connections are closed at the deadline of the login or of idleness, and a connection that waits for others is not idle.

use super::{Home, LIMITS, STEADY_MS};

#[test]
fn peer_that_never_logs_in_stays() {
    let mut home = Home::new(&[("requirepass", "secret")]);
    let mut peer = home.connect();
    home.pass(9_000);
    home.run(&mut peer, "PING\r\n");
    assert_eq!(
        peer.deadline_ms(&home.server.shared, LIMITS),
        Some(STEADY_MS + 10_000),
        "requests are no login"
    );
    assert_eq!(home.run(&mut peer, "AUTH secret\r\n"), "+OK\r\n");
    assert_eq!(peer.deadline_ms(&home.server.shared, LIMITS), Some(home.now.steady_ms + 60_000));
}

#[test]
fn peer_is_cut_for_a_login_that_is_no_longer_asked_for() {
    let home = Home::new(&[("requirepass", "secret")]);
    let (early, mut operator) = (home.connect(), home.connect());
    assert!(early.must_log_in(&home.server.shared));
    home.run(&mut operator, "AUTH secret\r\nCONFIG SET requirepass \"\"\r\n");
    assert!(!early.must_log_in(&home.server.shared));
    assert_eq!(early.deadline_ms(&home.server.shared, LIMITS), Some(STEADY_MS + 60_000));
}

#[test]
fn connection_that_waits_for_others_is_cut_as_idle() {
    let home = Home::new(&[]);
    for request in ["BLPOP list 0\r\n", "SUBSCRIBE news\r\n", "MONITOR\r\n"] {
        let mut waiting = home.connect();
        assert!(waiting.deadline_ms(&home.server.shared, LIMITS).is_some());
        home.run(&mut waiting, request);
        assert_eq!(waiting.deadline_ms(&home.server.shared, LIMITS), None, "{request}");
    }
}

#[test]
fn clock_that_is_set_cuts_connections_or_keeps_them() {
    let mut home = Home::new(&[]);
    let mut idle = home.connect();
    home.run(&mut idle, "PING\r\n");
    for jump_ms in [86_400_000_i64, -86_400_000] {
        home.now.unix_ms = home.now.unix_ms.saturating_add_signed(jump_ms);
        home.now.steady_ms += 1;
        assert_eq!(idle.deadline_ms(&home.server.shared, LIMITS), Some(STEADY_MS + 60_000));
        assert!(!idle.has_work(home.now.steady_ms));
    }
}
