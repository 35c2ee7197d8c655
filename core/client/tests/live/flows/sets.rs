//! Sets, and counting without keeping.

use std::collections::{BTreeSet, HashSet};

use edgecask_client::{Client, Commands, Result};

use super::code;

cases! {
    a_set_becomes_any_collection,
    membership,
    membership_of_several,
    arguments_of_mixed_types,
    unions_intersections_and_differences,
    results_that_are_stored,
    the_size_of_an_intersection,
    members_move_and_go,
    random_members,
    members_are_taken_away,
    distinct_values_are_counted,
    a_string_is_no_set,
}

fn of<const N: usize>(members: [&str; N]) -> HashSet<String> {
    members.map(str::to_owned).into()
}

async fn a_set_becomes_any_collection(client: &Client) -> Result<()> {
    assert_eq!(client.sadd("foo", [1, 2, 3]).await?, 3);
    assert_eq!(client.sadd("foo", [3, 2, 1]).await?, 0);
    let mut list: Vec<i32> = client.smembers("foo").reply().await?;
    list.sort_unstable();
    assert_eq!(list, [1, 2, 3]);
    assert_eq!(client.smembers("foo").reply::<HashSet<i32>>().await?, HashSet::from([1, 2, 3]));
    assert_eq!(client.smembers("foo").reply::<BTreeSet<i32>>().await?, BTreeSet::from([1, 2, 3]));
    assert!(client.smembers("missing").await?.is_empty());
    Ok(())
}

async fn membership(client: &Client) -> Result<()> {
    assert_eq!(client.sadd("foo", ["a"]).await?, 1);
    assert!(client.sismember("foo", "a").await?);
    assert!(!client.sismember("foo", "b").await?);
    assert!(!client.sismember("missing", "a").await?);
    assert_eq!(client.scard("foo").await?, 1);
    Ok(())
}

async fn membership_of_several(client: &Client) -> Result<()> {
    assert_eq!(client.sadd("foo", ["a", "b", "c"]).await?, 3);
    let each = client.smismember("foo", ["0", "a", "b", "c", "x"]).await?;
    assert_eq!(each, [false, true, true, true, false]);
    assert_eq!(client.smismember("missing", ["a"]).await?, [false]);
    Ok(())
}

async fn arguments_of_mixed_types(client: &Client) -> Result<()> {
    assert_eq!(client.sadd(b"set1", vec![5, 42]).await?, 2);
    assert_eq!(client.sadd(999_i64, HashSet::from([42, 123])).await?, 2);
    client.rename(999_i64, b"set2").await?;
    assert_eq!(client.sunionstore("res", [b"set1", b"set2"]).await?, 3);
    assert_eq!(
        client.sadd("set3", ("text", 1, 2.5, BTreeSet::from(['x', 'y']), Some(7), None::<i64>)).await?,
        6
    );
    assert_eq!(
        client.smembers("set3").reply::<HashSet<String>>().await?,
        of(["text", "1", "2.5", "x", "y", "7"])
    );
    Ok(())
}

async fn three_sets(client: &Client) -> Result<()> {
    client.sadd("s1", ["a", "b", "c"]).await?;
    client.sadd("s2", ["b", "c", "d"]).await?;
    client.sadd("s3", ["c", "e"]).await?;
    Ok(())
}

async fn unions_intersections_and_differences(client: &Client) -> Result<()> {
    three_sets(client).await?;
    let all = ["s1", "s2", "s3"];
    assert_eq!(client.sunion(all).reply::<HashSet<String>>().await?, of(["a", "b", "c", "d", "e"]));
    assert_eq!(client.sinter(all).reply::<HashSet<String>>().await?, of(["c"]));
    assert_eq!(client.sdiff(all).reply::<HashSet<String>>().await?, of(["a"]));
    assert!(client.sinter(["s1", "missing"]).await?.is_empty());
    assert_eq!(client.sdiff(["s1", "missing"]).await?.len(), 3);
    Ok(())
}

