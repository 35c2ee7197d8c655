//! A blob changes under the running server: no command shows a byte that was not written, and the error says which key and
//! which file. What needs nothing of the old value goes on.

use super::huge_value_in_memory::{Scene, bulk, huge};
use crate::limits::CHECKED_BEFORE_REPLY_MAX_BYTES;
use crate::resp::write_request;
use crate::session::Session;

const LEN: usize = 2_300_001;

/// A store with one huge value, changed in the middle and at its end.
struct Damaged {
    scene: Scene,
    session: Session,
    value: Vec<u8>,
    blob: String,
}

impl Damaged {
    fn new() -> Damaged {
        let scene = Scene::new();
        let mut session = scene.session();
        let mut value = huge(LEN);
        scene.call(&mut session, &[b"SET", b"film", &value]);
        scene.call(&mut session, &[b"SETRANGE", b"film", b"70000", b"patched"]);
        value[70_000..70_007].copy_from_slice(b"patched");
        scene.call(&mut session, &[b"APPEND", b"film", b"and more"]);
        value.extend_from_slice(b"and more");
        let blob = scene.machine.file_names().into_iter().find(|name| name.ends_with(".blob"));
        Damaged { session, value, blob: blob.expect("a blob"), scene }
    }

    fn call(&mut self, args: &[&[u8]]) -> Vec<u8> {
        self.scene.call(&mut self.session, args)
    }

    fn flip(&self, offset: u64, bit: u8) {
        assert!(self.scene.machine.flip_bit(&self.blob, offset, bit));
    }

    /// Whether a reply is the error about the value; the file is known by its number.
    fn is_named(&self, reply: &[u8]) -> bool {
        let text = reply.escape_ascii().to_string();
        let number = self.blob.trim_start_matches('0').trim_end_matches(".blob");
        text.starts_with("-ERR ")
            && text.contains("film")
            && text.contains(number)
            && text.ends_with("\\r\\n")
    }

    fn assert_refused(&mut self, args: &[&[u8]]) {
        let reply = self.call(args);
        let asked: Vec<String> = args.iter().map(|arg| arg.escape_ascii().to_string()).collect();
        let shown = reply[..reply.len().min(300)].escape_ascii().to_string();
        assert!(self.is_named(&reply), "{asked:?}: {shown}");
    }
}

#[test]
fn flipped_bit_is_shown() {
    let mut damaged = Damaged::new();
    let value = damaged.value.clone();
    let ones: u32 = value.iter().map(|byte| byte.count_ones()).sum();
    let number = |number: usize| number.to_string().into_bytes();
    let step = value.len() / 41;
    for at in (0..41).map(|part| part * step + part * 13).chain([value.len() - 1]) {
        // Bits of a block that is patched do not show; the piece around them does.
        damaged.flip(at as u64, (at % 8) as u8);
        damaged.assert_refused(&[b"GET", b"film"]);
        damaged.assert_refused(&[b"GETRANGE", b"film", &number(at), &number(at + 20)]);
        damaged.assert_refused(&[b"GETRANGE", b"film", b"0", b"-1"]);
        damaged.assert_refused(&[b"BITCOUNT", b"film"]);
        damaged.assert_refused(&[b"GETBIT", b"film", &number(at * 8)]);
        damaged.assert_refused(&[b"MGET", b"none", b"film"]);
        damaged.assert_refused(&[b"COPY", b"film", b"copy"]);
        // Far from the flip everything is there.
        let far = (at + value.len() / 2) % (value.len() - 100);
        let wanted = bulk(&value[far..far + 100]);
        assert!(damaged.call(&[b"GETRANGE", b"film", &number(far), &number(far + 99)]) == wanted, "at {at}");
        assert_eq!(damaged.call(&[b"STRLEN", b"film"]), b":2300009\r\n");
        damaged.flip(at as u64, (at % 8) as u8);
    }
    assert_eq!(damaged.call(&[b"BITCOUNT", b"film"]), format!(":{ones}\r\n").as_bytes());
    assert!(damaged.call(&[b"GET", b"film"]) == bulk(&value), "nothing is left of the flips");
    assert_eq!(damaged.call(&[b"EXISTS", b"copy"]), b":0\r\n", "a copy of what is damaged");
}

#[test]
fn damaged_patch_does_not_say_its_key() {
    let mut damaged = Damaged::new();
    let machine = &damaged.scene.machine;
    let log = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let bytes = machine.bytes(&log).expect("a datafile");
    let at = bytes.windows(7).rposition(|word| word == b"patched").expect("a patch");
    assert!(machine.flip_bit(&log, at as u64, 0));
    for args in [&[&b"GET"[..], b"film"][..], &[b"GETRANGE", b"film", b"70000", b"70006"]] {
        let reply = damaged.call(args);
        let shown = String::from_utf8_lossy(&reply[..reply.len().min(300)]).into_owned();
        let is_named = shown.starts_with("-ERR key \"film\" of database 0 cannot be read: ");
        assert!(is_named && shown.contains("datafile 1"), "{shown}");
    }
}

