//! Sketches from which the size of a set is estimated (HyperLogLog).

use crate::catalog::keys::{key, keys_from};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("pfadd", -2, "key [element [element ...]]")
        .values(2, 1)
        .since("2.8.9")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .reply("bool")
        .complexity("O(N), N: elements named")
        .summary("Adds elements to a sketch and tells whether its estimate may have changed"),
    command("pfcount", -2, "key [key ...]")
        .since("2.8.9")
        .flags("readonly may_replicate")
        .keys(&[keys_from(1, "RW access")])
        .reply("int")
        .complexity("O(1) for one key, O(N) for N keys, each costing more than one alone")
        .summary("Estimates how many different elements were added to sketches"),
    command("pfdebug", 3, "subcommand key")
        .since("2.8.9")
        .flags("write denyoom admin")
        .keys(&[key(2, "RW access")])
        .reply("value")
        .complexity("O(1), a sketch being of bounded size")
        .summary("Shows or changes how a sketch is stored: GETREG, DECODE, ENCODING, TODENSE"),
    command("pfmerge", -2, "destkey [sourcekey [sourcekey ...]]")
        .since("2.8.9")
        .flags("write denyoom")
        .keys(&[key(1, "RW access insert"), keys_from(2, "RO access")])
        .reply("ok")
        .complexity("O(N), N: sketches")
        .summary("Adds to a sketch what was added to others"),
    command("pfselftest", 1, "")
        .since("2.8.9")
        .flags("admin")
        .reply("ok")
        .complexity("O(1)")
        .summary("Tests that sketches keep what they are given and estimate well"),
];
