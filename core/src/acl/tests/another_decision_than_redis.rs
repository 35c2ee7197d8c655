//! Decisions beside those that redis-server 7.0.15 made by ACL DRYRUN, and the members of its categories.

use std::collections::{BTreeMap, BTreeSet};

use super::user;
use crate::acl::Reason;
use crate::catalog::laws::{NEW_IN_7_2, is_own};
use crate::catalog::{self, lookup_request};

/// What redis-server decided; the file says how to make it anew.
const DECISIONS: &str = include_str!("decisions_7_0_15.txt");

/// Requests in which 7.0.15 finds no key and so allows every one: its specifications want a source.
const KEYS_OVERLOOKED: &[&str] = &["pfmerge 1"];

#[test]
fn decision_differs_from_redis() {
    let lines = DECISIONS.lines().filter(|line| !line.starts_with('#'));
    let (users, decisions): (Vec<&str>, Vec<&str>) = lines.partition(|line| !line.contains("; "));
    let users: Vec<(&str, &str)> = users.iter().filter_map(|line| line.split_once(": ")).collect();
    assert!(users.len() >= 20, "only {} users", users.len());
    let mut seen = BTreeSet::new();
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in decisions {
        let [request, category, foreign, sibling, key, letters] =
            line.split("; ").collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"));
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let Some(spec) = lookup_request(&args) else { continue };
        if spec.is_container() && args.len() > 1 {
            // A subcommand that is not here.
            continue;
        }
        seen.insert(spec.name);
        assert_eq!(letters.len(), users.len(), "{line}");
        for ((name, rules), letter) in users.iter().zip(letters.chars()) {
            let rules = rules
                .replace("{name}", spec.name)
                .replace("{command}", spec.container().unwrap_or(spec).name)
                .replace("{category}", category)
                .replace("{foreign}", foreign)
                .replace("{sibling}", sibling)
                .replace("{key}", key);
            let decided = match user("probe", &rules).check(spec, &args).map_err(|denial| denial.reason) {
                Ok(_) => '+',
                Err(Reason::Command) => 'c',
                Err(Reason::Key) => 'k',
                Err(Reason::Channel) => 'h',
                Err(Reason::Login) => '?',
            };
            compared += 1;
            let is_stricter = KEYS_OVERLOOKED.contains(&request) && (decided, letter) == ('k', '+');
            if decided != letter && !is_stricter {
                wrong.push(format!("{request}: {name} ({rules}): {decided} and not {letter}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} decisions differ:\n{}", wrong.len(), wrong.join("\n"));
    // A container by itself is no request.
    let rows = catalog::all().iter().filter(|spec| !spec.is_container());
    let theirs = rows.map(|spec| spec.name).filter(|name| !is_own(name));
    let missed: BTreeSet<&str> = theirs.filter(|name| !seen.contains(name)).collect();
    let new: BTreeSet<&str> = NEW_IN_7_2.iter().copied().collect();
    assert_eq!(missed, new, "rows that no decision is about");
    assert!(compared > 8000, "only {compared} decisions");
}

/// The categories of redis-server as the laws of the catalog have them; ACL CAT shows the catalog's.
#[test]
fn category_has_other_members() {
    const FACTS: &str = include_str!("../../catalog/laws/redis_7_0_15.txt");
    let mut theirs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in FACTS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split("; ").collect();
        for category in fields[4].split(' ') {
            theirs.entry(category).or_default().insert(fields[0]);
        }
    }
    for (category, bit) in catalog::Categories::WORDS {
        let members = catalog::all().iter().filter(|spec| spec.categories.contains(*bit));
        let ours: BTreeSet<&str> = members
            .map(|spec| spec.name)
            .filter(|name| !NEW_IN_7_2.contains(name) && !is_own(name))
            .collect();
        let theirs = theirs.remove(category).unwrap_or_default();
        // WAIT is a connection's command in 7.2.
        let differing: Vec<&&str> =
            ours.symmetric_difference(&theirs).filter(|name| **name != "wait").collect();
        assert!(differing.is_empty(), "{category}: {differing:?}");
    }
    assert!(theirs.is_empty(), "{theirs:?}");
}
