//! What a home has no memory for is refused with a clear error, and nothing of it happens.

use std::cell::Cell;
use std::sync::Arc;

use crate::bitcask::{Bitcask, Options};
use crate::memory_budget::MemoryBudget;
use crate::server::{HomeBounds, NoFacts, Server, Settings, Shared, Shortage};
use crate::session::{Peer, Session};
use crate::storage::{Simulation, Storage};

const NOW_MS: u64 = 1_700_000_000_000;
const REPLY_MAX_BYTES: usize = 400;
const TOO_LONG: &str = "-ERR the reply does not fit into this server's memory; ask for less at a time\r\n";
const TOO_MANY: &str =
    "-ERR one request or transaction may change 28 members of collections at most here\r\n";

thread_local! {
    /// What is left of a home's memory when it is asked, the first answer first; the last one stays.
    static LEFT: Cell<&'static [u64]> = const { Cell::new(&[u64::MAX]) };
}

fn left() -> u64 {
    let left = LEFT.get();
    if let [_, rest @ ..] = left
        && !rest.is_empty()
    {
        LEFT.set(rest);
    }
    left.first().copied().unwrap_or(u64::MAX)
}

const NO_ROOM: &str = "-OOM the request needs more memory than is left; ask for less at a time\r\n";

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
            name_max_bytes: 200,
            changes_max: 28,
            arguments_max: 40,
            budget: MemoryBudget::counted(left),
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

#[test]
fn idle_connection_holds_what_its_last_transaction_changed() {
    let mut home = Home::new();
    for (request, reply) in
        [("SADD set a b c d\r\n", ":4\r\n"), ("SADD set e a\r\n", ":1\r\n"), ("SPOP set 3\r\n", "*")]
    {
        assert!(home.ask(request).starts_with(reply), "{request}");
        assert!(home.session.holds_no_transaction(), "{request}");
    }
}

#[test]
fn request_gathers_more_than_its_share_of_memory() {
    let mut home = Home::new();
    home.ask("ZADD zset 1 a 2 b\r\nSADD set a b c\r\nRPUSH list 3 1 2\r\nGEOADD geo 1 1 a 2 2 b\r\n");
    for request in [
        "ZUNION 2 zset set",
        "ZINTER 2 zset set",
        "ZDIFF 2 set nothing",
        "ZUNIONSTORE d 2 zset set",
        "ZRANGESTORE d zset 0 -1",
        "SUNIONSTORE d set",
        "SORT list",
        "SORT set ALPHA LIMIT 0 1",
        "SORT zset BY nosort",
        "SORT list BY w* STORE d",
        "GEOSEARCHSTORE d geo FROMLONLAT 0 0 BYRADIUS 1000 km",
    ] {
        LEFT.set(&[9_000_000, 5_999_999]);
        assert_eq!(home.ask(&format!("{request}\r\n")), NO_ROOM, "{request}");
        LEFT.set(&[9_000_000, 6_000_000]);
        assert!(!home.ask(&format!("{request}\r\nDEL d\r\n")).starts_with('-'), "{request}");
    }
}

#[test]
fn value_is_larger_than_what_is_left_of_memory() {
    let mut home = Home::new();
    let value = "v".repeat(1_000_000);
    let request = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n{value}\r\n");
    assert_eq!(home.ask(&request), "+OK\r\n");
    // When it is queued, when its transaction begins and when it is put.
    LEFT.set(&[9_000_000, 9_000_000, 2_900_000]);
    assert!(home.ask(&format!("MULTI\r\n{request}EXEC\r\n")).ends_with(NO_ROOM));
    for request in ["APPEND k v", "COPY k other", "BITOP NOT other k", "SETRANGE k 0 v", "GETRANGE k 0 -1"] {
        LEFT.set(&[2_900_000]);
        assert_eq!(home.ask(&format!("{request}\r\n")), NO_ROOM, "{request}");
    }
    assert_eq!(
        home.ask("EXISTS other\r\nSTRLEN k\r\nGETRANGE k 0 3\r\n"),
        ":0\r\n:1000000\r\n$4\r\nvvvv\r\n"
    );
}

