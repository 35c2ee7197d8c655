//! Search, as RediSearch has it.

use crate::catalog::keys::key;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("ft.dictadd", -3, "dict term [term ...]")
        .since("1.4.0")
        .flags("write denyoom")
        .reply("int")
        .complexity("O(N log M), N: terms that are added, M: terms of the dictionary")
        .summary("Adds terms to a dictionary"),
    command("ft.dictdel", -3, "dict term [term ...]")
        .since("1.4.0")
        .flags("write")
        .reply("int")
        .complexity("O(N log M), N: terms that are removed, M: terms of the dictionary")
        .summary("Removes terms from a dictionary"),
    command("ft.dictdump", 2, "dict")
        .since("1.4.0")
        .flags("readonly")
        .reply("{bulk}")
        .complexity("O(N), N: terms of the dictionary")
        .summary("Returns all terms of a dictionary"),
    command("ft.sugadd", -4, "key string score [INCR] [PAYLOAD payload]")
        .since("1.0.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .reply("int")
        .complexity("O(log N), N: suggestions")
        .summary("Adds a suggestion with a score"),
    command("ft.sugdel", 3, "key string")
        .since("1.0.0")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .reply("bool")
        .complexity("O(log N), N: suggestions")
        .summary("Removes a suggestion"),
    command("ft.sugget", -3, "key prefix [FUZZY] [WITHSCORES] [WITHPAYLOADS] [MAX max]")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply(
            "[bulk]; WITHSCORES: flat(bulk, double); WITHPAYLOADS: flat(bulk, bulk?); WITHSCORES WITHPAYLOADS: [value]",
        )
        .complexity("O(N), N: suggestions that begin so")
        .summary("Returns the best suggestions that begin in a way"),
    command("ft.suglen", 2, "key")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO")])
        .reply("int")
        .complexity("O(log N), N: suggestions")
        .summary("Returns the number of suggestions"),
];
