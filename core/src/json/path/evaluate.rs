//! Which parts of a document a path finds.

use std::rc::Rc;

use super::pattern::Patterns;
use super::tree::{Comparison, Condition, Operand, Query, Segment, Selector, Slice};
use crate::json::node::{Node, Pieces, Step, Stopped};
use crate::json::number::Number;
use crate::json::packed::Shape;

/// Why a path was not followed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A piece cannot be read.
    Stopped(Stopped),
    /// It looks at more values than one may.
    TooMuch,
}

impl From<Stopped> for Ended {
    fn from(stopped: Stopped) -> Ended {
        Ended::Stopped(stopped)
    }
}

type Result<T> = std::result::Result<T, Ended>;

/// A value that a path has found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The value.
    pub node: Node,
    /// Where it stands.
    pub place: Place,
}

/// The way from the whole document to a value. Clones share what they have in common.
#[derive(Clone, Debug, Default)]
pub struct Place(Option<Rc<(Place, Step)>>);

impl Place {
    fn with(&self, step: Step) -> Place {
        Place(Some(Rc::new((self.clone(), step))))
    }

    /// Its steps, from the whole document on.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut place = self;
        while let Some(inner) = &place.0 {
            steps.push(inner.1.clone());
            place = &inner.0;
        }
        steps.reverse();
        steps
    }
}

/// What a path finds in a document, in the order of RFC 9535; a value may be found more than once. `work` is how many values may be
/// looked at; it is counted down.
///
/// # Errors
/// A piece cannot be read, or there is too much to look at.
pub fn find(query: &Query, document: &Node, pieces: &mut dyn Pieces, work: &mut u64) -> Result<Vec<Found>> {
    let mut run = Run { document, pieces, work, patterns: Patterns::default() };
    run.query(query, document)
}

struct Run<'r> {
    document: &'r Node,
    pieces: &'r mut dyn Pieces,
    work: &'r mut u64,
    patterns: Patterns,
}

/// What an operand is worth; None for nothing.
type Worth = Option<Node>;

