//! Hashes.

use std::collections::{BTreeMap, HashMap, HashSet};

use edgecask_client::{Client, Commands, Result};

use super::code;

cases! {
    a_hash_becomes_any_map,
    many_fields_at_once,
    pairs_of_a_plain_request,
    fields_as_a_tuple,
    numbers_in_fields,
    fields_come_and_go,
    a_field_that_is_new_only,
    names_and_values_alone,
    random_fields,
    lengths_of_fields,
    a_missing_hash_is_empty,
    a_string_is_no_hash,
}

const FOUR: [(&str, i64); 4] = [("f1", 1), ("f2", 2), ("f3", 4), ("f4", 8)];

async fn a_hash_becomes_any_map(client: &Client) -> Result<()> {
    assert_eq!(client.hset("foo", [("key_1", 1)]).await?, 1);
    assert_eq!(client.hset("foo", [("key_2", 2)]).await?, 1);
    let hashed: HashMap<String, i32> = client.hgetall("foo").reply().await?;
    assert_eq!(hashed, HashMap::from([("key_1".to_owned(), 1), ("key_2".to_owned(), 2)]));
    let ordered: BTreeMap<String, i32> = client.hgetall("foo").reply().await?;
    assert_eq!(ordered, BTreeMap::from([("key_1".to_owned(), 1), ("key_2".to_owned(), 2)]));
    let pairs: HashSet<(String, i32)> = client.hgetall("foo").reply().await?;
    assert_eq!(pairs, HashSet::from([("key_1".to_owned(), 1), ("key_2".to_owned(), 2)]));
    Ok(())
}

async fn many_fields_at_once(client: &Client) -> Result<()> {
    assert_eq!(client.hset("my_hash", FOUR).await?, 4);
    let all: Vec<(String, i64)> = client.hgetall("my_hash").reply().await?;
    let all: Vec<(&str, i64)> = all.iter().map(|(field, value)| (field.as_str(), *value)).collect();
    assert_eq!(all, FOUR, "a small hash keeps the order");
    assert_eq!(client.hset("my_hash", BTreeMap::from([("f4", 16), ("f5", 32)])).await?, 1, "one is new");
    client.hmset("my_hash", &HashMap::from([("f1", 0)])).await?;
    assert_eq!(client.hlen("my_hash").await?, 5);
    assert_eq!(client.hmget("my_hash", ["f1", "f4", "f5"]).reply::<Vec<i64>>().await?, [0, 16, 32]);
    Ok(())
}

async fn pairs_of_a_plain_request(client: &Client) -> Result<()> {
    client.cmd("HMSET").arg("my_key").args([("field_1", 42), ("field_2", 23)]).reply::<()>().await?;
    assert_eq!(client.hget("my_key", "field_1").reply::<i64>().await?, 42);
    assert_eq!(client.hget("my_key", "field_2").reply::<i64>().await?, 23);
    let map = BTreeMap::from([("a", 1), ("b", 2)]);
    assert_eq!(client.cmd("HSET").arg("other").args(&map).reply::<i64>().await?, 2);
    let back: BTreeMap<String, i64> = client.cmd("HGETALL").arg("other").reply().await?;
    assert!(back.iter().map(|(field, value)| (field.as_str(), *value)).eq(map));
    Ok(())
}

async fn fields_as_a_tuple(client: &Client) -> Result<()> {
    client.hset("my_hash", FOUR).await?;
    assert_eq!(client.hmget("my_hash", ["f2", "f4"]).reply::<(i32, i32)>().await?, (2, 8));
    let some: (Option<i32>, Option<i32>) = client.hmget("my_hash", ["f2", "none"]).reply().await?;
    assert_eq!(some, (Some(2), None));
    assert!(client.hmget("my_hash", ["f1"]).reply::<(i32, i32)>().await.is_err(), "one is no pair");
    Ok(())
}

