//! Bytes of RESP3 replies, and what only shows in sets too large for a transcript.

use crate::engine::memory::MemoryEngine;
use crate::resp::Protocol;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const NOW_MS: u64 = 1_700_000_000_000;

struct Console {
    server: Server<MemoryEngine>,
    session: Session,
}

impl Console {
    fn new(protocol: Protocol) -> Console {
        let shared = Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS);
        let server = Server { engine: MemoryEngine::new(1), shared };
        let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
        session.reply().set_protocol(protocol);
        Console { server, session }
    }

    fn call(&mut self, request: &str) -> String {
        self.session.input().extend_from_slice(request.as_bytes());
        self.session.input().extend_from_slice(b"\r\n");
        self.session.process(&self.server, NOW_MS);
        let reply = String::from_utf8(self.session.reply().take().expect("memory is read")).expect("text");
        reply.trim_end().replace("\r\n", " ")
    }
}

#[test]
fn resp3_shape_is_not_redis_own() {
    let mut console = Console::new(Protocol::Resp3);
    for (request, reply) in [
        ("ZADD z 1 a 2 b 3 c", ":3"),
        ("ZADD z INCR 1.5 a", ",2.5"),
        ("ZADD z NX INCR 1 a", "_"),
        ("ZINCRBY z inf c", ",inf"),
        ("ZSCORE z a", ",2.5"),
        ("ZSCORE z nobody", "_"),
        ("ZMSCORE z a nobody", "*2 ,2.5 _"),
        ("ZRANK z a", ":1"),
        ("ZRANK z nobody", "_"),
        ("ZRANK z a WITHSCORE", "*2 :1 ,2.5"),
        ("ZRANK z nobody WITHSCORE", "_"),
        ("ZRANGE z 0 1", "*2 $1 b $1 a"),
        ("ZRANGE z 0 1 WITHSCORES", "*2 *2 $1 b ,2 *2 $1 a ,2.5"),
        ("ZREVRANGE z 0 0 WITHSCORES", "*1 *2 $1 c ,inf"),
        ("ZRANGEBYSCORE z 2 (2.5 WITHSCORES", "*1 *2 $1 b ,2"),
        ("ZRANGEBYSCORE z 7 8 WITHSCORES", "*0"),
        ("ZUNION 2 z z WITHSCORES", "*3 *2 $1 b ,4 *2 $1 a ,5 *2 $1 c ,inf"),
        ("ZINTER 1 z", "*3 $1 b $1 a $1 c"),
        ("ZDIFF 1 z WITHSCORES", "*3 *2 $1 b ,2 *2 $1 a ,2.5 *2 $1 c ,inf"),
        ("ZSCAN z 0 MATCH a", "*2 $1 0 *2 $1 a $3 2.5"),
        ("ZPOPMIN z", "*2 $1 b ,2"),
        ("ZPOPMIN z 1", "*1 *2 $1 a ,2.5"),
        ("ZRANDMEMBER z", "$1 c"),
        ("ZRANDMEMBER z 1", "*1 $1 c"),
        ("ZRANDMEMBER z 1 WITHSCORES", "*1 *2 $1 c ,inf"),
        ("ZMPOP 2 nothing z MAX", "*2 $1 z *1 *2 $1 c ,inf"),
        ("ZMPOP 1 z MAX", "_"),
        ("ZPOPMAX z", "*0"),
        ("ZRANDMEMBER z", "_"),
    ] {
        assert_eq!(console.call(request), reply, "{request}");
    }
}

#[test]
fn skiplist_is_no_skiplist() {
    let mut console = Console::new(Protocol::Resp2);
    for member in 0..128 {
        console.call(&format!("ZADD z 0 {member:03}"));
    }
    assert_eq!(console.call("OBJECT ENCODING z"), "$8 listpack");
    assert_eq!(console.call("ZADD z -0 128"), ":1");
    assert_eq!(console.call("OBJECT ENCODING z"), "$8 skiplist");
    // A set that has grown keeps the sign of zero, and its encoding when it shrinks.
    assert_eq!(console.call("ZSCORE z 128"), "$2 -0");
    assert_eq!(console.call("ZRANGE z -2 -1 WITHSCORES"), "*4 $3 127 $1 0 $3 128 $2 -0");
    assert_eq!(console.call("ZREMRANGEBYRANK z 1 -2"), ":127");
    assert_eq!(console.call("OBJECT ENCODING z"), "$8 skiplist");
    assert_eq!(console.call("ZUNIONSTORE z 1 z"), ":2");
    assert_eq!(console.call("OBJECT ENCODING z"), "$8 listpack");
    assert_eq!(console.call("ZSCORE z 128"), "$1 0");
}

#[test]
fn zscan_misses_members_whose_scores_change() {
    let mut console = Console::new(Protocol::Resp2);
    for member in 0..500 {
        console.call(&format!("ZADD z {member} m{member}"));
    }
    let mut seen = std::collections::HashSet::new();
    let mut cursor = "0".to_string();
    loop {
        let reply = console.call(&format!("ZSCAN z {cursor} COUNT 7"));
        // *2 $n cursor *n $n member $n score …
        let words: Vec<&str> = reply.split(' ').filter(|word| !word.starts_with(['$', '*'])).collect();
        let (next, members) = words.split_first().expect("a cursor");
        for pair in members.chunks(2) {
            seen.insert(pair[0].to_string());
            console.call(&format!("ZINCRBY z -1000 {}", pair[0]));
        }
        cursor = (*next).to_string();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(seen.len(), 500);
}

#[test]
fn random_members_repeat_or_are_never_picked() {
    let mut console = Console::new(Protocol::Resp2);
    for member in 0..200 {
        console.call(&format!("ZADD z {member} {member}"));
    }
    let members = |reply: &str| -> Vec<String> {
        reply.split(' ').filter(|word| !word.starts_with(['$', '*'])).map(str::to_string).collect()
    };
    let mut seen = std::collections::HashSet::new();
    for _ in 0..100 {
        let picked = members(&console.call("ZRANDMEMBER z 20"));
        let distinct: std::collections::HashSet<String> = picked.iter().cloned().collect();
        assert_eq!((picked.len(), distinct.len()), (20, 20));
        seen.extend(distinct);
        assert_eq!(members(&console.call("ZRANDMEMBER z -300")).len(), 300);
    }
    assert_eq!(seen.len(), 200);
    assert_eq!(console.call("ZRANDMEMBER z -2000000"), "-ERR value is out of range");
}
