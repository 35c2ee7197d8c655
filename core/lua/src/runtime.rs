//! [`Lua`]: the core's trait of an interpreter, over two states. Scripts of EVAL and functions of libraries see different
//! globals, as in Redis; each state is made when it is first needed.

use edgecask_core::script::{
    CompileError, Ended, Failure, FunctionId, Host, LoadError, NO_MEMORY, Reader, Run, RunLimits, Runtime,
    ScriptId, Value, Writer,
};

use crate::caller::{Buffers, Caller, Stop};
use crate::ffi::{Call, Environment, Interpreter, Outcome};

/// The interpreter of scripts and functions in Lua.
pub struct Lua {
    eval: Option<Interpreter>,
    functions: Option<Interpreter>,
    buffers: Buffers,
    version: String,
    version_number: u32,
    with_newproxy: bool,
}

impl Lua {
    /// An interpreter that says to be of this version of Redis (`7.2.4`). It takes no memory before its first script.
    pub fn new(redis_version: &str) -> Lua {
        let version_number = redis_version
            .split('.')
            .fold(0u32, |number, part| (number << 8) | (part.parse::<u32>().unwrap_or(0) & 0xff));
        Lua {
            eval: None,
            functions: None,
            buffers: Buffers::default(),
            version: redis_version.to_owned(),
            version_number,
            with_newproxy: false,
        }
    }

    /// The same with `newproxy`, which the sandbox leaves out: the only way to a finalizer, for the test of those.
    #[doc(hidden)]
    pub fn with_newproxy(redis_version: &str) -> Lua {
        Lua { with_newproxy: true, ..Lua::new(redis_version) }
    }
}

/// The state of one environment, made if it is not there.
fn state<'s>(
    slot: &'s mut Option<Interpreter>,
    environment: Environment,
    version: &str,
    version_number: u32,
    with_newproxy: bool,
) -> Option<&'s mut Interpreter> {
    if slot.is_none() {
        *slot = Interpreter::new(environment, version, version_number, with_newproxy);
    }
    slot.as_mut()
}

/// The state, its buffers, or an early return with the error for no memory.
macro_rules! state_of {
    ($lua:ident, $slot:ident, $environment:expr) => {
        state(&mut $lua.$slot, $environment, &$lua.version, $lua.version_number, $lua.with_newproxy)
    };
}

fn no_memory() -> Ended {
    Ended::Failed(Failure::out_of_memory())
}

fn text(flat: &[u8]) -> Vec<u8> {
    match Reader::new(flat).next() {
        Some(Value::Text(text)) => text.to_vec(),
        _ => NO_MEMORY.to_vec(),
    }
}

/// An error as the shim gives it: the text, the source, the line, and whether it has been counted.
fn failure(flat: &[u8]) -> Failure {
    let mut values = Reader::new(flat);
    let message = match values.next() {
        Some(Value::Text(text)) => text.to_vec(),
        Some(Value::Number(number)) => crate::number::general(number, 14),
        // redis-server 7.0.15 crashes here; later ones say this.
        _ => b"ERR unknown error".to_vec(),
    };
    let source = values.next();
    let line = values.next();
    let is_counted = values.next() == Some(Value::Boolean(true));
    let place = match (source, line) {
        (Some(Value::Text(source)), Some(Value::Number(line))) => Some((source.to_vec(), line as i64)),
        (Some(Value::Text(source)), Some(Value::Text(line))) => {
            edgecask_core::resp::parse_i64(line).map(|line| (source.to_vec(), line))
        }
        _ => None,
    };
    Failure { message, place, is_plain: false, is_counted }
}

/// What the outcome is before the interpreter is asked where it was killed.
enum Taken {
    Done,
    Failed(Failure),
    Killed,
    Syntax(Vec<u8>),
}

fn take(outcome: Outcome<'_>, value: Option<&mut Writer>) -> Taken {
    match outcome {
        Outcome::Done(flat) => {
            if let Some(value) = value {
                value.append(flat);
                if value.is_full() {
                    return Taken::Failed(Failure::out_of_memory());
                }
            }
            Taken::Done
        }
        Outcome::Failed(flat) => Taken::Failed(failure(flat)),
        Outcome::Plain(flat) => {
            Taken::Failed(Failure { message: text(flat), place: None, is_plain: true, is_counted: false })
        }
        Outcome::Syntax(flat) => Taken::Syntax(text(flat)),
        Outcome::Killed => Taken::Killed,
    }
}

/// How a killed run ended.
fn killed(stop: Option<Stop>, state: &mut Interpreter) -> Ended {
    let place = state.killed_at();
    let failure = Failure { message: Vec::new(), place, is_plain: false, is_counted: false };
    match stop {
        Some(Stop::Abandoned) => Ended::Abandoned,
        Some(Stop::OutOfSteps) => Ended::OutOfSteps(failure),
        Some(Stop::Killed) => Ended::Killed(failure),
        // Without a wish from outside only a lack of memory at the very end ends a run so.
        None => no_memory(),
    }
}

