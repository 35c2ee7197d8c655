//! Attributes behind a part: `=> { $weight: 2; $slop: 1; $inorder: true }`.

use super::ParseError;
use super::lexer::Kind;
use super::parser::Parser;
use super::tree::{Clause, Node};
use crate::number::{parse_f64, parse_i64};

/// Names and values as a query gives them.
pub(super) struct Pairs {
    pub pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Parser<'_> {
    /// `{…}`; the arrow is passed over already.
    pub fn attributes(&mut self) -> Result<Pairs, ParseError> {
        self.expect(Kind::OpenBrace)?;
        let mut pairs = Vec::new();
        while !self.take(Kind::CloseBrace) {
            if self.token.kind == Kind::Parameter {
                let name = self.advance().text.to_vec();
                self.expect(Kind::Colon)?;
                let value = self.value()?;
                self.count()?;
                pairs.push((name, value));
            }
            if self.token.kind != Kind::CloseBrace {
                self.expect(Kind::Semicolon)?;
            }
        }
        Ok(Pairs { pairs })
    }
}

impl Pairs {
    /// Gives the attributes to a part; to what stands in it, if the part only names fields.
    pub fn apply(self, node: &mut Node) -> Result<(), ParseError> {
        if let Clause::In(_, inner) = &mut node.clause {
            return self.apply(inner);
        }
        for (name, value) in self.pairs {
            let key = name.to_ascii_lowercase();
            let is_known = match key.as_slice() {
                b"slop" => {
                    node.attributes.slop = parse_i64(&value).filter(|&slop| slop >= -1);
                    node.attributes.slop.is_some()
                }
                b"inorder" => {
                    node.attributes.in_order = parse_truth(&value);
                    node.attributes.in_order.is_some()
                }
                b"phonetic" => {
                    node.attributes.phonetic = parse_truth(&value);
                    node.attributes.phonetic.is_some()
                }
                b"weight" => {
                    node.attributes.weight = parse_f64(&value).filter(|&weight| weight >= 0.0);
                    node.attributes.weight.is_some()
                }
                _ => match (&mut node.clause, key.as_slice()) {
                    (Clause::Near { .. }, b"yield_distance_as") => {
                        node.attributes.distance_name = Some(value.clone());
                        !value.is_empty()
                    }
                    (Clause::Near { options, .. }, b"epsilon") => {
                        options.push((name.clone(), value.clone()));
                        is_positive_number(&value)
                    }
                    _ => return Err(ParseError::new(&[b"Invalid attribute ", &name])),
                },
            };
            if !is_known {
                return Err(ParseError::new(&[b"Invalid value (", &value, b") for `", &name, b"`"]));
            }
        }
        Ok(())
    }
}

fn parse_truth(text: &[u8]) -> Option<bool> {
    match text.to_ascii_lowercase().as_slice() {
        b"true" | b"1" => Some(true),
        b"false" | b"0" => Some(false),
        _ => None,
    }
}

pub(super) fn is_positive_integer(text: &[u8]) -> bool {
    parse_i64(text).is_some_and(|value| value > 0)
}

pub(super) fn is_positive_number(text: &[u8]) -> bool {
    parse_f64(text).is_some_and(|value| value > 0.0)
}
