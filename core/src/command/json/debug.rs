//! JSON.DEBUG: what values take.

use super::path::{Path, ROOT};
use crate::catalog;
use crate::command::{CommandError, Context, Outcome, help};
use crate::data::json::Document;
use crate::json::node::{Node, Stopped};
use crate::json::packed::{Large, Shape};

/// `JSON.DEBUG MEMORY key [path]`, `JSON.DEBUG HELP`
pub(super) fn debug(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args {
        [_, sub, key, path @ ..] if sub.eq_ignore_ascii_case(b"memory") => {
            memory(ctx, key, path.first().copied().unwrap_or(ROOT))
        }
        _ => help::reply_help(ctx.reply, catalog::spec(catalog::id("json.debug"))),
    }
}

/// Replies with the bytes that each value takes in the store, without keys and what the keydir holds; a document that is missing has 0.
fn memory(ctx: &mut Context<'_, '_>, key: &[u8], path: &[u8]) -> Outcome {
    let path = Path::read(path)?;
    let db = ctx.db();
    let pieces = ctx.txn.sub_len(db, key)?;
    ctx.expect_work(pieces)?;
    let Some(mut document) = Document::open(ctx.txn, db, key)? else {
        if path.is_legacy {
            ctx.reply.integer(0)
        } else {
            ctx.reply.array(0)
        }
        return Ok(());
    };
    let mut sizes = Vec::new();
    for found in path.find(&mut document)? {
        let size = size_bytes(found.node, &mut document);
        sizes.push(size.map_err(|stopped| CommandError::from(document.stopped(stopped)))?);
    }
    match (path.is_legacy, sizes.first()) {
        (true, first) => ctx.reply.integer(first.copied().unwrap_or(0)),
        (false, _) => {
            ctx.reply.array(sizes.len());
            sizes.iter().for_each(|size| ctx.reply.integer(*size));
        }
    }
    Ok(())
}

fn size_bytes(node: Node, document: &mut Document<'_, '_>) -> Result<i64, Stopped> {
    let (mut bytes, mut left) = (0, vec![node]);
    while let Some(node) = left.pop() {
        bytes += node.bytes().len() as i64;
        match node.shape(document)? {
            Shape::Elsewhere(Large::Text, _) => left.push(node.whole(document)?),
            Shape::Elsewhere(..) => left.extend(node.parts(document)?.into_iter().map(|(_, part)| part)),
            _ => {}
        }
    }
    Ok(bytes)
}
