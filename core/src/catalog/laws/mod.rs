//! The laws of the table, and the facts it must agree with.

mod own_flags;
mod replies;

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::given::least_words;
use super::*;

/// What redis-server 7.0.15 says of every command here; the file begins with the meaning of its fields.
const REDIS_7_0_15: &str = include_str!("redis_7_0_15.txt");

/// What the same server says of the keys of some requests.
const GETKEYS: &str = include_str!("getkeys.txt");

/// Where Redis 7.2 differs from 7.0.15 and the table follows 7.2: (command, field of `REDIS_7_0_15`).
const CHANGED_IN_7_2: &[(&str, &str)] = &[
    ("bitop", "syntax"),
    ("command|getkeys", "arity"),
    ("command|getkeys", "syntax"),
    ("command|getkeysandflags", "arity"),
    ("command|getkeysandflags", "syntax"),
    ("geohash", "syntax"),
    ("geopos", "syntax"),
    ("georadius", "syntax"),
    ("georadiusbymember", "syntax"),
    ("pfmerge", "syntax"),
    ("psetex", "deprecated"),
    ("quit", "deprecated"),
    ("randomkey", "tips"),
    ("scan", "tips"),
    ("setex", "deprecated"),
    ("setnx", "deprecated"),
    ("wait", "categories"),
    ("wait", "flags"),
    ("xclaim", "syntax"),
    ("xgroup|create", "syntax"),
    ("xgroup|createconsumer", "syntax"),
    ("xgroup|delconsumer", "syntax"),
    ("xgroup|destroy", "syntax"),
    ("xgroup|setid", "syntax"),
    ("xinfo|consumers", "syntax"),
    ("xsetid", "syntax"),
    ("zrank", "arity"),
    ("zrank", "syntax"),
    ("zrevrank", "arity"),
    ("zrevrank", "syntax"),
];

/// Where Redis' tree is one that the notation of the rows does not have: FULL makes a block of an option.
const NOT_IN_THE_NOTATION: &[(&str, &str)] = &[("xinfo|stream", "types")];

/// Commands that 7.0.15 does not have.
pub(crate) const NEW_IN_7_2: &[&str] = &["client|no-touch", "client|setinfo", "cluster|myshardid", "waitaof"];

/// Whether no Redis has a command.
pub(crate) fn is_own(name: &str) -> bool {
    OWN.contains(&name)
}

/// Commands that no Redis has by itself.
const OWN: &[&str] = &[
    "cron",
    "cron|create",
    "cron|drop",
    "cron|help",
    "cron|list",
    "cron|log",
    "ft._list",
    "ft.aggregate",
    "ft.aliasadd",
    "ft.aliasdel",
    "ft.aliasupdate",
    "ft.alter",
    "ft.config",
    "ft.config|get",
    "ft.config|help",
    "ft.config|set",
    "ft.create",
    "ft.cursor",
    "ft.cursor|del",
    "ft.cursor|read",
    "ft.del",
    "ft.dictadd",
    "ft.dictdel",
    "ft.dictdump",
    "ft.dropindex",
    "ft.explain",
    "ft.explaincli",
    "ft.get",
    "ft.http",
    "ft.http_ro",
    "ft.info",
    "ft.mget",
    "ft.profile",
    "ft.search",
    "ft.spellcheck",
    "ft.sugadd",
    "ft.sugdel",
    "ft.sugget",
    "ft.suglen",
    "ft.syndump",
    "ft.synupdate",
    "ft.tagvals",
    "graph.addedge",
    "graph.addnode",
    "graph.deledge",
    "graph.delnode",
    "graph.delproperty",
    "graph.getedge",
    "graph.getnode",
    "graph.neighbors",
    "graph.path",
    "graph.setproperty",
    "graph.walk",
    "json.arrappend",
    "json.arrindex",
    "json.arrinsert",
    "json.arrlen",
    "json.arrpop",
    "json.arrtrim",
    "json.clear",
    "json.debug",
    "json.debug|help",
    "json.debug|memory",
    "json.del",
    "json.forget",
    "json.get",
    "json.merge",
    "json.mget",
    "json.mset",
    "json.numincrby",
    "json.nummultby",
    "json.objkeys",
    "json.objlen",
    "json.resp",
    "json.set",
    "json.strappend",
    "json.strlen",
    "json.toggle",
    "json.type",
    "json.validate",
    "sql.begin",
    "sql.commit",
    "sql.cursor",
    "sql.cursor|close",
    "sql.cursor|fetch",
    "sql.cursor|help",
    "sql.cursor|open",
    "sql.denorm",
    "sql.desc",
    "sql.dropstmt",
    "sql.dump",
    "sql.exec",
    "sql.execute",
    "sql.execute_ro",
    "sql.explain",
    "sql.hrana",
    "sql.norm",
    "sql.prepare",
    "sql.query",
    "sql.rollback",
    "sql.script",
    "sql.stats",
    "sql.store",
    "sql.tables",
    "sql.words",
    "sql.words_ro",
    "trigger",
    "trigger|create",
    "trigger|drop",
    "trigger|help",
    "trigger|list",
    "trigger|old",
    "trigger|stats",
];

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

