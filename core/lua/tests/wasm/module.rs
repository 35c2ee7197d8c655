//! The corpora of the tests as a module of WebAssembly, for `run.mjs`. Elsewhere it is empty.
#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;

use common::hostile::{LATE_MS, scripts, stop};
use common::recorded::{LANGUAGE, REDIS, compare};
use common::{TestHost, VERSION, a_run, limits};
use edgecask_core::script::{Runtime, Writer};
use edgecask_lua::Lua;

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

/// Prints what differs from the recordings, and says how many.
#[unsafe(no_mangle)]
extern "C" fn conformity() -> u32 {
    std::panic::set_hook(Box::new(|panic| say(&panic.to_string())));
    let mut differing = 0;
    for recording in [LANGUAGE, REDIS] {
        let (count, wrong) = compare(&recording);
        wrong.iter().for_each(|text| say(text));
        say(&format!("{} of {count} snippets differ", wrong.len()));
        differing += wrong.len() as u32;
    }
    differing
}

/// Runs every hostile script, prints which were not stopped in time, and says how many.
#[unsafe(no_mangle)]
extern "C" fn hostile() -> u32 {
    let mut lua = Lua::new(VERSION);
    let mut wrong = 0;
    let mut latest: (f64, &str) = (0.0, "");
    for (name, end, script) in scripts() {
        let (error, late_ms) = stop(&mut lua, end, script);
        let (late_ms, error) = if late_ms > LATE_MS && error.is_none() {
            let (again, late_again) = stop(&mut lua, end, script);
            (late_ms.min(late_again), again)
        } else {
            (late_ms, error)
        };
        if late_ms > latest.0 {
            latest = (late_ms, name);
        }
        let error = error.or_else(|| (late_ms > LATE_MS).then(|| format!("{late_ms:.1} ms late")));
        if let Some(error) = error {
            say(&format!("{name}: {error}"));
            wrong += 1;
        }
    }
    say(&format!(
        "{wrong} of {} hostile scripts are wrong; the latest, {}, ended {:.1} ms late",
        scripts().len(),
        latest.1,
        latest.0
    ));
    wrong
}

/// Runs one script so many times.
#[unsafe(no_mangle)]
extern "C" fn eval(rounds: u32) {
    let mut lua = Lua::new(VERSION);
    let mut host = TestHost::new();
    let id = lua.compile(b"return redis.call('GET', KEYS[1])", limits(), &mut host).expect("compiles");
    let mut value = Writer::new(usize::MAX);
    for _ in 0..rounds {
        value.reset(usize::MAX);
        lua.run(id, &a_run(), &mut host, &mut value).expect("runs");
    }
}
