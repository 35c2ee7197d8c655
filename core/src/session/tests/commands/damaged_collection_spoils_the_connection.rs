//! Damage has taken some subkeys of a collection and left the others, and salvage went on with these. A command that counts by one
//! part of the value and answers from another announces more elements than follow: the client waits for them, and takes
//! everything later for them.

use std::ops::ControlFlow;

use super::{Console, START_MS};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Engine, Overlay, Scope, SubWalk, Txn, Want};
use crate::resp::Value;

/// What the keys are before the damage.
const CONTENTS: &[&str] = &[
    "ZADD z 1 a 2 b 2 bb 3 c 4 d 5 e 6 f 7 g 7 h",
    "ZADD z2 1 a 3 c 9 x",
    "GEOADD geo 13.361389 38.115556 p 15.087269 37.502669 c 14.1 37.9 m 2.35 48.85 n",
    "HSET h a 1 b 2 c 3 d 4 e 5",
    "RPUSH l a b c d e f",
    "RPUSH numbers 5 3 4 1 2",
    "SADD s a b c d e f",
    "SADD s2 c d e x",
    "XADD x 1-1 f v",
    "XADD x 1-2 f v g w",
    "XADD x 2-1 f v",
    "XADD x 3-1 f v",
    "XADD x 4-1 f v",
    "XGROUP CREATE x group 0",
    "XGROUP CREATE x other 0",
    "XREADGROUP GROUP group one COUNT 2 STREAMS x >",
    "XREADGROUP GROUP group two COUNT 2 STREAMS x >",
    "XREADGROUP GROUP other one COUNT 3 STREAMS x >",
    "PFADD p a b c d e f",
    "PFADD p2 c d x",
    "SET film 0123456789abcdef0123456789abcdef",
    "SETRANGE film 3 xyz",
    "APPEND film more",
];

const KEYS: &[&str] = &["z", "z2", "geo", "h", "l", "numbers", "s", "s2", "x", "p", "p2", "film"];

