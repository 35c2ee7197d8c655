//! Keys of any type: existence, expiry, names, and walking through the keyspace.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::{key, keys_from, unnamed_keys};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("copy", -3, "source destination [DB destination-db] [REPLACE]")
        .since("6.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RO access"), key(2, "OW update")])
        .reply("bool")
        .complexity("O(N) for collections, N: elements; O(1) for strings")
        .summary("Copies a value to another key, or to another database"),
    command("del", -2, "key [key ...]")
        .since("1.0.0")
        .flags("write")
        .keys(&[keys_from(1, "RM delete")])
        .tips("request_policy:multi_shard response_policy:agg_sum")
        .reply("int")
        .complexity("O(N), N: keys")
        .summary("Deletes keys and counts those that existed"),
    command("dump", 2, "key")
        .since("2.6.0")
        .flags("readonly may_be_sql")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .reply("bulk?")
        .complexity("O(N), N: bytes of the value")
        .summary("Returns the value at a key in the format of Redis' RDB files"),
    command("exists", -2, "key [key ...]")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[keys_from(1, "RO")])
        .tips("request_policy:multi_shard response_policy:agg_sum")
        .reply("int")
        .complexity("O(N), N: keys")
        .summary("Counts how many of the keys exist; a key named twice counts twice"),
    command("expire", -3, "key seconds [NX | XX | GT | LT]")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW update")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Lets a key expire after a number of seconds"),
    command("expireat", -3, "key unix-time-seconds [NX | XX | GT | LT]")
        .since("1.2.0")
        .flags("write fast")
        .keys(&[key(1, "RW update")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Lets a key expire at a Unix time in seconds"),
    command("expiretime", 2, "key")
        .since("7.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(1)")
        .summary("Tells the Unix time in seconds at which a key expires"),
    command("keys", 2, "pattern")
        .since("1.0.0")
        .flags("readonly touches_all_keys")
        .also_in("dangerous")
        .tips("request_policy:all_shards nondeterministic_output_order")
        .reply("[bulk]")
        .complexity("O(N), N: keys of the database")
        .summary("Lists all keys that match a glob pattern"),
    command("move", 3, "key db")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access update")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Moves a key to another database, unless it exists there"),
    command("object", -2, "")
        .since("2.2.3")
        .complexity("depends on the subcommand")
        .summary("Looks behind a key: how its value is stored and used")
        .subcommands(&[
            command("object|encoding", 3, "key")
                .since("2.2.3")
                .flags("readonly silent_reads")
                .keys(&[key(2, "RO")])
                .tips("nondeterministic_output")
                .reply("text?")
                .complexity("O(1)")
                .summary("Names the internal representation of a value"),
            command("object|freq", 3, "key")
                .since("4.0.0")
                .flags("readonly silent_reads")
                .keys(&[key(2, "RO")])
                .tips("nondeterministic_output")
                .reply("int?")
                .complexity("O(1)")
                .summary("Estimates how often a key has been used, on a logarithmic scale"),
            command("object|help", 2, "")
                .since("6.2.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of OBJECT"),
            command("object|idletime", 3, "key")
                .since("2.2.3")
                .flags("readonly silent_reads")
                .keys(&[key(2, "RO")])
                .tips("nondeterministic_output")
                .reply("int?")
                .complexity("O(1)")
                .summary("Tells the seconds since a key was last used"),
            command("object|refcount", 3, "key")
                .since("2.2.3")
                .flags("readonly silent_reads")
                .keys(&[key(2, "RO")])
                .tips("nondeterministic_output")
                .reply("int?")
                .complexity("O(1)")
                .summary("Tells how many references to a value there are"),
        ]),
    command("persist", 2, "key")
        .since("2.2.0")
        .flags("write fast")
        .keys(&[key(1, "RW update")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Removes the expiry of a key"),
    command("pexpire", -3, "key milliseconds [NX | XX | GT | LT]")
        .since("2.6.0")
        .flags("write fast")
        .keys(&[key(1, "RW update")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Lets a key expire after a number of milliseconds"),
    command("pexpireat", -3, "key unix-time-milliseconds [NX | XX | GT | LT]")
        .since("2.6.0")
        .flags("write fast")
        .keys(&[key(1, "RW update")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Lets a key expire at a Unix time in milliseconds"),
    command("pexpiretime", 2, "key")
        .since("7.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(1)")
        .summary("Tells the Unix time in milliseconds at which a key expires"),
    command("pttl", 2, "key")
        .since("2.6.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .reply("int")
        .complexity("O(1)")
        .summary("Tells the milliseconds until a key expires"),
    command("randomkey", 1, "")
        .since("1.0.0")
        .flags("readonly touches_all_keys")
        .tips("request_policy:all_shards response_policy:special nondeterministic_output")
        .reply("bulk?")
        .complexity("O(1)")
        .summary("Picks some key of the selected database"),
    command("rename", 3, "key newkey")
        .since("1.0.0")
        .flags("write")
        .keys(&[key(1, "RW access delete"), key(2, "OW update")])
        .reply("ok")
        .complexity("O(1)")
        .summary("Gives a key another name and replaces what had that name"),
    command("renamenx", 3, "key newkey")
        .since("1.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete"), key(2, "OW insert")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Gives a key another name, unless that name is taken"),
    command("restore", -4, "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]")
        .values(3, 0)
        .since("2.6.0")
        .flags("write denyoom")
        .keys(&[key(1, "OW update")])
        .also_in("dangerous")
        .reply("ok")
        .complexity("O(N), N: bytes of the value; O(N*log(N)) for sorted sets")
        .summary("Makes a key of what DUMP returned"),
    command("scan", -2, "cursor [MATCH pattern] [COUNT count] [TYPE type]")
        .since("2.8.0")
        .flags("readonly touches_all_keys may_be_sql")
        .tips("nondeterministic_output request_policy:special response_policy:special")
        .reply("(bulk, [bulk])")
        .complexity("O(1) for each call, O(N) for a full round, N: keys of the database")
        .summary("Walks through the keys of the database with a cursor"),
    command(
        "sort",
        -2,
        "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] \
         [STORE destination]",
    )
    .since("1.0.0")
    .flags("write denyoom")
    .keys(&[
        key(1, "RO access"),
        unnamed_keys("RO access"),
        unnamed_keys("OW update").located_by(sort_destination),
    ])
    .reaches_unnamed_keys(sort_has_patterns)
    .also_in("set sortedset list dangerous")
    .not_in("keyspace")
    .reply("[bulk]; GET: [bulk?]; STORE: int")
    .complexity("O(N+M*log(M)), N: elements, M: elements returned; O(N) where nothing is sorted")
    .summary("Sorts a list, a set or a sorted set, by its elements or by what they refer to"),
    command(
        "sort_ro",
        -2,
        "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]",
    )
    .since("7.0.0")
    .flags("readonly notes_own_reads")
    .keys(&[key(1, "RO access"), unnamed_keys("RO access")])
    .reaches_unnamed_keys(sort_has_patterns)
    .also_in("set sortedset list dangerous")
    .not_in("keyspace")
    .reply("[bulk]; GET: [bulk?]")
    .complexity("O(N+M*log(M)), N: elements, M: elements returned; O(N) where nothing is sorted")
    .summary("Sorts a list, a set or a sorted set without a way to store the result"),
    command("touch", -2, "key [key ...]")
        .since("3.2.1")
        .flags("readonly fast")
        .keys(&[keys_from(1, "RO")])
        .tips("request_policy:multi_shard response_policy:agg_sum")
        .reply("int")
        .complexity("O(N), N: keys")
        .summary("Marks keys as just used and counts those that exist"),
    command("ttl", 2, "key")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .reply("int")
        .complexity("O(1)")
        .summary("Tells the seconds until a key expires"),
    command("type", 2, "key")
        .since("1.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .reply("status")
        .complexity("O(1)")
        .summary("Names the type of the value at a key"),
    command("unlink", -2, "key [key ...]")
        .since("4.0.0")
        .flags("write fast")
        .keys(&[keys_from(1, "RM delete")])
        .tips("request_policy:multi_shard response_policy:agg_sum")
        .reply("int")
        .complexity("O(1) for each key")
        .summary("Deletes keys and frees their memory later"),
    command("wait", 3, "numreplicas timeout")
        .since("3.0.0")
        .flags("blocking")
        .also_in("connection")
        .not_in("keyspace")
        .tips("request_policy:all_shards response_policy:agg_min")
        .types(&[("numreplicas", Kind::Integer), ("timeout", Kind::Integer)])
        .reply("int")
        .complexity("O(1)")
        .summary("Counts the replicas that have the writes of this connection, which is none"),
    command("waitaof", 4, "numlocal numreplicas timeout")
        .since("7.2.0")
        .flags("blocking")
        .also_in("connection")
        .not_in("keyspace")
        .tips("request_policy:all_shards response_policy:agg_min")
        .types(&[("numlocal", Kind::Integer), ("numreplicas", Kind::Integer), ("timeout", Kind::Integer)])
        .reply("(int, int)")
        .complexity("O(bytes not synced yet)")
        .summary("Has the writes of this connection reach the disk and tells how many logs have them"),
];

/// The options of SORT with their positions; what an option takes with it is left out, as SORT itself reads them.
fn sort_options<'r, 'a>(args: &'r [&'a [u8]]) -> impl Iterator<Item = (usize, &'a [u8])> + 'r {
    let mut next = 2;
    std::iter::from_fn(move || {
        let at = next;
        let option = *args.get(at)?;
        next += match option.to_ascii_lowercase().as_slice() {
            b"limit" => 3,
            b"by" | b"get" | b"store" => 2,
            _ => 1,
        };
        Some((at, option))
    })
}

/// The argument of the last STORE: that is where SORT stores.
fn sort_destination(args: &[&[u8]]) -> Option<usize> {
    let stores = sort_options(args).filter(|(_, option)| option.eq_ignore_ascii_case(b"store"));
    stores.map(|(at, _)| at + 1).filter(|at| *at < args.len()).last()
}

/// Patterns with a star make names of keys.
fn sort_has_patterns(args: &[&[u8]]) -> bool {
    sort_options(args).any(|(at, option)| {
        let takes_pattern = option.eq_ignore_ascii_case(b"by") || option.eq_ignore_ascii_case(b"get");
        takes_pattern && args.get(at + 1).is_some_and(|pattern| pattern.contains(&b'*'))
    })
}
