//! SCAN, HSCAN, SSCAN and ZSCAN from the first cursor to the last: both servers must give the same elements, in whatever
//! portions and order.

use std::collections::BTreeSet;

use edgecask_core::resp::Value;
use edgecask_tests::client::Client;

use super::compare::{plain_number, scalars};
use super::grammar::Request;
use super::pair::Pair;
use super::values::{KEYS, Values};

/// Steps after which a walk over a small keyspace does not end any more.
const STEPS_MAX: usize = 10_000;

/// Walks compared at a time.
const WALKS: usize = 20;

/// Compares a few complete walks over what there is now.
pub fn compare(pair: &mut Pair, values: &mut Values) {
    for _ in 0..WALKS {
        let request = request(values);
        let (ours, theirs) = (walk(&mut pair.ours, &request), walk(&mut pair.theirs, &request));
        pair.compared += 1;
        if ours != theirs {
            pair.differs(&request, &format!("{ours:?}"), &format!("{theirs:?}"));
        }
    }
}

/// A walk's first request. The cursor stands where [`cursor_place`] says.
fn request(values: &mut Values) -> Request {
    let name: &[u8] = values.pick(&["SCAN", "HSCAN", "SSCAN", "ZSCAN"]).as_bytes();
    let mut request = vec![name.to_vec()];
    if name != b"SCAN" {
        request.push(values.pick(KEYS).to_vec());
    }
    request.push(b"0".to_vec());
    if values.chance(50) {
        request.extend([b"MATCH".to_vec(), values.pattern()]);
    }
    if values.chance(60) {
        request.extend([b"COUNT".to_vec(), values.rng.u32(1..400).to_string().into()]);
    }
    if name == b"SCAN" && values.chance(30) {
        request.extend([
            b"TYPE".to_vec(),
            values.pick(&["string", "list", "hash", "zset", "set", "nosuch"]).into(),
        ]);
    }
    request
}

fn cursor_place(request: &Request) -> usize {
    if request[0] == b"SCAN" { 1 } else { 2 }
}

/// Everything a walk gives, or its error.
fn walk(client: &mut Client, request: &Request) -> Result<BTreeSet<Vec<String>>, String> {
    let mut request = request.clone();
    let unit = if matches!(request[0].as_slice(), b"HSCAN" | b"ZSCAN") { 2 } else { 1 };
    let mut found = BTreeSet::new();
    for _ in 0..STEPS_MAX {
        let reply = client.call(&request).expect("a reply");
        let Value::Array(parts) = &reply else { return Err(format!("{reply:?}")) };
        let [cursor, elements] = parts.as_slice() else { return Err(format!("{reply:?}")) };
        let mut scalars = scalars(elements);
        if request[0] == b"ZSCAN" {
            scalars.iter_mut().skip(1).step_by(2).for_each(|score| *score = plain_number(score));
        }
        found.extend(scalars.chunks(unit).map(<[String]>::to_vec));
        let cursor = cursor.as_bytes().unwrap_or_default().to_vec();
        if cursor == b"0" {
            return Ok(found);
        }
        let place = cursor_place(&request);
        request[place] = cursor;
    }
    Err("it does not end".into())
}
