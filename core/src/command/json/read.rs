//! Reads: JSON.GET and its like, types, lengths and names.

use super::path::{NO_KEY, Path, ROOT};
use crate::command::args::{integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::DataError;
use crate::data::json::Document;
use crate::json::format::{Brackets, Format, write, write_at, write_name};
use crate::json::node::{Node, Step, Type};
use crate::json::number::Number;
use crate::json::packed::Shape;
use crate::json::path::Found;
use crate::json::text;
use crate::resp::{Protocol, Reply};

type Result<T, E = CommandError> = std::result::Result<T, E>;

/// What a command says of one value.
pub(super) enum Answer {
    /// The value is not of the kind that the command is about.
    Null,
    Integer(i64),
    Text(Vec<u8>),
    Texts(Vec<Vec<u8>>),
}

impl Answer {
    pub fn write(&self, reply: &mut Reply) {
        match self {
            Answer::Null => reply.null(),
            Answer::Integer(value) => reply.integer(*value),
            Answer::Text(text) => reply.bulk(text),
            Answer::Texts(texts) => {
                reply.array(texts.len());
                texts.iter().for_each(|text| reply.bulk(text));
            }
        }
    }
}

/// Appends a value as text.
pub(super) fn text_of(node: &Node, document: &mut Document<'_, '_>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let written = write(node, Format::default(), document, &mut out);
    written.map_err(|stopped| document.stopped(stopped))?;
    Ok(out)
}

/// `JSON.GET key [INDENT indent] [NEWLINE newline] [SPACE space] [NOESCAPE] [path ...]`
pub(super) fn get(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let mut format = Format::default();
    let mut paths = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let place = match option {
            _ if is_option(option, "INDENT") => &mut format.indent,
            _ if is_option(option, "NEWLINE") => &mut format.newline,
            _ if is_option(option, "SPACE") => &mut format.space,
            // What RedisJSON takes for old clients' sake, and ignores.
            _ if is_option(option, "NOESCAPE") => continue,
            _ => {
                paths.push(Path::read(option)?);
                continue;
            }
        };
        *place = options.next().ok_or(CommandError::SYNTAX)?;
    }
    if paths.is_empty() {
        paths.push(Path::read(ROOT)?);
    }
    let db = ctx.db();
    expect(ctx, key, &paths)?;
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        ctx.reply.null();
        return Ok(());
    };
    let mut out = Vec::new();
    let is_legacy = paths.iter().all(|path| path.is_legacy);
    match paths.as_slice() {
        [path] => {
            let found = path.find(&mut document)?;
            write_found((path, &found), is_legacy, format, 0, &mut document, &mut out)?;
        }
        paths => {
            let mut brackets = Brackets::open(true, format, 0, &mut out);
            for path in paths {
                brackets.part(&mut out);
                write_name(&String::from_utf8_lossy(path.text), format, &mut out);
                let found = path.find(&mut document)?;
                write_found((path, &found), is_legacy, format, 1, &mut document, &mut out)?;
            }
            brackets.close(&mut out);
        }
    }
    ctx.reply.bulk(&out);
    Ok(())
}

