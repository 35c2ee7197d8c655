//! Transactions, with and without watched keys.

use edgecask_client::{Build, Client, Commands, Error, Result, ServerError, Value};

use super::code;

cases! {
    a_transaction_has_the_replies_of_its_requests,
    a_transaction_of_many,
    a_transaction_that_is_refused_has_not_happened,
    an_error_within_a_transaction,
    an_error_beside_other_replies,
    a_failed_transaction_spoils_nothing,
    a_hundred_transactions_do_not_mix,
    a_loop_with_watch_by_hand,
    watch_does_it_again,
    watch_runs_nothing_if_nothing_is_to_run,
    watch_hands_an_error_on,
    multi_and_discard_by_hand,
    a_watched_key_that_expires_or_not,
    a_transaction_of_megabytes,
}

async fn a_transaction_has_the_replies_of_its_requests(client: &Client) -> Result<()> {
    let replies = client
        .transaction((
            Build.set("key_1", 42),
            Build.set("key_2", 43),
            Build.get("key_1").reply::<i32>(),
            Build.mget(["key_1", "key_2"]).reply::<(i32, i32)>(),
        ))
        .await?;
    assert_eq!(replies, (true, true, 42, (42, 43)));
    Ok(())
}

async fn a_transaction_of_many(client: &Client) -> Result<()> {
    let requests: Vec<_> = (0..500).map(|_| Build.incr("counter")).collect();
    assert_eq!(client.transaction(requests).await?, (1..=500).collect::<Vec<i64>>());
    let none: Vec<edgecask_client::Request<Build, edgecask_client::Any, i64>> = Vec::new();
    assert!(client.transaction(none).await?.is_empty());
    Ok(())
}

async fn a_transaction_that_is_refused_has_not_happened(client: &Client) -> Result<()> {
    client.set("x", 42).await?;
    let outcome = client.transaction((Build.ping(), Build.set("x", 142), Build.cmd("NO SUCH").arg(1))).await;
    let error = outcome.expect_err("no such command");
    assert!(error.to_string().contains("unknown command"), "the reason, not that there is one: {error}");
    let outcome = client.transaction((Build.set("x", 142), Build.cmd("GET"))).await;
    assert!(outcome.expect_err("no key").to_string().contains("wrong number of arguments"));
    assert_eq!(client.get("x").reply::<i64>().await?, 42);
    Ok(())
}

async fn an_error_within_a_transaction(client: &Client) -> Result<()> {
    client.set("x", "text").await?;
    let outcome = client.transaction((Build.set("y", 1), Build.incr("x"), Build.set("z", 1))).await;
    assert!(outcome.expect_err("no number").to_string().contains("not an integer"));
    assert_eq!(client.exists(["y", "z"]).await?, 2, "the others have run");
    Ok(())
}

async fn an_error_beside_other_replies(client: &Client) -> Result<()> {
    client.set("x", 42).await?;
    let (_, refused, value) = client
        .transaction((
            Build.set("x", 142),
            Build.lpush("x", 1).reply::<Result<i64, ServerError>>(),
            Build.get("x").reply::<Result<i64, ServerError>>(),
        ))
        .await?;
    assert_eq!(refused.expect_err("no list").code(), "WRONGTYPE");
    assert_eq!(value, Ok(142));
    Ok(())
}

async fn a_failed_transaction_spoils_nothing(client: &Client) -> Result<()> {
    let missing = || Build.evalsha("foobar", ()).reply::<()>();
    for _ in 0..3 {
        assert_eq!(code(&client.transaction((missing(), missing())).await), "NOSCRIPT");
        assert!(client.smembers("missing").await?.is_empty());
    }
    Ok(())
}

async fn a_hundred_transactions_do_not_mix(client: &Client) -> Result<()> {
    let mut tasks = Vec::new();
    for caller in 0..100 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            let own = format!("bar{caller}");
            let replies = client
                .transaction((
                    Build.set("key", caller),
                    Build.set("key2", &own),
                    Build.mget(["key", "key2"]).reply::<(i64, String)>(),
                ))
                .await?;
            assert_eq!(replies.2, (caller, own));
            Ok::<_, Error>(())
        }));
    }
    for task in tasks {
        task.await.expect("a task")?;
    }
    Ok(())
}

