//! Pipelines and transactions.

use std::time::{Duration, Instant};

use edgecask_client::{Build, Client, Commands, Error, Library, Options, Pipeline, Script, ServerError};

use super::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_of_a_pipeline_stand_in_their_order() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let replies = client
        .pipeline((
            Build.cmd("SET").args(["a", "1"]).reply::<()>(),
            Build.cmd("INCR").arg("a").reply::<i64>(),
            vec![Build.cmd("GET").arg("a").reply::<Option<String>>(), Build.cmd("GET").arg("none").reply()],
            Build.cmd("LPUSH").args(["a", "x"]).reply::<Result<i64, ServerError>>(),
        ))
        .await
        .expect("replies");
    assert_eq!((replies.1, replies.2), (2, vec![Some("2".to_owned()), None]));
    assert_eq!(replies.3.expect_err("a string is no list").code(), "WRONGTYPE");

    let mut pipeline = Pipeline::new();
    for number in 0..1000 {
        pipeline.add(Build.cmd("SET").arg(format!("key:{number}")).arg(number));
        pipeline.add(Build.cmd("LPUSH").arg(format!("key:{number}")).arg(number));
        pipeline.add(Build.cmd("GET").arg(format!("key:{number}")));
    }
    let mut replies = client.run(&pipeline).await.expect("replies");
    for number in 0..1000 {
        replies.next_reply::<()>().expect("OK");
        assert_eq!(replies.next_reply::<i64>().expect_err("no list").code(), Some("WRONGTYPE"));
        assert_eq!(replies.next_bytes().expect("a string"), Some(number.to_string().as_bytes()));
    }
    assert!(replies.is_empty() && replies.next_reply::<()>().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_happens_as_a_whole_or_not_at_all() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let incr = |key: &str| Build.cmd("INCR").arg(key).reply::<i64>();
    assert_eq!(client.transaction((incr("a"), incr("a"))).await.expect("a transaction"), (1, 2));
    let refused =
        client.transaction((incr("a"), Build.cmd("INCR").reply::<i64>())).await.expect_err("an error");
    assert!(refused.to_string().contains("wrong number of arguments"), "{refused}");
    assert_eq!(client.cmd("GET").arg("a").reply::<i64>().await.expect("GET"), 2, "nothing of it has run");

    // Eight callers, each adding to what it has read.
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..20 {
                let done = client
                    .watch(["balance"], async |connection| {
                        let balance: Option<i64> = connection.cmd("GET").arg("balance").reply().await?;
                        Ok(Some(Build.cmd("SET").arg("balance").arg(balance.unwrap_or(0) + 1).reply::<()>()))
                    })
                    .await;
                assert!(matches!(done, Ok(Some(())) | Err(Error::Watched)), "{done:?}");
            }
        }));
    }
    for task in tasks {
        task.await.expect("a task");
    }
    assert_eq!(client.cmd("GET").arg("balance").reply::<i64>().await.expect("GET"), 160);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipeline_that_blocks_keeps_others_waiting() {
    let server = Server::redis(&[]);
    let mut options = Options::from_url(&server.url()).expect("a URL");
    options.timeout = Duration::from_secs(1);
    let client = Client::with_options(options).await.expect("a connection");
    let blocking = client.clone();
    let waiting = tokio::spawn(async move {
        let typed = blocking.pipeline((Build.blpop("none", 1.5), Build.cmd("PING"))).await;
        let mut gathered = Pipeline::new();
        gathered.add(Build.blpop("none", 0.7)).add(Build.brpop("none", 0.7));
        (typed, blocking.run(&gathered).await.map(|replies| replies.len()))
    });
    while !waiting.is_finished() {
        let begin = Instant::now();
        client.set("key", "value").await.expect("SET");
        assert!(begin.elapsed() < Duration::from_millis(600), "{:?}", begin.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (typed, gathered) = waiting.await.expect("a task");
    assert_eq!(typed.expect("replies").0, None);
    assert_eq!(gathered.expect("replies"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_is_sent_to_a_server_that_does_not_know_it() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let script = Script::new("return {KEYS[1], ARGV[1] * 2}");
    for _ in 0..2 {
        let result: (String, i64) = script.call(&client, "key", 21).await.expect("a result");
        assert_eq!(result, ("key".to_owned(), 42));
    }
    client.cmd("SCRIPT FLUSH").reply::<()>().await.expect("SCRIPT FLUSH");
    let result: (String, i64) = script.call(&client, ["key"], [1]).await.expect("a result");
    assert_eq!(result, ("key".to_owned(), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_library_is_sent_to_a_server_that_does_not_have_it() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let library = |factor: i64| {
        let body = format!("function(keys, args) return {{keys[1], args[1] * {factor}}} end");
        Library::new(format!("#!lua name=maths\nredis.register_function('scale', {body})"))
    };
    for _ in 0..2 {
        let result: (String, i64) = library(2).call(&client, "scale", "key", 21).await.expect("a result");
        assert_eq!(result, ("key".to_owned(), 42));
    }
    assert_eq!(library(3).load(&client).await.expect("a name"), "maths");
    let result: (String, i64) = library(3).call(&client, "scale", ["key"], [1]).await.expect("a result");
    assert_eq!(result, ("key".to_owned(), 3));
    let error = library(2).call::<()>(&client, "none", (), ()).await.expect_err("no such function");
    assert!(
        matches!(&error, Error::Server(error) if error.message() == "ERR Function not found"),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_sees_every_key() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let mut pipeline = Pipeline::new();
    for number in 0..500 {
        pipeline.add(Build.cmd("SET").arg(format!("walk:{number}")).arg(number));
        pipeline.add(Build.cmd("ZADD").arg("scores").arg(number).arg(format!("m{number}")));
    }
    client.run(&pipeline).await.expect("replies");
    let (mut keys, mut seen) =
        (client.scan_keys().matching("walk:*").count(50), std::collections::HashSet::new());
    while let Some(key) = keys.next().await {
        seen.insert(key.expect("a key"));
    }
    assert_eq!(seen.len(), 500);
    let (mut members, mut sum) = (client.scan_scores("scores"), 0.0);
    while let Some(member) = members.next().await {
        sum += member.expect("a member").1;
    }
    assert!(sum >= 124_750.0, "{sum}");
}
