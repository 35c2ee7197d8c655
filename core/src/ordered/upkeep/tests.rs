//! Random work beside housekeeping, on a simulated cluster: nothing stays but what somebody needs, and nothing goes that somebody needs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::super::cluster::{Ask, Cluster, ReadDone, ReadIn, Write, WriteDone};
use super::super::databases::Databases;
use super::super::names::{Home, Named, Names};
use super::super::record::Record;
use super::super::simulated::{Begun, Faults, Simulated};
use super::super::{Options, Ordered, SMALL_BYTES};
use super::Pace;
use crate::engine::laws::{self, DATABASES, Operation, Script};
use crate::engine::memory::MemoryEngine;
use crate::engine::{CATALOG, Db, Engine, Kind, NewRoot, Overlay};

const STORE: &[u8] = b"test";

const PACE: Pace = Pace { life_ms: 1_000, collects_versions: true };

/// Facts of what is found by different ways.
const FOUND: [&str; 3] = ["cluster_collected_homes", "cluster_sweep_found", "cluster_destroyed_databases"];

/// What happens between two requests to the cluster.
type Meddle = Box<dyn FnMut() + Send>;

/// A cluster that lets others in before each request.
#[derive(Clone)]
struct Meddled {
    cluster: Simulated,
    meddle: Arc<Mutex<Option<Meddle>>>,
}

impl Meddled {
    fn of(cluster: &Simulated) -> Meddled {
        Meddled { cluster: cluster.clone(), meddle: Arc::default() }
    }

    fn let_in(&self) {
        let Some(mut meddle) = self.meddle.lock().take() else { return };
        meddle();
        *self.meddle.lock() = Some(meddle);
    }
}

impl Cluster for Meddled {
    type Transaction = Begun;

    fn time_ms(&self, transaction: &Begun) -> u64 {
        self.cluster.time_ms(transaction)
    }

    fn read(&self, within: ReadIn<Begun>, asks: Vec<Ask>, done: ReadDone<Begun>) {
        self.let_in();
        self.cluster.read(within, asks, done);
    }

    fn write(&self, transaction: Option<Begun>, write: Write, done: WriteDone) {
        self.let_in();
        self.cluster.write(transaction, write, done);
    }

    fn now_ms(&self) -> u64 {
        self.cluster.now_ms()
    }

    fn later(&self, delay_ms: u64, call: Box<dyn FnOnce() + Send>) {
        self.cluster.later(delay_ms, call);
    }

    fn destroy(&self, from: Vec<u8>, to: Vec<u8>, done: WriteDone) {
        self.let_in();
        self.cluster.destroy(from, to, done);
    }
}

fn engine<C: Cluster>(cluster: C, process: u32) -> Ordered<C> {
    let options = Options { store: STORE.to_vec(), databases: DATABASES, process, small_bytes: SMALL_BYTES };
    Ordered::new(cluster, options)
}

/// The work of clients, on the engine and on a model of it.
struct Work {
    engine: Ordered<Meddled>,
    model: MemoryEngine,
    script: Script,
    random: fastrand::Rng,
}

