//! Sorted sets.

use std::collections::HashMap;
use std::time::Duration;

use edgecask_client::commands::words::{MinOrMax, SumOrMinOrMax};
use edgecask_client::{Client, Commands, Result};

use super::{code, strings};

cases! {
    ranges_with_scores_as_pairs,
    intersections_with_weights,
    unions_with_weights,
    combinations_that_are_not_stored,
    differences,
    ranges_by_name_are_removed,
    random_members,
    adding_only_what_is_new,
    updating_only_what_is_there,
    updating_only_in_one_direction,
    adding_counts_changes_if_asked,
    adding_increments_if_asked,
    scores_are_incremented,
    ranks_and_scores,
    ranges_by_score_and_by_rank,
    ranges_by_name,
    ranges_are_stored_and_removed,
    the_least_and_the_greatest_are_taken,
    waiting_for_the_least_and_the_greatest,
    several_sets_at_once,
    infinite_scores,
    a_list_is_no_sorted_set,
}

type Scored = Vec<(String, f64)>;

fn scored<const N: usize>(pairs: [(&str, f64); N]) -> Scored {
    pairs.map(|(member, score)| (member.to_owned(), score)).to_vec()
}

async fn all(client: &Client, key: &str) -> Result<Scored> {
    client.zrange(key, 0, -1).withscores().reply().await
}

async fn ranges_with_scores_as_pairs(client: &Client) -> Result<()> {
    assert_eq!(client.zadd("my_zset", [(1, "one")]).await?, 1);
    assert_eq!(client.zadd("my_zset", [(2, "two")]).await?, 1);
    let range = || client.zrangebyscore("my_zset", 0, 10).withscores();
    assert_eq!(range().reply::<Scored>().await?, scored([("one", 1.0), ("two", 2.0)]));
    assert_eq!(range().reply::<HashMap<String, f64>>().await?["two"], 2.0);
    assert_eq!(client.del("my_zset").await?, 1);
    assert!(range().await?.is_empty());
    Ok(())
}

async fn two_sets(client: &Client) -> Result<()> {
    client.zadd("zset1", [(1, "one"), (2, "two"), (4, "four")]).await?;
    client.zadd("zset2", [(1, "one"), (2, "two"), (3, "three")]).await?;
    Ok(())
}

async fn intersections_with_weights(client: &Client) -> Result<()> {
    two_sets(client).await?;
    let both = || client.zinterstore("out", ["zset1", "zset2"]).weights([2, 3]);
    assert_eq!(both().await?, 2);
    assert_eq!(all(client, "out").await?, scored([("one", 5.0), ("two", 10.0)]));
    assert_eq!(both().aggregate(SumOrMinOrMax::Min).await?, 2);
    assert_eq!(all(client, "out").await?, scored([("one", 2.0), ("two", 4.0)]));
    assert_eq!(both().aggregate(SumOrMinOrMax::Max).await?, 2);
    assert_eq!(all(client, "out").await?, scored([("one", 3.0), ("two", 6.0)]));
    Ok(())
}

async fn unions_with_weights(client: &Client) -> Result<()> {
    client.zadd("zset1", [(1, "one"), (2, "two")]).await?;
    client.zadd("zset2", [(1, "one"), (2, "two"), (3, "three")]).await?;
    let both = || client.zunionstore("out", ["zset1", "zset2"]).weights([2, 3]);
    assert_eq!(both().await?, 3);
    assert_eq!(all(client, "out").await?, scored([("one", 5.0), ("three", 9.0), ("two", 10.0)]));
    assert_eq!(both().aggregate(SumOrMinOrMax::Min).await?, 3);
    assert_eq!(all(client, "out").await?, scored([("one", 2.0), ("two", 4.0), ("three", 9.0)]));
    assert_eq!(both().aggregate(SumOrMinOrMax::Max).await?, 3);
    assert_eq!(all(client, "out").await?, scored([("one", 3.0), ("two", 6.0), ("three", 9.0)]));
    assert_eq!(client.zunionstore("out", ["zset1", "zset2"]).weights([0.5, 1.5]).await?, 3);
    assert_eq!(all(client, "out").await?, scored([("one", 2.0), ("two", 4.0), ("three", 4.5)]));
    Ok(())
}

