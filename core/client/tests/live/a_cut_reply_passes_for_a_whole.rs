//! Connections that are cut at every byte of a reply, and replies that come byte by byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use edgecask_client::{Client, Error};
use tokio::io::AsyncWriteExt;

use super::misbehaving::Misbehaving;

const KEY: &str = "the key that comes back";

#[tokio::test]
async fn a_connection_cut_at_any_byte_of_a_reply_is_an_error_and_then_there_again() {
    let whole = KEY.len() + 7;
    // Bytes of a reply before the cut; the reply after it is whole.
    let cut_at = Arc::new(AtomicUsize::new(usize::MAX));
    let cut = cut_at.clone();
    let server = Misbehaving::start(move |mut stream, reply: Vec<u8>| {
        let cut_at = cut.swap(usize::MAX, SeqCst);
        async move {
            let part = &reply[..reply.len().min(cut_at)];
            stream.write_all(part).await.ok()?;
            (cut_at == usize::MAX).then_some(stream)
        }
    })
    .await;
    let client = Client::connect(&server.url).await.expect("a connection");
    let mut buffer = Vec::new();
    for at in 0..whole {
        cut_at.store(at, SeqCst);
        let error = client.get_into(KEY, &mut buffer).await.expect_err("the reply is cut");
        assert!(matches!(error, Error::Io { may_have_run: true, .. }), "cut at {at}: {error:?}");
        assert!(!error.is_retry_safe());
        assert!(client.get_into(KEY, &mut buffer).await.expect("a new connection"));
        assert_eq!(buffer, KEY.as_bytes(), "after a cut at {at}");
    }
    assert_eq!(server.connections.load(SeqCst), whole + 1);
}

#[tokio::test]
async fn a_reply_that_comes_byte_by_byte_is_whole() {
    let server = Misbehaving::start(|mut stream, reply: Vec<u8>| async move {
        for byte in reply {
            stream.write_all(&[byte]).await.ok()?;
            tokio::task::yield_now().await;
        }
        Some(stream)
    })
    .await;
    let client = Client::connect(&server.url).await.expect("a connection");
    for size in [0, 1, 100, 20_000, 70_000] {
        let key = "k".repeat(size);
        let value: Result<Option<String>, _> = client.cmd("GET").arg(&key).reply().await;
        assert_eq!(
            value.as_ref().ok(),
            Some(&Some(key.clone())),
            "of {size} bytes: {:?}",
            value.as_ref().err()
        );
        let mut written = Vec::new();
        let count = client.get_to(&key, &mut written).await.expect("a reply");
        assert_eq!(
            (count, written == key.as_bytes()),
            (Some(size as u64), true),
            "streamed, of {size} bytes"
        );
    }
}

#[tokio::test]
async fn a_reply_that_does_not_come_is_a_timeout_and_spoils_nothing() {
    let server = Misbehaving::start(|mut stream, reply: Vec<u8>| async move {
        if reply.windows(4).any(|part| part == b"slow") {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        stream.write_all(&reply).await.ok()?;
        Some(stream)
    })
    .await;
    let client = Client::connect(&server.url).await.expect("a connection");
    let slow = client.cmd("GET").arg("slow").within(Duration::from_millis(50)).reply::<String>();
    let error = slow.await.expect_err("no reply in time");
    assert!(matches!(error, Error::Timeout { after_ms: 50, may_have_run: true }), "{error:?}");
    let value: String = client.cmd("GET").arg("quick").reply().await.expect("a reply");
    assert_eq!(value, "quick");
}

#[tokio::test]
async fn what_is_no_resp_is_said_with_its_place() {
    let server = Misbehaving::start(|mut stream, _: Vec<u8>| async move {
        stream.write_all(b"?what\r\n").await.ok()?;
        Some(stream)
    })
    .await;
    let client = Client::connect(&server.url).await.expect("a connection");
    let error = client.cmd("GET").arg("key").reply::<String>().await.expect_err("no RESP");
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
}
