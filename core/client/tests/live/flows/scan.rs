//! Walks over keys and elements.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::ready;

use edgecask_client::{Build, Client, Commands, Error, Event, FromReply, Pipeline, ReplyReader, Result};
use futures_util::{StreamExt, TryStreamExt};

cases! {
    one_page_by_hand,
    every_member_comes,
    every_key_comes,
    a_key_that_is_no_text,
    a_type_of_ones_own,
    fields_that_match,
    keys_by_pattern_count_and_type,
    pairs_of_a_hash,
    members_with_scores,
    a_walk_of_nothing,
    a_walk_over_the_wrong_type,
    a_walk_is_a_stream,
    strings_are_folded,
}

async fn one_page_by_hand(client: &Client) -> Result<()> {
    client.sadd("foo", [1, 2, 3]).await?;
    let (cursor, mut members): (i32, Vec<i32>) = client.sscan("foo", 0).reply().await?;
    members.sort_unstable();
    assert_eq!((cursor, members), (0, vec![1, 2, 3]));
    let (cursor, page): (u64, Vec<String>) =
        client.scan(0).match_("f*").count(100).type_("set").reply().await?;
    assert_eq!((cursor, page), (0, vec!["foo".to_owned()]));
    client.zadd("zset", [(1.5, "m")]).await?;
    let (_, scores): (u64, Vec<(String, f64)>) = client.zscan("zset", 0).reply().await?;
    assert_eq!(scores, [("m".to_owned(), 1.5)]);
    Ok(())
}

async fn every_member_comes(client: &Client) -> Result<()> {
    client.sadd("foo", (0..1000).collect::<Vec<i64>>()).await?;
    let (mut members, mut seen) = (client.scan_members("foo").reply::<i64>(), HashSet::new());
    while let Some(member) = members.next().await {
        seen.insert(member?);
    }
    assert_eq!(seen, (0..1000).collect::<HashSet<i64>>());
    Ok(())
}

async fn keys(client: &Client, names: impl Iterator<Item = String>) -> Result<()> {
    let mut pipeline = Pipeline::new();
    names.for_each(|name| {
        pipeline.add(Build.set(name, "foo"));
    });
    client.run(&pipeline).await?;
    Ok(())
}

async fn every_key_comes(client: &Client) -> Result<()> {
    let expected: HashSet<String> = (0..1000).map(|number| format!("key.{number}")).collect();
    keys(client, expected.iter().cloned()).await?;
    client.set("other", 1).await?;
    for count in [1, 10, 5000] {
        let mut walk = client.scan_keys().matching("key*").count(count).reply::<String>();
        let mut seen = HashSet::new();
        while let Some(key) = walk.next().await {
            seen.insert(key?);
        }
        assert_eq!(seen, expected, "COUNT {count}");
    }
    Ok(())
}

async fn a_key_that_is_no_text(client: &Client) -> Result<()> {
    keys(client, (0..50).map(|number| format!("foo{number}"))).await?;
    client.set(b"\xc3\x28", "invalid").await?;
    let mut bytes = client.scan_keys();
    let mut count = 0;
    while let Some(key) = bytes.next().await {
        key?;
        count += 1;
    }
    assert_eq!(count, 51, "bytes are bytes");
    let (mut texts, mut errors) = (client.scan_keys().count(1).reply::<String>(), Vec::new());
    while let Some(key) = texts.next().await {
        errors.extend(key.err());
    }
    assert!(matches!(errors[..], [Error::Type { .. }]), "the walk ends with one error: {errors:?}");
    Ok(())
}

/// A key of this program.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Number(u32);

impl FromReply for Number {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Number> {
        let text = String::from_event(event, reader)?;
        let number = text.strip_prefix("key:").and_then(|number| number.parse().ok());
        number.map(Number).ok_or(Error::Type { expected: "key:NUMBER".into(), found: text.into() })
    }
}

