//! A transaction that holds its locks for long: others are told so instead of being kept waiting, and nobody is forgotten when
//! it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use super::harness::open;
use crate::bitcask::{Bitcask, Snapshot};
use crate::engine::{
    Admin, Begun, Engine, Kind, NewRoot, Ordered, Overlay, Piece, Reader, Result, Sample, Scope, Sought,
    Ticket, Touch, Txn, Watch,
};
use crate::storage::Simulation;

/// Counts how often it is woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Bell {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn store() -> Bitcask {
    open(&Simulation::new(1)).expect("open").store
}

/// Keys of shards that differ.
fn keys(store: &Bitcask, count: usize) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for name in (0..).map(|number: u32| format!("key {number}").into_bytes()) {
        if found.iter().all(|key| store.shard_of_key(key) != store.shard_of_key(&name)) {
            found.push(name);
        }
        if found.len() == count {
            break;
        }
    }
    found
}

fn hold<'s>(store: &'s Bitcask, scope: Scope<'_>) -> Snapshot<'s> {
    let mut holder = store.begin(scope).expect("a healthy store");
    holder.hold_for_long();
    holder
}

fn begin<'s>(store: &'s Bitcask, scope: Scope<'_>, bell: &Arc<Bell>) -> Begun<Snapshot<'s>> {
    store.begin_soon(scope, &|| Waker::from(bell.clone())).expect("a healthy store")
}

fn waits(begun: Begun<Snapshot<'_>>) -> Ticket {
    match begun {
        Begun::Waits(ticket) => ticket,
        Begun::Open(_) => panic!("the lock is held for long"),
    }
}

fn is_open(begun: Begun<Snapshot<'_>>) -> bool {
    matches!(begun, Begun::Open(_))
}

fn set(store: &Bitcask, key: &[u8], value: &[u8]) -> bool {
    store.set_string(0, key, value, 1, Touch::clock(1), &mut Vec::new()).expect("a healthy store").is_some()
}

fn get(store: &Bitcask, key: &[u8]) -> Sought {
    store.get_string(0, key, 1, None, &mut |_: Piece<'_>| {}).expect("a healthy store")
}

fn commit(store: &Bitcask, mut snapshot: Snapshot<'_>, change: impl FnOnce(&mut Txn<'_>) -> Result<()>) {
    let mut overlay = Overlay::new();
    change(&mut Txn::new(&mut snapshot, &mut overlay, 1)).expect("a change");
    let ordered: Ordered<'_> = &mut |_| {};
    store.commit(snapshot, &mut overlay, 1, ordered).expect("a commit");
}

#[test]
fn long_transaction_keeps_threads_waiting() {
    let store = store();
    let keys = keys(&store, 3);
    let (held, free, other) = (keys[0].as_slice(), keys[1].as_slice(), keys[2].as_slice());
    assert!(set(&store, held, b"1") && set(&store, free, b"1"));
    let bell = Arc::new(Bell::default());
    let holder = hold(&store, Scope::Keys(&[held]));
    // The short ways leave it to the transaction, which waits by its ticket.
    assert_eq!((get(&store, held), get(&store, free)), (Sought::Unclear, Sought::Found));
    assert!(!set(&store, held, b"2") && set(&store, free, b"2"));
    let ticket = waits(begin(&store, Scope::Keys(&[held]), &bell));
    let several = waits(begin(&store, Scope::Keys(&[free, held, other]), &bell));
    let all = waits(begin(&store, Scope::Everything, &bell));
    // One that waits holds nothing.
    assert!(is_open(begin(&store, Scope::Keys(&[free, other]), &bell)));
    assert!(store.resume(ticket, Scope::Keys(&[held])).expect("healthy").is_none());
    // What runs in the background leaves the shard out.
    store.drain_garbage(100);
    store.expired_keys(1, 1000, &mut |_, _| {}).expect("healthy");
    let sample = Sample { random: 1, count: 5, only_expiring: false, looked_max: 100 };
    store.sample_keys(&sample, &mut |_, key, _| assert_ne!(key, held)).expect("healthy");
    store.prefetch(0, &[held, free]);
    assert!(store.is_busy(0, held));
    assert_eq!(bell.count(), 0);
    store.wake_waiting();
    assert_eq!(bell.count(), 3, "so that they may give up");
    store.forget(several);
    drop(holder);
    assert_eq!(bell.count(), 5, "the one that was forgotten does not hear of it");
    assert!(store.resume(ticket, Scope::Keys(&[held])).expect("healthy").is_some());
    assert!(store.resume(all, Scope::Everything).expect("healthy").is_some());
    assert_eq!(get(&store, held), Sought::Found);
    drop(hold(&store, Scope::Everything));
    assert_eq!(bell.count(), 5, "nobody waits any more");
}

