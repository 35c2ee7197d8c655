//! Bitmaps: strings as arrays of bits.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::key;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("getbit", 3, "key offset")
        .since("2.2.0")
        .flags("readonly fast")
        .keys(&[key(1, "RO access")])
        .types(&[("offset", Kind::Integer)])
        .complexity("O(1)")
        .summary("Returns a bit of a string"),
    command("setbit", 4, "key offset value")
        .since("2.2.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .types(&[("offset", Kind::Integer), ("value", Kind::Integer)])
        .complexity("O(1)")
        .summary(
            "Sets or clears a bit of a string and returns what it was, padding with zero bytes as needed",
        ),
];
