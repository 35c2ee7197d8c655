//! Hashes: a key with named fields.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::key;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("hdel", -3, "key field [field ...]")
        .since("2.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW delete")])
        .complexity("O(N), N: fields")
        .summary("Deletes fields of a hash, and the hash with its last field"),
    command("hexists", 3, "key field")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .complexity("O(1)")
        .summary("Tells whether a hash has a field"),
    command("hget", 3, "key field")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .complexity("O(1)")
        .summary("Returns the value of a field"),
    command("hgetall", 2, "key")
        .since("2.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: fields of the hash")
        .summary("Returns all fields of a hash with their values"),
    command("hincrby", 4, "key field increment")
        .since("2.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .complexity("O(1)")
        .summary("Adds a number to the integer in a field"),
    command("hincrbyfloat", 4, "key field increment")
        .types(&[("increment", Kind::Double)])
        .since("2.6.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .complexity("O(1)")
        .summary("Adds a floating-point number to the number in a field"),
    command("hkeys", 2, "key")
        .since("2.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: fields of the hash")
        .summary("Returns the names of all fields"),
    command("hlen", 2, "key")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .complexity("O(1)")
        .summary("Counts the fields of a hash"),
    command("hmget", -3, "key field [field ...]")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .complexity("O(N), N: fields asked for")
        .summary("Returns the values of several fields, nil where there is none"),
    command("hmset", -4, "key field value [field value ...]")
        .values(3, 2)
        .since("2.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW update")])
        .deprecated("4.0.0", "`HSET` with multiple field-value pairs")
        .complexity("O(N), N: fields")
        .summary("Sets several fields and answers OK"),
    command("hrandfield", -2, "key [count [WITHVALUES]]")
        .since("6.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .complexity("O(N), N: fields returned")
        .summary("Picks random fields of a hash, with their values if wanted"),
    command("hscan", -3, "key cursor [MATCH pattern] [COUNT count]")
        .since("2.8.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .complexity("O(1) for each call, O(N) for a full round, N: fields of the hash")
        .summary("Walks through the fields of a hash with a cursor"),
    command("hset", -4, "key field value [field value ...]")
        .values(3, 2)
        .since("2.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW update")])
        .complexity("O(N), N: fields set")
        .summary("Sets fields of a hash and counts the new ones"),
    command("hsetnx", 4, "key field value")
        .values(3, 0)
        .since("2.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .complexity("O(1)")
        .summary("Sets a field, provided that the hash does not have it"),
    command("hstrlen", 3, "key field")
        .since("3.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .complexity("O(1)")
        .summary("Tells the length of a field's value in bytes"),
    command("hvals", 2, "key")
        .since("2.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: fields of the hash")
        .summary("Returns the values of all fields"),
];