async fn combinations_that_are_not_stored(client: &Client) -> Result<()> {
    two_sets(client).await?;
    let union: Scored = client.zunion(["zset1", "zset2"]).withscores().reply().await?;
    assert_eq!(union, scored([("one", 2.0), ("three", 3.0), ("four", 4.0), ("two", 4.0)]));
    let names: Vec<String> = client.zinter(["zset1", "zset2"]).reply().await?;
    assert_eq!(names, strings(["one", "two"]));
    let inter = client.zinter(["zset1", "zset2"]).weights([10, 1]).aggregate(SumOrMinOrMax::Max).withscores();
    assert_eq!(inter.reply::<Scored>().await?, scored([("one", 10.0), ("two", 20.0)]));
    assert_eq!(client.zintercard(["zset1", "zset2"]).await?, 2);
    assert_eq!(client.zintercard(["zset1", "zset2"]).limit(1).await?, 1);
    Ok(())
}

async fn differences(client: &Client) -> Result<()> {
    two_sets(client).await?;
    assert_eq!(client.zdiff(["zset1", "zset2"]).reply::<Vec<String>>().await?, ["four"]);
    let with_scores: Scored = client.zdiff(["zset2", "zset1"]).withscores().reply().await?;
    assert_eq!(with_scores, scored([("three", 3.0)]));
    assert_eq!(client.zdiffstore("out", ["zset1", "missing"]).await?, 3);
    assert_eq!(client.zcard("out").await?, 3);
    Ok(())
}

async fn six_names(client: &Client) -> Result<()> {
    let names = ["apple", "banana", "carrot", "durian", "eggplant", "grapes"];
    assert_eq!(client.zadd("names", names.map(|name| (0, name))).await?, 6);
    Ok(())
}

async fn ranges_by_name_are_removed(client: &Client) -> Result<()> {
    six_names(client).await?;
    assert_eq!(client.zremrangebylex("names", "[banana", "[eggplant").await?, 4);
    assert_eq!(client.zrange("names", 0, -1).reply::<Vec<String>>().await?, ["apple", "grapes"]);
    Ok(())
}

async fn random_members(client: &Client) -> Result<()> {
    client.zadd("foo", [(1, "one")]).await?;
    assert_eq!(client.zrandmember("foo").reply::<String>().await?, "one");
    for count in [1, 2] {
        assert_eq!(client.zrandmember("foo").count(count).reply::<Vec<String>>().await?, ["one"]);
    }
    client.zadd("foo", [(2, "two"), (3, "three"), (4, "four"), (5, "five")]).await?;
    for (count, length) in [(5, 5), (-5, 5), (9, 5), (-9, 9)] {
        let members: Vec<String> = client.zrandmember("foo").count(count).reply().await?;
        assert_eq!(members.len(), length, "COUNT {count}");
        let pairs: Scored = client.zrandmember("foo").count(count).withscores().reply().await?;
        assert_eq!(pairs.len(), length, "COUNT {count} WITHSCORES");
        assert!(pairs.iter().all(|(_, score)| (1.0..=5.0).contains(score)), "{pairs:?}");
    }
    assert_eq!(client.zrandmember("missing").await?, None);
    Ok(())
}

async fn adding_only_what_is_new(client: &Client) -> Result<()> {
    assert_eq!(client.zadd("1", [(1, "1a")]).nx().await?, 1);
    assert_eq!(client.zscore("1", "1a").await?, Some(1.0));
    assert_eq!(client.zadd("1", [(100, "1a")]).nx().await?, 0);
    assert_eq!(client.zscore("1", "1a").await?, Some(1.0));
    Ok(())
}

async fn updating_only_what_is_there(client: &Client) -> Result<()> {
    client.zadd("1", [(1, "1a")]).await?;
    assert_eq!(client.zadd("1", [(5, "1a")]).xx().await?, 0, "none is new");
    assert_eq!(client.zscore("1", "1a").await?, Some(5.0));
    assert_eq!(client.zadd("1", [(5, "1b")]).xx().await?, 0);
    assert_eq!(client.zscore("1", "1b").await?, None);
    assert_eq!(client.zadd("1", [(6, "1a")]).xx().ch().await?, 1);
    assert_eq!(client.zadd("1", [(5, "1b")]).xx().ch().await?, 0);
    assert_eq!(client.zcard("1").await?, 1);
    Ok(())
}

async fn updating_only_in_one_direction(client: &Client) -> Result<()> {
    client.zadd("1", [(6, "1a")]).await?;
    for (score, is_less, then) in
        [(10, true, 6.0), (1, true, 1.0), (0, false, 1.0), (5, false, 5.0), (7, true, 5.0)]
    {
        let adding = client.zadd("1", [(score, "1a")]).xx();
        let adding = if is_less { adding.lt() } else { adding.gt() };
        assert_eq!(adding.await?, 0, "{score}");
        assert_eq!(client.zscore("1", "1a").await?, Some(then), "after {score}");
    }
    assert_eq!(client.zadd("1", [(1, "new")]).gt().await?, 1, "GT alone adds");
    assert!(client.zadd("1", [(1, "x")]).nx().gt().await.is_err(), "they exclude each other");
    Ok(())
}

