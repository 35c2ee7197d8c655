//! Compiled modules of a process: each is compiled once, shared by all runtimes that have loaded it, and dropped with the last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sha2::{Digest, Sha256};

use crate::engine::Engine;
use crate::imports::Stop;
use crate::interface::{self, Outline};

/// A module that has been checked and compiled.
pub(crate) struct Compiled<E: Engine> {
    pub module: E::Module,
    pub outline: Outline,
    /// Bytes of its source.
    pub source_bytes: usize,
}

/// An engine with the modules that it has compiled.
pub(crate) struct Modules<E: Engine> {
    pub engine: E,
    known: Mutex<HashMap<[u8; 32], Weak<Compiled<E>>>>,
    /// Held while a module is compiled: one at a time, so that loading takes one processor.
    compiling: Mutex<()>,
}

/// Why there is no module.
pub(crate) enum NoModule {
    /// It is wrong.
    Wrong(String),
    /// The host stopped the wait for the compiler.
    Stopped,
}

/// What is locked here is whole at all times: a thread that panicked left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Engine> Modules<E> {
    pub fn new(engine: E) -> Arc<Modules<E>> {
        Arc::new(Modules { engine, known: Mutex::default(), compiling: Mutex::default() })
    }

    /// The module of these bytes, compiled unless it is known. `tick` is called about every millisecond meanwhile.
    pub fn get(
        self: &Arc<Self>,
        source: &[u8],
        tick: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<Arc<Compiled<E>>, NoModule> {
        let hash: [u8; 32] = Sha256::digest(source).into();
        if let Some(known) = self.known(&hash) {
            return Ok(known);
        }
        self.compile_aside(hash, source, tick)
    }

    fn known(&self, hash: &[u8; 32]) -> Option<Arc<Compiled<E>>> {
        lock(&self.known).get(hash).and_then(Weak::upgrade)
    }

    /// Compiles in a thread of its own, since a compiler cannot be stopped: if the host gives up, the thread ends on its own, soon,
    /// for the size of a module is bounded.
    #[cfg(not(target_arch = "wasm32"))]
    fn compile_aside(
        self: &Arc<Self>,
        hash: [u8; 32],
        source: &[u8],
        tick: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<Arc<Compiled<E>>, NoModule> {
        use std::sync::mpsc::{RecvTimeoutError, sync_channel};
        use std::time::Duration;

        /// Compilers recurse on the nesting of blocks.
        const STACK_BYTES: usize = 8 << 20;
        const BETWEEN_TICKS: Duration = Duration::from_millis(1);

        let (sender, receiver) = sync_channel(1);
        let (modules, source) = (self.clone(), source.to_vec());
        std::thread::Builder::new()
            .name("wasm-compiler".into())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                // Nobody waits for it any more if the host gave up.
                _ = sender.send(modules.compile(hash, &source));
            })
            .map_err(|error| NoModule::Wrong(format!("no thread for the compiler: {error}")))?;
        loop {
            match receiver.recv_timeout(BETWEEN_TICKS) {
                Ok(compiled) => return compiled.map_err(NoModule::Wrong),
                Err(RecvTimeoutError::Timeout) => tick().map_err(|Stop| NoModule::Stopped)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoModule::Wrong("the compiler failed on this module".into()));
                }
            }
        }
    }

    /// Where there are no threads the caller waits.
    #[cfg(target_arch = "wasm32")]
    fn compile_aside(
        self: &Arc<Self>,
        hash: [u8; 32],
        source: &[u8],
        tick: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<Arc<Compiled<E>>, NoModule> {
        let compiled = self.compile(hash, source).map_err(NoModule::Wrong)?;
        tick().map_err(|Stop| NoModule::Stopped)?;
        Ok(compiled)
    }

    fn compile(&self, hash: [u8; 32], source: &[u8]) -> Result<Arc<Compiled<E>>, String> {
        let _one_at_a_time = lock(&self.compiling);
        if let Some(known) = self.known(&hash) {
            return Ok(known);
        }
        let module =
            self.engine.compile(source).map_err(|error| format!("the module is not valid: {error}"))?;
        let outline = self.engine.outline(&module);
        interface::check(&outline)?;
        let compiled = Arc::new(Compiled { module, outline, source_bytes: source.len() });
        let mut known = lock(&self.known);
        known.retain(|_, module| module.strong_count() > 0);
        known.insert(hash, Arc::downgrade(&compiled));
        Ok(compiled)
    }
}