#[test]
fn hole_at_the_end_is_filled_with_zeros() {
    for kept in [0, 1, 65_536, LEN as u64 / 2, LEN as u64 + 7] {
        let mut damaged = Damaged::new();
        let whole = damaged.scene.machine.bytes(&damaged.blob).expect("a blob");
        damaged.scene.machine.set_bytes(&damaged.blob, whole[..kept as usize].to_vec());
        damaged.assert_refused(&[b"GET", b"film"]);
        damaged.assert_refused(&[b"APPEND", b"film", b"x"]);
        damaged.assert_refused(&[b"APPEND", b"film", &huge(1_100_000)]);
        damaged.assert_refused(&[b"SETRANGE", b"film", b"3000000", b"x"]);
        damaged.assert_refused(&[b"SETRANGE", b"film", b"0", b"x"]);
        damaged.assert_refused(&[b"SETBIT", b"film", b"77", b"0"]);
        let left = damaged.scene.machine.bytes(&damaged.blob).expect("a blob");
        assert!(left == whole[..kept as usize], "a refused command has written");
        // A whole file heals it.
        damaged.scene.machine.set_bytes(&damaged.blob, whole);
        let value = damaged.value.clone();
        assert!(damaged.call(&[b"GET", b"film"]) == bulk(&value), "kept {kept}");
        assert_eq!(damaged.call(&[b"APPEND", b"film", b"x"]), b":2300010\r\n");
    }
}

#[test]
fn append_builds_on_a_damaged_end() {
    let mut damaged = Damaged::new();
    damaged.flip(LEN as u64 - 10, 3);
    damaged.assert_refused(&[b"APPEND", b"film", b"x"]);
    damaged.assert_refused(&[b"SETRANGE", b"film", b"3000000", b"x"]);
    damaged.assert_refused(&[b"SETBIT", b"film", b"18399999", b"1"]);
    damaged.flip(LEN as u64 - 10, 3);
    assert_eq!(damaged.call(&[b"APPEND", b"film", b"x"]), b":2300010\r\n");
}

#[test]
fn damaged_key_cannot_be_replaced() {
    for is_gone in [false, true] {
        let mut damaged = Damaged::new();
        if is_gone {
            assert!(damaged.scene.machine.remove_file(&damaged.blob));
        } else {
            damaged.flip(5, 5);
        }
        damaged.assert_refused(&[b"GET", b"film"]);
        damaged.assert_refused(&[b"SETBIT", b"film", b"9", b"1"]);
        assert_eq!(damaged.call(&[b"EXPIRE", b"film", b"1000"]), b":1\r\n");
        assert_eq!(damaged.call(&[b"RENAME", b"film", b"the film"]), b"+OK\r\n");
        damaged.assert_refused(&[b"GET", b"the film"]);
        assert_eq!(damaged.call(&[b"RENAME", b"the film", b"film"]), b"+OK\r\n");
        assert_eq!(damaged.call(&[b"SET", b"film", b"new"]), b"+OK\r\n");
        assert_eq!(damaged.call(&[b"GET", b"film"]), bulk(b"new"));
        assert_eq!(damaged.call(&[b"DEL", b"film"]), b":1\r\n");
        damaged.scene.server.engine.sync().expect("a healthy disk");
        assert_eq!(damaged.scene.server.engine.sweep_blobs(), Ok(0));
    }
}

#[test]
fn damage_in_a_value_too_long_to_be_compared_at_once_is_shown() {
    let scene = Scene::new();
    let mut session = scene.session();
    let value = huge(CHECKED_BEFORE_REPLY_MAX_BYTES as usize + 100_000);
    scene.call(&mut session, &[b"SET", b"film", &value]);
    let blob = scene.machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    let get = |session: &mut Session| {
        write_request(&[&b"GET"[..], b"film"], session.input());
        session.process(&scene.server, 1_700_000_000_000);
        session.reply().take()
    };
    assert!(get(&mut session).is_ok_and(|reply| reply == bulk(&value)));
    // At the end, where a cut shows: an error.
    scene.machine.set_bytes(&blob, value[..value.len() - 1].to_vec());
    assert!(get(&mut session).is_ok_and(|reply| reply.starts_with(b"-ERR the value of \"film\"")));
    scene.machine.set_bytes(&blob, value.clone());
    // In the middle: the length was announced, so the connection has to end.
    assert!(scene.machine.flip_bit(&blob, 4_000_000, 1));
    let error = get(&mut session).expect_err("a reply with wrong bytes").to_string();
    assert!(error.contains("film"), "{error}");
}
