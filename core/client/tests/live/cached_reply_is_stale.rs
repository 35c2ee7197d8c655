//! A cache is never older than the last invalidation.

use std::time::{Duration, Instant};

use edgecask_client::{Build, Cache, Client};

use super::server::Server;

async fn until(cache: &Cache, key: &str, value: Option<&str>) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while cache.get(key).await.expect("GET").as_deref() != value.map(str::as_bytes) {
        assert!(Instant::now() < deadline, "{key} is stale");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_by_somebody_else_is_seen() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let cache = client.cache(1 << 20);
    client.set_from("key", b"one").await.expect("SET");
    until(&cache, "key", Some("one")).await;
    let (hits, misses) = cache.hits_and_misses();
    for _ in 0..10 {
        assert_eq!(cache.get("key").await.expect("GET").as_deref(), Some(&b"one"[..]));
    }
    assert_eq!(cache.hits_and_misses(), (hits + 10, misses), "ten reads ask nobody");
    client.set_from("key", b"two").await.expect("SET");
    until(&cache, "key", Some("two")).await;
    client.cmd("FLUSHALL").reply::<()>().await.expect("FLUSHALL");
    until(&cache, "key", None).await;
    // Any command that reads its keys.
    client.cmd("HSET").args(["hash", "field", "1"]).reply::<()>().await.expect("HSET");
    let length = || cache.read(Build.cmd("HLEN").arg("hash").reply::<i64>());
    assert_eq!(length().await.expect("HLEN"), 1);
    client.cmd("HSET").args(["hash", "other", "1"]).reply::<()>().await.expect("HSET");
    let deadline = Instant::now() + Duration::from_secs(5);
    while length().await.expect("HLEN") != 2 {
        assert!(Instant::now() < deadline, "the hash is stale");
    }
    let error = cache.read(Build.cmd("INCR").arg("key").reply::<i64>()).await.expect_err("it writes");
    assert!(error.to_string().contains("read"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_never_go_backwards_while_others_write() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let cache = client.cache(1 << 20);
    let writer = client.clone();
    let writing = tokio::spawn(async move {
        for number in 1..=3000 {
            writer.set_from("number", number.to_string().as_bytes()).await.expect("SET");
        }
    });
    let mut last = 0;
    while last < 3000 {
        let value = cache.get("number").await.expect("GET").unwrap_or_default();
        let number = String::from_utf8(value).expect("text").parse().unwrap_or(0);
        assert!(number >= last, "{number} after {last}");
        last = number;
        tokio::task::yield_now().await;
    }
    writing.await.expect("a task");
}