impl Run<'_> {
    fn count(&mut self, values: u64) -> Result<()> {
        *self.work = self.work.checked_sub(values).ok_or(Ended::TooMuch)?;
        Ok(())
    }

    fn query(&mut self, query: &Query, current: &Node) -> Result<Vec<Found>> {
        let node = if query.is_relative { current } else { self.document };
        let mut found = vec![Found { node: node.clone(), place: Place::default() }];
        for segment in &query.segments {
            let mut next = Vec::new();
            for from in &found {
                self.segment(segment, from, &mut next)?;
            }
            found = next;
        }
        Ok(found)
    }

    fn segment(&mut self, segment: &Segment, from: &Found, into: &mut Vec<Found>) -> Result<()> {
        if !segment.is_descendant {
            return segment.selectors.iter().try_for_each(|selector| self.select(selector, from, into));
        }
        // A value comes before those below it. The stack holds what is yet to come, the next one last.
        let mut open = vec![from.clone()];
        while let Some(from) = open.pop() {
            for selector in &segment.selectors {
                self.select(selector, &from, into)?;
            }
            let before = open.len();
            self.parts(&from, &mut open)?;
            if let Some(added) = open.get_mut(before..) {
                added.reverse();
            }
        }
        Ok(())
    }

    fn parts(&mut self, from: &Found, into: &mut Vec<Found>) -> Result<()> {
        let parts = from.node.count(self.pieces)?.unwrap_or(0);
        self.count(1 + parts)?;
        let parts = from.node.parts(self.pieces)?;
        into.extend(parts.into_iter().map(|(step, node)| Found { node, place: from.place.with(step) }));
        Ok(())
    }

    fn select(&mut self, selector: &Selector, from: &Found, into: &mut Vec<Found>) -> Result<()> {
        self.count(1)?;
        match selector {
            Selector::Name(name) => {
                let found = from.node.member(name, self.pieces)?;
                let place = || from.place.with(Step::Name(name.clone()));
                into.extend(found.map(|node| Found { node, place: place() }));
            }
            Selector::Index(index) => {
                let found = from.node.element(*index, self.pieces)?;
                let found =
                    found.map(|(index, node)| Found { node, place: from.place.with(Step::Index(index)) });
                into.extend(found);
            }
            Selector::Wildcard => self.parts(from, into)?,
            Selector::Slice(slice) => self.slice(*slice, from, into)?,
            Selector::Filter(condition) => {
                let mut parts = Vec::new();
                self.parts(from, &mut parts)?;
                for part in parts {
                    if self.holds(condition, &part.node)? {
                        into.push(part);
                    }
                }
            }
        }
        Ok(())
    }

    fn slice(&mut self, slice: Slice, from: &Found, into: &mut Vec<Found>) -> Result<()> {
        let shape = from.node.kind(self.pieces)?;
        if slice.step == 0 || shape != crate::json::node::Type::Array {
            return Ok(());
        }
        let count = from.node.count(self.pieces)?.unwrap_or(0);
        let indexes = indexes(slice, i64::try_from(count).unwrap_or(i64::MAX));
        // A large part of an array is read at once.
        let wanted = indexes.clone().take(SINGLE_ELEMENTS_MAX + 1).count();
        if wanted <= SINGLE_ELEMENTS_MAX {
            for index in indexes {
                self.select(&Selector::Index(index), from, into)?;
            }
            return Ok(());
        }
        let mut parts = Vec::new();
        self.parts(from, &mut parts)?;
        let part = |index: i64| usize::try_from(index).ok().and_then(|index| parts.get(index).cloned());
        into.extend(indexes.filter_map(part));
        Ok(())
    }

    fn holds(&mut self, condition: &Condition, current: &Node) -> Result<bool> {
        match condition {
            Condition::Any(conditions) => {
                for condition in conditions {
                    if self.holds(condition, current)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::All(conditions) => {
                for condition in conditions {
                    if !self.holds(condition, current)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Not(condition) => Ok(!self.holds(condition, current)?),
            Condition::Exists(query) => Ok(!self.query(query, current)?.is_empty()),
            Condition::Compare(comparison, sides) => {
                let (left, right) = (self.worth(&sides.0, current)?, self.worth(&sides.1, current)?);
                self.compare(*comparison, left.as_ref(), right.as_ref())
            }
            Condition::Matches { text, pattern, is_whole } => {
                let (text, pattern) = (self.worth(text, current)?, self.worth(pattern, current)?);
                let (Some(text), Some(pattern)) = (text, pattern) else { return Ok(false) };
                let (Shape::Text(text), Shape::Text(pattern)) =
                    (text.shape(self.pieces)?, pattern.shape(self.pieces)?)
                else {
                    return Ok(false);
                };
                self.patterns.is_match(pattern, *is_whole, text, self.work).ok_or(Ended::TooMuch)
            }
        }
    }

    fn worth(&mut self, operand: &Operand, current: &Node) -> Result<Worth> {
        let number = |count: u64| {
            let mut bytes = Vec::new();
            let number = i64::try_from(count).map_or(Number::Uint(count), Number::Int);
            crate::json::packed::write_number(&number, &mut bytes);
            Node::new(bytes)
        };
        let found = match operand {
            Operand::Literal(node) => Some(node.clone()),
            Operand::Query(query) => self.query(query, current)?.pop().map(|found| found.node),
            Operand::Value(query) => {
                let found = self.query(query, current)?;
                <[Found; 1]>::try_from(found).ok().map(|[found]| found.node)
            }
            Operand::Count(query) => Some(number(self.query(query, current)?.len() as u64)),
            Operand::Length(operand) => match self.worth(operand, current)? {
                None => None,
                Some(node) => match node.count(self.pieces)? {
                    Some(count) => Some(number(count)),
                    None => match node.shape(self.pieces)? {
                        Shape::Text(text) => Some(number(text.chars().count() as u64)),
                        _ => None,
                    },
                },
            },
        };
        found.map(|node| node.whole(self.pieces)).transpose().map_err(Ended::from)
    }

    fn compare(&mut self, comparison: Comparison, left: Option<&Node>, right: Option<&Node>) -> Result<bool> {
        let is_equal = match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) => {
                self.count(1 + (left.bytes().len() / COMPARED_BYTES) as u64)?;
                left.equals(right, self.pieces)?
            }
            _ => false,
        };
        let is_less = |one: Option<&Node>, other: Option<&Node>, pieces: &mut dyn Pieces| -> Result<bool> {
            let (Some(one), Some(other)) = (one, other) else { return Ok(false) };
            Ok(match (one.shape(pieces)?, other.shape(pieces)?) {
                (Shape::Number(one), Shape::Number(other)) => is_smaller(&one, &other),
                (Shape::Text(one), Shape::Text(other)) => one < other,
                _ => false,
            })
        };
        Ok(match comparison {
            Comparison::Equal => is_equal,
            Comparison::NotEqual => !is_equal,
            Comparison::Less => is_less(left, right, self.pieces)?,
            Comparison::Greater => is_less(right, left, self.pieces)?,
            Comparison::LessOrEqual => is_equal || is_less(left, right, self.pieces)?,
            Comparison::GreaterOrEqual => is_equal || is_less(right, left, self.pieces)?,
        })
    }
}

/// So many bytes of a value that is compared count as a value that is looked at.
const COMPARED_BYTES: usize = 16;

/// So many elements of a slice are fetched one by one; for more, the whole array is read.
const SINGLE_ELEMENTS_MAX: usize = 16;

fn is_smaller(one: &Number<'_>, other: &Number<'_>) -> bool {
    match (one, other) {
        (Number::Int(one), Number::Int(other)) => one < other,
        (Number::Uint(one), Number::Uint(other)) => one < other,
        (Number::Int(_), Number::Uint(_)) => true,
        (Number::Uint(_), Number::Int(_)) => false,
        (one, other) => one.to_f64() < other.to_f64(),
    }
}

/// The indexes that a slice selects in an array of so many elements (RFC 9535, 2.3.4.2.2).
fn indexes(slice: Slice, count: i64) -> impl Iterator<Item = i64> + Clone {
    let normal = |index: i64| if index >= 0 { index } else { count.saturating_add(index) };
    let is_forward = slice.step > 0;
    let (start, end) = match is_forward {
        true => (slice.start.unwrap_or(0), slice.end.unwrap_or(count)),
        false => (slice.start.unwrap_or(count - 1), slice.end.unwrap_or(-count - 1)),
    };
    let (lowest, highest) = if is_forward { (0, count) } else { (-1, count - 1) };
    let (start, end) = (normal(start).clamp(lowest, highest), normal(end).clamp(lowest, highest));
    std::iter::successors(Some(start), move |index| index.checked_add(slice.step))
        .take_while(move |index| if is_forward { *index < end } else { *index > end })
}
