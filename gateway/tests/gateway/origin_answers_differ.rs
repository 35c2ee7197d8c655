//! The gateway and the edge worker answer the same requests of browsers: both are held against one table
//! (`tests/support/origins.txt`), the edge worker by `tests/edge/origin-answers-differ.test.mjs`.

use std::collections::BTreeMap;
use std::io::Write;

use edgecask::web::protocol::Protocol;

use crate::support::{Client, Server};

const TABLE: &str = include_str!("../../../tests/support/origins.txt");
const PASSWORD: &str = "secret";

/// The answer of a server to a request with these fields.
fn answer(server: &Server, fields: [(&str, &str); 3]) -> &'static str {
    let mut head = String::from("GET /ping HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in fields.into_iter().filter(|(_, value)| *value != "-") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut client = Client::connect(server.web_address(Protocol::Http));
    let request = format!("{head}authorization: Bearer {PASSWORD}\r\n\r\n");
    client.stream.write_all(request.as_bytes()).expect("sends");
    let response = client.rest();
    let (head, body) = response.split_once("\r\n\r\n").expect("a response");
    match head.lines().next() {
        Some("HTTP/1.1 403 Forbidden") => "refused",
        Some("HTTP/1.1 200 OK") if body != r#"{"result":"PONG"}"# => "another reply",
        Some("HTTP/1.1 200 OK") if head.contains("access-control-allow-origin:") => "listed",
        Some("HTTP/1.1 200 OK") => "own",
        _ => "another status",
    }
}

#[test]
fn origin_answers_differ() {
    let mut servers = BTreeMap::new();
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [password, list, host, origin, fetch_site, expected] = cells[..] else { panic!("{row}") };
        let server = servers.entry((password, list)).or_insert_with(|| {
            let password =
                if password == "yes" { format!("--requirepass {PASSWORD}") } else { String::new() };
            Server::start(&format!("--http-origins {list} {password}"))
        });
        let fields = [("host", host), ("origin", origin), ("sec-fetch-site", fetch_site)];
        assert_eq!(answer(server, fields), expected, "{row}");
    }
    assert_eq!(servers.len(), 3, "the table was read");
}
