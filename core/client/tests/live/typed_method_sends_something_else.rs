//! Methods of the typed API, one of each shape that the grammar has, in every home.

use std::collections::HashSet;

use edgecask_client::commands::words::{BeforeOrAfter, LeftOrRight};
use edgecask_client::{Build, Client, Commands, ConnectionCommands, HandMade, Trim, TrimTo};

use super::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_send_what_their_names_say_to_redis() {
    let server = Server::redis(&[]);
    check(&Client::connect(&server.url()).await.expect("a connection")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_send_what_their_names_say_to_edgecask_and_over_web_socket() {
    let server = Server::edgecask();
    for url in [server.url(), server.web_url()] {
        let client = Client::connect(&url).await.expect("a connection");
        client.flushall().await.expect("FLUSHALL");
        check(&client).await;
    }
}

#[cfg(feature = "embedded")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_send_what_their_names_say_to_a_store_in_this_process() {
    check(&Client::connect("edgecask:memory").await.expect("a store")).await;
}

async fn check(client: &Client) {
    assert!(client.set("key", "value").await.expect("SET"));
    assert!(!client.set("key", "other").nx().await.expect("SET NX"));
    assert_eq!(client.set("key", 1).get().ex(100).await.expect("SET GET"), Some(b"value".to_vec()));
    assert_eq!(client.get("key").reply::<own::Number>().await.expect("GET").0, 1);
    assert!((90..=100).contains(&client.ttl("key").await.expect("TTL")));
    assert_eq!(client.incrby("key", 41).await.expect("INCRBY"), 42);
    client.mset([("a", "1"), ("b", "2")]).await.expect("MSET");
    assert_eq!(client.mget(["a", "none"]).await.expect("MGET"), [Some(b"1".to_vec()), None]);
    assert_eq!(client.del(["a", "b"]).await.expect("DEL"), 2);
    assert_eq!(client.del("key").await.expect("DEL"), 1);

    assert_eq!(client.rpush("list", ["a", "b", "d"]).await.expect("RPUSH"), 3);
    assert_eq!(client.linsert("list", BeforeOrAfter::Before, "d", "c").await.expect("LINSERT"), 4);
    let moved = client.lmove("list", "other", LeftOrRight::Left, LeftOrRight::Right).await.expect("LMOVE");
    assert_eq!(moved, Some(b"a".to_vec()));
    assert_eq!(client.lpop("list").count(2).await.expect("LPOP"), Some(vec![b"b".to_vec(), b"c".to_vec()]));
    assert_eq!(
        client.blpop(["none", "list"], 1.0).await.expect("BLPOP"),
        Some((b"list".to_vec(), b"d".to_vec()))
    );
    assert_eq!(client.blpop("none", 0.01).await.expect("BLPOP"), None);

    assert_eq!(client.hset("hash", [("f", "1"), ("g", "2")]).await.expect("HSET"), 2);
    assert_eq!(client.hgetall("hash").reply::<Vec<(String, i64)>>().await.expect("HGETALL").len(), 2);
    let with_values = client.hrandfield("hash").count(10).withvalues().await.expect("HRANDFIELD");
    assert_eq!(with_values.len(), 2);

    assert_eq!(client.sadd("set", ["x", "y"]).await.expect("SADD"), 2);
    let members: HashSet<Vec<u8>> = client.smembers("set").await.expect("SMEMBERS");
    assert_eq!(members, HashSet::from([b"x".to_vec(), b"y".to_vec()]));
    assert!(client.sismember("set", "x").await.expect("SISMEMBER"));

    assert_eq!(client.zadd("zset", [(1.0, "one"), (2.5, "two")]).ch().await.expect("ZADD"), 2);
    assert_eq!(client.zadd("zset", [(1, "one")]).incr().await.expect("ZADD INCR"), Some(2.0));
    let scored = client.zrange("zset", 0, -1).withscores().await.expect("ZRANGE");
    assert_eq!(scored, [(b"one".to_vec(), 2.0), (b"two".to_vec(), 2.5)]);
    assert_eq!(client.zunion(["zset", "none"]).weights([2, 1]).await.expect("ZUNION").len(), 2);
    assert_eq!(client.zpopmin("zset").await.expect("ZPOPMIN"), [(b"one".to_vec(), 2.0)]);

    let id = client.xadd("stream", "*", [("field", "value")]).await.expect("XADD");
    let trim = Trim { to: TrimTo::MaxLen(10), roughly: true, limit: None };
    assert_eq!(
        client.xadd("no stream", "*", [("f", "v")]).nomkstream().trim(trim).await.expect("XADD"),
        None
    );
    let read = client.xread("stream", "0").count(10).block(10).await.expect("XREAD").expect("entries");
    assert_eq!((read[0].1[0].id.as_str(), read[0].1[0].get("field")), (id.as_str(), Some(&b"value"[..])));
    client.xgroup_create("stream", "group", "0").await.expect("XGROUP CREATE");
    let read = client.xreadgroup("group", "me", "stream", ">").await.expect("XREADGROUP").expect("entries");
    assert_eq!(read[0].1.len(), 1);
    assert_eq!(client.xack("stream", "group", &id).await.expect("XACK"), 1);

    client.geoadd("geo", [(13.36, 38.11, "Palermo"), (15.08, 37.5, "Catania")]).await.expect("GEOADD");
    let near =
        client.geosearch("geo", ("FROMLONLAT", 15, 37), ("BYRADIUS", 100, "km")).await.expect("GEOSEARCH");
    assert_eq!(near, [b"Catania".to_vec()]);

    let sum: i64 = client.eval("return ARGV[1] + #KEYS", ["a", "b"]).args(3).reply().await.expect("EVAL");
    assert_eq!(sum, 5);
    let bits =
        client.bitfield("bits").set("u8", 0, 255).get("u4", 0).incrby("u2", 100, 1).await.expect("BITFIELD");
    assert_eq!(bits, [0, 15, 1]);

    assert!(client.info().sections("server").await.expect("INFO").contains("redis_version"));
    let settings = client.config_get("maxmemory").await.expect("CONFIG GET");
    assert_eq!(settings, [("maxmemory".to_owned(), "0".to_owned())]);

    let connection = client.connection().await.expect("a connection");
    connection.select(3).await.expect("SELECT");
    connection.set("in three", 1).await.expect("SET");
    assert_eq!(connection.dbsize().await.expect("DBSIZE"), 1);
    drop(connection);
    assert_eq!(client.get("in three").await.expect("GET"), None, "the others stay where they were");

    let (first, second) =
        client.transaction((Build.incr("n"), Build.incr("n"))).await.expect("a transaction");
    assert_eq!((first, second), (1, 2));
}

mod own {
    use edgecask_client::{Event, FromReply, ReplyReader, Result};

    /// A type of a program's own.
    pub struct Number(pub i64);

    impl FromReply for Number {
        fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Number> {
            i64::from_event(event, reader).map(Number)
        }
    }
}
