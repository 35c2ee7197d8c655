//! The hostile modules: how each is run, how it must end, and what must hold afterwards.

use edgecask_core::script::{CompileError, Ended, LoadError, Run, Runtime};

use super::{Loaded, TestHost, library, limits, load_error, now_ms, source};

/// A run may take so long.
pub const DEADLINE_MS: f64 = 100.0;

/// And must have ended so long after that.
pub const LATE_MS: f64 = 20.0;

/// What a runtime may hold once a hostile library is gone.
const KEPT_BYTES: u64 = 1 << 20;

pub struct Module {
    pub name: String,
    /// `killed`, `failed`, `done`, `load killed`, `load failed` or `load wrong`, and the text of the error.
    pub end: String,
    pub source: Vec<u8>,
}

/// The entry point that the modules of the file have, and what registers it, for those that do not load themselves.
const LOADER: &str = r#"
  (import "edgecask_1" "register" (func $hostile_register (param i32 i32 i32 i32 i32)))"#;
const LOAD: &str = r#"
  (func (export "edgecask_load")
    (i64.store (i32.const 65520) (i64.const 0x6b6361747461))
    (call $hostile_register (i32.const 65520) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0)))"#;

/// The text of a module that registers its export `attack`.
fn with_loader(module: &str) -> String {
    let body = module.trim_start().strip_prefix("(module").expect("a module");
    let body = body.trim_end().strip_suffix(')').expect("a module");
    format!("(module {LOADER} {body} {LOAD})")
}

fn named(name: &str, end: &str, module: &[u8]) -> Module {
    Module { name: name.into(), end: end.into(), source: library(module) }
}

/// A number in LEB128.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

const HEADER: &[u8] = b"\0asm\x01\0\0\0";

fn section(id: u8, body: &[u8]) -> Vec<u8> {
    [&[id][..], &number(body.len() as u64), body].concat()
}

/// Modules that no text can express, or only a long one.
fn made() -> Vec<Module> {
    let whole =
        wat::parse_str(with_loader(r#"(module (memory (export "memory") 1) (func (export "attack")))"#));
    let whole = whole.expect("a module");
    let module = |sections: &[Vec<u8>]| [HEADER, &sections.concat()].concat();
    let text = |text: String| wat::parse_str(text).expect("a module");
    let mut modules = vec![
        named("no bytes", "load wrong: the library has no module: its bytes follow the first line", b""),
        named("one byte", "load wrong: the bytes after the first line are no module of WebAssembly", b"\0"),
        named(
            "a text",
            "load wrong: the bytes after the first line are no module of WebAssembly",
            b"(module)",
        ),
        named(
            "a later version",
            "load wrong: the bytes after the first line are no module",
            b"\0asm\x02\0\0\0",
        ),
        named("a header alone", "load wrong: the module does not export its memory as memory", HEADER),
        named(
            "a section of four billion bytes",
            "load wrong: the module is cut short in its type section",
            &module(&[vec![1, 0xff, 0xff, 0xff, 0xff, 0x0f]]),
        ),
        named(
            "a length without end",
            "load wrong: the module is cut short in its type section",
            &module(&[[vec![1], vec![0xff; 100]].concat()]),
        ),
        named(
            "an unknown section",
            "load wrong: the module has a section of the unknown kind 99",
            &module(&[section(99, &[0])]),
        ),
        named(
            "four billion types",
            "load wrong: the type section has 4294967295 entries; up to 20000 are allowed",
            &module(&[section(1, &number(u32::MAX.into()))]),
        ),
        named(
            "twenty thousand types that are not there",
            "load wrong: the module is not valid",
            &module(&[section(1, &number(20_000))]),
        ),
        named(
            "more exports than allowed",
            "load wrong: the export section has 20001 entries",
            &module(&[section(7, &number(20_001))]),
        ),
        named(
            "half a million references",
            "load wrong: the element section has 500008 bytes; up to 262144 are allowed",
            &module(&[section(9, &[&[1, 1, 0][..], &[0xa0, 0xc2, 0x1e, 0, 0], &vec![0; 500_000]].concat())]),
        ),
        named(
            "four billion local variables",
            "load wrong: body 0 of the code has 8589934590 local variables; up to 2000 are allowed",
            &module(&[section(
                10,
                &[
                    &[1, 14, 2][..],
                    &number(u32::MAX.into()),
                    &[0x7e],
                    &number(u32::MAX.into()),
                    &[0x7e, 0x0b],
                ]
                .concat(),
            )]),
        ),
        named(
            "a module of more than four megabytes",
            "load wrong: the module has 5000013 bytes; up to 4194304 are allowed",
            &module(&[[vec![0], number(4_999_999), vec![0; 5_000_000]].concat()]),
        ),
        named(
            "a large section that nobody needs",
            "done",
            &[&whole[..], &section(0, &[&[1, b'x'][..], &vec![0; 4_000_000]].concat())].concat(),
        ),
        named(
            "many functions",
            "done",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) {} (func (export "attack")))"#,
                "(func (drop (i32.const 1)))".repeat(19_000)
            ))),
        ),
        named(
            "more functions than allowed",
            "load wrong: the function section has 20502 entries; up to 20000 are allowed",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) {} (func (export "attack")))"#,
                "(func)".repeat(20_500)
            ))),
        ),
        named(
            "a function of many instructions",
            "done",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) (func (export "attack") (local i32) {}))"#,
                "(local.set 0 (i32.add (local.get 0) (i32.const 1)))".repeat(9_000)
            ))),
        ),
        named(
            "a function that is too long",
            "load wrong: body 0 of the code has 70004 bytes; up to 65536 are allowed",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) (func (export "attack") {}))"#,
                "(drop (i32.const 1))".repeat(23_334)
            ))),
        ),
        named(
            "blocks in blocks",
            "done",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) (func (export "attack") {} {}))"#,
                "block ".repeat(15_000),
                "end ".repeat(15_000)
            ))),
        ),
        named(
            "branches to everywhere",
            "done",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) (func (export "attack") {} {} {}))"#,
                "block ".repeat(100),
                format!(
                    "(br_table {} (i32.const 0)) ",
                    (0..100).map(|n| format!("{n} ")).collect::<String>()
                )
                .repeat(500),
                "end ".repeat(100)
            ))),
        ),
        named(
            "a thousand local variables that live long",
            "done",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) (func (export "attack") (local {}) (loop $l {} (br_if $l (i32.const 0)))))"#,
                "i64 ".repeat(1_000),
                (0..1_000)
                    .map(|n| format!(
                        "(local.set {n} (i64.add (local.get {}) (i64.const {n})))",
                        (n * 7 + 3) % 1_000
                    ))
                    .collect::<String>()
            ))),
        ),
        named(
            "a megabyte of code",
            "done",
            &text(with_loader(&format!(
                r#"(module (memory (export "memory") 1) {} (func (export "attack")))"#,
                format!(
                    "(func (param i64) (result i64) {} (local.get 0))",
                    "(local.set 0 (i64.mul (i64.add (local.get 0) (i64.const 12345)) (local.get 0)))"
                        .repeat(4_000)
                )
                .repeat(18)
            ))),
        ),
    ];
    for cut in (8..whole.len()).step_by(whole.len() / 12) {
        let name = format!("a module that ends after {cut} of its bytes");
        modules.push(named(&name, "load wrong", whole.get(..cut).unwrap_or_default()));
    }
    modules
}

