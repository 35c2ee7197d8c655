//! What an engine must do; all else is the same on each.

use crate::interface::Outline;

/// Why the code of a guest did not return.
#[derive(Debug)]
pub enum Fault {
    /// An import or a tick stopped it, and knows the reason.
    Stopped,
    /// The engine stopped it, for this reason.
    Trapped(String),
}

/// What a call of a guest's function may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of its linear memory.
    pub memory_bytes: usize,
    /// Steps after which it is stopped, if there is such a number: an engine that counts steps itself asks no later.
    #[cfg_attr(not(feature = "wasmi"), expect(dead_code))]
    pub steps: Option<u64>,
}

/// Compiles modules and runs them. [`RUNNING`](crate::imports::RUNNING) is set whenever code of a guest may run.
pub trait Engine: Send + Sync + 'static {
    /// A compiled module, which all runtimes of a process share.
    type Module: Send + Sync + 'static;

    /// A module with its memory.
    type Instance: Send + 'static;

    /// Validates and compiles. The error is the engine's text.
    fn compile(&self, module: &[u8]) -> Result<Self::Module, String>;

    /// The imports and exports of a module.
    fn outline(&self, module: &Self::Module) -> Outline;

    /// Bytes that a module takes whose source has so many, about.
    fn module_bytes(&self, source_bytes: usize) -> usize;

    /// Makes an instance. `entries` are the exports that are called, each `() -> ()`; one that is missing has no entry.
    fn instantiate(
        &self,
        module: &Self::Module,
        entries: &[String],
        budget: Budget,
    ) -> Result<Self::Instance, Fault>;

    /// Calls an entry by its index; does nothing if there is none. After a fault the instance must not be used again.
    fn call(&self, instance: &mut Self::Instance, entry: usize, budget: Budget) -> Result<(), Fault>;

    /// Bytes of the instance's memory.
    fn memory_bytes(&self, instance: &Self::Instance) -> usize;
}

/// The text of a trap, in the same words on every engine.
pub(crate) fn trap_text(text: &str, was_growth_denied: bool) -> String {
    let text = text.strip_prefix("wasm trap: ").unwrap_or(text);
    let text = text
        .strip_prefix("wasm `unreachable` instruction executed")
        .map_or(text, |_| "unreachable code reached");
    if was_growth_denied { format!("{text}, after its memory could not grow") } else { text.to_owned() }
}
