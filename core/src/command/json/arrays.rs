//! Commands that change arrays.

use super::path::{Path, ROOT};
use super::read::{Answer, parsed, text_of};
use super::write::{change_each, check_depth, reply};
use crate::command::args::integer;
use crate::command::{CommandError, Context, Outcome};
use crate::data::json::Document;
use crate::json::node::{Step, Type};

type Result<T, E = CommandError> = std::result::Result<T, E>;

/// Changes an array at a place, which has so many elements.
type ChangeArray<'c> = dyn FnMut(&mut Document<'_, '_>, &[Step], u64) -> Result<Answer> + 'c;

/// Changes the arrays that a path finds: `change` gets the place and the number of elements, and says what is answered for it.
fn each_array(
    ctx: &mut Context<'_, '_>,
    (key, path): (&[u8], &[u8]),
    event: &'static str,
    change: &mut ChangeArray<'_>,
) -> Outcome {
    let path = Path::read(path)?;
    let answers = change_each(ctx, (key, &path), event, &mut |document, place, node| {
        let kind = node.kind(document).map_err(|stopped| document.stopped(stopped))?;
        let count = node.count(document).map_err(|stopped| document.stopped(stopped))?;
        match (kind, count) {
            (Type::Array, Some(count)) => change(document, place, count).map(Some),
            _ => Ok(None),
        }
    })?;
    reply(answers, &path, "array", ctx.reply)
}

/// Values of a request, with how deep the deepest of them is.
fn values(args: &[&[u8]]) -> Result<(Vec<Vec<u8>>, usize)> {
    let (mut values, mut depth) = (Vec::with_capacity(args.len()), 0);
    for value in args {
        let parsed = parsed(value)?;
        depth = depth.max(parsed.depth);
        values.push(parsed.packed);
    }
    Ok((values, depth))
}

/// `JSON.ARRAPPEND key path value [value ...]`
pub(super) fn arrappend(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path, added @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (values, depth) = values(added)?;
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    each_array(ctx, (key, path), "json.arrappend", &mut |document, place, count| {
        check_depth(place, 1 + depth)?;
        document.splice(place, count..count, &values)?;
        Ok(Answer::Integer((count + values.len() as u64) as i64))
    })
}

/// `JSON.ARRINSERT key path index value [value ...]`
pub(super) fn arrinsert(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path, index, added @ ..] = args else { return Err(CommandError::SYNTAX) };
    let index = integer(index)?;
    let (values, depth) = values(added)?;
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    each_array(ctx, (key, path), "json.arrinsert", &mut |document, place, count| {
        check_depth(place, 1 + depth)?;
        let at = if index < 0 { count.checked_add_signed(index) } else { Some(index.cast_unsigned()) };
        let Some(at) = at.filter(|at| *at <= count) else {
            return Err(CommandError::text("ERR index out of bounds"));
        };
        document.splice(place, at..at, &values)?;
        Ok(Answer::Integer((count + values.len() as u64) as i64))
    })
}

/// `JSON.ARRPOP key [path [index]]`
pub(super) fn arrpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let path = options.first().copied().unwrap_or(ROOT);
    let index = options.get(1).map_or(Ok(-1), |index| integer(index))?;
    each_array(ctx, (key, path), "json.arrpop", &mut |document, place, count| {
        let Some(last) = count.checked_sub(1) else { return Ok(Answer::Null) };
        // What lies beyond an end is that end.
        let at = if index < 0 { count.saturating_add_signed(index) } else { index.cast_unsigned().min(last) };
        let inner = [place, &[Step::Index(at)]].concat();
        let Some(node) = document.at(&inner)? else { return Ok(Answer::Null) };
        let text = text_of(&node, document)?;
        document.remove(&inner)?;
        Ok(Answer::Text(text))
    })
}

/// `JSON.ARRTRIM key path start stop`
pub(super) fn arrtrim(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path, start, stop] = args else { return Err(CommandError::SYNTAX) };
    let (start, stop) = (integer(start)?, integer(stop)?);
    each_array(ctx, (key, path), "json.arrtrim", &mut |document, place, count| {
        let normal = |index: i64| match index {
            ..0 => count.saturating_add_signed(index),
            _ => index.cast_unsigned(),
        };
        let (from, to) = (normal(start), normal(stop).saturating_add(1).min(count));
        // A stop before the first element is before it, too.
        let is_empty = from >= to || stop < 0 && count.checked_add_signed(stop).is_none();
        if is_empty {
            document.splice(place, 0..count, &[])?;
            return Ok(Answer::Integer(0));
        }
        document.splice(place, to..count, &[])?;
        document.splice(place, 0..from, &[])?;
        Ok(Answer::Integer((to - from) as i64))
    })
}
