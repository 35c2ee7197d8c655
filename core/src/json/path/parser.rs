//! Reads paths: RFC 9535, and what RedisJSON takes besides (hyphens in names, a dot before a bracket, `=~`).

use std::rc::Rc;

use super::tree::{Comparison, Condition, Operand, Query, Segment, Selector, Slice};
use crate::json::node::Node;
use crate::json::number::Number;
use crate::json::packed;

/// Parentheses and filters stand in each other so deep at most: reading them calls itself.
const NESTING_MAX: usize = 32;

/// Indexes lie in the range in which a double holds every whole number.
const INDEX_MAX: i64 = (1 << 53) - 1;

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte at which it stops to be one.
    pub at: usize,
    /// What is wrong there.
    pub message: &'static str,
}

type Result<T> = std::result::Result<T, Fault>;

/// Reads a path that begins with `$`.
///
/// # Errors
/// It is none.
pub fn parse(text: &str) -> Result<Query> {
    let mut parser = Parser { text, at: 0, nesting: 0, is_legacy: false };
    parser.expect("$", "a path begins with $")?;
    parser.whole()
}

/// Reads a path as RedisJSON had them first: `.a.b[0]`, `a.b`, `.` for the whole document. Of what it finds only the first value counts.
///
/// # Errors
/// It is none.
pub fn parse_legacy(text: &str) -> Result<Query> {
    let mut parser = Parser { text, at: 0, nesting: 0, is_legacy: true };
    if text == "." {
        return Ok(Query { is_relative: false, segments: Vec::new() });
    }
    if text.starts_with(['.', '[']) {
        return parser.whole();
    }
    let first = Segment { is_descendant: false, selectors: vec![Selector::Name(parser.short_name()?)] };
    let mut query = parser.whole()?;
    query.segments.insert(0, first);
    Ok(query)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
    /// Whether names behind dots may have more characters.
    is_legacy: bool,
}

/// What a function needs, or gives.
enum Argument {
    Operand(Operand),
    /// A path that may find several values.
    Nodes(Query),
    Condition(Condition),
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fail<T>(&self, message: &'static str) -> Result<T> {
        Err(Fault { at: self.at, message })
    }

    fn takes(&mut self, token: &str) -> bool {
        let is_there = self.rest().starts_with(token);
        if is_there {
            self.at += token.len();
        }
        is_there
    }

