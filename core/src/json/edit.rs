//! Packed values with one part changed: all others are copied as they are.

use std::ops::Range;

use super::node::Step;
use super::packed::{Elements, Members, Shape, shape, write_array_header, write_name, write_object_header};

/// A value with the part at a place changed. None if there is no such part, or the bytes are no value.
pub fn change(
    value: &[u8],
    place: &[Step],
    edit: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let Some((step, rest)) = place.split_first() else { return edit(value) };
    let mut is_there = false;
    let mut part = |is_meant: bool, part: &[u8], out: &mut Vec<u8>| {
        match is_meant {
            true => out.extend(change(part, rest, edit)?),
            false => out.extend_from_slice(part),
        }
        is_there |= is_meant;
        Some(())
    };
    let changed = match (shape(value)?, step) {
        (Shape::Array(elements), Step::Index(index)) => {
            let mut body = Vec::new();
            let count = elements.left();
            for (at, element) in (0..).zip(elements) {
                part(at == *index, element, &mut body)?;
            }
            array(count, &body)
        }
        (Shape::Object(members), Step::Name(name)) => {
            let mut body = Vec::new();
            let count = members.left();
            for (other, value) in members {
                write_name(other, &mut body);
                part(other == &**name, value, &mut body)?;
            }
            object(count, &body)
        }
        _ => return None,
    };
    is_there.then_some(changed)
}

/// An object with one more member at its end; its name must not be there.
pub fn with_member(members: Members<'_>, name: &str, value: &[u8]) -> Vec<u8> {
    let count = members.left() + 1;
    let mut body = Vec::new();
    for (other, value) in members {
        write_name(other, &mut body);
        body.extend_from_slice(value);
    }
    write_name(name, &mut body);
    body.extend_from_slice(value);
    object(count, &body)
}

/// An object without a member.
pub fn without_member(members: Members<'_>, name: &str) -> Vec<u8> {
    let (mut body, mut count) = (Vec::new(), 0);
    for (other, value) in members.filter(|(other, _)| *other != name) {
        write_name(other, &mut body);
        body.extend_from_slice(value);
        count += 1;
    }
    object(count, &body)
}

/// An array with others in place of some elements; a range without elements is where they are inserted.
pub fn with_elements(elements: Elements<'_>, replaced: Range<u64>, by: &[&[u8]]) -> Vec<u8> {
    let (mut body, mut count) = (Vec::new(), 0);
    let mut add = |element: &[u8]| {
        body.extend_from_slice(element);
        count += 1;
    };
    let mut at = 0;
    for element in elements {
        if at == replaced.start {
            by.iter().for_each(|element| add(element));
        }
        if !replaced.contains(&at) {
            add(element);
        }
        at += 1;
    }
    if at <= replaced.start {
        by.iter().for_each(|element| add(element));
    }
    array(count, &body)
}

/// An array of so many elements, which stand behind each other in `body`.
pub fn array(count: u64, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 8);
    write_array_header(count, body.len() as u64, &mut out);
    out.extend_from_slice(body);
    out
}

/// An object of so many members, which stand behind each other in `body`, each a name and a value.
pub fn object(count: u64, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 8);
    write_object_header(count, body.len() as u64, &mut out);
    out.extend_from_slice(body);
    out
}
