//! The notation in which a row writes the type of its reply, and the tree that is made of it. A client with typed
//! functions is generated from it.
//!
//! ```text
//! ok            the simple string OK
//! status        another simple string: PONG, the name of a type
//! int           an integer
//! bool          an integer that is 0 or 1 and means no or yes
//! double        a double in RESP3, a bulk string in RESP2
//! bulk          a bulk string of any bytes
//! text          a bulk string or a verbatim string that is always text
//! null          always null
//! value         anything, also an error among elements: it depends on data or code
//! none          no reply as others have it: messages, or nothing at all
//! entry         an entry of a stream: its id, and fields with values in a flat array, or null for a deleted entry
//! T?            T or null
//! [T]           an array of T
//! {T}           a set: an array in RESP2
//! {K: V}        a map; an array in RESP2, flat or of arrays of two, and of arrays of two from some commands in RESP3
//! pairs(A, B)   an array of arrays of two in RESP3, a flat array in RESP2
//! flat(A, B)    pairs in a flat array in either protocol
//! (A, B)        an array of exactly these; () is the empty one
//! T | U         one or the other, for a reason that is not in the request
//! ```
//!
//! Behind the usual type stand the cases that options decide, `; NAME: T`. `NAME` is the token of an option, or the name
//! of an argument that may be left out and has no token. `; A B: T` is the case of both. Of the cases that hold, the last
//! one counts:
//!
//! ```text
//! "ok?; GET: bulk?"             SET
//! "bulk?; count: [bulk]?"       LPOP
//! ```
//!
//! A type is that of a reply to a request outside of MULTI, and never of an error. This module reads our own constants.

use std::fmt;

/// How deep a type may stand in others. The deepest type of the table has five levels; the cap bounds recursion.
const NESTING_MAX: usize = 8;

/// The type of a reply, or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyType {
    /// The simple string OK.
    Ok,
    /// A simple string.
    Status,
    /// An integer.
    Integer,
    /// An integer that is 0 for no or 1 for yes.
    Bool,
    /// A floating-point number: a double in RESP3, a bulk string in RESP2.
    Double,
    /// A bulk string of any bytes.
    Bulk,
    /// A bulk string or a verbatim string in UTF-8.
    Text,
    /// Null.
    Null,
    /// Anything, errors included.
    Value,
    /// The type or null.
    Nullable(Box<ReplyType>),
    /// An array of any number of elements.
    Array(Box<ReplyType>),
    /// Elements without order: a set in RESP3, an array in RESP2.
    Set(Box<ReplyType>),
    /// Keys with values.
    Map(Box<ReplyType>, Box<ReplyType>),
    /// A list of pairs: an array of arrays of two in RESP3, a flat array in RESP2.
    Pairs(Box<ReplyType>, Box<ReplyType>),
    /// A list of pairs in a flat array in either protocol.
    Flat(Box<ReplyType>, Box<ReplyType>),
    /// An array of so many elements.
    Tuple(Vec<ReplyType>),
    /// An entry of a stream: its id, and its fields with their values, null for a deleted entry.
    Entry,
    /// One of several types.
    Either(Vec<ReplyType>),
    /// No reply, or messages instead of one.
    None,
}

/// The types with a name of one word.
const WORDS: &[(&str, ReplyType)] = &[
    ("ok", ReplyType::Ok),
    ("status", ReplyType::Status),
    ("int", ReplyType::Integer),
    ("bool", ReplyType::Bool),
    ("double", ReplyType::Double),
    ("bulk", ReplyType::Bulk),
    ("text", ReplyType::Text),
    ("null", ReplyType::Null),
    ("value", ReplyType::Value),
    ("entry", ReplyType::Entry),
    ("none", ReplyType::None),
];

/// The types of the replies to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replies {
    /// The type where no case holds.
    pub usual: ReplyType,
    /// What options decide, in the order of the row: the last one that holds counts.
    pub cases: Vec<ReplyCase>,
}

