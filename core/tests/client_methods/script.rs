//! The methods of the package for JavaScript: types in TypeScript, and a table from which the methods are made when the package
//! is loaded.

use std::fmt::Write;

use edgecask_core::catalog::{Argument, CommandSpec, Flags, Kind, ReplyType};

const HEAD: &str = "// Made from the table of commands by core/tests/client_methods. Do not edit.\n\n";

/// Parameters that TypeScript has other words for.
const RESERVED: &[&str] = &["function", "new", "delete", "default", "in", "var", "with", "enum", "class"];

/// How many arguments the request has by which the places of keys are found.
const PROBED_ARGS: usize = 9;

/// The file of methods.
pub fn file<'s>(
    of_all: impl Iterator<Item = &'s CommandSpec>,
    of_connections: impl Iterator<Item = &'s CommandSpec>,
) -> String {
    let mut text = HEAD.to_owned();
    text += "import type { Arg, Args, MapOf, Reply } from './types.js';\n\n";
    let (of_all, of_connections): (Vec<_>, Vec<_>) = (of_all.collect(), of_connections.collect());
    let parts = [
        ("Commands", "COMMANDS", &of_all, "Every command that any connection may run, as a method."),
        (
            "ConnectionCommands",
            "CONNECTION_COMMANDS",
            &of_connections,
            "Commands that change or need the state of a connection: methods of one that its owner has alone.",
        ),
    ];
    for (interface, _, specs, about) in parts {
        writeln!(text, "/** {about} */\nexport interface {interface}<Text> {{").expect("a string");
        specs.iter().for_each(|spec| text += &method(spec));
        text += "}\n\n";
    }
    text += "// A line for each method: the words of the command; behind `b` the argument that says for how long it may block, from the\n\
        // end if it is negative; behind `k` the places of the keys of a command that only reads.\n";
    for (_, table, specs, _) in parts {
        let lines: Vec<String> = specs.iter().map(|spec| line(spec)).collect();
        writeln!(text, "export const {table} = `{}`;", lines.join("\n")).expect("a string");
    }
    text
}

fn words(spec: &CommandSpec) -> String {
    spec.name.replace('|', " ").to_uppercase()
}

/// A line of the table.
fn line(spec: &CommandSpec) -> String {
    let mut line = words(spec);
    if let Some(place) = blocking(spec) {
        write!(line, ";b{place}").expect("a string");
    }
    if let Some(places) = keys(spec) {
        write!(line, ";k{places}").expect("a string");
    }
    line
}

/// Where the time-out of a command stands that may block: the number of an argument, or `BLOCK` for the one behind that word.
fn blocking(spec: &CommandSpec) -> Option<String> {
    if !spec.is(Flags::BLOCKING) {
        return None;
    }
    let arguments = spec.arguments().expect("the grammar of a row");
    // WAIT and WAITAOF count in milliseconds, all others in seconds.
    let unit = if spec.name.starts_with("wait") { "ms" } else { "s" };
    if arguments.first().is_some_and(|first| first.name == "timeout") {
        Some(format!("1{unit}"))
    } else if arguments.last().is_some_and(|last| last.name == "timeout") {
        Some(format!("-1{unit}"))
    } else {
        arguments.iter().any(|argument| argument.token == Some("BLOCK")).then(|| "BLOCK".to_owned())
    }
}

/// The places of the keys of a command that only reads: `1` for one, `1*` for all arguments from there on.
fn keys(spec: &CommandSpec) -> Option<String> {
    if !spec.is(Flags::READONLY) || spec.is(Flags::BLOCKING) {
        return None;
    }
    let command = words(spec);
    let mut request: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
    let first = request.len();
    request.extend([b"x".as_slice(); PROBED_ARGS]);
    let places = spec.keys.positions(&request).ok()?;
    if spec.touches_all_keys(&request) {
        return None;
    }
    if places.as_slice() == [first] {
        Some(first.to_string())
    } else if places.iter().copied().eq(first..request.len()) {
        Some(format!("{first}*"))
    } else {
        None
    }
}

