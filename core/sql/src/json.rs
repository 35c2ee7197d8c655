//! `json_patch`, `jsonb_patch` and `json_pretty`, in place of SQLite's own. These answer the same, and ask the host whether they may go on.
//!
//! - SQLite's patch looks for each member among all members of the target, so that objects take as long as the product of their numbers
//!   of members, and nothing could stop it. Here members are looked up by their names. It is RFC 7396 as SQLite has it: of several
//!   members with one name the first counts, members keep their places and new ones come last.
//! - SQLite's `json_pretty` takes memory by the product of the lines and the length of the indent before it sees that no value is so long.
//!
//! What comes in is JSON as SQLite's own `json` writes it: sound, and without blanks.

use std::borrow::Cow;
use std::collections::HashMap;

use edgecask_core::rest::json_text;

use crate::search::{Ended, Meter};
use crate::shared::{Shared, has_memory_to_grow};

/// A member of the object that is made.
struct Member<'a> {
    /// With its quotes, as it stands there.
    name: &'a [u8],
    /// None once it is removed.
    value: Option<Cow<'a, [u8]>>,
    /// The next member with this name.
    next: Option<usize>,
}

/// Bytes of a member and of its place in the table of names.
const MEMBER_BYTES: usize = size_of::<Member<'_>>() + size_of::<(Cow<'_, [u8]>, (usize, usize))>() + 2;

/// The target as the patch changes it.
pub(crate) fn patched(meter: &mut Meter<'_>, target: &[u8], patch: &[u8]) -> Result<Vec<u8>, Ended> {
    if !has_memory_to_grow(target.len().saturating_add(patch.len())) {
        return Err(Ended::NoMemory);
    }
    let mut out = Vec::new();
    merge(meter, target, patch, &mut out)?;
    Ok(out)
}

/// JSON has a depth of 1000 at most, by SQLite's bound, so this recursion has an end.
fn merge(meter: &mut Meter<'_>, target: &[u8], patch: &[u8], out: &mut Vec<u8>) -> Result<(), Ended> {
    if patch.first() != Some(&b'{') {
        meter.long_work(patch.len())?;
        out.extend_from_slice(patch);
        return Ok(());
    }
    let mut members: Vec<Member<'_>> = Vec::new();
    // The first member of each name that is not removed, and the last that was added.
    let mut places: HashMap<Cow<'_, [u8]>, (usize, usize)> = HashMap::new();
    let mut found = Members::of(target);
    while let Some((name, value)) = found.next(meter)? {
        let member = Member { name, value: Some(Cow::Borrowed(value)), next: None };
        add(&mut members, &mut places, member)?;
    }
    let mut changes = Members::of(patch);
    while let Some((name, change)) = changes.next(meter)? {
        let key = unescaped(name);
        let place = places.get(&key).map(|(first, _)| *first);
        match place.and_then(|place| members.get_mut(place)) {
            Some(member) if change == b"null" => {
                member.value = None;
                match member.next {
                    Some(next) => {
                        if let Some((first, _)) = places.get_mut(&key) {
                            *first = next;
                        }
                    }
                    None => {
                        places.remove(&key);
                    }
                }
            }
            Some(member) => {
                let mut value = Vec::new();
                merge(meter, member.value.as_deref().unwrap_or_default(), change, &mut value)?;
                member.value = Some(Cow::Owned(value));
            }
            None if change == b"null" => {}
            None => {
                let mut value = Vec::new();
                merge(meter, b"{}", change, &mut value)?;
                add(&mut members, &mut places, Member { name, value: Some(Cow::Owned(value)), next: None })?;
            }
        }
    }
    let mut before = b'{';
    for member in &members {
        let Some(value) = &member.value else { continue };
        meter.long_work(member.name.len() + value.len())?;
        out.push(before);
        out.extend_from_slice(member.name);
        out.push(b':');
        out.extend_from_slice(value);
        before = b',';
    }
    if before == b'{' {
        out.push(b'{');
    }
    out.push(b'}');
    Ok(())
}

