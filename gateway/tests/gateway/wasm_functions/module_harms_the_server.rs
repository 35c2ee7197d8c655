//! Modules that are none, or that mean harm: each is refused or ended by a clear error, and its connection goes on.

use std::time::{Duration, Instant};

use super::{GUEST, library, server};
use crate::support::{Client, answer, hear, request, say};

/// The modules that `core/wasm/tests` has, with what must become of them where memory is 16 MiB; here a run may have more.
const MODULES: &str = include_str!("../../../../core/wasm/tests/hostile/modules.txt");

#[test]
fn what_is_no_module_ends_the_connection() {
    let server = server("");
    let mut client = server.connect();
    let first = b"#!wasm name=bad\n".as_slice();
    for (module, text) in [
        (b"".as_slice(), "the library has no module: its bytes follow the first line"),
        (b"(module)", "the bytes after the first line are no module of WebAssembly (\\0asm, version 1)"),
        (b"\0asm\x01\0\0\0", "the module does not export its memory as memory"),
        (b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f", "the module is cut short in its type section"),
    ] {
        let said = answer(&mut client, &[b"FUNCTION", b"LOAD", &[first, module].concat()]);
        assert_eq!(said, format!("-ERR Error compiling function: {text}"));
    }
    let foreign =
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)) (memory (export "memory") 1))"#;
    let said = answer(&mut client, &[b"FUNCTION", b"LOAD", &library("foreign", foreign)]);
    assert!(
        said.contains("the module imports wasi_snapshot_preview1.fd_write, which does not exist"),
        "{said}"
    );
    let without = r#"(module (memory (export "memory") 1) (func (export "edgecask_load")))"#;
    let said = answer(&mut client, &[b"FUNCTION", b"LOAD", &library("without", without)]);
    assert_eq!(said, "-ERR No functions registered");
    let taken = library("taken", GUEST);
    assert_eq!(answer(&mut client, &[b"FUNCTION", b"LOAD", &taken]), "-ERR Function run already exists");
    assert_eq!(
        answer(&mut client, &[b"EVAL", b"#!wasm\nreturn 1", b"0"]),
        "-ERR Unexpected engine in script shebang: #!wasm"
    );
    assert_eq!(say(&mut client, "FCALL run 0 PING"), "+PONG");
}

/// The text of a module that registers its export `attack`.
fn with_loader(module: &str) -> String {
    let body =
        module.trim().strip_prefix("(module").and_then(|body| body.strip_suffix(')')).expect("a module");
    format!(
        r#"(module (import "edgecask_1" "register" (func $hostile_register (param i32 i32 i32 i32 i32))) {body}
          (func (export "edgecask_load")
            (i64.store (i32.const 65520) (i64.const 0x6b6361747461))
            (call $hostile_register (i32.const 65520) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))))"#
    )
}

/// Whether a reply has come within a time.
fn is_answered_within(client: &Client, time: Duration) -> bool {
    client.stream.set_read_timeout(Some(time)).expect("a socket option");
    let is_there = client.stream.peek(&mut [0]).is_ok();
    client.stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket option");
    is_there
}

#[test]
fn hostile_module_stays_or_leaves_something_behind() {
    let server = server("");
    let (mut client, mut other) = (server.connect(), server.connect());
    assert_eq!(say(&mut other, "SET k v"), "+OK");
    let mut count = 0;
    for entry in MODULES.trim_end().split("\n----\n") {
        let (head, module) = entry.split_once('\n').expect("a name and a module");
        let is_refused = head.contains(": load");
        let text = if is_refused { module.to_owned() } else { with_loader(module) };
        let loaded = answer(&mut client, &[b"FUNCTION", b"LOAD", b"REPLACE", &library("hostile", &text)]);
        count += 1;
        if !is_refused {
            assert_eq!(loaded, "hostile", "{head}");
            client.send(&request(&[b"FCALL", b"attack", b"1", b"a", b"1"]));
            let begin = Instant::now();
            while !is_answered_within(&client, Duration::from_millis(100)) {
                // It may not be known as one that takes long yet, or may have ended meanwhile.
                let killed = say(&mut other, "FUNCTION KILL");
                assert!(killed == "+OK" || killed.starts_with("-NOTBUSY"), "{head}: {killed}");
                assert!(begin.elapsed() < Duration::from_secs(20), "{head}");
            }
            hear(&mut client);
        }
        assert_eq!(say(&mut client, "FCALL run 1 k GET k"), "v", "{head}: {loaded}");
        assert_eq!(say(&mut other, "FCALL count 0").as_bytes().first(), Some(&b':'), "{head}");
    }
    assert!(count > 70, "{count} modules");
    assert_eq!(say(&mut other, "DBSIZE"), ":1", "nothing that was ended has left a key");
}
