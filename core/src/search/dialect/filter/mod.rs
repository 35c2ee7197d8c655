//! Conditions: `genre = drama AND (year > 1990 OR rating 7 TO 9)`, as a text or as arrays of texts.
//!
//! ```text
//!  or         = and ("OR" and)*
//!  and        = not ("AND" not)*
//!  not        = "NOT" not | "(" or ")" | condition
//!  condition  = word ("=" | "!=" | ">" | ">=" | "<" | "<=") word | word word "TO" word
//!             | word ["NOT"] "IN" "[" word, … "]" | word ["NOT"] "EXISTS" | word "IS" ["NOT"] ("NULL" | "EMPTY")
//!             | "_geoRadius(" latitude, longitude, metres ")" | "_geoBoundingBox([" latitude, longitude "], [" latitude, longitude "])"
//!  word       = letters, digits, _ - / . | 'text' | "text"
//! ```
//!
//! In arrays, the elements of the outer one all hold, and of an inner one at least one does.
//!
//! Differences to Meilisearch: `>` and its like compare numbers only; an object's members are attributes of their own, so `a.b` is to be
//! filterable itself; CONTAINS, STARTS WITH and polygons are refused, as Meilisearch does unless experiments are switched on.

mod parser;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::fault::Fault;
use super::settings::{FACTS, Filterable, GEO, number_field, tag_field};
use super::shape;
use crate::search::query::tree::{Bound, Clause, GeoUnit, Node, Pattern};
use crate::search::schema::{FieldId, FieldKind, Schema};

/// A filter has so many conditions at most, values of lists included: each becomes a part of the query.
const CONDITIONS_MAX: usize = 10_000;

/// Parentheses and NOT stand in each other so deep at most: each takes some calls of the parser, and of whatever walks the query.
const DEPTH_MAX: usize = 48;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All of them hold.
    And(Vec<Filter>),
    /// At least one holds.
    Or(Vec<Filter>),
    /// It does not hold.
    Not(Box<Filter>),
    /// Something about an attribute.
    Is {
        /// The attribute.
        attribute: String,
        /// What.
        test: Test,
    },
    /// The position is so near.
    Radius {
        /// Latitude and longitude in degrees.
        center: (f64, f64),
        /// Metres.
        radius_m: f64,
    },
    /// The position is in a box.
    Box {
        /// Latitude and longitude of the north-east corner in degrees.
        top_right: (f64, f64),
        /// The same of the south-west corner.
        bottom_left: (f64, f64),
    },
}

/// What is said of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It has one of these values.
    In(Vec<String>),
    /// It has a number between these.
    Range(Bound, Bound),
    /// It is there.
    Exists,
    /// It is null.
    Null,
    /// It is an empty string, array or object.
    Empty,
}

impl Filter {
    /// Reads the member `filter` of a request; None if it says nothing.
    ///
    /// # Errors
    /// It is no filter.
    pub fn read(value: &Value, code: &'static str) -> Result<Option<Filter>, Fault> {
        let mut budget = CONDITIONS_MAX;
        match value {
            Value::Null => Ok(None),
            Value::String(text) => parser::parse(text, code, &mut budget),
            Value::Array(items) => {
                let mut all = Vec::new();
                for item in items {
                    match item {
                        Value::String(text) => all.extend(parser::parse(text, code, &mut budget)?),
                        Value::Array(inner) => {
                            let mut any = Vec::new();
                            for item in inner {
                                let Value::String(text) = item else {
                                    return Err(wrong(item, "String", code));
                                };
                                any.extend(parser::parse(text, code, &mut budget)?);
                            }
                            all.extend(join(any, Filter::Or));
                        }
                        other => return Err(wrong(other, "String, [String]", code)),
                    }
                }
                Ok(join(all, Filter::And))
            }
            other => Err(wrong(other, "String, Array", code)),
        }
    }

    /// The filter as a part of a query.
    ///
    /// # Errors
    /// It names an attribute that is not filterable, or not so.
    pub fn node(
        &self,
        schema: &Schema,
        filterable: &[Filterable],
        code: &'static str,
    ) -> Result<Node, Fault> {
        Translation { schema, filterable, code }.node(self)
    }
}

fn wrong(value: &Value, expected: &str, code: &'static str) -> Fault {
    let shown = value.to_string();
    Fault::new(
        code,
        [
            "Invalid syntax for the filter parameter: `expected ",
            expected,
            ", found: ",
            shape::shorten(&shown),
            "`.",
        ]
        .concat(),
    )
}

/// One of several, or the only one.
fn join(mut parts: Vec<Filter>, with: fn(Vec<Filter>) -> Filter) -> Option<Filter> {
    if parts.len() > 1 { Some(with(parts)) } else { parts.pop() }
}

struct Translation<'a> {
    schema: &'a Schema,
    filterable: &'a [Filterable],
    code: &'static str,
}

