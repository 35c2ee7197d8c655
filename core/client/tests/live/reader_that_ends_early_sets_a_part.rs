//! Values that come from a reader and go to a writer, and readers and writers that fail.

use std::io::{self, Write};

use edgecask_client::{Client, Commands, Error};
use tokio::io::AsyncReadExt;

use crate::server::Server;

const SIZE: u64 = 5_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn value_of_a_reader_is_another_or_reader_that_ends_early_sets_a_part() {
    let (redis, edgecask) = (Server::redis(&[]), Server::edgecask());
    let mut homes = vec![redis.url(), edgecask.url(), edgecask.web_url()];
    if cfg!(feature = "embedded") {
        homes.push("edgecask:memory".into());
    }
    for url in homes {
        let client = Client::connect(&url).await.expect("a connection");
        let mut reader = tokio::io::repeat(b'r').take(SIZE);
        client.set_from_reader("streamed", SIZE, &mut reader).await.expect("SET");
        assert_eq!(client.strlen("streamed").await.expect("STRLEN"), SIZE as i64, "{url}");
        let mut written = Vec::new();
        let count = client.write_to("streamed", &mut written).await.expect("GET");
        assert_eq!((count, written.len() as u64), (Some(SIZE), SIZE), "{url}");
        assert!(written.iter().all(|byte| *byte == b'r'), "{url}");
        let mut short = tokio::io::repeat(b's').take(SIZE / 2);
        let error = client.set_from_reader("streamed", SIZE, &mut short).await.expect_err("too short");
        assert!(
            matches!(&error, Error::Io { error, .. } if error.kind() == io::ErrorKind::UnexpectedEof),
            "{error:?}"
        );
        let first = client.getrange("streamed", 0, 0).await.expect("GETRANGE");
        assert_eq!((first, client.strlen("streamed").await.expect("STRLEN")), (b"r".to_vec(), SIZE as i64));
        client.set_from_reader("empty", 0, &mut tokio::io::empty()).await.expect("SET");
        assert_eq!(client.get("empty").await.expect("GET"), Some(Vec::new()), "{url}");
        assert_eq!(client.write_to("none", &mut Vec::new()).await.expect("GET"), None, "{url}");
    }
}

/// A disk that fills up.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.0);
        self.0 -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writer_that_fails_spoils_a_connection() {
    let server = Server::redis(&[]);
    let client = Client::connect(&server.url()).await.expect("a connection");
    client.set_from("large", &vec![b'v'; SIZE as usize]).await.expect("SET");
    for _ in 0..20 {
        let error = client.write_to("large", &mut Full(100_000)).await.expect_err("it is full");
        assert!(
            matches!(&error, Error::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull),
            "{error:?}"
        );
        assert_eq!(client.strlen("large").large().await.expect("STRLEN"), SIZE as i64);
    }
}
