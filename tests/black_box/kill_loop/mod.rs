//! kill -9 at random moments while clients write: nothing acknowledged may be missing, nothing unsent may appear.
//!
//! Each client has keys of its own and writes values that never repeat, so after a restart every key tells which write
//! it shows. The law a key must obey: it shows its last acknowledged write or a later one that had been sent.

mod ledger;
mod writer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use edgecask_tests::process::{Gateway, report};
use edgecask_tests::retry::let_pass;
use fastrand::Rng;

use ledger::Ledger;
use writer::write_until_killed;

/// Cycles under each policy.
const CYCLES: u32 = 10;

/// Clients, half of which send in pipelines.
const CLIENTS: usize = 6;

/// Acknowledgements that a cycle must bring for its kill to mean something.
const ACKNOWLEDGED_MIN: u64 = 50;

#[test]
fn acknowledged_writes_are_lost_under_always() {
    kill_again_and_again("always", "1mb");
}

#[test]
fn acknowledged_writes_are_lost_under_everysec() {
    kill_again_and_again("everysec", "1mb");
}

/// Every string is a file of its own.
#[test]
fn acknowledged_blobs_are_lost() {
    kill_again_and_again("everysec", "1");
}

fn kill_again_and_again(appendfsync: &str, blob_min_bytes: &str) {
    let seed = crate::differential::seed();
    report(&format!("kill -9 under {appendfsync}, blobs from {blob_min_bytes}: EDGECASK_SEED={seed}"));
    let mut rng = Rng::with_seed(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path())
        .with("--appendfsync", appendfsync)
        .with("--blob-min-bytes", blob_min_bytes);
    let mut ledgers: Vec<Ledger> = (0..CLIENTS).map(Ledger::new).collect();
    let (mut acknowledged, mut lost, mut begun) = (0, Vec::new(), Instant::now());
    let (mut opening, begin) = (Duration::ZERO, Instant::now());
    for cycle in 0..CYCLES {
        let server = gateway.must_start();
        opening = opening.max(begun.elapsed());
        lost.extend(ledgers.iter_mut().flat_map(|ledger| ledger.verify(&mut server.client())));
        assert!(lost.is_empty(), "seed {seed}, cycle {cycle}:\n{}", lost.join("\n"));
        let life = Duration::from_millis(rng.u64(150..700));
        let killing = AtomicBool::new(false);
        let address = server.address();
        let before = acknowledged;
        thread::scope(|scope| {
            let writers: Vec<_> = ledgers
                .iter_mut()
                .map(|ledger| scope.spawn(|| write_until_killed(address, ledger, &killing)))
                .collect();
            let_pass(life);
            killing.store(true, Ordering::Release);
            server.kill();
            for writer in writers {
                acknowledged += writer.join().expect("a writer does not panic");
            }
        });
        assert!(
            acknowledged - before >= ACKNOWLEDGED_MIN,
            "seed {seed}, cycle {cycle}: the server did hardly write"
        );
        begun = Instant::now();
    }
    let server = gateway.must_start();
    lost.extend(ledgers.iter_mut().flat_map(|ledger| ledger.verify(&mut server.client())));
    report(&format!(
        "kill -9 cycles: {CYCLES}, acknowledged: {acknowledged}, lost: {} ({appendfsync}, {CLIENTS} clients, slowest \
         start {:.2} s, {:.1} s)",
        lost.len(),
        opening.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    ));
    assert!(lost.is_empty(), "seed {seed}:\n{}", lost.join("\n"));
}
