//! Writes of whole values: JSON.SET and its like, numbers, strings and booleans.

use super::path::{NO_KEY, Path, ROOT};
use super::read::{Answer, packed, parsed, wrong_type};
use crate::command::args::is_option;
use crate::command::atomic::atomically;
use crate::command::{CommandError, Context, Outcome};
use crate::data::json::Document;
use crate::json::edit;
use crate::json::node::{Node, Step, Type};
use crate::json::number::Number;
use crate::json::packed::{Shape, shape, write_number, write_text, write_truth};
use crate::json::{DEPTH_MAX, text};
use crate::resp::{Protocol, Reply};
use crate::server::hub::notify;

type Result<T, E = CommandError> = std::result::Result<T, E>;

/// Refuses a value at a place where it would stand deeper than values may.
pub(super) fn check_depth(place: &[Step], depth: usize) -> Outcome {
    match place.len() + depth > DEPTH_MAX {
        true => Err(CommandError::owned(format!("ERR a document is {DEPTH_MAX} levels deep at most"))),
        false => Ok(()),
    }
}

/// When JSON.SET writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum If {
    Always,
    /// NX
    Missing,
    /// XX
    There,
}

/// `JSON.SET key path value [NX | XX]`
pub(super) fn set(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path, value, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let condition = match options {
        [] => If::Always,
        [option] if is_option(option, "NX") => If::Missing,
        [option] if is_option(option, "XX") => If::There,
        _ => return Err(CommandError::SYNTAX),
    };
    let path = Path::read(path)?;
    let value = parsed(value)?;
    if atomically(ctx, |ctx| put(ctx, key, &path, &value, condition))? {
        ctx.notify(notify::MODULE, "json.set", key);
        ctx.reply.ok();
    } else {
        ctx.reply.null();
    }
    Ok(())
}

/// `JSON.MSET key path value [key path value ...]`
pub(super) fn mset(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (triples, []) = args.get(1..).unwrap_or_default().as_chunks::<3>() else {
        return Err(CommandError::text("ERR wrong number of arguments for 'json.mset' command"));
    };
    atomically(ctx, |ctx| {
        for [key, path, value] in triples {
            let path = Path::read(path)?;
            if put(ctx, key, &path, &parsed(value)?, If::Always)? {
                ctx.notify(notify::MODULE, "json.mset", key);
            }
        }
        Ok(())
    })?;
    ctx.reply.ok();
    Ok(())
}

/// Sets what a path finds, or the member that it names; false if nothing was set.
fn put(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    path: &Path<'_>,
    value: &text::Parsed,
    condition: If,
) -> Result<bool> {
    let db = ctx.db();
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        return match (path.is_root(), condition) {
            (_, If::There) => Ok(false),
            (false, _) => Err(CommandError::text("ERR new objects must be created at the root")),
            (true, _) => {
                Document::make(ctx.txn, db, key, &value.packed)?;
                Ok(true)
            }
        };
    };
    let places = path.places(&mut document)?;
    if !places.is_empty() {
        if condition == If::Missing {
            return Ok(false);
        }
        let mut is_set = false;
        for place in &places {
            check_depth(place, value.depth)?;
            // A place may be gone with what stood above it.
            is_set |= document.set(place, &value.packed)?;
        }
        return Ok(is_set);
    }
    if condition == If::There {
        return Ok(false);
    }
    let Some((parents, name)) = path.parents(&mut document)? else {
        return Err(CommandError::text("ERR Err: wrong static path"));
    };
    let mut is_set = false;
    for parent in &parents {
        check_depth(parent, 1 + value.depth)?;
        is_set |= document.add_member(parent, name, &value.packed)?;
    }
    Ok(is_set)
}

/// `JSON.MERGE key path value`
pub(super) fn merge(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path, value] = args else { return Err(CommandError::SYNTAX) };
    let path = Path::read(path)?;
    let patch = parsed(value)?;
    atomically(ctx, |ctx| merge_all(ctx, key, &path, &patch))?;
    ctx.notify(notify::MODULE, "json.merge", key);
    ctx.reply.ok();
    Ok(())
}

