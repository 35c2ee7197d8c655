//! Values of single keys.

use edgecask_client::{Client, Commands, Result};

use super::{code, now_ms, now_seconds, until};

cases! {
    a_number_and_bytes_come_back,
    counters_count,
    a_counter_refuses_what_is_no_number,
    floats_are_added,
    getdel_takes_the_value_away,
    getex_sets_and_removes_the_time_to_live,
    set_with_get_returns_what_was_there,
    set_looks_at_whether_the_key_is_there,
    set_keeps_or_drops_the_time_to_live,
    set_takes_a_point_in_time,
    a_key_is_gone_after_its_time,
    setex_psetex_and_setnx_are_short_for_set,
    several_keys_at_once,
    msetnx_sets_all_or_none,
    one_key_in_a_list_of_keys,
    missing_keys_are_none,
    getset_exchanges,
    parts_of_a_value,
    the_longest_common_subsequence,
    keys_and_values_of_any_bytes,
    an_empty_value_is_not_a_missing_one,
    a_value_of_megabytes,
    a_value_is_streamed_by_many_at_once,
    a_list_is_no_string,
}

async fn a_number_and_bytes_come_back(client: &Client) -> Result<()> {
    assert!(client.set("foo", 42).await?);
    assert_eq!(client.get("foo").reply::<i32>().await?, 42);
    assert_eq!(client.get("foo").reply::<u64>().await?, 42);
    assert_eq!(client.get("foo").reply::<f64>().await?, 42.0);
    client.set("bar", b"foo").await?;
    assert_eq!(client.get("bar").await?, Some(b"foo".to_vec()));
    assert_eq!(client.get("bar").reply::<String>().await?, "foo");
    assert!(client.get("bar").reply::<i32>().await.is_err(), "it is no number");
    Ok(())
}

async fn counters_count(client: &Client) -> Result<()> {
    client.set("foo", 42).await?;
    assert_eq!(client.incr("foo").reply::<usize>().await?, 43);
    assert_eq!(client.incrby("foo", 7).await?, 50);
    assert_eq!(client.decr("foo").await?, 49);
    assert_eq!(client.decrby("foo", 50).await?, -1);
    assert_eq!(client.incr("new").await?, 1);
    assert!(client.decrby("foo", 1).reply::<u32>().await.is_err(), "-2 is not unsigned");
    Ok(())
}

async fn a_counter_refuses_what_is_no_number(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    let refused = client.incr("foo").await;
    assert!(refused.expect_err("no number").to_string().contains("not an integer"));
    client.set("foo", i64::MAX).await?;
    assert!(client.incr("foo").await.expect_err("too large").to_string().contains("overflow"));
    assert_eq!(client.get("foo").reply::<i64>().await?, i64::MAX);
    Ok(())
}

async fn floats_are_added(client: &Client) -> Result<()> {
    client.set("foo", 10.5).await?;
    assert_eq!(client.incrbyfloat("foo", 0.1).reply::<f64>().await?, 10.6);
    assert_eq!(client.incrbyfloat("foo", -5).reply::<String>().await?, "5.6");
    assert_eq!(client.incrbyfloat("new", "3.0e3").reply::<i64>().await?, 3000);
    Ok(())
}

async fn getdel_takes_the_value_away(client: &Client) -> Result<()> {
    client.set("foo", 42).await?;
    assert_eq!(client.getdel("foo").reply::<Option<String>>().await?.as_deref(), Some("42"));
    assert_eq!(client.get("foo").reply::<Option<usize>>().await?, None);
    assert_eq!(client.getdel("foo").await?, None);
    Ok(())
}

async fn getex_sets_and_removes_the_time_to_live(client: &Client) -> Result<()> {
    client.set("foo", 42).await?;
    assert_eq!(client.getex("foo").ex(100).reply::<i64>().await?, 42);
    assert!((1..=100).contains(&client.ttl("foo").await?));
    assert_eq!(client.getex("foo").persist().reply::<i64>().await?, 42);
    assert_eq!(client.ttl("foo").await?, -1);
    client.getex("foo").exat(now_seconds() + 50).await?;
    assert!((1..=50).contains(&client.ttl("foo").await?));
    client.getex("foo").pxat(now_ms() + 20_000).await?;
    assert!((1..=20).contains(&client.ttl("foo").await?));
    assert_eq!(client.getex("foo").px(30).reply::<i64>().await?, 42);
    until("foo is gone", async || Ok(client.get("foo").await?.is_none())).await?;
    assert_eq!(client.getex("foo").ex(1).await?, None);
    Ok(())
}

async fn set_with_get_returns_what_was_there(client: &Client) -> Result<()> {
    assert_eq!(client.set(1, "1").get().await?, None);
    assert_eq!(client.set(1, "2").get().await?, Some(b"1".to_vec()));
    assert_eq!(client.set(1, "3").xx().get().px(60_000).await?, Some(b"2".to_vec()));
    assert_eq!(client.get(1).reply::<i64>().await?, 3);
    Ok(())
}

