//! The grammar in which a row writes its arguments, and the tree that `COMMAND DOCS` makes of it.
//!
//! The notation is that of the Redis reference, so a reader of the manual can read a row:
//!
//! ```text
//! key                        a value, named in lower case
//! GET                        a token: a word to be typed as it stands
//! EX seconds                 a token owns the values behind it, up to the next bracket or token
//! [...]                      may be left out
//! [NX | XX]                  one of several, or none
//! <LEFT | RIGHT>             exactly one of several
//! key [key ...]              once or more often; the bracket repeats the part that may come again
//! field value [field value ...]                several values repeated together
//! WEIGHTS weight [weight ...]                  the token stands once
//! [GET x | SET y [GET x | SET y ...]]          any number of several, in any order
//! PREFIX prefix [PREFIX prefix ...]            the token is repeated too
//! ```
//!
//! The tree prints itself back to the same text (a law of the table), which is what redis-cli does for its hints.
//! This module reads our own constants, never bytes from a client.

use std::fmt;

/// How deep brackets may stand in one another. The deepest grammar of Redis has four levels; the cap bounds recursion.
const NESTING_MAX: usize = 8;

/// One argument of a command, as an element of `arguments` in `COMMAND DOCS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// A value's own name; a token in lower case; for groups the names of the members joined by `_`.
    pub name: String,
    /// What is expected.
    pub kind: Kind,
    /// The word to be typed: the whole argument of [`Kind::PureToken`], what precedes it otherwise.
    pub token: Option<&'a str>,
    /// May be left out.
    pub optional: bool,
    /// May be given more than once.
    pub multiple: bool,
    /// When given more than once, the token is repeated too.
    pub multiple_token: bool,
    /// For keys: which of the command's key specifications covers it.
    pub key_spec_index: Option<usize>,
    /// The alternatives of [`Kind::OneOf`], the members of [`Kind::Block`].
    pub arguments: Vec<Argument<'a>>,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any bytes.
    String,
    /// A signed 64-bit integer.
    Integer,
    /// A floating-point number.
    Double,
    /// The name of a key.
    Key,
    /// A glob.
    Pattern,
    /// Seconds or milliseconds since 1970.
    UnixTime,
    /// A word that stands for itself.
    PureToken,
    /// One of several arguments.
    OneOf,
    /// Several arguments in this order.
    Block,
}

impl Kind {
    /// The name as `COMMAND DOCS` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Double => "double",
            Kind::Key => "key",
            Kind::Pattern => "pattern",
            Kind::UnixTime => "unix-time",
            Kind::PureToken => "pure-token",
            Kind::OneOf => "oneof",
            Kind::Block => "block",
        }
    }

    /// The type that the name of a value suggests.
    fn suggested_by(name: &str) -> Kind {
        match name {
            "key" | "key1" | "key2" | "newkey" | "source" | "destination" | "src" | "dst" | "destkey"
            | "sourcekey" => Kind::Key,
            "pattern" => Kind::Pattern,
            "unix-time-seconds" | "unix-time-milliseconds" => Kind::UnixTime,
            "height" | "latitude" | "longitude" | "max" | "min" | "radius" | "score" | "width" => {
                Kind::Double
            }
            "client-id" | "count" | "cursor" | "db" | "decrement" | "destination-db" | "end"
            | "frequency" | "increment" | "index" | "index1" | "index2" | "len" | "limit"
            | "milliseconds" | "min-match-len" | "num-matches" | "numkeys" | "offset" | "protover"
            | "rank" | "seconds" | "start" | "stop" | "ttl" | "weight" => Kind::Integer,
            _ => Kind::String,
        }
    }
}

/// Why a syntax is not of this grammar. Only a wrong row can cause it, and the laws would say so first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// A bracket without its partner.
    #[error("unbalanced bracket")]
    Unbalanced,
    /// An empty bracket or an empty alternative.
    #[error("empty bracket or alternative")]
    Empty,
    /// `|` or `...` outside of a bracket.
    #[error("'|' or '...' outside of a bracket")]
    Stray,
    /// `[x ...]` does not repeat what stands before it.
    #[error("a repetition differs from what it repeats")]
    Repetition,
    /// More than eight levels of brackets.
    #[error("brackets nested too deep")]
    TooDeep,
}

