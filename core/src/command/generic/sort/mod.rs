//! SORT and SORT_RO: the elements of a list, a set or a sorted set in an order of the request's choice.
//!
//! Weights and answers may come from keys that only the elements name, so the transaction of a request with such patterns
//! holds the locks of all keys (`CommandSpec::touches_all_keys`). Everything is read before anything is written: the key
//! to store at may be any of those read.

mod options;
mod order;
mod pattern;

use crate::catalog::{self, CommandId};
use crate::command::string::reply_part;
use crate::command::{CommandError, Context, Outcome};
use crate::data::list::{End, List};
use crate::data::set::Set;
use crate::data::zset::SortedSet;
use crate::engine::{Direction, EngineError, Kind};
use crate::limits::VALUE_IN_MEMORY_MAX_BYTES;
use crate::memory_budget::Gathered;
use crate::server::hub::notify;
use crate::sorted;

use options::{By, Options};
use pattern::{Found, Pattern};

const SORT: CommandId = catalog::id("sort");
const SORT_RO: CommandId = catalog::id("sort_ro");

/// `SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]
/// [STORE destination]`
pub(in crate::command::generic) fn sort(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let reads_all = reads_all(ctx, SORT, args);
    run(ctx, args[1], &Options::parse(&args[2..], true, reads_all)?)
}

/// SORT without STORE.
pub(in crate::command::generic) fn sort_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let reads_all = reads_all(ctx, SORT_RO, args);
    run(ctx, args[1], &Options::parse(&args[2..], false, reads_all)?)
}

/// Whether the user may read keys that the request does not name, as BY and GET do.
fn reads_all(ctx: &Context<'_, '_>, command: CommandId, args: &[&[u8]]) -> bool {
    let user = ctx.client.access.user();
    user.is_unrestricted() || user.may_read_all(catalog::spec(command), args)
}

fn run(ctx: &mut Context<'_, '_>, key: &[u8], options: &Options<'_>) -> Outcome {
    let db = ctx.db();
    let kind = ctx.txn.kind(db, key)?;
    ctx.note_reads(&[key], true);
    if !matches!(kind, None | Some(Kind::List | Kind::Set | Kind::SortedSet)) {
        return Err(CommandError::WRONG_TYPE);
    }
    let elements = ctx.txn.sub_len(db, key)?;
    ctx.expect_work(elements)?;
    // A set has no order of its own that a stored list could keep.
    let forces_order = options.by == By::Nothing && kind == Some(Kind::Set) && options.store.is_some();
    let elements = if forces_order {
        let mut elements = all(ctx, key, kind)?;
        sorted::plainly(&mut elements);
        if options.descending {
            elements.reverse();
        }
        options.cut(elements)
    } else if options.by == By::Nothing {
        unsorted(ctx, key, kind, options)?
    } else {
        let elements = all(ctx, key, kind)?;
        options.cut(order::sorted(ctx, elements, options)?)
    };
    match options.store {
        Some(destination) => store(ctx, &elements, &options.gets, destination),
        None => reply(ctx, &elements, &options.gets),
    }
}

/// All elements in the order in which they are kept.
fn all(ctx: &mut Context<'_, '_>, key: &[u8], kind: Option<Kind>) -> Result<Vec<Vec<u8>>, CommandError> {
    let db = ctx.db();
    let mut elements = Gathered::within(ctx.txn.share());
    let mut push = |element: &[u8]| elements.push_with(element.len(), || element.to_vec());
    match kind {
        Some(Kind::List) => {
            if let Some(mut list) = List::open(ctx.txn, db, key)? {
                let len = list.len()?;
                list.range(0, len, &mut push)?;
            }
        }
        Some(Kind::Set) => {
            if let Some(mut set) = Set::open(ctx.txn, db, key)? {
                set.members(&mut push)?;
            }
        }
        Some(Kind::SortedSet) => {
            let set = SortedSet::open(ctx.txn, db, key)?;
            let len = set.len(ctx.txn)?;
            set.scan(ctx.txn, 0..len, Direction::Ascending, &mut |member, _| push(member))?;
        }
        _ => {}
    }
    Ok(elements.all()?)
}