impl Work {
    fn new(cluster: &Simulated, seed: u64) -> Work {
        Work {
            engine: engine(Meddled::of(cluster), 1),
            model: MemoryEngine::new(DATABASES),
            script: Script::new(seed, 16),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// One transaction. Some make long values, and some replace what was there without a look.
    fn transact(&mut self) {
        let operations = self.script.transaction();
        let now_ms = self.script.now_ms();
        if self.random.u8(..8) > 0 {
            laws::run(&self.engine, &operations, now_ms).expect("a commit");
            laws::run(&self.model, &operations, now_ms).expect("a commit");
            return;
        }
        let db = if self.random.bool() { CATALOG } else { self.random.u32(..DATABASES) };
        let key = format!("key:{}", self.random.u8(..16)).into_bytes();
        let len = if self.random.bool() { 3 } else { 300_000 };
        put(&self.engine, (db, &key), len, now_ms);
        put(&self.model, (db, &key), len, now_ms);
    }

    fn dumps(&self) -> [laws::Dump; 2] {
        let now_ms = self.script.now_ms();
        [laws::dump(&self.engine, now_ms), laws::dump(&self.model, now_ms)]
            .map(|dump| dump.expect("readable"))
    }
}

/// SET, which looks at nothing.
fn put<E: Engine>(engine: &E, (db, key): (Db, &[u8]), len: usize, now_ms: u64) {
    let put = &mut |txn: &mut crate::engine::Txn<'_>| {
        txn.set_puts_blindly(!engine.holds_locks());
        // A long one lies in pieces of the slot and is no blob.
        txn.set_blob_min(u64::MAX);
        txn.put(db, key, NewRoot::of(Kind::String), &vec![7; len])
    };
    laws::transact(engine, Some(&[key]), now_ms, &mut Overlay::new(), put).expect("a commit");
}

/// Lets housekeeping go on until it has walked over the store several times.
fn keep_house<C: Cluster>(engine: &Ordered<C>, now_ms: &mut u64, walks: u64) {
    let begin = fact(engine, "cluster_sweeps");
    for _ in 0..100_000 {
        *now_ms += 20;
        engine.upkeep(*now_ms, PACE);
        laws::expire(engine, *now_ms, 1_000).expect("a commit");
        if fact(engine, "cluster_sweeps") >= begin + walks {
            return;
        }
    }
    panic!("a walk over the store never ends");
}

fn fact<C: Cluster>(engine: &Ordered<C>, name: &str) -> u64 {
    let found = engine.0.upkeep.report().into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("nothing is called {name}")).1
}

/// What is in the cluster that nobody needs.
fn left_over(cluster: &Simulated) -> Vec<String> {
    let names = Names::of(STORE);
    let pairs: BTreeMap<Vec<u8>, Vec<u8>> = cluster.pairs().into_iter().collect();
    let databases = Databases::read(pairs.get(&names.databases()).map(Vec::as_slice)).expect("readable");
    let is_shown = |name: &[u8]| names.read_space(name).is_some_and(|space| databases.is_shown(space));
    let mut homes: BTreeMap<Home, &[u8]> = BTreeMap::new();
    for (name, value) in &pairs {
        if is_shown(name) && matches!(names.read(name), Some(Named::Root(..))) {
            homes.extend(Record::read(value).expect("readable").homes().map(|home| (home, name.as_slice())));
        }
    }
    let kept: BTreeSet<Vec<u8>> =
        [names.databases(), names.processes(), names.lease(), names.swept()].into_iter().collect();
    let is_needed = |name: &Vec<u8>, value: &Vec<u8>| {
        // Blobs have a collector, and tests, of their own.
        if kept.contains(name) || names.is_of_blob(name) {
            return true;
        }
        if name >= &names.databases() {
            let marked = names.read_elsewhere(name).filter(|home| names.elsewhere(*home) == *name);
            return marked.is_some_and(|home| homes.get(&home).is_some_and(|root| root == value));
        }
        match names.read(name) {
            Some(Named::Root(..)) => is_shown(name),
            _ => names.read_home(name).is_some_and(|home| {
                homes.contains_key(&home) && names.data(home).0 <= *name && *name < names.data(home).1
            }),
        }
    };
    let left = pairs.iter().filter(|(name, value)| !is_needed(name, value));
    left.map(|(name, _)| name.escape_ascii().to_string()).collect()
}

#[test]
fn data_of_no_root_stays() {
    let mut found = [0; 3];
    for seed in 0..6 {
        let often = Faults { conflict_percent: 10, read_conflict_percent: 10 };
        let cluster = Simulated::new(seed, if seed % 2 == 0 { Faults::default() } else { often });
        let mut work = Work::new(&cluster, seed);
        (0..250).for_each(|_| work.transact());
        let before = work.dumps();
        let mut now_ms = work.script.now_ms();
        // The process that made it is gone, with all that it had noted.
        let engine = engine(Meddled::of(&cluster), 2);
        keep_house(&engine, &mut now_ms, 4);
        for (sum, name) in found.iter_mut().zip(FOUND) {
            *sum += fact(&engine, name);
        }
        let [after, _] = work.dumps();
        assert!(laws::is_same_at(&before[0], &after, now_ms), "seed {seed}");
        assert!(laws::is_same_at(&before[1], &after, now_ms), "seed {seed}");
        assert_eq!(left_over(&cluster), [""; 0], "seed {seed}");
    }
    assert!(found.iter().all(|sum| *sum > 0), "there was nothing to find: {found:?}");
}

