//! What the request writer writes, the request parser reads as the same arguments, alone and in a pipeline.

use proptest::prelude::*;

use super::super::write_request;
use super::feed_whole;

#[test]
fn request_is_written_as_redis_documents_it() {
    let mut bytes = b"before".to_vec();
    write_request(&["LLEN", "mylist"], &mut bytes);
    assert_eq!(bytes, b"before*2\r\n$4\r\nLLEN\r\n$6\r\nmylist\r\n");
    bytes.clear();
    write_request(&[&b"ECHO"[..], b"", b"\r\n"], &mut bytes);
    assert_eq!(bytes, b"*3\r\n$4\r\nECHO\r\n$0\r\n\r\n$2\r\n\r\n\r\n");
    bytes.clear();
    let nothing: &[&str] = &[];
    write_request(nothing, &mut bytes);
    assert_eq!(bytes, b"*0\r\n");
}

/// Any bytes, and lengths on both sides of a further digit.
fn argument() -> impl Strategy<Value = Vec<u8>> {
    let lengths = prop_oneof![8 => 0..12usize, 1 => 98..102usize, 1 => 998..1002usize];
    lengths.prop_flat_map(|length| prop::collection::vec(any::<u8>(), length))
}

proptest! {
    // No file of past failures is written: what is found goes into a test of its own.
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_requests_read_back(
        requests in prop::collection::vec(prop::collection::vec(argument(), 0..12), 1..4)
    ) {
        let mut stream = Vec::new();
        requests.iter().for_each(|args| write_request(args, &mut stream));
        let outcome = feed_whole(&stream);
        prop_assert_eq!(outcome.error, None);
        prop_assert_eq!(outcome.consumed, stream.len());
        prop_assert_eq!(outcome.requests, requests);
    }
}
