//! What the users of redis-rs may rely on, through this client: the flows of its integration suite in words of our own, each run
//! against redis-server, EdgeCask over TCP and over WebSocket, and a store in this process.
//!
//! A flow is an async function of a client. It begins with an empty store and leaves the server's settings as they were. The tables
//! say where a flow cannot run, and why.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::time::{Duration, Instant};

use edgecask_client::{Build, Client, Commands, Result};

use super::server::Server;

/// Where a store may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// redis-server 7.0.15 over TCP.
    Redis,
    /// EdgeCask over TCP.
    Tcp,
    /// EdgeCask over WebSocket.
    Web,
    /// EdgeCask in this process.
    Embedded,
}

impl fmt::Display for Home {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Home::Redis => "redis-server",
            Home::Tcp => "EdgeCask over TCP",
            Home::Web => "EdgeCask over WebSocket",
            Home::Embedded => "EdgeCask in this process",
        })
    }
}

type Running<'c> = Pin<Box<dyn Future<Output = Result<()>> + 'c>>;

/// One flow.
pub struct Case {
    /// Its module and its name.
    pub name: &'static str,
    /// Runs it.
    pub run: for<'c> fn(&'c Client) -> Running<'c>,
    /// Where it cannot run, and why.
    pub except: &'static [(Home, &'static str)],
}

/// The table of a page's flows: their names, and for some `except` with homes and reasons.
macro_rules! cases {
    ($($name:ident $(except { $($home:ident: $reason:expr),+ $(,)? })?),+ $(,)?) => {
        pub const CASES: &[super::Case] = &[$(super::Case {
            name: concat!(module_path!(), "::", stringify!($name)),
            run: |client| Box::pin($name(client)),
            except: &[$($((super::Home::$home, $reason)),+)?],
        }),+];
    };
}

mod acl;
mod bits;
mod connections;
mod conversions;
mod geo;
mod hashes;
mod keys;
mod lists;
mod pipelines;
mod pubsub;
mod scan;
mod scripts;
mod sets;
mod silence;
mod sorted_sets;
mod stream_groups;
mod streams;
mod strings;
mod tls;
mod transactions;
mod values;

/// All tables.
const AREAS: &[&[Case]] = &[
    strings::CASES,
    keys::CASES,
    hashes::CASES,
    lists::CASES,
    sets::CASES,
    sorted_sets::CASES,
    bits::CASES,
    geo::CASES,
    streams::CASES,
    stream_groups::CASES,
    scan::CASES,
    scripts::CASES,
    pipelines::CASES,
    transactions::CASES,
    pubsub::CASES,
    acl::CASES,
    connections::CASES,
    values::CASES,
];

/// Why a server of EdgeCask is nobody's replica.
const NO_REPLICATION: &str = "EdgeCask follows no other server; its copies are made in its cluster";

/// A flow that takes longer hangs.
const CASE_MAX: Duration = Duration::from_secs(30);

/// A flow that waits for something gives up after this time.
const WAIT_MAX: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_against_redis() {
    let server = Server::redis(&[]);
    check(Home::Redis, &server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_against_edgecask_over_tcp() {
    let server = Server::edgecask();
    check(Home::Tcp, &server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_against_edgecask_over_web_socket() {
    let server = Server::edgecask();
    check(Home::Web, &server.web_url()).await;
}

#[cfg(feature = "embedded")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_against_a_store_in_this_process() {
    check(Home::Embedded, "edgecask:memory").await;
}

/// Runs all flows of a home, and names those that failed.
async fn check(home: Home, url: &str) {
    let client = Client::connect(url).await.expect("a connection");
    let (mut failures, mut ran) = (Vec::new(), 0);
    for case in AREAS.iter().copied().flatten() {
        if case.except.iter().any(|(other, _)| *other == home) {
            continue;
        }
        ran += 1;
        begin(&client).await.expect("an empty store");
        let failure = match tokio::time::timeout(CASE_MAX, caught((case.run)(&client))).await {
            Ok(Ok(Ok(()))) => continue,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(panic)) => panic,
            Err(_) => format!("it is not over after {CASE_MAX:?}"),
        };
        failures.push(format!("{}: {failure}", case.name));
    }
    println!("{ran} flows against {home}");
    let count = failures.len();
    assert!(failures.is_empty(), "{count} of {ran} flows failed against {home}:\n{}", failures.join("\n"));
}

/// An empty store to which nobody listens any more: subscriptions end behind the flow that dropped them.
async fn begin(client: &Client) -> Result<()> {
    client.flushall().await?;
    until("nobody listens", async || {
        let (channels, patterns, shard_channels) = client
            .pipeline((Build.pubsub_channels(), Build.pubsub_numpat(), Build.pubsub_shardchannels()))
            .await?;
        Ok(channels.is_empty() && patterns == 0 && shard_channels.is_empty())
    })
    .await
}

/// The outcome of a flow, and of one that panics the message.
async fn caught<T>(mut flow: Pin<Box<dyn Future<Output = T> + '_>>) -> Result<T, String> {
    std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| flow.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(message(&*panic))),
    })
    .await
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// Asks until the answer is yes.
async fn until(what: &str, mut ask: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !ask().await? {
        assert!(begun.elapsed() < WAIT_MAX, "{what}: not within {WAIT_MAX:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

/// Another client of the same store.
async fn another(client: &Client) -> Result<Client> {
    Client::with_options(client.options().clone()).await
}

/// The code of the error that a request must fail with.
fn code<T>(outcome: &Result<T>) -> &str {
    outcome.as_ref().err().and_then(edgecask_client::Error::code).unwrap_or("no error of the server")
}

/// Seconds since 1970.
fn now_seconds() -> i64 {
    now_ms() / 1000
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    i64::try_from(now.as_millis()).expect("a time that fits")
}

/// Strings of their own, for comparing with replies.
fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}
