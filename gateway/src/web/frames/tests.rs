use std::time::Instant;

use super::{Excess, FrameWatch};
use crate::limits::{
    CONTROL_FRAMES_MAX, CONTROL_PERIOD, FRAGMENT_MEAN_MIN_BYTES, FRAGMENTS_FREE, MESSAGE_MAX_BYTES,
    UNAUTHENTICATED_MESSAGE_MAX_BYTES,
};

const CONTINUATION: u8 = 0x0;
const BINARY: u8 = 0x2;
const PING: u8 = 0x9;

/// The head of a masked frame, whose payload the watch never looks at.
fn head(is_final: bool, opcode: u8, len: u64) -> Vec<u8> {
    let mut bytes = vec![u8::from(is_final) << 7 | opcode];
    match len {
        0..126 => bytes.push(0x80 | len as u8),
        126..65_536 => {
            bytes.push(0x80 | 126);
            bytes.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            bytes.push(0x80 | 127);
            bytes.extend_from_slice(&len.to_be_bytes());
        }
    }
    bytes.extend_from_slice(&[1, 2, 3, 4]);
    bytes
}

fn frame(is_final: bool, opcode: u8, len: u64) -> Vec<u8> {
    let mut bytes = head(is_final, opcode, len);
    bytes.resize(bytes.len() + len as usize, 0xff);
    bytes
}

#[test]
fn frames_are_followed_however_they_are_split() {
    let mut bytes = Vec::new();
    for (is_final, opcode, len) in [
        (true, BINARY, 5),
        (false, BINARY, 300),
        (true, PING, 3),
        (true, CONTINUATION, 70_000),
        (true, BINARY, 125),
    ] {
        bytes.extend(frame(is_final, opcode, len));
    }
    for size in [1, 2, 3, 7, 1000, bytes.len()] {
        let mut watch = FrameWatch::default();
        let now = Instant::now();
        for piece in bytes.chunks(size) {
            watch.see(piece, now).expect("nothing is too much");
        }
        assert_eq!(watch.whole_messages(), Some(4), "in pieces of {size}");
        assert_eq!(watch.take_longest(), 70_300);
        watch.see(&bytes[..3], now).expect("nothing is too much");
        assert_eq!(watch.whole_messages(), None, "in the middle of a frame");
    }
}

#[test]
fn unauthenticated_peer_may_send_as_much_as_others() {
    let now = Instant::now();
    let long = frame(true, BINARY, UNAUTHENTICATED_MESSAGE_MAX_BYTES + 1);
    assert_eq!(FrameWatch::default().see(&long, now), Err(Excess::Message));
    let mut watch = FrameWatch::default();
    watch.set_authenticated();
    assert_eq!(watch.see(&long, now), Ok(()));
    let part = frame(false, BINARY, MESSAGE_MAX_BYTES / 2);
    assert_eq!(watch.see(&part, now), Ok(()));
    assert_eq!(watch.see(&part, now), Ok(()));
    assert_eq!(watch.see(&frame(true, CONTINUATION, 1), now), Err(Excess::Message), "the sum counts");
}

#[test]
fn fragments_must_say_something() {
    let now = Instant::now();
    let flood = |len: u64| {
        let mut watch = FrameWatch::default();
        watch.set_authenticated();
        (0..10 * FRAGMENTS_FREE).find_map(|_| watch.see(&frame(false, BINARY, len), now).err())
    };
    assert_eq!(flood(0), Some(Excess::Fragments));
    assert_eq!(flood(1), Some(Excess::Fragments));
    assert_eq!(flood(FRAGMENT_MEAN_MIN_BYTES), None);
}

#[test]
fn pings_and_empty_messages_are_counted_over_time() {
    for bytes in [frame(true, PING, 0), frame(true, BINARY, 0)] {
        let now = Instant::now();
        let mut watch = FrameWatch::default();
        for _ in 0..CONTROL_FRAMES_MAX {
            assert_eq!(watch.see(&bytes, now), Ok(()));
        }
        assert_eq!(watch.see(&bytes, now), Err(Excess::Controls));
        let mut watch = FrameWatch::default();
        for round in 0..10 * CONTROL_FRAMES_MAX {
            let later = now + CONTROL_PERIOD * round / 100;
            assert_eq!(watch.see(&bytes, later), Ok(()), "a patient peer pings for ever");
        }
    }
}
