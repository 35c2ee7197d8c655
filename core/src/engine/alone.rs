//! Transactions outside of any request: when a store was just opened, or by a tool.

use std::task::Waker;

use super::{Commit, Db, Engine, EngineError, Overlay, Reader, Result, Scope, Txn};

/// What a transaction outside of any request is about.
struct Alone<'a> {
    scope: Scope<'a>,
    /// Keys that it is going to look for, so that an engine that must fetch them fetches them together.
    announced: Option<(Db, &'a [&'a [u8]])>,
    now_ms: u64,
    /// What it changes happens.
    commits: bool,
}

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
    run(engine, Alone { scope: Scope::Keys(keys), announced: None, now_ms, commits: true }, body)
}

/// The same over keys of one database, which are fetched together where they must be fetched.
///
/// # Errors
/// As for [`run_alone`].
pub fn write_alone<E: Engine, T>(
    engine: &E,
    (db, keys): (Db, &[&[u8]]),
    now_ms: u64,
    body: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>,
) -> Result<T> {
    let announced = Some((db, keys));
    run(engine, Alone { scope: Scope::Keys(keys), announced, now_ms, commits: true }, body)
}

/// Looks at keys of one database, or at everything without keys. Nothing changes, whatever `body` does.
///
/// # Errors
/// As for [`run_alone`].
pub fn look_alone<E: Engine, T>(
    engine: &E,
    (db, keys): (Db, &[&[u8]]),
    now_ms: u64,
    body: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>,
) -> Result<T> {
    let scope = if keys.is_empty() { Scope::Everything } else { Scope::Keys(keys) };
    run(engine, Alone { scope, announced: Some((db, keys)), now_ms, commits: false }, body)
}

fn run<E: Engine, T>(
    engine: &E,
    alone: Alone<'_>,
    body: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>,
) -> Result<T> {
    let Alone { scope, announced, now_ms, commits } = alone;
    let mut overlay = Overlay::new();
    let mut resumed = None;
    loop {
        let mut snapshot = match resumed.take() {
            Some(snapshot) => snapshot,
            None => engine.begin(scope)?,
        };
        overlay.clear();
        if let Some((db, keys)) = announced {
            snapshot.announce(db, keys);
        }
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
        if overlay.is_empty() || !commits {
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
