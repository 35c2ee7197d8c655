//! The generated files as text.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::method::{Method, Step, Word};

const HEAD: &str = "// Made from the table of commands by core/tests/client_methods. Do not edit.\n\n";

/// The parameters of a method as they are declared, made distinct.
fn parameters(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        if let Step::Parameter(parameter) = step {
            write!(text, ", {}: {}", parameter.name, parameter.kind).expect("a string");
        }
    }
    text
}

/// Statements that write the steps to `words`.
fn statements(steps: &[Step], indent: &str) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Word(word) => {
                for word in word.split(' ') {
                    writeln!(text, "{indent}words.push(b\"{word}\");").expect("a string");
                }
            }
            Step::Parameter(parameter) => {
                writeln!(text, "{indent}{};", parameter.written()).expect("a string")
            }
            Step::Mark => writeln!(text, "{indent}let mark = words.mark();").expect("a string"),
        }
    }
    text
}

fn wait(method: &Method, steps: &[Step]) -> Option<&'static str> {
    steps.iter().find_map(|step| match step {
        Step::Parameter(parameter) => method.blocks_by(&parameter.name),
        _ => None,
    })
}

/// The description of a command.
fn description(method: &Method, indent: &str) -> String {
    let spec = method.spec;
    let mut text = String::new();
    let name = spec.name.replace('|', " ").to_uppercase();
    let grammar = if spec.syntax.is_empty() { name.clone() } else { format!("{name} {}", spec.syntax) };
    writeln!(text, "{indent}/// {}.", spec.summary.replace('[', "\\[")).expect("a string");
    writeln!(
        text,
        "{indent}///\n{indent}/// `{grammar}`, since Redis {}. {}.",
        spec.since,
        spec.complexity.replace('[', "\\[")
    )
    .expect("a string");
    if let Some(deprecated) = &spec.deprecated {
        writeln!(
            text,
            "{indent}///\n{indent}/// Deprecated since {}: {}.",
            deprecated.since, deprecated.replaced_by
        )
        .expect("a string");
    }
    text
}

fn one_method(method: &Method) -> String {
    let mut text = description(method, "    ");
    let has_mark = method.steps.iter().any(|step| matches!(step, Step::Mark));
    let Method { name, kind, reply, steps, .. } = method;
    let command = method.spec.name.replace('|', " ").to_uppercase();
    writeln!(text, "    fn {name}(self{}) -> Request<Self, options::{kind}, {reply}> {{", parameters(steps))
        .expect("a string");
    let is_plain = steps.is_empty();
    let mutable = if is_plain { "" } else { "mut " };
    writeln!(text, "        let {mutable}words = Words::new(\"{command}\");").expect("a string");
    text += &statements(steps, "        ");
    let mark = if has_mark { ".marked(mark)" } else { "" };
    let wait = wait(method, steps).map_or_else(String::new, |wait| format!(".with_wait({wait})"));
    writeln!(text, "        self.begin(words){mark}{wait}\n    }}\n").expect("a string");
    text
}

const USES: &str = "use std::collections::HashSet;\n\nuse super::options;\nuse super::words::*;\nuse crate::arg::{ToArg, ToArgs};\n\
    use crate::reply::{Either, Entry};\nuse crate::request::Request;\nuse crate::words::Words;\n\
    use edgecask_core::resp::Value;\n\n";

/// The trait with a method for every command.
pub fn methods(methods: &[Method]) -> String {
    let mut text = HEAD.to_owned() + "//! Every command that any connection may run, as a method.\n\n" + USES;
    text += "/// Every command as a method, on a client, on a connection, and on [`Build`](crate::Build) for pipelines and\n\
        /// transactions. Needed arguments are parameters; options are methods of the request.\n\
        pub trait Commands: crate::commands::Begin {\n";
    methods.iter().for_each(|method| text += &one_method(method));
    text.truncate(text.trim_end().len());
    text + "\n}\n"
}

