//! The buffer of a reply stays with its session where the transport asks for a copy, and only there.

use super::super::take_piece;
use crate::resp::{Protocol, Reply};

#[test]
fn session_allocates_a_buffer_for_every_reply() {
    let mut reply = Reply::new(Protocol::Resp2);
    for (mut piece, keeps_buffer) in [(Vec::with_capacity(1), true), (Vec::new(), false)] {
        reply.ok();
        assert!(take_piece(&mut reply, 100, &mut piece).expect("memory is read"));
        assert_eq!((piece.as_slice(), reply.capacity() > 0), (b"+OK\r\n".as_slice(), keeps_buffer));
        reply.clear();
    }
}
