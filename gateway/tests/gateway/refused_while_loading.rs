//! While the store is being read, clients are told so; they are neither refused a connection nor shown an empty store.

use std::io::{Read, Write};
use std::net::TcpStream;

use edgecask::web::protocol::Protocol;

use crate::support::{Client, Server, request};

const LOADING: &str = "-LOADING Redis is loading the dataset in memory";

fn info(client: &mut Client) -> String {
    client.send(&request(&[b"INFO", b"persistence"]));
    let len: usize = client.line().trim_start_matches('$').parse().expect("a length");
    let mut text = vec![0; len + 2];
    client.stream.read_exact(&mut text).expect("INFO");
    String::from_utf8_lossy(&text).into_owned()
}

fn ready(server: &Server) -> String {
    let address = server.web_address(Protocol::Http);
    let mut stream = TcpStream::connect(address).expect("connects");
    write!(stream, "GET /ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("sends");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    response
}

#[test]
fn clients_are_not_told_that_the_store_is_being_read() {
    let server = Server::start("");
    let mut client = server.connect();
    client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    let loading = &server.gateway().server.shared.loading;
    loading.begin(4000, 1_700_000_000_000);
    loading.reached(1000);
    for refused in [
        &[b"PING".as_slice()] as &[&[u8]],
        &[b"GET", b"key"],
        &[b"SET", b"key", b"other"],
        &[b"SAVE"],
        &[b"FLUSHALL"],
        &[b"DBSIZE"],
        // Nothing of it may be kept in memory.
        &[b"SET", b"key", &vec![b'x'; 3_000_000]],
    ] {
        client.send(&request(refused));
        assert_eq!(client.line(), LOADING, "{:?}", String::from_utf8_lossy(refused[0]));
    }
    client.expect(&[b"CLIENT", b"SETNAME", b"early"], b"+OK\r\n");
    client.expect(&[b"MULTI"], b"+OK\r\n");
    client.expect(&[b"DISCARD"], b"+OK\r\n");
    client.send(&request(&[b"HELLO", b"2"]));
    assert_eq!(client.line(), "*14");
    let mut late = server.connect();
    let text = info(&mut late);
    for line in
        ["loading:1", "loading_total_bytes:4000", "loading_loaded_bytes:1000", "loading_loaded_perc:25.00"]
    {
        assert!(text.lines().any(|found| found == line), "no {line} in {text}");
    }
    let response = ready(&server);
    assert!(response.starts_with("HTTP/1.1 503") && response.ends_with("loading\n"), "{response}");
    loading.end();
    late.expect(&[b"GET", b"key"], b"$5\r\nvalue\r\n");
    assert!(ready(&server).starts_with("HTTP/1.1 200"));
    let text = info(&mut late);
    assert!(text.contains("loading:0\r\n") && !text.contains("loading_total_bytes"), "{text}");
}
