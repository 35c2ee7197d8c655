//! Transactions outside of any request: when a store was just opened, or by a tool.

use std::task::Waker;

use super::{Commit, Engine, EngineError, Overlay, Result, Scope, Txn};

/// Runs a transaction over these keys to its end and keeps the calling thread until then. `body` may be called several times, and only
/// what its last call did happens.
///
/// # Errors
/// Those of `body`, and the engine's. Nothing has changed then.
pub fn run_alone<E: Engine, T>(
    engine: &E,
    keys: &[&[u8]],
    now_ms: u64,
    body: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>,
) -> Result<T> {
    let (scope, mut overlay) = (Scope::Keys(keys), Overlay::new());
    let mut resumed = None;
    loop {
        let mut snapshot = match resumed.take() {
            Some(snapshot) => snapshot,
            None => engine.begin(scope)?,
        };
        overlay.clear();
        let made = match body(&mut Txn::new(&mut snapshot, &mut overlay, now_ms)) {
            Err(EngineError::NotHere) => {
                let ticket = engine.park(snapshot, Waker::noop());
                while resumed.is_none() {
                    engine.wait_for(ticket);
                    resumed = engine.resume(ticket, scope)?;
                }
                continue;
            }
            outcome => outcome?,
        };
        if overlay.is_empty() {
            return Ok(made);
        }
        let ticket = match engine.commit(snapshot, &mut overlay, now_ms, &mut |_| {})? {
            Commit::Done(_) => return Ok(made),
            Commit::Waiting(ticket) => ticket,
        };
        let ended = loop {
            engine.wait_for(ticket);
            match engine.committed(ticket, Waker::noop(), &mut |_| {}) {
                Ok(None) => {}
                ended => break ended,
            }
        };
        match ended {
            // It met another one.
            Err(EngineError::NotHere) => {}
            ended => return ended.map(|_| made),
        }
    }
}
