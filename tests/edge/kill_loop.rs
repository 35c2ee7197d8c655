//! kill -9 of workerd while writes are acknowledged: none of those is lost, and none is half there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use edgecask_core::resp::Value;
use edgecask_tests::process::report;
use edgecask_tests::retry::let_pass;
use edgecask_tests::web_socket::Cutting;

use crate::worker::Worker;

const CYCLES: u64 = 30;
const WRITERS: u64 = 4;

#[test]
fn acknowledged_writes_are_lost_when_workerd_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    // The number of the last acknowledged write of each writer; each write of one sets both of its keys to the next number.
    let mut acknowledged = [0_u64; WRITERS as usize];
    let mut checked = 0;
    for cycle in 0..CYCLES {
        let worker = Worker::start(directory.path(), &[]);
        let mut reader = worker.connect("kill", Cutting::Whole);
        for (writer, known) in acknowledged.iter().enumerate() {
            let found = [pair(&mut reader, &format!("a{writer}")), pair(&mut reader, &format!("b{writer}"))];
            assert_eq!(found[0], found[1], "cycle {cycle}: half a transaction of writer {writer} survived");
            // The one write that was on its way may have been done.
            assert!(
                found[0] == *known || found[0] == known + 1,
                "cycle {cycle}: {found:?}, acknowledged {known}"
            );
            checked += 1;
        }
        let is_over = AtomicBool::new(false);
        let kill_after = Duration::from_millis(100 + cycle * 37 % 400);
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let mut client = worker.connect("kill", Cutting::Whole);
                    let mut number = pair(&mut reader, &format!("a{writer}"));
                    let is_over = &is_over;
                    scope.spawn(move || {
                        while !is_over.load(Ordering::Relaxed) {
                            let next = (number + 1).to_string();
                            let (a, b) = (format!("a{writer}"), format!("b{writer}"));
                            match client.call(&["MSET", &a, &next, &b, &next]) {
                                Ok(Value::Simple(_)) => number += 1,
                                _ => break,
                            }
                        }
                        number
                    })
                })
                .collect();
            let_pass(kill_after);
            worker.kill();
            is_over.store(true, Ordering::Relaxed);
            for (known, writer) in acknowledged.iter_mut().zip(writers) {
                *known = writer.join().expect("a writer");
            }
        });
    }
    let writes: u64 = acknowledged.iter().sum();
    assert!(writes > CYCLES, "hardly anything was written: {acknowledged:?}");
    report(&format!(
        "kill -9 of workerd: {CYCLES} cycles, {writes} acknowledged writes, {checked} checks, 0 lost"
    ));
}

fn pair(client: &mut edgecask_tests::client::Client, key: &str) -> u64 {
    match client.call(&["GET", key]) {
        Ok(Value::Bulk(bytes)) => String::from_utf8_lossy(&bytes).parse().expect("a number"),
        Ok(Value::Null) => 0,
        other => panic!("{key}: {other:?}"),
    }
}
