//! What a function sees and answers, how runs end, and what stays between them: the same on every engine.

mod common;

use common::{Loaded, TestHost, calls, engines, library, limits, load_error, reply, source};
use edgecask_core::resp::Protocol;
use edgecask_core::script::{
    Answer, Ended, Failure, Host, Level, NewFunction, Run, RunLimits, ScriptFlags, Tick, Writer,
};

const FUNCTIONS: &str = include_str!("guests/functions.wat");

/// Runs a check on every engine, with a runtime that has the library.
fn on_every_engine(check: impl Fn(&mut Loaded)) {
    let source = source(FUNCTIONS);
    for (_, make) in engines() {
        check(&mut Loaded::new(make(), &source));
    }
}

fn a_run<'a>(arguments: &'a [&'a [u8]]) -> Run<'a> {
    Run { keys: &[b"a"], arguments, limits: limits(), seed: 7 }
}

#[test]
fn every_call_gives_the_reply_that_is_written_beside_it() {
    for (engine, make) in engines() {
        let (count, wrong) = calls::compare(&make);
        assert!(wrong.is_empty(), "{engine}: {} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    }
}

#[test]
fn a_library_registers_names_descriptions_and_flags() {
    on_every_engine(|loaded| {
        let of = |name: &str| loaded.functions.iter().find(|known| known.name == name).expect("registered");
        assert_eq!(of("hello").description.as_deref(), Some("Says hello."));
        assert_eq!(of("hello").flags, ScriptFlags::NO_WRITES);
        assert_eq!(of("echo").description, None);
        assert_eq!(of("echo").flags, ScriptFlags::NONE);
        assert_eq!(of("get").flags.names().count(), 5);
    });
}

#[test]
fn a_line_of_the_log_has_its_level() {
    on_every_engine(|loaded| {
        let mut host = TestHost::new();
        loaded.call(&mut host, "logs", &[], &[]);
        assert_eq!(host.log, [(Level::Notice, "hello".to_owned())]);
    });
}

#[test]
fn random_numbers_follow_the_seed_and_are_the_same_on_every_engine() {
    let source = source(FUNCTIONS);
    let mut seen = Vec::new();
    for (_, make) in engines() {
        let mut loaded = Loaded::new(make(), &source);
        let id = loaded.id("random");
        for seed in [7, 7, 8] {
            let run = Run { seed, ..a_run(&[]) };
            seen.push(loaded.run(&mut TestHost::new(), id, &run).expect("two numbers"));
        }
    }
    for runs in seen.chunks(3) {
        assert_eq!(runs, &seen[..3]);
        assert_eq!(runs[0], runs[1]);
        assert_ne!(runs[0], runs[2]);
    }
}

#[test]
fn memory_stays_between_runs_but_not_after_one_that_failed() {
    on_every_engine(|loaded| {
        let mut host = TestHost::new();
        assert_eq!(loaded.call(&mut host, "remember", &[], &[]), b":1\r\n");
        assert_eq!(loaded.call(&mut host, "remember", &[], &[]), b":2\r\n");
        assert_eq!(loaded.call(&mut host, "fails", &[], &[]), b"-MYERR it failed\r\n");
        assert_eq!(loaded.call(&mut host, "remember", &[], &[]), b":1\r\n");
    });
}

#[test]
fn two_runtimes_do_not_share_memory() {
    let source = source(FUNCTIONS);
    for (_, make) in engines() {
        let (mut one, mut other) = (Loaded::new(make(), &source), Loaded::new(make(), &source));
        assert_eq!(one.call(&mut TestHost::new(), "remember", &[], &[]), b":1\r\n");
        assert_eq!(other.call(&mut TestHost::new(), "remember", &[], &[]), b":1\r\n");
    }
}

#[test]
fn an_instance_that_grew_large_is_thrown_away_after_its_run() {
    on_every_engine(|loaded| {
        let mut host = TestHost::new();
        assert_eq!(loaded.call(&mut host, "grow", &[], &[&[0; 10]]), b":2\r\n");
        assert_eq!(loaded.call(&mut host, "grow", &[], &[&[0; 100]]), b":12\r\n");
        assert_eq!(loaded.call(&mut host, "grow", &[], &[&[0; 1]]), b":2\r\n");
    });
}

#[test]
fn memory_grows_up_to_the_limit_of_the_run() {
    on_every_engine(|loaded| {
        let id = loaded.id("grow");
        let limits = RunLimits { memory_bytes: 4 << 16, steps: None };
        for (pages, grown) in [(&b"123"[..], "-1"), (b"12", "2")] {
            let run = Run { limits, ..a_run(&[]) };
            let run = Run { arguments: &[pages], ..run };
            let outcome = loaded.run(&mut TestHost::new(), id, &run);
            assert_eq!(reply("grow", outcome), format!(":{grown}\r\n").as_bytes());
        }
    });
}

#[test]
fn an_abandoned_run_leaves_a_runtime_that_runs_it_again() {
    on_every_engine(|loaded| {
        let id = loaded.id("get");
        let mut host = TestHost { at_call: Some((1, Answer::Abandon)), ..TestHost::new() };
        assert_eq!(loaded.run(&mut host, id, &a_run(&[])), Err(Ended::Abandoned));
        assert_eq!(loaded.call(&mut host, "get", &[b"a"], &[]), b"$5\r\nvalue\r\n");
    });
}

#[test]
fn a_kill_by_a_command_ends_the_run() {
    on_every_engine(|loaded| {
        let id = loaded.id("get");
        let mut host = TestHost { at_call: Some((1, Answer::Kill)), ..TestHost::new() };
        assert!(matches!(loaded.run(&mut host, id, &a_run(&[])), Err(Ended::Killed(_))));
    });
}

#[test]
fn errors_of_commands_are_counted_once_and_those_of_the_guest_are_new() {
    on_every_engine(|loaded| {
        let raised = |loaded: &mut Loaded, name: &str, argument: &[u8]| {
            let id = loaded.id(name);
            match loaded.run(&mut TestHost::new(), id, &a_run(&[argument])) {
                Err(Ended::Failed(Failure { is_counted, is_plain, .. })) => {
                    assert!(!is_plain);
                    is_counted
                }
                other => panic!("no failure: {other:?}"),
            }
        };
        assert!(raised(loaded, "same_error", b"-WRONGTYPE no\r\n"));
        assert!(!raised(loaded, "fails", b""));
        // An error that is answered, not raised, is a value that says the same.
        let id = loaded.id("raw");
        let flat = loaded.run(&mut TestHost::new(), id, &a_run(&[b"-WRONGTYPE no\r\n"])).expect("a value");
        let value = edgecask_core::script::Reader::new(&flat).next().expect("a value");
        let error = edgecask_core::script::returned_error(value).expect("an error");
        assert!(error.is_counted);
        assert_eq!(error.text, b"WRONGTYPE no");
    });
}

#[test]
fn the_steps_of_a_run_are_counted_where_no_clock_watches() {
    let looping = r#"(module
        (import "edgecask_1" "register" (func $register (param i32 i32 i32 i32 i32)))
        (memory (export "memory") 1) (data (i32.const 0) "f")
        (func (export "edgecask_load") (call $register (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)))
        (func (export "f") (loop $l (br $l))))"#;
    for (engine, make) in engines() {
        let mut loaded = Loaded::new(make(), &source(looping));
        let id = loaded.id("f");
        let mut host = TestHost::new();
        let run = Run { limits: RunLimits { steps: Some(5_000_000), ..limits() }, ..a_run(&[]) };
        let outcome = loaded.run(&mut host, id, &run);
        assert!(matches!(outcome, Err(Ended::OutOfSteps(_))), "{engine}: {outcome:?}");
        assert!((4_000_000..6_000_000).contains(&host.steps), "{engine}: {} steps", host.steps);
    }
}

#[test]
fn a_dropped_library_is_gone_and_its_numbers_are_used_again() {
    on_every_engine(|loaded| {
        loaded.call(&mut TestHost::new(), "hello", &[], &[]);
        assert!(loaded.runtime.memory_bytes() > 0);
        let id = loaded.id("hello");
        for function in &loaded.functions {
            loaded.runtime.drop_function(function.id);
        }
        assert_eq!(loaded.runtime.memory_bytes(), 0);
        let outcome = loaded.run(&mut TestHost::new(), id, &a_run(&[]));
        assert_eq!(
            reply("hello", outcome),
            b"-ERR Error running script hello, there is no such function\r\n"
        );
        let mut host = TestHost::new();
        loaded.runtime.load_library(&source(FUNCTIONS), limits(), &mut host).expect("loads again");
        loaded.functions = host.functions;
        assert_eq!(loaded.call(&mut TestHost::new(), "hello", &[], &[]), b"$5\r\nhello\r\n");
    });
}

#[test]
fn a_library_that_fails_while_it_registers_leaves_nothing() {
    let twice = r#"(module
        (import "edgecask_1" "register" (func $register (param i32 i32 i32 i32 i32)))
        (memory (export "memory") 1) (data (i32.const 0) "f")
        (func (export "f"))
        (func (export "edgecask_load")
          (call $register (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))
          (call $register (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))))"#;
    for (_, make) in engines() {
        let (mut loaded, outcome) = Loaded::load(make(), &source(twice), TestHost::new());
        let error = outcome.err().expect("the second registration fails");
        assert_eq!(load_error(&error), "ERR Function already exists in the library");
        assert_eq!(loaded.runtime.memory_bytes(), 0);
        loaded = Loaded::new(loaded.runtime, &source(FUNCTIONS));
        assert_eq!(loaded.call(&mut TestHost::new(), "hello", &[], &[]), b"$5\r\nhello\r\n");
    }
}

#[test]
fn the_first_line_is_not_of_the_module() {
    let module = wat::parse_str(FUNCTIONS).expect("a module");
    for (_, make) in engines() {
        for first in ["#!wasm name=x\n", "#!wasm name=x\r\n", ""] {
            let mut host = TestHost::new();
            let source = [first.as_bytes(), &module].concat();
            make().load_library(&source, limits(), &mut host).expect("loads");
            assert_eq!(host.functions.len(), 22);
        }
        let outcome = make().load_library(b"#!wasm name=x", limits(), &mut TestHost::new());
        let text = "the library has no module: its bytes follow the first line";
        assert_eq!(load_error(&outcome.expect_err("no module")), text);
    }
}

#[test]
fn a_module_that_is_loaded_again_is_not_compiled_again() {
    let source = source(FUNCTIONS);
    for (engine, make) in engines() {
        let first = Loaded::new(make(), &source);
        // A host that kills at its first tick lets no compiler finish, which takes more than a millisecond.
        let host = TestHost { ticks_max: Some(1), ..TestHost::new() };
        let (mut second, outcome) = Loaded::load(make(), &source, host);
        second.functions = outcome.unwrap_or_else(|error| panic!("{engine}: {}", load_error(&error)));
        drop(first);
        assert_eq!(second.call(&mut TestHost::new(), "hello", &[], &[]), b"$5\r\nhello\r\n");
    }
}

#[test]
fn modules_are_no_scripts() {
    for (_, make) in engines() {
        let mut runtime = make();
        let outcome = runtime.compile(b"return 1", limits(), &mut TestHost::new());
        assert!(outcome.is_err());
        let id = edgecask_core::script::ScriptId(0);
        let mut value = Writer::new(100);
        assert!(runtime.run(id, &a_run(&[]), &mut TestHost::new(), &mut value).is_err());
    }
}

#[test]
fn a_failed_command_before_a_failure_stays_done() {
    on_every_engine(|loaded| {
        let mut host = TestHost::new();
        loaded.call(&mut host, "set_then_fail", &[b"a"], &[]);
        assert_eq!(host.data.get(&b"a"[..]).map(Vec::as_slice), Some(&b"hello"[..]));
    });
}

/// A host whose commands run a function of another runtime, as a trigger does.
struct NestingHost {
    inner: Loaded,
    host: TestHost,
}

impl Host for NestingHost {
    fn call(&mut self, _arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        let id = self.inner.id("get");
        let run = Run { keys: &[b"b"], arguments: &[], limits: limits(), seed: 1 };
        self.inner.runtime.call_function(id, &run, &mut self.host, reply).expect("the inner function runs");
        Answer::Value
    }

    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool> {
        self.host.may_call(arguments)
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        self.host.log(level, text);
    }

    fn set_protocol(&mut self, protocol: Protocol) {
        self.host.set_protocol(protocol);
    }

    fn register_function(&mut self, function: &NewFunction<'_>) -> Result<(), String> {
        self.host.register_function(function)
    }

    fn tick(&mut self, steps: u64) -> Tick {
        self.host.tick(steps)
    }

    fn clock_seconds(&mut self) -> f64 {
        0.0
    }
}

#[test]
fn a_command_may_run_a_function_of_another_runtime() {
    let source = source(FUNCTIONS);
    for (_, make) in engines() {
        let mut host = NestingHost { inner: Loaded::new(make(), &source), host: TestHost::new() };
        let mut outer = Loaded::new(make(), &source);
        let id = outer.id("get");
        let mut value = Writer::with_integers(1 << 20);
        outer.runtime.call_function(id, &a_run(&[]), &mut host, &mut value).expect("runs");
        assert_eq!(reply("get", Ok(value.as_bytes().to_vec())), b"$1\r\n2\r\n");
    }
}

/// All bytes of a module, one after the other, are changed: it loads or is refused, and the next is loaded well.
#[test]
fn a_module_with_any_byte_changed_is_refused_or_runs() {
    let module = wat::parse_str(FUNCTIONS).expect("a module");
    for (engine, make) in engines() {
        // The compiler needs some milliseconds for each.
        let step = if engine == "wasmtime" { 17 } else { 1 };
        let mut runtime = make();
        for at in (0..module.len()).step_by(step) {
            let mut changed = module.clone();
            changed[at] ^= 0x15;
            let mut host = TestHost { ticks_max: Some(2_000), ..TestHost::new() };
            _ = runtime.load_library(&library(&changed), limits(), &mut host);
            let ids: Vec<_> = host.functions.iter().map(|function| function.id).collect();
            for id in ids {
                let mut value = Writer::with_integers(1 << 20);
                _ = runtime.call_function(id, &a_run(&[b"x"]), &mut host, &mut value);
            }
            for function in &host.functions {
                runtime.drop_function(function.id);
            }
        }
        let mut loaded = Loaded::new(runtime, &source(FUNCTIONS));
        assert_eq!(loaded.call(&mut TestHost::new(), "hello", &[], &[]), b"$5\r\nhello\r\n");
    }
}
