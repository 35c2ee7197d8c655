//! The reference of commands, `docs/commands.md`, made from the rows.

use std::fmt::Write;

use super::rows::GROUPS;
use super::spec::{CommandSpec, Group};

/// What stands above the tables.
const HEAD: &str = "\
# Commands

<!-- Made from core/src/catalog/rows. Do not edit: run
     EDGECASK_UPDATE=1 cargo test -p edgecask-core --lib commands_md_differs_from_the_catalog -->

The commands of EdgeCask with the version of Redis that introduced each. *Syntax* is in the notation of the Redis
reference: words in capitals are typed as they stand, `[x]` may be left out, `<A | B>` is a choice, `x [x ...]` may be
repeated. `COMMAND DOCS name` tells the same on the wire. [compatibility.md](compatibility.md) says what differs from
Redis and which commands are missing.

*Reply* is the type of a reply that is no error, outside of MULTI: `T?` is T or null, `[T]` an array, `{T}` a set,
`{K: V}` a map, `(A, B)` an array of exactly these, `pairs(A, B)` a list of pairs, `bool` an integer 0 or 1, `none` that
messages come or nothing does. `; NAME: T` is the type with an option or an optional argument, the last that is given.
";

/// The page in Markdown: a contents line for each group, then a table for each, with one row for each command and
/// subcommand in the order of `rows/`. A container that does nothing by itself has no row of its own.
pub fn commands_page() -> String {
    let mut page = String::from(HEAD);
    page.push('\n');
    for (group, _) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "- [{0}](#{0}): {1}", group.name(), rows_of(group).count());
    }
    for (group, _) in GROUPS {
        let _ =
            write!(page, "\n## {}\n\n| command | since | syntax | reply | what it does |\n", group.name());
        page.push_str("| --- | --- | --- | --- | --- |\n");
        rows_of(group).for_each(|spec| write_row(&mut page, spec));
    }
    page
}

/// The rows of a group that can be called.
fn rows_of(group: Group) -> impl Iterator<Item = &'static CommandSpec> {
    let commands = super::commands().iter().filter(move |spec| spec.group == group);
    commands.flat_map(|spec| {
        let own_row = (!spec.is_container() || spec.accepts(1)).then_some(spec);
        own_row.into_iter().chain(spec.subcommands())
    })
}

fn write_row(page: &mut String, spec: &CommandSpec) {
    let name = spec.name.to_ascii_uppercase().replace('|', " ");
    // Inside a table a bar separates cells in code, too.
    let code = |text: &str| match text {
        "" => String::new(),
        text => format!("`{}`", text.replace('|', "\\|")),
    };
    let (syntax, reply) = (code(spec.syntax), code(spec.reply));
    let deprecated = spec.deprecated.map_or_else(String::new, |deprecated| {
        format!(". Deprecated since {} in favour of {}", deprecated.since, deprecated.replaced_by)
    });
    let text = format!("{}{deprecated}", spec.summary).replace('|', "\\|");
    let _ = writeln!(page, "| `{name}` | {} | {syntax} | {reply} | {text} |", spec.since);
}
