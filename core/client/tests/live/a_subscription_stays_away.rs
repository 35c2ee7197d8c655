//! Subscriptions come back after a lost connection, and a slow reader of one delays no other.

use std::time::{Duration, Instant};

use edgecask_client::{Client, Message, Notice, Options};

use super::server::Server;

async fn publish(client: &Client, channel: &str, payload: &str) -> i64 {
    client.cmd("PUBLISH").arg(channel).arg(payload).reply().await.expect("PUBLISH")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_come_by_channel_and_pattern_and_end_with_the_subscription() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let mut news = client.subscribe(["news", "more"]).await.expect("SUBSCRIBE");
    let mut all = client.psubscribe(["n*"]).await.expect("PSUBSCRIBE");
    assert_eq!(publish(&client, "news", "one").await, 2);
    let message = |pattern: Option<&str>| Message {
        channel: b"news".to_vec(),
        pattern: pattern.map(|pattern| pattern.as_bytes().to_vec()),
        payload: b"one".to_vec(),
    };
    assert_eq!(news.next().await, Some(Notice::Message(message(None))));
    assert_eq!(all.next().await, Some(Notice::Message(message(Some("n*")))));
    drop(all);
    let deadline = Instant::now() + Duration::from_secs(5);
    while publish(&client, "news", "two").await != 1 {
        assert!(Instant::now() < deadline, "the pattern is still subscribed to");
    }
    assert_eq!(news.message().await.expect("a message").payload, b"two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_is_back_within_a_second_of_its_server() {
    let server = Server::redis(&[]);
    let port = server.port;
    let client = Client::connect(&server.url()).await.expect("a connection");
    let mut news = client.subscribe(["news"]).await.expect("SUBSCRIBE");
    drop(server);
    tokio::time::sleep(Duration::from_millis(700)).await;
    let _server = tokio::task::spawn_blocking(move || Server::redis_on(port, &[])).await.expect("a server");
    let back = Instant::now();
    while publish(&client, "news", "again").await == 0 {
        assert!(back.elapsed() < Duration::from_secs(1), "nobody listens after {:?}", back.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(news.next().await, Some(Notice::Reconnected));
    assert_eq!(news.message().await.expect("a message").payload, b"again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_loses_its_oldest_messages_and_is_told() {
    let server = Server::redis(&[]);
    let mut options = Options::from_url(&server.url()).expect("a URL");
    options.subscription_max = (10, 1 << 20);
    let client = Client::with_options(options).await.expect("a connection");
    let mut slow = client.subscribe(["slow"]).await.expect("SUBSCRIBE");
    let mut quick = client.subscribe(["quick"]).await.expect("SUBSCRIBE");
    for number in 0..100 {
        publish(&client, "slow", &number.to_string()).await;
    }
    publish(&client, "quick", "now").await;
    assert_eq!(quick.message().await.expect("a message").payload, b"now");
    assert_eq!(slow.next().await, Some(Notice::Lost(90)));
    assert_eq!(slow.message().await.expect("a message").payload, b"90");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_that_is_not_allowed_is_an_error() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let rules = ["SETUSER", "limited", "on", ">p", "+@all", "~*", "&allowed"];
    client.cmd("ACL").args(rules).reply::<()>().await.expect("ACL SETUSER");
    let limited =
        Client::connect(&format!("redis://limited:p@127.0.0.1:{}", server.port)).await.expect("a login");
    let error = limited.subscribe(["secret"]).await.err().expect("no permission");
    assert_eq!(error.code(), Some("NOPERM"), "{error:?}");
    let mut allowed = limited.subscribe(["allowed"]).await.expect("SUBSCRIBE");
    publish(&client, "allowed", "here").await;
    assert_eq!(allowed.message().await.expect("a message").payload, b"here");
}
