//! A server that goes away and comes back: requests fail clearly or wait, and nothing piles up.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use edgecask_client::{Client, Error, Options};

use super::server::{Server, free_port};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_wait_for_a_server_that_is_away_until_their_deadline() {
    let port = free_port();
    let mut options = Options::from_url(&format!("redis://127.0.0.1:{port}")).expect("a URL");
    options.timeout = Duration::from_millis(200);
    let client = Client::lazy(options);
    let begun = Instant::now();
    let error = client.cmd("PING").reply::<String>().await.expect_err("nobody is there");
    assert!(matches!(error, Error::Timeout { may_have_run: false, .. }), "{error:?}");
    assert!(error.is_retry_safe());
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let waiting = client.cmd("PING").within(Duration::from_secs(20)).reply::<String>();
    let (pong, _server) = tokio::join!(waiting, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        tokio::task::spawn_blocking(move || Server::redis_on(port, &[])).await.expect("a server")
    });
    assert_eq!(pong.expect("it is there now"), "PONG");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_is_an_error_for_what_was_sent_and_none_for_what_comes_after() {
    let server = Server::redis(&["--enable-debug-command", "local"]);
    let port = server.port;
    let client = Client::connect(&server.url()).await.expect("a connection");
    let sleeping = client.cmd("DEBUG SLEEP").arg(5).reply::<()>();
    let (error, _server) = tokio::join!(sleeping, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(server);
        tokio::task::spawn_blocking(move || Server::redis_on(port, &[])).await.expect("a server")
    });
    let error = error.expect_err("the server was killed");
    assert!(error.may_have_run() && !error.is_retry_safe(), "{error:?}");
    let pong: String = client.cmd("PING").reply().await.expect("the new server");
    assert_eq!(pong, "PONG");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_said_at_once() {
    let server = Server::redis(&["--requirepass", "right"]);
    let url = |password: &str| format!("redis://:{password}@127.0.0.1:{}", server.port);
    let error = Client::connect(&url("wrong")).await.err().expect("the password is wrong");
    assert_eq!(error.code(), Some("WRONGPASS"), "{error:?}");
    let client = Client::lazy(Options::from_url(&url("wrong")).expect("a URL"));
    let begun = Instant::now();
    let error = client.cmd("PING").reply::<String>().await.expect_err("the password is wrong");
    assert_eq!(error.code(), Some("WRONGPASS"), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let client = Client::connect(&url("right")).await.expect("the password is right");
    assert_eq!(client.cmd("PING").reply::<String>().await.expect("PONG"), "PONG");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_caller_has_its_time_and_a_leaving_one_takes_nothing() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let popper = client.clone();
    let popped = tokio::spawn(async move {
        let request = popper.cmd("BLPOP").arg("queue").arg(0).blocking(Duration::MAX);
        request.reply::<(String, String)>().await
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    // Others are not behind it.
    client.cmd("RPUSH").arg("queue").arg("job").reply::<i64>().await.expect("RPUSH");
    let popped = popped.await.expect("a task").expect("a job");
    assert_eq!(popped, ("queue".to_owned(), "job".to_owned()));
    // One that leaves closes its connection, so that a later element is not popped for nobody.
    let leaving = client.cmd("BLPOP").arg("queue").arg(0).blocking(Duration::MAX).reply::<(String, String)>();
    let left = tokio::time::timeout(Duration::from_millis(50), leaving.into_future()).await;
    assert!(left.is_err());
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.cmd("RPUSH").arg("queue").arg("kept").reply::<i64>().await.expect("RPUSH");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(client.cmd("LLEN").arg("queue").reply::<i64>().await.expect("LLEN"), 1);
}