async fn adding_counts_changes_if_asked(client: &Client) -> Result<()> {
    assert_eq!(client.zscore("5", "5a").await?, None);
    assert_eq!(client.zadd("5", [(5, "5a")]).await?, 1);
    assert_eq!(client.zadd("5", [(10, "5a")]).await?, 0);
    assert_eq!(client.zscore("5", "5a").await?, Some(10.0));
    assert_eq!(client.zadd("5", [(5, "5a"), (1, "5b")]).ch().await?, 2);
    assert_eq!(client.zadd("5", [(5, "5a")]).ch().await?, 0, "the score is the same");
    Ok(())
}

async fn adding_increments_if_asked(client: &Client) -> Result<()> {
    assert_eq!(client.zadd("6", [(6, "6a")]).ch().incr().await?, Some(6.0));
    assert_eq!(client.zadd("6", [(6, "6a")]).ch().incr().await?, Some(12.0));
    assert_eq!(client.zadd("6", [(1, "6a")]).nx().incr().await?, None, "nothing was done");
    assert_eq!(client.zscore("6", "6a").await?, Some(12.0));
    Ok(())
}

async fn scores_are_incremented(client: &Client) -> Result<()> {
    assert_eq!(client.zincrby("foo", 2, "one").await?, 2.0);
    assert_eq!(client.zincrby("foo", 1.5, "one").await?, 3.5);
    assert_eq!(client.zincrby("foo", -4.25, "one").await?, -0.75);
    Ok(())
}

async fn ranks_and_scores(client: &Client) -> Result<()> {
    client.zadd("foo", [(1.5, "one"), (2.5, "two"), (3.5, "three")]).await?;
    assert_eq!((client.zrank("foo", "two").await?, client.zrevrank("foo", "one").await?), (Some(1), Some(2)));
    assert_eq!(client.zrank("foo", "none").await?, None);
    assert_eq!(client.zmscore("foo", ["one", "none", "three"]).await?, [Some(1.5), None, Some(3.5)]);
    assert_eq!(client.zcount("foo", "(1.5", "+inf").await?, 2);
    assert_eq!(client.zrem("foo", ["one", "none"]).await?, 1);
    assert_eq!(client.zcard("foo").await?, 2);
    Ok(())
}

async fn ranges_by_score_and_by_rank(client: &Client) -> Result<()> {
    client.zadd("foo", [(1, "one"), (2, "two"), (3, "three"), (4, "four")]).await?;
    type Range<'c> =
        edgecask_client::Request<&'c Client, edgecask_client::commands::options::Zrange, Vec<Vec<u8>>>;
    let names = async |request: Range<'_>| request.reply::<Vec<String>>().await;
    assert_eq!(names(client.zrange("foo", 0, 1)).await?, ["one", "two"]);
    assert_eq!(names(client.zrange("foo", 0, 1).rev()).await?, ["four", "three"]);
    assert_eq!(names(client.zrange("foo", "(1", 3).byscore()).await?, ["two", "three"]);
    let page = client.zrange("foo", "+inf", "-inf").byscore().rev().limit(1, 2);
    assert_eq!(names(page).await?, ["three", "two"]);
    assert_eq!(client.zrevrange("foo", 0, 0).withscores().reply::<Scored>().await?, scored([("four", 4.0)]));
    let page = client.zrevrangebyscore("foo", 3, "-inf").withscores().limit(0, 1);
    assert_eq!(page.reply::<Scored>().await?, scored([("three", 3.0)]));
    assert_eq!(client.zrangebyscore("foo", 2, 4).limit(1, 1).reply::<Vec<String>>().await?, ["three"]);
    Ok(())
}

async fn ranges_by_name(client: &Client) -> Result<()> {
    six_names(client).await?;
    assert_eq!(client.zlexcount("names", "-", "+").await?, 6);
    let range: Vec<String> = client.zrangebylex("names", "(apple", "[carrot").reply().await?;
    assert_eq!(range, strings(["banana", "carrot"]));
    let range: Vec<String> = client.zrevrangebylex("names", "+", "-").limit(0, 2).reply().await?;
    assert_eq!(range, strings(["grapes", "eggplant"]));
    let range: Vec<String> = client.zrange("names", "[d", "+").bylex().reply().await?;
    assert_eq!(range, strings(["durian", "eggplant", "grapes"]));
    Ok(())
}

