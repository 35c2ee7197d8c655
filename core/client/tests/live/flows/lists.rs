//! Lists, and waiting for their elements.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use edgecask_client::commands::words::{BeforeOrAfter, LeftOrRight};
use edgecask_client::{Client, Commands, Error, Result};

use super::code;

cases! {
    a_list_from_its_beginning_to_its_end,
    elements_of_both_ends,
    only_lists_that_are_there,
    elements_at_places,
    elements_are_removed_by_value,
    a_list_is_cut,
    places_of_an_element,
    elements_move_between_lists,
    several_lists_at_once,
    an_element_that_comes_later,
    nothing_comes_in_time,
    the_first_list_that_has_something,
    elements_move_when_they_come,
    the_first_of_those_who_wait,
    a_timeout_leaves_the_client_usable,
    a_set_is_no_list,
}

async fn a_list_from_its_beginning_to_its_end(client: &Client) -> Result<()> {
    assert_eq!(client.rpush("my_list", [1, 2, 3, 4]).await?, 4);
    assert_eq!(client.rpush("my_list", vec![5, 6, 7, 8]).await?, 8);
    assert_eq!(client.llen("my_list").await?, 8);
    assert_eq!(client.lpop("my_list").reply::<i64>().await?, 1);
    assert_eq!(client.llen("my_list").await?, 7);
    assert_eq!(client.lrange("my_list", 0, 2).reply::<(i64, i64, i64)>().await?, (2, 3, 4));
    client.lset("my_list", 0, 4).await?;
    assert_eq!(client.lrange("my_list", 0, 2).reply::<(i64, i64, i64)>().await?, (4, 3, 4));
    let all: Vec<i64> = client.lrange("my_list", 0, 10).reply().await?;
    assert_eq!(client.lpop("my_list").count(10).reply::<Vec<i64>>().await?, all);
    assert_eq!(client.exists("my_list").await?, 0, "an empty list is gone");
    Ok(())
}

async fn elements_of_both_ends(client: &Client) -> Result<()> {
    assert_eq!(client.lpush("foo", ["c", "b", "a"]).await?, 3);
    assert_eq!(client.rpush("foo", "d").await?, 4);
    assert_eq!(client.rpop("foo").reply::<String>().await?, "d");
    assert_eq!(client.rpop("foo").count(2).reply::<Vec<String>>().await?, ["c", "b"]);
    assert_eq!(client.lpop("foo").reply::<Option<String>>().await?.as_deref(), Some("a"));
    assert_eq!(client.lpop("foo").await?, None);
    assert_eq!(client.rpop("foo").count(2).await?, None);
    Ok(())
}

async fn only_lists_that_are_there(client: &Client) -> Result<()> {
    assert_eq!(client.lpushx("foo", 1).await?, 0);
    assert_eq!(client.rpushx("foo", [1, 2]).await?, 0);
    client.rpush("foo", 1).await?;
    assert_eq!(client.lpushx("foo", 0).await?, 2);
    assert_eq!(client.rpushx("foo", [2, 3]).await?, 4);
    assert_eq!(client.lrange("foo", 0, -1).reply::<[i64; 4]>().await?, [0, 1, 2, 3]);
    Ok(())
}

async fn elements_at_places(client: &Client) -> Result<()> {
    client.rpush("foo", ["a", "c"]).await?;
    assert_eq!(client.linsert("foo", BeforeOrAfter::Before, "c", "b").await?, 3);
    assert_eq!(client.linsert("foo", BeforeOrAfter::After, "c", "d").await?, 4);
    assert_eq!(client.linsert("foo", BeforeOrAfter::After, "none", "x").await?, -1);
    assert_eq!(client.linsert("missing", BeforeOrAfter::After, "a", "x").await?, 0);
    assert_eq!(client.lindex("foo", 1).await?, Some(b"b".to_vec()));
    assert_eq!(client.lindex("foo", -1).reply::<String>().await?, "d");
    assert_eq!(client.lindex("foo", 9).await?, None);
    let error = client.lset("foo", 9, "x").await.expect_err("no such place");
    assert!(error.to_string().contains("out of range"), "{error}");
    let error = client.lset("missing", 0, "x").await.expect_err("no such list");
    assert!(error.to_string().contains("no such key"), "{error}");
    Ok(())
}

