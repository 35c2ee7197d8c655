//! A host for the tests: a few commands over a map, a clock, a log, and a deadline.
#![allow(dead_code)]

pub mod hostile;
pub mod recorded;

use std::collections::BTreeMap;

use edgecask_core::resp::{Protocol, Reply, parse_i64};
use edgecask_core::script::{
    Answer, CompileError, Ended, FunctionId, Host, Level, LoadError, NewFunction, Reader, Run, RunLimits,
    Runtime, ScriptFlags, ScriptId, Tick, Writer, read_reply, write_reply,
};
use edgecask_lua::Lua;

pub const MEMORY_BYTES: u64 = 64 << 20;
pub const VERSION: &str = "7.2.4";

pub fn limits() -> RunLimits {
    RunLimits { memory_bytes: MEMORY_BYTES, steps: None }
}

#[derive(Default)]
pub enum Data {
    #[default]
    Missing,
    Text(Vec<u8>),
    List(Vec<Vec<u8>>),
    Hash(Vec<(Vec<u8>, Vec<u8>)>),
    Set(Vec<Vec<u8>>),
    Scores(Vec<(f64, Vec<u8>)>),
}

/// Milliseconds that this thread has had a processor for: what other processes do makes no script late.
#[cfg(not(target_arch = "wasm32"))]
pub fn now_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The same of the process, from the module's host.
#[cfg(target_arch = "wasm32")]
pub fn now_ms() -> f64 {
    super::clock_ms()
}

pub struct TestHost {
    pub data: BTreeMap<Vec<u8>, Data>,
    pub protocol: Protocol,
    pub log: Vec<(Level, String)>,
    pub functions: Vec<(String, Option<String>, ScriptFlags, FunctionId)>,
    pub calls: u64,
    pub ticks: u64,
    pub steps: u64,
    /// When [`now_ms`] says this, the script is killed.
    pub deadline_ms: Option<f64>,
    /// This call, counted from 1, is answered so.
    pub at_call: Option<(u64, Answer)>,
    pub panics_at_call: Option<u64>,
}

impl TestHost {
    pub fn new() -> TestHost {
        TestHost {
            data: BTreeMap::new(),
            protocol: Protocol::Resp2,
            log: Vec::new(),
            functions: Vec::new(),
            calls: 0,
            ticks: 0,
            steps: 0,
            deadline_ms: None,
            at_call: None,
            panics_at_call: None,
        }
    }

    pub fn with_deadline(after_ms: f64) -> TestHost {
        TestHost { deadline_ms: Some(now_ms() + after_ms), ..TestHost::new() }
    }

