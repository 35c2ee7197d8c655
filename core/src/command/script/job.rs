//! A run of a script or a function that is wanted.

use std::sync::Arc;

use crate::script::ScriptFlags;
use crate::server::scripts::{Function, Library, Script, ScriptEngine, ScriptKind};

/// What runs.
#[derive(Clone, Copy)]
pub(super) enum What<'j> {
    /// A script of EVAL.
    Script(&'j Script),
    /// A function of a library.
    Function(&'j Arc<Library>, &'j Function),
}

impl What<'_> {
    pub fn kind(self) -> ScriptKind {
        match self {
            What::Script(_) => ScriptKind::Script,
            What::Function(..) => ScriptKind::Function,
        }
    }

    /// Whether it must answer the same to the same arguments.
    pub fn is_deterministic(self) -> bool {
        match self {
            What::Script(_) => false,
            What::Function(_, function) => function.flags.has(ScriptFlags::DETERMINISTIC),
        }
    }

    /// The name in error texts: the SHA-1 of a script.
    pub fn name(self) -> String {
        match self {
            What::Script(script) => script.hash.text(),
            What::Function(_, function) => String::from_utf8_lossy(&function.name).into_owned(),
        }
    }
}

/// A run that is wanted.
pub(super) struct Job<'j> {
    pub engine: &'j ScriptEngine,
    pub what: What<'j>,
    /// The request that wants it.
    pub request: &'j [&'j [u8]],
    pub keys: &'j [&'j [u8]],
    pub arguments: &'j [&'j [u8]],
    /// Whether commands that write are refused.
    pub reads: bool,
    /// Whether commands that need memory may run though there is none.
    pub ignores_memory: bool,
}