async fn elements_are_removed_by_value(client: &Client) -> Result<()> {
    client.rpush("foo", ["x", "a", "x", "b", "x", "x"]).await?;
    assert_eq!(client.lrem("foo", 1, "x").await?, 1);
    assert_eq!(client.lrem("foo", -1, "x").await?, 1);
    assert_eq!(client.lrange("foo", 0, -1).reply::<Vec<String>>().await?, ["a", "x", "b", "x"]);
    assert_eq!(client.lrem("foo", 0, "x").await?, 2);
    assert_eq!(client.lrem("foo", 0, "none").await?, 0);
    Ok(())
}

async fn a_list_is_cut(client: &Client) -> Result<()> {
    client.rpush("foo", (0..10).collect::<Vec<i64>>()).await?;
    client.ltrim("foo", 2, -3).await?;
    assert_eq!(client.lrange("foo", 0, -1).reply::<Vec<i64>>().await?, [2, 3, 4, 5, 6, 7]);
    assert!(client.lrange("foo", 20, 30).await?.is_empty());
    client.ltrim("foo", 5, 1).await?;
    assert_eq!(client.exists("foo").await?, 0);
    Ok(())
}

async fn places_of_an_element(client: &Client) -> Result<()> {
    client.rpush("foo", ["a", "b", "c", "1", "2", "3", "c", "c"]).await?;
    assert_eq!(client.lpos("foo", "c").await?, Some(2));
    assert_eq!(client.lpos("foo", "c").rank(2).await?, Some(6));
    assert_eq!(client.lpos("foo", "c").rank(-1).await?, Some(7));
    assert_eq!(client.lpos("foo", "c").count(2).await?, [2, 6]);
    assert_eq!(client.lpos("foo", "c").count(0).maxlen(5).await?, [2]);
    assert_eq!(client.lpos("foo", "none").await?, None);
    assert!(client.lpos("foo", "none").count(0).await?.is_empty());
    Ok(())
}

async fn elements_move_between_lists(client: &Client) -> Result<()> {
    client.rpush("foo", [1, 2, 3]).await?;
    let moved = client.lmove("foo", "bar", LeftOrRight::Left, LeftOrRight::Right);
    assert_eq!(moved.reply::<i64>().await?, 1);
    let moved = client.lmove("foo", "bar", LeftOrRight::Right, LeftOrRight::Left);
    assert_eq!(moved.reply::<i64>().await?, 3);
    assert_eq!(client.lrange("bar", 0, -1).reply::<Vec<i64>>().await?, [3, 1]);
    assert_eq!(client.rpoplpush("bar", "bar").reply::<i64>().await?, 1, "the list turns");
    assert_eq!(client.lrange("bar", 0, -1).reply::<Vec<i64>>().await?, [1, 3]);
    assert_eq!(client.rpoplpush("missing", "bar").await?, None);
    Ok(())
}

async fn several_lists_at_once(client: &Client) -> Result<()> {
    client.rpush("second", ["a", "b", "c"]).await?;
    let popped = client.lmpop(["first", "second"], LeftOrRight::Left).await?;
    assert_eq!(popped, Some((b"second".to_vec(), vec![b"a".to_vec()])));
    let popped = client.lmpop(["first", "second"], LeftOrRight::Right).count(5);
    let popped: Option<(String, Vec<String>)> = popped.reply().await?;
    assert_eq!(popped, Some(("second".to_owned(), super::strings(["c", "b"]))));
    assert_eq!(client.lmpop(["first", "second"], LeftOrRight::Left).await?, None);
    Ok(())
}

async fn an_element_that_comes_later(client: &Client) -> Result<()> {
    let waiting = client.blpop("queue", 10.0).reply::<(String, i64)>();
    let (popped, pushed) = tokio::join!(waiting, async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        client.rpush("queue", 42).await
    });
    assert_eq!((popped?, pushed?), (("queue".to_owned(), 42), 1));
    assert_eq!(client.exists("queue").await?, 0);
    Ok(())
}

