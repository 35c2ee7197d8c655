//! The commands of sorted sets that never wait.
//!
//! - [`add`]: ZADD and ZINCRBY.
//! - [`read`]: what is asked of single members or of counts.
//! - [`range`]: ZRANGE, its older forms, and ZRANGESTORE.
//! - [`remove`]: removals by member, by range, and the pops.
//! - [`combine`]: unions, intersections and differences.
//! - [`bounds`]: how ranges of scores and names are written; [`scan`]: ZSCAN.

mod add;
mod bounds;
mod combine;
mod range;
mod read;
pub(super) mod remove;
mod scan;

pub(super) use add::zadd;

use super::{Context, Group, Outcome};
use crate::data::zset::{self, ListpackLimits};
use crate::resp::{Protocol, Reply};
use crate::server::Shared;
use crate::server::hub::notify;

/// The handlers of this group.
pub(super) const HANDLERS: Group = &[
    ("zadd", add::zadd),
    ("zcard", read::zcard),
    ("zcount", read::zcount),
    ("zdiff", combine::zdiff),
    ("zdiffstore", combine::zdiffstore),
    ("zincrby", add::zincrby),
    ("zinter", combine::zinter),
    ("zintercard", combine::zintercard),
    ("zinterstore", combine::zinterstore),
    ("zlexcount", read::zlexcount),
    ("zmpop", remove::zmpop),
    ("zmscore", read::zmscore),
    ("zpopmax", remove::zpopmax),
    ("zpopmin", remove::zpopmin),
    ("zrandmember", read::zrandmember),
    ("zrange", range::zrange),
    ("zrangebylex", range::zrangebylex),
    ("zrangebyscore", range::zrangebyscore),
    ("zrangestore", range::zrangestore),
    ("zrank", read::zrank),
    ("zrem", remove::zrem),
    ("zremrangebylex", remove::zremrangebylex),
    ("zremrangebyrank", remove::zremrangebyrank),
    ("zremrangebyscore", remove::zremrangebyscore),
    ("zrevrange", range::zrevrange),
    ("zrevrangebylex", range::zrevrangebylex),
    ("zrevrangebyscore", range::zrevrangebyscore),
    ("zrevrank", read::zrevrank),
    ("zscan", scan::zscan),
    ("zscore", read::zscore),
    ("zunion", combine::zunion),
    ("zunionstore", combine::zunionstore),
];

/// Up to where sorted sets are listpacks. Not free to ask.
pub(super) fn listpack_limits(shared: &Shared) -> ListpackLimits {
    let number = |name| u64::try_from(shared.settings.number(name)).unwrap_or(0);
    ListpackLimits {
        entries: number("zset-max-listpack-entries"),
        value_bytes: number("zset-max-listpack-value"),
    }
}

/// Makes a key a sorted set of what a command found, and replies with their number; nothing found removes the key.
pub(super) fn store(
    context: &mut Context<'_, '_>,
    target: &[u8],
    members: &[(Vec<u8>, f64)],
    event: &'static str,
) -> Outcome {
    let db = context.db();
    if !members.is_empty() {
        zset::replace(context.txn, db, target, members, listpack_limits(context.shared))?;
        context.notify(notify::SORTED_SET, event, target);
    } else if context.txn.remove(db, target)? {
        context.notify(notify::GENERIC, "del", target);
    }
    context.reply.integer(members.len() as i64);
    Ok(())
}

/// How members and their scores are laid out in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Members only.
    Members,
    /// Member, score, member, score …
    Flat,
    /// Pairs of member and score.
    Pairs,
}

impl Layout {
    /// The layout of a reply with or without scores: RESP3 nests, RESP2 does not.
    fn of(with_scores: bool, reply: &Reply) -> Layout {
        match (with_scores, reply.protocol()) {
            (false, _) => Layout::Members,
            (true, Protocol::Resp2) => Layout::Flat,
            (true, Protocol::Resp3) => Layout::Pairs,
        }
    }

    /// Begins a reply of `count` members.
    fn begin(self, reply: &mut Reply, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        reply.array(if self == Layout::Flat { count.saturating_mul(2) } else { count });
    }

    /// Writes one member.
    fn write(self, reply: &mut Reply, member: &[u8], score: f64) {
        if self == Layout::Pairs {
            reply.array(2);
        }
        reply.bulk(member);
        if self != Layout::Members {
            reply.double(score);
        }
    }
}
