//! Groups of consumers.

use std::time::Duration;

use edgecask_client::{Client, Commands, Entry, HandMade, Result, Trim, TrimTo, Value};

use super::code;
use super::streams::{bulk, entries, figure, two_streams};

cases! {
    a_group_is_made_and_described,
    a_group_makes_its_stream,
    consumers_are_made_once,
    entries_are_given_confirmed_and_pending,
    pending_entries_one_by_one,
    a_pending_entry_that_was_deleted,
    entries_are_claimed_automatically,
    entries_are_claimed_by_id,
    a_claim_sets_the_last_id,
    a_claim_passes_over_deleted_entries,
    a_claim_of_ids_passes_over_deleted_entries,
    a_consumer_goes_with_its_pending_entries,
    a_group_begins_elsewhere,
    entries_without_confirmation,
    two_consumers_share_a_stream,
    waiting_in_a_group,
    a_group_that_is_missing,
}

/// A group `g1` of a stream `k1` whose ten entries the consumer `c1` has.
async fn ten_pending(client: &Client) -> Result<Vec<Entry>> {
    client.xgroup_create("k1", "g1", "$").mkstream().await?;
    entries(client, "k1", 10).await?;
    let given = given(client, "c1", ">").await?;
    assert_eq!(given.len(), 10);
    Ok(given)
}

/// What a consumer gets of `k1`.
async fn given(client: &Client, consumer: &str, behind: &str) -> Result<Vec<Entry>> {
    let read = client.xreadgroup("g1", consumer, "k1", behind).await?;
    Ok(read.and_then(|mut streams| streams.pop()).map(|(_, entries)| entries).unwrap_or_default())
}

/// Consumers with the numbers of their pending entries.
async fn pending(client: &Client) -> Result<Vec<(String, i64)>> {
    type Summary = (i64, Option<String>, Option<String>, Option<Vec<(String, i64)>>);
    let summary: Summary = client.xpending("k1", "g1").reply().await?;
    Ok(summary.3.unwrap_or_default())
}

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

/// What comes next is about entries that nobody has touched for some milliseconds.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

async fn a_group_is_made_and_described(client: &Client) -> Result<()> {
    assert_eq!(code(&client.xinfo_stream("k1").await), "ERR");
    two_streams(client).await?;
    client.xgroup_create("k1", "g1", "$").await?;
    let groups = client.xinfo_groups("k1").await?;
    assert_eq!(groups.len(), 1);
    for (name, expected) in [
        ("name", bulk("g1")),
        ("consumers", Value::Integer(0)),
        ("pending", Value::Integer(0)),
        ("last-delivered-id", bulk("1000-1")),
    ] {
        assert_eq!(figure(&groups[0], name), &expected, "{name}");
    }
    assert_eq!(code(&client.xgroup_create("k1", "g1", "$").await), "BUSYGROUP");
    Ok(())
}

async fn a_group_makes_its_stream(client: &Client) -> Result<()> {
    assert!(client.xgroup_create("k1", "g1", "0").await.is_err(), "there is no stream");
    client.xgroup_create("k1", "g1", "0").mkstream().await?;
    let groups = client.xinfo_groups("k1").await?;
    assert_eq!(figure(&groups[0], "last-delivered-id"), &bulk("0-0"));
    assert_eq!(figure(&groups[0], "lag"), &Value::Integer(0));
    client.xadd("k1", "1000-0", [("a", "b"), ("c", "d")]).await?;
    client.xadd("k1", "1000-1", [("e", "f"), ("g", "h")]).await?;
    let groups = client.xinfo_groups("k1").await?;
    assert_eq!(figure(&groups[0], "lag"), &Value::Integer(2));
    assert!(client.xgroup_destroy("k1", "g1").await?);
    assert!(!client.xgroup_destroy("k1", "g1").await?);
    Ok(())
}

async fn consumers_are_made_once(client: &Client) -> Result<()> {
    two_streams(client).await?;
    client.xgroup_create("k1", "g1", "$").await?;
    assert!(client.xinfo_consumers("k1", "g1").await?.is_empty());
    for is_new in [true, false] {
        assert_eq!(client.xgroup_createconsumer("k1", "g1", "c1").await?, is_new);
        let consumers = client.xinfo_consumers("k1", "g1").await?;
        assert_eq!((consumers.len(), figure(&consumers[0], "name")), (1, &bulk("c1")));
    }
    Ok(())
}

async fn entries_are_given_confirmed_and_pending(client: &Client) -> Result<()> {
    client.xgroup_create("k1", "g1", "0").mkstream().await?;
    assert_eq!(client.xpending("k1", "g1").await?, (0, None, None, None));
    two_streams(client).await?;
    assert_eq!(ids(&given(client, "c1", ">").await?), ["1000-0", "1000-1"]);
    assert!(given(client, "c1", ">").await?.is_empty());
    let of_consumer = async || -> Result<Value> {
        Ok(figure(&client.xinfo_consumers("k1", "g1").await?[0], "pending").clone())
    };
    assert_eq!(of_consumer().await?, Value::Integer(2));
    assert_eq!(client.xack("k1", "g1", ["1000-0"]).await?, 1);
    assert_eq!(client.xack("k1", "g1", ["1000-0", "9-9"]).await?, 0);
    assert_eq!(ids(&given(client, "c1", "0").await?), ["1000-1"], "its own again");
    assert_eq!(of_consumer().await?, Value::Integer(1));
    Ok(())
}

