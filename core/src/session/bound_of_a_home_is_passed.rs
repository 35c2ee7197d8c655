//! What a home has no memory for is refused with a clear error, and nothing of it happens.

use std::sync::Arc;

use super::{HomeBounds, NoFacts, Peer, Server, Session, Settings, Shared};
use crate::bitcask::{Bitcask, Options};
use crate::storage::{Simulation, Storage};

const NOW_MS: u64 = 1_700_000_000_000;
const REPLY_MAX_BYTES: usize = 400;
const TOO_LONG: &str = "-ERR the reply does not fit into this server's memory; ask for less at a time\r\n";
const TOO_MANY: &str =
    "-ERR one request or transaction may change 28 members of collections at most here\r\n";

struct Home {
    server: Server<Bitcask>,
    session: Session,
}

impl Home {
    fn new() -> Home {
        let storage: Arc<dyn Storage> = Arc::new(Simulation::new(1).open().expect("an empty disk"));
        let Ok(opened) = Bitcask::open(storage, &Options::default()) else { panic!("opens") };
        let bounds = HomeBounds {
            reply_max_bytes: REPLY_MAX_BYTES,
            changes_max: 28,
            arguments_max: 40,
            ..HomeBounds::default()
        };
        let shared = Shared::new(Settings::default().within(bounds), Box::new(NoFacts), NOW_MS);
        let session = Session::new(&shared, Peer::default(), 1, NOW_MS);
        Home { server: Server { engine: opened.store, shared }, session }
    }

    fn ask(&mut self, text: &str) -> String {
        self.session.input().extend_from_slice(text.as_bytes());
        self.session.process(&self.server, NOW_MS);
        let replies = self.session.reply().take().expect("a healthy disk");
        String::from_utf8(replies).expect("text")
    }
}

/// A list of 30 elements that make more than a reply may hold.
fn with_a_list() -> Home {
    let mut home = Home::new();
    for _ in 0..3 {
        assert!(home.ask(&format!("RPUSH list{}\r\n", " twelve-bytes".repeat(10))).starts_with(':'));
    }
    home
}

#[test]
fn long_reply_is_begun() {
    let mut home = with_a_list();
    assert_eq!(home.ask("LRANGE list 0 -1\r\nLLEN list\r\n"), format!("{TOO_LONG}:30\r\n"));
    assert!(home.ask("LRANGE list 0 9\r\n").starts_with("*10\r\n"));
    assert_eq!(home.ask(&format!("SET k {0}\r\nGET k\r\nPING\r\n", "v".repeat(390))).len(), 5 + 6 + 392 + 7);
    assert_eq!(
        home.ask(&format!("SET k {0}\r\nGET k\r\nPING\r\n", "v".repeat(401))),
        format!("+OK\r\n{TOO_LONG}+PONG\r\n")
    );
    assert!(
        home.ask(&format!("HSET h{}\r\n", (0..20).map(|n| format!(" f{n} {n:050}")).collect::<String>()))
            .starts_with(':')
    );
    assert_eq!(home.ask("CONFIG SET hash-max-listpack-entries 1\r\nHSET h g 1\r\n"), "+OK\r\n:1\r\n");
    assert_eq!(
        home.ask("HSCAN h 0 COUNT 100\r\nKEYS *\r\n"),
        format!("{TOO_LONG}*3\r\n$1\r\nh\r\n$1\r\nk\r\n$4\r\nlist\r\n")
    );
}

#[test]
fn elements_are_gone_whose_reply_did_not_fit() {
    let mut home = with_a_list();
    assert_eq!(home.ask("LPOP list 25\r\n"), TOO_LONG);
    assert_eq!(
        home.ask("MULTI\r\nSET k v\r\nLPOP list 10\r\nLPOP list 10\r\nEXEC\r\n"),
        format!("+OK\r\n{}{TOO_LONG}", "+QUEUED\r\n".repeat(3))
    );
    assert_eq!(home.ask("EXISTS k\r\nLLEN list\r\n"), ":0\r\n:30\r\n");
}

#[test]
fn request_changes_more_than_memory_holds() {
    let mut home = with_a_list();
    let members = |count: usize| (0..count).map(|n| format!(" m{n}")).collect::<String>();
    assert_eq!(home.ask(&format!("SADD set{}\r\nEXISTS set\r\n", members(29))), format!("{TOO_MANY}:0\r\n"));
    assert_eq!(home.ask("LTRIM list 29 -1\r\nLLEN list\r\n"), format!("{TOO_MANY}:30\r\n"));
    assert_eq!(home.ask("LTRIM list 15 -1\r\nLLEN list\r\nDEL list\r\n"), "+OK\r\n:15\r\n:1\r\n");
    assert_eq!(
        home.ask(&format!(
            "MULTI\r\nSADD set{0}\r\nSADD other{0}\r\nEXEC\r\nEXISTS set other\r\n",
            members(15)
        )),
        format!("+OK\r\n+QUEUED\r\n+QUEUED\r\n{TOO_MANY}:0\r\n")
    );
    assert_eq!(home.ask("*41\r\n"), "-ERR Protocol error: invalid multibulk length\r\n");
}