fn tree(spec: &CommandSpec) -> Vec<Argument<'static>> {
    spec.arguments().unwrap_or_else(|error| panic!("{}: {error}", spec.name))
}

#[test]
fn names_are_unique_lower_case_and_carry_their_container() {
    let mut seen = HashSet::new();
    for spec in all() {
        assert!(seen.insert(spec.name), "{} stands twice in the table", spec.name);
        assert_eq!(spec.name, spec.name.to_ascii_lowercase());
        let expected = match spec.container() {
            Some(container) => format!("{}|{}", container.name, spec.word()),
            None => spec.word().to_owned(),
        };
        assert_eq!(spec.name, expected);
        assert!(!spec.word().is_empty());
    }
    assert_eq!(seen.len(), COUNT);
}

#[test]
fn every_file_is_in_alphabetic_order() {
    for (group, rows) in rows::GROUPS {
        let names: Vec<_> =
            commands().iter().filter(|spec| spec.group == group).map(|spec| spec.name).collect();
        assert_eq!(names.len(), rows.len());
        assert!(names.is_sorted(), "{}: {names:?}", group.name());
    }
    assert!(all().iter().all(|spec| spec.subcommands().is_sorted_by_key(|subcommand| subcommand.name)));
}

#[test]
fn ids_are_positions() {
    for (index, spec) in all().iter().enumerate() {
        assert_eq!(spec.id.index(), index);
        assert!(std::ptr::eq(super::spec(spec.id), spec));
        assert_eq!(id(spec.name), spec.id);
    }
    const ENCODING: CommandId = id("object|encoding");
    assert_eq!(super::spec(ENCODING).container().map(|container| container.name), Some("object"));
}

#[test]
fn lookup_finds_every_name_in_any_case_and_no_other() {
    for spec in all() {
        let mixed: String =
            spec.name.chars().enumerate().map(|(index, letter)| flip(index, letter)).collect();
        for name in [spec.name.to_owned(), spec.name.to_ascii_uppercase(), mixed] {
            assert_eq!(lookup_full(name.as_bytes()).map(|found| found.id), Some(spec.id), "{name}");
            if let Some(container) = spec.container() {
                let word = name.split_once('|').expect("a subcommand has a bar").1;
                assert_eq!(lookup_sub(container, word.as_bytes()).map(|found| found.id), Some(spec.id));
                assert!(lookup(name.as_bytes()).is_none(), "{name} is not a command");
            } else {
                assert_eq!(lookup(name.as_bytes()).map(|found| found.id), Some(spec.id), "{name}");
            }
        }
        for wrong in [format!("{}x", spec.word()), spec.word()[1..].to_owned(), format!(" {}", spec.word())] {
            let known = all().iter().any(|other| other.name == wrong);
            assert_eq!(lookup(wrong.as_bytes()).is_some(), known, "{wrong}");
        }
        assert!(lookup_sub(spec, b"").is_none());
    }
    for odd in [
        &b""[..],
        b"|",
        b"get|",
        b"|get",
        b"object|",
        b"object|x|y",
        b"\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        assert!(lookup(odd).is_none() && lookup_full(odd).is_none(), "{odd:?}");
    }
    assert!(lookup(&[b'a'; 100_000]).is_none());
}

fn flip(index: usize, letter: char) -> char {
    if index.is_multiple_of(2) { letter.to_ascii_uppercase() } else { letter }
}

#[test]
fn no_name_is_far_from_its_slot() {
    assert!(
        table::longest_probe() <= 3,
        "{} steps: change the constants of the hash",
        table::longest_probe()
    );
}

