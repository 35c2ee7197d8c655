//! Replies that name bytes stored elsewhere, and replies that a home bounds.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use super::super::{Front, Part, Protocol, Reply, ReplyBounds, StoredBytes, StoredError};

/// Bytes that stand for a file.
struct File(&'static [u8]);

impl StoredBytes for File {
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<(), StoredError> {
        let part = self.0.get(offset as usize..(offset + len) as usize).ok_or("the file is shorter")?;
        part.chunks(2).for_each(visit);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Two stored parts inside an array whose header is written last and moves them.
fn mixed(reply: &mut Reply) {
    let file: Arc<dyn StoredBytes> = Arc::new(File(b"0123456789"));
    let mark = reply.defer();
    for _ in 0..9 {
        reply.integer(7);
    }
    reply.bulk_start(5);
    reply.stored(file.clone(), 3, 5);
    reply.bulk_end();
    reply.bulk_start(4);
    reply.raw(b"<");
    reply.stored(file, 0, 2);
    reply.raw(b">");
    reply.bulk_end();
    reply.finish_array(mark, 11);
}

const EXPECTED: &str =
    "*11\r\n:7\r\n:7\r\n:7\r\n:7\r\n:7\r\n:7\r\n:7\r\n:7\r\n:7\r\n$5\r\n34567\r\n$4\r\n<01>\r\n";

#[test]
fn stored_bytes_are_read_where_they_belong() {
    let mut reply = Reply::new(Protocol::Resp2);
    mixed(&mut reply);
    assert_eq!(reply.unsent(), EXPECTED.len() as u64);
    assert_eq!(reply.take().expect("the file is long enough"), EXPECTED.as_bytes());
    assert!(reply.is_empty() && !reply.has_stored());
}

#[test]
fn host_that_sends_a_few_bytes_at_a_time_sends_others() {
    for step in 1..12 {
        let mut reply = Reply::new(Protocol::Resp2);
        mixed(&mut reply);
        let mut sent = Vec::new();
        while let Some(front) = reply.front() {
            let before = sent.len();
            match front {
                Front::Bytes(bytes, _) => sent.extend_from_slice(&bytes[..bytes.len().min(step)]),
                Front::Stored(Part { source, offset, len, .. }) => {
                    assert!(source.as_any().is::<File>());
                    let len = len.min(step as u64);
                    source.read(offset, len, &mut |piece| sent.extend_from_slice(piece)).expect("in bounds");
                }
            }
            reply.sent((sent.len() - before) as u64);
        }
        assert_eq!(
            sent.escape_ascii().to_string(),
            EXPECTED.escape_default().to_string(),
            "{step} at a time"
        );
    }
}

#[test]
fn missing_bytes_are_replied() {
    let mut reply = Reply::new(Protocol::Resp2);
    reply.bulk_start(20);
    reply.stored(Arc::new(File(b"0123456789")), 0, 20);
    reply.bulk_end();
    assert_eq!(reply.take().expect_err("ten bytes are missing").to_string(), "the file is shorter");
}

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn reply_takes_more_memory_than_is_left() {
    let bounds = ReplyBounds { max_bytes: 1 << 20, left_bytes: || LEFT.get(), margin_bytes: 1000 };
    let value = vec![b'v'; 100_000];
    // What an output of this length takes: itself, its header and line ends, and a quarter more.
    let wanted = (100_000 + 26) / 4 * 5 + 1000;
    for (left, is_cut) in [(wanted - 10, true), (wanted + 10, false)] {
        LEFT.set(left);
        let mut reply = Reply::new(Protocol::Resp2).bounded(bounds);
        reply.bulk(&value);
        assert_eq!((reply.is_cut(), reply.is_empty()), (is_cut, is_cut), "{left}");
    }
    LEFT.set(u64::MAX);
    let mut reply = Reply::new(Protocol::Resp2).bounded(bounds);
    for _ in 0..11 {
        reply.bulk(&value);
    }
    assert!(reply.is_cut() && reply.len() <= 1 << 20, "{}", reply.len());
    reply.truncate(0);
    assert!(!reply.is_cut() && reply.beside().bytes_left() == 1 << 20);
}
