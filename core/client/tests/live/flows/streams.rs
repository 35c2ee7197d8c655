//! Streams without groups.

use std::collections::BTreeMap;
use std::time::Duration;

use edgecask_client::{Client, Commands, HandMade, Result, Trim, TrimTo, Value};

use super::{code, strings};

cases! {
    entries_of_several_streams,
    entries_of_a_map,
    the_server_chooses_ids,
    entries_come_by_length,
    a_stream_that_is_not_made,
    adding_trims,
    trimming,
    trimming_roughly,
    ranges,
    ranges_backwards,
    entries_are_deleted,
    the_state_of_a_stream,
    an_id_that_is_too_small,
    waiting_for_an_entry,
    entries_as_a_stream,
    the_last_id_is_set,
}

/// Entries as the flows of streams begin with.
pub async fn two_streams(client: &Client) -> Result<()> {
    for (key, id, field, value) in [
        ("k1", "1000-0", "hello", "world"),
        ("k1", "1000-1", "hello", "again"),
        ("k2", "2000-0", "hello", "world"),
        ("k2", "2000-1", "hello", "again"),
    ] {
        assert_eq!(client.xadd(key, id, [(field, value)]).await?, id);
    }
    Ok(())
}

/// So many entries with IDs of the server's choice.
pub async fn entries(client: &Client, key: &str, count: usize) -> Result<()> {
    for number in 0..count {
        client.xadd(key, "*", [("number", number)]).await?;
    }
    Ok(())
}

/// What XINFO says by a name.
pub fn figure<'a>(figures: &'a [(String, Value)], name: &str) -> &'a Value {
    let found = figures.iter().find(|(other, _)| other == name);
    found.map_or_else(|| panic!("no {name} in {figures:?}"), |(_, value)| value)
}

/// A string of a [`Value`].
pub fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

