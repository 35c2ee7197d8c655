//! Lists: elements in the order in which they were put there. Those that begin with B wait where there are none.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::{key, key_range, numkeys};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("blmove", 6, "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout")
        .since("6.2.0")
        .flags("write denyoom noscript blocking")
        .keys(&[key(1, "RW access delete"), key(2, "RW insert")])
        .types(&[("timeout", Kind::Double)])
        .complexity("O(1)")
        .summary("Moves an element as LMOVE does, and waits for one if the list is empty"),
    command("blmpop", -5, "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]")
        .since("7.0.0")
        .flags("write blocking")
        .keys(&[numkeys(2, "RW access delete")])
        .types(&[("timeout", Kind::Double)])
        .complexity("O(N+M), N: keys, M: elements returned")
        .summary("Takes elements as LMPOP does, and waits for some if all lists are empty"),
    command("blpop", -3, "key [key ...] timeout")
        .since("2.0.0")
        .flags("write noscript blocking")
        .keys(&[key_range(1, -2, 1, "RW access delete")])
        .types(&[("timeout", Kind::Double)])
        .complexity("O(N), N: keys")
        .summary(
            "Takes the head of the first of several lists that is not empty, and waits for one if all are",
        ),
    command("brpop", -3, "key [key ...] timeout")
        .since("2.0.0")
        .flags("write noscript blocking")
        .keys(&[key_range(1, -2, 1, "RW access delete")])
        .types(&[("timeout", Kind::Double)])
        .complexity("O(N), N: keys")
        .summary(
            "Takes the tail of the first of several lists that is not empty, and waits for one if all are",
        ),
    command("brpoplpush", 4, "source destination timeout")
        .since("2.2.0")
        .flags("write denyoom noscript blocking")
        .keys(&[key(1, "RW access delete"), key(2, "RW insert")])
        .types(&[("timeout", Kind::Double)])
        .deprecated("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments")
        .complexity("O(1)")
        .summary("Moves an element as RPOPLPUSH does, and waits for one if the list is empty"),
    command("lindex", 3, "key index")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .complexity("O(N), N: elements between the index and the nearer end")
        .summary("Returns the element at an index; negative indexes count from the tail"),
    command("linsert", 5, "key <BEFORE | AFTER> pivot element")
        .values(3, 1)
        .since("2.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW insert")])
        .complexity("O(N), N: elements before the pivot")
        .summary("Inserts an element before or after the first one equal to the pivot"),
    command("llen", 2, "key")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .complexity("O(1)")
        .summary("Counts the elements of a list"),
    command("lmove", 5, "source destination <LEFT | RIGHT> <LEFT | RIGHT>")
        .since("6.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW access delete"), key(2, "RW insert")])
        .complexity("O(1)")
        .summary("Takes an element from one end of a list and puts it at an end of another"),
    command("lmpop", -4, "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]")
        .since("7.0.0")
        .flags("write")
        .keys(&[numkeys(1, "RW access delete")])
        .complexity("O(N+M), N: keys, M: elements returned")
        .summary("Takes elements from the first of several lists that is not empty"),
    command("lpop", -2, "key [count]")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete")])
        .complexity("O(N), N: elements returned")
        .summary("Takes elements from the head of a list"),
    command("lpos", -3, "key element [RANK rank] [COUNT num-matches] [MAXLEN len]")
        .values(2, 0)
        .since("6.0.6")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .complexity("O(N), N: elements compared")
        .summary("Finds the indexes of the elements equal to a value"),
    command("lpush", -3, "key element [element ...]")
        .values(2, 1)
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .complexity("O(N), N: elements added")
        .summary("Puts elements at the head of a list, creating it when there is none"),
    command("lpushx", -3, "key element [element ...]")
        .values(2, 1)
        .since("2.2.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .complexity("O(N), N: elements added")
        .summary("Puts elements at the head of a list that exists already"),
    command("lrange", 4, "key start stop")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .complexity("O(S+N), S: elements between the range and the nearer end, N: elements returned")
        .summary("Returns the elements of a range, bounds included"),
    command("lrem", 4, "key count element")
        .values(3, 0)
        .since("1.0.0")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .complexity("O(N+M), N: elements of the list, M: elements removed")
        .summary("Removes elements equal to a value, from the head, from the tail or all"),
    command("lset", 4, "key index element")
        .values(3, 0)
        .since("1.0.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .complexity("O(N), N: elements between the index and the nearer end")
        .summary("Replaces the element at an index"),
    command("ltrim", 4, "key start stop")
        .since("1.0.0")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .complexity("O(N), N: elements removed")
        .summary("Keeps only the elements of a range"),
    command("rpop", -2, "key [count]")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete")])
        .complexity("O(N), N: elements returned")
        .summary("Takes elements from the tail of a list"),
    command("rpoplpush", 3, "source destination")
        .since("1.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW access delete"), key(2, "RW insert")])
        .deprecated("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments")
        .complexity("O(1)")
        .summary("Takes an element from the tail of a list and puts it at the head of another"),
    command("rpush", -3, "key element [element ...]")
        .values(2, 1)
        .since("1.0.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .complexity("O(N), N: elements added")
        .summary("Puts elements at the tail of a list, creating it when there is none"),
    command("rpushx", -3, "key element [element ...]")
        .values(2, 1)
        .since("2.2.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW insert")])
        .complexity("O(N), N: elements added")
        .summary("Puts elements at the tail of a list that exists already"),
];
