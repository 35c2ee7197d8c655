//! Several requests at once, without a transaction.

use std::collections::HashMap;

use edgecask_client::{Build, Client, Commands, Error, Pipeline, Result, ServerError, Value};

use super::code;

cases! {
    replies_of_different_types,
    replies_of_one_type,
    a_reply_becomes_a_map,
    aggregates_stay_apart,
    an_error_of_one_is_the_error_of_all,
    an_error_beside_other_replies,
    all_errors_of_a_pipeline,
    errors_do_not_spoil_what_comes_after,
    a_pipeline_without_requests,
    a_pipeline_is_sent_again,
    a_pipeline_is_cleared,
    a_pipeline_of_thousands,
    a_pipeline_of_megabytes,
    pipelines_within_pipelines,
    a_request_without_a_command,
    a_hundred_callers_share_a_connection,
    a_replica_refuses_writes except {
        Tcp: super::NO_REPLICATION, Web: super::NO_REPLICATION, Embedded: super::NO_REPLICATION,
    },
}

async fn replies_of_different_types(client: &Client) -> Result<()> {
    let (_, _, both) = client
        .pipeline((
            Build.set("key_1", 42),
            Build.set("key_2", 43),
            Build.mget(["key_1", "key_2"]).reply::<(i32, i32)>(),
        ))
        .await?;
    assert_eq!(both, (42, 43));
    let replies = client
        .pipeline((
            Build.rpush("list", [1, 2]),
            Build.lrange("list", 0, -1).reply::<Vec<i64>>(),
            Build.exists("list").reply::<bool>(),
            Build.get("missing"),
            Build.ping(),
        ))
        .await?;
    assert_eq!(replies, (2, vec![1, 2], true, None, "PONG".to_owned()));
    Ok(())
}

