//! What the tests of the types share.

use crate::engine::memory::MemoryEngine;
use crate::engine::{Engine, Overlay, Scope, Txn};

/// Runs `body` in a transaction and commits it.
pub(super) fn with_txn<T>(engine: &MemoryEngine, body: impl FnOnce(&mut Txn<'_>) -> T) -> T {
    let mut overlay = Overlay::new();
    let mut snapshot = engine.begin(Scope::Everything).expect("a memory engine");
    let result = body(&mut Txn::new(&mut snapshot, &mut overlay, 0));
    crate::engine::laws::commit(engine, snapshot, &mut overlay, 0).expect("a memory engine");
    result
}