#[test]
fn every_row_is_complete() {
    for spec in all() {
        let version: Vec<_> = spec.since.split('.').collect();
        assert!(version.len() == 3 && version.iter().all(|part| part.parse::<u8>().is_ok()), "{}", spec.name);
        let summary = spec.summary;
        assert!(summary.starts_with(|first: char| first.is_ascii_uppercase()), "{}: {summary}", spec.name);
        assert!(!summary.ends_with('.') && summary.len() <= 100, "{}: {summary}", spec.name);
        assert!(!spec.complexity.is_empty(), "{}", spec.name);
        assert!(spec.tips.is_empty() || spec.tips.split(' ').all(|tip| !tip.is_empty()), "{}", spec.name);
    }
}

#[test]
fn a_keyed_command_either_writes_or_reads() {
    for spec in all() {
        // A script may do both, whatever it is flagged as.
        let writes = spec.is(Flags::WRITE) || (spec.group == Group::Scripting && spec.may_commit());
        let reads = spec.is(Flags::READONLY);
        assert!(!(writes && reads), "{}", spec.name);
        // WATCH neither reads nor writes: what it notes is the connection's.
        if !spec.keys.is_empty() && spec.name != "watch" {
            assert!(writes || reads, "{}", spec.name);
        }
        for range in key_ranges(spec) {
            // PFCOUNT keeps its estimate in the sketch.
            let only_reads = range.flags.contains(KeyFlags::RO) || spec.name == "pfcount";
            assert!(writes || only_reads, "{}: {range:?}", spec.name);
            let uses = [KeyFlags::RO, KeyFlags::RW, KeyFlags::OW, KeyFlags::RM];
            assert_eq!(uses.iter().filter(|usage| range.flags.contains(**usage)).count(), 1, "{}", spec.name);
            let varies = range.flags.contains(KeyFlags::VARIABLE_FLAGS);
            assert_eq!(range.narrow.is_some(), varies, "{}", spec.name);
        }
        assert!(spec.is(Flags::TOUCHES_ALL_KEYS) <= spec.keys.is_empty(), "{}", spec.name);
    }
}

#[test]
fn keys_at_fixed_positions_are_within_the_arity() {
    let is_sought = |spec: &&CommandSpec| spec.keys.ranges().iter().any(|range| range.seek.is_some());
    let may_be_none = |spec: &CommandSpec| spec.keys.ranges().iter().any(|range| range.is_optional);
    for spec in all().iter().filter(|spec| !is_sought(spec) && !may_be_none(spec)) {
        let shortest = usize::from(spec.arity.unsigned_abs());
        let request = vec![&b"1"[..]; shortest];
        let found = spec.keys.positions(&request).unwrap_or_else(|error| panic!("{}: {error}", spec.name));
        assert_eq!(found.is_empty(), spec.keys.is_empty(), "{}", spec.name);
        let own_words = if spec.container().is_some() { 2 } else { 1 };
        assert!(found.iter().all(|index| (own_words..shortest).contains(index)), "{}: {found:?}", spec.name);
        for length in 0..shortest {
            let found = spec.keys.positions(&request[..length]).unwrap_or_default();
            assert!(found.iter().all(|index| *index < length), "{}", spec.name);
        }
    }
}

/// The key specifications that are about keys.
fn key_ranges(spec: &CommandSpec) -> &'static [keys::KeyRange] {
    if spec.keys.is_empty() { &[] } else { spec.keys.ranges() }
}

#[test]
fn every_syntax_parses_and_prints_itself() {
    for spec in all() {
        assert_eq!(print_syntax(&tree(spec)), spec.syntax, "{}", spec.name);
        for (name, _) in spec.types {
            let mentioned = spec.syntax.split([' ', '[', ']']).any(|word| word == *name);
            assert!(mentioned, "{}: no argument {name}", spec.name);
        }
    }
}

