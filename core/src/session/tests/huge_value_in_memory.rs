//! Values larger than the log takes: they go from the input to a blob and from there to the peer, and a request that does
//! not come to its end leaves nothing behind.

use std::sync::Arc;

use crate::bitcask::{Bitcask, Options};
use crate::limits::{BLOB_MIN_BYTES, INPUT_KEPT_BYTES, VALUE_IN_MEMORY_MAX_BYTES};
use crate::resp::{Front, Part, write_request};
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::{Simulation, Storage};

const NOW_MS: u64 = 1_700_000_000_000;
const PIECE_BYTES: usize = 50_000;

pub(super) struct Scene {
    pub(super) machine: Simulation,
    storage: Arc<dyn Storage>,
    pub(super) server: Server<Bitcask>,
}

impl Scene {
    pub(super) fn new() -> Scene {
        let machine = Simulation::new(1);
        let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("an empty disk"));
        let Ok(opened) = Bitcask::open(storage.clone(), &Options::default()) else { panic!("opens") };
        let settings = Settings::new(&[("proto-max-bulk-len", "1gb".to_string())]).expect("settings");
        let shared = Shared::new(settings, Box::new(NoFacts), NOW_MS);
        Scene { machine, storage, server: Server { engine: opened.store, shared } }
    }

    pub(super) fn session(&self) -> Session {
        Session::new(&self.server.shared, Peer::default(), 1, NOW_MS)
    }

    /// Lets a request come in pieces; returns the reply. The input never grows beyond a few pieces.
    fn send(&self, session: &mut Session, bytes: &[u8]) -> Vec<u8> {
        let mut replies = Vec::new();
        for piece in bytes.chunks(PIECE_BYTES) {
            session.input().extend_from_slice(piece);
            loop {
                let progress = session.process(&self.server, NOW_MS);
                replies.extend(session.reply().take().expect("a healthy disk"));
                if !progress.is_paused {
                    break;
                }
            }
            assert!(session.input().capacity() <= INPUT_KEPT_BYTES + 2 * PIECE_BYTES, "the input grows");
        }
        replies
    }

    pub(super) fn call(&self, session: &mut Session, args: &[&[u8]]) -> Vec<u8> {
        let mut request = Vec::new();
        write_request(args, &mut request);
        self.send(session, &request)
    }

    fn blobs(&self) -> usize {
        self.storage.list_blobs().expect("a healthy disk").len()
    }

    /// How many blobs are left once those that nobody needs are gone.
    fn blobs_after_sweep(&self) -> usize {
        self.server.engine.sync().expect("a healthy disk");
        self.server.engine.sweep_blobs().expect("a healthy disk");
        self.blobs()
    }
}

pub(super) fn huge(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 % 251) as u8).collect()
}

pub(super) fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

#[test]
fn value_in_pieces_reads_back() {
    let scene = Scene::new();
    let mut session = scene.session();
    let value = huge(3_000_001);
    assert_eq!(scene.call(&mut session, &[b"SET", b"k", &value]), b"+OK\r\n");
    assert!(scene.call(&mut session, &[b"GET", b"k"]) == bulk(&value));
    assert_eq!(scene.call(&mut session, &[b"STRLEN", b"k"]), b":3000001\r\n");
    assert!(
        scene.call(&mut session, &[b"GETRANGE", b"k", b"1000", b"900999"]) == bulk(&value[1000..901_000])
    );
    // Options behind the value, and commands behind the request.
    let other = huge(2_000_000);
    let mut requests = Vec::new();
    write_request(&[&b"SET"[..], b"k", &other, b"GET", b"EX", b"100"], &mut requests);
    write_request(&[&b"TTL"[..], b"k"], &mut requests);
    let wanted = [bulk(&value).as_slice(), b":100\r\n"].concat();
    assert!(scene.send(&mut session, &requests) == wanted, "the old value, then the new time to live");
    assert!(scene.call(&mut session, &[b"GETDEL", b"k"]) == bulk(&other));
    assert_eq!(scene.blobs_after_sweep(), 0, "nothing refers to a blob");
}

