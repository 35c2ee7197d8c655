//! A peer must not make this side allocate, scan or nest more than it pays for in bytes.

use super::super::{Args, DecodeError, Decoder, Parsed, ProtocolError, RequestLimits, RequestParser, Value};
use super::{OPEN, feed, multibulk};

#[test]
fn an_announced_gigabyte_allocates_nothing() {
    let limits = RequestLimits { bulk_max_bytes: 1 << 30, ..RequestLimits::new(true) };
    let mut parser = RequestParser::new();
    let mut args = Args::new();
    let parsed = parser.parse(b"*1\r\n$1073741824\r\nabc", &limits, &mut args);
    assert_eq!(parsed, Ok(Parsed::Incomplete { wanted: (1 << 30) - 1 }));
    drop(args);
    assert_eq!(parser.held_bytes(), 0);

    let mut decoder = Decoder::with_bulk_max_bytes(1 << 30);
    assert_eq!(decoder.decode(b"$1073741824\r\nabc"), Ok(None));
    assert_eq!(decoder.held_values(), 0);
}

#[test]
fn announced_billions_of_elements_allocate_nothing() {
    let mut parser = RequestParser::new();
    let mut args = Args::new();
    assert_eq!(parser.parse(b"*2147483647\r\n", &OPEN, &mut args), Ok(Parsed::Incomplete { wanted: 0 }));
    assert!(!args.spilled());
    drop(args);
    assert_eq!(parser.held_bytes(), 0);

    let mut decoder = Decoder::new();
    assert_eq!(decoder.decode(b"*18446744073709551615\r\n:1\r\n"), Ok(None));
    assert!(decoder.held_values() <= 8, "{}", decoder.held_values());
    assert_eq!(Decoder::new().decode(b"%18446744073709551615\r\n"), Err(DecodeError::Malformed(b'%')));
}

#[test]
fn a_whole_request_needs_no_heap() {
    let request = multibulk(&[b"SET", b"key:000000000001", b"xxx", b"EX", b"10", b"NX", b"GET", b"8th"]);
    let mut parser = RequestParser::new();
    let mut args = Args::new();
    let parsed = parser.parse(&request, &OPEN, &mut args);
    assert_eq!(parsed, Ok(Parsed::Request { consumed: request.len() }));
    assert!(!args.spilled());
    drop(args);
    assert_eq!(parser.held_bytes(), 0);
}

#[test]
fn memory_of_an_unusual_request_is_given_back() {
    let words = vec![&b"word"[..]; 10_000];
    let request = multibulk(&words);
    let line = words.join(&b' ');
    let stream = [&request, &line[..], b"\r\n"].concat();
    let mut parser = RequestParser::new();
    let outcome = feed(&mut parser, &OPEN, &stream, &[100, stream.len() / 2, stream.len()]);
    assert_eq!(outcome.requests.len(), 2);
    assert!(outcome.requests.iter().all(|request| request.len() == 10_000));
    assert!(parser.held_bytes() <= 8 * 1024 + 16, "{}", parser.held_bytes());
}

#[test]
fn an_endless_inline_line_is_refused_early() {
    let line = vec![b'a'; 10 << 20];
    let pieces: Vec<usize> = (1..=line.len() / 4096).map(|piece| piece * 4096).collect();
    let mut parser = RequestParser::new();
    let outcome = feed(&mut parser, &OPEN, &line, &pieces);
    assert_eq!(outcome.error, Some(ProtocolError::TooBigInline));
    assert!(parser.looked_at() <= 64 * 1024 + 1, "{}", parser.looked_at());
    let whole = feed(&mut RequestParser::new(), &OPEN, &line, &[line.len()]);
    assert_eq!(whole.error, Some(ProtocolError::TooBigInline));
}