/// The wanted elements in the order in which they are kept, or in the opposite one. Of a long list or sorted set only
/// these are read; a set has no direction.
fn unsorted(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    kind: Option<Kind>,
    options: &Options<'_>,
) -> Result<Vec<Vec<u8>>, CommandError> {
    let db = ctx.db();
    let mut elements = Gathered::within(ctx.txn.share());
    let mut push = |element: &[u8]| elements.push_with(element.len(), || element.to_vec());
    match kind {
        Some(Kind::List) => {
            if let Some(mut list) = List::open(ctx.txn, db, key)? {
                let len = list.len()?;
                let wanted = options.window(len);
                let count = wanted.end - wanted.start;
                let from = if options.descending { len - wanted.end } else { wanted.start };
                if count > 0 {
                    list.range(from, count, &mut push)?;
                }
            }
        }
        Some(Kind::SortedSet) => {
            let set = SortedSet::open(ctx.txn, db, key)?;
            let len = set.len(ctx.txn)?;
            let wanted = options.window(len);
            let (ranks, direction) = if options.descending {
                (len - wanted.end..len - wanted.start, Direction::Descending)
            } else {
                (wanted, Direction::Ascending)
            };
            set.scan(ctx.txn, ranks, direction, &mut |member, _| push(member))?;
        }
        _ => return Ok(options.cut(all(ctx, key, kind)?)),
    }
    let mut elements = elements.all()?;
    if kind == Some(Kind::List) && options.descending {
        elements.reverse();
    }
    Ok(elements)
}

/// Replies with the elements, or with what the GET patterns make of each.
fn reply(ctx: &mut Context<'_, '_>, elements: &[Vec<u8>], gets: &[Pattern<'_>]) -> Outcome {
    let (start, seen) = (ctx.reply.len(), ctx.txn.keys_seen());
    ctx.reply.array(elements.len() * gets.len().max(1));
    for element in elements {
        if gets.is_empty() {
            ctx.reply.bulk(element);
        }
        for get in gets {
            match get.find(ctx, element)? {
                Found::Nothing => ctx.reply.null(),
                Found::Bytes(bytes) => ctx.reply.bulk(&bytes),
                Found::String(key, len) => reply_part(ctx, &key, 0, len)?,
            }
            ctx.txn.forget_reads(seen);
            // Equal elements name the same values, so a small list could ask for any amount.
            let written = (ctx.reply.len() - start) as u64;
            if written > VALUE_IN_MEMORY_MAX_BYTES {
                return Err(EngineError::TooLarge(written).into());
            }
        }
    }
    Ok(())
}

/// Makes the destination a list of the elements, or of what the GET patterns make of them, missing values being empty.
/// Without any the destination is gone.
fn store(
    ctx: &mut Context<'_, '_>,
    elements: &[Vec<u8>],
    gets: &[Pattern<'_>],
    destination: &[u8],
) -> Outcome {
    let db = ctx.db();
    let mut answers = Vec::new();
    let mut size_bytes = 0;
    for element in elements {
        for get in gets {
            let answer = get.value(ctx, element, &mut size_bytes)?;
            answers.push(answer.unwrap_or_default());
        }
    }
    let stored = if gets.is_empty() { elements } else { &answers };
    let stored: Vec<&[u8]> = stored.iter().map(Vec::as_slice).collect();
    if stored.is_empty() {
        if ctx.txn.remove(db, destination)? {
            ctx.notify(notify::GENERIC, "del", destination);
        }
    } else {
        let settings = &ctx.shared.settings;
        let mut list = List::make(ctx.txn, db, destination)?;
        list.push(End::Tail, &stored, &|| settings.number("list-max-listpack-size"))?;
        ctx.notify(notify::LIST, "sortstore", destination);
    }
    ctx.reply.integer(i64::try_from(stored.len()).unwrap_or(i64::MAX));
    Ok(())
}
