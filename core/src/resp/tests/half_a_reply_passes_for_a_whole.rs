//! A reply whose header announces more or fewer elements than follow: the balance must tell it from a whole one.

use crate::resp::{Protocol, Reply};

/// Writes one reply with everything that replies consist of.
fn write_all(reply: &mut Reply) {
    reply.array(9);
    reply.ok();
    reply.error("ERR text");
    reply.map(2);
    (0..2).for_each(|number| {
        reply.bulk(b"key");
        reply.integer(number);
    });
    reply.set(2);
    reply.double(1.5);
    reply.big_number("123");
    let outer = reply.defer();
    reply.null();
    let inner = reply.defer();
    reply.boolean(true);
    reply.verbatim("txt", b"text");
    reply.finish_map(inner, 1);
    reply.finish_array(outer, 2);
    let members = reply.defer();
    reply.finish_set(members, 0);
    let mut part = reply.beside();
    part.array(1);
    part.simple("text");
    reply.append(&part);
    reply.attribute(1);
    reply.bulk(b"name");
    reply.null_array();
    reply.bulk_start(4);
    reply.raw(b"four");
    reply.bulk_end();
    reply.array(0);
}

#[test]
fn nested_reply_is_not_counted_as_one() {
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let mut reply = Reply::new(protocol);
        for count in 1..4 {
            write_all(&mut reply);
            assert_eq!(reply.balance(), count, "{protocol:?}");
        }
        // A message in between is no reply.
        reply.push(2);
        reply.bulk(b"kind");
        reply.null();
        assert_eq!(reply.balance(), 3, "{protocol:?}");
    }
}

#[test]
fn reply_that_lacks_elements_is_counted_as_one() {
    for (announced, written) in [(3, 2), (2, 3), (1, 0), (0, 1)] {
        let mut reply = Reply::new(Protocol::Resp2);
        reply.array(announced);
        (0..written).for_each(|_| reply.bulk(b"element"));
        assert_ne!(reply.balance(), 1, "{announced} announced, {written} written");
        let mut deferred = Reply::new(Protocol::Resp3);
        let mark = deferred.defer();
        (0..written).for_each(|_| deferred.null());
        deferred.finish_array(mark, announced);
        assert_ne!(deferred.balance(), 1, "{announced} announced, {written} written, deferred");
    }
}