async fn numbers_in_fields(client: &Client) -> Result<()> {
    client.hset("my_hash", FOUR).await?;
    assert_eq!(client.hincrby("my_hash", "f1", 1).await?, 2);
    assert_eq!(client.hincrby("my_hash", "f1", -5).await?, -3);
    assert_eq!(client.hincrbyfloat("my_hash", "f2", 1.5).reply::<f64>().await?, 3.5);
    assert_eq!(client.hincrby("my_hash", "new", 7).await?, 7);
    let error = client.hincrby("my_hash", "f2", 1).await.expect_err("3.5 is no integer");
    assert!(error.to_string().contains("not an integer"), "{error}");
    Ok(())
}

async fn fields_come_and_go(client: &Client) -> Result<()> {
    client.hset("my_hash", FOUR).await?;
    assert!(client.hexists("my_hash", "f2").await?);
    assert_eq!(client.hdel("my_hash", ["f1", "f2", "none"]).await?, 2);
    assert!(!client.hexists("my_hash", "f2").await?);
    assert_eq!(client.hdel("my_hash", ["f3", "f4"]).await?, 2);
    assert_eq!(client.exists("my_hash").await?, 0, "an empty hash is gone");
    Ok(())
}

async fn a_field_that_is_new_only(client: &Client) -> Result<()> {
    assert!(client.hsetnx("my_hash", "field", 1).await?);
    assert!(!client.hsetnx("my_hash", "field", 2).await?);
    assert_eq!(client.hget("my_hash", "field").reply::<Option<u16>>().await?, Some(1));
    Ok(())
}

async fn names_and_values_alone(client: &Client) -> Result<()> {
    client.hset("my_hash", FOUR).await?;
    assert_eq!(client.hkeys("my_hash").reply::<Vec<String>>().await?, ["f1", "f2", "f3", "f4"]);
    assert_eq!(client.hvals("my_hash").reply::<Vec<i64>>().await?, [1, 2, 4, 8]);
    Ok(())
}

async fn random_fields(client: &Client) -> Result<()> {
    client.hset("my_hash", FOUR).await?;
    let known: HashMap<&str, i64> = FOUR.into();
    let one: String = client.hrandfield("my_hash").reply().await?;
    assert!(known.contains_key(one.as_str()));
    let all: HashSet<String> = client.hrandfield("my_hash").count(10).reply().await?;
    assert_eq!(all.len(), 4);
    let again: Vec<String> = client.hrandfield("my_hash").count(-10).reply().await?;
    assert_eq!(again.len(), 10);
    let pairs: Vec<(String, i64)> = client.hrandfield("my_hash").count(-9).withvalues().reply().await?;
    assert_eq!(pairs.len(), 9);
    assert!(pairs.iter().all(|(field, value)| known.get(field.as_str()) == Some(value)), "{pairs:?}");
    assert_eq!(client.hrandfield("missing").await?, None);
    Ok(())
}

async fn lengths_of_fields(client: &Client) -> Result<()> {
    client.hset("my_hash", [("field", "value")]).await?;
    assert_eq!(client.hstrlen("my_hash", "field").await?, 5);
    assert_eq!(client.hstrlen("my_hash", "none").await?, 0);
    assert_eq!(client.hlen("missing").await?, 0);
    Ok(())
}

async fn a_missing_hash_is_empty(client: &Client) -> Result<()> {
    assert_eq!(client.hget("missing", "field").await?, None);
    assert!(client.hgetall("missing").await?.is_empty());
    assert!(client.hgetall("missing").reply::<HashMap<String, String>>().await?.is_empty());
    assert_eq!(client.hmget("missing", ["a", "b"]).await?, [None, None]);
    Ok(())
}

async fn a_string_is_no_hash(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    assert_eq!(code(&client.hset("foo", [("a", 1)]).await), "WRONGTYPE");
    assert_eq!(code(&client.hgetall("foo").await), "WRONGTYPE");
    assert_eq!(client.get("foo").reply::<String>().await?, "bar");
    Ok(())
}
