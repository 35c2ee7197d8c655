//! The grammar of expressions.
//!
//! Dialects 2 to 4: `|` binds less than a sequence; `-`, `~` and `@field:` take the part behind them, and what [`Parser::is_sticky`] says.
//! Dialect 1: `|` binds more than a sequence, but less than a run of plain words; `-` and `~` take nearly all that follows.

use super::lexer::{Kind, Lexer, Token};
use super::tree::{Clause, Node, Query};
use super::{Context, DEPTH_MAX, NODES_MAX, PARAMETERS_MAX_BYTES, ParseError};
use crate::search::schema::FieldId;
use crate::sorted;

/// A part, or None of stop words alone: a sequence or alternatives go on without it.
pub(super) type Part = Result<Option<Node>, ParseError>;

pub(super) struct Parser<'a> {
    pub context: &'a Context<'a>,
    pub lexer: Lexer<'a>,
    /// The token to look at.
    pub token: Token<'a>,
    /// By name.
    parameters: Vec<(&'a [u8], &'a [u8])>,
    parameters_bytes: usize,
    depth: usize,
    nodes: usize,
    /// Parts outside of parentheses: `=>[KNN …]` stands behind a single one.
    parts: usize,
    /// Whether only words may come, since a field is named around them.
    pub is_text: bool,
    /// The fields that are named around.
    pub fields: Vec<FieldId>,
    /// Whether the last part was without fields.
    was_text: bool,
    /// Whether attributes stood behind the last part.
    had_attributes: bool,
    /// Whether a minus stands before what comes.
    pub is_negated: bool,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a [u8], context: &'a Context<'a>) -> Parser<'a> {
        let mut lexer = Lexer::new(text, context.dialect, context.schema.analyzer);
        let token = lexer.next();
        let mut parameters = context.parameters.to_vec();
        sorted::plainly(&mut parameters);
        Parser {
            context,
            lexer,
            token,
            parameters,
            parameters_bytes: 0,
            depth: 0,
            nodes: 0,
            parts: 0,
            is_text: false,
            fields: Vec::new(),
            was_text: false,
            had_attributes: false,
            is_negated: false,
        }
    }

    pub fn is_first_dialect(&self) -> bool {
        self.context.dialect < 2
    }

    // Called from everywhere; inlined, this, `expect` and `node` would cost the edge module 2 kB.
    #[inline(never)]
    pub fn advance(&mut self) -> Token<'a> {
        core::mem::replace(&mut self.token, self.lexer.next())
    }

    /// Passes over a token of this kind, if it is next.
    pub fn take(&mut self, kind: Kind) -> bool {
        let is_next = self.token.kind == kind;
        if is_next {
            self.advance();
        }
        is_next
    }

    #[inline(never)]
    pub fn expect(&mut self, kind: Kind) -> Result<Token<'a>, ParseError> {
        if self.token.kind == kind { Ok(self.advance()) } else { Err(self.unexpected()) }
    }

    /// The kind of the token after the next.
    pub fn second(&self) -> Kind {
        self.lexer.clone().next().kind
    }

    pub fn unexpected(&self) -> ParseError {
        self.error_at("Syntax error", self.token)
    }

    pub fn error_at(&self, message: &str, token: Token<'_>) -> ParseError {
        let at = token.at.to_string();
        ParseError::new(&[message.as_bytes(), b" at offset ", at.as_bytes(), b" near ", token.text])
    }

    /// Makes a part and counts it, so that there is an end to them.
    #[inline(never)]
    pub fn node(&mut self, clause: Clause) -> Result<Node, ParseError> {
        self.count()?;
        Ok(clause.into())
    }

    pub fn count(&mut self) -> Result<(), ParseError> {
        self.nodes += 1;
        if self.nodes > NODES_MAX { Err(too_large(NODES_MAX, " parts")) } else { Ok(()) }
    }

    /// Runs one level deeper.
    pub fn nested<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth >= DEPTH_MAX {
            let text = "Parser stack overflow. Try moving nested parentheses more to the left";
            return Err(ParseError::new(&[text.as_bytes()]));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// The value of a parameter.
    pub fn parameter(&mut self, name: &[u8]) -> Result<&'a [u8], ParseError> {
        let found = self.parameters.binary_search_by(|(other, _)| (*other).cmp(name));
        let Some((_, value)) = found.ok().and_then(|at| self.parameters.get(at)) else {
            return Err(ParseError::new(&[b"No such parameter `", name, b"`"]));
        };
        self.parameters_bytes = self.parameters_bytes.saturating_add(value.len());
        if self.parameters_bytes > PARAMETERS_MAX_BYTES {
            return Err(too_large(PARAMETERS_MAX_BYTES, " bytes of parameters"));
        }
        Ok(value)
    }

    pub fn query(mut self) -> Result<Query, ParseError> {
        let root = if self.is_star() {
            Some(self.node(Clause::All)?)
        } else if self.token.kind == Kind::End {
            None
        } else {
            self.expression()?
        };
        if self.token.kind == Kind::End {
            return Ok(Query { root: root.unwrap_or(Clause::Nothing.into()), nearest: None });
        }
        if self.token.kind != Kind::Arrow || self.is_first_dialect() || self.parts > 1 {
            return Err(self.unexpected());
        }
        self.advance();
        let has_filter = root.as_ref().is_some_and(|root| root.clause != Clause::All);
        let nearest = Some(self.nearest(has_filter)?);
        if self.token.kind != Kind::End {
            return Err(self.unexpected());
        }
        Ok(Query { root: root.unwrap_or(Clause::All.into()), nearest })
    }

    /// `*` alone, also `((*))`; it is passed over if it is there.
    fn is_star(&mut self) -> bool {
        let (mut lexer, mut token, mut open) = (self.lexer.clone(), self.token, 0_usize);
        while token.kind == Kind::Open && !self.is_first_dialect() && open < DEPTH_MAX {
            open += 1;
            token = lexer.next();
        }
        if token.kind != Kind::Star {
            return false;
        }
        token = lexer.next();
        while open > 0 && token.kind == Kind::Close {
            open -= 1;
            token = lexer.next();
        }
        if open > 0 {
            return false;
        }
        (self.lexer, self.token) = (lexer, token);
        true
    }

    /// A sequence in dialect 1. Alternatives of sequences in the others.
    ///
    /// After three alternatives or more without fields, a field makes the alternatives a part of a sequence: `a|b|c @tags:{d}` is
    /// `(a|b|c) @tags:{d}`, but `a|b @tags:{d}` is `a|(b @tags:{d})`. RediSearch's tables do so by their states, not by a rule.
    fn expression(&mut self) -> Part {
        if self.is_first_dialect() {
            return self.sequence(&[]);
        }
        let (mut left, mut count, mut is_text) = (None, 0, true);
        loop {
            let closes = count >= 2 && is_text;
            let mut right = self.part()?;
            let mut is_right_text = self.was_text;
            while self.starts_part() && !(closes && is_right_text && self.starts_field()) {
                let next = self.part()?;
                is_right_text &= self.was_text;
                right = self.both(right, next)?;
            }
            left = self.either(left, right)?;
            (count, is_text) = (count + 1, is_text && is_right_text);
            if closes && is_text && self.starts_field() {
                while self.starts_part() {
                    let next = self.part()?;
                    left = self.both(left, next)?;
                }
                (count, is_text) = (1, false);
            }
            if !self.take(Kind::Or) {
                self.was_text = is_text;
                return Ok(left);
            }
        }
    }

    fn starts_field(&self) -> bool {
        self.token.kind == Kind::Field || (self.token.kind == Kind::Word && self.is_missing())
    }

    /// Alternatives that must all match, as far as parts come that do not start with one of these tokens: dialect 1.
    fn sequence(&mut self, stops: &[Kind]) -> Part {
        let mut left = self.alternatives()?;
        while self.starts_part() && !stops.contains(&self.token.kind) {
            let right = self.alternatives()?;
            left = self.both(left, right)?;
        }
        Ok(left)
    }

    /// Parts with `|` between them: dialect 1.
    fn alternatives(&mut self) -> Part {
        let mut left = self.part()?;
        while self.take(Kind::Or) {
            let right = self.part()?;
            left = self.either(left, right)?;
        }
        Ok(left)
    }

    fn starts_part(&self) -> bool {
        match self.token.kind {
            Kind::Open | Kind::Minus | Kind::Tilde | Kind::Field => true,
            Kind::Word | Kind::Exact | Kind::Number => true,
            Kind::Quote => self.is_first_dialect(),
            _ => self.is_sticky(),
        }
    }

    /// Whether a sign or a field before the last part takes the next one, too, as in `-a b*` and `@title:a 5`: in RediSearch's table
    /// these tokens bind more than the signs do. No rule was meant by that, but it decides what is found.
    fn is_sticky(&self) -> bool {
        match self.token.kind {
            Kind::Prefix | Kind::Suffix | Kind::Infix | Kind::Percent | Kind::Number => true,
            Kind::Parameter | Kind::Wildcard => !self.is_first_dialect(),
            _ => false,
        }
    }

    pub fn both(&mut self, left: Option<Node>, right: Option<Node>) -> Part {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return Ok(left.or(right)),
        };
        match left {
            Node { clause: Clause::And(mut parts), attributes } if attributes == Default::default() => {
                parts.push(right);
                Ok(Some(Clause::And(parts).into()))
            }
            left => Ok(Some(self.node(Clause::And(vec![left, right]))?)),
        }
    }

    fn either(&mut self, left: Option<Node>, right: Option<Node>) -> Part {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return Ok(left.or(right)),
        };
        match left {
            Node { clause: Clause::Or(mut parts), attributes } if attributes == Default::default() => {
                parts.push(right);
                Ok(Some(Clause::Or(parts).into()))
            }
            left => Ok(Some(self.node(Clause::Or(vec![left, right]))?)),
        }
    }

    /// What a sign or a field applies to.
    pub fn operand(&mut self, sign: Kind) -> Part {
        if self.is_first_dialect() {
            return match sign {
                Kind::Minus => self.sequence(&[Kind::Quote, Kind::Minus, Kind::Tilde]),
                Kind::Tilde => self.sequence(&[Kind::Tilde]),
                _ => self.alternatives(),
            };
        }
        let mut left = self.part()?;
        let mut is_text = self.was_text;
        // Attributes end what a field takes, but not what a sign takes.
        let is_over = sign == Kind::Field && self.had_attributes;
        while self.is_sticky() && !is_over {
            let right = self.part()?;
            is_text &= self.was_text;
            left = self.both(left, right)?;
        }
        self.was_text = is_text;
        Ok(left)
    }

    fn part(&mut self) -> Part {
        self.parts += usize::from(self.depth == 0);
        let mut node = match self.token.kind {
            Kind::Open => {
                self.advance();
                let node = self.nested(Self::expression)?;
                self.expect(Kind::Close)?;
                node
            }
            sign @ (Kind::Minus | Kind::Tilde) => {
                self.advance();
                // Not a level for KNN: `-a=>[KNN …]` is refused.
                self.parts += usize::from(self.depth == 0);
                let was_negated = std::mem::replace(&mut self.is_negated, sign == Kind::Minus);
                let node = self.nested(|parser| parser.operand(sign))?;
                self.is_negated = was_negated;
                let make = if sign == Kind::Minus { Clause::Not } else { Clause::Optional };
                match node {
                    Some(node) => Some(self.node(make(Box::new(node)))?),
                    None => None,
                }
            }
            Kind::Field if !self.is_text || self.is_first_dialect() => {
                let node = self.nested(Self::field_clause)?;
                self.was_text = false;
                node
            }
            Kind::Word if self.is_missing() => {
                self.was_text = false;
                Some(self.missing()?)
            }
            _ => {
                self.was_text = true;
                self.text()?
            }
        };
        self.had_attributes = false;
        while self.token.kind == Kind::Arrow && self.second() != Kind::OpenBracket {
            self.advance();
            let attributes = self.attributes()?;
            self.had_attributes = true;
            if let Some(node) = &mut node {
                attributes.apply(node)?;
            }
        }
        Ok(node)
    }

    /// Whether `ismissing(` comes.
    fn is_missing(&self) -> bool {
        !self.is_first_dialect()
            && !self.is_text
            && self.token.text.eq_ignore_ascii_case(b"ismissing")
            && self.second() == Kind::Open
    }
}

fn too_large(most: usize, of_what: &str) -> ParseError {
    let most = most.to_string();
    ParseError::new(&[b"Query has more than ", most.as_bytes(), of_what.as_bytes()])
}