const fn exactly(to: TrimTo<'_>) -> Trim<'_> {
    Trim { to, roughly: false, limit: None }
}

async fn ten_entries(client: &Client) -> Result<()> {
    client.del("k1").await?;
    for number in 0..10 {
        client.xadd("k1", format!("1-{number}"), [("h", "w")]).await?;
    }
    Ok(())
}

async fn entries_of_several_streams(client: &Client) -> Result<()> {
    two_streams(client).await?;
    let read = client.xread(["k1", "k2", "k3"], ["0", "0", "0"]).await?.expect("entries");
    let keys: Vec<&[u8]> = read.iter().map(|(key, _)| key.as_slice()).collect();
    assert_eq!(keys, [b"k1", b"k2"], "one that is missing is left out");
    assert_eq!((read[0].1.len(), read[1].1.len()), (2, 2));
    assert_eq!((read[0].1[0].id.as_str(), read[1].1[0].id.as_str()), ("1000-0", "2000-0"));
    assert_eq!(read[0].1[0].get("hello"), Some(&b"world"[..]));
    assert_eq!(read[0].1[0].get("none"), None);
    assert_eq!(client.xread(["k1"], ["1000-1"]).await?, None, "there is nothing behind it");
    let read = client.xread(["k1"], ["1000-0"]).count(1).await?.expect("an entry");
    assert_eq!(read[0].1[0].get("hello"), Some(&b"again"[..]));
    Ok(())
}

async fn entries_of_a_map(client: &Client) -> Result<()> {
    let map = BTreeMap::from([("ab", "cd"), ("ef", "gh"), ("ij", "kl")]);
    client.xadd("k3", "3000-0", &map).await?;
    let all = client.xrange("k3", "-", "+").await?;
    for (field, value) in map {
        assert_eq!(all[0].get(field), Some(value.as_bytes()), "{field}");
    }
    type Typed = Vec<(String, BTreeMap<String, String>)>;
    let typed: Typed = client.xrange("k3", "-", "+").reply().await?;
    assert_eq!((typed[0].0.as_str(), typed[0].1["ef"].as_str()), ("3000-0", "gh"));
    Ok(())
}

async fn the_server_chooses_ids(client: &Client) -> Result<()> {
    let first = client.xadd("foo", "*", [("a", 1)]).await?;
    let second = client.xadd("foo", "*", [("a", 2)]).await?;
    let parts = |id: &str| {
        id.split_once('-').map(|(ms, number)| (ms.parse::<u64>().ok(), number.parse::<u64>().ok()))
    };
    assert!(parts(&first) < parts(&second), "{first} {second}");
    assert_eq!(client.xadd("bar", "5-*", [("a", 1)]).await?, "5-0");
    assert_eq!(client.xadd("bar", "5-*", [("a", 1)]).await?, "5-1");
    assert_eq!(client.xadd("bar", "7", [("a", 1)]).await?, "7-0");
    Ok(())
}

async fn entries_come_by_length(client: &Client) -> Result<()> {
    entries(client, "foo", 100).await?;
    assert_eq!(client.xlen("foo").await?, 100);
    client.xadd("foo", "*", [("h", "w")]).trim(exactly(TrimTo::MaxLen(10))).await?;
    assert_eq!(client.xlen("foo").await?, 10);
    assert_eq!(client.xlen("missing").await?, 0);
    for number in 0..10 {
        client.xadd("last", "*", [("number", number)]).trim(exactly(TrimTo::MaxLen(3))).await?;
    }
    let all = client.xrange("last", "-", "+").await?;
    let numbers: Vec<Option<&[u8]>> = all.iter().map(|entry| entry.get("number")).collect();
    assert_eq!(numbers, [Some(&b"7"[..]), Some(b"8"), Some(b"9")]);
    Ok(())
}

async fn a_stream_that_is_not_made(client: &Client) -> Result<()> {
    assert_eq!(client.xadd("k1", "*", [("h", "w")]).nomkstream().await?, None);
    let error = client.xinfo_stream("k1").await.expect_err("there is none");
    assert_eq!((error.code(), error.to_string().as_str()), (Some("ERR"), "ERR no such key"));
    client.xadd("k1", "1-0", [("h", "w")]).await?;
    assert_eq!(client.xadd("k1", "1-1", [("h", "w")]).nomkstream().await?.as_deref(), Some("1-1"));
    Ok(())
}

async fn adding_trims(client: &Client) -> Result<()> {
    for (to, length, first) in [(TrimTo::MaxLen(4), 4, "1-7"), (TrimTo::MinId("1-5"), 6, "1-5")] {
        ten_entries(client).await?;
        client.xadd("k1", "2-1", [("h", "w")]).trim(exactly(to)).await?;
        let all = client.xrange("k1", "-", "+").await?;
        assert_eq!((all.len(), all[0].id.as_str()), (length, first), "{to:?}");
    }
    client.xadd("k1", "3-1", BTreeMap::from([("ab", "cd"), ("ef", "gh")])).await?;
    let info = client.xinfo_stream("k1").await?;
    assert_eq!(figure(&info, "length"), &Value::Integer(7));
    assert_eq!(figure(&info, "last-generated-id"), &bulk("3-1"));
    Ok(())
}

async fn trimming(client: &Client) -> Result<()> {
    entries(client, "k1", 100).await?;
    assert_eq!(client.xtrim("k1", exactly(TrimTo::MaxLen(50))).await?, 50);
    assert_eq!(client.xtrim("k1", exactly(TrimTo::MaxLen(10))).await?, 40);
    assert_eq!(client.xtrim("k1", exactly(TrimTo::MaxLen(10))).await?, 0);
    for number in 1..100 {
        client.xadd("k2", format!("1-{number}"), [("h", "w")]).await?;
    }
    assert_eq!(client.xtrim("k2", exactly(TrimTo::MinId("1-26"))).await?, 25);
    assert_eq!(client.xtrim("k2", exactly(TrimTo::MinId("1-76"))).await?, 50);
    assert_eq!(client.xlen("k2").await?, 24);
    Ok(())
}

async fn trimming_roughly(client: &Client) -> Result<()> {
    entries(client, "k1", 300).await?;
    let trim = Trim { to: TrimTo::MaxLen(50), roughly: true, limit: Some(1000) };
    let removed = client.xtrim("k1", trim).await?;
    let length = client.xlen("k1").await?;
    assert!(length >= 50 && removed + length == 300, "{removed} of 300, {length} are left");
    let trim = Trim { to: TrimTo::MaxLen(50), roughly: false, limit: Some(10) };
    assert!(client.xtrim("k1", trim).await.is_err(), "LIMIT is for ~ only");
    Ok(())
}

async fn ranges(client: &Client) -> Result<()> {
    two_streams(client).await?;
    assert_eq!(client.xrange("k1", "-", "+").await?.len(), 2);
    assert_eq!(client.xrange("k1", "1000-1", "+").await?.len(), 1);
    assert_eq!(client.xrange("k1", "-", "1000-0").await?.len(), 1);
    assert_eq!(client.xrange("k1", "(1000-0", "+").await?[0].id, "1000-1");
    assert_eq!(client.xrange("k1", "1000", "1000").await?.len(), 2, "a time is all of its entries");
    assert_eq!(client.xrange("k1", "-", "+").count(1).await?.map(|page| page.len()), Some(1));
    assert!(client.xrange("missing", "-", "+").await?.is_empty());
    Ok(())
}

async fn ranges_backwards(client: &Client) -> Result<()> {
    two_streams(client).await?;
    let ids =
        |entries: Vec<edgecask_client::Entry>| entries.into_iter().map(|entry| entry.id).collect::<Vec<_>>();
    assert_eq!(ids(client.xrevrange("k1", "+", "-").await?), strings(["1000-1", "1000-0"]));
    assert_eq!(client.xrevrange("k1", "1000-1", "-").await?.len(), 2);
    assert_eq!(client.xrevrange("k1", "+", "1000-1").await?.len(), 1);
    let page = client.xrevrange("k1", "+", "-").count(1).await?.unwrap_or_default();
    assert_eq!(ids(page), strings(["1000-1"]));
    Ok(())
}

async fn entries_are_deleted(client: &Client) -> Result<()> {
    two_streams(client).await?;
    assert_eq!(client.xdel("k1", ["1000-0"]).await?, 1);
    assert_eq!(client.xdel("k2", ["2000-0", "2000-1", "2000-2"]).await?, 2);
    assert_eq!(client.exists("k2").await?, 1, "a stream stays without entries");
    assert_eq!(client.xlen("k2").await?, 0);
    Ok(())
}

async fn the_state_of_a_stream(client: &Client) -> Result<()> {
    two_streams(client).await?;
    client.xdel("k1", "1000-0").await?;
    let info = client.xinfo_stream("k1").await?;
    for (name, expected) in [
        ("length", Value::Integer(1)),
        ("groups", Value::Integer(0)),
        ("entries-added", Value::Integer(2)),
        ("last-generated-id", bulk("1000-1")),
        ("max-deleted-entry-id", bulk("1000-0")),
    ] {
        assert_eq!(figure(&info, name), &expected, "{name}");
    }
    let entry = Value::Array(vec![bulk("1000-1"), Value::Array(vec![bulk("hello"), bulk("again")])]);
    assert_eq!((figure(&info, "first-entry"), figure(&info, "last-entry")), (&entry, &entry));
    let full = client.xinfo_stream("k1").full().count(1).await?;
    assert_eq!(figure(&full, "entries"), &Value::Array(vec![entry]));
    Ok(())
}

async fn an_id_that_is_too_small(client: &Client) -> Result<()> {
    two_streams(client).await?;
    let error = client.xadd("k1", "999-0", [("h", "w")]).await.expect_err("it is behind the last");
    assert!(error.to_string().contains("equal or smaller"), "{error}");
    assert!(client.xadd("k1", "no id", [("h", "w")]).await.is_err());
    client.set("foo", "bar").await?;
    assert_eq!(code(&client.xadd("foo", "*", [("h", "w")]).await), "WRONGTYPE");
    Ok(())
}

async fn waiting_for_an_entry(client: &Client) -> Result<()> {
    assert_eq!(client.xread("foo", "$").block(20).await?, None);
    let (read, _) = tokio::join!(client.xread("foo", "$").block(10_000), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        client.xadd("foo", "1-1", [("late", "yes")]).await
    });
    let read = read?.expect("an entry");
    assert_eq!((read[0].0.as_slice(), read[0].1[0].id.as_str()), (&b"foo"[..], "1-1"));
    Ok(())
}

async fn entries_as_a_stream(client: &Client) -> Result<()> {
    entries(client, "foo", 150).await?;
    let mut stream = client.entries("foo", "0");
    for number in 0..160 {
        if number == 150 {
            entries(client, "foo", 10).await?;
        }
        let entry = stream.next().await?;
        let expected = if number < 150 { number } else { number - 150 };
        assert_eq!(entry.get("number"), Some(expected.to_string().as_bytes()), "of place {number}");
    }
    Ok(())
}

async fn the_last_id_is_set(client: &Client) -> Result<()> {
    two_streams(client).await?;
    client.xsetid("k1", "5000-0").entriesadded(10).maxdeletedid("1-1").await?;
    let info = client.xinfo_stream("k1").await?;
    assert_eq!(figure(&info, "last-generated-id"), &bulk("5000-0"));
    assert_eq!(figure(&info, "entries-added"), &Value::Integer(10));
    assert!(client.xsetid("k1", "1-0").await.is_err(), "entries are behind it");
    Ok(())
}
