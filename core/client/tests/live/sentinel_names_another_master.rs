//! Finding the master by sentinels, and Unix sockets.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use edgecask_client::{Client, Commands, Options};

use super::server::{Server, free_port};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_follows_the_master_that_sentinels_name() {
    let first = Server::redis(&[]);
    let second = Server::redis(&[]);
    let directory = tempfile::tempdir().expect("a directory");
    let port = free_port();
    let config = directory.path().join("sentinel.conf");
    let text = format!(
        "port {port}\nbind 127.0.0.1\nrequirepass of-sentinels\nsentinel monitor main 127.0.0.1 {} 1\n",
        first.port
    );
    std::fs::write(&config, text).expect("a file");
    let mut sentinel = Command::new("redis-server")
        .arg(&config)
        .arg("--sentinel")
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed (make setup)");
    let url = format!("redis-sentinel://127.0.0.1:1,127.0.0.1:{port}/main?sentinel_password=of-sentinels");
    let mut options = Options::from_url(&url).expect("a URL");
    options.timeout = Duration::from_secs(20);
    let client = Client::lazy(options);
    client.set("name", "first").await.expect("SET at the first master");
    let direct = Client::connect(&first.url()).await.expect("a connection");
    assert_eq!(direct.get("name").await.expect("GET"), Some(b"first".to_vec()));

    // The sentinel monitors another master now, and the first one ends.
    let sentinels =
        Client::connect(&format!("redis://:of-sentinels@127.0.0.1:{port}")).await.expect("a login");
    sentinels.cmd("SENTINEL REMOVE").arg("main").reply::<()>().await.expect("SENTINEL REMOVE");
    let monitor = ("main", "127.0.0.1", second.port, 1);
    sentinels.cmd("SENTINEL MONITOR").args(monitor).reply::<()>().await.expect("SENTINEL MONITOR");
    drop(first);
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Err(error) = client.set("name", "second").await {
        assert!(Instant::now() < deadline, "{error}");
    }
    let direct = Client::connect(&second.url()).await.expect("a connection");
    assert_eq!(direct.get("name").await.expect("GET"), Some(b"second".to_vec()));
    let _ = sentinel.kill();
    let _ = sentinel.wait();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unix_socket_is_a_server_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("redis.sock");
    let socket = socket.to_str().expect("text");
    let _server = Server::redis(&["--unixsocket", socket, "--requirepass", "p"]);
    let client = Client::connect(&format!("unix://:p@{socket}?db=2")).await.expect("a connection");
    client.set("key", "value").await.expect("SET");
    assert_eq!(client.dbsize().await.expect("DBSIZE"), 1);
}