async fn pending_entries_one_by_one(client: &Client) -> Result<()> {
    let all = ten_pending(client).await?;
    type Summary = (i64, String, String, Vec<(String, i64)>);
    let summary: Summary = client.xpending("k1", "g1").reply().await?;
    assert_eq!((summary.0, &summary.1, &summary.2), (10, &all[0].id, &all[9].id));
    assert_eq!(summary.3, [("c1".to_owned(), 10)]);
    type Pending = Vec<(String, String, i64, i64)>;
    let pending: Pending = client.xpending("k1", "g1").start("-", "+", 3).reply().await?;
    for ((id, consumer, _idle_ms, deliveries), entry) in pending.iter().zip(&all) {
        assert_eq!((id, consumer.as_str(), *deliveries), (&entry.id, "c1", 1));
    }
    assert_eq!(pending.len(), 3);
    let of_other = client.xpending("k1", "g1").start("-", "+", 10).consumer("c2");
    assert!(of_other.reply::<Pending>().await?.is_empty());
    Ok(())
}

async fn a_pending_entry_that_was_deleted(client: &Client) -> Result<()> {
    client.xgroup_create("k1", "g1", "$").mkstream().await?;
    let one = Trim { to: TrimTo::MaxLen(1), roughly: false, limit: None };
    client.xadd("k1", "*", [("h1", "w1")]).trim(one).await?;
    let first = given(client, "c1", ">").await?;
    client.xadd("k1", "*", [("h2", "w2")]).trim(one).await?;
    let again = given(client, "c1", "0").await?;
    assert_eq!((again.len(), &again[0].id), (1, &first[0].id));
    assert!(again[0].fields.is_empty() && !first[0].fields.is_empty());
    Ok(())
}

async fn entries_are_claimed_automatically(client: &Client) -> Result<()> {
    let all = ten_pending(client).await?;
    a_moment().await;
    let (next, claimed, deleted) = client.xautoclaim("k1", "g1", "c2", 4, &all[0].id).count(2).await?;
    assert_eq!(next, all[2].id.as_bytes());
    assert_eq!((&claimed[..], deleted.len()), (&all[..2], 0));
    a_moment().await;
    let ids_only = client.xautoclaim("k1", "g1", "c3", 4, &all[0].id).count(5).justid();
    let (_, claimed, _): (String, Vec<String>, Vec<String>) = ids_only.reply().await?;
    assert_eq!(claimed, ids(&all[..5]));
    let (next, claimed, _) = client.xautoclaim("k1", "g1", "c2", 60_000, "0").await?;
    assert_eq!((next.as_slice(), claimed.len()), (&b"0-0"[..], 0), "none is idle for a minute");
    Ok(())
}

async fn entries_are_claimed_by_id(client: &Client) -> Result<()> {
    let all = ten_pending(client).await?;
    a_moment().await;
    let claimed = client.xclaim("k1", "g1", "c2", 4, &all[0].id).await?;
    assert_eq!(claimed, all[..1]);
    assert_eq!(pending(client).await?, [("c1".to_owned(), 9), ("c2".to_owned(), 1)]);
    a_moment().await;
    client.xclaim("k1", "g1", "c3", 4, &all[0].id).force().await?;
    assert_eq!(pending(client).await?, [("c1".to_owned(), 9), ("c3".to_owned(), 1)]);
    a_moment().await;
    let claim = client.xclaim("k1", "g1", "c5", 4, ids(&all)).force().justid();
    assert_eq!(claim.reply::<Vec<String>>().await?, ids(&all));
    let claim = client.xclaim("k1", "g1", "c6", 0, &all[0].id).idle(50_000).retrycount(7).justid();
    assert_eq!(claim.await?.len(), 1);
    let pending: Vec<(String, String, i64, i64)> =
        client.xpending("k1", "g1").idle(40_000).start("-", "+", 10).reply().await?;
    assert_eq!((pending.len(), pending[0].1.as_str(), pending[0].3), (1, "c6", 7));
    Ok(())
}

