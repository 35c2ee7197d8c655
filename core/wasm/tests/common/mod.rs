//! A host for the tests: a few commands over a map, a clock that stands, a log, and a deadline.
#![allow(dead_code)]

pub mod calls;
pub mod hostile;

use std::collections::BTreeMap;

use edgecask_core::resp::{Protocol, Reply};
use edgecask_core::script::{
    Answer, Ended, Failure, FunctionId, Host, Level, LoadError, NewFunction, Reader, Run, RunLimits, Runtime,
    ScriptFlags, Tick, Writer, read_reply, write_reply,
};

pub const MEMORY_BYTES: u64 = 16 << 20;

pub fn limits() -> RunLimits {
    RunLimits { memory_bytes: MEMORY_BYTES, steps: None }
}

/// Makes runtimes of one engine.
pub type MakeRuntime = Box<dyn Fn() -> Box<dyn Runtime>>;

/// The engines that are built, by their names.
pub fn engines() -> Vec<(&'static str, MakeRuntime)> {
    let engines: Vec<(&'static str, MakeRuntime)> = vec![
        #[cfg(feature = "wasmtime")]
        ("wasmtime", Box::new(edgecask_wasm::wasmtime_runtimes().expect("wasmtime"))),
        #[cfg(feature = "wasmi")]
        ("wasmi", Box::new(edgecask_wasm::wasmi_runtimes())),
    ];
    assert!(!engines.is_empty(), "no engine is built: --features wasmtime,wasmi");
    engines
}

/// Milliseconds that this process has had a processor for, the thread of a compiler included: other processes make no run late.
#[cfg(not(target_arch = "wasm32"))]
pub fn now_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The same of the process, from the module's host.
#[cfg(target_arch = "wasm32")]
pub fn now_ms() -> f64 {
    super::clock_ms()
}

pub struct Registered {
    pub name: String,
    pub description: Option<String>,
    pub flags: ScriptFlags,
    pub id: FunctionId,
}

pub struct TestHost {
    pub data: BTreeMap<Vec<u8>, Vec<u8>>,
    pub protocol: Protocol,
    pub log: Vec<(Level, String)>,
    pub functions: Vec<Registered>,
    /// Keys and times of PEXPIRE.
    pub expiries: Vec<(Vec<u8>, Vec<u8>)>,
    pub calls: u64,
    pub ticks: u64,
    pub steps: u64,
    /// When [`now_ms`] says this, the run is killed.
    pub deadline_ms: Option<f64>,
    /// After so many ticks it is killed.
    pub ticks_max: Option<u64>,
    /// This call, counted from 1, is answered so.
    pub at_call: Option<(u64, Answer)>,
}

impl TestHost {
    pub fn new() -> TestHost {
        let data = [("a", "value"), ("b", "2"), ("c", "3")];
        TestHost {
            data: data.map(|(key, value)| (key.into(), value.into())).into(),
            protocol: Protocol::Resp2,
            log: Vec::new(),
            functions: Vec::new(),
            expiries: Vec::new(),
            calls: 0,
            ticks: 0,
            steps: 0,
            deadline_ms: None,
            ticks_max: None,
            at_call: None,
        }
    }

    pub fn with_deadline(after_ms: f64) -> TestHost {
        TestHost { deadline_ms: Some(now_ms() + after_ms), ..TestHost::new() }
    }

    fn command(&mut self, arguments: &[&[u8]], reply: &mut Reply) {
        match arguments {
            [b"GET", b"list"] => {
                reply.error("WRONGTYPE Operation against a key holding the wrong kind of value");
            }
            [b"GET", key] => match self.data.get(*key) {
                Some(value) => reply.bulk(value),
                None => reply.null(),
            },
            [b"SET", key, value] => {
                self.data.insert(key.to_vec(), value.to_vec());
                reply.simple("OK");
            }
            [b"INCR", key] => {
                let number =
                    |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
                match self.data.get(*key).map_or(Some(0), |value| number(value)) {
                    Some(value) => {
                        self.data.insert(key.to_vec(), (value + 1).to_string().into_bytes());
                        reply.integer(value + 1);
                    }
                    None => reply.error("ERR value is not an integer or out of range"),
                }
            }
            [b"PEXPIRE", key, time] => {
                self.expiries.push((key.to_vec(), time.to_vec()));
                reply.integer(1);
            }
            [b"TIME"] => {
                reply.array(2);
                reply.bulk(b"1700000000");
                reply.bulk(b"123456");
            }
            _ => reply.error("ERR Unknown Redis command called from script"),
        }
    }
}

