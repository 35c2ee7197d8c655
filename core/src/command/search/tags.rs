//! FT.TAGVALS.

use std::collections::BTreeSet;

use super::admin::{self, check_access};
use super::find;
use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome};
use crate::search::index::{Block, List, View, Walk};
use crate::search::schema::FieldKind;

pub(super) fn tag_values(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = admin::find(ctx, args[1])?;
    let Some((field, known)) = index.definition.schema.find(args[2]) else {
        return Err(CommandError::text("No such field"));
    };
    if !matches!(known.kind, FieldKind::Tag { .. }) {
        return Err(CommandError::owned(format!("Not a tag field: {}", quoted(args[2], 64))));
    }
    check_access(ctx, &index, args, false)?;
    super::ready(&index)?;
    find::check_locks(ctx)?;
    let own = find::own_changes(ctx, &index)?;
    let share = ctx.txn.share();
    let values = find::with_views(ctx, &index, &own, |views| {
        let (mut values, mut failed) = (BTreeSet::new(), None);
        for view in views {
            view.part.tags(field, b"", &mut |tag, _, list| {
                if has_live(view, list) && values.insert(tag.to_vec()) {
                    failed = share.look().err();
                }
                if failed.is_some() { Walk::End } else { Walk::On }
            });
        }
        failed.map_or(Ok(values), Err)
    });
    let values = values.map_err(crate::engine::EngineError::from)?;
    ctx.reply.set(values.len());
    values.iter().for_each(|value| ctx.reply.bulk(value));
    Ok(())
}

/// Whether a document of a list lives.
pub(super) fn has_live(view: &View<'_>, list: List) -> bool {
    let mut block = Block::default();
    let mut postings = view.part.postings(list);
    while postings.next_block(&mut block) {
        if block.places.iter().take(block.len).any(|place| view.live.has(*place)) {
            return true;
        }
    }
    false
}

/// How many documents of a list live.
pub(super) fn count_live(view: &View<'_>, list: List) -> u64 {
    let (mut block, mut count) = (Block::default(), 0);
    let mut postings = view.part.postings(list);
    while postings.next_block(&mut block) {
        count += block.places.iter().take(block.len).filter(|place| view.live.has(**place)).count() as u64;
    }
    count
}
