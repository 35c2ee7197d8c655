//! Values that may stand in several pieces, and the walk from one to its parts.

use std::rc::Rc;

use super::number::Number;
use super::packed::{self, Large, Shape};
use crate::sorted;

/// Why nothing more can be read; what keeps the pieces knows the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

type Result<T> = std::result::Result<T, Stopped>;

/// Where the values stand that have pieces of their own, each by its number.
pub trait Pieces {
    /// The string of this number.
    fn text(&mut self, number: u64) -> Result<Node>;

    /// How many parts an array or object has.
    fn count(&mut self, number: u64) -> Result<u64>;

    /// The member of an object with this name.
    fn member(&mut self, number: u64, name: &str) -> Result<Option<Node>>;

    /// The element of an array with this index.
    fn element(&mut self, number: u64, index: u64) -> Result<Option<Node>>;

    /// All elements of an array.
    fn elements(&mut self, number: u64) -> Result<Vec<Node>>;

    /// All members of an object, in their order.
    fn members(&mut self, number: u64) -> Result<Vec<(Rc<str>, Node)>>;

    /// A piece is no value.
    fn damaged(&mut self) -> Stopped;
}

/// The pieces of a value that stands in one: there are none.
#[derive(Debug)]
pub struct InOne;

impl Pieces for InOne {
    fn text(&mut self, _number: u64) -> Result<Node> {
        Err(Stopped)
    }

    fn count(&mut self, _number: u64) -> Result<u64> {
        Err(Stopped)
    }

    fn member(&mut self, _number: u64, _name: &str) -> Result<Option<Node>> {
        Err(Stopped)
    }

    fn element(&mut self, _number: u64, _index: u64) -> Result<Option<Node>> {
        Err(Stopped)
    }

    fn elements(&mut self, _number: u64) -> Result<Vec<Node>> {
        Err(Stopped)
    }

    fn members(&mut self, _number: u64) -> Result<Vec<(Rc<str>, Node)>> {
        Err(Stopped)
    }

    fn damaged(&mut self) -> Stopped {
        Stopped
    }
}

/// The types of JSON, as RedisJSON names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// null.
    Null,
    /// true or false.
    Boolean,
    /// A number without a point and without an exponent.
    Integer,
    /// Any other number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Type {
    /// What JSON.TYPE replies.
    pub fn name(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
        }
    }
}

/// A value in the piece that it stands in. Clones share the piece.
#[derive(Clone, Debug)]
pub struct Node {
    piece: Rc<[u8]>,
    from: u32,
    to: u32,
}

/// A way from a value to one of its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To the element with this index.
    Index(u64),
    /// To the member with this name.
    Name(Rc<str>),
}

impl Node {
    /// The value that a piece is.
    pub fn new(piece: impl Into<Rc<[u8]>>) -> Node {
        let piece: Rc<[u8]> = piece.into();
        // A piece is no longer than a document, whose text is shorter than 4 GiB.
        let to = piece.len() as u32;
        Node { piece, from: 0, to }
    }

    /// The value as it is packed.
    pub fn bytes(&self) -> &[u8] {
        self.piece.get(self.from as usize..self.to as usize).unwrap_or_default()
    }

    /// A part of the same piece.
    fn part(&self, part: &[u8]) -> Node {
        let from = part.as_ptr().addr() - self.piece.as_ptr().addr();
        Node { piece: self.piece.clone(), from: from as u32, to: (from + part.len()) as u32 }
    }