async fn ranges_are_stored_and_removed(client: &Client) -> Result<()> {
    client.zadd("foo", (1..=9).map(|number| (number, format!("m{number}")))).await?;
    assert_eq!(client.zrangestore("out", "foo", 2, 4).await?, 3);
    assert_eq!(all(client, "out").await?, scored([("m3", 3.0), ("m4", 4.0), ("m5", 5.0)]));
    assert_eq!(client.zrangestore("out", "foo", 5, "(8").byscore().limit(1, 5).await?, 2);
    assert_eq!(client.zremrangebyrank("foo", 0, 1).await?, 2);
    assert_eq!(client.zremrangebyscore("foo", "(7", "+inf").await?, 2);
    assert_eq!(client.zcard("foo").await?, 5);
    Ok(())
}

async fn the_least_and_the_greatest_are_taken(client: &Client) -> Result<()> {
    client.zadd("foo", [(1, "one"), (2, "two"), (3, "three"), (4, "four")]).await?;
    assert_eq!(client.zpopmin("foo").reply::<Scored>().await?, scored([("one", 1.0)]));
    assert_eq!(client.zpopmax("foo").reply::<Scored>().await?, scored([("four", 4.0)]));
    let rest: Scored = client.zpopmax("foo").count(9).reply().await?;
    assert_eq!(rest, scored([("three", 3.0), ("two", 2.0)]));
    assert!(client.zpopmin("foo").await?.is_empty());
    Ok(())
}

async fn waiting_for_the_least_and_the_greatest(client: &Client) -> Result<()> {
    client.zadd("b", [(2, "2b"), (6, "6b")]).await?;
    type Popped = Option<(String, String, f64)>;
    let popped: Popped = client.bzpopmin("b", 0.0).reply().await?;
    assert_eq!(popped, Some(("b".to_owned(), "2b".to_owned(), 2.0)));
    let popped: Popped = client.bzpopmax(["a", "b"], 0.0).reply().await?;
    assert_eq!(popped, Some(("b".to_owned(), "6b".to_owned(), 6.0)));
    assert_eq!(client.bzpopmin(["a", "b"], 0.03).await?, None);
    let waiting = client.bzpopmax("b", 10.0).reply::<(String, String, f64)>();
    let (popped, _) = tokio::join!(waiting, async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        client.zadd("b", [(1.5, "late")]).await
    });
    assert_eq!(popped?, ("b".to_owned(), "late".to_owned(), 1.5));
    Ok(())
}

async fn several_sets_at_once(client: &Client) -> Result<()> {
    for (key, members) in [("a", [(1, "1a"), (5, "5a")]), ("c", [(3, "3c"), (7, "7c")])] {
        client.zadd(key, members).await?;
    }
    type Popped = Option<(String, Scored)>;
    let popped: Popped = client.bzmpop(0.0, ["none", "a", "c"], MinOrMax::Min).count(1).reply().await?;
    assert_eq!(popped, Some(("a".to_owned(), scored([("1a", 1.0)]))));
    let popped: Popped = client.bzmpop(0.0, ["a", "c"], MinOrMax::Max).reply().await?;
    assert_eq!(popped, Some(("a".to_owned(), scored([("5a", 5.0)]))));
    let popped: Popped = client.zmpop(["a", "c"], MinOrMax::Max).count(5).reply().await?;
    assert_eq!(popped, Some(("c".to_owned(), scored([("7c", 7.0), ("3c", 3.0)]))));
    assert_eq!(client.zmpop(["a", "c"], MinOrMax::Min).await?, None);
    assert_eq!(client.bzmpop(0.02, ["a", "c"], MinOrMax::Min).await?, None);
    Ok(())
}

async fn infinite_scores(client: &Client) -> Result<()> {
    client.zadd("foo", [(f64::INFINITY, "high"), (f64::NEG_INFINITY, "low"), (0.1, "mid")]).await?;
    let expected = scored([("low", f64::NEG_INFINITY), ("mid", 0.1), ("high", f64::INFINITY)]);
    assert_eq!(all(client, "foo").await?, expected);
    let error = client.zincrby("foo", f64::NEG_INFINITY, "high").await.expect_err("no number");
    assert!(error.to_string().contains("NaN"), "{error}");
    assert!(client.zadd("foo", [("nan", "x")]).await.is_err());
    Ok(())
}

async fn a_list_is_no_sorted_set(client: &Client) -> Result<()> {
    client.rpush("foo", 1).await?;
    assert_eq!(code(&client.zadd("foo", [(1, "x")]).await), "WRONGTYPE");
    assert_eq!(code(&client.zunion(["foo"]).await), "WRONGTYPE");
    assert_eq!(code(&client.zscore("foo", "x").await), "WRONGTYPE");
    Ok(())
}