fn method(spec: &CommandSpec) -> String {
    let mut text = String::new();
    let grammar = format!("{} {}", words(spec), spec.syntax);
    writeln!(text, "  /**\n   * {}.\n   *", spec.summary).expect("a string");
    writeln!(text, "   * `{}`, since Redis {}. {}.", grammar.trim_end(), spec.since, spec.complexity)
        .expect("a string");
    if let Some(deprecated) = &spec.deprecated {
        writeln!(text, "   *\n   * @deprecated since {}: {}.", deprecated.since, deprecated.replaced_by)
            .expect("a string");
    }
    text += "   */\n";
    let name = lower_camel(spec.name);
    let replies = spec.reply().unwrap_or_else(|error| panic!("{}: {error}", spec.name));
    let mut types: Vec<String> = Vec::new();
    for reply in std::iter::once(&replies.usual).chain(replies.cases.iter().map(|case| &case.reply)) {
        alternatives(reply, &mut types);
    }
    let reply = types.join(" | ");
    writeln!(text, "  {name}({}): Promise<{reply}>;", parameters(spec)).expect("a string");
    text
}

/// A name as methods and parameters have it.
fn lower_camel(name: &str) -> String {
    let mut words = name.split(['-', '_', '|', ' ', '.', ':', '/']).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_lowercase();
    let rest = words.map(|word| word[..1].to_uppercase() + &word[1..].to_lowercase());
    first + &rest.collect::<String>()
}

/// The arguments that are always there and have one place, and then whatever comes.
fn parameters(spec: &CommandSpec) -> String {
    let arguments = spec.arguments().unwrap_or_else(|error| panic!("{}: {error}", spec.name));
    // One whose subcommands are not rows.
    if spec.is_container() || arguments.is_empty() && spec.arity < 0 {
        return "...more: Args".to_owned();
    }
    let mut parameters: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let is_plain = |argument: &Argument| {
        !argument.optional
            && !argument.multiple
            && argument.token.is_none()
            && !matches!(argument.kind, Kind::OneOf | Kind::Block | Kind::PureToken)
    };
    for argument in &arguments {
        let mut name = lower_camel(&argument.name);
        if RESERVED.contains(&name.as_str()) || seen.contains(&name) {
            name += "_";
        }
        if is_plain(argument) {
            parameters.push(format!("{name}: Arg"));
            seen.push(name);
            continue;
        }
        let is_list = !argument.optional
            && argument.multiple
            && argument.token.is_none()
            && !matches!(argument.kind, Kind::OneOf | Kind::Block);
        parameters.push(if is_list && std::ptr::eq(argument, &arguments[arguments.len() - 1]) {
            format!("...{name}s: Args")
        } else {
            "...more: Args".to_owned()
        });
        break;
    }
    parameters.join(", ")
}

/// The types that a reply may have, each once.
fn alternatives(reply: &ReplyType, types: &mut Vec<String>) {
    match reply {
        ReplyType::Either(of) => of.iter().for_each(|one| alternatives(one, types)),
        ReplyType::Nullable(of) => {
            alternatives(of, types);
            alternatives(&ReplyType::Null, types);
        }
        single => {
            let text = one_type(single);
            if !types.contains(&text) {
                types.push(text);
            }
        }
    }
}

/// A type as an element of another.
fn element(reply: &ReplyType) -> String {
    let mut types = Vec::new();
    alternatives(reply, &mut types);
    types.join(" | ")
}

fn list_of(element: &str) -> String {
    if element.contains(" | ") { format!("({element})[]") } else { format!("{element}[]") }
}

fn one_type(reply: &ReplyType) -> String {
    match reply {
        ReplyType::Ok => "'OK'".into(),
        ReplyType::Status => "string".into(),
        ReplyType::Integer | ReplyType::Double => "number".into(),
        ReplyType::Bool => "0 | 1".into(),
        ReplyType::Bulk | ReplyType::Text => "Text".into(),
        ReplyType::Null => "null".into(),
        ReplyType::Value => "Reply<Text>".into(),
        ReplyType::Entry => "[Text, Text[] | null]".into(),
        ReplyType::None => "void".into(),
        ReplyType::Array(of) | ReplyType::Set(of) => list_of(&element(of)),
        ReplyType::Map(_, value) => format!("MapOf<Text, {}>", element(value)),
        ReplyType::Pairs(one, other) => list_of(&format!("[{}, {}]", element(one), element(other))),
        ReplyType::Flat(one, other) => {
            let mut types = Vec::new();
            alternatives(one, &mut types);
            alternatives(other, &mut types);
            list_of(&types.join(" | "))
        }
        ReplyType::Tuple(of) => format!("[{}]", of.iter().map(element).collect::<Vec<_>>().join(", ")),
        ReplyType::Nullable(_) | ReplyType::Either(_) => element(reply),
    }
}