/// All hostile modules.
pub fn modules() -> Vec<Module> {
    let written = include_str!("../hostile/modules.txt").trim_end().split("\n----\n").map(|entry| {
        let (head, module) = entry.split_once('\n').expect("a name and a module");
        let (name, end) = head.trim_start_matches("-- ").split_once(": ").expect("a name and an end");
        let module = if end.starts_with("load") { module.to_owned() } else { with_loader(module) };
        Module { name: name.into(), end: end.into(), source: source(&module) }
    });
    written.chain(made()).collect()
}

/// How it ended, in the words of the file.
fn run(runtime: &mut dyn Runtime, module: &Module) -> (String, Option<edgecask_core::script::FunctionId>) {
    let mut host = TestHost::with_deadline(DEADLINE_MS);
    if let Err(error) = runtime.load_library(&module.source, limits(), &mut host) {
        let kind = match &error {
            LoadError::Compile(CompileError::Syntax(_)) => "load wrong",
            LoadError::Run(Ended::Failed(_)) => "load failed",
            LoadError::Run(Ended::Killed(_))
            | LoadError::Compile(CompileError::Stopped(Ended::Killed(_))) => {
                return ("load killed".into(), None);
            }
            _ => "load stopped",
        };
        return (format!("{kind}: {}", load_error(&error)), None);
    }
    let Some(function) = host.functions.first().map(|function| function.id) else {
        return ("loaded without a function".into(), None);
    };
    let run = Run { keys: &[b"a"], arguments: &[b"1"], limits: limits(), seed: 1 };
    let mut value = edgecask_core::script::Writer::with_integers(16 << 20);
    let end = match runtime.call_function(function, &run, &mut host, &mut value) {
        Ok(()) => "done".into(),
        Err(Ended::Failed(failure)) => format!("failed: {}", String::from_utf8_lossy(&failure.message)),
        Err(Ended::Killed(_)) => "killed".into(),
        Err(other) => format!("{other:?}"),
    };
    (end, Some(function))
}

/// Runs a module under the deadline and says what went wrong, and how late it was. `well` is a library with `get` in the same
/// runtime.
pub fn stop(well: &mut Loaded, module: &Module) -> (Option<String>, f64) {
    let mut begin = now_ms();
    let (mut end, mut function) = run(&mut *well.runtime, module);
    // A compiler that was left alone still compiles the module before, and this one waited for it.
    for _ in 0..100 {
        if end != "load killed" || !module.end.starts_with("load wrong") {
            break;
        }
        begin = now_ms();
        (end, function) = run(&mut *well.runtime, module);
    }
    let late_ms = now_ms() - begin - DEADLINE_MS;
    // A slow machine may need the whole time where another is done or finds the error.
    let is_right = end.starts_with(&module.end)
        || end == "killed"
        || (end == "load killed" && !module.end.starts_with("load wrong"));
    if let Some(function) = function {
        well.runtime.drop_function(function);
    }
    if !is_right {
        return (Some(format!("ended as: {end}")), late_ms);
    }
    let reply = well.call(&mut TestHost::new(), "get", &[b"a"], &[]);
    if reply != b"$5\r\nvalue\r\n" {
        return (
            Some(format!("left the runtime in a state in which GET gives {}", reply.escape_ascii())),
            late_ms,
        );
    }
    let bytes = well.runtime.memory_bytes();
    ((bytes > KEPT_BYTES).then(|| format!("left {bytes} bytes")), late_ms)
}
