//! A server with a password, seen by those who do not know it.

use edgecask_core::resp::Value;
use edgecask_tests::process::{Gateway, Server, redis};

const NOAUTH: &str = "NOAUTH Authentication required.";

/// What a peer without the password may try, and the error it gets from both servers.
const REFUSED: &[(&str, &str)] = &[
    ("PING", NOAUTH),
    ("GET a", NOAUTH),
    ("SET a 1", NOAUTH),
    ("MULTI", NOAUTH),
    ("CLIENT ID", NOAUTH),
    ("CONFIG GET requirepass", NOAUTH),
    ("COMMAND COUNT", NOAUTH),
    ("SHUTDOWN NOSAVE", NOAUTH),
    ("GET", "ERR wrong number of arguments for 'get' command"),
    ("NOSUCH", "ERR unknown command 'NOSUCH', with args beginning with: "),
    ("AUTH wrong", "WRONGPASS invalid username-password pair or user is disabled."),
    ("AUTH nobody secret", "WRONGPASS invalid username-password pair or user is disabled."),
    ("HELLO 3 AUTH default wrong", "WRONGPASS invalid username-password pair or user is disabled."),
    ("HELLO 4", "NOPROTO unsupported protocol version"),
];

fn both() -> (tempfile::TempDir, [Server; 2]) {
    let directory = tempfile::tempdir().expect("a directory");
    let ours = Gateway::on(directory.path()).with("--requirepass", "secret").must_start();
    (directory, [ours, redis(&["--requirepass", "secret"])])
}

#[test]
fn strangers_are_let_in() {
    let (_directory, servers) = both();
    for server in &servers {
        let mut client = server.client();
        for (request, expected) in REFUSED {
            let reply = client.must(request);
            let error = reply.as_error().map(String::from_utf8_lossy).unwrap_or_default();
            assert_eq!(error.trim_end(), expected.trim_end(), "{request}");
        }
        assert_eq!(client.must("AUTH secret"), Value::Simple(b"OK".to_vec()));
        assert_eq!(client.must("GET a"), Value::Null, "no SET of the stranger was run");
        client.must("RESET");
        assert!(client.must("PING").as_error().is_some(), "RESET logs out");
        assert_eq!(server.client().must("QUIT"), Value::Simple(b"OK".to_vec()));
    }
}

#[test]
fn strangers_may_send_much() {
    let (_directory, servers) = both();
    let eleven = [b"*11\r\n".as_slice(), &b"$1\r\nx\r\n".repeat(11)].concat();
    let cases: [(&[u8], &str); 2] = [
        (&eleven, "-ERR Protocol error: unauthenticated multibulk length\r\n"),
        (b"*2\r\n$4\r\nECHO\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n"),
    ];
    for server in &servers {
        for (bytes, expected) in &cases {
            let mut client = server.client();
            client.send(bytes).expect("a fresh connection takes it");
            let answer = client.receive_until_closed();
            // What redis-server leaves unread may cost its answer.
            let told = answer.map(|answer| String::from_utf8_lossy(&answer).into_owned());
            assert!(told.as_ref().map_or(true, |told| told == expected), "{told:?}");
        }
        let mut friend = server.client();
        assert_eq!(friend.must("AUTH secret"), Value::Simple(b"OK".to_vec()));
        let long = "y".repeat(20_000);
        assert_eq!(friend.call(&["ECHO", &long]).expect("a reply"), Value::Bulk(long.into_bytes()));
        assert_eq!(friend.must("EXISTS 1 2 3 4 5 6 7 8 9 10 11 12"), Value::Integer(0));
    }
}
