//! From pieces to a tree, by precedence: `||`, `&&`, `!`, comparisons (of which two cannot stand side by side), `+ -`, `* / %`, and `^`,
//! which binds to the right. `!a == b` is `!(a == b)`.

use super::super::value::{Message, Value, digits, message};
use super::functions::Function;
use super::lexer::{Lexer, Token};
use super::{DEPTH_MAX, Expression, MATCHED_TERMS, NODES_MAX, Node, Operator};

/// Operators, how strongly they bind, and whether they bind to the right.
const OPERATORS: [(&str, Operator, u8); 14] = [
    ("||", Operator::Or, 1),
    ("&&", Operator::And, 2),
    ("==", Operator::Equal, COMPARISON),
    ("!=", Operator::NotEqual, COMPARISON),
    ("<", Operator::Less, COMPARISON),
    ("<=", Operator::LessOrEqual, COMPARISON),
    (">", Operator::Greater, COMPARISON),
    (">=", Operator::GreaterOrEqual, COMPARISON),
    ("+", Operator::Add, 5),
    ("-", Operator::Subtract, 5),
    ("*", Operator::Multiply, 6),
    ("/", Operator::Divide, 6),
    ("%", Operator::Remainder, 6),
    ("^", Operator::Power, POWER),
];
const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const POWER: u8 = 7;

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The piece that comes next.
    token: Token,
    names: Vec<Vec<u8>>,
    nesting: usize,
    nodes: usize,
}

/// A part, and how deep it is.
type Part = (Node, usize);

pub(super) fn parse(text: &[u8]) -> Result<Expression, Message> {
    let mut parser =
        Parser { lexer: Lexer::new(text), token: Token::End, names: Vec::new(), nesting: 0, nodes: 0 };
    parser.step(true)?;
    let (root, _) = parser.expression(0)?;
    if parser.token != Token::End {
        return Err(parser.lexer.syntax_error());
    }
    Ok(Expression { root, names: parser.names })
}

impl Parser<'_> {
    fn step(&mut self, is_operand: bool) -> Result<Token, Message> {
        let next = self.lexer.next(is_operand)?;
        Ok(core::mem::replace(&mut self.token, next))
    }

    /// Takes this mark, or fails.
    fn expect(&mut self, mark: &'static str, is_operand_next: bool) -> Result<(), Message> {
        if self.token != Token::Mark(mark) {
            return Err(self.lexer.syntax_error());
        }
        self.step(is_operand_next).map(|_| ())
    }

    fn made(&mut self, node: Node, depth: usize) -> Result<Part, Message> {
        self.nodes += 1;
        if depth > DEPTH_MAX || self.nodes > NODES_MAX {
            return Err("Expression is too deep or too long".into());
        }
        Ok((node, depth))
    }

    /// An expression of operators that bind at least so strongly.
    fn expression(&mut self, least: u8) -> Result<Part, Message> {
        self.nesting += 1;
        if self.nesting > DEPTH_MAX {
            return Err("Expression is too deep or too long".into());
        }
        let mut left = self.operand()?;
        while let Token::Mark(mark) = self.token {
            let Some((_, operator, strength)) = OPERATORS.iter().find(|(name, ..)| *name == mark).copied()
            else {
                break;
            };
            if strength < least {
                break;
            }
            self.step(true)?;
            let right = self.expression(if strength == POWER { strength } else { strength + 1 })?;
            let depth = left.1.max(right.1) + 1;
            left = self.made(Node::Binary(operator, Box::new(left.0), Box::new(right.0)), depth)?;
            let is_comparison = |token: &Token| {
                OPERATORS.iter().any(|(name, _, at)| *at == COMPARISON && *token == Token::Mark(name))
            };
            if strength == COMPARISON && is_comparison(&self.token) {
                return Err(self.lexer.syntax_error());
            }
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Part, Message> {
        match &self.token {
            Token::Mark("(") => {
                self.step(true)?;
                let inner = self.expression(0)?;
                self.expect(")", false)?;
                return Ok(inner);
            }
            Token::Mark("!") => {
                self.step(true)?;
                let (inner, depth) = self.expression(NOT)?;
                return self.made(Node::Not(Box::new(inner)), depth + 1);
            }
            Token::Mark(_) | Token::End => return Err(self.lexer.syntax_error()),
            _ => {}
        }
        match self.step(false)? {
            Token::Number(number) => self.made(Node::Literal(Value::Number(number)), 1),
            Token::Text(text) => self.made(Node::Literal(Value::text(&text)), 1),
            Token::Property(name) => {
                let node = self.property(name);
                self.made(node, 1)
            }
            Token::Symbol(name) if self.token == Token::Mark("(") => self.call(&name),
            Token::Symbol(name) if name == b"NULL" => self.made(Node::Literal(Value::Null), 1),
            Token::Symbol(name) => Err(message(&[b"Unknown symbol '", &name, b"'"])),
            Token::Mark(_) | Token::End => Err(self.lexer.syntax_error()),
        }
    }

    fn property(&mut self, name: Vec<u8>) -> Node {
        let at = self.names.iter().position(|other| *other == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        Node::Property(at)
    }

    /// A call, whose name was read.
    fn call(&mut self, name: &[u8]) -> Result<Part, Message> {
        self.expect("(", true)?;
        let mut arguments = Vec::new();
        let mut depth = 0;
        while self.token != Token::Mark(")") {
            if !arguments.is_empty() {
                self.expect(",", true)?;
            }
            let (argument, deep) = self.expression(0)?;
            depth = depth.max(deep);
            arguments.push(argument);
        }
        self.expect(")", false)?;
        let Some((function, least, most)) = Function::find(name) else {
            return Err(message(&[b"Unknown function name '", name, b"'"]));
        };
        let count = arguments.len();
        if count < least || count > most {
            return Err(wrong_count(name, least, most, count));
        }
        if function == Function::MatchedTerms {
            let terms = self.property(MATCHED_TERMS.to_vec());
            arguments.insert(0, terms);
        }
        self.made(Node::Call(function, arguments), depth + 1)
    }
}

fn wrong_count(name: &[u8], least: usize, most: usize, count: usize) -> Message {
    // RediSearch says -1 where there is no greatest number.
    let most_text = if most == usize::MAX { b"-1".to_vec() } else { digits(most as u64) };
    let (least_text, count) = (digits(least as u64), digits(count as u64));
    let (between, and): (&[u8], &[u8]) = if least == most { (b"", b"") } else { (b"between ", b" and ") };
    let most_text = if least == most { &b""[..] } else { &most_text };
    let (start, middle, end): (&[u8], &[u8], &[u8]) = (b"Function '", b"' expects ", b" arguments, but got ");
    message(&[start, name, middle, between, &least_text, and, most_text, end, &count])
}