/// A type that holds where certain options are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyCase {
    /// Tokens of options, or names of arguments without a token; all of them must be given.
    pub given: Vec<&'static str>,
    /// The type then.
    pub reply: ReplyType,
}

/// Why a text is not of this notation. Only a wrong row can cause it, and the laws would say so first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyTypeError {
    /// Something else than a type where one is expected.
    #[error("no type where one is expected")]
    NoType,
    /// A bracket without its partner, or text behind a type.
    #[error("an unexpected character")]
    Unexpected,
    /// A case without a name.
    #[error("a case without a name")]
    NoName,
    /// More than eight levels.
    #[error("types nested too deep")]
    TooDeep,
}

/// Parses the text of a row.
pub(super) fn parse(text: &'static str) -> Result<Replies, ReplyTypeError> {
    let mut parts = text.split("; ");
    let usual = parse_type(parts.next().unwrap_or_default())?;
    let cases = parts.map(|part| {
        let (names, reply) = part.split_once(": ").ok_or(ReplyTypeError::NoName)?;
        let given: Vec<&str> = names.split(' ').collect();
        if given.iter().any(|name| name.is_empty()) {
            return Err(ReplyTypeError::NoName);
        }
        Ok(ReplyCase { given, reply: parse_type(reply)? })
    });
    Ok(Replies { usual, cases: cases.collect::<Result<_, _>>()? })
}

fn parse_type(text: &str) -> Result<ReplyType, ReplyTypeError> {
    let mut parser = Parser { rest: text };
    let parsed = parser.either(0)?;
    if parser.rest.is_empty() { Ok(parsed) } else { Err(ReplyTypeError::Unexpected) }
}

/// A recursive descent over what is left of a text; the depth is bounded by [`NESTING_MAX`].
struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    /// Takes a text if it stands here.
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Result<(), ReplyTypeError> {
        if self.takes(text) { Ok(()) } else { Err(ReplyTypeError::Unexpected) }
    }

    fn either(&mut self, depth: usize) -> Result<ReplyType, ReplyTypeError> {
        let first = self.nullable(depth)?;
        if !self.takes(" | ") {
            return Ok(first);
        }
        let mut types = vec![first, self.nullable(depth)?];
        while self.takes(" | ") {
            types.push(self.nullable(depth)?);
        }
        Ok(ReplyType::Either(types))
    }

    fn nullable(&mut self, depth: usize) -> Result<ReplyType, ReplyTypeError> {
        let parsed = self.single(depth)?;
        if self.takes("?") { Ok(ReplyType::Nullable(Box::new(parsed))) } else { Ok(parsed) }
    }

    /// Two types and the bracket behind them.
    fn two(&mut self, depth: usize) -> Result<(Box<ReplyType>, Box<ReplyType>), ReplyTypeError> {
        let first = Box::new(self.either(depth + 1)?);
        self.expect(", ")?;
        let second = Box::new(self.either(depth + 1)?);
        self.expect(")").map(|()| (first, second))
    }

    fn single(&mut self, depth: usize) -> Result<ReplyType, ReplyTypeError> {
        if depth == NESTING_MAX {
            return Err(ReplyTypeError::TooDeep);
        }
        if self.takes("[") {
            let element = Box::new(self.either(depth + 1)?);
            return self.expect("]").map(|()| ReplyType::Array(element));
        }
        if self.takes("{") {
            let first = Box::new(self.either(depth + 1)?);
            let parsed = match self.takes(": ") {
                true => ReplyType::Map(first, Box::new(self.either(depth + 1)?)),
                false => ReplyType::Set(first),
            };
            return self.expect("}").map(|()| parsed);
        }
        if self.takes("pairs(") {
            return self.two(depth).map(|(first, second)| ReplyType::Pairs(first, second));
        }
        if self.takes("flat(") {
            return self.two(depth).map(|(first, second)| ReplyType::Flat(first, second));
        }
        if self.takes("()") {
            return Ok(ReplyType::Tuple(Vec::new()));
        }
        if self.takes("(") {
            let mut types = vec![self.either(depth + 1)?];
            while self.takes(", ") {
                types.push(self.either(depth + 1)?);
            }
            return self.expect(")").map(|()| ReplyType::Tuple(types));
        }
        let length = self.rest.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        let known = WORDS.iter().find(|(name, _)| *name == word).ok_or(ReplyTypeError::NoType)?;
        self.rest = rest;
        Ok(known.1.clone())
    }
}