impl Translation<'_> {
    /// The depth of a filter is bounded by [`DEPTH_MAX`].
    fn node(&self, filter: &Filter) -> Result<Node, Fault> {
        let nodes = |filters: &[Filter]| {
            filters.iter().map(|filter| self.node(filter)).collect::<Result<Vec<_>, _>>()
        };
        let clause = match filter {
            Filter::And(parts) => Clause::And(nodes(parts)?),
            Filter::Or(parts) => Clause::Or(nodes(parts)?),
            Filter::Not(part) => Clause::Not(Box::new(self.node(part)?)),
            Filter::Is { attribute, test } => self.test(attribute, test)?,
            Filter::Radius { center: (latitude, longitude), radius_m } => {
                self.check("_geo")?;
                match self.schema.find(GEO.as_bytes()) {
                    Some((field, _)) => Clause::Geo {
                        field,
                        longitude: *longitude,
                        latitude: *latitude,
                        radius_m: *radius_m,
                        unit: GeoUnit::Metre,
                    },
                    None => Clause::Nothing,
                }
            }
            Filter::Box { top_right: (north, east), bottom_left: (south, west) } => {
                self.check("_geo")?;
                let latitude = self.range("_geo.lat", *south, *north);
                let longitude = if west <= east {
                    self.range("_geo.lng", *west, *east)
                } else {
                    // The box lies over the line from which longitudes count both ways.
                    Clause::Or(vec![
                        self.range("_geo.lng", *west, 180.0).into(),
                        self.range("_geo.lng", -180.0, *east).into(),
                    ])
                };
                Clause::And(vec![latitude.into(), longitude.into()])
            }
        };
        Ok(clause.into())
    }

    fn range(&self, attribute: &str, from: f64, to: f64) -> Clause {
        let bound = |value| Bound { value, is_exclusive: false };
        self.number(attribute).map_or(Clause::Nothing, |field| Clause::Number(field, bound(from), bound(to)))
    }

    fn test(&self, attribute: &str, test: &Test) -> Result<Clause, Fault> {
        let known = self.check(attribute)?;
        let is_allowed = match test {
            Test::In(_) => known.has_equality,
            Test::Range(..) => known.has_comparison,
            Test::Exists | Test::Null | Test::Empty => true,
        };
        if !is_allowed {
            let what = if matches!(test, Test::In(_)) { "equality" } else { "comparison" };
            let attribute = shape::shorten(attribute);
            let message = ["The settings of attribute `", attribute, "` do not allow filters by ", what, "."];
            return Err(Fault::new(self.code, message.concat()));
        }
        Ok(match test {
            Test::In(values) => self.values(attribute, values),
            Test::Range(from, to) => {
                self.number(attribute).map_or(Clause::Nothing, |field| Clause::Number(field, *from, *to))
            }
            Test::Exists => self.fact("e:", attribute),
            Test::Null => self.fact("n:", attribute),
            Test::Empty => self.fact("z:", attribute),
        })
    }

    /// A value is a text among the tags, and one that is a number is looked for among the numbers, too. All numbers of a list are one walk
    /// through those of the documents.
    fn values(&self, attribute: &str, values: &[String]) -> Clause {
        let mut any: Vec<Node> = Vec::new();
        if let Some((field, _)) = self.schema.find(tag_field(attribute).as_bytes()) {
            let words = values.iter().map(|value| word(value.trim()));
            any.push(Clause::Tag(field, words.collect()).into());
        }
        let numbers = values.iter().filter_map(|value| parser::number(value));
        any.extend(numbers.map(|number| self.range(attribute, number, number).into()));
        match any.pop() {
            None => Clause::Nothing,
            Some(only) if any.is_empty() => only.clause,
            Some(last) => {
                any.push(last);
                Clause::Or(any)
            }
        }
    }

    fn fact(&self, kind: &str, attribute: &str) -> Clause {
        let word = word(&[kind, attribute].concat());
        self.schema
            .find(FACTS.as_bytes())
            .map_or(Clause::Nothing, |(field, _)| Clause::Tag(field, vec![word]))
    }

    fn number(&self, attribute: &str) -> Option<FieldId> {
        let (id, field) = self.schema.find(number_field(attribute).as_bytes())?;
        (field.kind == FieldKind::Numeric).then_some(id)
    }

    fn check(&self, attribute: &str) -> Result<&Filterable, Fault> {
        if let Some(known) = self.filterable.iter().find(|other| other.attribute == attribute) {
            return Ok(known);
        }
        let names: Vec<&str> = self.filterable.iter().map(|other| other.attribute.as_str()).collect();
        let known = if self.filterable.is_empty() {
            "This index does not have configured filterable attributes.".to_owned()
        } else {
            ["Available filterable attribute patterns are: `", &names.join(", "), "`."].concat()
        };
        Err(Fault::new(
            self.code,
            ["Attribute `", shape::shorten(attribute), "` is not filterable. ", &known].concat(),
        ))
    }
}

fn word(text: &str) -> Pattern {
    Pattern::Word { text: text.as_bytes().to_vec(), is_verbatim: true }
}
