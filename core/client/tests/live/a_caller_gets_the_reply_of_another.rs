//! Thousands of requests whose callers leave at any moment: nobody gets another's reply, and the pool keeps its bound.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use edgecask_client::{Client, Error, Options};

use super::server::Server;

/// Chooses when callers leave. Printed by failing assertions.
const SEED: u64 = 20261126;

const TASKS: usize = 32;
const CALLS_EACH: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_cancelled_requests_leave_no_wrong_reply() {
    let server = Server::redis(&[]);
    let mut options = Options::from_url(&server.url()).expect("a URL");
    options.pool_max = 4;
    options.blocking_max = 4;
    options.timeout = Duration::from_secs(60);
    let client = Client::with_options(options).await.expect("a connection");
    let cancelled = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for task in 0..TASKS {
        let (client, cancelled) = (client.clone(), cancelled.clone());
        tasks.push(tokio::spawn(async move {
            let mut random = fastrand::Rng::with_seed(SEED + task as u64);
            let mut leaving = random.fork();
            let mut buffer = Vec::new();
            for call in 0..CALLS_EACH {
                let id = format!("{task}:{call}");
                let call = one_call(&client, &id, &mut random, &mut buffer);
                let mut call = pin!(call);
                // Polled a few times and dropped, or awaited.
                let polls = leaving.usize(..6);
                let mut polled = 0;
                let done = std::future::poll_fn(|cx| {
                    if let std::task::Poll::Ready(()) = call.as_mut().poll(cx) {
                        return std::task::Poll::Ready(true);
                    }
                    polled += 1;
                    if polled >= polls && polls < 5 {
                        std::task::Poll::Ready(false)
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
                cancelled.fetch_add(usize::from(!done), SeqCst);
            }
        }));
    }
    while tasks.iter().any(|task| !task.is_finished()) {
        let (count, _) = client.pool_counts();
        assert!(count <= 4, "{count} connections in a pool of 4");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for task in tasks {
        task.await.unwrap_or_else(|error| panic!("with seed {SEED}: {error}"));
    }
    let cancelled = cancelled.load(SeqCst);
    assert!(cancelled > TASKS * CALLS_EACH / 4, "only {cancelled} calls were cancelled");
    // Everything works afterwards.
    let mut buffer = Vec::with_capacity(100_000);
    client.set_from("after", &[b'v'; 200_000]).await.expect("SET");
    assert!(client.get_into("after", &mut buffer).await.expect("GET") && buffer.len() == 200_000);
}

async fn one_call(client: &Client, id: &str, random: &mut fastrand::Rng, buffer: &mut Vec<u8>) {
    match random.u32(..8) {
        // The shared connection.
        0..=3 => {
            let echoed: String = client.cmd("ECHO").arg(id).reply().await.expect("ECHO");
            assert_eq!(echoed, id);
        }
        // The pool, by the size of the request.
        4 => {
            let large = id.repeat(1 + 70_000 / id.len());
            let echoed: String = client.cmd("ECHO").arg(&large).reply().await.expect("ECHO");
            assert!(echoed == large, "a large reply of another");
        }
        5 => {
            let (first, second) = client
                .pipeline((
                    edgecask_client::Build.cmd("ECHO").arg(id).reply::<String>(),
                    edgecask_client::Build.cmd("ECHO").arg("second").reply::<String>(),
                ))
                .await
                .expect("a pipeline");
            assert_eq!((first.as_str(), second.as_str()), (id, "second"));
        }
        // A connection for itself.
        6 => {
            let connection = client.connection().await.expect("a connection");
            let echoed: String = connection.cmd("ECHO").arg(id).reply().await.expect("ECHO");
            assert_eq!(echoed, id);
        }
        // A command that blocks.
        _ => {
            let time = Duration::from_millis(random.u64(1..5));
            let popped = client.cmd("BLPOP").arg("no such list").arg(time.as_secs_f64()).blocking(time);
            match popped.reply::<Option<Vec<String>>>().await {
                Ok(popped) => assert_eq!(popped, None),
                Err(error) => assert!(matches!(error, Error::Timeout { .. }), "{error:?}"),
            }
        }
    }
    buffer.clear();
}