async fn a_claim_sets_the_last_id(client: &Client) -> Result<()> {
    client.xgroup_create("k1", "g1", "$").mkstream().await?;
    entries(client, "k1", 10).await?;
    let all = client.xrange("k1", "-", "+").await?;
    let (early, middle, late) = (&all[3].id, &all[5].id, &all[8].id);
    client.xreadgroup("g1", "c1", "k1", ">").count(6).await?;
    let last = async || -> Result<Value> {
        Ok(figure(&client.xinfo_groups("k1").await?[0], "last-delivered-id").clone())
    };
    assert_eq!(last().await?, bulk(middle));
    client.xclaim("k1", "g1", "c2", 0, middle).justid().lastid(early).await?;
    assert_eq!(last().await?, bulk(middle), "it never goes back");
    client.xclaim("k1", "g1", "c1", 0, middle).justid().lastid(late).await?;
    assert_eq!(last().await?, bulk(late));
    Ok(())
}

async fn a_claim_passes_over_deleted_entries(client: &Client) -> Result<()> {
    let all = ten_pending(client).await?;
    client.xdel("k1", ids(&all[..2])).await?;
    a_moment().await;
    let (_, claimed, deleted) = client.xautoclaim("k1", "g1", "c2", 1, &all[0].id).count(4).await?;
    assert_eq!(claimed, all[2..4]);
    assert_eq!(deleted, [all[0].id.as_bytes(), all[1].id.as_bytes()]);
    assert_eq!(pending(client).await?, [("c1".to_owned(), 6), ("c2".to_owned(), 2)]);
    Ok(())
}

async fn a_claim_of_ids_passes_over_deleted_entries(client: &Client) -> Result<()> {
    let all = ten_pending(client).await?;
    client.xdel("k1", ids(&all[..2])).await?;
    a_moment().await;
    let claim = client.xautoclaim("k1", "g1", "c2", 1, &all[0].id).count(4).justid();
    let (_, claimed, deleted): (String, Vec<String>, Vec<String>) = claim.reply().await?;
    assert_eq!(claimed, ids(&all[2..4]));
    assert_eq!(deleted, ids(&all[..2]));
    Ok(())
}

async fn a_consumer_goes_with_its_pending_entries(client: &Client) -> Result<()> {
    two_streams(client).await?;
    client.xgroup_create("k1", "g1", "0").await?;
    assert_eq!(given(client, "c1", ">").await?.len(), 2);
    assert_eq!(client.xgroup_delconsumer("k1", "g1", "c1").await?, 2);
    assert_eq!(client.xgroup_delconsumer("k1", "g1", "c1").await?, 0);
    assert!(client.xgroup_destroy("k1", "g1").await?);
    assert!(client.xinfo_groups("k1").await?.is_empty());
    Ok(())
}

async fn a_group_begins_elsewhere(client: &Client) -> Result<()> {
    ten_pending(client).await?;
    assert!(given(client, "c2", ">").await?.is_empty());
    client.xgroup_setid("k1", "g1", "0").await?;
    assert_eq!(given(client, "c2", ">").await?.len(), 10, "all of them again");
    client.xgroup_setid("k1", "g1", "$").entriesread(10).await?;
    assert!(given(client, "c2", ">").await?.is_empty());
    Ok(())
}

async fn entries_without_confirmation(client: &Client) -> Result<()> {
    client.xgroup_create("k1", "g1", "0").mkstream().await?;
    entries(client, "k1", 3).await?;
    let read = client.xreadgroup("g1", "c1", "k1", ">").noack().count(2).await?.expect("entries");
    assert_eq!(read[0].1.len(), 2);
    assert!(pending(client).await?.is_empty());
    Ok(())
}

async fn two_consumers_share_a_stream(client: &Client) -> Result<()> {
    client.xgroup_create("k1", "g1", "0").mkstream().await?;
    entries(client, "k1", 20).await?;
    let (mut one, mut other) =
        (client.group_entries("k1", "g1", "c1"), client.group_entries("k1", "g1", "c2"));
    let entry = one.next().await?;
    one.ack(&entry).await?;
    assert_eq!(pending(client).await?, [("c1".to_owned(), 19)], "it has a whole page");
    entries(client, "k1", 1).await?;
    assert_eq!(other.next().await?.get("number"), Some(&b"0"[..]), "what comes later is the other's");
    assert_eq!(pending(client).await?, [("c1".to_owned(), 19), ("c2".to_owned(), 1)]);
    Ok(())
}

async fn waiting_in_a_group(client: &Client) -> Result<()> {
    client.xgroup_create("k1", "g1", "$").mkstream().await?;
    assert_eq!(client.xreadgroup("g1", "c1", "k1", ">").block(20).await?, None);
    let (read, _) = tokio::join!(client.xreadgroup("g1", "c1", "k1", ">").block(10_000), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        client.xadd("k1", "1-1", [("a", "b")]).await
    });
    assert_eq!(ids(&read?.expect("entries")[0].1), ["1-1"]);
    Ok(())
}

async fn a_group_that_is_missing(client: &Client) -> Result<()> {
    two_streams(client).await?;
    assert_eq!(code(&client.xreadgroup("none", "c1", "k1", ">").await), "NOGROUP");
    assert_eq!(code(&client.xpending("k1", "none").await), "NOGROUP");
    assert_eq!(client.xack("k1", "none", "1000-0").await?, 0);
    Ok(())
}
