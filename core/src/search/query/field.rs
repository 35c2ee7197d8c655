//! Clauses of fields: `@field:…`, comparisons, `ismissing(@field)`.

use super::ParseError;
use super::lexer::{Comparison, Kind, Token, unescape};
use super::parser::{Parser, Part};
use super::tree::{Bound, Clause, GeoUnit, Node, Pattern};
use crate::search::schema::{Field, FieldId};

/// A field that a query names.
pub(super) type Named<'a> = Option<(FieldId, &'a Field)>;

/// What a number in brackets is for; it decides how the value of a parameter is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The first number in brackets.
    Lower,
    /// The second.
    Upper,
    /// A number that cannot be exclusive.
    Plain,
}

impl<'a> Parser<'a> {
    /// The field of a name. From dialect 2 on there must be one.
    pub fn find_field(&self, token: Token<'_>) -> Result<Named<'a>, ParseError> {
        let name = unescape(token.text);
        let found = self.context.schema.find(&name);
        if found.is_none() && !self.is_first_dialect() {
            return Err(self.error_at("Unknown field", Token { text: &name, ..token }));
        }
        Ok(found)
    }

    /// The field if it is of a type, by its name. Otherwise an error from dialect 2 on.
    pub fn of_type(
        &self,
        token: Token<'_>,
        named: Named<'a>,
        kind: &str,
    ) -> Result<Option<FieldId>, ParseError> {
        match named {
            Some((id, field)) if field.kind.name() == kind => Ok(Some(id)),
            _ if self.is_first_dialect() => Ok(None),
            _ => Err(self.error_at(&["Syntax error: expected a ", kind, " field"].concat(), token)),
        }
    }

    /// `@field…`
    pub fn field_clause(&mut self) -> Part {
        let token = self.token;
        let named = self.find_field(token)?;
        if !self.is_first_dialect()
            && let Some(comparison) = self.lexer.comparison()
        {
            let id = self.of_type(token, named, "NUMERIC")?;
            self.advance();
            return Ok(Some(self.comparison(id, comparison)?));
        }
        self.advance();
        let mut fields: Vec<FieldId> = Vec::new();
        let is_list = self.token.kind == Kind::Or;
        if is_list {
            fields.extend(self.of_type(token, named, "TEXT")?);
        }
        while self.take(Kind::Or) {
            let other = self.token;
            if !matches!(other.kind, Kind::Word | Kind::Number) {
                return Err(self.unexpected());
            }
            self.count()?;
            let id = self.of_type(other, self.find_field(other)?, "TEXT")?;
            fields.extend(id.filter(|id| !fields.contains(id)));
            self.advance();
        }
        self.expect(Kind::Colon)?;
        match self.token.kind {
            Kind::OpenBrace if !is_list => self.tags(token, named),
            Kind::OpenBracket if !is_list => self.brackets(token, named),
            _ => {
                if !is_list {
                    fields.extend(self.of_type(token, named, "TEXT")?);
                }
                self.in_fields(fields)
            }
        }
    }

    /// Words of text fields.
    fn in_fields(&mut self, fields: Vec<FieldId>) -> Part {
        let outer = core::mem::replace(&mut self.fields, fields);
        let was_text = core::mem::replace(&mut self.is_text, true);
        let node = self.operand(Kind::Field)?;
        let fields = core::mem::replace(&mut self.fields, outer);
        self.is_text = was_text;
        Ok(match node {
            Some(node) => Some(self.node(Clause::In(fields, Box::new(node)))?),
            None => None,
        })
    }

    /// `ismissing(@field)`
    pub fn missing(&mut self) -> Result<Node, ParseError> {
        self.advance();
        self.expect(Kind::Open)?;
        let token = self.expect(Kind::Field)?;
        self.expect(Kind::Close)?;
        match self.find_field(token)? {
            Some((id, field)) if field.has_missing => self.node(Clause::Missing(id)),
            _ => {
                let message = "'ismissing' requires defining the field with 'INDEXMISSING'";
                Err(self.error_at(message, token))
            }
        }
    }

    /// `{a | b c | "d" | e* | w'f*'}`
    fn tags(&mut self, token: Token<'_>, named: Named<'a>) -> Part {
        self.advance();
        let id = self.of_type(token, named, "TAG")?;
        let outer = core::mem::replace(&mut self.fields, id.into_iter().collect());
        let mut values = Vec::new();
        loop {
            values.push(self.tag()?);
            self.count()?;
            if !self.take(Kind::Or) {
                break;
            }
        }
        self.fields = outer;
        if self.is_first_dialect() {
            // Any number of braces ends a list there.
            while self.take(Kind::CloseBrace) {}
        } else {
            self.expect(Kind::CloseBrace)?;
        }
        match id {
            Some(id) => Ok(Some(self.node(Clause::Tag(id, values))?)),
            None => self.without_field(named),
        }
    }

    /// What dialect 1 makes of a clause whose field is not of its type, or unknown: nothing matches, or the clause is left out.
    fn without_field(&mut self, named: Named<'a>) -> Part {
        Ok(match named {
            Some(_) => Some(self.node(Clause::Nothing)?),
            None => None,
        })
    }

    fn tag(&mut self) -> Result<Pattern, ParseError> {
        let token = self.token;
        if matches!(token.kind, Kind::Prefix | Kind::Suffix | Kind::Infix | Kind::Wildcard) {
            self.advance();
            return self.affix(token);
        }
        let (mut text, mut count) = (Vec::new(), 0_usize);
        loop {
            let token = self.token;
            let word = match token.kind {
                Kind::Word | Kind::Number | Kind::Exact => unescape(token.text),
                Kind::Parameter if !self.is_first_dialect() => self.parameter(token.text)?.to_vec(),
                _ if count > 0 => break,
                _ => return Err(self.unexpected()),
            };
            self.advance();
            if count > 0 {
                text.push(b' ');
            }
            text.extend_from_slice(&word);
            count += 1;
        }
        self.check_empty(&text)?;
        Ok(Pattern::Word { text, is_verbatim: true })
    }

    /// `[…]`: a range of numbers, a circle, or vectors near one.
    fn brackets(&mut self, token: Token<'_>, named: Named<'a>) -> Part {
        self.advance();
        if self.token.kind == Kind::Word && !is_infinite(self.token.text) && !self.is_first_dialect() {
            return self.near(token, named);
        }
        let lower = self.number(Role::Lower)?;
        if self.token.kind == Kind::CloseBracket && !self.is_first_dialect() && !lower.is_exclusive {
            return self.range(token, named, lower, lower);
        }
        let upper = self.number(Role::Upper)?;
        if self.token.kind == Kind::CloseBracket {
            return self.range(token, named, lower, upper);
        }
        let radius = self.number(Role::Plain)?;
        self.circle(token, named, [lower, upper, radius])
    }

    fn range(&mut self, token: Token<'_>, named: Named<'a>, lower: Bound, upper: Bound) -> Part {
        self.advance();
        match self.of_type(token, named, "NUMERIC")? {
            Some(id) => Ok(Some(self.node(Clause::Number(id, lower, upper))?)),
            None => self.without_field(named),
        }
    }

    fn circle(&mut self, token: Token<'_>, named: Named<'a>, numbers: [Bound; 3]) -> Part {
        let name = match self.token.kind {
            Kind::Word => self.token.text,
            Kind::Parameter if !self.is_first_dialect() => self.parameter(self.token.text)?,
            _ => return Err(self.unexpected()),
        };
        self.advance();
        self.expect(Kind::CloseBracket)?;
        if numbers.iter().any(|number| number.is_exclusive) {
            return Err(self.error_at("Syntax error", token));
        }
        let id = self.of_type(token, named, "GEO")?;
        let [longitude, latitude, radius] = numbers.map(|number| number.value);
        let invalid = |what: &str| Err(ParseError::new(&[b"Invalid GeoFilter ", what.as_bytes()]));
        let Some(unit) = GeoUnit::find(name) else {
            return invalid("unit");
        };
        if !(-180.0..=180.0).contains(&longitude) || !(-90.0..=90.0).contains(&latitude) {
            return invalid("lat/lon");
        }
        if radius <= 0.0 {
            return invalid("radius");
        }
        let radius_m = radius * unit.metres();
        match id {
            Some(field) => Ok(Some(self.node(Clause::Geo { field, longitude, latitude, radius_m, unit })?)),
            None => self.without_field(named),
        }
    }

    /// `==5` and the like; the sign is passed over already.
    fn comparison(&mut self, id: Option<FieldId>, comparison: Comparison) -> Result<Node, ParseError> {
        let value = self.number(Role::Plain)?.value;
        let inclusive = Bound { value, is_exclusive: false };
        let exclusive = Bound { value, is_exclusive: true };
        let least = Bound { value: f64::NEG_INFINITY, is_exclusive: false };
        let greatest = Bound { value: f64::INFINITY, is_exclusive: false };
        let (from, to) = match comparison {
            Comparison::Equal | Comparison::NotEqual => (inclusive, inclusive),
            Comparison::Less => (least, exclusive),
            Comparison::LessOrEqual => (least, inclusive),
            Comparison::Greater => (exclusive, greatest),
            Comparison::GreaterOrEqual => (inclusive, greatest),
        };
        let clause = id.map_or(Clause::Nothing, |id| Clause::Number(id, from, to));
        let node = self.node(clause)?;
        if comparison == Comparison::NotEqual { self.node(Clause::Not(Box::new(node))) } else { Ok(node) }
    }

    /// A number, with `(` before it if it is a bound that is outside.
    pub fn number(&mut self, role: Role) -> Result<Bound, ParseError> {
        let (mut is_exclusive, mut is_negative) = (false, false);
        if role != Role::Plain {
            is_exclusive = self.take(Kind::Open);
        }
        while self.take(Kind::Minus) {
            is_negative = !is_negative;
        }
        let token = self.token;
        let value = match token.kind {
            Kind::Number | Kind::Word => parse(token.text),
            Kind::Parameter if !self.is_first_dialect() => {
                let mut text = self.parameter(token.text)?;
                if let ([b'(', rest @ ..], true) = (text, role != Role::Plain) {
                    is_exclusive = true;
                    text = rest;
                }
                Some(parse(text).ok_or_else(|| bad_number(token.text, text, role))?)
            }
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.unexpected());
        };
        self.advance();
        Ok(Bound { value: if is_negative { -value } else { value }, is_exclusive })
    }
}

/// What is said of the value of a parameter that is no number.
pub(super) fn bad_number(name: &[u8], value: &[u8], role: Role) -> ParseError {
    match role {
        Role::Lower => ParseError::new(&[b"Bad lower range: ", value]),
        Role::Upper => ParseError::new(&[b"Bad upper range: ", value]),
        Role::Plain => {
            ParseError::new(&[b"Invalid numeric value (", value, b") for parameter `", name, b"`"])
        }
    }
}

fn parse(text: &[u8]) -> Option<f64> {
    let value: f64 = core::str::from_utf8(text).ok()?.parse().ok()?;
    (!value.is_nan()).then_some(value)
}

fn is_infinite(text: &[u8]) -> bool {
    text.eq_ignore_ascii_case(b"inf")
}
