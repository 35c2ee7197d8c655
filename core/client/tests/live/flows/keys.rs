//! Keys of any type: their names, times to live and properties.

use std::collections::HashSet;

use edgecask_client::{Client, Commands, ConnectionCommands, Result};

use super::{code, now_ms, now_seconds, strings};

cases! {
    every_type_has_its_name,
    unlink_and_del_count_what_was_there,
    exists_counts_every_mention,
    copies_of_keys,
    a_copy_in_another_database,
    a_key_moves_to_another_database,
    renaming,
    expiry_conditions,
    times_to_live,
    points_in_time_to_expire,
    touch_and_random_key,
    a_dump_is_restored,
    properties_of_objects,
    frequency_of_use,
    keys_by_pattern,
    sorting_by_values_elsewhere,
    databases_are_counted_and_emptied_alone,
}

async fn every_type_has_its_name(client: &Client) -> Result<()> {
    client.set("string", 42).await?;
    client.lpush("list", "foo").await?;
    client.sadd("set", "foo").await?;
    client.zadd("sorted set", [(1, "foo")]).await?;
    client.hset("hash", [("field", "foo")]).await?;
    client.cmd("XADD").args(["stream", "*", "field", "foo"]).await?;
    for (key, name) in [
        ("string", "string"),
        ("list", "list"),
        ("set", "set"),
        ("sorted set", "zset"),
        ("hash", "hash"),
        ("stream", "stream"),
        ("missing", "none"),
    ] {
        assert_eq!(client.type_(key).await?, name, "{key}");
    }
    Ok(())
}

async fn unlink_and_del_count_what_was_there(client: &Client) -> Result<()> {
    client.set("foo", 42).await?;
    assert_eq!(client.unlink("foo").await?, 1);
    client.mset([("foo", 42), ("bar", 42)]).await?;
    assert_eq!(client.unlink(["foo", "bar"]).await?, 2);
    assert_eq!(client.del("foo").await?, 0);
    client.mset([("a", 1), ("b", 2)]).await?;
    assert_eq!(client.del(vec!["a", "b", "missing"]).await?, 2);
    client.set("c", 1).await?;
    assert!(client.del("c").reply::<bool>().await?);
    assert!(!client.del("c").reply::<bool>().await?);
    Ok(())
}

async fn exists_counts_every_mention(client: &Client) -> Result<()> {
    client.set("foo", 1).await?;
    assert_eq!(client.exists(["foo", "foo", "missing"]).await?, 2);
    assert!(client.exists("foo").reply::<bool>().await?);
    assert!(!client.exists("missing").reply::<bool>().await?);
    Ok(())
}

async fn copies_of_keys(client: &Client) -> Result<()> {
    client.set("key1", "value1").await?;
    assert!(client.copy("key1", "key2").await?);
    assert_eq!(client.get("key2").reply::<String>().await?, "value1");
    assert!(!client.copy("missing", "key3").await?);
    assert_eq!(client.exists("key3").await?, 0);
    client.set("key4", "value4").await?;
    assert!(!client.copy("key1", "key4").await?, "there is a value already");
    assert_eq!(client.get("key4").reply::<String>().await?, "value4");
    assert!(client.copy("key1", "key4").replace().await?);
    assert_eq!(client.get("key4").reply::<String>().await?, "value1");
    client.rpush("list", [1, 2, 3]).await?;
    client.copy("list", "other").await?;
    client.rpush("list", 4).await?;
    assert_eq!(client.lrange("other", 0, -1).reply::<Vec<i64>>().await?, [1, 2, 3]);
    Ok(())
}

async fn a_copy_in_another_database(client: &Client) -> Result<()> {
    client.set("foo", "bar").ex(100).await?;
    assert!(client.copy("foo", "foo").db(3).await?);
    assert!(!client.copy("foo", "foo").db(3).await?);
    assert!(client.copy("foo", "foo").db(3).replace().await?);
    let third = client.connection().await?;
    third.select(3).await?;
    assert_eq!(third.get("foo").reply::<String>().await?, "bar");
    assert!(third.ttl("foo").await? > 90, "its time to live comes with it");
    Ok(())
}

