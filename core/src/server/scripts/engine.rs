//! Interpreters of one language, lent to one run at a time.

use std::collections::HashMap;
use std::fmt;

use parking_lot::Mutex;

use super::hash::{OfHash, ScriptHash};
use crate::limits::{IDLE_INTERPRETERS_MAX, INTERPRETER_KEPT_BYTES};
use crate::resp::Reply;
use crate::script::{FunctionId, Runtime, ScriptId, Writer};

/// Makes an interpreter.
pub type NewRuntime = Box<dyn Fn() -> Box<dyn Runtime> + Send + Sync>;

/// A language in which scripts or functions are written.
#[expect(clippy::vec_box, reason = "an interpreter is large to move, and every run takes one")]
pub struct ScriptEngine {
    name: &'static str,
    undoes_traps: bool,
    new: NewRuntime,
    kept_bytes: u64,
    idle: Mutex<Vec<Box<Interpreter>>>,
}

impl fmt::Debug for ScriptEngine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ScriptEngine({})", self.name)
    }
}

/// The functions of a library in one interpreter, by their names.
pub type Registered = Vec<(Box<[u8]>, FunctionId)>;

/// An interpreter, and what it knows already.
pub struct Interpreter {
    /// It.
    pub runtime: Box<dyn Runtime>,
    /// The scripts that it has compiled.
    pub scripts: HashMap<ScriptHash, ScriptId, OfHash>,
    /// How often scripts had been forgotten when it was last used ([`super::ScriptCache::flushes`]).
    pub flushes: u64,
    /// The functions of the libraries that it has loaded, by the numbers of the libraries.
    pub libraries: HashMap<u64, Registered, OfHash>,
    /// The generation of the libraries when it was last used ([`super::Libraries::generation`]).
    pub generation: u64,
    /// Where commands that a script calls reply.
    pub reply: Reply,
    /// Where a script's value goes.
    pub value: Writer,
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scripts, libraries) = (self.scripts.len(), self.libraries.len());
        write!(formatter, "Interpreter({scripts} scripts, {libraries} libraries)")
    }
}

impl ScriptEngine {
    /// A language by its name after `#!`. `undoes_traps`: whether a run whose interpreter gives up ([`Failure::is_plain`]) leaves nothing
    /// of what it wrote.
    ///
    /// [`Failure::is_plain`]: crate::script::Failure::is_plain
    pub fn new(name: &'static str, undoes_traps: bool, new: NewRuntime) -> ScriptEngine {
        ScriptEngine { name, undoes_traps, new, kept_bytes: INTERPRETER_KEPT_BYTES, idle: Mutex::default() }
    }

    /// The same for a home with little memory: an interpreter that holds more bytes than this after a run is not kept.
    pub fn keeping(self, kept_bytes: u64) -> ScriptEngine {
        ScriptEngine { kept_bytes, ..self }
    }

    /// Its name after `#!`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a run whose interpreter gives up leaves nothing of what it wrote. Lua's leaves it, as in Redis.
    pub fn undoes_traps(&self) -> bool {
        self.undoes_traps
    }

    /// An interpreter that nobody else uses.
    pub fn take(&self) -> Box<Interpreter> {
        let idle = self.idle.lock().pop();
        idle.unwrap_or_else(|| self.fresh())
    }

    /// An interpreter that knows nothing.
    pub fn fresh(&self) -> Box<Interpreter> {
        Box::new(Interpreter {
            runtime: (self.new)(),
            scripts: HashMap::default(),
            flushes: 0,
            libraries: HashMap::default(),
            generation: 0,
            reply: Reply::default(),
            value: Writer::with_integers(0),
        })
    }

    /// Gives an interpreter back. One that holds much memory goes, and one more than is needed.
    pub fn give_back(&self, mut interpreter: Box<Interpreter>) {
        if interpreter.runtime.memory_bytes() > self.kept_bytes {
            return;
        }
        let buffer_bytes = usize::try_from(self.kept_bytes / 64).unwrap_or(usize::MAX);
        interpreter.value.shrink(buffer_bytes);
        interpreter.reply.clear();
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_INTERPRETERS_MAX {
            idle.push(interpreter);
        }
    }

    /// Bytes that idle interpreters hold.
    pub fn idle_bytes(&self) -> u64 {
        self.idle.lock().iter().map(|interpreter| interpreter.runtime.memory_bytes()).sum()
    }
}
