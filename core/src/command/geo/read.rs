//! What is asked of members: where they are, and how far from each other.

use super::numbers::{reply_distance, reply_position, unit_m};
use crate::command::{CommandError, Context, Outcome};
use crate::data::geo::hash::{position_of, text_of};
use crate::data::geo::{Position, distance_m};
use crate::data::zset::{Slot, SortedSet};
use crate::engine::Txn;

type Result<T> = std::result::Result<T, CommandError>;

/// Where a member is, if it is there.
pub(super) fn position_in(txn: &mut Txn<'_>, set: &SortedSet<'_>, member: &[u8]) -> Result<Option<Position>> {
    Ok(set.score(txn, &mut Slot::of(member))?.map(position_of))
}

/// `GEOPOS key [member [member ...]]`
pub(super) fn geopos(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    context.reply.array(members.len());
    for member in members {
        match position_in(context.txn, &set, member)? {
            Some(position) => reply_position(context.reply, position),
            None => context.reply.null_array(),
        }
    }
    Ok(())
}

/// `GEOHASH key [member [member ...]]`
pub(super) fn geohash(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    context.reply.array(members.len());
    for member in members {
        match position_in(context.txn, &set, member)? {
            Some(position) => context.reply.bulk(&text_of(position)),
            None => context.reply.null(),
        }
    }
    Ok(())
}

/// `GEODIST key member1 member2 [M | KM | FT | MI]`
pub(super) fn geodist(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, member1, member2, unit @ ..] = args else { return Err(CommandError::SYNTAX) };
    let unit_m = match unit {
        [] => 1.0,
        [unit] => unit_m(unit)?,
        _ => return Err(CommandError::SYNTAX),
    };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let from = position_in(context.txn, &set, member1)?;
    let to = position_in(context.txn, &set, member2)?;
    match from.zip(to) {
        Some((from, to)) => reply_distance(context.reply, distance_m(from, to) / unit_m),
        None => context.reply.null(),
    }
    Ok(())
}