async fn nothing_comes_in_time(client: &Client) -> Result<()> {
    let begun = Instant::now();
    assert_eq!(client.blpop("queue", 0.05).await?, None);
    assert_eq!(client.brpop(["queue", "other"], 0.05).await?, None);
    assert_eq!(client.blmpop(0.05, ["queue"], LeftOrRight::Left).await?, None);
    // Servers count in whole milliseconds.
    assert!(begun.elapsed() >= Duration::from_millis(140), "{:?}", begun.elapsed());
    Ok(())
}

async fn the_first_list_that_has_something(client: &Client) -> Result<()> {
    client.rpush("b", ["x", "y"]).await?;
    client.rpush("c", "z").await?;
    assert_eq!(client.blpop(["a", "b", "c"], 1.0).await?, Some((b"b".to_vec(), b"x".to_vec())));
    assert_eq!(client.brpop(["a", "c", "b"], 1.0).await?, Some((b"c".to_vec(), b"z".to_vec())));
    let popped: (String, Vec<String>) =
        client.blmpop(1.0, ["a", "b"], LeftOrRight::Right).count(9).reply().await?;
    assert_eq!(popped, ("b".to_owned(), vec!["y".to_owned()]));
    Ok(())
}

async fn elements_move_when_they_come(client: &Client) -> Result<()> {
    client.rpush("foo", [1, 2]).await?;
    let moved = client.blmove("foo", "bar", LeftOrRight::Left, LeftOrRight::Left, 1.0);
    assert_eq!(moved.reply::<i64>().await?, 1);
    assert_eq!(client.brpoplpush("foo", "bar", 1.0).reply::<i64>().await?, 2);
    let waiting = client.blmove("foo", "bar", LeftOrRight::Right, LeftOrRight::Left, 10.0);
    let (moved, _) = tokio::join!(async { waiting.reply::<i64>().await }, async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        client.rpush("foo", 3).await
    });
    assert_eq!(moved?, 3);
    assert_eq!(client.lrange("bar", 0, -1).reply::<Vec<i64>>().await?, [3, 2, 1]);
    assert_eq!(client.brpoplpush("foo", "bar", 0.02).await?, None);
    Ok(())
}

async fn the_first_of_those_who_wait(client: &Client) -> Result<()> {
    let first = client.blpop("queue", 10.0);
    let ((one, two), _) = tokio::join!(
        async {
            tokio::join!(async { first.reply::<(String, i64)>().await }, async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                client.blpop("queue", 10.0).reply::<(String, i64)>().await
            })
        },
        async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            client.rpush("queue", [1, 2]).await
        }
    );
    assert_eq!((one?.1, two?.1), (1, 2), "who waits longer comes first");
    Ok(())
}

async fn a_timeout_leaves_the_client_usable(client: &Client) -> Result<()> {
    client.set("key", "value").await?;
    for _ in 0..3 {
        let waiting =
            client.cmd("BLPOP").arg("foo").arg(0).blocking(Duration::MAX).reply::<(String, String)>();
        let late = tokio::time::timeout(Duration::from_millis(20), waiting.into_future()).await;
        assert!(late.is_err(), "there is no element");
        assert_eq!(client.get("key").reply::<String>().await?, "value");
    }
    let connection = client.connection().await?;
    let late =
        connection.cmd("BLPOP").arg("foo").arg(5).within(Duration::from_millis(20)).reply::<()>().await;
    assert!(matches!(late, Err(Error::Timeout { may_have_run: true, .. })), "{late:?}");
    Ok(())
}

async fn a_set_is_no_list(client: &Client) -> Result<()> {
    client.sadd("foo", 1).await?;
    assert_eq!(code(&client.lpush("foo", 1).await), "WRONGTYPE");
    assert_eq!(code(&client.blpop("foo", 1.0).await), "WRONGTYPE");
    assert_eq!(code(&client.lrange("foo", 0, -1).await), "WRONGTYPE");
    Ok(())
}
