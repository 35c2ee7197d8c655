//! ACL LOG: which denials are one entry, and which entries stay.

use crate::acl::{Context, Denial, DenialLog, Reason};

fn add(log: &DenialLog, user: &str, context: Context, now_ms: u64) {
    log.add(Denial::new(user.as_bytes(), Reason::Key, b"k"), context, b"client".to_vec(), now_ms, 20);
}

fn shown(log: &DenialLog) -> Vec<(String, u64)> {
    let entries = log.latest(usize::MAX).into_iter();
    entries.map(|entry| (super::text(&entry.denial.user), entry.count)).collect()
}

#[test]
fn equal_denials_are_several_entries() {
    let log = DenialLog::default();
    add(&log, "a", Context::TopLevel, 0);
    add(&log, "b", Context::TopLevel, 10);
    add(&log, "a", Context::TopLevel, 60_000);
    assert_eq!(shown(&log), [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    add(&log, "b", Context::TopLevel, 60_011);
    add(&log, "b", Context::Multi, 60_011);
    assert_eq!(shown(&log).iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 1, 2, 1]);
    let ids: Vec<u64> = log.latest(9).iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [3, 2, 0, 1]);
    assert_eq!((log.count(Reason::Key), log.count(Reason::Command)), (5, 0));
    log.reset();
    assert!(shown(&log).is_empty() && log.count(Reason::Key) == 5);
    log.reset_counts();
    assert_eq!(log.count(Reason::Key), 0);
}

#[test]
fn log_grows_without_end() {
    let log = DenialLog::default();
    for number in 0..100 {
        add(&log, &number.to_string(), Context::TopLevel, 0);
    }
    assert_eq!(log.latest(usize::MAX).len(), 20);
    // One that lies too far back is not searched for.
    add(&log, "85", Context::TopLevel, 0);
    assert_eq!(shown(&log)[0], ("85".to_owned(), 1));
    let long = Denial::new(&[b'u'; 5000], Reason::Login, &[b'o'; 5000]);
    assert!(long.user.len() == 1024 && long.object.len() == 1024);
}
