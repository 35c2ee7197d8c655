//! What is looked at before a request is parsed.

use proptest::prelude::*;

use super::super::{second_argument, write_request};

fn written(args: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_request(args, &mut bytes);
    bytes
}

#[test]
fn second_argument_is_found_as_soon_as_it_has_come() {
    let input = written(&[b"SET", b"a key of 16 byte", b"value"]);
    let end = input.windows(5).position(|part| part == b"value").expect("is there") - 6;
    assert_eq!(second_argument(&input), Some(&b"a key of 16 byte"[..]));
    for len in 0..input.len() {
        assert_eq!(second_argument(&input[..len]).is_some(), len >= end, "{len} bytes");
    }
}

#[test]
fn requests_without_one_have_none() {
    for input in [&b""[..], b"PING\r\n", b"*0\r\n", b"*-1\r\n", b"GET key\r\n", b"*2\r\n$99999999999\r\n"] {
        assert_eq!(second_argument(input), None, "{input:?}");
    }
    assert_eq!(second_argument(&written(&[b"PING"])), None);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(input in proptest::collection::vec(prop_oneof![
        Just(b'*'), Just(b'$'), Just(b'\r'), Just(b'\n'), Just(b'1'), Just(b'9'), any::<u8>()
    ], 0..80)) {
        second_argument(&input);
    }
}
