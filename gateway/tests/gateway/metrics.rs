//! The page for Prometheus is one, and follows what clients do.

use std::collections::{BTreeMap, BTreeSet};

use edgecask::web::metrics;

use crate::support::{Client, Server, request};

/// A sample's name and labels, sorted.
type Series = (String, BTreeMap<String, String>);

/// The samples of a page that keeps every rule of the format.
fn parse(page: &str) -> BTreeMap<Series, f64> {
    assert!(page.ends_with('\n'), "the last line ends");
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    let mut helped: BTreeSet<String> = BTreeSet::new();
    let mut family = String::new();
    let mut samples = BTreeMap::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect(line);
            assert!(is_name(name) && !help.is_empty(), "{line}");
            assert!(helped.insert(name.to_string()), "twice: {line}");
            family = name.to_string();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect(line);
            assert_eq!(name, family, "TYPE stands behind its HELP: {line}");
            assert!(["counter", "gauge", "summary"].contains(&kind), "{line}");
            assert!(kind != "counter" || name.ends_with("_total"), "{line}");
            assert!(kinds.insert(name.to_string(), kind.to_string()).is_none(), "twice: {line}");
        } else {
            let (series, value) = sample(line);
            let name = series.0.clone();
            let kind = kinds.get(&family).unwrap_or_else(|| panic!("no TYPE: {line}"));
            let suffixes: &[&str] = if kind == "summary" { &["", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.iter().any(|suffix| name == format!("{family}{suffix}")), "{family}: {line}");
            assert!(kind != "counter" || value >= 0.0, "{line}");
            assert_eq!(kind == "summary" && name == family, series.1.contains_key("quantile"), "{line}");
            assert!(samples.insert(series, value).is_none(), "twice: {line}");
        }
    }
    samples
}

fn is_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_fine) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty()
}

fn sample(line: &str) -> (Series, f64) {
    let end = line.find(['{', ' ']).expect(line);
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").expect(line);
            let mut value = String::new();
            let mut escaped = false;
            let mut end = None;
            for (at, c) in after.char_indices() {
                match (escaped, c) {
                    (false, '\\') => escaped = true,
                    (false, '"') => {
                        end = Some(at + 1);
                        break;
                    }
                    (true, 'n') => (value, escaped) = (value + "\n", false),
                    (true, '\\' | '"') | (false, _) => {
                        value.push(c);
                        escaped = false;
                    }
                    (true, _) => panic!("unknown escape: {line}"),
                }
            }
            assert!(is_name(label) && labels.insert(label.to_string(), value).is_none(), "{line}");
            rest = &after[end.expect(line)..];
            match rest.split_at(1) {
                (",", more) => rest = more,
                ("}", more) => {
                    rest = more;
                    break;
                }
                _ => panic!("{line}"),
            }
        }
    }
    let value = rest.strip_prefix(' ').expect(line).parse().expect(line);
    ((name.to_string(), labels), value)
}

struct Page(BTreeMap<Series, f64>);

impl Page {
    fn of(server: &Server) -> Page {
        Page(parse(&metrics::text(server.gateway())))
    }

    fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels.iter().map(|(label, value)| (label.to_string(), value.to_string())).collect();
        self.0.get(&(name.to_string(), labels)).copied()
    }
}

fn run(client: &mut Client, requests: &[&str]) {
    for line in requests {
        client.send(&request(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>()));
    }
    client.send(b"ECHO done\r\n");
    while client.line() != "done" {}
}

#[test]
fn metrics_do_not_follow_commands() {
    let server = Server::start("--enable-debug-command yes --blob-min-bytes 1000");
    let first = Page::of(&server);
    assert_eq!(first.get("redis_up", &[]), Some(1.0));
    assert_eq!(first.get("redis_connected_clients", &[]), Some(0.0));
    assert_eq!(first.get("redis_commands_total", &[("cmd", "get")]), None);
    assert_eq!(first.get("edgecask_sync_failed", &[]), Some(0.0));
    assert_eq!(first.get("edgecask_log_read_only", &[]), Some(0.0));
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "SET key value",
            "SET expiring value EX 100",
            "GET key",
            "GET nosuch",
            "LPUSH key x",
            "SELECT 3",
            "HSET hash field value",
            "SET huge",
            "CONFIG SET slowlog-log-slower-than 0",
            "DEBUG ERROR A\"QUOTED\\CODE",
            "CLIENT LIST",
        ],
    );
    run(&mut client, &[&format!("SET blob {}", "b".repeat(5000))]);
    let page = Page::of(&server);
    for (name, labels, expected) in [
        ("redis_commands_total", &[("cmd", "get")][..], 2.0),
        ("redis_commands_total", &[("cmd", "client|list")], 1.0),
        ("redis_commands_rejected_calls_total", &[("cmd", "set")], 1.0),
        ("redis_commands_failed_calls_total", &[("cmd", "lpush")], 1.0),
        ("redis_latency_percentiles_usec_count", &[("cmd", "get")], 2.0),
        ("redis_errors_total", &[("err", "WRONGTYPE")], 1.0),
        ("redis_errors_total", &[("err", "A\"QUOTED\\CODE")], 1.0),
        ("redis_keyspace_hits_total", &[], 1.0),
        ("redis_keyspace_misses_total", &[], 1.0),
        ("redis_db_keys", &[("db", "db0")], 2.0),
        ("redis_db_keys_expiring", &[("db", "db0")], 1.0),
        ("redis_db_keys", &[("db", "db3")], 2.0),
        ("redis_connected_clients", &[], 1.0),
        ("redis_connections_received_total", &[], 1.0),
        ("redis_commands_processed_total", &[], 14.0),
        ("edgecask_blobs", &[], 1.0),
        ("edgecask_blob_bytes", &[], 5000.0),
        ("edgecask_datafiles", &[], 1.0),
    ] {
        assert_eq!(page.get(name, labels), Some(expected), "{name} {labels:?}");
    }
    for (name, labels) in [
        ("redis_latency_percentiles_usec", &[("cmd", "get"), ("quantile", "99.9")][..]),
        ("redis_commands_duration_seconds_total", &[("cmd", "get")]),
        ("redis_slowlog_length", &[]),
        ("redis_net_input_bytes_total", &[]),
        ("redis_memory_used_bytes", &[]),
        ("edgecask_datafile_live_bytes", &[]),
        ("edgecask_log_appended_bytes_total", &[]),
    ] {
        assert!(page.get(name, labels).is_some_and(|value| value > 0.0), "{name} {labels:?}");
    }
    let dead = "edgecask_datafile_dead_bytes";
    let before = page.get(dead, &[]).expect(dead);
    run(&mut client, &["SET key other", "DEL blob"]);
    let page = Page::of(&server);
    assert!(page.get(dead, &[]).is_some_and(|after| after > before));
    assert_eq!(page.get("edgecask_blob_bytes", &[]), Some(0.0));
}

/// Every fact that the page is made of is in INFO, and every page has the same families.
#[test]
fn metric_has_lost_its_fact() {
    let server = Server::start("");
    let page = metrics::text(server.gateway());
    for name in metrics::names() {
        assert!(page.contains(&format!("\n{name} ")), "{name}");
    }
}
