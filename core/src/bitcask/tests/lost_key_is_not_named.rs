//! Damage took records with their headers. What the hints say of them is not used, so nobody knows which keys are lost.

use super::harness::{OPTIONS, contents, datafile_names, open, open_with, put, remove, run, sub_put};
use crate::bitcask::{Checked, Fate, Loss, LostKind, OnDamage, Options, check};
use crate::engine::laws::Dump;
use crate::storage::{DeviceStorage, Simulation};

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..OPTIONS };

/// A store at rest whose datafiles have hints, and what it holds.
fn hinted() -> (Simulation, Dump) {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    for number in 0..30_u8 {
        run(
            &store,
            &[
                put(&format!("key {number:02}"), &[number; 300]),
                sub_put("hash", &format!("field {number:02}"), &[number; 80]),
            ],
        );
    }
    run(&store, &[remove("key 03"), put("key 04", b"later")]);
    while store.hint_ahead(1).expect("a healthy device") {}
    let all = contents(&store);
    drop(store);
    (machine.after_kill(), all)
}

fn checked(machine: &Simulation) -> Checked {
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    check(&storage, OPTIONS.databases).expect("readable")
}

/// The keys and fields that are told to be gone, in order.
fn told(losses: &[Loss]) -> Vec<String> {
    let gone = losses.iter().filter(|loss| loss.fate == Fate::Gone);
    let mut names: Vec<String> = gone
        .map(|loss| {
            assert!(matches!(loss.kind, LostKind::Key | LostKind::Subkey), "{loss}");
            let key = loss.subkey.as_ref().or(loss.key.as_ref()).expect("a name");
            String::from_utf8_lossy(key).into_owned()
        })
        .collect();
    names.sort();
    names
}

/// What is not there any more once the store is salvaged, in order.
fn missing(machine: &Simulation, all: &Dump) -> (Vec<String>, Vec<String>) {
    let opened = open_with(machine, &SALVAGE).expect("salvaged");
    let left = contents(&opened.store);
    let gone = all.keys().filter(|key| !left.contains_key(key));
    let mut names: Vec<String> = gone.map(|(_, key)| String::from_utf8_lossy(key).into_owned()).collect();
    let hash = |dump: &Dump| format!("{:?}", dump.get(&(0, b"hash".to_vec())));
    let (before, after) = (hash(all), hash(&left));
    let fields = (0..30).map(|number| format!("field {number:02}"));
    let shown = |text: &String| format!("{:?}", text.as_bytes());
    names.extend(fields.filter(|field| before.contains(&shown(field)) && !after.contains(&shown(field))));
    names.sort();
    (names, told(&opened.losses))
}

fn place_of(machine: &Simulation, text: &str) -> (String, u64) {
    let find = |bytes: &[u8]| bytes.windows(text.len()).position(|part| part == text.as_bytes());
    let found = datafile_names(machine).into_iter().find_map(|name| {
        let at = find(&machine.bytes(&name)?)?;
        Some((name, at as u64))
    });
    found.expect("a datafile with the text")
}

#[test]
fn keys_whose_headers_are_zeros_are_not_named() {
    let (machine, all) = hinted();
    let (name, from) = place_of(&machine, "key 05");
    let (same, to) = place_of(&machine, "field 07");
    assert_eq!(name, same);
    let mut bytes = machine.bytes(&name).expect("its bytes");
    bytes[from as usize - 20..to as usize].fill(0);
    machine.set_bytes(&name, bytes);
    let found = checked(&machine);
    let expected = ["field 05", "field 06", "field 07", "key 05", "key 06", "key 07"];
    assert_eq!(told(&found.losses), expected);
    assert!(found.damages.iter().all(|damage| damage.unnamed_bytes == 0), "{:?}", found.damages);
    // A start reads what hints stand in for only if it has found damage elsewhere.
    assert!(machine.remove_file("MANIFEST"));
    let (gone, lost) = missing(&machine, &all);
    assert_eq!((gone, lost), (expected.map(str::to_owned).into(), expected.map(str::to_owned).into()));
}

#[test]
fn key_with_a_flipped_bit_is_named_as_it_is_not() {
    let (machine, _) = hinted();
    let (name, at) = place_of(&machine, "key 05");
    assert!(machine.flip_bit(&name, at, 3));
    assert_eq!(told(&checked(&machine).losses), ["key 05"]);
    machine.set_meta(Default::default());
    assert_eq!(told(&checked(&machine).losses), ["cey 05"], "all that is known without hints");
}

#[test]
fn keys_of_a_missing_datafile_are_not_named() {
    let (machine, all) = hinted();
    let (name, _) = place_of(&machine, "key 08");
    assert_ne!(Some(&name), datafile_names(&machine).last());
    assert!(machine.remove_file(&name));
    let found = checked(&machine);
    assert!(found.damages.iter().all(|damage| damage.unnamed_bytes == 0), "{:?}", found.damages);
    let (gone, lost) = missing(&machine, &all);
    assert!(gone.len() > 10 && gone.iter().any(|key| key == "key 08"), "{gone:?}");
    assert_eq!((&lost, &told(&found.losses)), (&gone, &gone));
}

#[test]
fn keys_behind_the_end_of_a_shortened_datafile_are_not_named() {
    let (machine, all) = hinted();
    for (text, kept) in [("key 05", 3), ("key 29", 100)] {
        let machine = machine.after_kill();
        let (name, at) = place_of(&machine, text);
        let bytes = machine.bytes(&name).expect("its bytes");
        machine.set_bytes(&name, bytes[..at as usize + kept].to_vec());
        let found = checked(&machine);
        assert!(found.damages.iter().all(|damage| damage.unnamed_bytes == 0), "{:?}", found.damages);
        let (gone, lost) = missing(&machine, &all);
        assert!(gone.iter().any(|key| key == text), "{gone:?}");
        assert_eq!((&lost, &told(&found.losses)), (&gone, &gone));
    }
}