/// Adds a member behind all others.
fn add<'a>(
    members: &mut Vec<Member<'a>>,
    places: &mut HashMap<Cow<'a, [u8]>, (usize, usize)>,
    member: Member<'a>,
) -> Result<(), Ended> {
    let place = members.len();
    // Before they grow, which both do by doubling.
    if place.is_power_of_two() && !has_memory_to_grow(place.saturating_mul(MEMBER_BYTES)) {
        return Err(Ended::NoMemory);
    }
    let (_, last) = places.entry(unescaped(member.name)).or_insert((place, place));
    let before = std::mem::replace(last, place);
    members.push(member);
    if before != place
        && let Some(before) = members.get_mut(before)
    {
        before.next = Some(place);
    }
    Ok(())
}

/// The name of a member, with its quotes, and its value.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// The members of an object, one after the other; none of anything else.
struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Members<'a> {
    fn of(json: &'a [u8]) -> Members<'a> {
        Members { rest: json.strip_prefix(b"{").unwrap_or_default() }
    }

    fn next(&mut self, meter: &mut Meter<'_>) -> Result<Option<Pair<'a>>, Ended> {
        if self.rest.first() != Some(&b'"') {
            return Ok(None);
        }
        let (name, rest) = self.rest.split_at(text_len(self.rest));
        let rest = rest.strip_prefix(b":").unwrap_or_default();
        let (value, rest) = rest.split_at(value_len(meter, rest)?);
        meter.long_work(name.len())?;
        self.rest = rest.strip_prefix(b",").unwrap_or_default();
        Ok(Some((name, value)))
    }
}

/// Bytes of the text that begins here, with its quotes.
fn text_len(json: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = json.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    json.len()
}

/// Bytes of the value that begins here.
fn value_len(meter: &mut Meter<'_>, json: &[u8]) -> Result<usize, Ended> {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = json.get(at) {
        let begin = at;
        match byte {
            b'"' => at += text_len(json.get(at..).unwrap_or_default()),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            // Of the object in which the value stands.
            b'}' | b']' => return Ok(at),
            b',' if depth == 0 => return Ok(at),
            _ => at += 1,
        }
        meter.long_work(at - begin)?;
    }
    Ok(json.len())
}

/// What a name says, without its quotes.
fn unescaped(name: &[u8]) -> Cow<'_, [u8]> {
    let inner = name.get(1..name.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains(&b'\\') {
        return Cow::Borrowed(inner);
    }
    json_text(name).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// A line each for members and items, behind as many indents as they are deep.
pub(crate) fn pretty(shared: &Shared, json: &[u8], indent: &[u8]) -> Result<Vec<u8>, Ended> {
    let (mut meter, limit_bytes) = (Meter::new(shared), shared.value_bytes.get());
    let mut out = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = json.get(at) {
        let rest = json.get(at..).unwrap_or_default();
        let is_empty = matches!(rest, [b'{', b'}', ..] | [b'[', b']', ..]);
        let (taken, begins_line) = match byte {
            b'"' => (text_len(rest), false),
            b'{' | b'[' if is_empty => (2, false),
            b'{' | b'[' => {
                depth += 1;
                (1, true)
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                begin_line(&mut meter, indent, depth, limit_bytes, &mut out)?;
                (1, false)
            }
            b',' => (1, true),
            _ => (1, false),
        };
        meter.long_work(taken)?;
        out.extend_from_slice(rest.get(..taken).unwrap_or(rest));
        if *byte == b':' {
            out.push(b' ');
        }
        if begins_line {
            begin_line(&mut meter, indent, depth, limit_bytes, &mut out)?;
        }
        at += taken;
    }
    Ok(out)
}

fn begin_line(
    meter: &mut Meter<'_>,
    indent: &[u8],
    depth: usize,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), Ended> {
    let bytes = out.len().saturating_add(indent.len().saturating_mul(depth));
    if bytes > limit_bytes {
        return Err(Ended::TooLarge);
    }
    if bytes >= out.capacity() && !has_memory_to_grow(bytes) {
        return Err(Ended::NoMemory);
    }
    meter.long_work(bytes - out.len())?;
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(indent);
    }
    Ok(())
}