/// Only those are woken that wait for something which is free now.
#[test]
fn wrong_one_is_woken() {
    let store = store();
    let keys = keys(&store, 2);
    let (one, other) = (keys[0].as_slice(), keys[1].as_slice());
    let (first, second) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
    let (of_one, of_other) = (hold(&store, Scope::Keys(&[one])), hold(&store, Scope::Keys(&[other])));
    let ticket = waits(begin(&store, Scope::Keys(&[one]), &first));
    let _other = waits(begin(&store, Scope::Keys(&[other]), &second));
    commit(&store, of_one, |txn| txn.put(0, one, NewRoot::of(Kind::String), b"by the holder"));
    assert_eq!((first.count(), second.count()), (1, 0));
    // Somebody else is quicker.
    let again = hold(&store, Scope::Keys(&[one]));
    assert!(store.resume(ticket, Scope::Keys(&[one])).expect("healthy").is_none());
    drop((again, of_other));
    assert_eq!((first.count(), second.count()), (2, 1));
    assert!(store.resume(ticket, Scope::Keys(&[one])).expect("healthy").is_some());
}

type Change<'c> = &'c dyn Fn(&mut Txn<'_>) -> Result<()>;

#[test]
fn watch_waits_for_a_lock() {
    let store = store();
    let keys = keys(&store, 2);
    let (held, other) = (keys[0].as_slice(), keys[1].as_slice());
    let changes: [Change<'_>; 6] = [
        &|txn| txn.put(0, held, NewRoot::of(Kind::String), b"changed"),
        &|txn| {
            txn.put(0, held, NewRoot::of(Kind::Hash), b"").and_then(|()| txn.sub_add(0, held, b"field", b"1"))
        },
        &|txn| txn.sub_add(0, held, b"other field", b"2"),
        &|txn| txn.swap(0, 1),
        &|txn| txn.swap(0, 1),
        &|txn| txn.flush(0),
    ];
    for change in changes {
        let holder = hold(&store, Scope::Everything);
        let [watch, of_other, ended] = [Watch::default(), Watch::default(), Watch::default()];
        store.watch(0, held, &watch);
        store.watch(0, other, &of_other);
        store.watch(0, held, &ended);
        store.unwatch(0, held, &ended);
        commit(&store, holder, change);
        assert!(watch.is_tripped() && !of_other.is_tripped() && !ended.is_tripped());
        store.unwatch(0, held, &watch);
        store.unwatch(0, other, &of_other);
    }
    // The short way.
    let watch = Watch::default();
    store.watch(0, held, &watch);
    assert!(set(&store, other, b"again") && !watch.is_tripped());
    assert!(set(&store, held, b"again") && watch.is_tripped());
}

/// Races, where there are threads.
#[cfg(not(target_family = "wasm"))]
mod threads {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Nothing here takes so long unless it hangs.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Wakes a thread through a channel.
    struct Line(mpsc::Sender<()>);

    impl Wake for Line {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }

    #[test]
    fn holder_that_takes_long_only_later() {
        let store = store();
        let key = keys(&store, 1).remove(0);
        let mut holder = store.begin(Scope::Keys(&[&key])).expect("healthy");
        let (began, has_begun) = mpsc::channel();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                began.send(()).expect("the test listens");
                let bell = Arc::new(Bell::default());
                store.forget(waits(begin(&store, Scope::Keys(&[&key]), &bell)));
            });
            has_begun.recv_timeout(PATIENCE).expect("it begins");
            // By now it mostly waits for the lock.
            (0..20).for_each(|_| std::thread::yield_now());
            holder.hold_for_long();
            waiting.join().expect("it was told");
            drop(holder);
        });
    }

    /// Holders end at every moment of the others' beginning to wait. A wake-up that is lost is never made up for.
    #[test]
    fn nobody_wakes_the_one_that_waits() {
        let store = store();
        let keys = keys(&store, 3);
        let all: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let scopes: [Vec<&[u8]>; 4] = [vec![all[0]], vec![all[1]], vec![all[0], all[1]], all.clone()];
        std::thread::scope(|scope| {
            for keys in &scopes {
                let store = &store;
                scope.spawn(move || {
                    for round in 0..2000 {
                        let (ring, rung) = mpsc::channel();
                        let waker = Waker::from(Arc::new(Line(ring)));
                        let begun = store.begin_soon(Scope::Keys(keys), &|| waker.clone()).expect("healthy");
                        let mut open = match begun {
                            Begun::Open(open) => open,
                            Begun::Waits(ticket) => loop {
                                rung.recv_timeout(PATIENCE).expect("it is woken");
                                let resumed = store.resume(ticket, Scope::Keys(keys));
                                if let Some(open) = resumed.expect("healthy") {
                                    break open;
                                }
                            },
                        };
                        if round % 3 != 0 {
                            open.hold_for_long();
                        }
                        if round % 7 == 0 {
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
    }

    /// Two threads hold one shard each, so that hardly a moment is without a holder, and a third wants all of them.
    #[test]
    fn holders_that_overlap_starve_others() {
        let store = store();
        let keys = keys(&store, 2);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for key in &keys {
                let (store, is_over) = (&store, &is_over);
                scope.spawn(move || {
                    let bell = Arc::new(Bell::default());
                    while !is_over.load(Ordering::SeqCst) {
                        let begun = store.begin_long(Scope::Keys(&[key]), &|| Waker::from(bell.clone()));
                        match begun.expect("healthy") {
                            Begun::Open(held) => {
                                std::thread::sleep(Duration::from_millis(10));
                                drop(held);
                            }
                            Begun::Waits(ticket) => store.forget(ticket),
                        }
                    }
                });
            }
            let mut is_starved = false;
            for _ in 0..20 {
                let (ring, rung) = mpsc::channel();
                let waker = Waker::from(Arc::new(Line(ring)));
                let begun = store.begin_soon(Scope::Everything, &|| waker.clone()).expect("healthy");
                let Begun::Waits(ticket) = begun else { continue };
                let is_open = (0..100).any(|_| {
                    rung.recv_timeout(PATIENCE).is_ok()
                        && store.resume(ticket, Scope::Everything).is_ok_and(|open| open.is_some())
                });
                is_starved |= !is_open;
            }
            // Whatever becomes of the test, the others end.
            is_over.store(true, Ordering::SeqCst);
            assert!(!is_starved, "it is not let pass");
        });
    }

    /// A watch that was acknowledged on one thread is tripped by the commit that another one makes then.
    #[test]
    fn acknowledged_watch_is_not_tripped() {
        let store = store();
        let key = keys(&store, 1).remove(0);
        let (watches, commits) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3000 {
                    watches.wait();
                    // Some commits race with the watch, and one comes later for sure.
                    assert!(set(&store, &key, b"racing"));
                    commits.wait();
                    assert!(set(&store, &key, b"later"));
                    commits.wait();
                }
            });
            for _ in 0..3000 {
                let watch = Watch::default();
                watches.wait();
                store.watch(0, &key, &watch);
                commits.wait();
                commits.wait();
                assert!(watch.is_tripped());
                store.unwatch(0, &key, &watch);
            }
        });
    }
}