impl Host for TestHost {
    fn call(&mut self, arguments: &[&[u8]], out: &mut Writer) -> Answer {
        self.calls += 1;
        if let Some((at, answer)) = self.at_call
            && at == self.calls
        {
            return answer;
        }
        // A reply of any kind, as its bytes.
        let bytes = match arguments {
            [b"RAW", reply] if read_reply(reply, &mut Writer::new(1 << 20)).is_err() => {
                b"-ERR no reply\r\n".to_vec()
            }
            [b"RAW", reply] => reply.to_vec(),
            _ => {
                let mut reply = Reply::new(self.protocol);
                self.command(arguments, &mut reply);
                reply.take().expect("no stored part")
            }
        };
        if let Some(error) = bytes.strip_prefix(b"-") {
            out.text(error.trim_ascii_end());
            return Answer::Error;
        }
        read_reply(&bytes, out).expect("a reply");
        Answer::Value
    }

    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool> {
        match *arguments.first()? {
            b"GET" => Some(true),
            b"DEBUG" => Some(false),
            _ => None,
        }
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        if self.log.len() < 10 {
            self.log.push((level, String::from_utf8_lossy(text).into_owned()));
        }
    }

    fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    fn register_function(&mut self, function: &NewFunction<'_>) -> Result<(), String> {
        let name = String::from_utf8_lossy(function.name).into_owned();
        if self.functions.iter().any(|known| known.name == name) {
            return Err("Function already exists in the library".into());
        }
        self.functions.push(Registered {
            name,
            description: function.description.map(|text| String::from_utf8_lossy(text).into_owned()),
            flags: function.flags,
            id: function.id,
        });
        Ok(())
    }

    fn tick(&mut self, steps: u64) -> Tick {
        self.ticks += 1;
        self.steps += steps;
        let is_late = self.deadline_ms.is_some_and(|deadline| now_ms() >= deadline);
        if is_late || self.ticks_max.is_some_and(|most| self.ticks >= most) {
            return Tick::Kill;
        }
        Tick::Continue
    }

    fn clock_seconds(&mut self) -> f64 {
        0.0
    }
}

/// The source of a library: the first line and the module, whose text may be WAT.
pub fn source(module: &str) -> Vec<u8> {
    library(&wat::parse_str(module).expect("a module in text"))
}

/// The same of a module's bytes.
pub fn library(module: &[u8]) -> Vec<u8> {
    [b"#!wasm name=test\n", module].concat()
}

/// A runtime with one library.
pub struct Loaded {
    pub runtime: Box<dyn Runtime>,
    pub functions: Vec<Registered>,
}

impl Loaded {
    pub fn new(runtime: Box<dyn Runtime>, source: &[u8]) -> Loaded {
        match Loaded::load(runtime, source, TestHost::new()) {
            (_, Err(error)) => panic!("the library was not loaded: {}", load_error(&error)),
            (mut loaded, Ok(functions)) => {
                loaded.functions = functions;
                loaded
            }
        }
    }

    pub fn load(
        mut runtime: Box<dyn Runtime>,
        source: &[u8],
        mut host: TestHost,
    ) -> (Loaded, Result<Vec<Registered>, LoadError>) {
        let outcome = runtime.load_library(source, limits(), &mut host);
        (Loaded { runtime, functions: Vec::new() }, outcome.map(|()| host.functions))
    }

    pub fn id(&self, name: &str) -> FunctionId {
        self.functions.iter().find(|known| known.name == name).expect("a function of this name").id
    }

    /// The reply that a client gets, in RESP3.
    pub fn call(&mut self, host: &mut TestHost, name: &str, keys: &[&[u8]], arguments: &[&[u8]]) -> Vec<u8> {
        let run = Run { keys, arguments, limits: limits(), seed: 7 };
        let id = self.id(name);
        reply(name, self.run(host, id, &run))
    }

    /// The flat value of a run.
    pub fn run(&mut self, host: &mut TestHost, id: FunctionId, run: &Run<'_>) -> Result<Vec<u8>, Ended> {
        let mut value = Writer::with_integers(1 << 20);
        self.runtime.call_function(id, run, host, &mut value)?;
        Ok(value.as_bytes().to_vec())
    }
}

/// What a client gets for the outcome of a run.
pub fn reply(name: &str, outcome: Result<Vec<u8>, Ended>) -> Vec<u8> {
    let mut reply = Reply::new(Protocol::Resp3);
    match outcome {
        Ok(flat) => {
            let value = Reader::new(&flat).next().expect("a value");
            write_reply(value, Protocol::Resp3, &mut reply);
        }
        Err(Ended::Failed(failure)) => reply.error_bytes(&failure.reply(name)),
        Err(other) => reply.error(&format!("{other:?}")),
    }
    reply.take().expect("no stored part")
}

/// The text of an error of loading, as far as it has one.
pub fn load_error(error: &LoadError) -> String {
    use edgecask_core::script::CompileError;
    let text = |failure: &Failure| String::from_utf8_lossy(&failure.message).into_owned();
    match error {
        LoadError::Compile(CompileError::Syntax(text)) => String::from_utf8_lossy(text).into_owned(),
        LoadError::Run(Ended::Failed(failure))
        | LoadError::Compile(CompileError::Stopped(Ended::Failed(failure))) => text(failure),
        LoadError::Run(Ended::Killed(_)) | LoadError::Compile(CompileError::Stopped(Ended::Killed(_))) => {
            "killed".into()
        }
        other => format!("{other:?}"),
    }
}