#[test]
fn arity_is_what_the_syntax_requires() {
    for spec in all() {
        let arguments = tree(spec);
        let own_words = if spec.container().is_some() { 2 } else { 1 };
        if spec.name == "client|kill" {
            // The filters that it wants at least one of are each optional in Redis' own syntax.
            continue;
        }
        // A container by itself has no syntax, and DEBUG tells its own in its HELP only; QUIT has always ignored what
        // follows it.
        let tells_later = spec.is_container() || spec.name == "debug";
        let open = spec.name == "quit" || tells_later || !arguments.iter().all(is_fixed);
        let least = if tells_later && !spec.accepts(1) { 2 } else { own_words + least_words(&arguments) };
        let expected = if open { -(least as i16) } else { least as i16 };
        assert_eq!(spec.arity, expected, "{} {}", spec.name, spec.syntax);
        let count = usize::from(spec.arity.unsigned_abs());
        assert!(spec.accepts(count) && !spec.accepts(count - 1));
        assert_eq!(spec.accepts(count + 1), open, "{}", spec.name);
    }
}

fn is_fixed(argument: &Argument<'_>) -> bool {
    let words = |choice| least_words(std::slice::from_ref(choice));
    let is_even = argument.kind != Kind::OneOf
        || argument.arguments.windows(2).all(|two| words(&two[0]) == words(&two[1]));
    !argument.optional && !argument.multiple && is_even && argument.arguments.iter().all(is_fixed)
}

#[test]
fn key_arguments_are_covered_by_a_key_specification() {
    for spec in all() {
        let mut covered = HashSet::new();
        note_keys(&tree(spec), &mut covered);
        let expected: HashSet<_> = (0..key_ranges(spec).len()).map(Some).collect();
        assert_eq!(covered, expected, "{} {}", spec.name, spec.syntax);
    }
}

