//! The order of `lib.rs` is a law: a module uses only what stands below it, tests included. And no two files import each
//! other, directly or by way of others, unless the types in them contain each other.
//!
//! Source files are read as text ([`source`]); what each path leads to is found through the `use` lines on the way
//! ([`house`]).

mod house;
mod source;

use std::path::Path;

use house::House;

/// Files that may import each other, each group with its reason.
const ALLOWED_CIRCLES: &[(&[&str], &str)] = &[
    (
        &[
            "ordered/blobs/mod.rs",
            "ordered/blobs/run.rs",
            "ordered/known.rs",
            "ordered/record.rs",
            "ordered/runs.rs",
        ],
        "still to be taken apart: what a run knows has the pieces of its blobs, whose names stand in records",
    ),
    (
        &["ordered/changes.rs", "ordered/lanes/mod.rs", "ordered/snapshot.rs"],
        "still to be taken apart: a lane holds changes, which are made of a snapshot, which has its turn in a lane",
    ),
    (
        &["packed/tree/branch.rs", "packed/tree/node.rs"],
        "a recursive type: a node is a leaf or a branch, and a branch holds nodes",
    ),
];

/// Imports that the order forbids and that are still to be removed: (file, module).
const ALLOWED_IMPORTS: &[(&str, &str)] = &[];

/// Every `.rs` file below `src/` with its text.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut open) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let place = path.strip_prefix(&root).expect("below src").to_str().expect("plain names");
                files.push((place.replace('\\', "/"), std::fs::read_to_string(&path).expect("text")));
            }
        }
    }
    files
}

fn house(files: &[(impl AsRef<str>, impl AsRef<str>)]) -> House {
    House::new(files.iter().map(|(place, text)| (place.as_ref(), text.as_ref())))
}

/// The crate without the imports that are still allowed.
fn own_house() -> House {
    let mut house = house(&sources());
    for (place, module) in ALLOWED_IMPORTS {
        assert!(house.forget(place, module), "{place} imports {module} no longer: take it off the list");
    }
    house
}

#[test]
fn module_uses_what_stands_above_it() {
    let found = own_house().upward_imports();
    assert!(found.is_empty(), "against the order of lib.rs:\n{}", found.join("\n"));
}

#[test]
fn files_import_each_other_in_a_circle() {
    let house = own_house();
    let mut circles = house.circles();
    for (files, reason) in ALLOWED_CIRCLES {
        let before = circles.len();
        circles.retain(|(group, _)| group != files);
        assert!(circles.len() < before, "{files:?} is no circle any more ({reason}): take it off the list");
    }
    let shown: Vec<String> = circles.iter().map(|(_, ties)| ties.join("\n")).collect();
    assert!(circles.is_empty(), "{} circles:\n{}", circles.len(), shown.join("\n\n"));
}

/// A small crate that breaks the law in every way in which a path can be written.
#[test]
fn breach_is_overlooked() {
    let lib = ("lib.rs", "pub mod top;\n#[cfg(test)]\nmod middle;\nmod bottom;");
    for (text, is_breach) in [
        ("use crate::top::X;", true),
        ("pub(crate) use crate::{bottom, top::{self, X as Y}};", true),
        ("fn f(x: super::top::X) {}", true),
        ("fn f() -> crate::top::X { let crate_top = 1; }", true),
        ("mod inner { use super::super::top; }", true),
        ("mod inner { mod deeper { fn f() {} } fn g() { super::super::top::f() } }", true),
        ("use crate::bottom::top;", false),
        ("use super::bottom::{self, X};", false),
        ("use crate::middle::top;", false),
        ("use top::X;", false),
        ("// use crate::top::X;\n/* crate::top::X */ /// [`crate::top`]", false),
        (
            "const A: &str = \"\\\"crate::top::X\"; const B: &str = r#\"\"crate::top\"#; const C: char = '\"';",
            false,
        ),
        ("fn f<'a>(x: &'a str) -> char { '\\'' } // crate::top::X", false),
        ("fn f() { let c = '\"'; crate::top::f(); let d = '\"'; }", true),
        ("fn f<'a>(x: &'a crate::top::X) {}", true),
        ("fn f<'a>(x: &'a str) -> impl Sized + use<'a> { x }", false),
    ] {
        let found =
            house(&[lib, ("top.rs", ""), ("middle/mod.rs", text), ("bottom.rs", "")]).upward_imports();
        let shown = "uses top, which stands above it";
        assert_eq!(found.len(), usize::from(is_breach), "{text}: {found:?}");
        assert!(
            found.iter().all(|line| line.starts_with("src/middle/mod.rs:1: middle") && line.ends_with(shown))
        );
    }
}

#[test]
fn circle_is_overlooked() {
    let lib = ("lib.rs", "mod folder;");
    let check = |contents: &str, a: &str, b: &str, expected: &[&str]| {
        let files = [lib, ("folder/mod.rs", contents), ("folder/a.rs", a), ("folder/b.rs", b)];
        let house = house(&files);
        let found: Vec<Vec<&str>> = house.circles().into_iter().map(|(group, _)| group).collect();
        let expected: Vec<Vec<&str>> = if expected.is_empty() { vec![] } else { vec![expected.to_vec()] };
        assert_eq!(found, expected, "{contents} | {a} | {b}");
    };
    let both = ["folder/a.rs", "folder/b.rs"];
    let contents = "mod a;\nmod b;\npub use a::A;\npub use b::{B, f};";
    check(contents, "use super::b::B; pub struct A;", "use super::a::A; pub struct B;", &both);
    // By way of the names that the folder hands on.
    check(contents, "use super::B; pub struct A;", "use crate::folder::A; pub struct B;", &both);
    check(contents, "pub struct A(super::B);", "use super::*; pub struct B(super::A);", &both);
    check(contents, "use crate::folder; pub struct A(folder::B);", "pub struct B(super::a::A);", &both);
    check(contents, "use super::b; pub struct A(b::B);", "pub struct B; fn f() -> super::A {}", &both);
    check(contents, "use super::b; pub struct A;", "pub struct B; fn f() -> super::A {}", &[]);
    check(contents, "use super::B; pub struct A;", "pub struct B;", &[]);
    // What the folder's own file defines may be used by all files of the folder.
    check("mod a;\nmod b;\nuse a::A;\npub struct C(A);", "use super::C; pub struct A(C);", "", &[]);
}
