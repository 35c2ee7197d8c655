//! The commands over positions, which are sorted sets with positions as scores.
//!
//! - [`add`]: GEOADD, which is ZADD with two numbers for a score.
//! - [`read`]: GEOPOS, GEOHASH and GEODIST.
//! - [`query`]: how GEOSEARCH, GEORADIUS and their like are written; [`search`]: how they are carried out.
//! - [`numbers`]: positions, distances and units as text.

mod add;
mod numbers;
mod query;
mod read;
mod search;

use super::Group;

/// The handlers of this group.
pub(super) const HANDLERS: Group = &[
    ("geoadd", add::geoadd),
    ("geodist", read::geodist),
    ("geohash", read::geohash),
    ("geopos", read::geopos),
    ("georadius", search::georadius),
    ("georadius_ro", search::georadius_ro),
    ("georadiusbymember", search::georadiusbymember),
    ("georadiusbymember_ro", search::georadiusbymember_ro),
    ("geosearch", search::geosearch),
    ("geosearchstore", search::geosearchstore),
];