fn call(
    state: &mut Interpreter,
    script: u32,
    run: &Run<'_>,
    host: &mut dyn Host,
    buffers: &mut Buffers,
    value: &mut Writer,
) -> Result<(), Ended> {
    let mut caller = Caller::new(host, &run.limits, buffers);
    let call = Call {
        keys: run.keys,
        arguments: run.arguments,
        memory_bytes: run.limits.memory_bytes,
        seed: run.seed,
    };
    let taken = take(state.call(script as i32, &call, &mut caller), Some(value));
    let stop = caller.meter.stop;
    buffers.shrink();
    match taken {
        Taken::Done => Ok(()),
        Taken::Failed(failure) => Err(Ended::Failed(failure)),
        Taken::Killed => Err(killed(stop, state)),
        Taken::Syntax(message) => {
            Err(Ended::Failed(Failure { message, place: None, is_plain: true, is_counted: false }))
        }
    }
}

impl Runtime for Lua {
    fn compile(
        &mut self,
        source: &[u8],
        limits: RunLimits,
        host: &mut dyn Host,
    ) -> Result<ScriptId, CompileError> {
        let Some(state) = state_of!(self, eval, Environment::Eval) else {
            return Err(CompileError::Stopped(no_memory()));
        };
        // A first line that names the engine is not Lua; its end stays, so that lines keep their numbers.
        let source = match source.strip_prefix(b"#!") {
            Some(rest) => rest.iter().position(|byte| *byte == b'\n').map_or(&[][..], |end| &rest[end..]),
            None => source,
        };
        let mut caller = Caller::new(host, &limits, &mut self.buffers);
        let (script, outcome) = state.compile(source, limits.memory_bytes, &mut caller);
        let taken = take(outcome, None);
        let stop = caller.meter.stop;
        match taken {
            Taken::Done => Ok(ScriptId(script as u32)),
            Taken::Syntax(text) => Err(CompileError::Syntax(text)),
            Taken::Failed(failure) => Err(CompileError::Stopped(Ended::Failed(failure))),
            Taken::Killed => Err(CompileError::Stopped(killed(stop, state))),
        }
    }

    fn drop_script(&mut self, script: ScriptId) {
        if let Some(state) = &mut self.eval {
            state.drop_script(script.0 as i32);
        }
    }

    fn run(
        &mut self,
        script: ScriptId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended> {
        match state_of!(self, eval, Environment::Eval) {
            Some(state) => call(state, script.0, run, host, &mut self.buffers, value),
            None => Err(no_memory()),
        }
    }

    fn load_library(
        &mut self,
        source: &[u8],
        limits: RunLimits,
        host: &mut dyn Host,
    ) -> Result<(), LoadError> {
        let Some(state) = state_of!(self, functions, Environment::Functions) else {
            return Err(LoadError::Run(no_memory()));
        };
        let source = match source.strip_prefix(b"#!") {
            Some(rest) => rest.iter().position(|byte| *byte == b'\n').map_or(&[][..], |end| &rest[end..]),
            None => source,
        };
        let mut caller = Caller::new(host, &limits, &mut self.buffers);
        let taken = take(state.load(source, limits.memory_bytes, &mut caller), None);
        let stop = caller.meter.stop;
        let functions = std::mem::take(&mut caller.functions);
        let error = match taken {
            Taken::Done => return Ok(()),
            Taken::Syntax(text) => LoadError::Compile(CompileError::Syntax(text)),
            Taken::Failed(failure) => LoadError::Run(Ended::Failed(failure)),
            Taken::Killed => LoadError::Run(killed(stop, state)),
        };
        for function in functions {
            state.drop_script(function);
        }
        Err(error)
    }

    fn drop_function(&mut self, function: FunctionId) {
        if let Some(state) = &mut self.functions {
            state.drop_script(function.0 as i32);
        }
    }

    fn call_function(
        &mut self,
        function: FunctionId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended> {
        match state_of!(self, functions, Environment::Functions) {
            Some(state) => call(state, function.0, run, host, &mut self.buffers, value),
            None => Err(no_memory()),
        }
    }

    fn collect_garbage(&mut self) -> bool {
        let eval = self.eval.as_mut().is_some_and(Interpreter::collect);
        self.functions.as_mut().is_some_and(Interpreter::collect) || eval
    }

    fn memory_bytes(&self) -> u64 {
        [&self.eval, &self.functions].into_iter().flatten().map(Interpreter::memory_bytes).sum()
    }
}
