//! What a row becomes: a method with the needed arguments as parameters, and a method of its request for each option.

use edgecask_core::catalog::{Argument, CommandSpec, Flags, Kind};

use crate::names::{camel, snake};
use crate::reply::rust;

/// A parameter of a method.
pub struct Parameter {
    pub name: String,
    pub kind: String,
    /// How it is written into the request; `{}` is its name.
    write: &'static str,
}

/// A step of writing a request.
pub enum Step {
    Word(String),
    Parameter(Parameter),
    /// Options stand here.
    Mark,
}

/// A method of a request.
pub struct Choice {
    pub name: String,
    /// What of the grammar it is.
    pub grammar: String,
    pub steps: Vec<Step>,
    /// Whether it stands at the end while the command's first options stand before needed arguments.
    pub is_last: bool,
    /// The type of the reply with it, if that is another.
    pub reply: Option<String>,
}

/// A word that is one of several: a type of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    pub name: String,
    pub tokens: Vec<String>,
}

/// A row as a method.
pub struct Method {
    pub spec: &'static CommandSpec,
    pub name: String,
    pub kind: String,
    pub reply: String,
    pub steps: Vec<Step>,
    pub choices: Vec<Choice>,
    pub words: Vec<Word>,
}

impl Parameter {
    /// The expression that writes it to `words`.
    pub fn written(&self) -> String {
        self.write.replace("{}", &self.name)
    }
}

impl Method {
    pub fn of(spec: &'static CommandSpec) -> Method {
        let replies = spec.reply().unwrap_or_else(|error| panic!("{}: {error}", spec.name));
        let mut method = Method {
            spec,
            name: snake(spec.name),
            kind: camel(spec.name),
            reply: rust(&replies.usual),
            steps: Vec::new(),
            choices: Vec::new(),
            words: Vec::new(),
        };
        let arguments = spec.arguments().unwrap_or_else(|error| panic!("{}: {error}", spec.name));
        let mut is_marked = false;
        let mut arguments = arguments.iter().peekable();
        while let Some(argument) = arguments.next() {
            let counts_next = argument.name == "numkeys"
                && arguments.peek().is_some_and(|next| next.multiple && next.kind == Kind::Key);
            if counts_next {
                let keys = arguments.next().map_or("key", |next| next.name.as_str());
                let name = format!("{}s", snake(keys));
                method.steps.push(Step::Parameter(Parameter {
                    name,
                    kind: "impl ToArgs".into(),
                    write: "words.arg(&{}.count()); words.args(&{})",
                }));
            } else if argument.optional {
                if !is_marked {
                    method.steps.push(Step::Mark);
                    is_marked = true;
                }
                let is_last = !matches!(method.steps.last(), Some(Step::Mark));
                let first = method.choices.len();
                method.option(argument);
                method.choices.iter_mut().skip(first).for_each(|choice| choice.is_last = is_last);
            } else {
                let mut steps = Vec::new();
                method.needed(argument, &mut steps);
                method.steps.extend(steps);
            }
        }
        // Options at the end go to the end anyway.
        if let Some(Step::Mark) = method.steps.last() {
            method.steps.pop();
        }
        distinct(&mut method.steps);
        method.choices.iter_mut().for_each(|choice| distinct(&mut choice.steps));
        for choice in &mut method.choices {
            let names: Vec<&str> = choice.grammar.split(' ').collect();
            let case = replies
                .cases
                .iter()
                .rev()
                .find(|case| case.given.iter().any(|given| names.first() == Some(given)));
            let is_alone =
                |given: &[&str]| given.len() == 1 && !replies.cases.iter().any(|other| other.given.len() > 1);
            choice.reply = case.map(|case| {
                // With several options that each change it, only the caller knows what comes.
                if is_alone(&case.given) { rust(&case.reply) } else { "Value".into() }
            });
        }
        method
    }

