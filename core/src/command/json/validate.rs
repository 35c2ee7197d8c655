//! JSON.VALIDATE: documents against a JSON Schema, where the host has a validator.

use super::path::NO_KEY;
use crate::command::{CommandError, Context, Outcome};
use crate::data::json::Document;
use crate::engine::Db;

/// `JSON.VALIDATE key schema`: both are keys of documents.
pub(super) fn validate(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, schema] = args else { return Err(CommandError::SYNTAX) };
    let Some(engine) = ctx.shared.schemas.get() else {
        return Err(CommandError::text("ERR this home of the store has no validator of JSON Schema"));
    };
    let db = ctx.db();
    let document = text_of(ctx, db, key)?;
    let schema = text_of(ctx, db, schema)?;
    engine.validate(&schema, &document).map_err(|invalid| CommandError::owned(format!("ERR {invalid}")))?;
    ctx.reply.ok();
    Ok(())
}

fn text_of(ctx: &mut Context<'_, '_>, db: Db, key: &[u8]) -> Result<Vec<u8>, CommandError> {
    let pieces = ctx.txn.sub_len(db, key)?;
    ctx.expect_work(pieces)?;
    match Document::open(ctx.txn, db, key)? {
        Some(mut document) => Ok(document.text()?),
        None => Err(NO_KEY),
    }
}