/// Byte by byte is the worst way a request can arrive. What is looked at must be a small multiple of its bytes; a
/// parser that starts over would look at about half their square.
#[test]
fn feeding_byte_by_byte_is_not_quadratic() {
    let big = vec![b'v'; 300_000];
    let mut arguments = vec![&b"k"[..]; 100_000];
    arguments.push(&big);
    let request = multibulk(&arguments);
    let every_byte: Vec<usize> = (1..=request.len()).collect();
    let mut parser = RequestParser::new();
    let outcome = feed(&mut parser, &OPEN, &request, &every_byte);
    assert_eq!(outcome.requests.len(), 1);
    assert_eq!(outcome.requests[0].len(), arguments.len());
    assert!(parser.looked_at() <= 2 * request.len() as u64, "{} for {}", parser.looked_at(), request.len());

    let line = [&vec![b'w'; 60_000][..], b"\r\n"].concat();
    let every_byte: Vec<usize> = (1..=line.len()).collect();
    let mut parser = RequestParser::new();
    assert_eq!(feed(&mut parser, &OPEN, &line, &every_byte).requests.len(), 1);
    assert!(parser.looked_at() <= 2 * line.len() as u64, "{}", parser.looked_at());
}

#[test]
fn decoding_byte_by_byte_is_not_quadratic() {
    let mut reply = multibulk(&vec![&b"member"[..]; 50_000]);
    reply.extend_from_slice(b"unrelated bytes");
    let mut decoder = Decoder::new();
    let decoded = (1..=reply.len()).find_map(|end| decoder.decode(&reply[..end]).expect("valid"));
    let Some((Value::Array(members), consumed)) = decoded else { panic!("{decoded:?}") };
    assert_eq!((members.len(), consumed), (50_000, reply.len() - 15));
    assert!(decoder.looked_at() <= 3 * reply.len() as u64, "{} for {}", decoder.looked_at(), reply.len());
}

#[test]
fn deep_nesting_is_refused() {
    for aggregate in ["*1\r\n", "~1\r\n", ">1\r\n", "%1\r\n", "|1\r\n"] {
        let reply = aggregate.repeat(1_000_000);
        let mut decoder = Decoder::new();
        assert_eq!(decoder.decode(reply.as_bytes()), Err(DecodeError::TooDeep), "{aggregate:?}");
        assert_eq!(decoder.decode(reply.as_bytes()), Err(DecodeError::TooDeep), "an error stays");
        assert_eq!(decoder.held_values(), 0);
    }
    let deepest = format!("{}:1\r\n", "*1\r\n".repeat(crate::resp::limits::REPLY_DEPTH_MAX));
    let decoded = Decoder::new().decode(deepest.as_bytes()).expect("not too deep").expect("complete");
    assert_eq!(decoded.1, deepest.len());
}

#[test]
fn endless_reply_lines_are_refused() {
    let reply = [&b"+"[..], &vec![b'a'; 2 << 20]].concat();
    let mut decoder = Decoder::new();
    let pieces = (1..=reply.len() / 4096).map(|piece| decoder.decode(&reply[..piece * 4096]));
    assert_eq!(pieces.last(), Some(Err(DecodeError::LineTooLong)));
    assert!(decoder.looked_at() <= 1 << 20);
}

#[test]
fn noise_never_panics_the_decoder() {
    let alphabet = b"+-:$*%~>|_#,(=!\r\n\r\n\r\n0123456789tf.aeinf";
    for seed in 0..20_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let noise: Vec<u8> =
            (0..random.usize(1..60)).map(|_| alphabet[random.usize(..alphabet.len())]).collect();
        let whole = Decoder::new().decode(&noise);
        let mut decoder = Decoder::new();
        let mut pieces = (1..=noise.len()).map(|end| decoder.decode(&noise[..end]));
        let split = pieces.find(|decoded| !matches!(decoded, Ok(None))).unwrap_or(Ok(None));
        // NaN differs from itself; its text does not.
        assert_eq!(format!("{whole:?}"), format!("{split:?}"), "seed {seed}");
    }
}