#[test]
fn housekeeping_takes_what_somebody_needs() {
    for seed in 0..8 {
        let often = Faults { conflict_percent: 10, read_conflict_percent: 10 };
        let cluster = Simulated::new(seed, if seed % 2 == 0 { Faults::default() } else { often });
        let work = Arc::new(Mutex::new(Work::new(&cluster, seed)));
        let keeper = Arc::new(engine(Meddled::of(&cluster), 2));
        let (of_work, of_keeper) =
            (work.lock().engine.cluster().meddle.clone(), keeper.cluster().meddle.clone());
        let now_ms = Arc::new(Mutex::new(work.lock().script.now_ms()));
        let is_inside = Arc::new(AtomicBool::new(false));
        // While a transaction is under way housekeeping takes steps, and the other way round.
        let mut random = fastrand::Rng::with_seed(seed);
        let (inside, keeping, time) = (is_inside.clone(), keeper.clone(), now_ms.clone());
        *of_work.lock() = Some(Box::new(move || {
            if !inside.swap(true, Ordering::Relaxed) {
                for _ in 0..random.u8(..3) {
                    *time.lock() += 20;
                    keeping.upkeep(*time.lock(), PACE);
                }
                inside.store(false, Ordering::Relaxed);
            }
        }));
        let mut random = fastrand::Rng::with_seed(seed + 100);
        let (inside, working) = (is_inside.clone(), work.clone());
        *of_keeper.lock() = Some(Box::new(move || {
            if random.u8(..6) == 0 && !inside.swap(true, Ordering::Relaxed) {
                working.lock().transact();
                inside.store(false, Ordering::Relaxed);
            }
        }));
        for _ in 0..200 {
            work.lock().transact();
            let time = {
                let mut time = now_ms.lock();
                *time = (*time + 20).max(work.lock().script.now_ms());
                *time
            };
            keeper.upkeep(time, PACE);
            laws::expire(&*keeper, work.lock().script.now_ms(), 100).expect("a commit");
        }
        *of_work.lock() = None;
        *of_keeper.lock() = None;
        let work = work.lock();
        let [stored, model] = work.dumps();
        let at_ms = work.script.now_ms();
        assert!(
            laws::is_same_at(&stored, &model, at_ms),
            "seed {seed}\n{}",
            laws::difference(&stored, &model).unwrap_or_default()
        );
        let mut time = *now_ms.lock();
        keep_house(&*keeper, &mut time, 3);
        let [after, _] = work.dumps();
        assert!(laws::is_same_at(&stored, &after, time), "seed {seed}");
        assert_eq!(left_over(&cluster), [""; 0], "seed {seed}");
    }
}

/// One transaction of one operation.
fn run<C: Cluster>(engine: &Ordered<C>, operation: Operation, now_ms: u64) {
    laws::run(engine, &[operation], now_ms).expect("a commit");
}

fn expiring(key: &[u8], expires_at_ms: u64) -> Operation {
    let root = NewRoot { kind: Kind::String, encoding: 0, expires_at_ms: Some(expires_at_ms) };
    Operation::Put(0, key.to_vec(), root, b"value".to_vec())
}

