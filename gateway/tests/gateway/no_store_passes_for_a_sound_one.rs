//! A directory that holds no store, because its name has a typing error perhaps, is checked and repaired as if it held an empty one.

use std::fs;
use std::path::Path;

use edgecask::limits::Deadlines;
use edgecask::upkeep::{UpkeepError, run_check, run_repair};

use crate::support::start_in;

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).expect("lists").count()
}

fn check_refused(outcome: Result<bool, UpkeepError>, directory: &Path) {
    let error = outcome.expect_err("there is no store").to_string();
    assert!(error.contains("no store") && error.contains(&directory.display().to_string()), "{error}");
}

#[test]
fn directory_without_a_store_is_sound() {
    let folder = tempfile::tempdir().expect("a directory");
    let (empty, nowhere) = (folder.path().join("empty"), folder.path().join("nowhere"));
    fs::create_dir(&empty).expect("makes");
    fs::write(empty.join("notes.txt"), "of something else").expect("writes");
    for directory in [&empty, &nowhere] {
        let mut out = Vec::new();
        check_refused(run_check(directory, &mut out), directory);
        check_refused(run_repair(directory, &folder.path().join("new"), &mut out), directory);
        assert_eq!(String::from_utf8_lossy(&out), "");
    }
    assert_eq!((names(folder.path()), names(&empty)), (1, 1), "nothing was made");
}

#[test]
fn empty_store_is_no_store() {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path();
    drop(start_in(directory, "", Deadlines::default()).expect("starts"));
    let mut out = Vec::new();
    assert!(run_check(directory, &mut out).expect("there is one"), "{}", String::from_utf8_lossy(&out));
}