async fn set_looks_at_whether_the_key_is_there(client: &Client) -> Result<()> {
    assert!(!client.set("foo", 1).xx().await?);
    assert_eq!(client.exists("foo").await?, 0);
    assert!(client.set("foo", 1).nx().await?);
    assert!(!client.set("foo", 2).nx().await?);
    assert_eq!(client.get("foo").reply::<i64>().await?, 1);
    assert!(client.set("foo", 3).xx().await?);
    assert_eq!(client.get("foo").reply::<i64>().await?, 3);
    Ok(())
}

async fn set_keeps_or_drops_the_time_to_live(client: &Client) -> Result<()> {
    client.set("foo", 1).ex(1000).await?;
    client.set("foo", 2).keepttl().await?;
    assert!((900..=1000).contains(&client.ttl("foo").await?));
    client.set("foo", 3).await?;
    assert_eq!(client.ttl("foo").await?, -1);
    client.set("foo", 4).px(500_000).await?;
    assert!((400_000..=500_000).contains(&client.pttl("foo").await?));
    Ok(())
}

async fn set_takes_a_point_in_time(client: &Client) -> Result<()> {
    let now = now_seconds();
    client.set("foo", "bar").exat(now + 10).await?;
    assert_eq!(client.expiretime("foo").await?, now + 10);
    client.set("foo", "bar").pxat(now * 1000 + 12_000).await?;
    assert_eq!(client.pexpiretime("foo").await?, now * 1000 + 12_000);
    client.set("foo", "bar").exat(now - 10).await?;
    assert_eq!(client.get("foo").await?, None, "that time is over");
    Ok(())
}

async fn a_key_is_gone_after_its_time(client: &Client) -> Result<()> {
    client.set("foo", "bar").px(40).await?;
    assert!(client.pttl("foo").await? <= 40);
    until("foo is gone", async || Ok(client.exists("foo").await? == 0)).await?;
    assert_eq!(client.ttl("foo").await?, -2);
    assert!(client.set("foo", "again").nx().await?);
    Ok(())
}

async fn setex_psetex_and_setnx_are_short_for_set(client: &Client) -> Result<()> {
    client.setex("a", 100, "x").await?;
    client.psetex("b", 100_000, "y").await?;
    for key in ["a", "b"] {
        assert!((90..=100).contains(&client.ttl(key).await?), "{key}");
    }
    assert!(client.setnx("c", "z").await?);
    assert!(!client.setnx("c", "other").await?);
    assert_eq!(client.mget(["a", "b", "c"]).reply::<Vec<String>>().await?, ["x", "y", "z"]);
    assert!(client.setex("a", 0, "x").await.is_err(), "no such time");
    Ok(())
}

async fn several_keys_at_once(client: &Client) -> Result<()> {
    client.mset([("key1", 1), ("key2", 2)]).await?;
    assert_eq!(client.mget(["key1", "key2"]).reply::<(i32, i32)>().await?, (1, 2));
    assert_eq!(client.mget(vec!["key1", "key2"]).reply::<Vec<i64>>().await?, [1, 2]);
    assert_eq!(client.mget(&["key2", "key1"][..]).reply::<[i64; 2]>().await?, [2, 1]);
    client.mset(std::collections::HashMap::from([("key1", "one"), ("key3", "three")])).await?;
    let three: (String, i32, String) = client.mget(("key1", "key2", "key3")).reply().await?;
    assert_eq!(three, ("one".to_owned(), 2, "three".to_owned()));
    Ok(())
}

async fn msetnx_sets_all_or_none(client: &Client) -> Result<()> {
    assert!(client.msetnx([("a", 1), ("b", 2)]).await?);
    assert!(!client.msetnx([("b", 3), ("c", 4)]).await?);
    assert_eq!(client.mget(["a", "b", "c"]).reply::<Vec<Option<i64>>>().await?, [Some(1), Some(2), None]);
    Ok(())
}

async fn one_key_in_a_list_of_keys(client: &Client) -> Result<()> {
    client.set(1, "1").await?;
    assert_eq!(client.mget(vec![1]).reply::<Vec<String>>().await?, ["1"]);
    client.set(2, "2").await?;
    assert_eq!(client.mget([1, 2]).reply::<Vec<String>>().await?, ["1", "2"]);
    assert!(client.mget(Vec::<i64>::new()).await.is_err(), "a request without keys");
    Ok(())
}

