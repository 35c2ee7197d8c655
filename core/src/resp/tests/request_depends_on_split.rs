//! The same bytes must give the same requests and the same error however they arrive.

use super::super::{Args, Parsed, RequestLimits, RequestParser};
use super::{OPEN, feed, feed_whole, multibulk};

/// Random bytes made of pieces that a parser may trip over; mostly valid, so that streams get long.
fn random_stream(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..random.usize(1..12) {
        match random.u8(0..20) {
            0..=9 => {
                let arguments: Vec<Vec<u8>> = (0..random.usize(1..14))
                    .map(|_| {
                        let size =
                            if random.u8(0..8) == 0 { random.usize(0..300) } else { random.usize(0..6) };
                        (0..size).map(|_| random.u8(..)).collect()
                    })
                    .collect();
                let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
                stream.extend_from_slice(&multibulk(&arguments));
            }
            10..=13 => {
                let words: &[&[u8]] =
                    &[b"PING", b" ", b"\"a\\x4fb\\n\"", b" 'it\\'s'", b"\t", b"x\"y z\"", b"\x00"];
                for _ in 0..random.usize(0..6) {
                    stream.extend_from_slice(words[random.usize(..words.len())]);
                    stream.extend_from_slice(b" ");
                }
                stream.extend_from_slice(if random.bool() { b"\r\n" } else { b"\n" });
            }
            14 => stream.extend_from_slice(b"*0\r\n"),
            15 => stream.extend_from_slice(b"*-1\r\n\r\n"),
            // The bytes after an argument are not compared, as in Redis.
            16 => stream.extend_from_slice(b"*2\r\n$3\r\nGETxy$1\r\nkzz"),
            17 => stream.extend_from_slice(b"*1\r\n$0000001\r\n"),
            18 => {
                let noise: &[u8] = b"*$\r\n0123456789-\"' a";
                for _ in 0..random.usize(1..10) {
                    stream.push(noise[random.usize(..noise.len())]);
                }
            }
            _ => stream.extend_from_slice(b"*3\r\n$4\r\nECHO\r\n$2"),
        }
    }
    stream
}

#[test]
fn random_splits_agree() {
    for seed in 0..3000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let limits = RequestLimits { authenticated: random.u8(0..5) > 0, ..OPEN };
        let stream = random_stream(&mut random);
        let whole = feed(&mut RequestParser::new(), &limits, &stream, &[stream.len()]);
        let every_byte: Vec<usize> = (1..=stream.len()).collect();
        assert_eq!(whole, feed(&mut RequestParser::new(), &limits, &stream, &every_byte), "seed {seed}");
        for _ in 0..4 {
            let mut cuts: Vec<usize> =
                (0..random.usize(0..20)).map(|_| random.usize(..=stream.len())).collect();
            cuts.push(stream.len());
            cuts.sort_unstable();
            let cut = feed(&mut RequestParser::new(), &limits, &stream, &cuts);
            assert_eq!(whole, cut, "seed {seed}, cuts {cuts:?}");
        }
    }
}

#[test]
fn every_single_cut_agrees() {
    let mut stream = multibulk(&[b"SET", b"", b"a\r\n$3", &[b'v'; 120]]);
    stream.extend_from_slice(b"*0\r\nSET k \"a b\"\r\n\r\n");
    stream.extend_from_slice(&multibulk(&[b"DEL", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9"]));
    stream.extend_from_slice(b"*1\r\n$4\r\nPING\r\n*1\r\n:4\r\n");
    let whole = feed_whole(&stream);
    assert_eq!(whole.requests.len(), 6);
    assert!(whole.error.is_some());
    for cut in 0..=stream.len() {
        let split = feed(&mut RequestParser::new(), &OPEN, &stream, &[cut, stream.len()]);
        assert_eq!(whole, split, "cut at {cut}");
    }
}

/// A line is too long at the same byte, whether its end came with the rest or later.
#[test]
fn too_long_lines_do_not_depend_on_what_is_buffered() {
    let limit = crate::resp::limits::INLINE_REQUEST_MAX_BYTES;
    for (prefix, before_end) in [(&b""[..], 0), (b"*", 1), (b"*1\r\n$", 1)] {
        for (extra, fits) in [(0, true), (1, false)] {
            let mut stream = prefix.to_vec();
            stream.resize(stream.len() + limit - before_end + extra, b'1');
            stream.extend_from_slice(b"\r\n");
            if prefix.is_empty() {
                // An inline line ends at its newline; let the line end be that byte alone.
                stream.remove(stream.len() - 2);
            }
            let whole = feed_whole(&stream);
            let halves = feed(&mut RequestParser::new(), &OPEN, &stream, &[limit / 2, stream.len()]);
            let late = feed(&mut RequestParser::new(), &OPEN, &stream, &[stream.len() - 2, stream.len()]);
            assert_eq!(whole, halves);
            assert_eq!(whole, late);
            let too_big = whole.error.is_some_and(|error| error.to_string().contains("too big"));
            assert_eq!(too_big, !fits, "prefix {prefix:?}, {extra} bytes too many: {:?}", whole.error);
        }
    }
}

#[test]
fn missing_bytes_of_an_argument_are_told() {
    let mut parser = RequestParser::new();
    let mut args = Args::new();
    let parsed = parser.parse(b"*2\r\n$3\r\nGET\r\n$100\r\nabc", &OPEN, &mut args);
    assert_eq!(parsed, Ok(Parsed::Incomplete { wanted: 99 }));
    let mut parser = RequestParser::new();
    let mut args = Args::new();
    assert_eq!(parser.parse(b"*2\r\n$3", &OPEN, &mut args), Ok(Parsed::Incomplete { wanted: 0 }));
}