#[test]
fn expired_key_stays_though_nobody_asks_for_it() {
    const NOW_MS: u64 = 1_700_000_000_000;
    let cluster = Simulated::new(1, Faults::default());
    let first = engine(cluster.clone(), 1);
    run(&first, expiring(b"soon", NOW_MS + 2_000), NOW_MS);
    run(&first, expiring(b"later", NOW_MS + 60_000), NOW_MS);
    run(&first, expiring(b"refreshed", NOW_MS + 60_000), NOW_MS);
    run(&first, expiring(b"removed", NOW_MS + 60_000), NOW_MS);
    first.upkeep(NOW_MS + 1, PACE);
    assert_eq!(fact(&first, "cluster_hints_written"), 3);
    run(&first, Operation::Expire(0, b"refreshed".to_vec(), Some(NOW_MS + 90_000)), NOW_MS + 1_000);
    run(&first, Operation::Remove(0, b"removed".to_vec()), NOW_MS + 1_000);
    let second = engine(cluster.clone(), 2);
    let steps = |from_ms: u64| {
        let mut gone = Vec::new();
        for time in (from_ms..from_ms + 2_000).step_by(100) {
            for engine in [&first, &second] {
                engine.upkeep(time, PACE);
                engine
                    .expired_keys(time, 10, &mut |_, key| gone.push(key.to_vec()))
                    .expect("no reason to fail");
            }
        }
        gone.sort();
        gone.dedup();
        gone
    };
    assert_eq!(steps(NOW_MS + 1_500), [b"soon"]);
    assert_eq!(fact(&first, "cluster_hints_written"), 3, "a later time needs no other hint");
    // Until they are gone they are handed over again: by their hints, or by the walk where there is none.
    assert_eq!(steps(NOW_MS + 60_000), [&b"later"[..], b"soon"]);
    assert_eq!(steps(NOW_MS + 90_000), [&b"later"[..], b"refreshed", b"soon"]);
    let keys: [&[u8]; 3] = [b"later", b"refreshed", b"soon"];
    laws::transact(&first, Some(&keys), NOW_MS + 95_000, &mut Overlay::new(), &mut |txn| {
        keys.iter().try_for_each(|key| txn.root(0, key).map(|root| assert!(root.is_none())))
    })
    .expect("a commit");
    assert_eq!(steps(NOW_MS + 96_000), [b""; 0]);
    let names = Names::of(STORE);
    let left: Vec<_> = cluster.pairs().into_iter().map(|(name, _)| name).collect();
    let records = [names.lease(), names.swept()];
    let others: Vec<_> = left.iter().filter(|name| !records.contains(name)).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn store_is_looked_after_by_nobody_or_by_two() {
    const NOW_MS: u64 = 1_700_000_000_000;
    let cluster = Simulated::new(1, Faults::default());
    let [first, second] = [1, 2].map(|process| engine(cluster.clone(), process));
    let leads = |engine: &Ordered<Simulated>| fact(engine, "cluster_leads") == 1;
    for time in (NOW_MS..NOW_MS + 20_000).step_by(250) {
        first.upkeep(time, PACE);
        second.upkeep(time, PACE);
        assert!(leads(&first) && !leads(&second), "after {} ms", time - NOW_MS);
    }
    // The first one is gone without a word.
    let mut time = NOW_MS + 20_000;
    while !leads(&second) {
        second.upkeep(time, PACE);
        time += 250;
    }
    assert!((3_000..8_000).contains(&(time - NOW_MS - 20_000)), "{} ms", time - NOW_MS - 20_000);
    first.upkeep(time, PACE);
    assert!(!leads(&first), "it comes back and finds another one");
    second.end_upkeep(time);
    first.upkeep(time + 1_000, PACE);
    assert!(leads(&first), "what was given up is taken at once");
}

#[test]
fn large_collection_is_dropped_and_stays() {
    const NOW_MS: u64 = 1_700_000_000_000;
    let cluster = Simulated::new(1, Faults::default());
    let engine = engine(cluster.clone(), 1);
    laws::transact(&engine, None, NOW_MS, &mut Overlay::new(), &mut |txn| {
        txn.put(0, b"large", NewRoot::of(Kind::Hash), &[])?;
        for number in 0..5_000_u32 {
            txn.sub_put(0, b"large", &number.to_be_bytes(), b"value")?;
        }
        Ok(())
    })
    .expect("a commit");
    assert!(cluster.key_count() > 5_000);
    run(&engine, Operation::Remove(0, b"large".to_vec()), NOW_MS);
    let mut time = NOW_MS;
    let mut steps = 0;
    while cluster.key_count() > 10 {
        time += 10;
        engine.upkeep(time, PACE);
        steps += 1;
        assert!(steps < 50, "{} keys are left", cluster.key_count());
    }
    assert!(fact(&engine, "cluster_collected_entries") >= 5_000);
    assert_eq!(fact(&engine, "cluster_collect_pending"), 0);
}
