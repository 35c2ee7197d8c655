//! What functions cost on each engine: nanoseconds of processor time a call, the best of some runs.
//!
//!     cargo bench -p edgecask-wasm --features wasmtime,wasmi

use std::time::Duration;

use edgecask_core::resp::Protocol;
use edgecask_core::script::{
    Answer, FunctionId, Host, Level, NewFunction, Run, RunLimits, Runtime, Tick, Writer,
};

/// A host whose commands cost next to nothing.
#[derive(Default)]
struct NoHost {
    functions: Vec<(Vec<u8>, FunctionId)>,
}

impl Host for NoHost {
    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        reply.text(arguments.last().copied().unwrap_or_default());
        Answer::Value
    }

    fn may_call(&mut self, _arguments: &[&[u8]]) -> Option<bool> {
        Some(true)
    }

    fn log(&mut self, _level: Level, _text: &[u8]) {}

    fn set_protocol(&mut self, _protocol: Protocol) {}

    fn register_function(&mut self, function: &NewFunction<'_>) -> Result<(), String> {
        self.functions.push((function.name.to_vec(), function.id));
        Ok(())
    }

    fn tick(&mut self, _steps: u64) -> Tick {
        Tick::Continue
    }

    fn clock_seconds(&mut self) -> f64 {
        0.0
    }
}

const LIBRARY: &str = include_str!("../tests/guests/functions.wat");

/// Time of the processor: other programs on the machine do not count.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

const RUNS: usize = 5;

fn best_ns(count: u32, mut action: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let begin = now();
        for _ in 0..count {
            action();
        }
        best = best.min((now() - begin).as_nanos() as f64 / f64::from(count));
    }
    best
}

fn measure(engine: &str, make: impl Fn() -> Box<dyn Runtime>) {
    let limits = RunLimits { memory_bytes: 16 << 20, steps: None };
    let module = wat::parse_str(LIBRARY).expect("a module");
    let mut host = NoHost::default();
    let mut runtime = make();
    runtime.load_library(&module, limits, &mut host).expect("loads");
    let functions = std::mem::take(&mut host.functions);
    let run = Run { keys: &[b"key:1"], arguments: &[b"arg"], limits, seed: 1 };
    let mut value = Writer::with_integers(1 << 20);
    let mut call = |name: &str, count: u32| {
        let id = functions.iter().find(|(known, _)| known == name.as_bytes()).expect("registered").1;
        best_ns(count, || {
            value.reset(1 << 20);
            _ = runtime.call_function(id, &run, &mut host, &mut value);
        })
    };
    for (what, name, count) in [
        ("a call that does nothing", "nothing", 500_000),
        ("a call that answers a text", "hello", 500_000),
        ("a call with one GET", "get", 500_000),
        ("a call that fails, so an instance", "fails", 2_000),
    ] {
        println!("{engine:9} {what:35} {:9.0} ns", call(name, count));
    }
    let mut number: u64 = 0;
    let load = best_ns(5, || {
        // Another module each time, so that none is known.
        number += 1;
        let body = number.to_le_bytes();
        let module = [&module[..], &[0, 10, 1, b'n'], &body].concat();
        let mut host = NoHost::default();
        make().load_library(&module, limits, &mut host).expect("loads");
    });
    println!("{engine:9} {:35} {:9.0} ns", format!("loading {} bytes", module.len()), load);
}

fn main() {
    #[cfg(feature = "wasmtime")]
    measure("wasmtime", edgecask_wasm::wasmtime_runtimes().expect("wasmtime"));
    #[cfg(feature = "wasmi")]
    measure("wasmi", edgecask_wasm::wasmi_runtimes());
}
