//! COMMAND: the catalog as clients and proxies read it.

use smallvec::SmallVec;

use super::docs;
use crate::catalog::{self, Begin, Categories, CommandSpec, Find, Flags, KeyRange};
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome, help};
use crate::glob::Glob;
use crate::resp::Reply;

pub(super) fn command(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let Some(word) = args.get(1) else {
        describe_all(ctx.reply);
        return Ok(());
    };
    match word.to_ascii_lowercase().as_slice() {
        b"count" => ctx.reply.integer(catalog::COMMAND_COUNT as i64),
        b"docs" => docs::docs(ctx.reply, &args[2..]),
        b"getkeys" => return getkeys(ctx.reply, &args[2..], false),
        b"getkeysandflags" => return getkeys(ctx.reply, &args[2..], true),
        b"help" => return help::reply_help(ctx.reply, catalog::spec(catalog::id("command"))),
        b"info" => info(ctx.reply, &args[2..]),
        b"list" => return list(ctx.reply, &args[2..]),
        _ => return Err(CommandError::SYNTAX),
    }
    Ok(())
}

fn describe_all(reply: &mut Reply) {
    reply.array(catalog::COMMAND_COUNT);
    for spec in catalog::commands() {
        describe(reply, spec);
    }
}

fn info(reply: &mut Reply, names: &[&[u8]]) {
    if names.is_empty() {
        return describe_all(reply);
    }
    reply.array(names.len());
    for name in names {
        match catalog::lookup_full(name) {
            Some(spec) => describe(reply, spec),
            None => reply.null(),
        }
    }
}

/// One element of COMMAND INFO. Goes one level down, to the subcommands of a container.
fn describe(reply: &mut Reply, spec: &CommandSpec) {
    let legacy = spec.keys.legacy_range();
    reply.array(10);
    reply.bulk(spec.name.as_bytes());
    reply.integer(i64::from(spec.arity));
    statuses(reply, spec.flags.printed());
    reply.integer(i64::from(legacy.first));
    reply.integer(i64::from(legacy.last));
    reply.integer(i64::from(legacy.step));
    let categories: Vec<String> = spec.categories.words().map(|word| format!("@{word}")).collect();
    statuses(reply, categories.iter().map(String::as_str));
    let tips: Vec<&str> = spec.tips.split_ascii_whitespace().collect();
    reply.set(tips.len());
    for tip in tips {
        reply.bulk(tip.as_bytes());
    }
    reply.set(spec.keys.ranges().len());
    for range in spec.keys.ranges() {
        describe_keys(reply, range);
    }
    let subcommands = spec.subcommands();
    if subcommands.is_empty() {
        return reply.set(0);
    }
    reply.array(subcommands.len());
    for subcommand in subcommands {
        describe(reply, subcommand);
    }
}

fn statuses<'w>(reply: &mut Reply, words: impl Iterator<Item = &'w str>) {
    let words: Vec<&str> = words.collect();
    reply.set(words.len());
    for word in words {
        reply.simple(word);
    }
}

fn describe_keys(reply: &mut Reply, range: &KeyRange) {
    reply.map(3);
    reply.bulk(b"flags");
    statuses(reply, range.flags.words());
    reply.bulk(b"begin_search");
    match range.begin {
        Begin::Index(position) => search(reply, "index", &[("index", i64::from(position))]),
        Begin::Keyword { word, from } => {
            reply.map(2);
            reply.bulk(b"type");
            reply.bulk(b"keyword");
            reply.bulk(b"spec");
            reply.map(2);
            reply.bulk(b"keyword");
            reply.bulk(word.as_bytes());
            reply.bulk(b"startfrom");
            reply.integer(i64::from(from));
        }
        Begin::Unknown => search(reply, "unknown", &[]),
    }
    reply.bulk(b"find_keys");
    match range.find {
        Find::Range { last, step, limit } => search(
            reply,
            "range",
            &[("lastkey", i64::from(last)), ("keystep", i64::from(step)), ("limit", i64::from(limit))],
        ),
        Find::Keynum { count_at, first, step } => search(
            reply,
            "keynum",
            &[
                ("keynumidx", i64::from(count_at)),
                ("firstkey", i64::from(first)),
                ("keystep", i64::from(step)),
            ],
        ),
        Find::Unknown => search(reply, "unknown", &[]),
    }
}

fn search(reply: &mut Reply, kind: &str, numbers: &[(&str, i64)]) {
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(kind.as_bytes());
    reply.bulk(b"spec");
    reply.map(numbers.len());
    for (name, number) in numbers {
        reply.bulk(name.as_bytes());
        reply.integer(*number);
    }
}

fn getkeys(reply: &mut Reply, request: &[&[u8]], with_flags: bool) -> Outcome {
    let spec = spec_of(request).ok_or(CommandError::text("ERR Invalid command specified"))?;
    if spec.keys.is_empty() {
        return Err(CommandError::text("ERR The command has no key arguments"));
    }
    if !spec.accepts(request.len()) {
        return Err(CommandError::text("ERR Invalid number of arguments specified for command"));
    }
    let uses = spec.keys.uses(request).or_else(|_| spec.keys.uses_counted_loosely(request));
    let uses = match uses {
        Err(_) if spec.is(Flags::NO_MANDATORY_KEYS) => SmallVec::new(),
        uses => uses.map_err(|error| CommandError::owned(format!("ERR {error}")))?,
    };
    reply.array(uses.len());
    for key in &uses {
        let name = request.get(key.index).copied().unwrap_or_default();
        if with_flags {
            reply.array(2);
            reply.bulk(name);
            statuses(reply, key.flags.words());
        } else {
            reply.bulk(name);
        }
    }
    Ok(())
}

/// The row of a request: the subcommand's if a container is asked for one.
fn spec_of(request: &[&[u8]]) -> Option<&'static CommandSpec> {
    let spec = catalog::lookup(request.first()?)?;
    match request.get(1) {
        Some(word) if spec.is_container() => catalog::lookup_sub(spec, word),
        _ => Some(spec),
    }
}

fn list(reply: &mut Reply, args: &[&[u8]]) -> Outcome {
    match args {
        [] => names(reply, |_| true),
        [option, by, value] if is_option(option, "FILTERBY") => {
            if is_option(by, "MODULE") {
                // There are no modules.
                names(reply, |_| false);
            } else if is_option(by, "ACLCAT") {
                let category = Categories::of_word(&value.to_ascii_lowercase());
                names(reply, |spec| category.is_some_and(|category| spec.categories.contains(category)));
            } else if is_option(by, "PATTERN") {
                let glob = Glob::ignoring_case(value);
                names(reply, |spec| glob.matches(spec.name.as_bytes()));
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        _ => return Err(CommandError::SYNTAX),
    }
    Ok(())
}

fn names(reply: &mut Reply, keep: impl Fn(&CommandSpec) -> bool) {
    let mark = reply.defer();
    let mut count = 0;
    for spec in catalog::all().iter().filter(|spec| keep(spec)) {
        reply.bulk(spec.name.as_bytes());
        count += 1;
    }
    reply.finish_array(mark, count);
}
