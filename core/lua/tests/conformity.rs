//! The recorded answers of redis-server 7.0.15, byte for byte. `tests/conformity/record.py` makes the recording anew.

mod common;

use common::recorded::{LANGUAGE, REDIS, Recording, compare};

fn check(recording: &Recording) {
    let (count, wrong) = compare(recording);
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_language_is_that_of_redis() {
    check(&LANGUAGE);
}

#[test]
fn the_sandbox_and_the_libraries_are_those_of_redis() {
    check(&REDIS);
}
