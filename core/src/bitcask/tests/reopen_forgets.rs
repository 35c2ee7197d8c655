//! What was committed is there after the store is opened again, with hints, without them, and after merges.

use std::sync::Arc;

use crate::bitcask::{Bitcask, OnDamage, Opened, Options};
use crate::engine::Admin;
use crate::engine::laws::{self, DATABASES, Script};
use crate::engine::memory::MemoryEngine;
use crate::engine::waiting::{Odds, Waiting};
use crate::storage::{Simulation, Storage};

const OPTIONS: Options = Options {
    databases: DATABASES,
    datafile_max_bytes: 64 * 1024,
    seed: 7,
    on_damage: OnDamage::Refuse,
    access: 0,
};

fn open(simulation: &Simulation) -> Opened {
    let storage: Arc<dyn Storage> = Arc::new(simulation.open().expect("a healthy device"));
    Bitcask::open(storage, &OPTIONS).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_store_keeps_the_laws() {
    for seed in 0..8 {
        laws::check(&open(&Simulation::new(seed)).store, seed, 400);
    }
}

#[test]
fn store_that_makes_its_callers_wait_breaks_a_law() {
    let odds = Odds { undeclared_percent: 30, ..Odds::default() };
    for seed in 0..4 {
        let store = open(&Simulation::new(seed)).store;
        laws::check(&Waiting::with_odds(store, seed, odds), seed, 120);
    }
}

#[test]
fn part_of_a_transaction_is_undone_with_the_rest() {
    for seed in 0..12 {
        laws::check_savepoints(&open(&Simulation::new(seed)).store, seed, 40);
    }
}

#[test]
fn a_script_goes_on_over_restarts() {
    for seed in 0..12_u64 {
        let mut simulation = Simulation::new(seed);
        let model = MemoryEngine::new(DATABASES);
        let mut script = Script::new(seed, 40);
        for round in 0..12 {
            let opened = open(&simulation);
            let now_ms = script.now_ms();
            let at = format!("seed {seed}, round {round}");
            let dumps = (laws::dump(&opened.store, now_ms), laws::dump(&model, now_ms));
            let (Ok(store), Ok(model_dump)) = dumps else { panic!("{at}: {:?}", dumps.0.err()) };
            if let Some(lines) = laws::difference(&store, &model_dump) {
                panic!("{at}\nkey: store | model\n{lines}");
            }
            assert_eq!(opened.rejected_hints, 0, "{at}");
            for _ in 0..120 {
                let operations = script.transaction();
                laws::run(&opened.store, &operations, script.now_ms()).expect("a healthy device");
                laws::run(&model, &operations, script.now_ms()).expect("memory");
                opened.store.drain_garbage(3);
                if seed % 3 != 0 {
                    opened.store.merge_step(8 * 1024).expect("a healthy device");
                }
                if seed % 4 == 1 {
                    opened.store.hint_step().expect("a healthy device");
                }
            }
            if round % 3 == 1 {
                opened.store.checkpoint(script.now_ms()).expect("a healthy device");
            }
            drop(opened);
            simulation = simulation.after_kill();
        }
    }
}