    fn command(&mut self, arguments: &[&[u8]], reply: &mut Reply) {
        let [name, arguments @ ..] = arguments else { return };
        let name = name.to_ascii_lowercase();
        let known: &[(&[u8], usize)] = &[
            (b"ping", 0),
            (b"echo", 1),
            (b"get", 1),
            (b"set", 2),
            (b"incr", 1),
            (b"lpush", 2),
            (b"rpush", 2),
            (b"lrange", 3),
            (b"hset", 3),
            (b"hgetall", 1),
            (b"sadd", 2),
            (b"smembers", 1),
            (b"zadd", 3),
            (b"zscore", 2),
        ];
        let Some((_, least)) = known.iter().find(|(known, _)| *known == name) else {
            return reply.error("ERR Unknown Redis command called from script");
        };
        let most = match &name[..] {
            b"lpush" | b"rpush" | b"hset" | b"sadd" | b"set" => usize::MAX,
            _ => *least,
        };
        if arguments.len() < *least || arguments.len() > most {
            return reply.error("ERR Wrong number of args calling Redis command from script");
        }
        let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
        let key = arguments.first().map(|key| key.to_vec()).unwrap_or_default();
        let data = self.data.entry(key).or_default();
        match (&name[..], data) {
            (b"ping", _) => reply.simple("PONG"),
            (b"echo", _) => reply.bulk(arguments[0]),
            (b"set", _) if arguments.len() > 2 => reply.error("ERR syntax error"),
            (b"set", data) => {
                *data = Data::Text(arguments[1].to_vec());
                reply.ok();
            }
            (b"get", Data::Text(text)) => reply.bulk(text),
            (b"get", Data::Missing) => reply.null(),
            (b"incr", Data::Text(text)) => match parse_i64(text) {
                Some(number) => {
                    *text = (number + 1).to_string().into_bytes();
                    reply.integer(number + 1);
                }
                None => reply.error("ERR value is not an integer or out of range"),
            },
            (b"incr", data @ Data::Missing) => {
                *data = Data::Text(b"1".to_vec());
                reply.integer(1);
            }
            (b"rpush" | b"lpush", data @ (Data::Missing | Data::List(_))) => {
                let mut list = match std::mem::take(data) {
                    Data::List(list) => list,
                    _ => Vec::new(),
                };
                for value in &arguments[1..] {
                    list.insert(if name == b"rpush" { list.len() } else { 0 }, value.to_vec());
                }
                reply.integer(list.len() as i64);
                *data = Data::List(list);
            }
            (b"lrange", Data::List(list)) => {
                reply.array(list.len());
                list.iter().for_each(|value| reply.bulk(value));
            }
            (b"lrange", Data::Missing) => reply.array(0),
            (b"hset", data) => {
                let pairs: Vec<_> =
                    arguments[1..].chunks(2).map(|pair| (pair[0].to_vec(), pair[1].to_vec())).collect();
                reply.integer(pairs.len() as i64);
                *data = Data::Hash(pairs);
            }
            (b"hgetall", Data::Hash(pairs)) => {
                reply.map(pairs.len());
                for (field, value) in pairs {
                    reply.bulk(field);
                    reply.bulk(value);
                }
            }
            (b"hgetall", Data::Missing) => reply.map(0),
            (b"sadd", data) => {
                *data = Data::Set(arguments[1..].iter().map(|member| member.to_vec()).collect());
                reply.integer(1);
            }
            (b"smembers", Data::Set(members)) => {
                reply.set(members.len());
                members.iter().for_each(|member| reply.bulk(member));
            }
            (b"zadd", data) => {
                let score = std::str::from_utf8(arguments[1]).unwrap().parse().unwrap();
                *data = Data::Scores(vec![(score, arguments[2].to_vec())]);
                reply.integer(1);
            }
            (b"zscore", Data::Scores(scores)) => reply.double(scores[0].0),
            _ => reply.error(wrong),
        }
    }
}

impl Host for TestHost {
    fn call(&mut self, arguments: &[&[u8]], out: &mut Writer) -> Answer {
        self.calls += 1;
        if self.panics_at_call == Some(self.calls) {
            panic!("the host panics");
        }
        if let Some((at, answer)) = self.at_call
            && at == self.calls
        {
            return answer;
        }
        let mut reply = Reply::new(self.protocol);
        self.command(arguments, &mut reply);
        let bytes = reply.as_bytes();
        if let Some(error) = bytes.strip_prefix(b"-") {
            out.text(error.strip_suffix(b"\r\n").unwrap());
            return Answer::Error;
        }
        read_reply(bytes, out).expect("the test's replies are whole");
        Answer::Value
    }

    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool> {
        (arguments[0] != b"nosuch").then_some(true)
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        self.log.push((level, String::from_utf8_lossy(text).into_owned()));
    }

    fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    fn register_function(&mut self, function: &NewFunction<'_>) -> Result<(), String> {
        let name = String::from_utf8_lossy(function.name).into_owned();
        if self.functions.iter().any(|(known, ..)| *known == name) {
            return Err("Function already exists in the library".into());
        }
        let description = function.description.map(|text| String::from_utf8_lossy(text).into_owned());
        self.functions.push((name, description, function.flags, function.id));
        Ok(())
    }

