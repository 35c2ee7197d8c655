//! Tests of the wire; each file is named after what would be seen if it failed.

mod client_reads_other_value;
mod half_a_reply_passes_for_a_whole;
mod hostile_peer_wins;
mod look_ahead_guesses_wrong;
mod quotes_misread;
mod reply_bytes_differ;
mod request_depends_on_split;
mod server_reads_other_request;
mod stored_bytes_at_wrong_place;
mod wrong_protocol_error;

use super::{Args, Parsed, ProtocolError, RequestLimits, RequestParser, write_request};

/// The limits of a peer that may do everything.
const OPEN: RequestLimits = RequestLimits::new(true);

/// What a stream of bytes turned out to ask for.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// The requests in order; those that ask for nothing are empty.
    requests: Vec<Vec<Vec<u8>>>,
    error: Option<ProtocolError>,
    /// Bytes consumed by the requests.
    consumed: usize,
}

/// Feeds the stream in pieces that end at the given offsets, which ascend and end with the stream's length, as a
/// connection does: append, parse until incomplete, drop what was consumed.
fn feed(parser: &mut RequestParser, limits: &RequestLimits, stream: &[u8], cuts: &[usize]) -> Outcome {
    let mut outcome = Outcome::default();
    for &cut in cuts {
        loop {
            let mut args = Args::new();
            let parsed = match parser.parse(&stream[outcome.consumed..cut], limits, &mut args) {
                Ok(parsed) => parsed,
                Err(error) => {
                    outcome.error = Some(error);
                    return outcome;
                }
            };
            match parsed {
                Parsed::Incomplete { .. } => {
                    assert!(args.is_empty());
                    break;
                }
                Parsed::Request { consumed } => {
                    assert!(!args.is_empty());
                    outcome.requests.push(args.iter().map(|argument| argument.to_vec()).collect());
                    outcome.consumed += consumed;
                }
                Parsed::Nothing { consumed } => {
                    assert!(args.is_empty() && consumed > 0);
                    outcome.requests.push(Vec::new());
                    outcome.consumed += consumed;
                }
            }
        }
    }
    outcome
}

fn feed_whole(stream: &[u8]) -> Outcome {
    feed(&mut RequestParser::new(), &OPEN, stream, &[stream.len()])
}

/// A request as clients write it.
fn multibulk(arguments: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_request(arguments, &mut bytes);
    bytes
}
