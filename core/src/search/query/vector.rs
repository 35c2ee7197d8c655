//! Clauses of vectors: `=>[KNN …]` and `@field:[VECTOR_RANGE …]`.

use super::ParseError;
use super::attributes::{is_positive_integer, is_positive_number};
use super::field::{Named, Role, bad_number};
use super::lexer::{Kind, Token, unescape};
use super::parser::{Parser, Part};
use super::tree::{Clause, Nearest};
use crate::search::schema::{FieldId, FieldKind, VectorOptions};

impl<'a> Parser<'a> {
    fn vector_field(
        &self,
        token: Token<'_>,
        named: Named<'a>,
    ) -> Result<(FieldId, &'a VectorOptions), ParseError> {
        match named {
            Some((id, field)) if let FieldKind::Vector(options) = &field.kind => Ok((id, options)),
            _ => Err(self.error_at("Expected a VECTOR field", token)),
        }
    }

    /// The vector of a parameter, of the size that the field has.
    fn vector(&mut self, token: Token<'_>, options: &VectorOptions) -> Result<Vec<u8>, ParseError> {
        let vector = self.parameter(token.text)?;
        let expected = u64::from(options.dimension) * options.number.bytes() as u64;
        if vector.len() as u64 != expected {
            return Err(ParseError::new(&[
                b"Error parsing vector similarity query: query vector blob size (",
                vector.len().to_string().as_bytes(),
                b") does not match index's expected size (",
                expected.to_string().as_bytes(),
                b").",
            ]));
        }
        Ok(vector.to_vec())
    }

    /// `[VECTOR_RANGE radius $vector]`; the bracket is passed over already.
    pub fn near(&mut self, token: Token<'_>, named: Named<'a>) -> Part {
        let command = self.advance();
        if !command.text.eq_ignore_ascii_case(b"VECTOR_RANGE") {
            // `[WITHIN $shape]`: there are no such fields.
            return Err(match self.token.kind {
                Kind::Parameter => self.error_at("Expected a GEOSHAPE field", token),
                _ => self.error_at("Syntax error: expecting vector similarity range command", command),
            });
        }
        let radius = self.number(Role::Plain)?.value;
        let parameter = self.expect(Kind::Parameter)?;
        self.expect(Kind::CloseBracket)?;
        let (field, options) = self.vector_field(token, named)?;
        let vector = self.vector(parameter, options)?;
        if radius < 0.0 {
            return Err(ParseError::new(&[
                b"Error parsing vector similarity query: negative radius (",
                radius.to_string().as_bytes(),
                b") given in a range query",
            ]));
        }
        let parameter = parameter.text.to_vec();
        let near = Clause::Near { field, radius, vector, parameter, options: Vec::new() };
        Ok(Some(self.node(near)?))
    }

    /// `[KNN count @field $vector …] => {…}`
    pub fn nearest(&mut self, has_filter: bool) -> Result<Nearest, ParseError> {
        self.expect(Kind::OpenBracket)?;
        let command = self.expect(Kind::Word)?;
        let count = self.count_of_nearest()?;
        let token = self.expect(Kind::Field)?;
        let (field, options) = self.vector_field(token, self.find_field(token)?)?;
        if !command.text.eq_ignore_ascii_case(b"KNN") {
            return Err(self.error_at("Syntax error: Expecting Vector Similarity command", command));
        }
        let parameter = self.expect(Kind::Parameter)?;
        let vector = self.vector(parameter, options)?;
        let mut distance_name = [b"__", token.text, b"_score"].concat();
        let mut named = false;
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        while self.token.kind == Kind::Word && !named {
            let name = self.advance().text;
            named = name.eq_ignore_ascii_case(b"AS");
            let value = self.value()?;
            self.count()?;
            if named { distance_name = value } else { pairs.push((name.to_vec(), value)) }
        }
        self.expect(Kind::CloseBracket)?;
        if self.take(Kind::Arrow) {
            for (name, value) in self.attributes()?.pairs {
                if !name.eq_ignore_ascii_case(b"yield_distance_as") {
                    pairs.push((name, value));
                } else if named {
                    return Err(ParseError::new(&[
                        b"Distance field was specified twice for vector query: ",
                        &distance_name,
                        b" and ",
                        &value,
                    ]));
                } else {
                    distance_name = value;
                }
            }
        }
        let names_of_all = ["ef_runtime", "hybrid_policy", "batch_size", "epsilon", "shard_k_ratio"];
        for (name, value) in &pairs {
            let name = name.to_ascii_lowercase();
            if !names_of_all.iter().any(|other| other.as_bytes() == name) {
                return Err(ParseError::new(&[b"Invalid attribute ", &name]));
            }
            check_option(&name, value, options.is_hnsw, has_filter)?;
        }
        let parameter = parameter.text.to_vec();
        Ok(Nearest { count, field, vector, parameter, options: pairs, distance_name })
    }

    fn count_of_nearest(&mut self) -> Result<u64, ParseError> {
        let token = self.token;
        let text = match token.kind {
            Kind::Number => token.text,
            Kind::Parameter => self.parameter(token.text)?,
            _ => return Err(self.unexpected()),
        };
        let Some(count) = crate::number::parse_u64(text) else {
            return Err(match token.kind {
                Kind::Number => self.unexpected(),
                _ => bad_number(token.text, text, Role::Plain),
            });
        };
        self.advance();
        Ok(count)
    }

    /// A word, a number, or the value of a parameter.
    pub fn value(&mut self) -> Result<Vec<u8>, ParseError> {
        let value = match self.token.kind {
            Kind::Word | Kind::Number | Kind::Exact => unescape(self.token.text),
            Kind::Parameter if !self.is_first_dialect() => self.parameter(self.token.text)?.to_vec(),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(value)
    }
}

/// Refuses what RediSearch refuses of the options of a search for the nearest. The name is in lower case.
fn check_option(name: &[u8], value: &[u8], is_hnsw: bool, has_filter: bool) -> Result<(), ParseError> {
    let is_hybrid = name == b"hybrid_policy" || name == b"batch_size";
    let problem = match name {
        b"ef_runtime" if !is_hnsw => "Invalid option",
        b"epsilon" => "range query attributes were sent for a non-range query",
        _ if is_hybrid && !has_filter => "hybrid query attributes were sent for a non-hybrid query",
        b"ef_runtime" | b"batch_size" if !is_positive_integer(value) => "Invalid value was given",
        b"shard_k_ratio" if !is_positive_number(value) => "Invalid value was given",
        b"hybrid_policy"
            if !value.eq_ignore_ascii_case(b"BATCHES") && !value.eq_ignore_ascii_case(b"ADHOC_BF") =>
        {
            "invalid hybrid policy was given"
        }
        _ => return Ok(()),
    };
    Err(ParseError::new(&[b"Error parsing vector similarity parameters: ", problem.as_bytes()]))
}
