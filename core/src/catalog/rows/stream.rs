//! Streams: entries in the order in which they were added, and groups of consumers that share them.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::{first_half_after, key};
use crate::catalog::row::{Row, command};

/// Bounds that are ids.
const ID_BOUNDS: &[(&str, Kind)] = &[("start", Kind::String), ("end", Kind::String)];

/// Where the keys of XREAD and XREADGROUP begin: behind STREAMS, which may also be the name of a group, of a consumer or
/// of a key.
fn behind_streams(args: &[&[u8]]) -> Option<usize> {
    let mut place = 1;
    loop {
        let option = args.get(place)?.to_ascii_lowercase();
        place += match option.as_slice() {
            b"streams" => return Some(place + 1),
            b"block" | b"count" => 2,
            b"group" => 3,
            b"noack" => 1,
            _ => return None,
        };
    }
}

pub(super) const ROWS: &[Row] = &[
    command("xack", -4, "key group id [id ...]")
        .since("5.0.0")
        .flags("write fast wakes_nobody")
        .keys(&[key(1, "RW update")])
        .reply("int")
        .complexity("O(log(N)) for each id, N: pending entries of the group")
        .summary("Acknowledges entries, which are then no longer pending in the group"),
    command(
        "xadd",
        -5,
        "key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]",
    )
    .values(2, 1)
    .since("5.0.0")
    .flags("write denyoom fast")
    .keys(&[key(1, "RW update")])
    .tips("nondeterministic_output")
    .reply("bulk; NOMKSTREAM: bulk?")
    .complexity("O(log(N)), N: entries of the stream; O(M*log(N)) with M entries trimmed")
    .summary("Adds an entry at the end of a stream, and may trim the beginning"),
    command("xautoclaim", -6, "key group consumer min-idle-time start [COUNT count] [JUSTID]")
        .types(&[("start", Kind::String)])
        .since("6.2.0")
        .flags("write fast wakes_nobody")
        .keys(&[key(1, "RW delete")])
        .tips("nondeterministic_output")
        .reply("(bulk, [entry], [bulk]); JUSTID: (bulk, [bulk], [bulk])")
        .complexity("O(M*log(N)), N: pending entries of the group, M: entries looked at")
        .summary("Gives pending entries that nobody has worked on for a while to a consumer"),
    command(
        "xclaim",
        -6,
        "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] \
         [FORCE] [JUSTID] [LASTID lastid]",
    )
    .types(&[("ms", Kind::Integer)])
    .since("5.0.0")
    .flags("write fast wakes_nobody")
    .keys(&[key(1, "RW update")])
    .tips("nondeterministic_output")
    .reply("[entry]; JUSTID: [bulk]")
    .complexity("O(log(N)) for each id, N: pending entries of the group")
    .summary("Gives pending entries to another consumer"),
    command("xdel", -3, "key id [id ...]")
        .since("5.0.0")
        .flags("write fast wakes_nobody")
        .keys(&[key(1, "RW delete")])
        .reply("int")
        .complexity("O(log(N)) for each id, N: entries of the stream")
        .summary("Deletes entries by their ids and counts those that were there"),
    command("xgroup", -2, "")
        .since("5.0.0")
        .complexity("depends on the subcommand")
        .summary("Makes, moves and removes groups of consumers")
        .subcommands(&[
            command("xgroup|create", -5, "key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]")
                .types(&[("entries-read", Kind::Integer)])
                .since("5.0.0")
                .flags("write denyoom wakes_nobody")
                .keys(&[key(2, "RW insert")])
                .reply("ok")
                .complexity("O(log(N)), N: groups of the stream")
                .summary("Makes a group that reads from an id on"),
            command("xgroup|createconsumer", 5, "key group consumer")
                .since("6.2.0")
                .flags("write denyoom wakes_nobody")
                .keys(&[key(2, "RW insert")])
                .reply("bool")
                .complexity("O(log(N)), N: consumers of the group")
                .summary("Makes a consumer in a group"),
            command("xgroup|delconsumer", 5, "key group consumer")
                .since("5.0.0")
                .flags("write wakes_nobody")
                .keys(&[key(2, "RW delete")])
                .reply("int")
                .complexity("O(M*log(N)), N: pending entries of the group, M: those of the consumer")
                .summary("Removes a consumer and counts the entries that were pending for it"),
            command("xgroup|destroy", 4, "key group")
                .since("5.0.0")
                .flags("write")
                .keys(&[key(2, "RW delete")])
                .reply("bool")
                .complexity("O(N), N: pending entries and consumers of the group")
                .summary("Removes a group with its consumers and all that is pending"),
            command("xgroup|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of XGROUP"),
            command("xgroup|setid", -5, "key group <id | $> [ENTRIESREAD entries-read]")
                .types(&[("entries-read", Kind::Integer)])
                .since("5.0.0")
                .flags("write wakes_nobody")
                .keys(&[key(2, "RW update")])
                .reply("ok")
                .complexity("O(log(N)), N: groups of the stream")
                .summary("Moves a group to another id, from which it reads on"),
        ]),
    command("xinfo", -2, "")
        .since("5.0.0")
        .complexity("depends on the subcommand")
        .summary("Tells about streams, their groups and consumers")
        .subcommands(&[
            command("xinfo|consumers", 4, "key group")
                .since("5.0.0")
                .flags("readonly")
                .keys(&[key(2, "RO access")])
                .tips("nondeterministic_output")
                .reply("[{text: bulk | int}]")
                .complexity("O(N), N: consumers of the group")
                .summary("Lists the consumers of a group"),
            command("xinfo|groups", 3, "key")
                .since("5.0.0")
                .flags("readonly")
                .keys(&[key(2, "RO access")])
                .reply("[{text: bulk | int?}]")
                .complexity("O(N), N: groups of the stream")
                .summary("Lists the groups of a stream"),
            command("xinfo|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of XINFO"),
            command("xinfo|stream", -3, "key [FULL [COUNT count]]")
                .since("5.0.0")
                .flags("readonly")
                .keys(&[key(2, "RO access")])
                .reply("{text: value}")
                .complexity("O(log(N)), N: entries of the stream; with FULL also what is listed")
                .summary("Tells about a stream, in full with its groups and consumers"),
        ]),
    command("xlen", 2, "key")
        .since("5.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .reply("int")
        .complexity("O(log(N)), N: entries of the stream")
        .summary("Counts the entries of a stream"),
    command("xpending", -3, "key group [[IDLE min-idle-time] start end count [consumer]]")
        .types(&[("min-idle-time", Kind::Integer), ("start", Kind::String), ("end", Kind::String)])
        .since("5.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .reply("(int, bulk?, bulk?, [(bulk, bulk)]?); start: [(bulk, bulk, int, int)]")
        .complexity("O(log(N)+M), N: pending entries of the group, M: entries looked at, or consumers")
        .summary("Tells what was delivered by way of a group and not acknowledged"),
    command("xrange", -4, "key start end [COUNT count]")
        .types(ID_BOUNDS)
        .since("5.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("[entry]; COUNT: [entry]?")
        .complexity("O(log(N)+M), N: entries of the stream, M: entries returned")
        .summary("Returns the entries of a range of ids"),
    command("xread", -4, "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]")
        .since("5.0.0")
        .flags("readonly blocking notes_own_reads")
        .keys(&[first_half_after("STREAMS", 1, "RO access").sought_by(behind_streams)])
        .reply("{bulk: [entry]}?")
        .complexity("O(log(N)+M) for each stream, N: entries of the stream, M: entries returned")
        .summary("Returns the entries behind given ids of several streams"),
    command(
        "xreadgroup",
        -7,
        "GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]",
    )
    .since("5.0.0")
    .flags("write blocking wakes_nobody")
    .keys(&[first_half_after("STREAMS", 4, "RO access").sought_by(behind_streams)])
    .reply("{bulk: [entry]}?")
    .complexity("O(M*log(N)) for each stream, N: entries of the stream, M: entries returned")
    .summary("Returns entries that no consumer of a group got yet, or those pending for a consumer"),
    command("xrevrange", -4, "key end start [COUNT count]")
        .types(ID_BOUNDS)
        .since("5.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("[entry]; COUNT: [entry]?")
        .complexity("O(log(N)+M), N: entries of the stream, M: entries returned")
        .summary("Returns the entries of a range of ids, the last first"),
    command("xsetid", -3, "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]")
        .types(&[("entries-added", Kind::Integer)])
        .since("5.0.0")
        .flags("write denyoom fast wakes_nobody")
        .keys(&[key(1, "RW update")])
        .reply("ok")
        .complexity("O(log(N)), N: entries of the stream")
        .summary("Sets the last id of a stream and what it counts"),
    command("xtrim", -4, "key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]")
        .since("5.0.0")
        .flags("write wakes_nobody")
        .keys(&[key(1, "RW delete")])
        .tips("nondeterministic_output")
        .reply("int")
        .complexity("O(M*log(N)), N: entries of the stream, M: entries trimmed")
        .summary("Deletes the oldest entries of a stream"),
];
