//! Values as text.

use super::node::{Node, Pieces, Step, Stopped};
use super::packed::Shape;

/// What stands between the parts of a text, as JSON.GET has it. Without all of it the text is as short as it can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format<'f> {
    /// At the beginning of a line, once for each level.
    pub indent: &'f [u8],
    /// At the end of a line.
    pub newline: &'f [u8],
    /// Between a colon and the value.
    pub space: &'f [u8],
}

/// Appends a value as text.
///
/// # Errors
/// A piece cannot be read.
pub fn write(
    node: &Node,
    format: Format<'_>,
    pieces: &mut dyn Pieces,
    out: &mut Vec<u8>,
) -> Result<(), Stopped> {
    write_at(node, format, 0, pieces, out)
}

/// The same for a value that stands in so many arrays or objects.
///
/// # Errors
/// A piece cannot be read.
pub fn write_at(
    node: &Node,
    format: Format<'_>,
    level: usize,
    pieces: &mut dyn Pieces,
    out: &mut Vec<u8>,
) -> Result<(), Stopped> {
    let node = node.whole(pieces)?;
    match node.shape(pieces)? {
        Shape::Null => out.extend_from_slice(b"null"),
        Shape::Truth(true) => out.extend_from_slice(b"true"),
        Shape::Truth(false) => out.extend_from_slice(b"false"),
        Shape::Number(number) => number.write(out),
        Shape::Text(text) => write_text(text, out),
        shape @ (Shape::Array(_) | Shape::Object(_) | Shape::Elsewhere(..)) => {
            let parts = node.parts(pieces)?;
            let is_object = match shape {
                Shape::Elsewhere(large, _) => large == super::packed::Large::Object,
                shape => matches!(shape, Shape::Object(_)),
            };
            let mut brackets = Brackets::open(is_object, format, level, out);
            for (step, part) in &parts {
                brackets.part(out);
                if let Step::Name(name) = step {
                    write_name(name, format, out);
                }
                write_at(part, format, level + 1, pieces, out)?;
            }
            brackets.close(out);
        }
    }
    Ok(())
}

/// Appends a string as JSON.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok(), "writing into memory does not fail");
}

/// Appends the name of a member and what stands before its value.
pub fn write_name(name: &str, format: Format<'_>, out: &mut Vec<u8>) {
    write_text(name, out);
    out.push(b':');
    out.extend_from_slice(format.space);
}

/// An array or object that is being written.
#[derive(Debug)]
pub struct Brackets<'f> {
    is_object: bool,
    is_empty: bool,
    format: Format<'f>,
    level: usize,
}

impl<'f> Brackets<'f> {
    /// Begins one that stands in `level` others.
    pub fn open(is_object: bool, format: Format<'f>, level: usize, out: &mut Vec<u8>) -> Brackets<'f> {
        out.push(if is_object { b'{' } else { b'[' });
        Brackets { is_object, is_empty: true, format, level }
    }

    /// The next part comes.
    pub fn part(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.is_empty) {
            out.push(b',');
        }
        self.line(self.level + 1, out);
    }

    /// No part comes any more.
    pub fn close(self, out: &mut Vec<u8>) {
        if !self.is_empty {
            self.line(self.level, out);
        }
        out.push(if self.is_object { b'}' } else { b']' });
    }

    fn line(&self, level: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.format.newline);
        (0..level).for_each(|_| out.extend_from_slice(self.format.indent));
    }
}
