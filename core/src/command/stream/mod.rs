//! The commands of streams.
//!
//! - [`add`]: XADD; [`trim`]: XTRIM, and the options it shares with XADD.
//! - [`entries`]: what is asked of entries or done to them: XLEN, XRANGE, XREVRANGE, XDEL; XSETID.
//! - [`read`]: XREAD and XREADGROUP.
//! - [`group`] has XGROUP, [`info`] has XINFO.
//! - [`pending`]: what was delivered and not acknowledged: XACK, XPENDING; [`claim`]: XCLAIM and XAUTOCLAIM.
//! - [`ids`]: how ids are written.

mod add;
mod claim;
mod entries;
mod group;
mod ids;
mod info;
mod pending;
mod read;
mod trim;

use super::args::quoted;
use super::{CommandError, Context, Group};
use crate::data::stream::{self, Fields, NodeLimits, Stream, StreamId};
use crate::resp::Reply;
use crate::server::{SettingPlace, Shared};

/// The handlers of this group.
pub(super) const HANDLERS: Group = &[
    ("xack", pending::xack),
    ("xadd", add::xadd),
    ("xautoclaim", claim::xautoclaim),
    ("xclaim", claim::xclaim),
    ("xdel", entries::xdel),
    ("xgroup", group::xgroup),
    ("xinfo", info::xinfo),
    ("xlen", entries::xlen),
    ("xpending", pending::xpending),
    ("xrange", entries::xrange),
    ("xread", read::xread),
    ("xreadgroup", read::xreadgroup),
    ("xrevrange", entries::xrevrange),
    ("xsetid", entries::xsetid),
    ("xtrim", trim::xtrim),
];

/// When nodes are full.
fn node_limits(shared: &Shared) -> NodeLimits {
    const ENTRIES: SettingPlace = SettingPlace::of("stream-node-max-entries");
    const SIZE_BYTES: SettingPlace = SettingPlace::of("stream-node-max-bytes");
    let number = |place| u64::try_from(shared.settings.number_at(place)).unwrap_or(0);
    NodeLimits { entries: number(ENTRIES), size_bytes: number(SIZE_BYTES) }
}

/// Writes an entry: its id and the list of its fields and values.
fn reply_entry(reply: &mut Reply, id: StreamId, fields: Fields<'_>) {
    reply.array(2);
    reply_id(reply, id);
    let list = reply.defer();
    let mut count = 0;
    for text in fields {
        reply.bulk(text);
        count += 1;
    }
    reply.finish_array(list, count);
}

/// Writes an id.
fn reply_id(reply: &mut Reply, id: StreamId) {
    reply.bulk(&ids::text(id));
}

/// Writes a count.
fn reply_count(reply: &mut Reply, count: u64) {
    reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
}

/// A stream and one of its groups, or None if either is missing.
fn stream_and_group<'k>(
    context: &mut Context<'_, '_>,
    key: &'k [u8],
    group: &[u8],
) -> Result<Option<(Stream<'k>, stream::Group)>, CommandError> {
    let db = context.db();
    let Some(stream) = Stream::open(context.txn, db, key)? else { return Ok(None) };
    Ok(stream.group(context.txn, group)?.map(|group| (stream, group)))
}

/// The error of commands that need a stream with a group.
fn no_such_group(key: &[u8], group: &[u8]) -> CommandError {
    let (key, group) = (quoted(key, usize::MAX), quoted(group, usize::MAX));
    CommandError::owned(format!("NOGROUP No such key '{key}' or consumer group '{group}'"))
}

/// The error of a subcommand whose arguments do not fit, as Redis words it.
fn misused_subcommand(container: &str, subcommand: &[u8]) -> CommandError {
    let subcommand = quoted(subcommand, 128);
    CommandError::owned(format!(
        "ERR unknown subcommand or wrong number of arguments for '{subcommand}'. Try {container} HELP."
    ))
}
