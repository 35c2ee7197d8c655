//! The pieces of a reply, one behind the other, are the reply, whatever their length and wherever the values are stored.

use std::any::Any;
use std::sync::Arc;

use super::super::take_piece;
use crate::resp::{Protocol, Reply, StoredBytes, StoredError};

/// A stored value of which `readable` bytes are left.
struct Stored {
    bytes: Vec<u8>,
    readable: usize,
}

impl StoredBytes for Stored {
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<(), StoredError> {
        let bytes = self.bytes.get(..self.readable).expect("a length");
        let from = (offset as usize).min(bytes.len());
        visit(&bytes[from..(from + len as usize).min(bytes.len())]);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn reply(readable: usize) -> Reply {
    let stored = Arc::new(Stored { bytes: (0..100).collect(), readable });
    let mut reply = Reply::new(Protocol::Resp2);
    reply.bulk(b"before");
    reply.bulk_start(100);
    reply.stored(stored, 0, 100);
    reply.bulk_end();
    reply.bulk(b"after");
    reply
}

#[test]
fn pieces_are_not_the_reply() {
    let whole = reply(100).take().expect("it is read");
    assert!(whole.windows(3).any(|bytes| bytes == [97, 98, 99]), "the stored value is part of it");
    for most_bytes in 1..=whole.len() + 1 {
        let (mut all, mut rest) = (Vec::new(), reply(100));
        loop {
            let mut piece = Vec::new();
            if !take_piece(&mut rest, most_bytes, &mut piece).expect("it is read") {
                break;
            }
            assert!(!piece.is_empty() && piece.len() <= most_bytes, "{} of {most_bytes}", piece.len());
            all.append(&mut piece);
        }
        assert_eq!(all, whole, "pieces of {most_bytes}");
        assert!(rest.is_empty());
    }
}

#[test]
fn piece_goes_over_what_stood_before_it() {
    let mut reply = Reply::new(Protocol::Resp2);
    reply.ok();
    let mut piece = b"kept ".to_vec();
    assert!(take_piece(&mut reply, 3, &mut piece).expect("it is read"));
    assert_eq!(piece, b"kept +OK");
    assert!(take_piece(&mut reply, 3, &mut piece).expect("it is read"));
    assert!(!take_piece(&mut reply, 3, &mut piece).expect("it is read"));
    assert_eq!(piece, b"kept +OK\r\n");
}

#[test]
fn value_that_is_shorter_than_announced_is_filled_up_with_the_next_reply() {
    let mut torn = reply(50);
    let mut piece = Vec::new();
    let failed = take_piece(&mut torn, usize::MAX, &mut piece);
    assert!(failed.is_err_and(|error| error.to_string().contains("shorter")));
}
