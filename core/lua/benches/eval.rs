//! What scripts cost: `cargo bench -p edgecask-lua`. Each line is the best of some rounds.

use std::hint::black_box;
use std::time::Instant;

use edgecask_core::resp::Protocol;
use edgecask_core::script::{Answer, Host, Level, NewFunction, Run, RunLimits, Runtime, Tick, Writer};
use edgecask_lua::Lua;

/// Answers every command with 16 bytes.
struct BenchHost;

impl Host for BenchHost {
    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        black_box(arguments);
        reply.text(b"value-of-16-byte");
        Answer::Value
    }

    fn may_call(&mut self, _: &[&[u8]]) -> Option<bool> {
        None
    }

    fn log(&mut self, _: Level, _: &[u8]) {}

    fn set_protocol(&mut self, _: Protocol) {}

    fn register_function(&mut self, _: &NewFunction<'_>) -> Result<(), String> {
        Ok(())
    }

    fn tick(&mut self, _: u64) -> Tick {
        Tick::Continue
    }

    fn clock_seconds(&mut self) -> f64 {
        0.0
    }
}

const ROUNDS: usize = 7;

/// Nanoseconds of one run.
fn measure(script: &str, runs: u32) -> f64 {
    let limits = RunLimits { memory_bytes: 64 << 20, steps: None };
    let mut lua = Lua::new("7.2.4");
    let mut host = BenchHost;
    let id = lua
        .compile(script.as_bytes(), limits, &mut host)
        .unwrap_or_else(|error| panic!("{script}: {error:?}"));
    let run = Run { keys: &[b"key:1"], arguments: &[b"arg:1"], limits, seed: 0 };
    let mut value = Writer::new(usize::MAX);
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..runs {
            value.reset(usize::MAX);
            lua.run(id, &run, &mut host, &mut value).unwrap_or_else(|ended| panic!("{script}: {ended:?}"));
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / f64::from(runs));
    }
    best
}

fn main() {
    for (name, script, runs) in [
        ("an empty script", "return 1", 100_000),
        ("one command", "return redis.call('GET', KEYS[1])", 100_000),
        ("one command with a number", "return redis.call('SET', KEYS[1], 1.5)", 100_000),
        (
            "cjson both ways, a small object",
            "return cjson.encode(cjson.decode('{\"a\":[1,2,3],\"b\":\"c\"}'))",
            20_000,
        ),
    ] {
        println!("{name:36} {:8.0} ns", measure(script, runs));
    }
    for (name, script) in [
        (
            "fib(30)",
            "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(30)",
        ),
        ("20 million additions", "local x = 0 for i = 1, 20000000 do x = x + i % 7 end return x"),
        (
            "a million calls of pcall",
            "local n = 0 for i = 1, 1e6 do if pcall(function() n = n + 1 end) then n = n + 0 end end return n",
        ),
        (
            "a million commands",
            "local n = 0 for i = 1, 1e6 do n = n + #redis.call('GET', KEYS[1]) end return n",
        ),
    ] {
        println!("{name:36} {:8.1} ms", measure(script, 1) / 1e6);
    }
}
