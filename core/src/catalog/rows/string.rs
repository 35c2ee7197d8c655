//! Strings: bytes, and the integers and floating-point numbers written in them.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::{KeyFlags, key, key_range, keys_from};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("append", 3, "key value")
        .values(2, 0)
        .since("2.0.0")
        .flags("write denyoom fast streamed_values")
        .keys(&[key(1, "RW insert")])
        .reply("int")
        .complexity("O(N), N: bytes appended")
        .summary("Adds bytes to the end of a string, creating it when there is none"),
    command("decr", 2, "key")
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .reply("int")
        .complexity("O(1)")
        .summary("Subtracts one from the integer at a key"),
    command("decrby", 3, "key decrement")
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .reply("int")
        .complexity("O(1)")
        .summary("Subtracts a number from the integer at a key"),
    command("get", 2, "key")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("bulk?")
        .complexity("O(1)")
        .summary("Returns the string at a key"),
    command("getdel", 2, "key")
        .since("6.2.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete")])
        .reply("bulk?")
        .complexity("O(1)")
        .summary("Returns the string at a key and deletes the key"),
    command(
        "getex",
        -2,
        "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds \
         | PERSIST]",
    )
    .since("6.2.0")
    .flags("write fast")
    .keys(&[key(1, "RW access update")])
    .reply("bulk?")
    .complexity("O(1)")
    .summary("Returns the string at a key and sets or removes its expiry"),
    command("getrange", 4, "key start end")
        .since("2.4.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("bulk")
        .complexity("O(N), N: bytes returned")
        .summary("Returns a part of a string, bounds included"),
    command("getset", 3, "key value")
        .values(2, 0)
        .since("1.0.0")
        .flags("write denyoom fast streamed_values")
        .keys(&[key(1, "RW access update")])
        .deprecated("6.2.0", "`SET` with the `GET` argument")
        .reply("bulk?")
        .complexity("O(1)")
        .summary("Sets a string and returns the one it replaces"),
    command("incr", 2, "key")
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .reply("int")
        .complexity("O(1)")
        .summary("Adds one to the integer at a key"),
    command("incrby", 3, "key increment")
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .reply("int")
        .complexity("O(1)")
        .summary("Adds a number to the integer at a key"),
    command("incrbyfloat", 3, "key increment")
        .types(&[("increment", Kind::Double)])
        .since("2.6.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .reply("bulk")
        .complexity("O(1)")
        .summary("Adds a floating-point number to the number at a key"),
    command("lcs", -3, "key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]")
        .since("7.0.0")
        .flags("readonly")
        .keys(&[key_range(1, 1, 1, "RO access")])
        .reply("bulk; LEN: int; IDX: {text: int | [[(int, int) | int]]}")
        .complexity("O(N*M), N and M: bytes of the two strings")
        .summary("Finds the longest common subsequence of two strings"),
    command("mget", -2, "key [key ...]")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[keys_from(1, "RO access")])
        .tips("request_policy:multi_shard")
        .reply("[bulk?]")
        .complexity("O(N), N: keys")
        .summary("Returns the strings at several keys, nil where there is none"),
    command("mset", -3, "key value [key value ...]")
        .values(2, 2)
        .since("1.0.1")
        .flags("write denyoom streamed_values")
        .keys(&[key_range(1, -1, 2, "OW update")])
        .tips("request_policy:multi_shard response_policy:all_succeeded")
        .reply("ok")
        .complexity("O(N), N: keys")
        .summary("Sets several strings at once"),
    command("msetnx", -3, "key value [key value ...]")
        .values(2, 2)
        .since("1.0.1")
        .flags("write denyoom streamed_values")
        .keys(&[key_range(1, -1, 2, "OW insert")])
        .tips("request_policy:multi_shard response_policy:agg_min")
        .reply("bool")
        .complexity("O(N), N: keys")
        .summary("Sets several strings at once, provided that none of the keys exists"),
    command("psetex", 4, "key milliseconds value")
        .values(3, 0)
        .since("2.6.0")
        .flags("write denyoom streamed_values")
        .keys(&[key(1, "OW update")])
        .deprecated("2.6.12", "`SET` with the `PX` argument")
        .reply("ok")
        .complexity("O(1)")
        .summary("Sets a string that expires after a number of milliseconds"),
    command(
        "set",
        -3,
        "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds \
         | PXAT unix-time-milliseconds | KEEPTTL]",
    )
    .values(2, 0)
    .since("1.0.0")
    .flags("write denyoom streamed_values")
    .keys(&[key(1, "RW access update variable_flags").narrowed_by(set_use)])
    .reply("ok?; GET: bulk?")
    .complexity("O(1)")
    .summary("Sets a string, with conditions and an expiry if wanted"),
    command("setex", 4, "key seconds value")
        .values(3, 0)
        .since("2.0.0")
        .flags("write denyoom streamed_values")
        .keys(&[key(1, "OW update")])
        .deprecated("2.6.12", "`SET` with the `EX` argument")
        .reply("ok")
        .complexity("O(1)")
        .summary("Sets a string that expires after a number of seconds"),
    command("setnx", 3, "key value")
        .values(2, 0)
        .since("1.0.0")
        .flags("write denyoom fast streamed_values")
        .keys(&[key(1, "OW insert")])
        .deprecated("2.6.12", "`SET` with the `NX` argument")
        .reply("bool")
        .complexity("O(1)")
        .summary("Sets a string, provided that the key does not exist"),
    command("setrange", 4, "key offset value")
        .values(3, 0)
        .since("2.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .reply("int")
        .complexity("O(N), N: bytes of the new string")
        .summary("Overwrites a string from an offset on, padding with zero bytes as needed"),
    command("strlen", 2, "key")
        .since("2.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .reply("int")
        .complexity("O(1)")
        .summary("Tells the length of a string in bytes"),
    command("substr", 4, "key start end")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .deprecated("2.0.0", "`GETRANGE`")
        .reply("bulk")
        .complexity("O(N), N: bytes returned")
        .summary("Returns a part of a string under the name this had before GETRANGE"),
];

/// Without GET the old string does not matter to SET. GET is looked for behind key and value as Redis does, even where
/// a value of another option could stand.
fn set_use(args: &[&[u8]]) -> KeyFlags {
    const OVERWRITES: KeyFlags = KeyFlags::parse("OW update");
    const ALSO_READS: KeyFlags = KeyFlags::parse("RW access update");
    let reads = args.iter().skip(3).any(|option| option.eq_ignore_ascii_case(b"get"));
    if reads { ALSO_READS } else { OVERWRITES }
}