/// Reads and writes of every kind.
const REQUESTS: &[&str] = &[
    "ZCARD z",
    "ZCOUNT z 2 5",
    "ZLEXCOUNT z - +",
    "ZRANGE z 0 -1",
    "ZRANGE z 0 -1 WITHSCORES",
    "ZRANGE z 0 -1 REV WITHSCORES",
    "ZRANGE z 2 7 BYSCORE LIMIT 1 3",
    "ZRANGE z - + BYLEX",
    "ZREVRANGE z 1 -2 WITHSCORES",
    "ZRANGEBYSCORE z (1 7 WITHSCORES LIMIT 0 4",
    "ZREVRANGEBYSCORE z +inf -inf",
    "ZRANGEBYLEX z [a [e",
    "ZREVRANGEBYLEX z + -",
    "ZRANK z c",
    "ZRANK z c WITHSCORE",
    "ZREVRANK z f",
    "ZSCORE z g",
    "ZMSCORE z a b c d e f g h i",
    "ZRANDMEMBER z",
    "ZRANDMEMBER z 4 WITHSCORES",
    "ZRANDMEMBER z 40",
    "ZRANDMEMBER z -20 WITHSCORES",
    "ZSCAN z 0",
    "ZSCAN z 0 MATCH * COUNT 3",
    "ZUNION 2 z z2 WITHSCORES",
    "ZINTER 2 z z2 WITHSCORES",
    "ZINTERCARD 2 z z2 LIMIT 1",
    "ZDIFF 2 z z2 WITHSCORES",
    "ZUNIONSTORE zd 2 z z2",
    "ZINTERSTORE zd 2 z z2 AGGREGATE MAX",
    "ZDIFFSTORE zd 2 z z2",
    "ZRANGESTORE zd z 0 -1",
    "ZADD z 2 a 8 n",
    "ZADD z GT CH 9 b 1 c",
    "ZADD z INCR 2 d",
    "ZADD z 4 e 3 f",
    "ZINCRBY z 3 g",
    "ZREM z a c e",
    "ZPOPMIN z",
    "ZPOPMIN z 3",
    "ZPOPMAX z 2",
    "ZMPOP 2 z z2 MIN COUNT 2",
    "BZPOPMIN z z2 0.01",
    "BZMPOP 0.01 1 z MAX COUNT 2",
    "ZREMRANGEBYRANK z 1 2",
    "ZREMRANGEBYSCORE z 3 4",
    "ZREMRANGEBYLEX z [b [c",
    "GEOPOS geo p c m n nobody",
    "GEOHASH geo p c m n",
    "GEODIST geo p c km",
    "GEOSEARCH geo FROMMEMBER p BYRADIUS 300 km ASC COUNT 3 WITHCOORD WITHDIST WITHHASH",
    "GEOSEARCH geo FROMLONLAT 14 38 BYBOX 400 400 km",
    "GEORADIUS geo 15 37 2000 km WITHDIST",
    "GEORADIUSBYMEMBER geo p 2000 km",
    "GEOSEARCHSTORE geod geo FROMLONLAT 14 38 BYRADIUS 500 km",
    "GEOADD geo 13.4 38.2 p 1 1 q",
    "HGETALL h",
    "HKEYS h",
    "HVALS h",
    "HLEN h",
    "HGET h a",
    "HMGET h a b c d e f",
    "HEXISTS h b",
    "HSTRLEN h c",
    "HRANDFIELD h",
    "HRANDFIELD h 3 WITHVALUES",
    "HRANDFIELD h -7 WITHVALUES",
    "HSCAN h 0",
    "HSCAN h 0 COUNT 2",
    "HSET h a 9 z 1",
    "HSETNX h b 1",
    "HINCRBY h c 4",
    "HINCRBYFLOAT h d 0.5",
    "HDEL h a b",
    "LRANGE l 0 -1",
    "LRANGE l -3 2",
    "LLEN l",
    "LINDEX l 2",
    "LINDEX l -1",
    "LPOS l d RANK -1",
    "LPOS l a COUNT 0",
    "LINSERT l BEFORE c x",
    "LINSERT l AFTER f y",
    "LSET l 1 z",
    "LSET l -1 w",
    "LPOP l",
    "RPOP l 2",
    "LPUSH l n",
    "RPUSHX l m",
    "LREM l 0 b",
    "LTRIM l 0 3",
    "LMOVE l numbers LEFT RIGHT",
    "RPOPLPUSH l l",
    "LMPOP 2 l numbers LEFT COUNT 2",
    "BLPOP l 0.01",
    "BLMOVE l numbers LEFT LEFT 0.01",
    "SORT numbers",
    "SORT numbers BY w_* GET # GET k_*->f ALPHA DESC LIMIT 0 3",
    "SORT z",
    "SORT z ALPHA LIMIT 1 2",
    "SORT z BY nosort DESC",
    "SORT s ALPHA STORE sorted",
    "SORT_RO s BY nosort LIMIT 0 2",
    "SMEMBERS s",
    "SCARD s",
    "SISMEMBER s a",
    "SMISMEMBER s a b c",
    "SRANDMEMBER s",
    "SRANDMEMBER s 3",
    "SRANDMEMBER s -9",
    "SSCAN s 0",
    "SUNION s s2",
    "SINTER s s2",
    "SINTERCARD 2 s s2",
    "SDIFF s s2",
    "SUNIONSTORE sd s s2",
    "SADD s a y",
    "SREM s a b",
    "SMOVE s s2 c",
    "SPOP s",
    "SPOP s 2",
    "XLEN x",
    "XRANGE x - +",
    "XREVRANGE x + - COUNT 3",
    "XREAD COUNT 3 STREAMS x 0",
    "XREAD BLOCK 10 STREAMS x $",
    "XINFO STREAM x",
    "XINFO STREAM x FULL",
    "XINFO GROUPS x",
    "XINFO CONSUMERS x group",
    "XPENDING x group",
    "XPENDING x other",
    "XPENDING x group - + 10",
    "XPENDING x group - + 10 two",
    "XREADGROUP GROUP group one STREAMS x 0",
    "XREADGROUP GROUP group two STREAMS x 0",
    "XREADGROUP GROUP group one COUNT 2 STREAMS x >",
    "XREADGROUP GROUP other three BLOCK 10 STREAMS x >",
    "XCLAIM x group one 0 1-1 1-2 2-1 3-1",
    "XCLAIM x group two 0 1-1 3-1 FORCE JUSTID",
    "XAUTOCLAIM x group one 0 0",
    "XAUTOCLAIM x other two 0 0 COUNT 2 JUSTID",
    "XACK x group 1-1 2-1",
    "XACK x other 1-1 1-2 3-1",
    "XADD x * f v",
    "XADD x 9-1 f v g w",
    "XADD x 4-1 f again",
    "XADD x MAXLEN 3 * f v",
    "XADD x NOMKSTREAM MINID ~ 2 * f v",
    "XDEL x 1-2 3-1",
    "XTRIM x MAXLEN 2",
    "XTRIM x MAXLEN ~ 1",
    "XSETID x 99-1",
    "XGROUP CREATE x third $",
    "XGROUP CREATECONSUMER x group four",
    "XGROUP DELCONSUMER x group one",
    "XGROUP SETID x other 1-1",
    "XGROUP DESTROY x group",
    "PFCOUNT p",
    "PFCOUNT p p2",
    "PFADD p x y z",
    "PFMERGE pd p p2",
    "GET film",
    "STRLEN film",
    "GETRANGE film 2 20",
    "SETRANGE film 30 tail",
    "APPEND film more",
    "BITCOUNT film",
    "BITPOS film 0",
    "GETBIT film 9",
    "SETBIT film 9 1",
    "BITOP NOT bits film",
    "BITFIELD film GET u8 0 SET u8 8 1",
    "LCS film film LEN",
    "COPY {key} copy REPLACE",
    "DUMP {key}",
    "OBJECT ENCODING {key}",
    "OBJECT FREQ {key}",
    "OBJECT IDLETIME {key}",
    "TYPE {key}",
    "MEMORY USAGE {key}",
    "DEBUG DIGEST-VALUE {key}",
    "RENAME {key} renamed",
    "RENAME renamed {key}",
    "DEBUG DIGEST",
    "SCAN 0 COUNT 100",
    "DBSIZE",
    "KEYS *",
    "RANDOMKEY",
    "MULTI",
    "ZRANGE z 0 -1",
    "ZPOPMIN z 2",
    "XPENDING x group - + 10",
    "HGETALL h",
    "EXEC",
];

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// Takes each subkey of a key with this chance in percent; the root stays.
fn damage(engine: &MemoryEngine, key: &[u8], percent: u32, random: &mut fastrand::Rng) {
    let mut snapshot = engine.begin(Scope::Keys(&[key])).expect("begin");
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut snapshot, &mut overlay, START_MS);
    let mut taken: Vec<Vec<u8>> = Vec::new();
    txn.sub_scan(0, key, SubWalk::all(Want::Subkeys), &mut |subkey, _| {
        if random.u32(..100) < percent {
            taken.push(subkey.to_vec());
        }
        ControlFlow::Continue(())
    })
    .expect("readable");
    for subkey in taken {
        assert!(txn.sub_remove(0, key, &subkey).expect("removable"));
    }
    engine.commit(snapshot, &mut overlay, START_MS, &mut |_| {}).expect("commit");
}

