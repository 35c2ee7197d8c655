//! The store in this process: what it keeps, and who may open it.

use std::time::{Duration, Instant};

use edgecask_client::{Build, Client, Commands};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_is_there_when_the_directory_is_opened_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let url = format!("edgecask:{}", directory.path().display());
    let client = Client::connect(&url).await.expect("a store");
    for number in 0..100 {
        client.set(format!("key:{number}"), number).await.expect("SET");
    }
    client.rpush("list", "x").await.expect("RPUSH");
    client.set_from("large", &vec![b'v'; 5_000_000]).await.expect("SET");
    client.del("key:0").await.expect("DEL");
    let sum =
        client.fold(0, |sum, key, value| if key.starts_with(b"key:") { sum + value.len() } else { sum });
    assert_eq!(sum.await.expect("a fold"), 9 + 90 * 2);
    client.merge().await.expect("a merge");
    client.sync().await.expect("a sync");

    // The same process does not get it a second time.
    let error = Client::connect(&url).await.err().expect("it is open");
    assert!(error.to_string().contains("locked by pid"), "{error}");
    drop(client);
    let deadline = Instant::now() + Duration::from_secs(10);
    let client = loop {
        match Client::connect(&url).await {
            Ok(client) => break client,
            Err(error) => assert!(Instant::now() < deadline, "it does not close: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let mut large = Vec::new();
    assert!(client.get_into("large", &mut large).await.expect("GET") && large.len() == 5_000_000);
    assert_eq!(client.get("key:0").await.expect("GET"), None);
    assert_eq!(client.get("key:99").reply::<i64>().await.expect("GET"), 99);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_only_read_refuses_writes() {
    let directory = tempfile::tempdir().expect("a directory");
    let url = format!("edgecask:{}", directory.path().display());
    let read_only = format!("{url}?read_only=1");
    assert!(Client::connect(&read_only).await.is_err(), "there is no store yet");
    let client = Client::connect(&url).await.expect("a store");
    client.set("key", "value").await.expect("SET");
    drop(client);
    let deadline = Instant::now() + Duration::from_secs(10);
    let client = loop {
        match Client::connect(&read_only).await {
            Ok(client) => break client,
            Err(error) => assert!(Instant::now() < deadline, "it does not close: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(client.get("key").await.expect("GET"), Some(b"value".to_vec()));
    let error = client.set("key", "other").await.expect_err("it is only read");
    assert_eq!(error.code(), Some("READONLY"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_of_a_store_in_memory_see_each_other() {
    let client = Client::connect("edgecask:memory").await.expect("a store");
    let mut news = client.subscribe(["news"]).await.expect("SUBSCRIBE");
    assert_eq!(client.publish("news", "one").await.expect("PUBLISH"), 1);
    assert_eq!(news.message().await.expect("a message").payload, b"one");
    let popper = client.clone();
    let popped = tokio::spawn(async move { popper.blpop("queue", 10.0).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    client.rpush("queue", "job").await.expect("RPUSH");
    assert_eq!(popped.await.expect("a task").expect("BLPOP"), Some((b"queue".to_vec(), b"job".to_vec())));
    let (first, second) = client.transaction((Build.incr("n"), Build.incr("n"))).await.expect("EXEC");
    assert_eq!((first, second), (1, 2));
    let cache = client.cache(1 << 20);
    client.set("key", "one").await.expect("SET");
    assert_eq!(cache.get("key").await.expect("GET"), Some(b"one".to_vec()));
    client.set("key", "two").await.expect("SET");
    let deadline = Instant::now() + Duration::from_secs(5);
    while cache.get("key").await.expect("GET") != Some(b"two".to_vec()) {
        assert!(Instant::now() < deadline, "the cache is stale");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(client.eval("return ARGV[1] * 2", ()).args(21).reply::<i64>().await.expect("EVAL"), 42);
}

/// With one thread, so that what a caller does in its own thread is seen to need no other.
#[tokio::test]
async fn requests_of_many_tasks_come_to_an_end() {
    let client = Client::connect("edgecask:memory").await.expect("a store");
    let mut tasks = Vec::new();
    for task in 0..50 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            for call in 0..200 {
                let id = format!("{task}:{call}");
                assert_eq!(client.echo(&id).await.expect("ECHO"), id.as_bytes());
            }
        }));
    }
    for task in tasks {
        task.await.expect("a task");
    }
}