async fn a_key_moves_to_another_database(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    assert!(client.move_("foo", 1).await?);
    assert_eq!(client.get("foo").await?, None);
    assert!(!client.move_("foo", 1).await?);
    let first = client.connection().await?;
    first.select(1).await?;
    assert_eq!(first.get("foo").reply::<String>().await?, "bar");
    client.swapdb(0, 1).await?;
    assert_eq!(client.get("foo").reply::<String>().await?, "bar");
    assert_eq!(first.get("foo").await?, None);
    Ok(())
}

async fn renaming(client: &Client) -> Result<()> {
    client.sadd(999_i64, [42, 123]).await?;
    client.rename(999_i64, b"set2").await?;
    assert_eq!(client.scard("set2").await?, 2);
    client.set("other", 1).await?;
    assert!(!client.renamenx("other", "set2").await?);
    assert!(client.renamenx("other", "free").await?);
    let error = client.rename("missing", "x").await.expect_err("no such key");
    assert!(error.to_string().contains("no such key"), "{error}");
    Ok(())
}

async fn expiry_conditions(client: &Client) -> Result<()> {
    client.set("foo", 1).await?;
    assert!(!client.expire("foo", 10).xx().await?, "it has no time to live");
    assert!(!client.expire("foo", 10).gt().await?, "for ever is longer");
    assert!(client.expire("foo", 100).nx().await?);
    assert!(!client.expire("foo", 50).nx().await?);
    assert!(!client.expire("foo", 50).gt().await?);
    assert!(client.expire("foo", 200).gt().await?);
    assert!(!client.expire("foo", 300).lt().await?);
    assert!(client.pexpire("foo", 50_000).lt().await?);
    assert!((40..=50).contains(&client.ttl("foo").await?));
    assert!(client.pexpire("foo", 90_000).xx().await?);
    assert!(!client.expire("missing", 10).await?);
    Ok(())
}

async fn times_to_live(client: &Client) -> Result<()> {
    client.set("foo", 1).await?;
    assert_eq!((client.ttl("foo").await?, client.pttl("foo").await?), (-1, -1));
    assert_eq!((client.ttl("missing").await?, client.pttl("missing").await?), (-2, -2));
    assert!(!client.persist("foo").await?, "it stays anyway");
    assert!(client.expire("foo", 60).await?);
    assert!((59_000..=60_000).contains(&client.pttl("foo").await?));
    assert!(client.persist("foo").await?);
    assert_eq!(client.expiretime("foo").await?, -1);
    assert_eq!(client.pexpiretime("missing").await?, -2);
    assert!(client.expire("foo", -1).await?, "a time that is over takes it away");
    assert_eq!(client.exists("foo").await?, 0);
    Ok(())
}

async fn points_in_time_to_expire(client: &Client) -> Result<()> {
    let now = now_seconds();
    client.set("foo", 1).await?;
    assert!(client.expireat("foo", now + 100).await?);
    assert_eq!(client.expiretime("foo").await?, now + 100);
    assert!(client.pexpireat("foo", now * 1000 + 54_321).lt().await?);
    assert_eq!(client.pexpiretime("foo").await?, now * 1000 + 54_321);
    assert!(client.pexpireat("foo", now_ms() - 1).await?);
    assert_eq!(client.exists("foo").await?, 0);
    Ok(())
}

async fn touch_and_random_key(client: &Client) -> Result<()> {
    assert_eq!(client.randomkey().await?, None);
    client.mset([("a", 1), ("b", 2)]).await?;
    assert_eq!(client.touch(["a", "b", "missing"]).await?, 2);
    let key = client.randomkey().await?.expect("there are keys");
    assert!(key == b"a" || key == b"b");
    Ok(())
}

async fn a_dump_is_restored(client: &Client) -> Result<()> {
    client.zadd("foo", [(1.5, "one"), (2.5, "two")]).await?;
    let dump = client.dump("foo").await?.expect("it is there");
    assert_eq!(client.dump("missing").await?, None);
    client.restore("bar", 100_000, &dump).await?;
    assert!((90..=100).contains(&client.ttl("bar").await?));
    assert_eq!(client.zscore("bar", "two").await?, Some(2.5));
    assert_eq!(code(&client.restore("bar", 0, &dump).await), "BUSYKEY");
    client.restore("bar", 0, &dump).replace().await?;
    assert_eq!(client.ttl("bar").await?, -1);
    let error = client.restore("baz", 0, "no dump").await.expect_err("it is none");
    assert!(error.to_string().contains("DUMP payload"), "{error}");
    Ok(())
}

