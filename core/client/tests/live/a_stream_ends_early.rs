//! Entries of streams and requests of other clients, as streams.

use std::time::{Duration, Instant};

use edgecask_client::{Build, Client, Commands, HandMade, Observed};

use super::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_come_in_order_those_that_are_there_and_those_that_come() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    for number in 0..250 {
        client.xadd("stream", "*", [("n", number)]).await.expect("XADD");
    }
    client.xgroup_create("stream", "group", "0").await.expect("XGROUP CREATE");
    let writer = client.clone();
    let writing = tokio::spawn(async move {
        for number in 250..300 {
            tokio::time::sleep(Duration::from_millis(2)).await;
            writer.xadd("stream", "*", [("n", number)]).await.expect("XADD");
        }
    });
    let (mut all, mut own) = (client.entries("stream", "0"), client.group_entries("stream", "group", "me"));
    for number in 0..300 {
        for entry in [all.next().await.expect("an entry"), own.next().await.expect("an entry")] {
            assert_eq!(entry.get("n"), Some(number.to_string().as_bytes()));
            if number % 2 == 0 {
                own.ack(&entry).await.expect("XACK");
            }
        }
    }
    writing.await.expect("a task");
    let pending = client.xpending("stream", "group").await.expect("XPENDING");
    assert_eq!(pending.0, 150, "half of them were confirmed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_between_two_requests_for_new_ones_is_lost() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    client.xadd("stream", "*", [("n", "old")]).await.expect("XADD");
    let reader = client.clone();
    let reading = tokio::spawn(async move { reader.entries("stream", "$").next().await.expect("an entry") });
    let waiting = loop {
        let list = client.client_list().reply::<String>().await.expect("CLIENT LIST");
        let line = list.lines().find(|line| line.contains("cmd=xread") && line.contains("flags=b"));
        if let Some(line) = line {
            break line.split(' ').next().and_then(|id| id.strip_prefix("id=")).expect("an id").to_owned();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    // Its request ends without an entry, and one is there before the next.
    let unblock = Build.cmd("CLIENT UNBLOCK").arg(&waiting).arg("TIMEOUT");
    client
        .transaction((unblock, Build.cmd("XADD").arg("stream").arg("*").arg("n").arg("new")))
        .await
        .expect("a transaction");
    let entry =
        tokio::time::timeout(Duration::from_secs(5), reading).await.expect("in time").expect("a task");
    assert_eq!(entry.get("n"), Some(b"new".as_slice()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_monitor_sees_the_requests_of_others() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    let mut monitor = client.monitor();
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        client.set("watched", "value").await.expect("SET");
        let observed = tokio::time::timeout(Duration::from_millis(50), monitor.next()).await;
        if let Ok(Some(Ok(Observed::Request(line)))) = observed
            && line.contains("\"SET\" \"watched\" \"value\"")
        {
            break;
        }
        assert!(Instant::now() < deadline, "nothing is seen");
    }
}
