//! Everything two servers hold, compared.

use std::collections::BTreeMap;

use edgecask_core::resp::Value;
use edgecask_core::transcript::show;
use edgecask_tests::client::Client;

use super::compare::{agree_on_time, plain_number, scalars, timeless};
use super::pair::Pair;

/// Databases that requests select, move to or swap with.
const DATABASES: u32 = 16;

/// Type, contents and time to live of a key.
type Held = (String, Vec<String>, Value);

/// Compares all databases; keys that differ are noted as differences. False if there were any.
pub fn compare(pair: &mut Pair) -> bool {
    let mut is_equal = true;
    for database in 0..DATABASES {
        let (ours, theirs) = (dump(&mut pair.ours, database), dump(&mut pair.theirs, database));
        let mut keys: Vec<&Vec<u8>> = ours.keys().chain(theirs.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let is_same = match (ours.get(key), theirs.get(key)) {
                (Some(ours), Some(theirs)) => {
                    ours.0 == theirs.0 && ours.1 == theirs.1 && agree_on_time(&ours.2, &theirs.2, true)
                }
                _ => false,
            };
            if !is_same {
                let request = vec![b"(keyspace)".to_vec(), key.clone(), database.to_string().into()];
                pair.differs(&request, &format!("{:?}", ours.get(key)), &format!("{:?}", theirs.get(key)));
                is_equal = false;
            }
        }
    }
    for client in [&mut pair.ours, &mut pair.theirs] {
        client.must("SELECT 0");
    }
    if !is_equal {
        pair.start_over();
    }
    is_equal
}

fn dump(client: &mut Client, database: u32) -> BTreeMap<Vec<u8>, Held> {
    client.must(&format!("SELECT {database}"));
    let Value::Array(keys) = client.must("KEYS *") else { panic!("KEYS gives an array") };
    keys.iter().filter_map(Value::as_bytes).map(|key| (key.to_vec(), held(client, key))).collect()
}

fn held(client: &mut Client, key: &[u8]) -> Held {
    let mut ask = |words: &[&str]| {
        let mut request: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        // The key follows the command's name, which may be of two words.
        request.insert(if words[0] == "XINFO" { 2 } else { 1 }, key);
        client.call(&request).expect("a reply")
    };
    let kind = show(&ask(&["TYPE"]), false);
    let (contents, sort_by) = match kind.as_str() {
        "string" => (ask(&["GET"]), 0),
        "list" => (ask(&["LRANGE", "0", "-1"]), 0),
        "set" => (ask(&["SMEMBERS"]), 1),
        "hash" => (ask(&["HGETALL"]), 2),
        "zset" => (ask(&["ZRANGE", "0", "-1", "WITHSCORES"]), 0),
        "stream" => (timeless(&ask(&["XINFO", "STREAM", "FULL", "COUNT", "0"])), 0),
        _ => (Value::Null, 0),
    };
    let mut scalars = scalars(&contents);
    if kind == "zset" {
        scalars.iter_mut().skip(1).step_by(2).for_each(|score| *score = plain_number(score));
    }
    let mut shown: Vec<String> = scalars.chunks(sort_by.max(1)).map(|group| group.join(" = ")).collect();
    if sort_by > 0 {
        shown.sort();
    }
    (kind, shown, ask(&["PTTL"]))
}