/// Parses a syntax. `types` overrides what names suggest; `key_spec_count` is the number of key specifications, which
/// the keys of the syntax are assigned to in their order.
pub fn parse<'a>(
    syntax: &'a str,
    types: &[(&str, Kind)],
    key_spec_count: usize,
) -> Result<Vec<Argument<'a>>, SyntaxError> {
    let lexemes = lexemes(syntax);
    let mut parser = Parser { lexemes: &lexemes, types };
    let mut arguments = parser.sequence(0)?;
    if let Some(lexeme) = parser.lexemes.first() {
        return Err(match lexeme {
            Lexeme::Close | Lexeme::CloseChoice => SyntaxError::Unbalanced,
            _ => SyntaxError::Stray,
        });
    }
    number_keys(&mut arguments, &mut Numbers::default(), key_spec_count);
    Ok(arguments)
}

/// The syntax that a list of arguments stands for.
pub fn print_syntax(arguments: &[Argument<'_>]) -> String {
    join(arguments, " ")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lexeme<'a> {
    Open,
    Close,
    OpenChoice,
    CloseChoice,
    Or,
    Ellipsis,
    Value(&'a str),
    Token(&'a str),
}

fn lexemes(syntax: &str) -> Vec<Lexeme<'_>> {
    let mut found = Vec::new();
    for mut rest in syntax.split(' ').filter(|part| !part.is_empty()) {
        while !rest.is_empty() {
            let bracket = match rest.as_bytes() {
                [b'[', ..] => Some(Lexeme::Open),
                [b']', ..] => Some(Lexeme::Close),
                [b'<', ..] => Some(Lexeme::OpenChoice),
                [b'>', ..] => Some(Lexeme::CloseChoice),
                [b'|', ..] => Some(Lexeme::Or),
                _ => None,
            };
            let length = if bracket.is_some() {
                1
            } else {
                rest.find(['[', ']', '<', '>', '|']).unwrap_or(rest.len())
            };
            let (word, after) = rest.split_at(length);
            found.push(match bracket {
                Some(lexeme) => lexeme,
                None if word == "..." => Lexeme::Ellipsis,
                None if word.starts_with(|first: char| first.is_ascii_lowercase()) => Lexeme::Value(word),
                None => Lexeme::Token(word),
            });
            rest = after;
        }
    }
    found
}

/// A recursive descent over what is left of the lexemes; the depth is bounded by [`NESTING_MAX`].
struct Parser<'l, 'a, 't> {
    lexemes: &'l [Lexeme<'a>],
    types: &'t [(&'t str, Kind)],
}

