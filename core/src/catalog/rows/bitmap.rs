//! Bitmaps: strings as arrays of bits.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::{KeyFlags, key, keys_from};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("bitcount", -2, "key [start end [BYTE | BIT]]")
        .since("2.6.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(N), N: bytes of the range")
        .summary("Counts the bits that are set in a string or in a range of it"),
    command(
        "bitfield",
        -2,
        "key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value \
         | INCRBY encoding offset increment> [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] \
         <SET encoding offset value | INCRBY encoding offset increment> ...]]",
    )
    .types(&[("value", Kind::Integer)])
    .since("3.2.0")
    .flags("write denyoom")
    .keys(&[key(1, "RW access update variable_flags").narrowed_by(bitfield_use)])
    .reply("[int]; FAIL: [int?]")
    .complexity("O(1) for each operation")
    .summary("Reads, sets and increments integers of any width at any bit of a string"),
    command("bitfield_ro", -2, "key [GET encoding offset [GET encoding offset ...]]")
        .since("6.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("[int]")
        .complexity("O(1) for each operation")
        .summary("Reads integers of any width at any bit of a string"),
    command("bitop", -4, "<AND | OR | XOR | NOT> destkey key [key ...]")
        .since("2.6.0")
        .flags("write denyoom")
        .keys(&[key(2, "OW update"), keys_from(3, "RO access")])
        .reply("int")
        .complexity("O(N), N: bytes of all strings")
        .summary("Combines strings bit by bit (AND, OR, XOR, NOT) and stores the result"),
    command("bitpos", -3, "key bit [start [end [BYTE | BIT]]]")
        .types(&[("bit", Kind::Integer)])
        .since("2.8.7")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(N), N: bytes of the range")
        .summary("Finds the first bit that is set, or clear, in a string or in a range of it"),
    command("getbit", 3, "key offset")
        .since("2.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .types(&[("offset", Kind::Integer)])
        .reply("bool")
        .complexity("O(1)")
        .summary("Returns a bit of a string"),
    command("setbit", 4, "key offset value")
        .since("2.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .types(&[("offset", Kind::Integer), ("value", Kind::Integer)])
        .reply("bool")
        .complexity("O(1)")
        .summary(
            "Sets or clears a bit of a string and returns what it was, padding with zero bytes as needed",
        ),
];

/// A request that only has GETs only reads. One that does not parse counts as the stronger use, as in Redis.
fn bitfield_use(args: &[&[u8]]) -> KeyFlags {
    const READS: KeyFlags = KeyFlags::parse("RO access");
    const ALSO_WRITES: KeyFlags = KeyFlags::parse("RW access update");
    let mut rest = args.get(2..).unwrap_or_default();
    loop {
        rest = match rest {
            [] => return READS,
            [word, _, _, after @ ..] if word.eq_ignore_ascii_case(b"get") => after,
            [word, _, after @ ..] if word.eq_ignore_ascii_case(b"overflow") => after,
            _ => return ALSO_WRITES,
        };
    }
}
