//! Dictionaries of terms, by which FT.SPELLCHECK takes in and leaves out corrections. One is a hash of the catalog whose fields are the
//! terms: a definition beside the databases, since FLUSHDB leaves it alone, as in RediSearch.

use std::ops::ControlFlow;

use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome};
use crate::data::hash::{self, ListpackLimits};
use crate::data::suggestions;
use crate::engine::{CATALOG, SubWalk, Want};
use crate::limits::{DEFINITION_NAME_MAX_BYTES, SUGGESTION_MAX_CHARS};

/// A small encoding would be no use: nobody asks for it.
const LIMITS: ListpackLimits = ListpackLimits { entries: u64::MAX, value_bytes: u64::MAX };

/// What the key of a dictionary begins with.
const KEY_START: &[u8] = b"search:dict:";

/// The key of a dictionary.
fn key_of(name: &[u8]) -> Result<Vec<u8>, CommandError> {
    if name.len() > DEFINITION_NAME_MAX_BYTES {
        return Err(CommandError::owned(format!(
            "ERR the name of a dictionary has at most {DEFINITION_NAME_MAX_BYTES} bytes"
        )));
    }
    Ok([KEY_START, name].concat())
}

/// `FT.DICTADD dict term [term ...]`
pub(super) fn dictadd(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, name, terms @ ..] = args else { return Err(CommandError::SYNTAX) };
    let key = key_of(name)?;
    if !terms.iter().all(|term| suggestions::is_text(term)) {
        return Err(CommandError::owned(format!(
            "ERR a term has 1 to {SUGGESTION_MAX_CHARS} characters and no zero byte"
        )));
    }
    ctx.expect_work(terms.len() as u64)?;
    let pairs: Vec<&[u8]> = terms.iter().flat_map(|term| [*term, &[]]).collect();
    let root = hash::root(ctx.txn, CATALOG, &key)?;
    let added = hash::set(ctx.txn, (CATALOG, &key), root.as_ref(), &pairs, || LIMITS)?;
    ctx.reply.integer(added as i64);
    Ok(())
}

/// `FT.DICTDEL dict term [term ...]`
pub(super) fn dictdel(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, name, terms @ ..] = args else { return Err(CommandError::SYNTAX) };
    let key = key_of(name)?;
    ctx.expect_work(terms.len() as u64)?;
    let removed = match hash::root(ctx.txn, CATALOG, &key)? {
        Some(_) => hash::remove(ctx.txn, CATALOG, &key, terms)?,
        None => 0,
    };
    ctx.reply.integer(removed as i64);
    Ok(())
}

/// `FT.DICTDUMP dict`
pub(super) fn dictdump(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, name] = args else { return Err(CommandError::SYNTAX) };
    let key = key_of(name)?;
    let len = match hash::root(ctx.txn, CATALOG, &key)? {
        Some(_) => ctx.txn.sub_len(CATALOG, &key)?,
        None => 0,
    };
    ctx.expect_work(len)?;
    ctx.reply.set(usize::try_from(len).unwrap_or(usize::MAX));
    if len > 0 {
        let reply = &mut *ctx.reply;
        ctx.txn.sub_scan(CATALOG, &key, SubWalk::all(Want::Subkeys).expecting(len), &mut |term, _| {
            reply.bulk(term);
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// The terms of a dictionary that another command names.
///
/// # Errors
/// There is none of this name; or the engine's.
pub(super) fn terms(ctx: &mut Context<'_, '_>, name: &[u8]) -> Result<Vec<Vec<u8>>, CommandError> {
    let key = key_of(name)?;
    if hash::root(ctx.txn, CATALOG, &key)?.is_none() {
        let name = quoted(name, 64);
        return Err(CommandError::owned(format!("Dict does not exist: {name}")));
    }
    let mut terms = Vec::new();
    ctx.txn.sub_scan(CATALOG, &key, SubWalk::all(Want::Subkeys), &mut |term, _| {
        terms.push(term.to_vec());
        ControlFlow::Continue(())
    })?;
    Ok(terms)
}