    /// What it is. A string that stands elsewhere is fetched by [`Node::whole`].
    pub fn shape(&self, pieces: &mut dyn Pieces) -> Result<Shape<'_>> {
        packed::shape(self.bytes()).ok_or_else(|| pieces.damaged())
    }

    /// The value itself: a string that stands elsewhere in its own piece, all others as they are.
    pub fn whole(&self, pieces: &mut dyn Pieces) -> Result<Node> {
        match self.shape(pieces)? {
            Shape::Elsewhere(Large::Text, number) => pieces.text(number),
            _ => Ok(self.clone()),
        }
    }

    /// Its type.
    pub fn kind(&self, pieces: &mut dyn Pieces) -> Result<Type> {
        Ok(match self.shape(pieces)? {
            Shape::Null => Type::Null,
            Shape::Truth(_) => Type::Boolean,
            Shape::Number(number) if number.is_integer() => Type::Integer,
            Shape::Number(_) => Type::Number,
            Shape::Text(_) | Shape::Elsewhere(Large::Text, _) => Type::String,
            Shape::Array(_) | Shape::Elsewhere(Large::Array, _) => Type::Array,
            Shape::Object(_) | Shape::Elsewhere(Large::Object, _) => Type::Object,
        })
    }

    /// How many parts it has; None if it is neither an array nor an object.
    pub fn count(&self, pieces: &mut dyn Pieces) -> Result<Option<u64>> {
        Ok(match self.shape(pieces)? {
            Shape::Array(elements) => Some(elements.left()),
            Shape::Object(members) => Some(members.left()),
            Shape::Elsewhere(Large::Array | Large::Object, number) => Some(pieces.count(number)?),
            _ => None,
        })
    }

    /// The member with this name, if it is an object that has one.
    pub fn member(&self, name: &str, pieces: &mut dyn Pieces) -> Result<Option<Node>> {
        match self.shape(pieces)? {
            Shape::Object(mut members) => {
                let found = members.find(|(other, _)| *other == name);
                Ok(found.map(|(_, value)| self.part(value)))
            }
            Shape::Elsewhere(Large::Object, number) => pieces.member(number, name),
            _ => Ok(None),
        }
    }

    /// The element with this index, which counts from the end if it is negative, with its index from the front, if it is an array that has one.
    pub fn element(&self, index: i64, pieces: &mut dyn Pieces) -> Result<Option<(u64, Node)>> {
        let count = match self.shape(pieces)? {
            Shape::Array(elements) => elements.left(),
            Shape::Elsewhere(Large::Array, number) => pieces.count(number)?,
            _ => return Ok(None),
        };
        let index = match index {
            0.. => index.cast_unsigned(),
            _ => match count.checked_add_signed(index) {
                Some(index) => index,
                None => return Ok(None),
            },
        };
        if index >= count {
            return Ok(None);
        }
        let node = match self.shape(pieces)? {
            Shape::Array(mut elements) => {
                let found = usize::try_from(index).ok().and_then(|index| elements.nth(index));
                Some(self.part(found.ok_or_else(|| pieces.damaged())?))
            }
            Shape::Elsewhere(_, number) => pieces.element(number, index)?,
            _ => None,
        };
        Ok(node.map(|node| (index, node)))
    }

    /// Its parts in their order, with the way to each; none for what has no parts.
    pub fn parts(&self, pieces: &mut dyn Pieces) -> Result<Vec<(Step, Node)>> {
        let index = |(index, node): (usize, Node)| (Step::Index(index as u64), node);
        let (parts, count): (Vec<(Step, Node)>, u64) = match self.shape(pieces)? {
            Shape::Array(elements) => {
                let count = elements.left();
                (elements.map(|value| self.part(value)).enumerate().map(index).collect(), count)
            }
            Shape::Object(members) => {
                let count = members.left();
                let part = |(name, value): (&str, &[u8])| (Step::Name(name.into()), self.part(value));
                (members.map(part).collect(), count)
            }
            Shape::Elsewhere(Large::Array, number) => {
                return Ok(pieces.elements(number)?.into_iter().enumerate().map(index).collect());
            }
            Shape::Elsewhere(Large::Object, number) => {
                let named = |(name, node)| (Step::Name(name), node);
                return Ok(pieces.members(number)?.into_iter().map(named).collect());
            }
            _ => return Ok(Vec::new()),
        };
        if parts.len() as u64 != count {
            return Err(pieces.damaged());
        }
        Ok(parts)
    }

    /// Whether both are the same value: numbers by what they are worth, objects in any order of their members.
    pub fn equals(&self, other: &Node, pieces: &mut dyn Pieces) -> Result<bool> {
        let (one, other) = (self.whole(pieces)?, other.whole(pieces)?);
        if one.bytes() == other.bytes() && !matches!(one.shape(pieces)?, Shape::Elsewhere(..)) {
            return Ok(true);
        }
        Ok(match (one.shape(pieces)?, other.shape(pieces)?) {
            (Shape::Number(one), Shape::Number(other)) => same_number(&one, &other),
            (Shape::Text(one), Shape::Text(other)) => one == other,
            _ => match (one.kind(pieces)?, other.kind(pieces)?) {
                (Type::Array, Type::Array) => {
                    let (ones, others) = (one.parts(pieces)?, other.parts(pieces)?);
                    if ones.len() != others.len() {
                        return Ok(false);
                    }
                    for ((_, one), (_, other)) in ones.iter().zip(&others) {
                        if !one.equals(other, pieces)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                (Type::Object, Type::Object) => {
                    let (mut ones, mut others) = (one.parts(pieces)?, other.parts(pieces)?);
                    if ones.len() != others.len() {
                        return Ok(false);
                    }
                    sorted::all(&mut ones, |(one, _), (other, _)| one.cmp(other));
                    sorted::all(&mut others, |(one, _), (other, _)| one.cmp(other));
                    for ((name, one), (other_name, other)) in ones.iter().zip(&others) {
                        if name != other_name || !one.equals(other, pieces)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                _ => false,
            },
        })
    }
}

/// Whether two numbers are worth the same.
fn same_number(one: &Number<'_>, other: &Number<'_>) -> bool {
    match (one, other) {
        (Number::Int(one), Number::Int(other)) => one == other,
        (Number::Uint(one), Number::Uint(other)) => one == other,
        (Number::Int(_), Number::Uint(_)) | (Number::Uint(_), Number::Int(_)) => false,
        (Number::Digits(one), Number::Digits(other)) if one == other => true,
        (one, other) => one.to_f64() == other.to_f64(),
    }
}