/// Changes what a path finds by a patch, or makes the member that it names.
fn merge_all(ctx: &mut Context<'_, '_>, key: &[u8], path: &Path<'_>, patch: &text::Parsed) -> Outcome {
    let db = ctx.db();
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        if !path.is_root() {
            return Err(CommandError::text("ERR new objects must be created at the root"));
        }
        return Ok(Document::make(ctx.txn, db, key, &without_nulls(&patch.packed))?);
    };
    let places = path.places(&mut document)?;
    if places.is_empty() {
        let Some((parents, name)) = path.parents(&mut document)? else {
            return Err(CommandError::text("ERR Err: wrong static path"));
        };
        let added = without_nulls(&patch.packed);
        for parent in &parents {
            check_depth(parent, 1 + patch.depth)?;
            document.add_member(parent, name, &added)?;
        }
    }
    let patch_node = Node::new(patch.packed.as_slice());
    for place in &places {
        check_depth(place, patch.depth)?;
        merge_at(&mut document, place, &patch_node)?;
    }
    Ok(())
}

/// RFC 7396: members of the patch replace or add members, null removes one. Calls itself as deep as documents may be.
fn merge_at(document: &mut Document<'_, '_>, place: &[Step], patch: &Node) -> Outcome {
    let Some(target) = document.at(place)? else { return Ok(()) };
    let Some(Shape::Object(members)) = shape(patch.bytes()) else {
        document.set(place, patch.bytes())?;
        return Ok(());
    };
    let kind = target.kind(document).map_err(|stopped| document.stopped(stopped))?;
    if kind != Type::Object {
        document.set(place, &without_nulls(patch.bytes()))?;
        return Ok(());
    }
    for (name, value) in members {
        let inner = [place, &[Step::Name(name.into())]].concat();
        let is_there = document.at(&inner)?.is_some();
        match (shape(value), is_there) {
            (Some(Shape::Null), true) => {
                document.remove(&inner)?;
            }
            (Some(Shape::Null), false) => {}
            (_, true) => merge_at(document, &inner, &Node::new(value))?,
            (_, false) => {
                document.add_member(place, name, &without_nulls(value))?;
            }
        }
    }
    Ok(())
}

/// A patch where nothing was before: objects without the members that are null.
fn without_nulls(value: &[u8]) -> Vec<u8> {
    let Some(Shape::Object(members)) = shape(value) else { return value.to_vec() };
    let (mut body, mut count) = (Vec::new(), 0);
    for (name, value) in members.filter(|(_, value)| shape(value) != Some(Shape::Null)) {
        crate::json::packed::write_name(name, &mut body);
        body.extend(without_nulls(value));
        count += 1;
    }
    edit::object(count, &body)
}

/// `JSON.DEL key [path]`
pub(super) fn del(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path @ ..] = args else { return Err(CommandError::SYNTAX) };
    let path = Path::read(path.first().copied().unwrap_or(ROOT))?;
    let db = ctx.db();
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        ctx.reply.integer(0);
        return Ok(());
    };
    let mut places = path.places(&mut document)?;
    // What stands in another one that goes is gone with it; parts stand behind what they are parts of.
    let mut last: Option<Vec<Step>> = None;
    places.retain(|place| {
        let is_inner = last.as_ref().is_some_and(|last| place.starts_with(last));
        if !is_inner {
            last = Some(place.clone());
        }
        !is_inner
    });
    if places.iter().any(Vec::is_empty) {
        ctx.txn.remove(db, key)?;
        ctx.notify(notify::GENERIC, "del", key);
        ctx.reply.integer(1);
        return Ok(());
    }
    // From the end, so that indexes stay what they are.
    for place in places.iter().rev() {
        document.remove(place)?;
    }
    if !places.is_empty() {
        ctx.notify(notify::MODULE, "json.del", key);
    }
    ctx.reply.integer(places.len() as i64);
    Ok(())
}