impl<'l, 'a> Parser<'l, 'a, '_> {
    fn take(&mut self) -> Option<Lexeme<'a>> {
        let (first, rest) = self.lexemes.split_first()?;
        self.lexemes = rest;
        Some(*first)
    }

    /// Arguments up to the end, a closing bracket or `|`, which stays.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Argument<'a>>, SyntaxError> {
        let mut items = Vec::new();
        while let Some(lexeme) = self.lexemes.first() {
            match *lexeme {
                Lexeme::Close | Lexeme::CloseChoice | Lexeme::Or | Lexeme::Ellipsis => break,
                Lexeme::Value(name) => {
                    self.take();
                    items.push(self.value(name));
                }
                Lexeme::Token(token) => {
                    self.take();
                    items.push(self.token(token, depth)?);
                }
                Lexeme::OpenChoice => {
                    self.take();
                    items.push(self.group(depth, Lexeme::CloseChoice)?);
                }
                Lexeme::Open if self.repeats_choice() => break,
                Lexeme::Open => {
                    if let Some(repeated) = self.repetition(depth)? {
                        repeat(&mut items, repeated)?;
                    } else {
                        self.take();
                        let mut group = self.group(depth, Lexeme::Close)?;
                        group.optional = true;
                        items.push(group);
                    }
                }
            }
        }
        Ok(items)
    }

    /// A token and the values that it owns.
    fn token(&mut self, token: &'a str, depth: usize) -> Result<Argument<'a>, SyntaxError> {
        let mut values = Vec::new();
        loop {
            match self.lexemes {
                [Lexeme::Value(name), ..] => {
                    self.take();
                    values.push(self.value(name));
                }
                [Lexeme::OpenChoice, ..] if values.is_empty() => {
                    self.take();
                    values.push(self.group(depth, Lexeme::CloseChoice)?);
                }
                [Lexeme::Open, Lexeme::Value(_), ..] if !values.is_empty() => match self.repetition(depth)? {
                    Some(repeated) => repeat(&mut values, repeated)?,
                    None => break,
                },
                _ => break,
            }
        }
        let mut argument = match values.len() {
            0 => leaf(token.to_ascii_lowercase(), Kind::PureToken),
            _ => bundle(values, Kind::Block)?,
        };
        argument.token = Some(token);
        Ok(argument)
    }

    fn value(&self, name: &str) -> Argument<'a> {
        let stated = self.types.iter().find(|(typed, _)| *typed == name).map(|(_, kind)| *kind);
        leaf(name.to_owned(), stated.unwrap_or_else(|| Kind::suggested_by(name)))
    }

    /// The alternatives up to `close`, the opening bracket being taken.
    fn group(&mut self, depth: usize, close: Lexeme<'_>) -> Result<Argument<'a>, SyntaxError> {
        if depth == NESTING_MAX {
            return Err(SyntaxError::TooDeep);
        }
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(bundle(self.sequence(depth + 1)?, Kind::Block)?);
            match self.take() {
                Some(Lexeme::Or) => continue,
                Some(lexeme) if lexeme == close => return bundle(alternatives, Kind::OneOf),
                Some(Lexeme::Open) => return self.repeated_choice(alternatives, depth, close),
                Some(Lexeme::Ellipsis) => return Err(SyntaxError::Stray),
                _ => return Err(SyntaxError::Unbalanced),
            }
        }
    }

    /// Whether a bracket follows that repeats the alternatives before it: `[a | b ...]`.
    fn repeats_choice(&self) -> bool {
        let inner = matching_close(self.lexemes).and_then(|close| self.lexemes.get(1..close));
        let Some([inner @ .., Lexeme::Ellipsis]) = inner else { return false };
        let mut open = 0_usize;
        inner.iter().any(|lexeme| {
            match lexeme {
                Lexeme::Open | Lexeme::OpenChoice => open += 1,
                Lexeme::Close | Lexeme::CloseChoice => open = open.saturating_sub(1),
                _ => {}
            }
            open == 0 && *lexeme == Lexeme::Or
        })
    }

    /// The rest of a choice that may come again, the bracket that says so being taken.
    fn repeated_choice(
        &mut self,
        alternatives: Vec<Argument<'a>>,
        depth: usize,
        close: Lexeme<'_>,
    ) -> Result<Argument<'a>, SyntaxError> {
        let mut again = Vec::new();
        loop {
            again.push(bundle(self.sequence(depth + 1)?, Kind::Block)?);
            match self.take() {
                Some(Lexeme::Or) => continue,
                Some(Lexeme::Ellipsis) => break,
                _ => return Err(SyntaxError::Unbalanced),
            }
        }
        if again != alternatives {
            return Err(SyntaxError::Repetition);
        }
        if self.take() != Some(Lexeme::Close) || self.take() != Some(close) {
            return Err(SyntaxError::Unbalanced);
        }
        let mut choice = bundle(alternatives, Kind::OneOf)?;
        choice.multiple = true;
        Ok(choice)
    }

    /// What `[x ...]` repeats. Takes nothing when the bracket is not of this form.
    fn repetition(&mut self, depth: usize) -> Result<Option<Vec<Argument<'a>>>, SyntaxError> {
        let close = matching_close(self.lexemes).ok_or(SyntaxError::Unbalanced)?;
        let Some([inner @ .., Lexeme::Ellipsis]) = self.lexemes.get(1..close) else {
            return Ok(None);
        };
        if depth == NESTING_MAX {
            return Err(SyntaxError::TooDeep);
        }
        let mut parser = Parser { lexemes: inner, types: self.types };
        let repeated = parser.sequence(depth + 1)?;
        if !parser.lexemes.is_empty() {
            return Err(SyntaxError::Stray);
        }
        self.lexemes = self.lexemes.get(close + 1..).unwrap_or_default();
        Ok(Some(repeated))
    }
}