/// The trait with the methods that only the owner of a connection has.
pub fn connection_methods(methods: &[Method]) -> String {
    let mut text = HEAD.to_owned()
        + "//! Commands that change or need the state of a connection, as methods of one.\n\n"
        + USES;
    text += "/// Commands that change or need the state of a connection: methods of one that its owner has alone. It is closed\n\
        /// and not given back afterwards.\n\
        pub trait ConnectionCommands: crate::commands::BeginOwn {\n";
    methods.iter().for_each(|method| text += &one_method(method));
    text.truncate(text.trim_end().len());
    text + "\n}\n"
}

/// The kinds of requests with their options.
pub fn options<'m>(methods: impl Iterator<Item = &'m Method>) -> String {
    let mut text = HEAD.to_owned()
        + "//! The kinds of requests: types without values, and the options of each as methods.\n\n";
    text += &USES.replace("use super::options;\n", "");
    for method in methods {
        let kind = &method.kind;
        let command = method.spec.name.replace('|', " ").to_uppercase();
        writeln!(text, "/// A request of {command}.\n#[derive(Clone, Copy, Debug)]\npub enum {kind} {{}}\n")
            .expect("a string");
        if method.choices.is_empty() {
            continue;
        }
        writeln!(text, "impl<On, R> Request<On, {kind}, R> {{").expect("a string");
        for choice in &method.choices {
            let reply = choice.reply.as_deref();
            let result =
                reply.map_or_else(|| "Self".to_owned(), |reply| format!("Request<On, {kind}, {reply}>"));
            writeln!(text, "    /// `{}`", grammar(choice)).expect("a string");
            writeln!(text, "    pub fn {}(self{}) -> {result} {{", choice.name, parameters(&choice.steps))
                .expect("a string");
            let place = if choice.is_last { "last" } else { "option" };
            writeln!(text, "        self.with_{place}(|words| {{").expect("a string");
            text += &statements(&choice.steps, "            ");
            let wait =
                wait(method, &choice.steps).map_or_else(String::new, |wait| format!(".with_wait({wait})"));
            let retyped = if reply.is_some() { ".retyped()" } else { "" };
            writeln!(text, "        }}){wait}{retyped}\n    }}\n").expect("a string");
        }
        text.truncate(text.trim_end().len());
        text += "\n}\n\n";
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn grammar(choice: &crate::method::Choice) -> String {
    let mut parts = Vec::new();
    for step in &choice.steps {
        match step {
            Step::Word(word) => parts.push(word.clone()),
            Step::Parameter(parameter) => parts.push(parameter.name.clone()),
            Step::Mark => {}
        }
    }
    parts.join(" ")
}

/// The words of which one must be chosen.
pub fn words<'m>(methods: impl Iterator<Item = &'m Method>) -> String {
    let all: BTreeSet<&Word> = methods.flat_map(|method| &method.words).collect();
    let mut text = HEAD.to_owned() + "//! Words of which one must be chosen.\n";
    for word in all {
        let list = word.tokens.iter().map(|token| format!("`{token}`")).collect::<Vec<_>>().join(", ");
        writeln!(
            text,
            "\n/// One of {list}.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {} {{",
            word.name
        )
        .expect("a string");
        for token in &word.tokens {
            writeln!(text, "    /// `{token}`\n    {},", crate::names::camel(token)).expect("a string");
        }
        writeln!(
            text,
            "}}\n\nimpl {} {{\n    pub(crate) fn word(self) -> &'static str {{\n        match self {{",
            word.name
        )
        .expect("a string");
        for token in &word.tokens {
            writeln!(text, "            Self::{} => \"{token}\",", crate::names::camel(token))
                .expect("a string");
        }
        text += "        }\n    }\n}\n";
    }
    text
}

/// The text as rustfmt writes it.
pub fn formatted(text: &str) -> String {
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../rustfmt.toml");
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path", config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is a part of the toolchain");
    let mut stdin = rustfmt.stdin.take().expect("a pipe");
    let text = text.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = rustfmt.wait_with_output().expect("rustfmt");
    writing.join().expect("a thread").expect("rustfmt reads");
    assert!(output.status.success(), "rustfmt refuses what is generated");
    String::from_utf8(output.stdout).expect("text")
}