#[test]
fn several_huge_values_in_one_request() {
    let scene = Scene::new();
    let mut session = scene.session();
    let (one, two) = (huge(1_500_000), huge(1_100_000));
    assert_eq!(scene.call(&mut session, &[b"MSET", b"1", &one, b"s", b"small", b"2", &two]), b"+OK\r\n");
    let wanted = [b"*3\r\n".as_slice(), &bulk(&one), &bulk(b"small"), &bulk(&two)].concat();
    assert!(scene.call(&mut session, &[b"MGET", b"1", b"s", b"2"]) == wanted);
    assert_eq!(scene.call(&mut session, &[b"APPEND", b"1", &two]), b":2600000\r\n");
    assert!(scene.call(&mut session, &[b"GET", b"1"]) == bulk(&[one.as_slice(), &two].concat()));
    assert_eq!(scene.call(&mut session, &[b"MSETNX", b"3", &two, b"2", &one]), b":0\r\n", "nothing is set");
    assert_eq!(scene.blobs_after_sweep(), 2);
}

#[test]
fn huge_value_in_a_transaction() {
    let scene = Scene::new();
    let mut session = scene.session();
    let value = huge(1_200_000);
    for wanted in [1, 2] {
        scene.call(&mut session, &[b"MULTI"]);
        assert_eq!(scene.call(&mut session, &[b"SET", b"a", &value]), b"+QUEUED\r\n");
        assert_eq!(scene.call(&mut session, &[b"COPY", b"a", b"b", b"REPLACE"]), b"+QUEUED\r\n");
        assert_eq!(scene.call(&mut session, &[b"SETRANGE", b"b", b"9", b"patch"]), b"+QUEUED\r\n");
        assert_eq!(scene.call(&mut session, &[b"EXEC"]), b"*3\r\n+OK\r\n:1\r\n:1200000\r\n", "{wanted}");
        assert_eq!(scene.blobs_after_sweep(), 2);
    }
    let mut patched = value.clone();
    patched[9..14].copy_from_slice(b"patch");
    assert!(scene.call(&mut session, &[b"GET", b"b"]) == bulk(&patched));
    scene.call(&mut session, &[b"MULTI"]);
    scene.call(&mut session, &[b"SET", b"a", &value]);
    scene.call(&mut session, &[b"DISCARD"]);
    assert_eq!(scene.blobs(), 2, "what was discarded is gone");
}

#[test]
fn peer_that_goes_away_leaves_the_old_value_and_no_litter() {
    let scene = Scene::new();
    let mut session = scene.session();
    scene.call(&mut session, &[b"SET", b"k", b"old"]);
    let mut request = Vec::new();
    write_request(&[&b"SET"[..], b"k", &huge(5_000_000)], &mut request);
    let mut other = scene.session();
    scene.send(&mut other, &request[..4_000_000]);
    assert_eq!(scene.blobs(), 1, "most of the value has come");
    other.close(&scene.server);
    drop(other);
    assert_eq!(scene.blobs(), 0, "litter");
    assert_eq!(scene.call(&mut session, &[b"GET", b"k"]), bulk(b"old"));
}

#[test]
fn refused_command_keeps_the_blob() {
    let scene = Scene::new();
    let mut session = scene.session();
    let value = huge(BLOB_MIN_BYTES as usize);
    scene.call(&mut session, &[b"RPUSH", b"list", b"x"]);
    let refused: [&[&[u8]]; 5] = [
        &[b"APPEND", b"list", &value],
        &[b"SET", b"k", &value, b"WRONG"],
        &[b"SET", b"k", &value, b"XX"],
        &[b"SETEX", b"k", b"nan", &value],
        &[b"SETNX", b"list", &value],
    ];
    for args in refused {
        scene.call(&mut session, args);
        assert_eq!(scene.blobs(), 0, "{:?}", args[0].escape_ascii().to_string());
    }
    scene.call(&mut session, &[b"MULTI"]);
    scene.call(&mut session, &[b"SET", b"k", &value, b"WRONG"]);
    scene.call(&mut session, &[b"EXEC"]);
    assert_eq!(scene.blobs(), 0);
}