/// The bracket that closes the one at the beginning.
fn matching_close(lexemes: &[Lexeme<'_>]) -> Option<usize> {
    let mut open = 0usize;
    for (index, lexeme) in lexemes.iter().enumerate() {
        match lexeme {
            Lexeme::Open | Lexeme::OpenChoice => open += 1,
            Lexeme::Close | Lexeme::CloseChoice => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            return Some(index);
        }
    }
    None
}

fn leaf<'a>(name: String, kind: Kind) -> Argument<'a> {
    Argument {
        name,
        kind,
        token: None,
        optional: false,
        multiple: false,
        multiple_token: false,
        key_spec_index: None,
        arguments: Vec::new(),
    }
}

/// A single argument stays what it is; several become members of a group of this kind.
fn bundle<'a>(mut arguments: Vec<Argument<'a>>, kind: Kind) -> Result<Argument<'a>, SyntaxError> {
    if arguments.len() == 1
        && let Some(only) = arguments.pop()
    {
        return Ok(only);
    }
    let names: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
    if names.is_empty() {
        return Err(SyntaxError::Empty);
    }
    let mut group = leaf(names.join("_"), kind);
    group.arguments = arguments;
    Ok(group)
}

/// Marks the end of `items` as repeatable, provided that it is what `repeated` says.
fn repeat<'a>(items: &mut Vec<Argument<'a>>, repeated: Vec<Argument<'a>>) -> Result<(), SyntaxError> {
    let start = items.len().checked_sub(repeated.len()).ok_or(SyntaxError::Repetition)?;
    let tail = items.split_off(start);
    if tail != repeated {
        return Err(SyntaxError::Repetition);
    }
    let mut argument = bundle(tail, Kind::Block)?;
    argument.multiple = true;
    argument.multiple_token = argument.token.is_some();
    items.push(argument);
    Ok(())
}

/// Which key specifications have been assigned.
#[derive(Default)]
struct Numbers {
    next: usize,
    /// A pattern has been assigned to the next one.
    has_patterns: bool,
}

