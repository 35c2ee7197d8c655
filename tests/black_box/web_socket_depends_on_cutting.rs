//! Where messages and fragments of a WebSocket begin and end means nothing: any cutting of the same requests gives the bytes that
//! TCP gives.

use std::time::Instant;

use edgecask_core::resp::write_request;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, report};
use edgecask_tests::web_socket::Cutting;

use crate::differential::seed;

const CUTTINGS: u64 = 300;

/// Requests of every shape: pipelined, inline, binary, long, wrong; the last one ends the connection.
fn requests(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = b"FLUSHALL\r\n".to_vec();
    for number in 0..random.usize(1..60) {
        let key = format!("key:{}", random.u8(..8));
        let mut value = vec![0; random.usize(..300)];
        random.fill(&mut value);
        let number = number.to_string();
        let commands: [&[&[u8]]; 9] = [
            &[b"SET", key.as_bytes(), &value],
            &[b"GET", key.as_bytes()],
            &[b"APPEND", key.as_bytes(), &value],
            &[b"RPUSH", b"list", &value, b""],
            &[b"LRANGE", b"list", b"0", b"-1"],
            &[b"HSET", b"hash", key.as_bytes(), number.as_bytes()],
            &[b"HGETALL", b"hash"],
            &[b"NONSENSE", &value],
            &[b"HELLO", if random.bool() { b"2" } else { b"3" }, b"SETNAME", number.as_bytes()],
        ];
        match random.usize(..12) {
            9 => bytes.extend_from_slice(b"PING \"in line\"\r\n"),
            10 => bytes.extend_from_slice(b"MULTI\r\nINCR count\r\nLLEN list\r\nEXEC\r\n"),
            11 => write_request(&[b"SET", key.as_bytes(), &vec![b'x'; random.usize(..40_000)]], &mut bytes),
            chosen => write_request(commands[chosen], &mut bytes),
        }
    }
    let last: &[u8] = if random.bool() { b"QUIT\r\n" } else { b"*1\r\n$-7\r\n" };
    bytes.extend_from_slice(last);
    bytes
}

/// Everything that is answered, without the numbers of connections, which HELLO tells.
fn answers(mut client: Client, bytes: &[u8]) -> Vec<u8> {
    client.send(bytes).expect("sends");
    let answers = client.receive_until_closed().expect("an end");
    let text =
        String::from_utf8(answers.iter().flat_map(|byte| byte.escape_ascii()).collect()).expect("ASCII");
    let mut parts = text.split("$2\\r\\nid\\r\\n:");
    let mut kept = parts.next().unwrap_or_default().to_string();
    for part in parts {
        kept.push_str(part.trim_start_matches(|character: char| character.is_ascii_digit()));
    }
    kept.into_bytes()
}

#[test]
fn web_socket_depends_on_cutting() {
    let seed = seed();
    let begin = Instant::now();
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).with_web().must_start();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes_sent = 0;
    for number in 0..CUTTINGS {
        let bytes = requests(&mut random);
        bytes_sent += bytes.len();
        let by_tcp = answers(server.client(), &bytes);
        let cutting = if number % 10 == 0 { Cutting::Whole } else { Cutting::Random(random.fork()) };
        let by_web = answers(server.web_client(cutting), &bytes);
        assert!(
            by_tcp == by_web,
            "EDGECASK_SEED={seed}, cutting {number}:\n{}\nover TCP:\n{}\nover WebSocket:\n{}",
            bytes.escape_ascii(),
            String::from_utf8_lossy(&by_tcp),
            String::from_utf8_lossy(&by_web)
        );
    }
    report(&format!(
        "WebSocket: {CUTTINGS} cuttings of {bytes_sent} bytes give the bytes of TCP, {:.1} s, EDGECASK_SEED={seed}",
        begin.elapsed().as_secs_f64()
    ));
}