    /// Whether the method of an option says for how long the command may block.
    pub fn blocks_by(&self, parameter: &str) -> Option<&'static str> {
        if !self.spec.is(Flags::BLOCKING) {
            return None;
        }
        // WAIT and WAITAOF count in milliseconds, all others in seconds.
        match parameter {
            "timeout" if self.spec.name.starts_with("wait") => {
                Some("crate::request::Wait::blocking_ms(timeout)")
            }
            "timeout" => Some("crate::request::Wait::seconds(timeout)"),
            "milliseconds" => Some("crate::request::Wait::blocking_ms(milliseconds)"),
            _ => None,
        }
    }

    /// An argument that must be there, or a part of an option.
    fn needed(&mut self, argument: &Argument, steps: &mut Vec<Step>) {
        if let (Some(token), false) = (argument.token, argument.kind == Kind::PureToken) {
            steps.push(Step::Word(token.to_owned()));
        }
        let name = snake(&argument.name);
        let parameter =
            |kind: &str, write| Step::Parameter(Parameter { name: name.clone(), kind: kind.into(), write });
        match argument.kind {
            Kind::PureToken => steps.push(Step::Word(argument.token.unwrap_or(&argument.name).to_owned())),
            Kind::OneOf if is_words(argument) => {
                let word = word_of(argument);
                steps.push(Step::Parameter(Parameter {
                    name: snake(&short(argument)),
                    kind: word.name.clone(),
                    write: "words.arg({}.word())",
                }));
                self.words.push(word);
            }
            Kind::OneOf | Kind::Block if argument.multiple && is_flat_block(argument) => {
                let items: Vec<_> = argument.arguments.iter().map(|part| item(part)).collect();
                let kind = format!("impl IntoIterator<Item = ({})>", items.join(", "));
                let places: Vec<_> =
                    (0..items.len()).map(|place| format!("words.arg(&item.{place});")).collect();
                let write = format!("for item in {{}} {{ {} }}", places.join(" "));
                let name = format!("{}s", snake(&argument.arguments[0].name));
                steps.push(Step::Parameter(Parameter {
                    name,
                    kind,
                    write: Box::leak(write.into_boxed_str()),
                }));
            }
            Kind::Block if !argument.multiple => {
                argument.arguments.iter().for_each(|part| self.needed(part, steps));
            }
            Kind::OneOf if is_symbol(argument) => steps.push(parameter("impl ToArg", "words.arg(&{})")),
            Kind::OneOf | Kind::Block => steps.push(parameter("impl ToArgs", "words.args(&{})")),
            _ if argument.multiple => {
                let name = format!("{name}s");
                steps.push(Step::Parameter(Parameter {
                    name,
                    kind: "impl ToArgs".into(),
                    write: "words.args(&{})",
                }));
            }
            // The table calls it an integer, as Redis does, and the command takes any number.
            Kind::Integer if self.spec.name == "zincrby" => {
                steps.push(parameter("impl ToArg", "words.arg(&{})"));
            }
            Kind::Integer | Kind::UnixTime => steps.push(parameter("i64", "words.push_integer({})")),
            _ if name == "timeout" => steps.push(parameter("f64", "words.push_double({})")),
            _ => steps.push(parameter("impl ToArg", "words.arg(&{})")),
        }
    }

    /// What may be left out: a method for each thing that can be said.
    fn option(&mut self, argument: &Argument) {
        let is_choice = argument.kind == Kind::OneOf && argument.token.is_none();
        if is_choice {
            argument.arguments.iter().for_each(|part| self.option(part));
            return;
        }
        if argument.kind == Kind::Block && argument.token.is_none() && argument.arguments.iter().all(is_group)
        {
            argument.arguments.iter().for_each(|part| self.option(part));
            return;
        }
        let (mut steps, mut later) = (Vec::new(), Vec::new());
        if argument.kind == Kind::Block {
            if let Some(token) = argument.token {
                steps.push(Step::Word(token.to_owned()));
            }
            for part in &argument.arguments {
                if part.optional { later.push(part) } else { self.needed(part, &mut steps) }
            }
        } else {
            self.needed(argument, &mut steps);
        }
        let name = match argument.token {
            Some(token) => token.to_owned(),
            None if argument.kind == Kind::Block => {
                let first = argument.arguments.iter().find(|part| !part.optional);
                first.map_or_else(
                    || argument.name.clone(),
                    |first| first.token.unwrap_or(&first.name).to_owned(),
                )
            }
            None => argument.name.clone(),
        };
        let grammar = name.clone();
        let name = if argument.multiple && argument.token.is_none() { format!("{name}s") } else { name };
        self.choices.push(Choice { name: snake(&name), grammar, steps, is_last: false, reply: None });
        later.into_iter().for_each(|part| self.option(part));
    }
}

/// Whether it holds others.
fn is_group(argument: &Argument) -> bool {
    argument.optional || argument.kind == Kind::OneOf && argument.token.is_none() && !is_words(argument)
}

/// Whether it is one of several words that stand for themselves.
fn is_words(argument: &Argument) -> bool {
    let is_word = |part: &Argument| {
        part.kind == Kind::PureToken
            && part.token.is_some_and(|token| token.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    argument.kind == Kind::OneOf && argument.arguments.iter().all(is_word)
}

/// Whether it is a value for which a symbol may stand, as `*` for an ID.
fn is_symbol(argument: &Argument) -> bool {
    argument.arguments.iter().all(|part| part.arguments.is_empty())
        && argument.arguments.iter().any(|part| part.kind != Kind::PureToken)
        && argument.arguments.iter().all(|part| part.kind == Kind::PureToken || part.token.is_none())
}

/// Whether it is several single values side by side.
fn is_flat_block(argument: &Argument) -> bool {
    argument.kind == Kind::Block
        && argument
            .arguments
            .iter()
            .all(|part| part.arguments.is_empty() && part.token.is_none() && !part.optional)
}

fn item(argument: &Argument) -> &'static str {
    if let Kind::Integer | Kind::UnixTime = argument.kind { "i64" } else { "impl ToArg" }
}

fn word_of(argument: &Argument) -> Word {
    let tokens: Vec<String> =
        argument.arguments.iter().map(|part| part.token.unwrap_or(&part.name).to_uppercase()).collect();
    Word { name: tokens.iter().map(|token| camel(token)).collect::<Vec<_>>().join("Or"), tokens }
}

/// A short name for one of several words: the first, if the whole is a list of them.
fn short(argument: &Argument) -> String {
    if argument.token.is_some() {
        argument.token.unwrap_or_default().to_owned()
    } else {
        argument.name.clone()
    }
}

/// Names that the grammar makes of many parts, and what they are called.
const SHORT: &[(&str, &str)] =
    &[("member_longitude_latitude", "from"), ("fromlonlat", "from"), ("libname_libver", "info")];

/// Gives parameters of the same name numbers, and long ones a short name.
fn distinct(steps: &mut [Step]) {
    let mut seen = std::collections::HashMap::new();
    for step in steps {
        let Step::Parameter(parameter) = step else { continue };
        if let Some((_, short)) = SHORT.iter().find(|(long, _)| *long == parameter.name) {
            parameter.name = (*short).to_owned();
        } else if parameter.name == "words" {
            parameter.name = "all_words".to_owned();
        } else if parameter.name.starts_with("radius_") {
            parameter.name = "by".to_owned();
        }
        let count = seen.entry(parameter.name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            parameter.name = format!("{}_{count}", parameter.name);
        }
    }
}
