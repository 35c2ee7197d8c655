//! ACL DRYRUN of both servers, for every row of the catalog and every kind of user: who may run a request, and what is missing.
//!
//! The users and the requests are those of the recording with which the core is compared
//! (`core/src/acl/tests/decisions_7_0_15.txt`).

use edgecask_core::catalog::lookup_request;
use edgecask_core::resp::{Value, write_request};
use edgecask_tests::client::{Client, Reply};
use edgecask_tests::process::{Gateway, redis, report};

const DECISIONS: &str = include_str!("../../core/src/acl/tests/decisions_7_0_15.txt");

/// Requests in which 7.0.15 finds no key, so that it lets everybody run them.
const KEYS_OVERLOOKED: &[&str] = &["pfmerge 1"];

/// What a server decides about a request of each of these users: `+`, or the word for what is missing.
fn decide(client: &mut Client, users: &[String], request: &str) -> Vec<String> {
    let mut bytes = Vec::new();
    for rules in users {
        let user: Vec<&str> = "ACL SETUSER probe reset".split(' ').chain(rules.split(' ')).collect();
        write_request(&user, &mut bytes);
        let asked: Vec<&str> = "ACL DRYRUN probe".split(' ').chain(request.split(' ')).collect();
        write_request(&asked, &mut bytes);
    }
    let replies =
        client.exchange(&bytes, 2 * users.len()).unwrap_or_else(|error| panic!("{request}: {error}"));
    let (pairs, _) = replies.as_chunks::<2>();
    let shown = |(rules, [made, decided]): (&String, &[Reply; 2])| {
        assert_eq!(made.value, Value::Simple(b"OK".to_vec()), "{rules}");
        let text = decided.value.as_bytes().unwrap_or_else(|| panic!("{request}: {:?}", decided.value));
        let text = String::from_utf8_lossy(text).into_owned();
        if text == "OK" { "+".to_owned() } else { text.rsplit(' ').next().unwrap_or_default().to_owned() }
    };
    users.iter().zip(pairs).map(shown).collect()
}

#[test]
fn decision_differs_from_redis() {
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&[]));
    let (mut ours, mut theirs) = (ours.client(), theirs.client());
    let lines = DECISIONS.lines().filter(|line| !line.starts_with('#'));
    let (users, requests): (Vec<&str>, Vec<&str>) = lines.partition(|line| !line.contains("; "));
    let users: Vec<&str> = users.iter().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in requests {
        let [request, category, foreign, sibling, key, _] =
            line.split("; ").collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"));
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let Some(spec) = lookup_request(&args).filter(|spec| !spec.is_container()) else { continue };
        let fill = |rules: &&str| {
            rules
                .replace("{name}", spec.name)
                .replace("{command}", spec.container().unwrap_or(spec).name)
                .replace("{category}", category)
                .replace("{foreign}", foreign)
                .replace("{sibling}", sibling)
                .replace("{key}", key)
        };
        let users: Vec<String> = users.iter().map(fill).collect();
        let decided = [&mut ours, &mut theirs].map(|client| decide(client, &users, request));
        for ((rules, ours), theirs) in users.iter().zip(&decided[0]).zip(&decided[1]) {
            compared += 1;
            let is_stricter = KEYS_OVERLOOKED.contains(&request) && ours == "key" && theirs == "+";
            if ours != theirs && !is_stricter {
                wrong.push(format!("{request} ({rules}): {ours} and not {theirs}"));
            }
        }
    }
    report(&format!("ACL DRYRUN: {compared} decisions beside redis-server, {} differ", wrong.len()));
    assert!(wrong.is_empty() && compared > 8000, "{compared} compared:\n{}", wrong.join("\n"));
}
