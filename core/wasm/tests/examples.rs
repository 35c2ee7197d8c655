//! The examples of guests are built as their pages say, and do the same on every engine.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Loaded, TestHost, engines, library};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/functions")
}

fn build_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

/// Runs a tool, which must do well.
fn run(command: &mut Command) {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?} (make functions-tools): {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

fn read(module: &Path) -> Vec<u8> {
    std::fs::read(module).unwrap_or_else(|error| panic!("{}: {error}", module.display()))
}

/// The linker that comes with Rust.
fn rust_lld() -> PathBuf {
    let output = Command::new(std::env::var("RUSTC").unwrap_or("rustc".into()))
        .args(["--print", "target-libdir"])
        .output()
        .expect("rustc");
    let libraries = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    libraries.parent().expect("a folder").join("bin/rust-lld")
}

fn built_rust() -> Vec<u8> {
    let target = build_folder().join("rust");
    run(Command::new(env!("CARGO"))
        .args(["build", "-q", "--release", "--target", "wasm32-unknown-unknown", "--manifest-path"])
        .arg(examples().join("rust/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // Flags for this test are none for its guests.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS"));
    read(&target.join("wasm32-unknown-unknown/release/take.wasm"))
}

fn built_c() -> Vec<u8> {
    let folder = build_folder();
    std::fs::create_dir_all(&folder).expect("a folder");
    let (object, module) = (folder.join("take.o"), folder.join("take-c.wasm"));
    run(Command::new("clang-19")
        .args(["--target=wasm32", "-O2", "-Wall", "-Wextra", "-Werror", "-nostdlib", "-c", "-o"])
        .arg(&object)
        .arg(examples().join("c/take.c")));
    run(Command::new(rust_lld()).args(["-flavor", "wasm", "--no-entry", "-o"]).arg(&module).arg(&object));
    read(&module)
}

fn built_assemblyscript() -> Vec<u8> {
    let module = build_folder().join("take-assemblyscript.wasm");
    // As `npm run build` there does.
    run(Command::new("node")
        .current_dir(examples().join("assemblyscript"))
        .args([
            "node_modules/assemblyscript/bin/asc.js",
            "take.ts",
            "--optimize",
            "--exportStart",
            "_initialize",
        ])
        .args(["--use", "abort=edgecask/abort", "--outFile"])
        .arg(&module));
    read(&module)
}

fn built_by_hand() -> Vec<u8> {
    wat::parse_file(examples().join("wat/take.wat")).expect("a module in text")
}

/// A counter that allows so many calls, then refuses, and says what it was called with wrongly.
fn takes(module: &[u8]) {
    for (engine, make) in engines() {
        let mut loaded = Loaded::new(make(), &library(module));
        let mut host = TestHost::new();
        assert_eq!(loaded.functions.len(), 1, "{engine}");
        assert_eq!(loaded.functions[0].description.as_deref(), Some("Allows LIMIT calls in WINDOW_MS."));
        for expected in ["#t\r\n:2", "#t\r\n:1", "#t\r\n:0", "#f\r\n:0", "#f\r\n:0"] {
            let reply = loaded.call(&mut host, "take", &[b"new"], &[b"3", b"60000"]);
            assert_eq!(reply, format!("*2\r\n{expected}\r\n").as_bytes(), "{engine}");
        }
        assert_eq!(host.expiries, [(b"new".to_vec(), b"60000".to_vec())]);
        let text = loaded.call(&mut host, "take", &[b"a"], &[b"3", b"60000"]);
        assert_eq!(text, b"-ERR value is not an integer or out of range\r\n", "{engine}");
        for arguments in ["", "3", "x 1", "3 x", "3 99999999999999999999"] {
            let words: Vec<&[u8]> = arguments.split_ascii_whitespace().map(str::as_bytes).collect();
            let text = loaded.call(&mut host, "take", &[b"new"], &words);
            assert_eq!(text, b"-ERR wrong arguments: KEY LIMIT WINDOW_MS\r\n", "{engine}: {arguments}");
        }
        let text = loaded.call(&mut host, "take", &[], &[b"3", b"60000"]);
        assert_eq!(text, b"-ERR wrong arguments: KEY LIMIT WINDOW_MS\r\n", "{engine}");
    }
}

#[test]
fn the_guest_in_rust_takes() {
    takes(&built_rust());
}

#[test]
fn the_guest_in_c_takes() {
    takes(&built_c());
}

#[test]
fn the_guest_in_assemblyscript_takes() {
    takes(&built_assemblyscript());
}

#[test]
fn the_guest_by_hand_takes() {
    takes(&built_by_hand());
}
