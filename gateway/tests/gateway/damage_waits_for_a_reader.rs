//! A running server reads everything in the background and says what it finds: in INFO, in `/metrics`, and by a command's answer as
//! before.

use std::fs;
use std::time::{Duration, Instant};

use edgecask::backup::run_scrub;
use edgecask::web::metrics;

use crate::support::{Client, Server, request};

fn info(client: &mut Client) -> String {
    client.send(&request(&[b"INFO", b"bitcask"]));
    let len: usize = client.line().trim_start_matches('$').parse().expect("a length");
    let mut text = String::new();
    while text.len() < len {
        text += &client.line();
        text += "\r\n";
    }
    assert_eq!(client.line(), "", "the end of the reply");
    text
}

/// The section once it has this line.
fn info_with(client: &mut Client, line: &str) -> String {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let text = info(client);
        if text.lines().any(|found| found == line) {
            return text;
        }
        assert!(Instant::now() < end, "{line} never comes:\n{text}");
    }
}

fn scrub(server: &Server) -> Result<bool, String> {
    run_scrub(server.directory.path(), &mut Vec::new()).map_err(|error| error.to_string())
}

#[test]
fn damaged_value_is_not_found_before_somebody_reads_it() {
    let server = Server::start("--scrub-bytes-per-second 1gb");
    let mut client = server.connect();
    client.expect(&[b"SET", b"film", &vec![b'a'; 3 << 20]], b"+OK\r\n");
    client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    assert_eq!(scrub(&server), Ok(true));
    let end = Instant::now() + Duration::from_secs(30);
    let has_ended = || {
        let known = server.gateway().server.engine.scrubbing();
        known.done_bytes > 0 && !known.is_on
    };
    while !has_ended() {
        assert!(Instant::now() < end, "the scrub never ends");
        std::thread::yield_now();
    }
    let text = info(&mut client);
    assert!(text.contains("scrub_findings:0\r\n") && !text.contains("scrub_last_finding"), "{text}");
    let entries = fs::read_dir(server.directory.path()).expect("a directory");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    let blob = paths.find(|path| path.extension().is_some_and(|its| its == "blob")).expect("a blob");
    let mut bytes = fs::read(&blob).expect("read");
    bytes[1 << 20] ^= 1;
    fs::write(&blob, bytes).expect("written");
    assert_eq!(scrub(&server), Ok(true));
    let text = info_with(&mut client, "scrub_findings:1");
    let told = text.lines().find_map(|line| line.strip_prefix("scrub_last_finding:")).expect("a finding");
    let name = blob.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(told.contains("\"film\"") && told.contains(&name), "{told}");
    let page = metrics::text(server.gateway());
    assert!(page.contains("\nedgecask_scrub_findings 1\n"), "{page}");
    client.expect(&[b"GET", b"key"], b"$5\r\nvalue\r\n");
    client.send(&request(&[b"GET", b"film"]));
    assert!(client.line().starts_with("-ERR the value of \"film\" cannot be read"));
}

#[test]
fn scrub_begins_though_it_is_switched_off() {
    let server = Server::start("--scrub-bytes-per-second 0");
    let refused = scrub(&server).expect_err("it is off");
    assert!(refused.contains("scrub-bytes-per-second is 0"), "{refused}");
    let mut client = server.connect();
    client.expect(&[b"CONFIG", b"SET", b"scrub-bytes-per-second", b"1gb"], b"+OK\r\n");
    assert_eq!(scrub(&server), Ok(true));
    let directory = server.directory.path().to_owned();
    drop(server);
    let refused = run_scrub(&directory, &mut Vec::new()).expect_err("nobody is there");
    assert!(refused.to_string().contains("no server uses"), "{refused}");
}
