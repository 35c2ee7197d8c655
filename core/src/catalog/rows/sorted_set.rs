//! Sorted sets: members ordered by score, then by name. None of these waits.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::{key, key_range, numkeys};
use crate::catalog::row::{Row, command};

/// Bounds that are ranks, scores or names, as an option says.
const ANY_BOUNDS: &[(&str, Kind)] = &[("start", Kind::String), ("stop", Kind::String)];

/// Bounds with a prefix, `(` or `[` before names and `-` or `+` for the ends; or of any kind, in ZRANGESTORE.
const TEXT_BOUNDS: &[(&str, Kind)] = &[("min", Kind::String), ("max", Kind::String)];

pub(super) const ROWS: &[Row] = &[
    command("bzmpop", -5, "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]")
        .since("7.0.0")
        .flags("write blocking")
        .keys(&[numkeys(2, "RW access delete")])
        .types(&[("timeout", Kind::Double)])
        .reply("(bulk, [(bulk, double)])?")
        .complexity("O(K+M*log(N)), K: keys, M: members returned, N: members of the set")
        .summary("Takes members as ZMPOP does, and waits for some if all sorted sets are empty"),
    command("bzpopmax", -3, "key [key ...] timeout")
        .since("5.0.0")
        .flags("write noscript blocking fast")
        .keys(&[key_range(1, -2, 1, "RW access delete")])
        .types(&[("timeout", Kind::Double)])
        .reply("(bulk, bulk, double)?")
        .complexity("O(log(N)), N: members")
        .summary("Takes the highest member of the first of several sorted sets, and waits for one if all are empty"),
    command("bzpopmin", -3, "key [key ...] timeout")
        .since("5.0.0")
        .flags("write noscript blocking fast")
        .keys(&[key_range(1, -2, 1, "RW access delete")])
        .types(&[("timeout", Kind::Double)])
        .reply("(bulk, bulk, double)?")
        .complexity("O(log(N)), N: members")
        .summary("Takes the lowest member of the first of several sorted sets, and waits for one if all are empty"),
    command("zadd", -4, "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]")
        .since("1.2.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW update")])
        .reply("int; INCR: double?")
        .complexity("O(log(N)) for each member, N: members of the sorted set")
        .summary("Adds members with scores, or changes the scores of members"),
    command("zcard", 2, "key")
        .since("1.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO")])
        .reply("int")
        .complexity("O(1)")
        .summary("Counts the members of a sorted set"),
    command("zcount", 4, "key min max")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(log(N)), N: members of the sorted set")
        .summary("Counts the members with scores in a range"),
    command("zdiff", -3, "numkeys key [key ...] [WITHSCORES]")
        .since("6.2.0")
        .flags("readonly")
        .keys(&[numkeys(1, "RO access")])
        .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
        .complexity("O(L+(N-K)*log(N)), L: members of all sets, N: of the first, K: of the result")
        .summary("Returns the members of the first sorted set that no other has"),
    command("zdiffstore", -4, "destination numkeys key [key ...]")
        .since("6.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "OW update"), numkeys(2, "RO access")])
        .reply("int")
        .complexity("O(L+(N-K)*log(N)), L: members of all sets, N: of the first, K: of the result")
        .summary("Stores the members of the first sorted set that no other has"),
    command("zincrby", 4, "key increment member")
        .since("1.2.0")
        .flags("write denyoom fast")
        .keys(&[key(1, "RW access update")])
        .reply("double")
        .complexity("O(log(N)), N: members of the sorted set")
        .summary("Adds a number to the score of a member"),
    command(
        "zinter",
        -3,
        "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
    )
    .since("6.2.0")
    .flags("readonly")
    .keys(&[numkeys(1, "RO access")])
    .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
    .complexity("O(N*K+M*log(M)), N: members of the smallest set, K: sets, M: members of the result")
    .summary("Returns the members that all sorted sets have, with combined scores"),
    command("zintercard", -3, "numkeys key [key ...] [LIMIT limit]")
        .since("7.0.0")
        .flags("readonly")
        .keys(&[numkeys(1, "RO access")])
        .reply("int")
        .complexity("O(N*K), N: members of the smallest set, K: sets")
        .summary("Counts the members that all sorted sets have, up to a limit if wanted"),
    command(
        "zinterstore",
        -4,
        "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
    )
    .since("2.0.0")
    .flags("write denyoom")
    .keys(&[key(1, "OW update"), numkeys(2, "RO access")])
    .reply("int")
    .complexity("O(N*K+M*log(M)), N: members of the smallest set, K: sets, M: members of the result")
    .summary("Stores the members that all sorted sets have, with combined scores"),
    command("zlexcount", 4, "key min max")
        .types(TEXT_BOUNDS)
        .since("2.8.9")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(log(N)), N: members of the sorted set")
        .summary("Counts the members in an alphabetic range"),
    command("zmpop", -4, "numkeys key [key ...] <MIN | MAX> [COUNT count]")
        .since("7.0.0")
        .flags("write")
        .keys(&[numkeys(1, "RW access delete")])
        .reply("(bulk, [(bulk, double)])?")
        .complexity("O(K+M*log(N)), K: keys, N: members of the sorted set, M: members returned")
        .summary(
            "Takes members with the lowest or highest scores from the first sorted set that is not empty",
        ),
    command("zmscore", -3, "key member [member ...]")
        .since("6.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("[double?]")
        .complexity("O(N), N: members named")
        .summary("Returns the scores of several members, nil where there is none"),
    command("zpopmax", -2, "key [count]")
        .since("5.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete")])
        .reply("(bulk, double) | (); count: pairs(bulk, double)")
        .complexity("O(M*log(N)), N: members of the sorted set, M: members returned")
        .summary("Takes the members with the highest scores"),
    command("zpopmin", -2, "key [count]")
        .since("5.0.0")
        .flags("write fast")
        .keys(&[key(1, "RW access delete")])
        .reply("(bulk, double) | (); count: pairs(bulk, double)")
        .complexity("O(M*log(N)), N: members of the sorted set, M: members returned")
        .summary("Takes the members with the lowest scores"),
    command("zrandmember", -2, "key [count [WITHSCORES]]")
        .since("6.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .reply("bulk?; count: [bulk]; WITHSCORES: pairs(bulk, double)")
        .complexity("O(N), N: members returned")
        .summary("Picks random members, with their scores if wanted"),
    command("zrange", -4, "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]")
        .types(ANY_BOUNDS)
        .since("1.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members returned")
        .summary("Returns the members of a range of ranks, scores or names, in either direction"),
    command("zrangebylex", -4, "key min max [LIMIT offset count]")
        .types(TEXT_BOUNDS)
        .since("2.8.9")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .deprecated("6.2.0", "`ZRANGE` with the `BYLEX` argument")
        .reply("[bulk]")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members returned")
        .summary("Returns the members of an alphabetic range"),
    command("zrangebyscore", -4, "key min max [WITHSCORES] [LIMIT offset count]")
        .since("1.0.5")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .deprecated("6.2.0", "`ZRANGE` with the `BYSCORE` argument")
        .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members returned")
        .summary("Returns the members with scores in a range"),
    command("zrangestore", -5, "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]")
        .types(TEXT_BOUNDS)
        .since("6.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "OW update"), key(2, "RO access")])
        .reply("int")
        .complexity("O(log(N)+M), N: members of the source, M: members stored")
        .summary("Stores the members of a range of ranks, scores or names"),
    command("zrank", -3, "key member [WITHSCORE]")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("int?; WITHSCORE: (int, double)?")
        .complexity("O(log(N)), N: members of the sorted set")
        .summary("Tells the rank of a member, lowest score first"),
    command("zrem", -3, "key member [member ...]")
        .since("1.2.0")
        .flags("write fast")
        .keys(&[key(1, "RW delete")])
        .reply("int")
        .complexity("O(M*log(N)), N: members of the sorted set, M: members named")
        .summary("Removes members and counts them"),
    command("zremrangebylex", 4, "key min max")
        .types(TEXT_BOUNDS)
        .since("2.8.9")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .reply("int")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members removed")
        .summary("Removes the members of an alphabetic range"),
    command("zremrangebyrank", 4, "key start stop")
        .since("2.0.0")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .reply("int")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members removed")
        .summary("Removes the members of a range of ranks"),
    command("zremrangebyscore", 4, "key min max")
        .since("1.2.0")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .reply("int")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members removed")
        .summary("Removes the members with scores in a range"),
    command("zrevrange", -4, "key start stop [WITHSCORES]")
        .since("1.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .deprecated("6.2.0", "`ZRANGE` with the `REV` argument")
        .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members returned")
        .summary("Returns the members of a range of ranks, highest score first"),
    command("zrevrangebylex", -4, "key max min [LIMIT offset count]")
        .types(TEXT_BOUNDS)
        .since("2.8.9")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .deprecated("6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments")
        .reply("[bulk]")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members returned")
        .summary("Returns the members of an alphabetic range, last one first"),
    command("zrevrangebyscore", -4, "key max min [WITHSCORES] [LIMIT offset count]")
        .since("2.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .deprecated("6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments")
        .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
        .complexity("O(log(N)+M), N: members of the sorted set, M: members returned")
        .summary("Returns the members with scores in a range, highest score first"),
    command("zrevrank", -3, "key member [WITHSCORE]")
        .since("2.0.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("int?; WITHSCORE: (int, double)?")
        .complexity("O(log(N)), N: members of the sorted set")
        .summary("Tells the rank of a member, highest score first"),
    command("zscan", -3, "key cursor [MATCH pattern] [COUNT count]")
        .since("2.8.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .tips("nondeterministic_output")
        .reply("(bulk, flat(bulk, bulk))")
        .complexity("O(1) for each call, O(N) for a full round, N: members of the sorted set")
        .summary("Walks through members and scores with a cursor"),
    command("zscore", 3, "key member")
        .since("1.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .reply("double?")
        .complexity("O(1)")
        .summary("Returns the score of a member"),
    command(
        "zunion",
        -3,
        "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
    )
    .since("6.2.0")
    .flags("readonly")
    .keys(&[numkeys(1, "RO access")])
    .reply("[bulk]; WITHSCORES: pairs(bulk, double)")
    .complexity("O(N+M*log(M)), N: members of all sets, M: members of the result")
    .summary("Returns the members that some sorted set has, with combined scores"),
    command(
        "zunionstore",
        -4,
        "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
    )
    .since("2.0.0")
    .flags("write denyoom")
    .keys(&[key(1, "OW update"), numkeys(2, "RO access")])
    .reply("int")
    .complexity("O(N+M*log(M)), N: members of all sets, M: members of the result")
    .summary("Stores the members that some sorted set has, with combined scores"),
];
