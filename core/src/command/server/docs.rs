//! COMMAND DOCS: the catalog for people and for the tools that help them type.

use crate::catalog::{self, Argument, CommandSpec, Kind};
use crate::resp::Reply;

/// Replies with a map from the named commands to what is to be said of them, unknown ones left out; of all commands if
/// none is named.
pub(super) fn docs(reply: &mut Reply, names: &[&[u8]]) {
    if names.is_empty() {
        return map_of(reply, catalog::commands().iter());
    }
    map_of(reply, names.iter().filter_map(|name| catalog::lookup_full(name)));
}

/// A map from names to docs. Goes one level down, to the subcommands of a container.
fn map_of(reply: &mut Reply, specs: impl Iterator<Item = &'static CommandSpec>) {
    let mark = reply.defer();
    let mut count = 0;
    for spec in specs {
        reply.bulk(spec.name.as_bytes());
        describe(reply, spec);
        count += 1;
    }
    reply.finish_map(mark, count);
}

fn describe(reply: &mut Reply, spec: &'static CommandSpec) {
    let mark = reply.defer();
    let mut pairs = 0;
    for (name, text) in [
        ("summary", spec.summary),
        ("since", spec.since),
        ("group", spec.group.name()),
        ("complexity", spec.complexity),
    ] {
        if !text.is_empty() {
            text_pair(reply, name, text);
            pairs += 1;
        }
    }
    if let Some(deprecated) = spec.deprecated {
        reply.bulk(b"doc_flags");
        reply.set(1);
        reply.simple("deprecated");
        text_pair(reply, "deprecated_since", deprecated.since);
        text_pair(reply, "replaced_by", deprecated.replaced_by);
        pairs += 3;
    }
    // The laws of the catalog prove that every row parses.
    let arguments = spec.arguments().unwrap_or_default();
    if !arguments.is_empty() {
        reply.bulk(b"arguments");
        describe_arguments(reply, &arguments);
        pairs += 1;
    }
    if spec.is_container() {
        reply.bulk(b"subcommands");
        map_of(reply, spec.subcommands().iter());
        pairs += 1;
    }
    reply.finish_map(mark, pairs);
}

/// Recurses as deep as the rows of the catalog nest their brackets, which is bounded there.
fn describe_arguments(reply: &mut Reply, arguments: &[Argument<'_>]) {
    reply.array(arguments.len());
    for argument in arguments {
        describe_argument(reply, argument);
    }
}

fn describe_argument(reply: &mut Reply, argument: &Argument<'_>) {
    let mark = reply.defer();
    let mut pairs = 2;
    text_pair(reply, "name", &argument.name);
    text_pair(reply, "type", argument.kind.name());
    let is_group = matches!(argument.kind, Kind::OneOf | Kind::Block);
    if !is_group {
        text_pair(reply, "display_text", &argument.name);
        pairs += 1;
    }
    if let Some(index) = argument.key_spec_index {
        reply.bulk(b"key_spec_index");
        reply.integer(index as i64);
        pairs += 1;
    }
    if let Some(token) = argument.token {
        text_pair(reply, "token", token);
        pairs += 1;
    }
    let flags: Vec<&str> = [
        (argument.optional, "optional"),
        (argument.multiple, "multiple"),
        (argument.multiple_token, "multiple_token"),
    ]
    .into_iter()
    .filter_map(|(is_set, word)| is_set.then_some(word))
    .collect();
    if !flags.is_empty() {
        reply.bulk(b"flags");
        reply.set(flags.len());
        for flag in flags {
            reply.simple(flag);
        }
        pairs += 1;
    }
    if is_group {
        reply.bulk(b"arguments");
        describe_arguments(reply, &argument.arguments);
        pairs += 1;
    }
    reply.finish_map(mark, pairs);
}

fn text_pair(reply: &mut Reply, name: &str, text: &str) {
    reply.bulk(name.as_bytes());
    reply.bulk(text.as_bytes());
}
