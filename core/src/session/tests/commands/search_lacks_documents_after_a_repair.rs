//! Damage takes a record of a document map, or brings back an older one, and salvage leaves an index that lacks documents for good.

use std::sync::Arc;

use super::functions_of_the_store::{Client, Log, NOW_MS, start_with};
use super::search_differs_from_a_rebuild::{SCHEMA, compare_with_a_rebuild, open, settle};
use crate::bitcask::{Bitcask, OnDamage, Opened, Options};
use crate::command::search;
use crate::data::mend::mend;
use crate::engine::Admin;
use crate::server::Server;
use crate::storage::Simulation;

/// The keys, each of which is changed once more after it was stored in a segment.
const KEYS: u8 = 8;

fn write(client: &mut Client<'_>, key: u8, title: &str) {
    let number = key.to_string();
    let key = format!("doc:{key}");
    let reply = client.call(&["HSET", &key, "title", title, "number", &number, "hidden", "0"]);
    assert!(reply.starts_with(':'), "{reply}");
}

/// A store with an index, at rest.
fn store() -> Simulation {
    let machine = Simulation::new(1);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say(&format!("FT.CREATE index {SCHEMA}")), "+OK");
    for title in ["big red house", "green"] {
        (0..KEYS).for_each(|key| write(&mut client, key, title));
        server.shared.search.seal_deltas(1);
        settle(&server, NOW_MS);
    }
    assert!(client.say("FT.SEARCH index green NOCONTENT").contains(&format!(":{KEYS} ")));
    server.engine.checkpoint(NOW_MS).expect("a healthy device");
    drop(client);
    drop(server);
    // With hints a start would not read what is damaged.
    machine.set_meta(Default::default());
    machine.after_kill()
}

fn salvaged(machine: &Simulation) -> Opened {
    let storage = Arc::new(machine.open().expect("a healthy device"));
    Bitcask::open(storage, &Options { on_damage: OnDamage::Salvage, ..Options::default() }).expect("opens")
}

/// What a home does after a salvage.
fn mended(opened: Opened) -> Server<Bitcask> {
    assert!(opened.is_unmended);
    mend(&opened.store, 16).expect("mended");
    search::forget_maps(&opened.store, NOW_MS).expect("mended");
    opened.store.sync().expect("a healthy device");
    opened.store.note_mended().expect("a healthy device");
    start_with(opened.store, &Log::default())
}

/// The places of a text in the datafile.
fn places(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    let all = bytes.windows(text.len()).enumerate();
    all.filter(|(_, window)| *window == text).map(|(at, _)| at).collect()
}

#[test]
fn search_lacks_documents_after_a_repair() {
    let pristine = store();
    let name = pristine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let bytes = pristine.bytes(&name).expect("a datafile");
    let mut judged = 0;
    for key in 0..KEYS {
        // Roots of the hash, and entries of the map, new and old.
        for place in places(&bytes, format!("doc:{key}").as_bytes()) {
            let machine = pristine.after_kill();
            assert!(machine.flip_bit(&name, place as u64, 1));
            let opened = salvaged(&machine);
            assert!(!opened.damages.is_empty(), "key {key} at {place}");
            let server = mended(opened);
            assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
            compare_with_a_rebuild(&server, NOW_MS, &format!("key {key} at {place}"));
            drop(server);
            // The next start has nothing to mend, and knows the same.
            let left = machine.after_kill();
            let opened = salvaged(&left);
            assert!(!opened.is_unmended && opened.damages.is_empty());
            let server = start_with(opened.store, &Log::default());
            assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
            compare_with_a_rebuild(&server, NOW_MS, &format!("key {key} at {place}, started again"));
            judged += 1;
        }
    }
    assert!(judged >= u64::from(KEYS) * 3, "{judged}");
}

#[test]
fn salvage_that_is_killed_before_it_mends_is_not_mended_later() {
    let machine = store();
    let name = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let bytes = machine.bytes(&name).expect("a datafile");
    let place = *places(&bytes, b"doc:3").last().expect("an entry of the map");
    assert!(machine.flip_bit(&name, place as u64, 1));
    drop(salvaged(&machine));
    let server = mended(salvaged(&machine.after_kill()));
    assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
    compare_with_a_rebuild(&server, NOW_MS, "killed");
}