#[test]
fn full_disk_in_the_middle_of_a_value() {
    let scene = Scene::new();
    let mut session = scene.session();
    scene.call(&mut session, &[b"SET", b"k", b"old"]);
    scene.machine.set_capacity_bytes(Some(2_000_000));
    let reply = scene.call(&mut session, &[b"SET", b"k", &huge(3_000_000)]);
    assert!(reply.starts_with(b"-MISCONF"), "{:?}", reply.escape_ascii().to_string());
    assert_eq!(scene.blobs(), 0);
    assert_eq!(scene.call(&mut session, &[b"GET", b"k"]), bulk(b"old"), "the connection lives on");
    scene.machine.set_capacity_bytes(None);
    assert_eq!(
        scene.call(&mut session, &[b"SET", b"k", &huge(1_500_000)]),
        b"+OK\r\n",
        "there is space again"
    );
}

#[test]
fn argument_that_is_no_value_fills_the_memory() {
    let scene = Scene::new();
    let mut session = scene.session();
    let size = VALUE_IN_MEMORY_MAX_BYTES + 1;
    session.input().extend_from_slice(format!("*3\r\n$5\r\nLPUSH\r\n$1\r\nl\r\n${size}\r\nx").as_bytes());
    let progress = session.process(&scene.server, NOW_MS);
    let reply = session.reply().take().expect("a healthy disk");
    assert_eq!(reply, b"-ERR Protocol error: invalid bulk length\r\n");
    assert_eq!(progress.effects, [crate::server::Effect::Close]);
}

#[test]
fn stored_value_is_copied_into_the_output() {
    let scene = Scene::new();
    let mut session = scene.session();
    let value = huge(4_000_000);
    scene.call(&mut session, &[b"SET", b"k", &value]);
    write_request(&[&b"GET"[..], b"k"], session.input());
    session.process(&scene.server, NOW_MS);
    // Whatever happens to the key, what is being sent stays what it was.
    let mut other = scene.session();
    scene.call(&mut other, &[b"SETRANGE", b"k", b"100", b"overwritten"]);
    scene.call(&mut other, &[b"APPEND", b"k", b"more"]);
    scene.call(&mut other, &[b"DEL", b"k"]);
    assert_eq!(scene.blobs_after_sweep(), 0);
    let reply = session.reply();
    assert_eq!((reply.len() < 100, reply.unsent()), (true, 4_000_012));
    let Some(Front::Bytes(header, Some(_))) = reply.front() else { panic!("a header first") };
    let header_len = header.len() as u64;
    reply.sent(header_len);
    let Some(Front::Stored(Part { offset: 0, len: 4_000_000, tail: b"\r\n", .. })) = reply.front() else {
        panic!("then the value")
    };
    reply.sent(1_000_000);
    let rest = reply.take().expect("a removed blob is still read");
    assert!(rest == [&value[1_000_000..], b"\r\n"].concat());
}

#[test]
fn huge_value_that_was_held_back_is_never_answered() {
    let scene = Scene::new();
    let (mut first, mut second) = (scene.session(), scene.session());
    assert_eq!(scene.call(&mut first, &[b"CLIENT", b"PAUSE", b"100", b"WRITE"]), b"+OK\r\n");
    let value = vec![b'v'; BLOB_MIN_BYTES as usize];
    // Its bytes have left the input when it is held back.
    assert_eq!(scene.call(&mut second, &[b"SET", b"film", &value]), b"");
    second.process(&scene.server, NOW_MS + 200);
    assert_eq!(second.reply().take().expect("a healthy disk"), b"+OK\r\n");
    assert_eq!(scene.call(&mut second, &[b"STRLEN", b"film"]), b":1048576\r\n");
}