async fn a_type_of_ones_own(client: &Client) -> Result<()> {
    keys(client, (0..100).map(|number| format!("key:{number}"))).await?;
    let (mut walk, mut seen) = (client.scan_keys().reply::<Number>(), HashSet::new());
    while let Some(key) = walk.next().await {
        seen.insert(key?);
    }
    assert_eq!(seen.len(), 100);
    client.set("NOPE", 1).await?;
    let (mut walk, mut error) = (client.scan_keys().count(1000).reply::<Number>(), None);
    while let Some(key) = walk.next().await {
        error = key.err();
    }
    assert!(error.expect("an error").to_string().contains("NOPE"));
    Ok(())
}

async fn fields_that_match(client: &Client) -> Result<()> {
    let fields = (0..3000).map(|number| (format!("key_{}_{number}", number % 100), number));
    client.hset("foo", fields).await?;
    let (mut walk, mut seen) =
        (client.scan_fields("foo").matching("key_0_*").reply::<(String, u32)>(), HashSet::new());
    while let Some(pair) = walk.next().await {
        let (field, number) = pair?;
        assert!(field.starts_with("key_0_"), "{field}");
        seen.insert(number);
    }
    assert_eq!(seen, (0..3000).filter(|number| number % 100 == 0).collect());
    Ok(())
}

async fn keys_by_pattern_count_and_type(client: &Client) -> Result<()> {
    keys(client, (0..20).flat_map(|number| [format!("test/{number}"), format!("other/{number}")])).await?;
    client.hset("test-hash", [("field", "value")]).await?;
    for (walk, expected) in [
        (client.scan_keys().count(20).matching("test/*"), 20),
        (client.scan_keys(), 41),
        (client.scan_keys().of_type("string"), 40),
        (client.scan_keys().of_type("hash"), 1),
        (client.scan_keys().of_type("hash").matching("test/*"), 0),
    ] {
        let keys: Vec<Vec<u8>> = walk.try_collect().await?;
        assert_eq!(keys.into_iter().collect::<HashSet<_>>().len(), expected);
    }
    Ok(())
}

async fn pairs_of_a_hash(client: &Client) -> Result<()> {
    let map = HashMap::from([("one", 1), ("two", 2), ("three", 3)]);
    client.hset("foo", &map).await?;
    let walk = client.scan_fields("foo").reply::<(String, i32)>();
    let pairs: HashMap<String, i32> = walk.try_collect::<Vec<_>>().await?.into_iter().collect();
    assert_eq!(pairs, map.into_iter().map(|(field, number)| (field.to_owned(), number)).collect());
    Ok(())
}

async fn members_with_scores(client: &Client) -> Result<()> {
    client.zadd("foo", (0..500).map(|number| (number, format!("m{number}")))).await?;
    let walk = client.scan_scores("foo").count(50);
    let all: BTreeMap<Vec<u8>, f64> = walk.try_collect::<Vec<_>>().await?.into_iter().collect();
    assert_eq!((all.len(), all.values().sum::<f64>()), (500, 124_750.0));
    Ok(())
}

async fn a_walk_of_nothing(client: &Client) -> Result<()> {
    assert!(client.scan_keys().next().await.is_none());
    let mut missing = client.scan_members("missing");
    assert!(missing.next().await.is_none() && missing.next().await.is_none());
    Ok(())
}

async fn a_walk_over_the_wrong_type(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    let mut walk = client.scan_members("foo");
    assert_eq!(walk.next().await.expect("an error").expect_err("no set").code(), Some("WRONGTYPE"));
    assert!(walk.next().await.is_none(), "the walk is over");
    Ok(())
}

async fn a_walk_is_a_stream(client: &Client) -> Result<()> {
    keys(client, (0..300).map(|number| format!("key.{number}"))).await?;
    let walk = client.scan_keys().reply::<String>();
    let long = walk.filter_map(|key| ready(key.ok().filter(|key| key.len() == 7)));
    assert_eq!(long.collect::<HashSet<String>>().await.len(), 200);
    Ok(())
}

async fn strings_are_folded(client: &Client) -> Result<()> {
    client.mset([("a", 1), ("b", 20), ("c", 300)]).await?;
    client.rpush("a list", 1).await?;
    let sum = client.fold(0, |sum, _key, value| sum + value.len()).await?;
    assert_eq!(sum, 6);
    Ok(())
}
