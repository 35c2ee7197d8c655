//! The gate: every row of the catalog is in a transcript, in a conversation, or among the requests that are compared with redis-server
//! (`tests/scripts`).

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use edgecask_core::catalog;
use edgecask_core::resp::Value;
use edgecask_tests::process::Gateway;

/// The first two words of every request in the files of a folder, in lower case. `begin` stands before each request.
fn requests((folder, begin): (&str, &str), found: &mut HashSet<(String, String)>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        for line in text.lines() {
            // `> GET a`, `2> GET a`, `2>| GET a | GET b`, `?2> GET a`, and replies, which name no command at their begin.
            let Some((_, rest)) = line.split_once(begin) else { continue };
            for request in rest.trim_start_matches('|').split(" | ") {
                let mut words = request.split_whitespace().map(str::to_ascii_lowercase);
                let first = words.next().unwrap_or_default();
                found.insert((first, words.next().unwrap_or_default()));
            }
        }
    }
}

#[test]
fn command_that_no_test_runs() {
    let mut found = HashSet::new();
    for folder in [("transcripts", ">"), ("conversations", ">"), ("scripts/requests", "")] {
        requests(folder, &mut found);
    }
    let is_hit = |name: &str| match name.split_once('|') {
        Some((container, word)) => found.contains(&(container.to_string(), word.to_string())),
        None => found.iter().any(|(first, _)| first == name),
    };
    let names = catalog::all().iter().map(|spec| spec.name);
    // Help is in our own words, which nothing can be compared with; the other test has it.
    let missed: Vec<&str> = names.filter(|name| !name.ends_with("|help") && !is_hit(name)).collect();
    assert!(missed.is_empty(), "in no test: {}", missed.join(", "));
}

#[test]
fn help_of_a_container_leaves_a_subcommand_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut client = server.client();
    // CLUSTER HELP is refused like all of CLUSTER where there is none, as in Redis. FT.CONFIG HELP describes settings.
    let is_help = |name: &str| name.ends_with("|help") && !["cluster|help", "ft.config|help"].contains(&name);
    for help in catalog::all().iter().filter(|spec| is_help(spec.name)) {
        let container = help.container().expect("a container");
        let Value::Array(lines) = client.must(&format!("{} HELP", container.name)) else {
            panic!("{}", help.name)
        };
        let text: Vec<String> = lines
            .iter()
            .filter_map(Value::as_bytes)
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect();
        assert_eq!(text.len(), lines.len(), "{}", help.name);
        for row in container.subcommands() {
            let word = row.name.rsplit('|').next().unwrap_or_default().to_ascii_uppercase();
            assert!(
                text.iter().any(|line| line.split(' ').next() == Some(&word)),
                "{}: no line for {word}",
                help.name
            );
        }
    }
}