/// `JSON.CLEAR key [path]`
pub(super) fn clear(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path @ ..] = args else { return Err(CommandError::SYNTAX) };
    let path = Path::read(path.first().copied().unwrap_or(ROOT))?;
    let answers = change_each(ctx, (key, &path), "json.clear", &mut |document, place, node| {
        let kind = node.kind(document).map_err(|stopped| document.stopped(stopped))?;
        let count = node.count(document).map_err(|stopped| document.stopped(stopped))?;
        let mut zero = Vec::new();
        match kind {
            Type::Array | Type::Object if count == Some(0) => return Ok(None),
            Type::Array => zero = edit::array(0, &[]),
            Type::Object => zero = edit::object(0, &[]),
            Type::Integer | Type::Number => write_number(&Number::Int(0), &mut zero),
            Type::Null | Type::Boolean | Type::String => return Ok(None),
        }
        if zero == node.bytes() {
            return Ok(None);
        }
        document.set(place, &zero)?;
        Ok(Some(Answer::Integer(1)))
    })?;
    let cleared = answers.iter().filter(|(answer, _)| answer.is_some()).count();
    ctx.reply.integer(cleared as i64);
    Ok(())
}

/// What a command has answered for a value, none if that is of another type, and the type.
pub(super) type Answered = (Option<Answer>, Type);

/// Changes a value at a place; None if it is of another type.
type ChangeValue<'c> = dyn FnMut(&mut Document<'_, '_>, &[Step], &Node) -> Result<Option<Answer>> + 'c;

