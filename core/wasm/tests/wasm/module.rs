//! The corpora of the tests as a module of WebAssembly, for `run.mjs`: the interpreter as the edge worker has it. Elsewhere it is empty.
#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;

use common::hostile::{LATE_MS, modules, stop};
use common::{Loaded, TestHost, calls, engines, limits, source};
use edgecask_core::script::{Run, Writer};

#[link(wasm_import_module = "test")]
unsafe extern "C" {
    fn clock() -> f64;
    fn print(text: *const u8, len: usize);
}

fn clock_ms() -> f64 {
    unsafe { clock() }
}

fn say(text: &str) {
    unsafe { print(text.as_ptr(), text.len()) }
}

const LIBRARY: &str = include_str!("../guests/functions.wat");

/// Prints which calls give another reply than the one beside them, and says how many.
#[unsafe(no_mangle)]
extern "C" fn conformity() -> u32 {
    std::panic::set_hook(Box::new(|panic| say(&panic.to_string())));
    let (_, make) = engines().remove(0);
    let (count, wrong) = calls::compare(&make);
    wrong.iter().for_each(|text| say(text));
    say(&format!("{} of {count} calls differ", wrong.len()));
    wrong.len() as u32
}

/// Runs every hostile module, prints which were not stopped in time, and says how many.
#[unsafe(no_mangle)]
extern "C" fn hostile() -> u32 {
    let (_, make) = engines().remove(0);
    let mut well = Loaded::new(make(), &source(LIBRARY));
    let modules = modules();
    let mut wrong = 0;
    let mut latest: (f64, &str) = (0.0, "");
    for module in &modules {
        let (error, late_ms) = stop(&mut well, module);
        let (late_ms, error) = if late_ms > LATE_MS && error.is_none() {
            let (again, late_again) = stop(&mut well, module);
            (late_ms.min(late_again), again)
        } else {
            (late_ms, error)
        };
        if late_ms > latest.0 {
            latest = (late_ms, &module.name);
        }
        let error = error.or_else(|| (late_ms > LATE_MS).then(|| format!("{late_ms:.1} ms late")));
        if let Some(error) = error {
            say(&format!("{}: {error}", module.name));
            wrong += 1;
        }
    }
    say(&format!(
        "{wrong} of {} hostile modules are wrong; the latest, {}, ended {:.1} ms late",
        modules.len(),
        latest.1,
        latest.0
    ));
    wrong
}

/// Runs one function so many times.
#[unsafe(no_mangle)]
extern "C" fn call(rounds: u32) {
    let (_, make) = engines().remove(0);
    let mut loaded = Loaded::new(make(), &source(LIBRARY));
    let mut host = TestHost::new();
    let run = Run { keys: &[b"a"], arguments: &[], limits: limits(), seed: 1 };
    let id = loaded.id("get");
    let mut value = Writer::with_integers(usize::MAX);
    for _ in 0..rounds {
        value.reset(usize::MAX);
        loaded.runtime.call_function(id, &run, &mut host, &mut value).expect("runs");
    }
}
