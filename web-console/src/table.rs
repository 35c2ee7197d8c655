//! The command table for the page: the documentation of each command, without the columns that only a server needs.

use edgecask_core::catalog::{self, CommandSpec};
use serde::Serialize;

/// The columns that completion and HELP show.
#[derive(Serialize)]
pub struct Entry {
    /// Upper case, a subcommand after its container: `CLIENT LIST`.
    name: String,
    group: &'static str,
    since: &'static str,
    summary: &'static str,
    complexity: &'static str,
    /// The arguments after the name, in the notation of the Redis reference.
    syntax: &'static str,
    /// Whether it only selects a subcommand.
    container: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<Deprecated>,
}

#[derive(Serialize)]
struct Deprecated {
    since: &'static str,
    replaced_by: &'static str,
}

/// Every row of the catalog, sorted by name.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<_> = catalog::all().iter().map(entry).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

fn entry(spec: &'static CommandSpec) -> Entry {
    Entry {
        name: spec.name.to_ascii_uppercase().replace('|', " "),
        group: spec.group.name(),
        since: spec.since,
        summary: spec.summary,
        complexity: spec.complexity,
        syntax: spec.syntax,
        container: spec.is_container() && !spec.accepts(1),
        deprecated: spec
            .deprecated
            .map(|deprecated| Deprecated { since: deprecated.since, replaced_by: deprecated.replaced_by }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_listed_once_with_its_summary() {
        let entries = entries();
        assert_eq!(entries.len(), catalog::COUNT);
        assert!(entries.windows(2).all(|pair| matches!(pair, [a, b] if a.name < b.name)));
        assert!(entries.iter().all(|entry| !entry.summary.is_empty() && !entry.since.is_empty()));
    }

    #[test]
    fn a_subcommand_is_named_after_its_container() {
        let json = serde_json::to_value(entries()).expect("entries are JSON");
        let find = |name: &str| {
            json.as_array()
                .into_iter()
                .flatten()
                .find(|entry| entry["name"] == name)
                .cloned()
                .unwrap_or_default()
        };
        assert_eq!(find("CLIENT LIST")["group"], "connection");
        assert_eq!(find("CLIENT")["container"], true);
        assert_eq!(find("COMMAND")["container"], false);
        assert_eq!(find("GETSET")["deprecated"]["since"], "6.2.0");
        assert_eq!(find("GET")["syntax"], "key");
    }
}
