//! Servers that are slow or say nothing.

use std::time::{Duration, Instant};

use edgecask_client::{Client, Commands, Error, Options};
use tokio::io::AsyncWriteExt;

use crate::misbehaving::Misbehaving;
use crate::server::{Server, free_port};

#[tokio::test]
async fn flows_survive_a_timeout_in_the_middle_of_a_reply() {
    let server = Misbehaving::start(|mut stream, reply: Vec<u8>| async move {
        if reply.windows(4).any(|part| part == b"slow") {
            let (begin, rest) = reply.split_at(reply.len() / 2);
            stream.write_all(begin).await.ok()?;
            tokio::time::sleep(Duration::from_millis(100)).await;
            stream.write_all(rest).await.ok()?;
        } else {
            stream.write_all(&reply).await.ok()?;
        }
        Some(stream)
    })
    .await;
    let client = Client::connect(&server.url).await.expect("a connection");
    for _ in 0..3 {
        let late = client.get("slow").within(Duration::from_millis(20)).await;
        assert!(matches!(late, Err(Error::Timeout { may_have_run: true, .. })), "{late:?}");
        assert_eq!(client.get("quick").reply::<String>().await.expect("a reply"), "quick");
    }
}

#[tokio::test]
async fn flows_give_up_a_server_that_says_nothing() {
    // The system accepts the connection, and nobody reads from it.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut options = Options::from_url(&format!("redis://{address}/1")).expect("a URL");
    options.connect_timeout = Duration::from_millis(50);
    let begun = Instant::now();
    let error = Client::with_options(options).await.err().expect("nobody answers");
    assert!(matches!(error, Error::Timeout { may_have_run: false, .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn flows_fail_at_once_where_nobody_listens() {
    let url = format!("redis://127.0.0.1:{}", free_port());
    let error = Client::connect(&url).await.err().expect("nobody listens");
    assert!(matches!(error, Error::Io { may_have_run: false, .. }), "{error:?}");
    assert!(error.is_retry_safe());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_go_on_when_their_server_is_back() {
    let server = Server::redis(&[]);
    let port = server.port;
    let client = Client::connect(&server.url()).await.expect("a connection");
    let cache = client.cache(1 << 20);
    client.set("foo", "bar").await.expect("SET");
    assert_eq!(cache.get("foo").await.expect("GET"), Some(b"bar".to_vec()));
    drop(server);
    let error = client.get("foo").within(Duration::from_millis(100)).await.expect_err("it is down");
    assert!(matches!(error, Error::Timeout { .. } | Error::Io { .. }), "{error:?}");
    let _server = tokio::task::spawn_blocking(move || Server::redis_on(port, &[])).await.expect("a server");
    assert_eq!(client.get("foo").await.expect("the new server"), None);
    assert_eq!(cache.get("foo").await.expect("the new server"), None, "the cache has forgotten it");
    assert!(client.set("foo", "again").await.expect("SET"));
}
