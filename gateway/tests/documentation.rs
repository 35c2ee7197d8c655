//! The documentation against the program: options, settings, and links between pages.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, CommandFactory};
use edgecask::options::CommandLine;
use edgecask_core::server::SETTINGS;

const OPTIONS_BEGIN: &str = "<!-- options -->\n";
const OPTIONS_END: &str = "<!-- end of options -->";
const SETTINGS_BEGIN: &str = "<!-- settings -->\n";
const SETTINGS_END: &str = "<!-- end of settings -->";

/// Pages beside those in `docs/`.
const PAGES: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "bench/results.md",
    "core/FORMAT.md",
    "edge-worker/README.md",
    "examples/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between two marks.
fn between<'p>(page: &'p str, begin: &str, end: &str) -> &'p str {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("no {begin}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end}")).0
}

fn option_row(option: &Arg) -> String {
    let help = option.get_help().expect("an option has help").to_string();
    let (what, default) = help.rsplit_once(" [default: ").expect("help names the default");
    let default = default.trim_end_matches(']');
    let short = option.get_short().map_or_else(String::new, |short| format!(", `-{short}`"));
    let words: Vec<String> =
        option.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let words = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    let variable = option.get_env().expect("an option has a variable").to_string_lossy();
    let long = option.get_long().expect("an option has a name");
    format!("| `--{long}`{short} | `{variable}` | {what}{words} | {default} |")
}

fn options_table() -> String {
    let line = CommandLine::command();
    let serve = line.find_subcommand("serve").expect("serve is there");
    let mut table = String::from("| option | variable | what | default |\n| --- | --- | --- | --- |\n");
    for option in serve.get_arguments().filter(|option| option.get_id() != "help") {
        writeln!(table, "{}", option_row(option)).expect("a String takes all");
    }
    table
}

/// Compares the part of a page between two marks with what it is made from, or writes it anew if EDGECASK_UPDATE is set.
fn check_part(page: &str, begin: &str, end: &str, made: &str) {
    let path = root().join(page);
    let text = read(&path);
    let shown = between(&text, begin, end);
    if std::env::var_os("EDGECASK_UPDATE").is_some() {
        let old = format!("{begin}{shown}{end}");
        let new = format!("{begin}{made}{end}");
        fs::write(&path, text.replacen(&old, &new, 1)).expect("the page is written");
        return;
    }
    assert!(
        shown == made,
        "{page} is stale between {begin}and {end}. To write it anew: EDGECASK_UPDATE=1 cargo test -p edgecask --test \
         documentation"
    );
}

#[test]
fn options_are_not_those_of_the_program() {
    check_part("docs/configuration.md", OPTIONS_BEGIN, OPTIONS_END, &options_table());
}

#[test]
fn settings_that_act_cannot_be_set() {
    let page = read(&root().join("docs/configuration.md"));
    let rows = between(&page, SETTINGS_BEGIN, SETTINGS_END).lines().skip(2);
    let names: Vec<&str> = rows.map(|row| row.split('`').nth(1).expect("a name in backticks")).collect();
    assert!(names.len() > 20 && names.is_sorted(), "{names:?}");
    for name in names {
        let setting = SETTINGS.iter().find(|setting| setting.name == name);
        assert!(setting.is_some_and(|setting| setting.mutable), "{name}");
    }
}

/// The part of a link behind `#`, as GitHub makes it of a heading.
fn anchor_of(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of a page's links `[text](target)`.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// What is wrong with a link of a page.
fn fault(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = if file.is_empty() { page.to_owned() } else { page.with_file_name("").join(file) };
    if !target.exists() {
        return Some(format!("{}: {link}: no such file", page.display()));
    }
    let anchor = anchor?;
    let text = read(&target);
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    let is_there = headings.any(|heading| anchor_of(heading.trim_start_matches('#')) == anchor);
    (!is_there).then(|| format!("{}: {link}: no such heading", page.display()))
}

#[test]
fn link_leads_nowhere() {
    let in_docs = fs::read_dir(root().join("docs"))
        .expect("docs is there")
        .map(|entry| entry.expect("an entry").path());
    let pages: Vec<PathBuf> = in_docs.chain(PAGES.iter().map(|page| root().join(page))).collect();
    let mut count = 0;
    let mut faults = Vec::new();
    for page in &pages {
        let text = read(page);
        for link in links(&text) {
            count += 1;
            faults.extend(fault(page, link));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(count > 50, "only {count} links were found in {} pages", pages.len());
}