async fn replies_of_one_type(client: &Client) -> Result<()> {
    let requests: Vec<_> = (0..10).map(|number| Build.incrby("sum", number)).collect();
    assert_eq!(client.pipeline(&requests).await?, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    let [one, other] = client.pipeline([Build.get("sum"), Build.get("none")]).await?.try_into().expect("two");
    assert_eq!((one, other), (Some(b"45".to_vec()), None));
    Ok(())
}

async fn a_reply_becomes_a_map(client: &Client) -> Result<()> {
    client.hset("my_hash", [("f1", 1), ("f2", 2), ("f3", 4), ("f4", 8)]).await?;
    let maps = client.pipeline(vec![Build.hgetall("my_hash").reply::<HashMap<String, i64>>()]).await?;
    assert_eq!((maps.len(), maps[0].len(), maps[0]["f4"]), (1, 4, 8));
    Ok(())
}

async fn aggregates_stay_apart(client: &Client) -> Result<()> {
    let mut pipeline = Pipeline::new();
    pipeline.add(Build.zrange("zset", 0, 0)).add(Build.zrange("zset", 0, 0));
    let mut replies = client.run(&pipeline).await?;
    assert_eq!(replies.len(), 2);
    for _ in 0..2 {
        assert_eq!(replies.next_reply::<Value>()?, Value::Array(Vec::new()));
    }
    assert!(replies.is_empty());
    Ok(())
}

async fn an_error_of_one_is_the_error_of_all(client: &Client) -> Result<()> {
    let replies = client
        .pipeline((Build.set("x", "x-value"), Build.hset("x", [("field", "value")]), Build.get("x")))
        .await;
    assert_eq!(code(&replies), "WRONGTYPE");
    let text = replies.expect_err("a string is no hash").to_string();
    assert!(text.contains("Operation against a key holding the wrong kind of value"), "{text}");
    assert_eq!(client.get("x").reply::<String>().await?, "x-value", "the others have run");
    Ok(())
}

async fn an_error_beside_other_replies(client: &Client) -> Result<()> {
    client.set("x", 42).await?;
    let (pong, _, refused, value) = client
        .pipeline((
            Build.ping(),
            Build.set("x", 142),
            Build.lrange("x", 0, -1).reply::<Result<Vec<String>, ServerError>>(),
            Build.get("x").reply::<Result<i64, ServerError>>(),
        ))
        .await?;
    assert_eq!((pong.as_str(), value), ("PONG", Ok(142)));
    assert_eq!(refused.expect_err("no list").code(), "WRONGTYPE");
    Ok(())
}

async fn all_errors_of_a_pipeline(client: &Client) -> Result<()> {
    client.lpush("key", "value").await?;
    let mut pipeline = Pipeline::new();
    pipeline.add(Build.get("key")).add(Build.llen("key")).add(Build.incr("key")).add(Build.cmd("NO SUCH"));
    let mut replies = client.run(&pipeline).await?;
    assert_eq!(code(&replies.next_reply::<String>()), "WRONGTYPE");
    assert_eq!(replies.next_reply::<i64>()?, 1);
    assert_eq!(code(&replies.next_reply::<i64>()), "WRONGTYPE");
    assert!(replies.next_reply::<()>().expect_err("no command").to_string().contains("unknown command"));
    assert!(matches!(replies.next_reply::<()>(), Err(Error::Invalid(_))), "there are no more");
    Ok(())
}

async fn errors_do_not_spoil_what_comes_after(client: &Client) -> Result<()> {
    client.lpush("key", "value").await?;
    for _ in 0..5 {
        let replies = client.pipeline((Build.get("key"), Build.llen("key"))).await;
        assert_eq!(code(&replies), "WRONGTYPE");
        assert_eq!(client.lrange("key", 0, -1).reply::<Vec<String>>().await?, ["value"]);
    }
    let mistyped = client.pipeline((Build.llen("key").reply::<Vec<i64>>(), Build.llen("key"))).await;
    assert!(matches!(mistyped, Err(Error::Type { .. })), "{mistyped:?}");
    assert_eq!(client.llen("key").await?, 1);
    Ok(())
}

async fn a_pipeline_without_requests(client: &Client) -> Result<()> {
    let pipeline = Pipeline::new();
    assert!(pipeline.is_empty());
    assert!(client.run(&pipeline).await?.is_empty());
    let none: [edgecask_client::Request<Build, edgecask_client::Any, i64>; 0] = [];
    assert!(client.pipeline(none).await?.is_empty());
    Ok(())
}

async fn a_pipeline_is_sent_again(client: &Client) -> Result<()> {
    let mut pipeline = Pipeline::new();
    pipeline.add(Build.set("pkey_1", 42)).add(Build.mget("pkey_1"));
    assert_eq!(pipeline.len(), 2);
    let mut replies = client.run(&pipeline).await?;
    replies.next_reply::<()>()?;
    assert_eq!(replies.next_reply::<(i32,)>()?, (42,));
    pipeline.add(Build.set("pkey_2", 43)).add(Build.mget(["pkey_1", "pkey_2"]));
    assert_eq!(pipeline.len(), 4);
    let mut replies = client.run(&pipeline).await?;
    replies.next_reply::<()>()?;
    assert_eq!(replies.next_reply::<(i32,)>()?, (42,));
    replies.next_reply::<()>()?;
    assert_eq!(replies.next_reply::<(i32, i32)>()?, (42, 43));
    Ok(())
}

async fn a_pipeline_is_cleared(client: &Client) -> Result<()> {
    let mut pipeline = Pipeline::new();
    pipeline.add(Build.set("pkey_1", 44)).add(Build.get("pkey_1"));
    client.run(&pipeline).await?;
    pipeline.clear();
    assert!(pipeline.is_empty());
    client.del("pkey_1").await?;
    pipeline.add(Build.set("pkey_2", 45)).add(Build.mget(["pkey_1", "pkey_2"]));
    let mut replies = client.run(&pipeline).await?;
    replies.next_reply::<()>()?;
    assert_eq!(replies.next_reply::<(Option<i32>, i32)>()?, (None, 45));
    Ok(())
}

async fn a_pipeline_of_thousands(client: &Client) -> Result<()> {
    let mut pipeline = Pipeline::new();
    (0..5000).for_each(|number| {
        pipeline.add(Build.set(number, number)).add(Build.get(number));
    });
    let mut replies = client.run(&pipeline).await?;
    for number in 0..5000 {
        replies.next_reply::<()>()?;
        assert_eq!(replies.next_reply::<i64>()?, number);
    }
    assert_eq!(client.dbsize().await?, 5000);
    Ok(())
}

async fn a_pipeline_of_megabytes(client: &Client) -> Result<()> {
    let value = "x".repeat(1_000_000);
    let requests: Vec<_> = (0..5).map(|number| (Build.set(number, &value), Build.strlen(number))).collect();
    assert_eq!(client.pipeline(requests).await?, vec![(true, 1_000_000); 5]);
    let values = client.pipeline(vec![Build.get(0).reply::<String>(), Build.get(4).reply()]).await?;
    assert!(values.iter().all(|one| *one == value));
    Ok(())
}

async fn pipelines_within_pipelines(client: &Client) -> Result<()> {
    let replies = client
        .pipeline((
            Build.incr("a"),
            (Build.incr("b"), [Build.incr("a"), Build.incr("a")]),
            vec![Build.get("b")],
        ))
        .await?;
    assert_eq!(replies, (1, (1, vec![2, 3]), vec![Some(b"1".to_vec())]));
    Ok(())
}

async fn a_request_without_a_command(client: &Client) -> Result<()> {
    let error = client.cmd("").await.expect_err("nothing could be answered");
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    let error = client.pipeline((Build.ping(), Build.cmd(" "))).await.expect_err("one of them is none");
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    assert_eq!(client.ping().await?, "PONG");
    Ok(())
}

async fn a_hundred_callers_share_a_connection(client: &Client) -> Result<()> {
    let mut tasks = Vec::new();
    for caller in 0..100 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            let (key, other) = (format!("key{caller}"), format!("key{caller}_2"));
            client.set(&key, format!("foo{caller}")).await?;
            client.set(&other, "bar").await?;
            let both: (String, Vec<u8>) = client.mget([&key, &other]).reply().await?;
            assert_eq!(both, (format!("foo{caller}"), b"bar".to_vec()));
            Ok::<_, Error>(())
        }));
    }
    for task in tasks {
        task.await.expect("a task")?;
    }
    Ok(())
}

async fn a_replica_refuses_writes(client: &Client) -> Result<()> {
    client.mset([("x", "x-value"), ("y", "y-value")]).await?;
    client.replicaof(("1.1.1.1", 99)).await?;
    let written = client.pipeline((Build.set("x", "another"), Build.get("y"))).await;
    let refused = client.transaction((Build.ping(), Build.set("x", "another"), Build.get("x"))).await;
    client.replicaof(("NO", "ONE")).await?;
    assert_eq!((code(&written), code(&refused)), ("READONLY", "READONLY"), "{refused:?}");
    assert_eq!(client.get("x").reply::<String>().await?, "x-value");
    Ok(())
}
