//! What processes that serve the same store tell each other, as bytes.
//!
//! ```text
//! length u32 of what follows | letter | fields        numbers little-endian; bytes: length u32, then so many
//! ```
//!
//! Nothing here allocates by an announced length: a frame is decoded once all of it is here, and frames have a bound.

use super::forward::{Forward, Forwarded, Visitor};
use super::message::{Message, Question, Topic};
use crate::limits::PEER_FRAME_MAX_BYTES;
use crate::resp::Protocol;
use crate::server::hub::TopicKind;

/// Bytes that are no message of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a message of this version")]
pub struct PeerMessageError;

type Decoded<T> = Result<T, PeerMessageError>;

/// Appends a message as a frame.
pub(super) fn encode(message: &Message, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match message {
        Message::Want(topic) => topic_out(b'w', topic, out),
        Message::Unwant(topic) => topic_out(b'u', topic, out),
        Message::Mark(number) => number_out(b'm', *number, out),
        Message::Heard(number) => number_out(b'h', *number, out),
        Message::Changed(db, key) => {
            out.push(b'c');
            out.extend_from_slice(&db.to_le_bytes());
            bytes_out(key, out);
        }
        Message::AllChanged => out.push(b'a'),
        Message::Published(kind, channel, text) => {
            out.extend_from_slice(&[b'p', kind_letter(*kind)]);
            bytes_out(channel, out);
            bytes_out(text, out);
        }
        Message::Asked(number, question) => {
            number_out(b'q', *number, out);
            out.push(match question {
                Question::Doubt => b'd',
                Question::ReadDefinitions => b'f',
            });
        }
        Message::Done(number) => number_out(b'd', *number, out),
        Message::Certain(number) => number_out(b's', *number, out),
        Message::Advice(advice) => {
            out.push(b't');
            bytes_out(advice, out);
        }
        Message::Forward(number, Forward { client, visitor, count, requests }) => {
            number_out(b'f', *number, out);
            out.extend_from_slice(&client.to_le_bytes());
            out.extend_from_slice(&visitor.db.to_le_bytes());
            out.push(match visitor.protocol {
                Protocol::Resp2 => b'2',
                Protocol::Resp3 => b'3',
            });
            bytes_out(&visitor.user, out);
            out.extend_from_slice(&count.to_le_bytes());
            bytes_out(requests, out);
        }
        Message::Forwarded(number, outcome) => {
            number_out(b'r', *number, out);
            match outcome {
                Forwarded::Replied(replies) => {
                    out.push(b'r');
                    bytes_out(replies, out);
                }
                Forwarded::Refused => out.push(b'n'),
                Forwarded::Lost => out.push(b'l'),
            }
        }
    }
    let len = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&len.to_le_bytes());
    }
}

fn number_out(letter: u8, number: u64, out: &mut Vec<u8>) {
    out.push(letter);
    out.extend_from_slice(&number.to_le_bytes());
}