async fn missing_keys_are_none(client: &Client) -> Result<()> {
    client.set("foo", 1).await?;
    let both: (Option<i32>, Option<i32>) = client.mget(["foo", "missing"]).reply().await?;
    assert_eq!(both, (Some(1), None));
    assert_eq!(client.mget(["missing"]).reply::<Vec<Option<String>>>().await?, [None]);
    assert!(client.get("missing").reply::<String>().await.is_err(), "null is no string");
    assert!(client.mget(["foo", "missing"]).reply::<Vec<i64>>().await.is_err(), "null is no number");
    Ok(())
}

async fn getset_exchanges(client: &Client) -> Result<()> {
    assert_eq!(client.getset("foo", 1).await?, None);
    assert_eq!(client.getset("foo", 2).reply::<Option<i64>>().await?, Some(1));
    Ok(())
}

async fn parts_of_a_value(client: &Client) -> Result<()> {
    assert_eq!(client.append("foo", "Hello").await?, 5);
    assert_eq!(client.append("foo", " World").await?, 11);
    assert_eq!(client.strlen("foo").await?, 11);
    assert_eq!(client.getrange("foo", 0, 4).await?, b"Hello");
    assert_eq!(client.getrange("foo", -5, -1).reply::<String>().await?, "World");
    assert_eq!(client.getrange("foo", 50, 60).await?, b"");
    assert_eq!(client.setrange("foo", 6, "Redis").await?, 11);
    assert_eq!(client.get("foo").reply::<String>().await?, "Hello Redis");
    assert_eq!(client.setrange("padded", 3, "x").await?, 4);
    assert_eq!(client.get("padded").await?, Some(b"\0\0\0x".to_vec()));
    assert_eq!(client.strlen("missing").await?, 0);
    Ok(())
}

async fn the_longest_common_subsequence(client: &Client) -> Result<()> {
    client.mset([("a", "ohmytext"), ("b", "mynewtext")]).await?;
    assert_eq!(client.lcs("a", "b").await?, b"mytext");
    assert_eq!(client.lcs("a", "b").len().await?, 6);
    assert_eq!(client.lcs("a", "missing").await?, b"");
    let found = client.lcs("a", "b").idx().minmatchlen(4).withmatchlen().await?;
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["matches", "len"]);
    Ok(())
}

async fn keys_and_values_of_any_bytes(client: &Client) -> Result<()> {
    let all: Vec<u8> = (0..=255).collect();
    client.set(&all, &all).await?;
    assert_eq!(client.get(&all).await?.as_ref(), Some(&all));
    let text = client.get(&all).reply::<String>().await;
    assert!(text.expect_err("no UTF-8").to_string().contains("UTF-8"));
    assert_eq!(client.keys("*").await?, [all]);
    client.set("schlüssel\r\n", "wert 値").await?;
    assert_eq!(client.get("schlüssel\r\n").reply::<String>().await?, "wert 値");
    Ok(())
}

async fn an_empty_value_is_not_a_missing_one(client: &Client) -> Result<()> {
    client.set("foo", "").await?;
    assert_eq!(client.get("foo").await?, Some(Vec::new()));
    assert_eq!(client.get("").await?, None);
    client.set("", "of the empty key").await?;
    assert_eq!(client.get("").reply::<String>().await?, "of the empty key");
    Ok(())
}

async fn a_value_of_megabytes(client: &Client) -> Result<()> {
    let value: Vec<u8> = (0..5_000_000_u32).map(|place| (place % 253) as u8).collect();
    client.set("foo", &value).await?;
    assert!(client.get("foo").large().await? == Some(value.clone()), "it comes back as it went");
    let mut written = Vec::new();
    assert_eq!(client.get_to("foo", &mut written).await?, Some(5_000_000));
    assert!(written == value, "streamed as well");
    let mut buffer = Vec::with_capacity(value.len());
    client.set_from("bar", &value).await?;
    assert!(client.get_into("bar", &mut buffer).await? && buffer == value, "and into a buffer");
    Ok(())
}

async fn a_value_is_streamed_by_many_at_once(client: &Client) -> Result<()> {
    let value: Vec<u8> = (0..3_000_000_u32).map(|place| (place % 253) as u8).collect();
    client.set("foo", &value).await?;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            let mut written = Vec::new();
            for _ in 0..5 {
                written.clear();
                client.get_to("foo", &mut written).await?;
            }
            Ok::<_, edgecask_client::Error>(written)
        }));
    }
    for task in tasks {
        assert!(task.await.expect("a task")? == value, "it comes whole");
    }
    Ok(())
}

async fn a_list_is_no_string(client: &Client) -> Result<()> {
    client.rpush("list", "x").await?;
    assert_eq!(code(&client.get("list").await), "WRONGTYPE");
    assert_eq!(code(&client.append("list", "x").await), "WRONGTYPE");
    assert_eq!(client.mget("list").await?, [None]);
    client.set("list", "now a string").await?;
    assert_eq!(client.type_("list").await?, "string");
    Ok(())
}
