//! A bit of a `.blob` file flips, or the file is cut, while the server runs: clients get an error and never a wrong byte.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::support::{Client, Server, request};

fn blob_in(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut blobs =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "blob"));
    blobs.next().expect("a blob")
}

fn flip(path: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("the blob");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).expect("a byte");
    file.write_all_at(&[byte[0] ^ 4], offset).expect("a byte");
}

fn value(len: u32) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn get(client: &mut Client, value: &[u8]) {
    client.send(&request(&[b"GET", b"film"]));
    client.expect_bytes(format!("${}\r\n", value.len()).as_bytes());
    let mut received = vec![0; value.len() + 2];
    client.stream.read_exact(&mut received).expect("the value");
    assert!(received.starts_with(value), "wrong bytes");
}

#[test]
fn flipped_bit_or_cut_file_is_an_error_that_names_key_and_file() {
    let server = Server::start("");
    let mut client = server.connect();
    let value = value(2_000_000);
    client.expect(&[b"SET", b"film", &value], b"+OK\r\n");
    client.expect(&[b"SAVE"], b"+OK\r\n");
    let path = blob_in(server.directory.path());
    let is_named = |client: &mut Client, command: &[&[u8]]| {
        client.send(&request(command));
        let line = client.line();
        let begin = format!("-ERR the value of \"film\" cannot be read: {}: ", path.display());
        assert!(line.starts_with(&begin), "{line}");
    };
    get(&mut client, &value);
    for offset in [0, 777, 65_536, 1_999_999] {
        flip(&path, offset);
        is_named(&mut client, &[b"GET", b"film"]);
        is_named(&mut client, &[b"BITCOUNT", b"film"]);
        is_named(&mut client, &[b"GETRANGE", b"film", offset.to_string().as_bytes(), b"-1"]);
        client.expect(
            &[b"GETRANGE", b"film", b"1000000", b"1000003"],
            &[b"$4\r\n", &value[1_000_000..1_000_004], b"\r\n"].concat(),
        );
        flip(&path, offset);
        get(&mut client, &value);
    }
    OpenOptions::new().write(true).open(&path).expect("the blob").set_len(1_500_000).expect("is cut");
    is_named(&mut client, &[b"GET", b"film"]);
    is_named(&mut client, &[b"APPEND", b"film", b"x"]);
    assert_eq!(fs::metadata(&path).expect("the blob").len(), 1_500_000, "the hole was filled");
    client.expect(&[b"SET", b"film", b"new"], b"+OK\r\n");
    client.expect(&[b"GET", b"film"], b"$3\r\nnew\r\n");
}

#[test]
fn bit_that_flips_while_a_peer_is_slow_is_sent() {
    let server = Server::start("");
    let mut client = server.connect();
    // However slow this test is, most of the value stays with the server until it is read.
    rustix::net::sockopt::set_socket_recv_buffer_size(&client.stream, 64 * 1024).expect("a smaller buffer");
    // Compared as a whole before the reply begins, and more than the system takes from a peer that does not read.
    let value = value(8 * 1024 * 1024);
    client.expect(&[b"SET", b"film", &value], b"+OK\r\n");
    client.send(&request(&[b"GET", b"film"]));
    client.expect_bytes(b"$8388608\r\n");
    flip(&blob_in(server.directory.path()), value.len() as u64 - 1);
    let mut received = Vec::new();
    let _ = client.stream.read_to_end(&mut received);
    assert!(received.len() < value.len() && value.starts_with(&received), "wrong bytes");
    flip(&blob_in(server.directory.path()), value.len() as u64 - 1);
    get(&mut server.connect(), &value);
}
