//! The trait of an interpreter and the trait of its host.

use super::flags::ScriptFlags;
use super::value::Writer;
use crate::resp::Protocol;

/// A compiled script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScriptId(pub u32);

/// A function that a library registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u32);

/// What one run may take.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Bytes of memory beyond those that the interpreter holds when the run begins.
    pub memory_bytes: u64,
    /// Steps of the interpreter, about one for each of its instructions; the run ends as [`Ended::OutOfSteps`] after them.
    /// `None` where a clock watches over scripts.
    pub steps: Option<u64>,
}

/// One run of a script or a function.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// `KEYS`
    pub keys: &'a [&'a [u8]],
    /// `ARGV`
    pub arguments: &'a [&'a [u8]],
    /// What it may take.
    pub limits: RunLimits,
    /// What `math.random` begins with. A run that is repeated gets the same again; others get different ones, as with Redis 7, whose
    /// sequence goes on from script to script.
    pub seed: i32,
}

/// What a command answered to a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The writer has its reply, one value.
    Value,
    /// The writer has one text, the error with its code (`ERR …`); `redis.call` raises it and `redis.pcall` returns it.
    Error,
    /// The run is to be dropped, since it must be repeated: a key was not declared, or a value is not here yet. The script does
    /// not notice and cannot go on; the run ends as [`Ended::Abandoned`].
    Abandon,
    /// As [`Tick::Kill`].
    Kill,
}

/// What the host says to a script that is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// Go on.
    Continue,
    /// End at once; nothing in the script can catch it. The run ends as [`Ended::Killed`].
    Kill,
}

/// The level of a line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `redis.LOG_DEBUG`
    Debug,
    /// `redis.LOG_VERBOSE`
    Verbose,
    /// `redis.LOG_NOTICE`
    Notice,
    /// `redis.LOG_WARNING`
    Warning,
}

/// A function that a library registers while it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFunction<'a> {
    /// Its name, not yet looked at.
    pub name: &'a [u8],
    /// Its description.
    pub description: Option<&'a [u8]>,
    /// Its flags.
    pub flags: ScriptFlags,
    /// By this it is called.
    pub id: FunctionId,
}

/// What a script reaches of the server. All calls come from inside [`Runtime::run`] and its siblings.
pub trait Host {
    /// Runs a command. `arguments` is never empty. The reply is written in the shape that [`super::read_reply`] gives it.
    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer;

    /// `redis.acl_check_cmd`: whether the user may run this command; `None` if there is no such command.
    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool>;

    /// `redis.log`
    fn log(&mut self, level: Level, text: &[u8]);

    /// `redis.setresp`: the protocol in which replies of commands come from now on.
    fn set_protocol(&mut self, protocol: Protocol);

    /// `redis.register_function`, during [`Runtime::load_library`] only. The error is the text without its code.
    fn register_function(&mut self, function: &NewFunction<'_>) -> Result<(), String>;

    /// Called every so often while a script or the compiler runs, at least once in about `TICK_STEPS` steps of the interpreter
    /// (some ten microseconds), or once in a millisecond where compiled code runs; `steps` is about how many have been taken since
    /// the last call.
    fn tick(&mut self, steps: u64) -> Tick;

    /// `os.clock`: seconds, from any origin; frozen for a run where time is.
    fn clock_seconds(&mut self) -> f64;
}

/// Why a script did not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The script's mistake, as the compiler says it: `user_script:1: unexpected symbol near '<eof>'`.
    Syntax(Vec<u8>),
    /// The compilation was stopped.
    Stopped(Ended),
}

/// An error that a script did not catch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The text with its code: `ERR user_script:1: x`. Without a code if [`is_plain`](Self::is_plain).
    pub message: Vec<u8>,
    /// Where it happened, if that is known: `@user_script` and the line.
    pub place: Option<(Vec<u8>, i64)>,
    /// The interpreter itself gave up (no memory, an error while an error was handled): there is no place and no code.
    pub is_plain: bool,
    /// The error came from a command, which has been counted in the statistics already.
    pub is_counted: bool,
}

/// Lua's text where a run has used up its memory.
pub const NO_MEMORY: &[u8] = b"not enough memory";

impl Failure {
    /// The run needed more memory than it may have, and did not catch that.
    pub fn out_of_memory() -> Failure {
        Failure { message: NO_MEMORY.to_vec(), place: None, is_plain: true, is_counted: false }
    }

    /// Whether it is [`Failure::out_of_memory`].
    pub fn is_out_of_memory(&self) -> bool {
        self.is_plain && self.message == NO_MEMORY
    }

    /// The error reply for a script of this name, which is its SHA-1 or the function's name.
    pub fn reply(&self, name: &str) -> Vec<u8> {
        if self.is_plain {
            let mut text = format!("ERR Error running script {name}, ").into_bytes();
            text.extend(self.message.iter().take(PLAIN_MESSAGE_MAX_BYTES));
            return text;
        }
        let mut text = self.message.clone();
        if let Some((source, line)) = &self.place {
            text.extend_from_slice(format!(" script: {name}, on ").as_bytes());
            text.extend_from_slice(source);
            text.extend_from_slice(format!(":{line}.").as_bytes());
        }
        text
    }
}

/// So much of such an error is shown, as Redis does.
const PLAIN_MESSAGE_MAX_BYTES: usize = 100;

/// How a run that gave no value ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With an error.
    Failed(Failure),
    /// [`Tick::Kill`] or [`Answer::Kill`]. The failure says where; its message is empty, for the host knows the reason.
    Killed(Failure),
    /// [`Answer::Abandon`].
    Abandoned,
    /// After [`RunLimits::steps`] steps, as a kill.
    OutOfSteps(Failure),
}

/// Why a library was not loaded. Nothing of it stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// It did not compile.
    Compile(CompileError),
    /// Its body failed or was stopped.
    Run(Ended),
}

/// An interpreter. It belongs to one thread at a time; scripts compiled in one are unknown to others.
///
/// Nothing of a run stays for the next: no global variable, no setting of a library, no state of `math.random`. The exception is
/// what functions of a library hold in variables of the library, as in Redis.
pub trait Runtime: Send {
    /// Compiles a script; the host's [`Host::tick`] is called meanwhile. A first line with `#!` is cut off before, its line end
    /// stays.
    fn compile(
        &mut self,
        source: &[u8],
        limits: RunLimits,
        host: &mut dyn Host,
    ) -> Result<ScriptId, CompileError>;

    /// Forgets a script. Without effect if there is none.
    fn drop_script(&mut self, script: ScriptId);

    /// Runs a script. `value` gets the one value that it returned.
    fn run(
        &mut self,
        script: ScriptId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended>;

    /// Loads a library: its body runs once and registers functions with the host. If it fails, these are forgotten already.
    fn load_library(
        &mut self,
        source: &[u8],
        limits: RunLimits,
        host: &mut dyn Host,
    ) -> Result<(), LoadError>;

    /// Forgets a function of a library.
    fn drop_function(&mut self, function: FunctionId);

    /// Calls a function of a library with `run.keys` and `run.arguments` as its two arguments.
    fn call_function(
        &mut self,
        function: FunctionId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended>;

    /// Collects garbage for about a millisecond; true if there is more to do. Runs collect on their own as well: this is for
    /// times without any.
    fn collect_garbage(&mut self) -> bool;

    /// Bytes that the interpreter holds.
    fn memory_bytes(&self) -> u64;
}