    fn tick(&mut self, steps: u64) -> Tick {
        self.ticks += 1;
        self.steps += steps;
        match self.deadline_ms {
            Some(deadline) if now_ms() >= deadline => Tick::Kill,
            _ => Tick::Continue,
        }
    }

    fn clock_seconds(&mut self) -> f64 {
        12.5
    }
}

/// The arguments of most tests.
pub const KEYS: &[&[u8]] = &[b"key:1"];
pub const ARGUMENTS: &[&[u8]] = &[b"arg:1"];

pub fn a_run() -> Run<'static> {
    Run { keys: KEYS, arguments: ARGUMENTS, limits: limits(), seed: 0 }
}

pub fn sha1(script: &[u8]) -> String {
    sha1_smol::Sha1::from(script).digest().to_string()
}

/// What EVAL would answer.
pub fn eval(lua: &mut Lua, host: &mut TestHost, script: &[u8], client: Protocol) -> Vec<u8> {
    let mut reply = Reply::new(client);
    match lua.compile(script, limits(), host) {
        Ok(id) => {
            answer(|value, host| lua.run(id, &a_run(), host, value), host, &sha1(script), &mut reply);
            lua.drop_script(id);
        }
        Err(CompileError::Syntax(text)) => {
            let text = String::from_utf8_lossy(&text);
            reply.error(&format!("ERR Error compiling script (new function): {text}"));
        }
        Err(CompileError::Stopped(ended)) => reply.error(&format!("STOPPED {ended:?}")),
    }
    reply.take().expect("no stored part")
}

/// What FUNCTION LOAD and FCALL of the function `f` would answer.
pub fn load_and_call(lua: &mut Lua, host: &mut TestHost, body: &[u8]) -> Vec<u8> {
    let mut reply = Reply::new(Protocol::Resp2);
    let library = [b"#!lua name=l\n", body].concat();
    match lua.load_library(&library, limits(), host) {
        Ok(()) if host.functions.is_empty() => reply.error("ERR No functions registered"),
        Ok(()) => {
            reply.bulk(b"l");
            let id = host.functions[0].3;
            answer(|value, host| lua.call_function(id, &a_run(), host, value), host, "f", &mut reply);
            lua.drop_function(id);
        }
        Err(LoadError::Compile(CompileError::Syntax(text))) => {
            reply.error(&format!("ERR Error compiling function: {}", String::from_utf8_lossy(&text)));
        }
        Err(LoadError::Run(Ended::Failed(failure))) => {
            let text = String::from_utf8_lossy(&failure.message);
            reply.error(&format!("ERR Error registering functions: {text}"));
        }
        Err(error) => reply.error(&format!("STOPPED {error:?}")),
    }
    reply.take().expect("no stored part")
}

fn answer(
    run: impl FnOnce(&mut Writer, &mut TestHost) -> Result<(), Ended>,
    host: &mut TestHost,
    name: &str,
    reply: &mut Reply,
) {
    let mut value = Writer::new(usize::MAX);
    match run(&mut value, host) {
        Ok(()) => {
            let value = Reader::new(value.as_bytes()).next().expect("a script returns a value");
            write_reply(value, host.protocol, reply);
        }
        Err(Ended::Failed(failure)) => reply.error_bytes(&failure.reply(name)),
        Err(ended) => reply.error(&format!("STOPPED {ended:?}")),
    }
}

/// Compiles and runs a script; the flat value on success.
pub fn run(lua: &mut Lua, host: &mut dyn Host, script: &str) -> Result<Vec<u8>, Ended> {
    let id: ScriptId = match lua.compile(script.as_bytes(), limits(), host) {
        Ok(id) => id,
        Err(CompileError::Stopped(ended)) => return Err(ended),
        Err(CompileError::Syntax(text)) => panic!("{script}: {}", String::from_utf8_lossy(&text)),
    };
    let mut value = Writer::new(usize::MAX);
    let outcome = lua.run(id, &a_run(), host, &mut value);
    lua.drop_script(id);
    outcome.map(|()| value.as_bytes().to_vec())
}