    fn expect(&mut self, token: &str, message: &'static str) -> Result<()> {
        if self.takes(token) { Ok(()) } else { self.fail(message) }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    /// Runs a part of the grammar in which this one may stand.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting == NESTING_MAX {
            return self.fail("filters stand too deep in each other");
        }
        self.nesting += 1;
        let result = run(self);
        self.nesting -= 1;
        result
    }

    /// The rest of the text as segments.
    fn whole(&mut self) -> Result<Query> {
        let query = self.query(false)?;
        if self.at < self.text.len() {
            return self.fail("a segment begins with a dot or a bracket");
        }
        Ok(query)
    }

    /// The segments behind `$` or `@`.
    fn query(&mut self, is_relative: bool) -> Result<Query> {
        let mut segments = Vec::new();
        loop {
            let before = self.at;
            self.skip_blanks();
            let is_descendant = self.takes("..");
            let has_dot = is_descendant || self.takes(".");
            let selectors = match self.peek() {
                // RedisJSON takes a dot before a bracket.
                Some('[') => {
                    self.at += 1;
                    self.nested(Self::selectors)?
                }
                Some('*') if has_dot => {
                    self.at += 1;
                    vec![Selector::Wildcard]
                }
                Some(_) if has_dot => vec![Selector::Name(self.short_name()?)],
                _ if has_dot => return self.fail("a name is missing behind the dot"),
                _ => {
                    // Blanks behind a path are not its own.
                    self.at = before;
                    return Ok(Query { is_relative, segments });
                }
            };
            segments.push(Segment { is_descendant, selectors });
        }
    }

    /// A name behind a dot.
    fn short_name(&mut self) -> Result<Rc<str>> {
        let is_legacy = self.is_legacy;
        let is_first = |c: char| {
            c.is_ascii_alphabetic()
                || c == '_'
                || !c.is_ascii()
                || is_legacy && (c.is_ascii_digit() || matches!(c, '-' | '$' | '@' | ':'))
        };
        // RFC 9535 has no colon there; RedisJSON does.
        let is_next = |c: char| is_first(c) || c.is_ascii_digit() || matches!(c, '-' | ':');
        let rest = self.rest();
        if !rest.starts_with(is_first) {
            return self.fail("a name begins with a letter or an underscore");
        }
        let length = rest.find(|c| !is_next(c)).unwrap_or(rest.len());
        self.at += length;
        Ok(rest.get(..length).unwrap_or_default().into())
    }

    /// What stands in brackets, and the closing one.
    fn selectors(&mut self) -> Result<Vec<Selector>> {
        let mut selectors = Vec::new();
        loop {
            self.skip_blanks();
            selectors.push(self.selector()?);
            self.skip_blanks();
            if self.takes("]") {
                return Ok(selectors);
            }
            self.expect(",", "a comma or a closing bracket is missing")?;
        }
    }

    fn selector(&mut self) -> Result<Selector> {
        match self.peek() {
            Some('\'' | '"') => Ok(Selector::Name(self.string()?.into())),
            Some('*') => {
                self.at += 1;
                Ok(Selector::Wildcard)
            }
            Some('?') => {
                self.at += 1;
                self.skip_blanks();
                Ok(Selector::Filter(self.condition()?))
            }
            Some(':' | '-' | '0'..='9') => self.index_or_slice(),
            _ => self.fail("a name in quotes, an index, a slice, * or a filter is missing"),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector> {
        let start = self.optional_index()?;
        let before = self.at;
        self.skip_blanks();
        if !self.takes(":") {
            self.at = before;
            return match start {
                Some(index) => Ok(Selector::Index(index)),
                None => self.fail("an index is missing"),
            };
        }
        self.skip_blanks();
        let end = self.optional_index()?;
        let before = self.at;
        self.skip_blanks();
        let mut step = None;
        if self.takes(":") {
            let before = self.at;
            self.skip_blanks();
            step = self.optional_index()?;
            if step.is_none() {
                self.at = before;
            }
        } else {
            self.at = before;
        }
        Ok(Selector::Slice(Slice { start, end, step: step.unwrap_or(1) }))
    }

    fn optional_index(&mut self) -> Result<Option<i64>> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let count = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let length = rest.len() - digits.len() + count;
        if length == 0 {
            return Ok(None);
        }
        let text = rest.get(..length).unwrap_or_default();
        let has_leading_zero = digits.starts_with('0') && (count > 1 || text.starts_with('-'));
        let index = text.parse().ok().filter(|index: &i64| (-INDEX_MAX..=INDEX_MAX).contains(index));
        match index {
            Some(index) if !has_leading_zero => {
                self.at += length;
                Ok(Some(index))
            }
            _ => self.fail("an index is a whole number without leading zeros, below 2^53"),
        }
    }

    /// A string in quotes of either kind.
    fn string(&mut self) -> Result<String> {
        let Some(quote @ ('\'' | '"')) = self.peek() else { return self.fail("a string is missing") };
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.peek() else { return self.fail("a string does not end") };
            match next {
                '\\' => {
                    self.at += 1;
                    text.push(self.escaped(quote)?);
                    continue;
                }
                '\0'..='\x1F' => return self.fail("a string has a control character"),
                _ if next == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                _ => text.push(next),
            }
            self.at += next.len_utf8();
        }
    }

    /// The character that an escape stands for; its backslash is behind us.
    fn escaped(&mut self, quote: char) -> Result<char> {
        let Some(next) = self.peek() else { return self.fail("a string does not end") };
        let found = match next {
            'b' => '\u{8}',
            'f' => '\u{C}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '/' | '\\' => next,
            _ if next == quote => next,
            'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.fail("there is no such escape"),
        };
        self.at += 1;
        Ok(found)
    }

    fn unicode(&mut self) -> Result<char> {
        let unit = self.four_digits()?;
        let code = match unit {
            0xD800..0xDC00 => {
                let low = if self.takes("\\u") { self.four_digits()? } else { 0 };
                match low {
                    0xDC00..0xE000 => 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
                    _ => return self.fail("half of a pair of surrogates is missing"),
                }
            }
            unit => unit,
        };
        match char::from_u32(code) {
            Some(found) => Ok(found),
            None => self.fail("half of a pair of surrogates is missing"),
        }
    }

    fn four_digits(&mut self) -> Result<u32> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                self.at += 4;
                Ok(value)
            }
            None => self.fail("four hexadecimal digits are missing"),
        }
    }

    /// A condition: alternatives of conditions that all must hold.
    fn condition(&mut self) -> Result<Condition> {
        self.nested(|parser| {
            parser.list(
                "||",
                &mut |parser| parser.list("&&", &mut Self::basic, Condition::All),
                Condition::Any,
            )
        })
    }

    fn list(
        &mut self,
        separator: &str,
        part: &mut dyn FnMut(&mut Self) -> Result<Condition>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Result<Condition> {
        let first = part(self)?;
        let mut parts = vec![first];
        loop {
            let before = self.at;
            self.skip_blanks();
            if !self.takes(separator) {
                self.at = before;
                break;
            }
            self.skip_blanks();
            parts.push(part(self)?);
        }
        match <[Condition; 1]>::try_from(parts) {
            Ok([only]) => Ok(only),
            Err(parts) => Ok(join(parts)),
        }
    }

    fn basic(&mut self) -> Result<Condition> {
        if self.takes("!") {
            self.skip_blanks();
            let begin = self.at;
            let inner = if self.takes("(") { self.parenthesis()? } else { self.test()? };
            // `!@.a == 1` would look like the negation of both sides.
            if matches!(inner, Condition::Compare(..))
                && !self.text.get(begin..).unwrap_or_default().starts_with('(')
            {
                self.at = begin;
                return self.fail("a comparison is negated in parentheses");
            }
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.takes("(") {
            return self.parenthesis();
        }
        self.test()
    }

    fn parenthesis(&mut self) -> Result<Condition> {
        self.skip_blanks();
        let inner = self.condition()?;
        self.skip_blanks();
        self.expect(")", "a closing parenthesis is missing")?;
        Ok(inner)
    }

    /// A comparison, or something that is true or false by itself.
    fn test(&mut self) -> Result<Condition> {
        let begin = self.at;
        let left = self.argument()?;
        let before = self.at;
        self.skip_blanks();
        if self.takes("=~") {
            let text = Box::new(self.comparable(left, begin)?);
            self.skip_blanks();
            let begin = self.at;
            let pattern = self.argument()?;
            let pattern = Box::new(self.comparable(pattern, begin)?);
            return Ok(Condition::Matches { text, pattern, is_whole: false });
        }
        let Some(comparison) = self.comparison() else {
            self.at = before;
            return match left {
                Argument::Nodes(query) => Ok(Condition::Exists(query)),
                Argument::Condition(condition) => Ok(condition),
                Argument::Operand(Operand::Query(query)) => Ok(Condition::Exists(query)),
                Argument::Operand(_) => self.fail("a value alone is no condition"),
            };
        };
        let left = self.comparable(left, begin)?;
        self.skip_blanks();
        let begin = self.at;
        let right = self.argument()?;
        let right = self.comparable(right, begin)?;
        Ok(Condition::Compare(comparison, Box::new((left, right))))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let all = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        all.into_iter().find(|(token, _)| self.takes(token)).map(|(_, comparison)| comparison)
    }

    fn comparable(&mut self, argument: Argument, begin: usize) -> Result<Operand> {
        match argument {
            Argument::Operand(operand) => Ok(operand),
            Argument::Nodes(_) => {
                self.at = begin;
                self.fail("a path that may find several values cannot be compared")
            }
            Argument::Condition(_) => {
                self.at = begin;
                self.fail("what is true or false cannot be compared")
            }
        }
    }

    /// A literal, a path, or a call of a function.
    fn argument(&mut self) -> Result<Argument> {
        match self.peek() {
            Some('@' | '$') => {
                let is_relative = self.peek() == Some('@');
                self.at += 1;
                let query = self.nested(|parser| parser.query(is_relative))?;
                Ok(match query.is_singular() {
                    true => Argument::Operand(Operand::Query(query)),
                    false => Argument::Nodes(query),
                })
            }
            Some('\'' | '"') => {
                let text = self.string()?;
                Ok(literal(|out| packed::write_text(&text, out)))
            }
            Some('-' | '0'..='9') => self.number(),
            Some('a'..='z') => self.word(),
            _ => self.fail("a value or a path is missing"),
        }
    }

    fn number(&mut self) -> Result<Argument> {
        let rest = self.rest();
        let is_of_number = |c: char| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        let length = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
        let text = rest.get(..length).unwrap_or_default();
        let is_json = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
        let Some(number) = Number::parse(text).filter(|_| is_json) else {
            return self.fail("this is no number");
        };
        self.at += length;
        Ok(literal(|out| packed::write_number(&number, out)))
    }

    fn word(&mut self) -> Result<Argument> {
        let rest = self.rest();
        let is_of_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let begin = self.at;
        self.at += length;
        let word = rest.get(..length).unwrap_or_default();
        match word {
            "true" => return Ok(literal(|out| packed::write_truth(true, out))),
            "false" => return Ok(literal(|out| packed::write_truth(false, out))),
            "null" => return Ok(literal(packed::write_null)),
            _ => {}
        }
        if !self.takes("(") {
            self.at = begin;
            return self.fail("there is no such word");
        }
        let arguments = self.nested(Self::arguments)?;
        self.call(word, arguments, begin)
    }

    fn arguments(&mut self) -> Result<Vec<Argument>> {
        let mut arguments = Vec::new();
        self.skip_blanks();
        if self.takes(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument()?);
            self.skip_blanks();
            if self.takes(")") {
                return Ok(arguments);
            }
            self.expect(",", "a comma or a closing parenthesis is missing")?;
            self.skip_blanks();
        }
    }

    fn call(&mut self, name: &str, arguments: Vec<Argument>, begin: usize) -> Result<Argument> {
        let nodes = |argument: Argument| match argument {
            Argument::Nodes(query) | Argument::Operand(Operand::Query(query)) => Some(query),
            _ => None,
        };
        let value = |argument: Argument| match argument {
            Argument::Operand(operand) => Some(operand),
            _ => None,
        };
        let mut arguments = arguments.into_iter();
        let (first, second, third) = (arguments.next(), arguments.next(), arguments.next());
        let called = match (name, first, second, third) {
            ("length", Some(text), None, None) => {
                value(text).map(|text| Argument::Operand(Operand::Length(Box::new(text))))
            }
            ("count", Some(query), None, None) => {
                nodes(query).map(|query| Argument::Operand(Operand::Count(query)))
            }
            ("value", Some(query), None, None) => {
                nodes(query).map(|query| Argument::Operand(Operand::Value(query)))
            }
            ("match" | "search", Some(text), Some(pattern), None) => {
                value(text).zip(value(pattern)).map(|(text, pattern)| {
                    let (text, pattern) = (Box::new(text), Box::new(pattern));
                    Argument::Condition(Condition::Matches { text, pattern, is_whole: name == "match" })
                })
            }
            _ => None,
        };
        if called.is_none() {
            self.at = begin;
        }
        called.map_or_else(|| self.fail("there is no such function, or not with these arguments"), Ok)
    }
}

fn literal(write: impl FnOnce(&mut Vec<u8>)) -> Argument {
    let mut bytes = Vec::new();
    write(&mut bytes);
    Argument::Operand(Operand::Literal(Node::new(bytes)))
}
