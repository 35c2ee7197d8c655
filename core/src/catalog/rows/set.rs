//! Sets: members without order.

use crate::catalog::keys::{key, keys_from, numkeys};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("sadd", -3, "key member [member ...]")
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .complexity("O(N), N: members named")
        .summary("Adds members to a set and counts the new ones"),
    command("scard", 2, "key")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .complexity("O(1)")
        .summary("Counts the members of a set"),
    command("sdiff", -2, "key [key ...]")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[keys_from(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: members of all sets")
        .summary("Returns the members of the first set that no other set has"),
    command("sdiffstore", -3, "destination key [key ...]")
        .since("1.0.0")
        .flags("write denyoom")
        .keys(&[key(1, "OW update"), keys_from(2, "RO access")])
        .complexity("O(N), N: members of all sets")
        .summary("Stores the members of the first set that no other set has"),
    command("sinter", -2, "key [key ...]")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[keys_from(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N*M), N: members of the smallest set, M: sets")
        .summary("Returns the members that all sets have"),
    command("sintercard", -3, "numkeys key [key ...] [LIMIT limit]")
        .since("7.0.0")
        .flags("readonly")
        .keys(&[numkeys(1, "RO access")])
        .complexity("O(N*M), N: members of the smallest set, M: sets")
        .summary("Counts the members that all sets have, up to a limit if wanted"),
    command("sinterstore", -3, "destination key [key ...]")
        .since("1.0.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW update"), keys_from(2, "RO access")])
        .complexity("O(N*M), N: members of the smallest set, M: sets")
        .summary("Stores the members that all sets have"),
    command("sismember", 3, "key member")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .complexity("O(1)")
        .summary("Tells whether a set has a member"),
    command("smembers", 2, "key")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: members of the set")
        .summary("Returns all members of a set"),
    command("smismember", -3, "key member [member ...]")
        .since("6.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .complexity("O(N), N: members named")
        .summary("Tells for each of several members whether a set has it"),
    command("smove", 4, "source destination member")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete"), key(2, "RW insert")])
        .complexity("O(1)")
        .summary("Moves a member from one set to another"),
    command("spop", -2, "key [count]")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete")])
        .tips("nondeterministic_output")
        .complexity("O(N), N: members returned")
        .summary("Takes random members out of a set"),
    command("srandmember", -2, "key [count]")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .complexity("O(N), N: members returned")
        .summary("Picks random members of a set"),
    command("srem", -3, "key member [member ...]")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW delete")])
        .complexity("O(N), N: members named")
        .summary("Removes members from a set and counts them"),
    command("sscan", -3, "key cursor [MATCH pattern] [COUNT count]")
        .since("2.8.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .complexity("O(1) for each call, O(N) for a full round, N: members of the set")
        .summary("Walks through the members of a set with a cursor"),
    command("sunion", -2, "key [key ...]")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[keys_from(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: members of all sets")
        .summary("Returns the members that some set has"),
    command("sunionstore", -3, "destination key [key ...]")
        .since("1.0.0")
        .flags("write denyoom")
        .keys(&[key(1, "OW update"), keys_from(2, "RO access")])
        .complexity("O(N), N: members of all sets")
        .summary("Stores the members that some set has"),
];
