//! Scripts and functions as all sessions share them: the sources, the interpreters that run them, and the runs that take long.
//!
//! - [`ScriptCache`] has the scripts of EVAL by their SHA-1.
//! - [`Libraries`] has the libraries of functions; what lasts of them is in the store ([`crate::engine::CATALOG`]).
//! - [`ScriptEngine`] lends interpreters of one language. A home says which languages it has.
//! - [`LongScripts`] knows the runs that have taken longer than a turn, so that they can be shown and killed.
//!
//! It never runs anything: `command/script` does.

mod cache;
mod engine;
mod hash;
mod libraries;
mod long;
mod seen;

use std::sync::Arc;

use parking_lot::RwLock;

pub use cache::{Script, ScriptCache, SeenScript};
pub use engine::{Interpreter, NewRuntime, Registered, ScriptEngine};
pub use hash::ScriptHash;
pub use libraries::{Change, Function, Libraries, Library, LibrarySet, SeenFunction};
pub use long::{Killed, LongScript, LongScripts, ScriptKind};

/// What all sessions share of scripts.
#[derive(Debug, Default)]
pub struct Scripts {
    /// The scripts of EVAL.
    pub cache: ScriptCache,
    /// The libraries of functions.
    pub libraries: Libraries,
    /// The runs that take long.
    pub long: LongScripts,
    engines: RwLock<Arc<[Arc<ScriptEngine>]>>,
}

impl Scripts {
    /// Says that this home has a language; of two with one name the later counts.
    pub fn add_engine(&self, engine: ScriptEngine) {
        let mut engines = self.engines.write();
        let engine = Arc::new(engine);
        let others = engines.iter().filter(|other| other.name() != engine.name());
        *engines = others.chain([&engine]).cloned().collect();
    }

    /// The languages of this home.
    pub fn engines(&self) -> Arc<[Arc<ScriptEngine>]> {
        self.engines.read().clone()
    }

    /// The language of this name, in letters of any case.
    pub fn engine(&self, name: &[u8]) -> Option<Arc<ScriptEngine>> {
        self.engines.read().iter().find(|engine| engine.name().as_bytes().eq_ignore_ascii_case(name)).cloned()
    }

    /// Bytes that idle interpreters hold.
    pub fn memory_bytes(&self) -> u64 {
        self.engines.read().iter().map(|engine| engine.idle_bytes()).sum()
    }
}