/// Assigns the keys to the key specifications in their order; when there are more keys than specifications, the last
/// one covers the rest. Patterns of names of keys, for which a specification is left, share it (SORT).
fn number_keys(arguments: &mut [Argument<'_>], numbers: &mut Numbers, count: usize) {
    for argument in arguments {
        if argument.kind == Kind::Pattern && (1..count).contains(&numbers.next) {
            argument.key_spec_index = Some(numbers.next);
            numbers.has_patterns = true;
        }
        if argument.kind == Kind::Key && count > 0 {
            numbers.next += usize::from(std::mem::take(&mut numbers.has_patterns));
            argument.key_spec_index = Some(numbers.next.min(count - 1));
            numbers.next += 1;
        }
        number_keys(&mut argument.arguments, numbers, count);
    }
}

fn join(arguments: &[Argument<'_>], separator: &str) -> String {
    let parts: Vec<String> = arguments.iter().map(Argument::to_string).collect();
    parts.join(separator)
}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self.kind {
            Kind::PureToken => String::new(),
            Kind::OneOf if self.optional && self.token.is_none() => join(&self.arguments, " | "),
            Kind::OneOf => format!("<{}>", join(&self.arguments, " | ")),
            Kind::Block => join(&self.arguments, " "),
            _ => self.name.clone(),
        };
        let whole = match self.token {
            None => value.clone(),
            Some(token) if value.is_empty() => token.to_owned(),
            Some(token) => format!("{token} {value}"),
        };
        let again = match (self.multiple, self.multiple_token) {
            (false, _) => String::new(),
            (true, false) => format!(" [{value} ...]"),
            (true, true) => format!(" [{whole} ...]"),
        };
        if self.optional { write!(out, "[{whole}{again}]") } else { write!(out, "{whole}{again}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree in one line: kind, name, then `TOKEN`, `?` optional, `+` multiple, `++` with its token.
    fn outline(arguments: &[Argument<'_>]) -> String {
        let one = |argument: &Argument<'_>| {
            let token = argument.token.map_or(String::new(), |token| format!(":{token}"));
            let optional = if argument.optional { "?" } else { "" };
            let multiple =
                ["", "+", "++"][usize::from(argument.multiple) + usize::from(argument.multiple_token)];
            let members = match argument.arguments.is_empty() {
                true => String::new(),
                false => format!("({})", outline(&argument.arguments)),
            };
            format!("{} {}{token}{optional}{multiple}{members}", argument.kind.name(), argument.name)
        };
        arguments.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn check(syntax: &str, expected: &str) {
        let tree = parse(syntax, &[], 1).unwrap_or_else(|error| panic!("{syntax}: {error}"));
        assert_eq!(outline(&tree), expected, "{syntax}");
        assert_eq!(print_syntax(&tree), syntax);
    }

    #[test]
    fn values_tokens_and_brackets() {
        check("", "");
        check("key [GET]", "key key, pure-token get:GET?");
        check(
            "[EX seconds | PERSIST]",
            "oneof seconds_persist?(integer seconds:EX, pure-token persist:PERSIST)",
        );
        check("<LEFT | RIGHT>", "oneof left_right(pure-token left:LEFT, pure-token right:RIGHT)");
        check("[BY <A | B>]", "oneof a_b:BY?(pure-token a:A, pure-token b:B)");
        check("[LIMIT offset count]", "block offset_count:LIMIT?(integer offset, integer count)");
        check("key [count [DEEP]]", "key key, block count_deep?(integer count, pure-token deep:DEEP?)");
    }

    #[test]
    fn repetitions() {
        check("[id [id ...]]", "string id?+");
        check("[ID client-id [client-id ...]]", "integer client-id:ID?+");
        check("[GET pattern [GET pattern ...]]", "pattern pattern:GET?++");
        check("key field value [field value ...]", "key key, block field_value+(string field, string value)");
        check("STREAMS key [key ...] id [id ...]", "block key_id:STREAMS(key key+, string id+)");
        check(
            "[GET id | [NX | XX] SET a b [GET id | [NX | XX] SET a b ...]]",
            "oneof id_nx_xx_a_b?+(string id:GET, block nx_xx_a_b(oneof nx_xx?(pure-token nx:NX, pure-token \
             xx:XX), block a_b:SET(string a, string b)))",
        );
    }

    #[test]
    fn symbols_and_nested_choices() {
        check(
            "[<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id>",
            "block maxlen_minid_=_~_threshold_count?(oneof maxlen_minid(pure-token maxlen:MAXLEN, pure-token \
             minid:MINID), oneof =_~?(pure-token =:=, pure-token ~:~), string threshold, integer \
             count:LIMIT?), oneof *_id(pure-token *:*, string id)",
        );
    }

    #[test]
    fn what_is_not_of_the_grammar_is_refused() {
        let deep = format!("{}a{}", "[a ".repeat(9), "]".repeat(9));
        for (syntax, error) in [
            ("[a", SyntaxError::Unbalanced),
            ("a]", SyntaxError::Unbalanced),
            ("[a>", SyntaxError::Unbalanced),
            ("<a | b]", SyntaxError::Unbalanced),
            ("[]", SyntaxError::Empty),
            ("[a | ]", SyntaxError::Empty),
            ("a | b", SyntaxError::Stray),
            ("a ...", SyntaxError::Stray),
            ("[a ... b]", SyntaxError::Stray),
            ("a [b ...]", SyntaxError::Repetition),
            ("[a b ...]", SyntaxError::Repetition),
            ("[a | b [a | c ...]]", SyntaxError::Repetition),
            ("[a | b [a | b ...] c]", SyntaxError::Unbalanced),
            ("a [a | b ...]", SyntaxError::Stray),
            (deep.as_str(), SyntaxError::TooDeep),
        ] {
            assert_eq!(parse(syntax, &[], 0), Err(error), "{syntax}");
        }
    }
}