#[test]
fn name_is_longer_than_memory_allows() {
    let mut home = Home::new();
    let (long, short) = ("n".repeat(201), "n".repeat(200));
    for (request, place) in [
        ("SET @ v", 1),
        ("MSET a b @ v", 3),
        ("SADD s a @", 3),
        ("ZADD z 1 @", 3),
        ("HSET h f v @ v", 4),
        ("HGET h @", 2),
        ("PUBLISH @ m", 1),
        ("SUBSCRIBE @", 1),
        ("WATCH @", 1),
        ("GEOADD g 1 1 @", 4),
        ("XADD @ * f v", 1),
        ("RPUSH @ v", 1),
    ] {
        let name = request.split(' ').next().unwrap_or_default().to_lowercase();
        let refusal = format!(
            "-ERR argument {place} of '{name}' has 201 bytes; only values may have more than 200 here\r\n"
        );
        assert_eq!(home.ask(&format!("{}\r\n", request.replace('@', &long))), refusal);
    }
    assert_eq!(home.ask("DBSIZE\r\n"), ":0\r\n");
    for request in [
        "SET @ v",
        "SADD s a @",
        "ZADD z 1 @",
        "HSET h @ v",
        "SET k ^",
        "HSET h f ^",
        "RPUSH l ^",
        "XADD x * f ^",
        "PUBLISH c ^",
        "APPEND k ^",
        "ECHO ^",
        "PFADD p ^",
        "MSET a ^",
    ] {
        let reply = home.ask(&format!("{}\r\n", request.replace('@', &short).replace('^', &long)));
        assert!(!reply.starts_with('-'), "{request}: {reply}");
    }
}

#[test]
fn queue_runs_without_a_request_that_found_no_memory() {
    let mut home = Home::new();
    let large = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n{}\r\n", "v".repeat(1_000_000));
    LEFT.set(&[2_900_000]);
    assert_eq!(
        home.ask(&format!("MULTI\r\nINCR a\r\n{large}EXEC\r\nEXISTS a k\r\n")),
        format!(
            "+OK\r\n+QUEUED\r\n{NO_ROOM}-EXECABORT Transaction discarded because of previous errors.\r\n:0\r\n"
        )
    );
}

#[test]
fn message_is_longer_than_a_reply_may_be() {
    let mut home = Home::new();
    let message = "m".repeat(3 * REPLY_MAX_BYTES);
    assert!(home.ask("HELLO 3\r\nSUBSCRIBE c\r\n").ends_with(":1\r\n"));
    let replies = home.ask(&format!("PUBLISH c {message}\r\nPING\r\n"));
    assert!(
        replies.contains(&message) && replies.contains(":1\r\n") && replies.ends_with("+PONG\r\n"),
        "{replies}"
    );
}

#[test]
fn request_names_more_keys_than_memory_holds() {
    let mut home = Home::new();
    let keys: String = (0..10).map(|n| format!(" k{n}")).collect();
    for request in ["MGET", "EXISTS", "DEL"] {
        LEFT.set(&[9_000_000, 5_999_999]);
        assert_eq!(home.ask(&format!("{request}{keys}\r\n")), NO_ROOM);
    }
}

#[test]
fn payload_unpacks_to_more_than_memory_holds() {
    let mut home = Home::new();
    // A compressed string that says it has 2 MiB.
    let mut body = b"\x00\xC3\x80\x00\x00\x20\x00\x80\x00\x20\x00\x00".to_vec();
    body.resize(body.len() + 0x2000, 0xE0);
    body.extend_from_slice(b"\x0A\x00");
    let crc = crc::Crc::<u64>::new(&crc::CRC_64_REDIS).checksum(&body);
    body.extend_from_slice(&crc.to_le_bytes());
    let mut request =
        format!("*4\r\n$7\r\nRESTORE\r\n$1\r\nk\r\n$1\r\n0\r\n${}\r\n", body.len()).into_bytes();
    request.extend_from_slice(&body);
    request.extend_from_slice(b"\r\n");
    home.session.input().extend_from_slice(&request);
    LEFT.set(&[3_000_000]);
    assert_eq!(home.ask(""), NO_ROOM);
    home.session.input().extend_from_slice(&request);
    LEFT.set(&[u64::MAX]);
    assert_eq!(home.ask(""), "-ERR Bad data format\r\n");
}

#[test]
fn queue_and_names_grow_where_memory_is_short() {
    let mut home = Home::new();
    home.server.shared.set_shortage(Shortage::Memory);
    let oom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
    for request in ["SET k v", "WATCH k", "SUBSCRIBE c", "PSUBSCRIBE c"] {
        assert_eq!(home.ask(&format!("{request}\r\n")), oom, "{request}");
    }
    assert_eq!(
        home.ask("MULTI\r\nPING\r\nEXEC\r\nGET k\r\n"),
        format!("+OK\r\n{oom}-EXECABORT Transaction discarded because of previous errors.\r\n$-1\r\n")
    );
    home.server.shared.set_shortage(Shortage::Storage);
    assert!(home.ask("SET k v\r\n").starts_with("-OOM"));
    assert_eq!(home.ask("WATCH k\r\nMULTI\r\nPING\r\nEXEC\r\n"), "+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n");
}