fn note_keys(arguments: &[Argument<'_>], covered: &mut HashSet<Option<usize>>) {
    for argument in arguments {
        if argument.kind == Kind::Key || argument.key_spec_index.is_some() {
            covered.insert(argument.key_spec_index);
        }
        note_keys(&argument.arguments, covered);
    }
}

/// The fields of one line of [`REDIS_7_0_15`], written from our row.
fn facts(spec: &CommandSpec) -> [(&'static str, String); 11] {
    let words = |words: &mut dyn Iterator<Item = &'static str>| words.collect::<Vec<_>>().join(" ");
    let range = spec.keys.legacy_range();
    let arguments = tree(spec);
    let mut types = Vec::new();
    note_types(&arguments, &mut types);
    [
        ("arity", spec.arity.to_string()),
        ("flags", words(&mut spec.flags.printed())),
        ("range", format!("{} {} {}", range.first, range.last, range.step)),
        ("categories", words(&mut spec.categories.words())),
        ("tips", spec.tips.to_owned()),
        ("keys", spec.keys.ranges().iter().map(print_range).collect::<Vec<_>>().join(" / ")),
        ("group", spec.group.name().to_owned()),
        ("since", spec.since.to_owned()),
        ("deprecated", spec.deprecated.map_or("", |deprecated| deprecated.since).to_owned()),
        ("syntax", spec.syntax.to_owned()),
        ("types", types.join(" ")),
    ]
}

fn print_range(range: &KeyRange) -> String {
    let flags = range.flags.words().collect::<Vec<_>>().join(" ");
    let position = match range.begin {
        Begin::Index(position) => position.to_string(),
        Begin::Keyword { word, from } => format!("{word}:{from}"),
        Begin::Unknown => return format!("{flags} @unknown"),
    };
    match range.find {
        Find::Range { last, step, limit } => format!("{flags} @{position} range {last} {step} {limit}"),
        Find::Keynum { count_at, first, step } => {
            format!("{flags} @{position} keynum {count_at} {first} {step}")
        }
        Find::Unknown => format!("{flags} @{position} unknown"),
    }
}

fn note_types(arguments: &[Argument<'_>], types: &mut Vec<&'static str>) {
    for argument in arguments {
        if argument.arguments.is_empty() {
            types.push(argument.kind.name());
        }
        note_types(&argument.arguments, types);
    }
}

#[test]
fn every_fact_is_that_of_redis() {
    let mut left: HashMap<_, _> = all().iter().map(|spec| (spec.name, spec)).collect();
    let mut changed: HashSet<_> = CHANGED_IN_7_2.iter().chain(NOT_IN_THE_NOTATION).copied().collect();
    for line in lines(REDIS_7_0_15) {
        let (name, recorded) = line.split_once("; ").expect("a name and its facts");
        let spec = left.remove(name).unwrap_or_else(|| panic!("{name} is recorded but has no row"));
        let recorded: Vec<_> = recorded.split("; ").collect();
        let ours = facts(spec);
        assert_eq!(recorded.len(), ours.len(), "{line}");
        // The types follow from the syntax: where 7.2 changed the one, it may have changed the other.
        let syntax_changed = changed.contains(&(name, "syntax"));
        for ((field, ours), recorded) in ours.into_iter().zip(recorded) {
            if changed.remove(&(name, field)) {
                assert_ne!(ours, recorded, "{name}: {field} is not changed after all");
            } else if field != "types" || !syntax_changed {
                assert_eq!(ours, recorded, "{name}: {field}");
            }
        }
    }
    let mut new: Vec<_> = left.into_keys().collect();
    new.sort_unstable();
    let mut known = [NEW_IN_7_2, OWN].concat();
    known.sort_unstable();
    assert_eq!(new, known, "rows without a recorded fact");
    assert!(changed.is_empty(), "no such command or field: {changed:?}");
}

#[test]
fn keys_are_those_that_redis_finds() {
    let mut count = 0;
    for line in lines(GETKEYS) {
        let (request, recorded) = line.split_once(" => ").expect("a request and its answer");
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let command = lookup(args[0]).expect("recorded requests are of known commands");
        let spec = args.get(1).and_then(|word| lookup_sub(command, word)).unwrap_or(command);
        let found = spec.keys.uses(&args);
        let answer = match &found {
            _ if spec.keys.is_empty() => "! ERR The command has no key arguments".to_owned(),
            Err(error) => format!("! ERR {error}"),
            Ok(found) => found.iter().map(|usage| print_use(&args, *usage)).collect::<Vec<_>>().join(" / "),
        };
        assert_eq!(answer, recorded, "{request}");
        let positions = found.map(|found| found.iter().map(|usage| usage.index).collect::<Keys>());
        assert_eq!(spec.keys.positions(&args), positions, "{request}");
        count += 1;
    }
    assert!(count >= 60, "only {count} requests are recorded");
}

proptest! {
    /// Whatever a client sends, the positions are inside of the request, without repetition in one range.
    #[test]
    fn positions_are_inside_of_any_request(request in prop::collection::vec("[0-9]{0,21}|get|a", 0..12)) {
        let args: Vec<&[u8]> = request.iter().map(String::as_bytes).collect();
        for spec in all() {
            let found = spec.keys.positions(&args);
            let used = spec.keys.uses(&args);
            prop_assert_eq!(found.is_err(), used.is_err());
            let (found, used) = (found.unwrap_or_default(), used.unwrap_or_default());
            prop_assert!(found.iter().all(|index| (1..args.len()).contains(index)));
            prop_assert!(found.iter().eq(used.iter().map(|usage| &usage.index)));
        }
    }
}

fn print_use(args: &[&[u8]], usage: KeyUse) -> String {
    let key = String::from_utf8_lossy(args[usage.index]);
    format!("{key} {}", usage.flags.words().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_container_row_keeps_out_of_its_group_category() {
    let client = lookup(b"client").expect("CLIENT has a row");
    assert!(!client.categories.intersects(Categories::CONNECTION));
    assert!(client.subcommands().iter().all(|row| row.categories.contains(Categories::CONNECTION)));
}

#[test]
fn commands_md_leaves_out_a_command_that_can_be_called() {
    let page = commands_page();
    let is_row = |line: &&str| line.starts_with("| `") && line.ends_with(" |");
    let callable = all().iter().filter(|spec| !spec.is_container() || spec.accepts(1)).count();
    assert_eq!(page.lines().filter(is_row).count(), callable);
    for spec in all().iter().filter(|spec| !spec.is_container()) {
        let name = spec.name.to_ascii_uppercase().replace('|', " ");
        assert!(page.contains(&format!("\n| `{name}` | {} | ", spec.since)), "{name}");
    }
    let bars_of_cells = |line: &str| line.matches('|').count() - line.matches("\\|").count();
    assert!(page.lines().filter(is_row).all(|line| bars_of_cells(line) == 6), "{page}");
}

#[test]
fn commands_md_differs_from_the_catalog() {
    let page = commands_page();
    if std::env::var_os("EDGECASK_UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/commands.md");
        std::fs::write(path, page).expect("docs/commands.md is written");
        return;
    }
    assert!(
        include_str!("../../../../docs/commands.md") == page,
        "docs/commands.md is not what the catalog says. To write it anew: \
         EDGECASK_UPDATE=1 cargo test -p edgecask-core --lib commands_md_differs_from_the_catalog"
    );
}
