use std::sync::Arc;

use super::{Change, Cron, CronEnd, Crons};

fn cron(name: &str, every_ms: u64) -> Arc<Cron> {
    let (function, definer) = (b"f"[..].into(), b"default"[..].into());
    Arc::new(Cron { name: name.as_bytes().into(), every_ms, db: 0, function, definer })
}

fn end(now_ms: u64, error: Option<&str>) -> CronEnd {
    CronEnd { now_ms, took_ns: 1000, error: error.map(str::to_owned) }
}

#[test]
fn cron_runs_twice_at_a_time() {
    let crons = Crons::default();
    crons.apply(&Change::Set(cron("a", 100)), 1010);
    assert_eq!(crons.next_ms(), Some(1100));
    assert!(crons.claim(1099).is_none());
    let claim = crons.claim(1100).expect("it is due");
    assert_eq!(claim.due_ms, 1100);
    assert_eq!(crons.next_ms(), None, "while it runs nothing is due");
    assert!(crons.claim(1350).is_none());
    crons.end(claim, end(1350, None));
    let state = crons.state(b"a").expect("it is there");
    assert_eq!((state.next_ms, state.counts.runs, state.counts.missed), (1400, 1, 2));
    assert_eq!(crons.claim(1400).map(|claim| claim.due_ms), Some(1400));
}

#[test]
fn late_server_runs_what_it_has_missed_one_by_one() {
    let crons = Crons::default();
    crons.apply(&Change::Set(cron("a", 100)), 1000);
    let claim = crons.claim(1555).expect("it is due");
    assert_eq!(claim.due_ms, 1500);
    crons.end(claim, end(1556, None));
    assert_eq!(crons.state(b"a").expect("it is there").counts.missed, 4);
    assert_eq!(crons.next_ms(), Some(1600));
}

#[test]
fn dropped_cron_is_made_anew_and_runs_beside_its_old_run() {
    let crons = Crons::default();
    crons.apply(&Change::Set(cron("a", 100)), 1000);
    let claim = crons.claim(1100).expect("it is due");
    crons.apply(&Change::Drop(b"a"[..].into()), 1110);
    crons.apply(&Change::Set(cron("a", 10)), 1110);
    assert!(crons.claim(1200).is_none());
    crons.end(claim, end(1200, Some("ERR late")));
    let state = crons.state(b"a").expect("it is there");
    assert_eq!((state.counts.runs, state.counts.failures), (0, 0), "that run was another cron's");
    assert_eq!(crons.failures(10).len(), 1);
    assert!(crons.claim(1200).is_some());
}

#[test]
fn failures_fill_the_memory_or_the_log_of_the_server() {
    let crons = Crons::default();
    crons.apply(&Change::Set(cron("a", 1)), 0);
    let mut told = 0;
    for now_ms in 1..=1000 {
        let claim = crons.claim(now_ms).expect("it is due");
        told += u32::from(crons.end(claim, end(now_ms, Some("ERR no"))));
    }
    assert_eq!(told, 1, "only the first is told");
    let failures = crons.failures(usize::MAX);
    assert_eq!(failures.len(), crate::limits::CRON_FAILURES_MAX);
    assert_eq!(failures.first().map(|failure| (failure.id, failure.due_ms)), Some((999, 1000)));
    crons.forget_failures();
    assert!(crons.failures(1).is_empty());
}

#[test]
fn cron_of_a_sleeping_home_is_forgotten_or_runs_twice() {
    let crons = Crons::default();
    crons.apply(&Change::Set(cron("a", 1000)), 4200);
    crons.apply(&Change::Set(cron("b", 1000)), 4200);
    let claim = crons.claim(5500).expect("both are due");
    assert_eq!(&*claim.cron.name, b"a");
    crons.end(claim, end(5500, None));
    let later = Crons::default();
    later.apply(&Change::Set(cron("a", 1000)), 5600);
    later.apply(&Change::Set(cron("b", 1000)), 5600);
    assert!(later.claim(5600).is_none());
    later.go_on(crons.due_times());
    assert_eq!(
        later.claim(5600).map(|claim| (claim.cron.name.clone(), claim.due_ms)),
        Some((b"b"[..].into(), 5000))
    );
    assert!(later.claim(5600).is_none(), "the other one has run");
}

#[test]
fn due_times_change_unseen_by_a_home_that_persists_them() {
    let crons = Crons::default();
    let mut last = (crons.due_generation(), crons.due_times());
    let mut changes = |has_changed: bool, event: &str| {
        let now = (crons.due_generation(), crons.due_times());
        assert_eq!((now.0 != last.0, now.1 != last.1), (has_changed, has_changed), "{event}");
        last = now;
    };
    crons.apply(&Change::Set(cron("a", 100)), 1000);
    changes(true, "made");
    assert!(crons.claim(1099).is_none());
    changes(false, "not due");
    let claim = crons.claim(1100).expect("it is due");
    changes(true, "begun");
    crons.end(claim, end(1150, Some("ERR failed")));
    changes(false, "ended in time");
    crons.reset_counts();
    crons.forget_failures();
    changes(false, "looked after");
    let claim = crons.claim(1200).expect("it is due");
    changes(true, "begun again");
    crons.end(claim, end(1350, None));
    changes(true, "ended late");
    assert!(crons.claim(150).is_none());
    changes(true, "the clock was set back");
    crons.go_on([(&b"a"[..], 300)]);
    changes(true, "gone on");
    crons.apply(&Change::Drop(b"a"[..].into()), 200);
    changes(true, "dropped");
}

#[test]
fn clock_that_is_set_back_stops_crons() {
    let crons = Crons::default();
    crons.apply(&Change::Set(cron("a", 100)), 1_000_000);
    assert!(crons.claim(5000).is_none());
    assert_eq!(crons.claim(5100).map(|claim| claim.due_ms), Some(5100));
}