async fn a_loop_with_watch_by_hand(client: &Client) -> Result<()> {
    client.set("the_key", 42).await?;
    let connection = client.connection().await?;
    let mut rounds = 0;
    loop {
        rounds += 1;
        connection.cmd("WATCH").arg("the_key").reply::<()>().await?;
        let value: i64 = connection.get("the_key").reply().await?;
        if rounds == 1 {
            client.incr("the_key").await?;
        }
        connection.cmd("MULTI").reply::<()>().await?;
        assert_eq!(connection.set("the_key", value + 1).reply::<String>().await?, "QUEUED");
        assert_eq!(connection.get("the_key").reply::<String>().await?, "QUEUED");
        let replies: Option<(bool, i64)> = connection.cmd("EXEC").reply().await?;
        if let Some(replies) = replies {
            assert_eq!((rounds, replies), (2, (true, 44)));
            return Ok(());
        }
    }
}

async fn watch_does_it_again(client: &Client) -> Result<()> {
    client.set("the_key", 42).await?;
    let mut rounds = 0;
    let replies = client
        .watch("the_key", async |connection| {
            let value: i64 = connection.get("the_key").reply().await?;
            rounds += 1;
            if rounds < 3 {
                client.incr("the_key").await?;
            }
            Ok(Some((Build.set("the_key", value + 1), Build.get("the_key").reply::<i64>())))
        })
        .await?;
    assert_eq!((rounds, replies), (3, Some((true, 45))));
    let (mut rounds, mut is_first) = (0, true);
    client
        .watch(["a", "b"], async |connection| {
            rounds += 1;
            connection.get("a").await?;
            if std::mem::take(&mut is_first) {
                client.set("b", "changed").await?;
            }
            Ok(Some(Build.set("a", 1)))
        })
        .await?;
    assert_eq!(rounds, 2, "each of the keys counts");
    Ok(())
}

async fn watch_runs_nothing_if_nothing_is_to_run(client: &Client) -> Result<()> {
    let replies = client
        .watch("foo", async |connection| {
            let is_there = connection.exists("foo").reply::<bool>().await?;
            Ok(is_there.then(|| Build.set("foo", 1)))
        })
        .await?;
    assert_eq!((replies, client.exists("foo").await?), (None, 0));
    Ok(())
}

async fn watch_hands_an_error_on(client: &Client) -> Result<()> {
    client.rpush("list", 1).await?;
    let outcome = client
        .watch("list", async |connection| {
            let value: i64 = connection.get("list").reply().await?;
            Ok(Some(Build.set("list", value)))
        })
        .await;
    assert_eq!(code(&outcome), "WRONGTYPE");
    let outcome = client.watch("list", async |_| Ok(Some(Build.get("list")))).await;
    assert_eq!(code(&outcome), "WRONGTYPE");
    assert_eq!(client.llen("list").await?, 1);
    Ok(())
}

async fn multi_and_discard_by_hand(client: &Client) -> Result<()> {
    let connection = client.connection().await?;
    connection.cmd("MULTI").reply::<()>().await?;
    connection.set("foo", 1).reply::<String>().await?;
    assert_eq!(client.exists("foo").await?, 0, "it waits for EXEC");
    assert!(connection.cmd("MULTI").reply::<()>().await.is_err(), "one is there already");
    connection.cmd("DISCARD").reply::<()>().await?;
    assert_eq!(client.exists("foo").await?, 0);
    assert!(
        connection
            .cmd("EXEC")
            .reply::<Value>()
            .await
            .expect_err("no MULTI")
            .to_string()
            .contains("without MULTI")
    );
    connection.cmd("MULTI").reply::<()>().await?;
    assert!(connection.cmd("NO SUCH").reply::<Value>().await.is_err());
    assert_eq!(code(&connection.cmd("EXEC").reply::<Value>().await), "EXECABORT");
    Ok(())
}

async fn a_watched_key_that_expires_or_not(client: &Client) -> Result<()> {
    client.set("foo", 1).ex(100).await?;
    let connection = client.connection().await?;
    for (change, happens) in [("", true), ("touch", true), ("expire", false), ("del", false)] {
        client.set("foo", 1).ex(100).await?;
        connection.cmd("WATCH").arg("foo").reply::<()>().await?;
        match change {
            "touch" => client.touch("foo").reply::<()>().await?,
            "expire" => client.expire("foo", 50).reply::<()>().await?,
            "del" => client.del("foo").reply::<()>().await?,
            _ => {}
        }
        connection.cmd("MULTI").reply::<()>().await?;
        connection.incr("counter").reply::<String>().await?;
        let replies: Option<Vec<i64>> = connection.cmd("EXEC").reply().await?;
        assert_eq!(replies.is_some(), happens, "after {change:?}");
    }
    Ok(())
}

async fn a_transaction_of_megabytes(client: &Client) -> Result<()> {
    let value = "x".repeat(3_000_000);
    let replies = client.transaction((Build.set("foo", &value), Build.get("foo").reply::<String>())).await?;
    assert!(replies.0 && replies.1 == value);
    Ok(())
}