fn damaged_console(seed: u64, random: &mut fastrand::Rng) -> Console<MemoryEngine> {
    let mut console = Console::new(MemoryEngine::new(16));
    let config = "CONFIG SET blob-min-bytes 16";
    assert_eq!(console.call(1, &words(config)), Value::Simple(b"OK".to_vec()), "{config}");
    for line in CONTENTS {
        let reply = console.call(1, &words(line));
        assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    }
    let percent = random.u32(1..60);
    for key in KEYS {
        damage(&console.server.engine, key.as_bytes(), percent, random);
    }
    if seed % 2 == 1 {
        console.call(1, &words("HELLO 3"));
    }
    console
}

/// [`Console::call`] asserts that the reply is exactly one value.
#[test]
fn reply_about_a_damaged_collection_is_not_one_value() {
    for seed in 0..150 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut console = damaged_console(seed, &mut random);
        let mut requests: Vec<&str> = REQUESTS.to_vec();
        // The last few are one transaction.
        let shuffled = requests.len() - 6;
        random.shuffle(&mut requests[..shuffled]);
        for line in requests {
            let key = KEYS[random.usize(..KEYS.len())];
            let line = line.replace("{key}", key);
            println!("seed {seed}: {line}");
            let reply = console.call(1, &words(&line));
            if let Value::Error(text) = reply {
                let text = String::from_utf8_lossy(&text).into_owned();
                assert!(!text.contains("unknown command"), "{text}");
            }
        }
    }
}

/// The symptom that was found: ZCARD counts half of the subkeys, and ranges are computed from it.
#[test]
fn range_of_a_sorted_set_announces_more_than_follow() {
    let mut console = Console::new(MemoryEngine::new(1));
    console.call(1, &words("ZADD z 1 a 2 b 3 c 4 d"));
    let engine = &console.server.engine;
    let mut snapshot = engine.begin(Scope::Keys(&[b"z"])).expect("begin");
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut snapshot, &mut overlay, START_MS);
    let mut scored: Vec<Vec<u8>> = Vec::new();
    txn.sub_scan(0, b"z", SubWalk::all(Want::Subkeys), &mut |subkey, _| {
        scored.extend(subkey.starts_with(b"s").then(|| subkey.to_vec()));
        ControlFlow::Continue(())
    })
    .expect("readable");
    for subkey in &scored[..2] {
        assert!(txn.sub_remove(0, b"z", subkey).expect("removable"));
    }
    engine.commit(snapshot, &mut overlay, START_MS, &mut |_| {}).expect("commit");
    let before = console.call(1, &words("DEBUG DIGEST-VALUE z"));
    for line in ["ZRANGE z 0 -1", "ZPOPMIN z 3"] {
        let Value::Error(text) = console.call(1, &words(line)) else { panic!("{line} finds nothing wrong") };
        let text = String::from_utf8(text).expect("text");
        assert!(text.starts_with("ERR the value of \"z\" is damaged: "), "{line}: {text}");
    }
    assert_eq!(
        console.call(1, &words("DEBUG DIGEST-VALUE z")),
        before,
        "a command with an error changes nothing"
    );
}