/// Says how much there is to read: a path that may find several values may read all pieces.
fn expect(ctx: &mut Context<'_, '_>, key: &[u8], paths: &[Path<'_>]) -> Outcome {
    if paths.iter().all(Path::is_narrow) {
        return Ok(());
    }
    let db = ctx.db();
    let pieces = ctx.txn.sub_len(db, key)?;
    ctx.expect_work(pieces)
}

/// Appends what a path has found.
fn write_found(
    (path, found): (&Path<'_>, &[Found]),
    is_legacy: bool,
    format: Format<'_>,
    level: usize,
    document: &mut Document<'_, '_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if is_legacy {
        let Some(first) = found.first() else { return Err(path.missing()) };
        let written = write_at(&first.node, format, level, document, out);
        return written.map_err(|stopped| document.stopped(stopped).into());
    }
    let mut brackets = Brackets::open(false, format, level, out);
    for found in found {
        brackets.part(out);
        let written = write_at(&found.node, format, level + 1, document, out);
        written.map_err(|stopped| document.stopped(stopped))?;
    }
    brackets.close(out);
    Ok(())
}

/// `JSON.MGET key [key ...] path`
pub(super) fn mget(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, keys @ .., path] = args else { return Err(CommandError::SYNTAX) };
    let path = Path::read(path)?;
    let db = ctx.db();
    ctx.reply.array(keys.len());
    for key in keys {
        // Another type is no document, as in MGET.
        let opened = match Document::open(ctx.txn, db, key) {
            Err(DataError::WrongType) => None,
            opened => opened?,
        };
        let mut out = Vec::new();
        let is_there = match opened {
            None => false,
            Some(mut document) => {
                let found = path.find(&mut document)?;
                let is_there = !(found.is_empty() && path.is_legacy);
                if is_there {
                    let all = (&path, found.as_slice());
                    write_found(all, path.is_legacy, Format::default(), 0, &mut document, &mut out)?;
                }
                is_there
            }
        };
        if is_there { ctx.reply.bulk(&out) } else { ctx.reply.null() }
    }
    Ok(())
}

/// Replies with what `ask` says of the values that a path finds. `missing_is_null`: whether a path of the older form that finds
/// nothing is null and no error.
fn each(
    ctx: &mut Context<'_, '_>,
    (key, path): (&[u8], &[u8]),
    missing_is_null: bool,
    wanted: &str,
    ask: &mut dyn FnMut(&Node, &mut Document<'_, '_>) -> Result<Answer>,
) -> Outcome {
    let path = Path::read(path)?;
    let db = ctx.db();
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        if !path.is_legacy {
            return Err(NO_KEY);
        }
        ctx.reply.null();
        return Ok(());
    };
    let found = path.find(&mut document)?;
    if path.is_legacy {
        let Some(first) = found.first() else {
            if !missing_is_null {
                return Err(path.missing());
            }
            ctx.reply.null();
            return Ok(());
        };
        // RedisJSON answers for the first value that is of the kind.
        for one in &found {
            match ask(&one.node, &mut document)? {
                Answer::Null => {}
                answer => {
                    answer.write(ctx.reply);
                    return Ok(());
                }
            }
        }
        let kind = first.node.kind(&mut document).map_err(|stopped| document.stopped(stopped))?;
        return Err(wrong_type(wanted, kind));
    }
    let answers = found.iter().map(|found| ask(&found.node, &mut document));
    let answers: Vec<Answer> = answers.collect::<Result<_>>()?;
    ctx.reply.array(answers.len());
    answers.iter().for_each(|answer| answer.write(ctx.reply));
    Ok(())
}

/// The error for a value of another kind than the wanted one.
pub(super) fn wrong_type(wanted: &str, kind: Type) -> CommandError {
    CommandError::owned(format!(
        "WRONGTYPE wrong type of path value - expected {wanted} but found {}",
        kind.name()
    ))
}

fn told<T>(result: Result<T, crate::json::node::Stopped>, document: &mut Document<'_, '_>) -> Result<T> {
    result.map_err(|stopped| document.stopped(stopped).into())
}

/// The key and the path of a command that has no more.
fn key_and_path<'a>(args: &[&'a [u8]]) -> Result<(&'a [u8], &'a [u8])> {
    match args {
        [_, key] => Ok((key, ROOT)),
        [_, key, path] => Ok((key, path)),
        _ => Err(CommandError::SYNTAX),
    }
}

/// `JSON.TYPE key [path]`
pub(super) fn kind(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, path) = key_and_path(args)?;
    let path = Path::read(path)?;
    let db = ctx.db();
    let is_nested = ctx.reply.protocol() == Protocol::Resp3;
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        if is_nested {
            ctx.reply.array(1);
        }
        ctx.reply.null();
        return Ok(());
    };
    let mut names = Vec::new();
    for found in path.find(&mut document)? {
        let kind = found.node.kind(&mut document);
        names.push(told(kind, &mut document)?.name());
    }
    if is_nested {
        ctx.reply.array(1);
    }
    match (path.is_legacy, names.first()) {
        (true, None) => ctx.reply.null(),
        (true, Some(name)) => ctx.reply.bulk(name.as_bytes()),
        (false, _) => {
            ctx.reply.array(names.len());
            names.iter().for_each(|name| ctx.reply.bulk(name.as_bytes()));
        }
    }
    Ok(())
}

/// `JSON.STRLEN key [path]`
pub(super) fn strlen(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    each(ctx, key_and_path(args)?, false, "string", &mut |node, document| {
        let whole = node.whole(document);
        let whole = told(whole, document)?;
        let shape = whole.shape(document).ok().and_then(|shape| match shape {
            Shape::Text(text) => Some(Answer::Integer(text.len() as i64)),
            _ => None,
        });
        Ok(shape.unwrap_or(Answer::Null))
    })
}

fn count_of(node: &Node, wanted: Type, document: &mut Document<'_, '_>) -> Result<Answer> {
    let kind = node.kind(document);
    if told(kind, document)? != wanted {
        return Ok(Answer::Null);
    }
    let count = node.count(document);
    Ok(told(count, document)?.map_or(Answer::Null, |count| Answer::Integer(count as i64)))
}

/// `JSON.ARRLEN key [path]`
pub(super) fn arrlen(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    each(ctx, key_and_path(args)?, false, "array", &mut |node, document| {
        count_of(node, Type::Array, document)
    })
}

/// `JSON.OBJLEN key [path]`
pub(super) fn objlen(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    each(ctx, key_and_path(args)?, true, "object", &mut |node, document| {
        count_of(node, Type::Object, document)
    })
}