/// Calls `change` for each value that a path finds, with its place; it answers None for one of another type than it changes.
pub(super) fn change_each(
    ctx: &mut Context<'_, '_>,
    (key, path): (&[u8], &Path<'_>),
    event: &'static str,
    change: &mut ChangeValue<'_>,
) -> Result<Vec<Answered>> {
    let answers = atomically(ctx, |ctx| {
        let db = ctx.db();
        let Some(mut document) = Document::open(ctx.txn, db, key)? else { return Err(NO_KEY) };
        let found = path.find(&mut document)?;
        let mut answers = Vec::with_capacity(found.len());
        for (at, found) in found.into_iter().enumerate() {
            let place = found.place.steps();
            // Those before it may have changed it, or taken it away.
            let node = if at == 0 { Some(found.node) } else { document.at(&place)? };
            let Some(node) = node else { continue };
            let kind = node.kind(&mut document).map_err(|stopped| document.stopped(stopped))?;
            answers.push((change(&mut document, &place, &node)?, kind));
        }
        Ok(answers)
    })?;
    if answers.iter().any(|(answer, _)| answer.is_some()) {
        ctx.notify(notify::MODULE, event, key);
    }
    Ok(answers)
}

/// What a command makes of one value: the new one, and the answer. None for a value of another kind.
type Made = Option<(Vec<u8>, Answer)>;

/// Replaces the values that a path finds.
fn replace_each(
    ctx: &mut Context<'_, '_>,
    at: (&[u8], &Path<'_>),
    event: &'static str,
    make: &mut dyn FnMut(&Shape<'_>) -> Result<Made>,
) -> Result<Vec<Answered>> {
    change_each(ctx, at, event, &mut |document, place, node| {
        let node = node.whole(document).map_err(|stopped| document.stopped(stopped))?;
        let shape = node.shape(document).map_err(|stopped| document.stopped(stopped))?;
        let Some((value, answer)) = make(&shape)? else { return Ok(None) };
        document.set(place, &value)?;
        Ok(Some(answer))
    })
}

/// The answer of a path of the older form: that of the last value of the right kind.
fn last(answers: Vec<Answered>, path: &Path<'_>, wanted: &str) -> Result<Answer> {
    let kind = answers.last().map(|(_, kind)| *kind);
    match (answers.into_iter().rev().find_map(|(answer, _)| answer), kind) {
        (Some(answer), _) => Ok(answer),
        (None, Some(kind)) => Err(wrong_type(wanted, kind)),
        (None, None) => Err(path.missing()),
    }
}

/// Replies with the answers: that of one value for a path of the older form, an array for others.
pub(super) fn reply(answers: Vec<Answered>, path: &Path<'_>, wanted: &str, reply: &mut Reply) -> Outcome {
    if path.is_legacy {
        last(answers, path, wanted)?.write(reply);
        return Ok(());
    }
    reply.array(answers.len());
    for (answer, _) in &answers {
        answer.as_ref().unwrap_or(&Answer::Null).write(reply);
    }
    Ok(())
}

/// `JSON.NUMINCRBY key path value`
pub(super) fn numincrby(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    calculate(ctx, args, "json.numincrby", |number, operand| number.plus(operand))
}

/// `JSON.NUMMULTBY key path value`
pub(super) fn nummultby(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    calculate(ctx, args, "json.nummultby", |number, operand| number.times(operand))
}

fn calculate(
    ctx: &mut Context<'_, '_>,
    args: &[&[u8]],
    event: &'static str,
    combine: fn(&Number<'_>, &Number<'_>) -> Option<Number<'static>>,
) -> Outcome {
    let [_, key, path, operand] = args else { return Err(CommandError::SYNTAX) };
    let path = Path::read(path)?;
    let operand = packed(operand)?;
    let Some(Shape::Number(operand)) = shape(&operand) else {
        return Err(CommandError::text("ERR the value is not a number"));
    };
    let mut results: Vec<Option<Number<'static>>> = Vec::new();
    let answers = replace_each(ctx, (key, &path), event, &mut |shape| {
        let Shape::Number(number) = shape else {
            results.push(None);
            return Ok(None);
        };
        let result = combine(number, &operand).ok_or(CommandError::text("ERR result is not a number"))?;
        let (mut value, mut text) = (Vec::new(), Vec::new());
        write_number(&result, &mut value);
        result.write(&mut text);
        results.push(Some(result));
        Ok(Some((value, Answer::Text(text))))
    })?;
    if ctx.reply.protocol() == Protocol::Resp3 {
        // Numbers, always in an array.
        let shown: Vec<&Option<Number<'static>>> = match path.is_legacy {
            true => results.iter().rev().filter(|result| result.is_some()).take(1).collect(),
            false => results.iter().collect(),
        };
        if path.is_legacy && shown.is_empty() {
            last(answers, &path, "a number")?;
            return Ok(());
        }
        ctx.reply.array(shown.len());
        for result in shown {
            match result {
                None => ctx.reply.null(),
                Some(Number::Int(value)) => ctx.reply.integer(*value),
                Some(number) => ctx.reply.double(number.to_f64()),
            }
        }
        return Ok(());
    }
    if path.is_legacy {
        last(answers, &path, "a number")?.write(ctx.reply);
        return Ok(());
    }
    // One text, an array of JSON.
    let mut text = b"[".to_vec();
    for (at, result) in results.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        match result {
            None => text.extend_from_slice(b"null"),
            Some(number) => number.write(&mut text),
        }
    }
    text.push(b']');
    ctx.reply.bulk(&text);
    Ok(())
}

/// `JSON.STRAPPEND key [path] value`
pub(super) fn strappend(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, path, value) = match args {
        [_, key, value] => (key, ROOT, value),
        [_, key, path, value] => (key, *path, value),
        _ => return Err(CommandError::SYNTAX),
    };
    let path = Path::read(path)?;
    let appended = packed(value)?;
    let Some(Shape::Text(appended)) = shape(&appended) else {
        return Err(CommandError::text("ERR the value is not a string"));
    };
    let answers = replace_each(ctx, (key, &path), "json.strappend", &mut |shape| {
        let Shape::Text(text) = shape else { return Ok(None) };
        let whole = [*text, appended].concat();
        let mut value = Vec::new();
        write_text(&whole, &mut value);
        Ok(Some((value, Answer::Integer(whole.len() as i64))))
    })?;
    reply(answers, &path, "string", ctx.reply)
}

/// `JSON.TOGGLE key path`
pub(super) fn toggle(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path] = args else { return Err(CommandError::SYNTAX) };
    let path = Path::read(path)?;
    let is_legacy = path.is_legacy;
    let answers = replace_each(ctx, (key, &path), "json.toggle", &mut |shape| {
        let Shape::Truth(is_true) = shape else { return Ok(None) };
        let mut value = Vec::new();
        write_truth(!is_true, &mut value);
        let answer = match is_legacy {
            true => Answer::Text(if *is_true { b"false".to_vec() } else { b"true".to_vec() }),
            false => Answer::Integer(i64::from(!is_true)),
        };
        Ok(Some((value, answer)))
    })?;
    reply(answers, &path, "boolean", ctx.reply)
}
