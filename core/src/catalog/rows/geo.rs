//! Positions on the earth, kept as the scores of sorted sets.

use crate::catalog::keys::{key, key_after};
use crate::catalog::row::{Row, command};

/// The types of a search, with those of other options behind them.
macro_rules! found {
    ($others:literal) => {
        concat!(
            "[bulk]; WITHDIST: [(bulk, bulk)]; WITHHASH: [(bulk, int)]; WITHCOORD: [(bulk, (double, double))]",
            "; WITHDIST WITHHASH: [(bulk, bulk, int)]; WITHDIST WITHCOORD: [(bulk, bulk, (double, double))]",
            "; WITHHASH WITHCOORD: [(bulk, int, (double, double))]",
            "; WITHDIST WITHHASH WITHCOORD: [(bulk, bulk, int, (double, double))]",
            $others
        )
    };
}

/// Members, each with what is wanted of it: the distance is a text in either protocol.
const FOUND: &str = found!("");

const FOUND_OR_STORED: &str = found!("; STORE: int; STOREDIST: int");

pub(super) const ROWS: &[Row] = &[
    command("geoadd", -5, "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]")
        .since("3.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .reply("int")
        .complexity("O(log(N)) for each member, N: members of the sorted set")
        .summary("Adds members with positions, or changes the positions of members"),
    command("geodist", -4, "key member1 member2 [M | KM | FT | MI]")
        .since("3.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("bulk?")
        .complexity("O(1)")
        .summary("Tells how far two members are from each other"),
    command("geohash", -2, "key [member [member ...]]")
        .since("3.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("[bulk?]")
        .complexity("O(1) for each member")
        .summary("Returns the positions of members as geohashes of eleven letters"),
    command("geopos", -2, "key [member [member ...]]")
        .since("3.2.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply("[(double, double)?]")
        .complexity("O(1) for each member")
        .summary("Returns longitudes and latitudes of members, nil where there is none"),
    command(
        "georadius",
        -6,
        "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT \
         count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]",
    )
    .since("3.2.0")
    .flags("write denyoom")
    .keys(&[key(1, "RO access"), key_after("STORE", 6, "OW update"), key_after("STOREDIST", 6, "OW update")])
    .deprecated("6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument")
    .reply(FOUND_OR_STORED)
    .complexity("O(N+log(M)), N: members near the circle, M: members of the sorted set")
    .summary("Returns or stores the members within a circle around a position"),
    command(
        "georadius_ro",
        -6,
        "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT \
         count [ANY]] [ASC | DESC]",
    )
    .since("3.2.10")
    .flags("readonly")
    .keys(&[key(1, "RO access")])
    .deprecated("6.2.0", "`GEOSEARCH` with the `BYRADIUS` argument")
    .reply(FOUND)
    .complexity("O(N+log(M)), N: members near the circle, M: members of the sorted set")
    .summary("Returns the members within a circle around a position"),
    command(
        "georadiusbymember",
        -5,
        "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] \
         [ASC | DESC] [STORE key | STOREDIST key]",
    )
    .since("3.2.0")
    .flags("write denyoom")
    .keys(&[key(1, "RO access"), key_after("STORE", 5, "OW update"), key_after("STOREDIST", 5, "OW update")])
    .deprecated("6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments")
    .reply(FOUND_OR_STORED)
    .complexity("O(N+log(M)), N: members near the circle, M: members of the sorted set")
    .summary("Returns or stores the members within a circle around one of them"),
    command(
        "georadiusbymember_ro",
        -5,
        "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] \
         [ASC | DESC]",
    )
    .since("3.2.10")
    .flags("readonly")
    .keys(&[key(1, "RO access")])
    .deprecated("6.2.0", "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments")
    .reply(FOUND)
    .complexity("O(N+log(M)), N: members near the circle, M: members of the sorted set")
    .summary("Returns the members within a circle around one of them"),
    command(
        "geosearch",
        -7,
        "key <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> \
         | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] \
         [WITHDIST] [WITHHASH]",
    )
    .since("6.2.0")
    .flags("readonly")
    .keys(&[key(1, "RO access")])
    .reply(FOUND)
    .complexity("O(N+log(M)), N: members near the area, M: members of the sorted set")
    .summary("Returns the members within a circle or a box"),
    command(
        "geosearchstore",
        -8,
        "destination source <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | \
         KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] \
         [STOREDIST]",
    )
    .since("6.2.0")
    .flags("write denyoom")
    .keys(&[key(1, "OW update"), key(2, "RO access")])
    .reply("int")
    .complexity("O(N+log(M)), N: members near the area, M: members of the sorted set")
    .summary("Stores the members within a circle or a box"),
];