/// `JSON.OBJKEYS key [path]`
pub(super) fn objkeys(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    each(ctx, key_and_path(args)?, true, "object", &mut |node, document| {
        let kind = node.kind(document);
        if told(kind, document)? != Type::Object {
            return Ok(Answer::Null);
        }
        let parts = node.parts(document);
        let names = told(parts, document)?.into_iter().filter_map(|(step, _)| match step {
            Step::Name(name) => Some(name.as_bytes().to_vec()),
            Step::Index(_) => None,
        });
        Ok(Answer::Texts(names.collect()))
    })
}

/// `JSON.ARRINDEX key path value [start [stop]]`
pub(super) fn arrindex(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, path, value, range @ ..] = args else { return Err(CommandError::SYNTAX) };
    let wanted = Node::new(packed(value)?);
    let start = range.first().map_or(Ok(0), |start| integer(start))?;
    let stop = range.get(1).map_or(Ok(0), |stop| integer(stop))?;
    each(ctx, (key, path), false, "array", &mut |node, document| {
        let kind = node.kind(document);
        if told(kind, document)? != Type::Array {
            return Ok(Answer::Null);
        }
        let parts = node.parts(document);
        let parts = told(parts, document)?;
        let count = parts.len() as i64;
        let normal = |index: i64| if index < 0 { (count + index).max(0) } else { index.min(count) };
        // A stop of 0 is the end, as in RedisJSON.
        let (from, to) = (normal(start), if stop == 0 { count } else { normal(stop) });
        let part = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let part = part.and_then(|(from, to)| parts.get(from..to)).unwrap_or_default();
        for (at, (_, element)) in (from..).zip(part) {
            let is_same = is_same(element, &wanted, document)?;
            if is_same {
                return Ok(Answer::Integer(at));
            }
        }
        Ok(Answer::Integer(-1))
    })
}

/// Whether two values are the same for ARRINDEX, which tells `3` from `3.0`.
fn is_same(one: &Node, other: &Node, document: &mut Document<'_, '_>) -> Result<bool> {
    let kinds = (one.kind(document), other.kind(document));
    if told(kinds.0, document)? != told(kinds.1, document)? {
        return Ok(false);
    }
    let is_equal = one.equals(other, document);
    told(is_equal, document)
}

/// A value of a request, with how deep it is.
pub(super) fn parsed(value: &[u8]) -> Result<text::Parsed> {
    text::parse(value).map_err(|message| CommandError::owned(format!("ERR {message}")))
}

/// A value of a request.
pub(super) fn packed(value: &[u8]) -> Result<Vec<u8>> {
    parsed(value).map(|parsed| parsed.packed)
}

/// `JSON.RESP key [path]`
pub(super) fn resp(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, path) = key_and_path(args)?;
    let path = Path::read(path)?;
    let db = ctx.db();
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        ctx.reply.null();
        return Ok(());
    };
    let found = path.find(&mut document)?;
    if path.is_legacy {
        let Some(first) = found.first() else { return Err(path.missing()) };
        return write_resp(&first.node, &mut document, ctx.reply);
    }
    ctx.reply.array(found.len());
    found.iter().try_for_each(|found| write_resp(&found.node, &mut document, ctx.reply))
}

/// A value as values of RESP. Calls itself as deep as documents may be.
fn write_resp(node: &Node, document: &mut Document<'_, '_>, reply: &mut Reply) -> Outcome {
    let node = node.whole(document);
    let node = told(node, document)?;
    let kind = node.kind(document);
    match told(kind, document)? {
        Type::Array | Type::Object => {
            let parts = node.parts(document);
            let parts = told(parts, document)?;
            let is_object = parts.iter().any(|(step, _)| matches!(step, Step::Name(_)))
                || matches!(node.kind(document), Ok(Type::Object));
            reply.array(1 + parts.len() * if is_object { 2 } else { 1 });
            reply.simple(if is_object { "{" } else { "[" });
            for (step, part) in &parts {
                if let Step::Name(name) = step {
                    reply.bulk(name.as_bytes());
                }
                write_resp(part, document, reply)?;
            }
        }
        _ => match told(node.shape(document), document)? {
            Shape::Null => reply.null(),
            Shape::Truth(is_true) => reply.simple(if is_true { "true" } else { "false" }),
            Shape::Number(Number::Int(value)) => reply.integer(value),
            Shape::Number(number) if reply.protocol() == Protocol::Resp3 => reply.double(number.to_f64()),
            Shape::Number(number) => {
                let mut digits = Vec::new();
                number.write(&mut digits);
                reply.bulk(&digits);
            }
            Shape::Text(text) => reply.bulk(text.as_bytes()),
            _ => return Err(document.stopped(crate::json::node::Stopped).into()),
        },
    }
    Ok(())
}