fn join(types: &[ReplyType], separator: &str) -> String {
    types.iter().map(ReplyType::to_string).collect::<Vec<_>>().join(separator)
}

/// In the notation of the rows.
impl fmt::Display for ReplyType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplyType::Nullable(inner) => write!(out, "{inner}?"),
            ReplyType::Array(element) => write!(out, "[{element}]"),
            ReplyType::Set(element) => write!(out, "{{{element}}}"),
            ReplyType::Map(key, value) => write!(out, "{{{key}: {value}}}"),
            ReplyType::Pairs(first, second) => write!(out, "pairs({first}, {second})"),
            ReplyType::Flat(first, second) => write!(out, "flat({first}, {second})"),
            ReplyType::Tuple(types) => write!(out, "({})", join(types, ", ")),
            ReplyType::Either(types) => out.write_str(&join(types, " | ")),
            word => out.write_str(WORDS.iter().find(|(_, known)| known == word).map_or("", |(name, _)| name)),
        }
    }
}

/// In the notation of the rows.
impl fmt::Display for Replies {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.usual)?;
        self.cases.iter().try_for_each(|case| write!(out, "; {}: {}", case.given.join(" "), case.reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_prints_otherwise_than_it_is_written() {
        for text in [
            "ok",
            "ok?; GET: bulk?",
            "{bulk: [entry]}?",
            "[bulk]; WITHDIST: [(bulk, bulk)]; WITHDIST WITHHASH: [(bulk, bulk, int)]",
            "pairs(bulk, double)",
            "(bulk, flat(bulk, [int]))",
            "(bulk, double) | ()",
            "{text: {text: int | {int: int}}}",
            "[{status}?] | int? | none",
            "int; ip:port: ok",
        ] {
            let parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(parsed.to_string(), text);
        }
        let parsed = parse("bulk?; count: [bulk]?").expect("a type");
        let nullable = |inner| ReplyType::Nullable(Box::new(inner));
        assert_eq!(parsed.usual, nullable(ReplyType::Bulk));
        let [case] = parsed.cases.as_slice() else { panic!("{parsed:?}") };
        assert_eq!(case.given, ["count"]);
        assert_eq!(case.reply, nullable(ReplyType::Array(Box::new(ReplyType::Bulk))));
    }

    #[test]
    fn what_is_not_of_the_notation_is_refused() {
        let deep = "[[[[[[[[[int]]]]]]]]]";
        for (text, error) in [
            ("", ReplyTypeError::NoType),
            ("integer", ReplyTypeError::NoType),
            ("[int", ReplyTypeError::Unexpected),
            ("int]", ReplyTypeError::Unexpected),
            ("int |", ReplyTypeError::Unexpected),
            ("int | ", ReplyTypeError::NoType),
            ("{int:int}", ReplyTypeError::Unexpected),
            ("pairs(int)", ReplyTypeError::Unexpected),
            ("(,)", ReplyTypeError::NoType),
            ("int??", ReplyTypeError::Unexpected),
            ("int; int", ReplyTypeError::NoName),
            ("int; : int", ReplyTypeError::NoName),
            ("int; A: ", ReplyTypeError::NoType),
            (deep, ReplyTypeError::TooDeep),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }
}