fn bytes_out(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn kind_letter(kind: TopicKind) -> u8 {
    match kind {
        TopicKind::Channel => b'c',
        TopicKind::Pattern => b'p',
        TopicKind::Shard => b's',
    }
}

fn topic_out(letter: u8, topic: &Topic, out: &mut Vec<u8>) {
    out.push(letter);
    match topic {
        Topic::Key(db, key) => {
            out.push(b'k');
            out.extend_from_slice(&db.to_le_bytes());
            bytes_out(key, out);
        }
        Topic::AllKeys => out.push(b'a'),
        Topic::Channel(kind, name) => {
            out.extend_from_slice(&[b'c', kind_letter(*kind)]);
            bytes_out(name, out);
        }
        Topic::Events(classes) => {
            out.push(b'e');
            out.extend_from_slice(&classes.to_le_bytes());
        }
    }
}

/// The first message in the bytes, and how many bytes it takes; None if more must come.
///
/// # Errors
/// It is no message of this version, or too long.
pub(super) fn decode(bytes: &[u8]) -> Decoded<Option<(Message, usize)>> {
    let Some((len, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let len = u32::from_le_bytes(*len) as usize;
    if len > PEER_FRAME_MAX_BYTES {
        return Err(PeerMessageError);
    }
    let Some(mut frame) = rest.get(..len) else { return Ok(None) };
    let message = message_in(&mut frame)?;
    if frame.is_empty() { Ok(Some((message, 4 + len))) } else { Err(PeerMessageError) }
}

fn message_in(frame: &mut &[u8]) -> Decoded<Message> {
    Ok(match letter_in(frame)? {
        b'w' => Message::Want(topic_in(frame)?),
        b'u' => Message::Unwant(topic_in(frame)?),
        b'm' => Message::Mark(number_in(frame)?),
        b'h' => Message::Heard(number_in(frame)?),
        b'c' => Message::Changed(u32_in(frame)?, bytes_in(frame)?),
        b'a' => Message::AllChanged,
        b'p' => Message::Published(kind_in(frame)?, bytes_in(frame)?, bytes_in(frame)?),
        b'q' => {
            let number = number_in(frame)?;
            let question = match letter_in(frame)? {
                b'd' => Question::Doubt,
                b'f' => Question::ReadDefinitions,
                _ => return Err(PeerMessageError),
            };
            Message::Asked(number, question)
        }
        b'd' => Message::Done(number_in(frame)?),
        b's' => Message::Certain(number_in(frame)?),
        b't' => Message::Advice(bytes_in(frame)?),
        b'f' => Message::Forward(number_in(frame)?, forward_in(frame)?),
        b'r' => {
            let number = number_in(frame)?;
            let outcome = match letter_in(frame)? {
                b'r' => Forwarded::Replied(bytes_in(frame)?),
                b'n' => Forwarded::Refused,
                b'l' => Forwarded::Lost,
                _ => return Err(PeerMessageError),
            };
            Message::Forwarded(number, outcome)
        }
        _ => return Err(PeerMessageError),
    })
}

fn forward_in(frame: &mut &[u8]) -> Decoded<Forward> {
    let client = number_in(frame)?;
    let db = u32_in(frame)?;
    let protocol = match letter_in(frame)? {
        b'2' => Protocol::Resp2,
        b'3' => Protocol::Resp3,
        _ => return Err(PeerMessageError),
    };
    let visitor = Visitor { db, protocol, user: bytes_in(frame)? };
    Ok(Forward { client, visitor, count: u32_in(frame)?, requests: bytes_in(frame)? })
}

fn topic_in(frame: &mut &[u8]) -> Decoded<Topic> {
    Ok(match letter_in(frame)? {
        b'k' => Topic::Key(u32_in(frame)?, bytes_in(frame)?),
        b'a' => Topic::AllKeys,
        b'c' => Topic::Channel(kind_in(frame)?, bytes_in(frame)?),
        b'e' => Topic::Events(u32_in(frame)?),
        _ => return Err(PeerMessageError),
    })
}

fn kind_in(frame: &mut &[u8]) -> Decoded<TopicKind> {
    match letter_in(frame)? {
        b'c' => Ok(TopicKind::Channel),
        b'p' => Ok(TopicKind::Pattern),
        b's' => Ok(TopicKind::Shard),
        _ => Err(PeerMessageError),
    }
}

fn letter_in(frame: &mut &[u8]) -> Decoded<u8> {
    let (letter, rest) = frame.split_first().ok_or(PeerMessageError)?;
    *frame = rest;
    Ok(*letter)
}

fn number_in(frame: &mut &[u8]) -> Decoded<u64> {
    let (number, rest) = frame.split_first_chunk().ok_or(PeerMessageError)?;
    *frame = rest;
    Ok(u64::from_le_bytes(*number))
}

fn u32_in(frame: &mut &[u8]) -> Decoded<u32> {
    let (number, rest) = frame.split_first_chunk().ok_or(PeerMessageError)?;
    *frame = rest;
    Ok(u32::from_le_bytes(*number))
}

fn bytes_in(frame: &mut &[u8]) -> Decoded<Vec<u8>> {
    let len = u32_in(frame)? as usize;
    let (bytes, rest) = frame.split_at_checked(len).ok_or(PeerMessageError)?;
    *frame = rest;
    Ok(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_does_not_read_back_or_bytes_panic() {
        let topics = [
            Topic::Key(3, b"key".to_vec()),
            Topic::AllKeys,
            Topic::Channel(TopicKind::Pattern, b"news.*".to_vec()),
            Topic::Events(0x3FF),
        ];
        let mut messages = vec![
            Message::Mark(7),
            Message::Heard(u64::MAX),
            Message::Changed(15, Vec::new()),
            Message::AllChanged,
            Message::Published(TopicKind::Shard, b"channel".to_vec(), vec![0; 300]),
            Message::Asked(1, Question::Doubt),
            Message::Asked(2, Question::ReadDefinitions),
            Message::Done(9),
            Message::Certain(9),
            Message::Advice(b"turn".to_vec()),
            Message::Forward(
                3,
                Forward {
                    client: 17,
                    visitor: Visitor { db: 2, protocol: Protocol::Resp3, user: b"ann".to_vec() },
                    count: 1,
                    requests: b"*1\r\n$4\r\nPING\r\n".to_vec(),
                },
            ),
            Message::Forwarded(3, Forwarded::Replied(b"+PONG\r\n".to_vec())),
            Message::Forwarded(4, Forwarded::Refused),
            Message::Forwarded(5, Forwarded::Lost),
        ];
        messages.extend(topics.iter().cloned().map(Message::Want));
        messages.extend(topics.into_iter().map(Message::Unwant));
        for message in messages {
            let mut bytes = Vec::new();
            encode(&message, &mut bytes);
            assert_eq!(decode(&bytes), Ok(Some((message, bytes.len()))));
            for end in 0..bytes.len() {
                assert_eq!(decode(&bytes[..end]), Ok(None));
                // What is cut inside of a frame is none.
                let mut cut = bytes[..end].to_vec();
                if end >= 5 {
                    cut[..4].copy_from_slice(&(end as u32 - 4).to_le_bytes());
                    assert!(!matches!(decode(&cut), Ok(None)));
                }
            }
        }
        assert_eq!(decode(&[255; 8]), Err(PeerMessageError));
        assert_eq!(decode(&[1, 0, 0, 0, b'?']), Err(PeerMessageError));
    }
}