async fn properties_of_objects(client: &Client) -> Result<()> {
    client.set("text", "object_value_str").await?;
    client.set("number", 42).await?;
    client.set("long", "x".repeat(100)).await?;
    for (key, encoding) in [("text", "embstr"), ("number", "int"), ("long", "raw")] {
        assert_eq!(client.object_encoding(key).await?.as_deref(), Some(encoding), "{key}");
    }
    assert!(client.object_idletime("text").await?.expect("a time") <= 1);
    assert_eq!(client.object_refcount("text").await?, Some(1));
    assert!(client.memory_usage("long").await?.is_some_and(|size_bytes| size_bytes > 0));
    assert_eq!(client.memory_usage("missing").await?, None);
    Ok(())
}

async fn frequency_of_use(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    let refused = client.object_freq("foo").await.expect_err("no such policy");
    assert!(refused.to_string().contains("LFU"), "{refused}");
    client.config_set([("maxmemory-policy", "allkeys-lfu")]).await?;
    client.get("foo").await?;
    let frequency = client.object_freq("foo").await;
    client.config_set([("maxmemory-policy", "noeviction")]).await?;
    assert_eq!(frequency?, Some(1));
    Ok(())
}

async fn keys_by_pattern(client: &Client) -> Result<()> {
    client.mset([("hello", 1), ("hallo", 2), ("hxllo", 3), ("other", 4)]).await?;
    let all: HashSet<String> = client.keys("h[ae]llo").reply().await?;
    assert_eq!(all, HashSet::from(["hello".to_owned(), "hallo".to_owned()]));
    assert_eq!(client.keys("h?llo").await?.len(), 3);
    assert_eq!(client.keys("none*").await?, Vec::<Vec<u8>>::new());
    Ok(())
}

async fn sorting_by_values_elsewhere(client: &Client) -> Result<()> {
    client.rpush("ids", [3, 1, 2]).await?;
    client.mset([("weight_1", 30), ("weight_2", 10), ("weight_3", 20)]).await?;
    client.mset([("name_1", "one"), ("name_2", "two")]).await?;
    assert_eq!(client.sort("ids").reply::<Vec<i64>>().await?, [1, 2, 3]);
    assert_eq!(client.sort("ids").desc().limit(0, 2).reply::<Vec<i64>>().await?, [3, 2]);
    assert_eq!(client.sort("ids").by("weight_*").reply::<Vec<i64>>().await?, [2, 3, 1]);
    let names: Vec<Option<String>> = client.sort("ids").get("name_*").reply().await?;
    assert_eq!(names, [Some("one".to_owned()), Some("two".to_owned()), None]);
    assert_eq!(client.sort("ids").store("sorted").await?, 3);
    assert_eq!(client.lrange("sorted", 0, -1).reply::<Vec<i64>>().await?, [1, 2, 3]);
    client.sadd("words", ["b", "c", "a"]).await?;
    assert!(client.sort("words").await.is_err(), "words are no numbers");
    let words: Vec<String> = client.sort_ro("words").alpha().reply().await?;
    assert_eq!(words, strings(["a", "b", "c"]));
    Ok(())
}

async fn databases_are_counted_and_emptied_alone(client: &Client) -> Result<()> {
    client.mset([("a", 1), ("b", 2)]).await?;
    let fifth = client.connection().await?;
    fifth.select(5).await?;
    fifth.set("c", 3).await?;
    assert_eq!((client.dbsize().await?, fifth.dbsize().await?), (2, 1));
    fifth.flushdb().await?;
    assert_eq!((client.dbsize().await?, fifth.dbsize().await?), (2, 0));
    fifth.set("c", 3).await?;
    client.flushall().await?;
    assert_eq!((client.dbsize().await?, fifth.dbsize().await?), (0, 0));
    let error = fifth.select(1_000_000).await.expect_err("no such database");
    assert!(error.to_string().contains("out of range"), "{error}");
    Ok(())
}