async fn results_that_are_stored(client: &Client) -> Result<()> {
    three_sets(client).await?;
    assert_eq!(client.sinterstore("out", ["s1", "s2"]).await?, 2);
    assert_eq!(client.smembers("out").reply::<HashSet<String>>().await?, of(["b", "c"]));
    assert_eq!(client.sdiffstore("out", ["s2", "s1"]).await?, 1);
    assert_eq!(client.smembers("out").reply::<HashSet<String>>().await?, of(["d"]));
    assert_eq!(client.sinterstore("out", ["s1", "missing"]).await?, 0);
    assert_eq!(client.exists("out").await?, 0, "an empty result takes the key away");
    Ok(())
}

async fn the_size_of_an_intersection(client: &Client) -> Result<()> {
    three_sets(client).await?;
    assert_eq!(client.sintercard(["s1", "s2"]).await?, 2);
    assert_eq!(client.sintercard(["s1", "s2"]).limit(1).await?, 1);
    assert_eq!(client.sintercard(["s1", "missing"]).await?, 0);
    Ok(())
}

async fn members_move_and_go(client: &Client) -> Result<()> {
    three_sets(client).await?;
    assert!(client.smove("s1", "s3", "a").await?);
    assert!(!client.smove("s1", "s3", "a").await?);
    assert_eq!(client.srem("s3", ["a", "c", "none"]).await?, 2);
    assert_eq!(client.smembers("s3").reply::<HashSet<String>>().await?, of(["e"]));
    assert_eq!(client.srem("s3", "e").await?, 1);
    assert_eq!(client.exists("s3").await?, 0);
    Ok(())
}

async fn random_members(client: &Client) -> Result<()> {
    client.sadd("foo", [1, 2, 3]).await?;
    assert!((1..=3).contains(&client.srandmember("foo").reply::<i64>().await?));
    assert_eq!(client.srandmember("foo").count(5).reply::<BTreeSet<i64>>().await?, BTreeSet::from([1, 2, 3]));
    assert_eq!(client.srandmember("foo").count(-10).await?.len(), 10);
    assert_eq!(client.srandmember("missing").await?, None);
    assert!(client.srandmember("missing").count(3).await?.is_empty());
    assert_eq!(client.scard("foo").await?, 3, "they are still there");
    Ok(())
}

async fn members_are_taken_away(client: &Client) -> Result<()> {
    client.sadd("foo", [1, 2, 3, 4]).await?;
    let one: i64 = client.spop("foo").reply().await?;
    let two: HashSet<i64> = client.spop("foo").count(2).reply().await?;
    assert_eq!((two.len(), client.scard("foo").await?), (2, 1));
    let last: i64 = client.spop("foo").reply().await?;
    assert_eq!(one + last + two.iter().sum::<i64>(), 10, "each came once");
    assert_eq!(client.spop("foo").await?, None);
    assert!(client.spop("foo").count(3).await?.is_empty());
    Ok(())
}

async fn distinct_values_are_counted(client: &Client) -> Result<()> {
    assert!(client.pfadd("one").elements(["a", "b", "c"]).await?);
    assert!(!client.pfadd("one").elements("a").await?);
    client.pfadd("two").elements(["c", "d"]).await?;
    assert_eq!(client.pfcount("one").await?, 3);
    assert_eq!(client.pfcount(["one", "two"]).await?, 4);
    client.pfmerge("both").sourcekeys(["one", "two"]).await?;
    assert_eq!(client.pfcount("both").await?, 4);
    Ok(())
}

async fn a_string_is_no_set(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    assert_eq!(code(&client.sadd("foo", 1).await), "WRONGTYPE");
    assert_eq!(code(&client.sunion(["foo", "missing"]).await), "WRONGTYPE");
    assert!(client.pfadd("foo").elements(1).await.is_err(), "it is no counter");
    Ok(())
}
