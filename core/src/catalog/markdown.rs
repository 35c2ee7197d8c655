//! The README's table of commands, made from the rows.

use std::fmt::Write;

use super::rows::GROUPS;
use super::spec::CommandSpec;

/// A markdown table: one line for each command and subcommand, ordered by group and then as in `rows/`, with the group
/// named on its first line. A container that does nothing by itself has no line of its own.
pub fn readme_table() -> String {
    let mut table = String::from("| group | command | what it does |\n| --- | --- | --- |\n");
    for (group, _) in GROUPS {
        let mut heading = group.name();
        for spec in super::commands().iter().filter(|spec| spec.group == group) {
            let own_line = (!spec.is_container() || spec.accepts(1)).then_some(spec);
            for spec in own_line.into_iter().chain(spec.subcommands()) {
                write_line(&mut table, heading, spec);
                heading = "";
            }
        }
    }
    table
}

fn write_line(table: &mut String, heading: &str, spec: &CommandSpec) {
    let name = spec.name.to_ascii_uppercase().replace('|', " ");
    // Writing to a String cannot fail.
    let _ = writeln!(table, "| {heading} | `{name}` | {} |", spec.summary.replace('|', "\\|"));
}
