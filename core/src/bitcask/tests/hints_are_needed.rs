//! The metadata map only saves time: a store whose map fails opens, is salvaged, merges and opens again.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::harness::{OPTIONS, contents, datafile_names, merge_all, open_with, put, remove, run};
use crate::bitcask::{Bitcask, OnDamage, Opened, Options};
use crate::engine::Admin;
use crate::engine::laws;
use crate::storage::{
    DeviceStorage, MetaMap, MetaOp, Result, Simulation, StorageError, simulated::SimulatedMeta,
};

/// A map that fails from some moment on.
struct Failing {
    map: SimulatedMeta,
    fails: Arc<AtomicBool>,
}

impl Failing {
    fn map(&self) -> Result<&SimulatedMeta> {
        match self.fails.load(Ordering::Relaxed) {
            true => Err(StorageError::Io("the map is broken".into())),
            false => Ok(&self.map),
        }
    }
}

impl MetaMap for Failing {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.map()?.get(key)
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.map()?.scan(prefix, visit)
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        self.map()?.apply(changes)
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        self.map()?.apply_lazily(changes)
    }
}

fn open(machine: &Simulation, fails: &Arc<AtomicBool>, on_damage: OnDamage) -> Opened {
    let map = Failing { map: machine.meta(), fails: fails.clone() };
    let storage = Arc::new(DeviceStorage::open(machine.device(), map).expect("a healthy device"));
    Bitcask::open(storage, &Options { on_damage, ..OPTIONS }).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn broken_map_blocks_the_store() {
    for fails_before_open in [false, true] {
        let (machine, fails) = (Simulation::new(1), Arc::new(AtomicBool::new(false)));
        let store = open(&machine, &fails, OnDamage::Refuse).store;
        for number in 0..40_u8 {
            run(&store, &[put(&format!("key {number}"), &[number; 500])]);
        }
        store.checkpoint(0).expect("a healthy device");
        drop(store);
        let name = datafile_names(&machine).swap_remove(1);
        assert!(machine.flip_bit(&name, 3, 0));
        fails.store(fails_before_open, Ordering::Relaxed);
        let opened = open(&machine, &fails, OnDamage::Salvage);
        assert_eq!(opened.hinted_datafiles, 0, "they leave out what lost records replaced");
        if !fails_before_open {
            opened.store.checkpoint(0).expect("a healthy device");
        }
        fails.store(true, Ordering::Relaxed);
        for number in 0..30_u8 {
            run(&opened.store, &[remove(&format!("key {number}"))]);
        }
        let before = contents(&opened.store);
        let inputs: HashSet<String> = datafile_names(&machine).into_iter().collect();
        merge_all(&opened.store);
        assert!(datafile_names(&machine).len() < inputs.len(), "merge goes on");
        assert_eq!(laws::difference(&before, &contents(&opened.store)), None);
        drop(opened);
        for fails_now in [true, false] {
            fails.store(fails_now, Ordering::Relaxed);
            let store = open(&machine.after_kill(), &fails, OnDamage::Refuse).store;
            assert_eq!(laws::difference(&before, &contents(&store)), None);
        }
    }
}

/// The datafiles of an earlier moment beside hints that leave out what was replaced since, in the same datafile or in others.
#[test]
fn hints_of_a_longer_log_hide_keys() {
    const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..OPTIONS };
    for rounds in [1, 30_u8] {
        let machine = Simulation::new(1);
        let store = open_with(&machine, &OPTIONS).expect("open").store;
        for number in 0..20_u8 {
            run(&store, &[put(&format!("key {number}"), &[number; 500])]);
        }
        store.sync().expect("a healthy device");
        let (older, before) = (machine.after_kill(), contents(&store));
        for round in 0..rounds {
            run(&store, &[put("key 0", &[round; 500])]);
        }
        store.checkpoint(0).expect("a healthy device");
        older.set_meta(machine.meta_copy());
        let refused = open_with(&older.after_kill(), &OPTIONS).err().unwrap_or_default();
        let why = if rounds == 1 { "more of it was synced" } else { "is older than the hints" };
        assert!(refused.contains(why), "{rounds} rounds: {refused:?}");
        drop(open_with(&older, &SALVAGE).expect("salvaged"));
        let next = open_with(&older.after_kill(), &OPTIONS).expect("whole since it was salvaged").store;
        assert_eq!(laws::difference(&before, &contents(&next)), None, "{rounds} rounds");
    }
}
