//! The bytes of every kind of reply in both protocols, and headers that are written last.

use super::super::{Protocol, Reply};

#[track_caller]
fn check(write: impl Fn(&mut Reply), resp2: &str, resp3: &str) {
    for (protocol, expected) in [(Protocol::Resp2, resp2), (Protocol::Resp3, resp3)] {
        let mut reply = Reply::new(protocol);
        write(&mut reply);
        assert_eq!(reply.as_bytes().escape_ascii().to_string(), expected.escape_default().to_string());
        assert_eq!(reply.len(), expected.len());
    }
}

/// A reply that is the same in both protocols.
#[track_caller]
fn check_both(write: impl Fn(&mut Reply), expected: &str) {
    check(write, expected, expected);
}

#[test]
fn scalars() {
    check_both(Reply::ok, "+OK\r\n");
    check_both(|reply| reply.simple("QUEUED"), "+QUEUED\r\n");
    check_both(|reply| reply.error("ERR no such key"), "-ERR no such key\r\n");
    check_both(|reply| reply.error("ERR a\r\nb\nc\r\n"), "-ERR a  b c\r\n");
    check_both(|reply| reply.error("\r\n"), "-\r\n");
    check_both(|reply| reply.bulk(b""), "$0\r\n\r\n");
    check_both(|reply| reply.bulk(b"a\r\nb"), "$4\r\na\r\nb\r\n");
    check(Reply::null, "$-1\r\n", "_\r\n");
    check(Reply::null_array, "*-1\r\n", "_\r\n");
    check(|reply| reply.double(1.5), "$3\r\n1.5\r\n", ",1.5\r\n");
    check(|reply| reply.double(f64::NEG_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n");
    check(|reply| reply.double(f64::NAN), "$3\r\nnan\r\n", ",nan\r\n");
    check(|reply| reply.boolean(true), ":1\r\n", "#t\r\n");
    check(|reply| reply.boolean(false), ":0\r\n", "#f\r\n");
    check(|reply| reply.big_number("-123"), "$4\r\n-123\r\n", "(-123\r\n");
    check(|reply| reply.verbatim("txt", b"hi"), "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n");
    check(|reply| reply.verbatim("m", b"hi"), "$2\r\nhi\r\n", "=6\r\nm  :hi\r\n");
}

#[test]
fn numbers_of_every_length() {
    for value in [0, 9, 10, 99, 100, 12345, i64::MAX, -1, -10, i64::MIN] {
        check_both(|reply| reply.integer(value), &format!(":{value}\r\n"));
    }
    for count in [0, 1, 9, 10, 11, 99, 100, 4_000_000] {
        check_both(|reply| reply.array(count), &format!("*{count}\r\n"));
        check(|reply| reply.map(count), &format!("*{}\r\n", 2 * count), &format!("%{count}\r\n"));
        check(|reply| reply.set(count), &format!("*{count}\r\n"), &format!("~{count}\r\n"));
        check(|reply| reply.push(count), &format!("*{count}\r\n"), &format!(">{count}\r\n"));
        check_both(|reply| reply.bulk_start(count as u64), &format!("${count}\r\n"));
    }
}

#[test]
fn streamed_bulk() {
    let write = |reply: &mut Reply| {
        reply.bulk_start(12);
        reply.raw(b"hello ");
        reply.raw(b"world!");
        reply.bulk_end();
    };
    check_both(write, "$12\r\nhello world!\r\n");
    let mut reply = Reply::new(Protocol::Resp2);
    reply.bulk_start(4);
    reply.raw(b"ab");
    let mut sent = reply.take().expect("memory is read");
    reply.raw(b"cd");
    reply.bulk_end();
    sent.extend_from_slice(&reply.take().expect("memory is read"));
    assert_eq!(sent, b"$4\r\nabcd\r\n");
    assert!(reply.is_empty());
}

#[test]
fn deferred_headers() {
    for count in [0, 1, 9, 10, 123] {
        let write = |reply: &mut Reply| {
            reply.ok();
            let mark = reply.defer();
            (0..count).for_each(|_| reply.ok());
            reply.finish_array(mark, count);
            reply.ok();
        };
        check_both(write, &format!("+OK\r\n*{count}\r\n{}+OK\r\n", "+OK\r\n".repeat(count)));
    }
    let write = |reply: &mut Reply| {
        let outer = reply.defer();
        let inner = reply.defer();
        reply.finish_set(inner, 0);
        let inner = reply.defer();
        reply.integer(1);
        reply.finish_push(inner, 10);
        reply.finish_map(outer, 50);
    };
    check(write, "*100\r\n*0\r\n*10\r\n:1\r\n", "%50\r\n~0\r\n>10\r\n:1\r\n");
}

/// Builds the same random tree with headers known in advance and with deferred ones.
#[test]
fn deferred_headers_equal_known_ones() {
    fn write(reply: &mut Reply, random: &mut fastrand::Rng, deferred: bool, depth: u8) {
        if depth == 0 {
            return reply.integer(random.i64(-200..200));
        }
        let count = if random.u8(0..4) == 0 { random.usize(0..120) } else { random.usize(0..4) };
        let mark = if deferred { Some(reply.defer()) } else { None };
        if !deferred {
            reply.array(count);
        }
        let start = reply.len();
        if random.bool() {
            // A half-written element that is undone, with a deferral left open in it.
            let _undone = reply.defer();
            reply.bulk(b"half");
            reply.truncate(start);
        }
        for _ in 0..count {
            let below = random.u8(0..depth);
            write(reply, random, deferred, below);
        }
        if let Some(mark) = mark {
            reply.finish_array(mark, count);
        }
    }
    for seed in 0..400 {
        let mut known = Reply::new(Protocol::Resp2);
        let mut deferred = Reply::new(Protocol::Resp2);
        write(&mut known, &mut fastrand::Rng::with_seed(seed), false, 4);
        write(&mut deferred, &mut fastrand::Rng::with_seed(seed), true, 4);
        assert!(known.as_bytes() == deferred.as_bytes(), "seed {seed}");
    }
}

#[test]
fn half_written_replies_are_undone() {
    let mut reply = Reply::new(Protocol::Resp3);
    reply.ok();
    let before = reply.len();
    let _outer = reply.defer();
    let inner = reply.defer();
    reply.finish_array(inner, 12);
    reply.bulk_start(1000);
    reply.truncate(before);
    reply.error("OOM command not allowed");
    assert_eq!(reply.as_bytes(), b"+OK\r\n-OOM command not allowed\r\n");
    reply.clear();
    assert!(reply.is_empty());
    reply.set_protocol(Protocol::Resp2);
    assert_eq!(reply.protocol(), Protocol::Resp2);
    reply.null();
    assert_eq!(reply.take().expect("memory is read"), b"$-1\r\n");
}
