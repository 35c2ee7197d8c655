//! Transactions: queue commands and carry them out at once, unless a watched key has changed.

use crate::catalog::keys::keys_from;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("discard", 1, "")
        .since("2.0.0")
        .flags("noscript loading stale fast allow_busy not_queued")
        .reply("ok")
        .complexity("O(N), N: queued commands")
        .summary("Forgets the queued commands and the watched keys"),
    command("exec", 1, "")
        .since("1.2.0")
        .flags("noscript loading stale skip_slowlog not_queued")
        .reply("[value]?")
        .complexity("the sum of the queued commands")
        .summary("Carries out the queued commands at once, unless a watched key has changed"),
    command("multi", 1, "")
        .since("1.2.0")
        .flags("noscript loading stale fast allow_busy not_queued")
        .reply("ok")
        .complexity("O(1)")
        .summary("Begins a transaction: commands are queued until EXEC"),
    command("unwatch", 1, "")
        .since("2.2.0")
        .flags("noscript loading stale fast allow_busy")
        .reply("ok")
        .complexity("O(1)")
        .summary("Forgets all watched keys"),
    command("watch", -2, "key [key ...]")
        .since("2.2.0")
        .flags("noscript loading stale fast allow_busy not_queued keeps_names")
        .keys(&[keys_from(1, "RO")])
        .reply("ok")
        .complexity("O(1) for each key")
        .summary("Makes the next transaction fail if one of these keys changes before it"),
];
