//! [`Functions`]: the core's trait of an interpreter, over an engine.
//!
//! Each library of a runtime has at most one instance, made when a function of the library first runs. It stays for the next run, and
//! with it what the guest has in its memory, as Lua's libraries keep their variables. After any run that did not end well the instance
//! is thrown away, so none is ever used half-way.

use std::sync::Arc;

use edgecask_core::script::{
    CompileError, Ended, Failure, FunctionId, Host, LoadError, Run, RunLimits, Runtime, ScriptId, Writer,
};
use slab::Slab;

use crate::caller::{Buffers, Caller, End, Function, Phase};
use crate::engine::{Budget, Engine, Fault};
use crate::guest_value::NoValue;
use crate::imports::{Imports, RUNNING};
use crate::interface::{INITIALIZE, LOAD};
use crate::limits::KEPT_MEMORY_BYTES;
use crate::modules::{Compiled, Modules, NoModule};
use crate::scan::scan;

/// The place of [`INITIALIZE`] among the entries of every instance; the functions of the library follow.
const INITIALIZE_ENTRY: usize = 0;

/// The first entry after it.
const FIRST_ENTRY: usize = 1;

struct Library<E: Engine> {
    module: Arc<Compiled<E>>,
    entries: Vec<String>,
    instance: Option<Instance<E>>,
    /// Functions that have not been dropped.
    functions: usize,
}

struct Instance<E: Engine> {
    inner: E::Instance,
    /// Bytes of its memory when it was new.
    begin_bytes: usize,
}

/// The libraries of one runtime.
pub(crate) struct Functions<E: Engine> {
    modules: Arc<Modules<E>>,
    libraries: Slab<Library<E>>,
    functions: Slab<Function>,
    buffers: Buffers,
}

fn failure(message: impl Into<Vec<u8>>, is_plain: bool) -> Failure {
    Failure { message: message.into(), place: None, is_plain, is_counted: false }
}

fn plain(message: impl Into<Vec<u8>>) -> Ended {
    Ended::Failed(failure(message, true))
}

/// How a run ended whose guest did not return.
fn ended(fault: Fault, end: Option<End>) -> Ended {
    match (end, fault) {
        (Some(End::Failed { message, is_counted }), _) => {
            Ended::Failed(Failure { message, place: None, is_plain: false, is_counted })
        }
        (Some(End::Misused(text)), _) => plain(text),
        (Some(End::Killed), _) => Ended::Killed(failure("", false)),
        (Some(End::Abandoned), _) => Ended::Abandoned,
        (Some(End::OutOfSteps), _) => Ended::OutOfSteps(failure("", false)),
        (None, Fault::Trapped(text)) => plain(text),
        (None, Fault::Stopped) => plain("stopped without a reason"),
    }
}

fn budget(limits: RunLimits) -> Budget {
    Budget { memory_bytes: usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX), steps: limits.steps }
}

impl<E: Engine> Functions<E> {
    pub fn new(modules: Arc<Modules<E>>) -> Functions<E> {
        Functions { modules, libraries: Slab::new(), functions: Slab::new(), buffers: Buffers::new() }
    }

    /// Makes an instance and makes it ready.
    fn instance(
        engine: &E,
        module: &Compiled<E>,
        entries: &[String],
        limits: RunLimits,
        host: &mut dyn Host,
        buffers: &mut Buffers,
    ) -> Result<Instance<E>, Ended> {
        let budget = budget(limits);
        let mut caller = Caller::new(host, buffers, Phase::Initialize, budget.memory_bytes, limits.steps);
        let made = RUNNING.set(&mut caller, || {
            let mut inner = engine.instantiate(&module.module, entries, budget)?;
            engine.call(&mut inner, INITIALIZE_ENTRY, budget)?;
            let begin_bytes = engine.memory_bytes(&inner);
            Ok(Instance { inner, begin_bytes })
        });
        made.map_err(|fault| ended(fault, caller.end))
    }

    /// Runs the body of a library in an instance of its own, so that every instance begins alike. Returns the entries, of which the
    /// functions are known under their ids.
    fn register(
        &mut self,
        module: &Compiled<E>,
        library: usize,
        limits: RunLimits,
        host: &mut dyn Host,
    ) -> Result<Vec<String>, Ended> {
        let engine = &self.modules.engine;
        let budget = budget(limits);
        let load = [INITIALIZE.to_owned(), LOAD.to_owned()];
        let mut instance = Self::instance(engine, module, &load, limits, host, &mut self.buffers)?;
        let mut entries = vec![INITIALIZE.to_owned()];
        let mut ids = Vec::new();
        let phase = Phase::Load {
            outline: &module.outline,
            library,
            functions: &mut self.functions,
            entries: &mut entries,
            ids: &mut ids,
        };
        let mut caller = Caller::new(host, &mut self.buffers, phase, budget.memory_bytes, limits.steps);
        let outcome = RUNNING.set(&mut caller, || engine.call(&mut instance.inner, FIRST_ENTRY, budget));
        let end = caller.end.take();
        match outcome {
            Ok(()) => Ok(entries),
            Err(fault) => {
                for id in ids {
                    self.functions.remove(id);
                }
                Err(ended(fault, end))
            }
        }
    }
}

/// The bytes after the first line, which names the engine and the library.
fn module_of(source: &[u8]) -> &[u8] {
    if !source.starts_with(b"#!") {
        return source;
    }
    let line = source.iter().position(|byte| *byte == b'\n');
    line.and_then(|end| source.get(end + 1..)).unwrap_or_default()
}

impl<E: Engine> Runtime for Functions<E> {
    fn compile(
        &mut self,
        _source: &[u8],
        _limits: RunLimits,
        _host: &mut dyn Host,
    ) -> Result<ScriptId, CompileError> {
        Err(CompileError::Syntax(
            b"modules of WebAssembly are loaded as libraries, not run as scripts".to_vec(),
        ))
    }

    fn drop_script(&mut self, _script: ScriptId) {}

    fn run(
        &mut self,
        _script: ScriptId,
        _run: &Run<'_>,
        _host: &mut dyn Host,
        _value: &mut Writer,
    ) -> Result<(), Ended> {
        Err(plain("there is no such script"))
    }

    fn load_library(
        &mut self,
        source: &[u8],
        limits: RunLimits,
        host: &mut dyn Host,
    ) -> Result<(), LoadError> {
        let wrong = |text: String| LoadError::Compile(CompileError::Syntax(text.into_bytes()));
        let source = module_of(source);
        scan(source, limits.memory_bytes).map_err(wrong)?;
        let mut caller = Caller::new(host, &mut self.buffers, Phase::Initialize, 0, limits.steps);
        let compiled = self.modules.get(source, &mut || Imports::tick(&mut caller, 0));
        let module = match compiled {
            Ok(module) => module,
            Err(NoModule::Wrong(text)) => return Err(wrong(text)),
            Err(NoModule::Stopped) => {
                return Err(LoadError::Compile(CompileError::Stopped(ended(Fault::Stopped, caller.end))));
            }
        };
        let library = self.libraries.vacant_key();
        let entries = self.register(&module, library, limits, host).map_err(LoadError::Run)?;
        self.buffers.shrink();
        let functions = entries.len() - FIRST_ENTRY;
        if functions > 0 {
            self.libraries.insert(Library { module, entries, instance: None, functions });
        }
        Ok(())
    }

    fn drop_function(&mut self, function: FunctionId) {
        let Some(dropped) = self.functions.try_remove(function.0 as usize) else { return };
        if let Some(library) = self.libraries.get_mut(dropped.library) {
            library.functions -= 1;
            if library.functions == 0 {
                self.libraries.remove(dropped.library);
            }
        }
    }

    fn call_function(
        &mut self,
        function: FunctionId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended> {
        let Some(Function { library, entry }) = self.functions.get(function.0 as usize) else {
            return Err(plain("there is no such function"));
        };
        let Some(library) = self.libraries.get_mut(*library) else {
            return Err(plain("there is no such library"));
        };
        let (engine, entry) = (&self.modules.engine, *entry);
        // It is back in its place only after a run that ended well.
        let mut instance = match library.instance.take() {
            Some(instance) => instance,
            None => Self::instance(
                engine,
                &library.module,
                &library.entries,
                run.limits,
                host,
                &mut self.buffers,
            )?,
        };
        let budget = budget(run.limits);
        let mut caller =
            Caller::new(host, &mut self.buffers, Phase::Run(run), budget.memory_bytes, run.limits.steps);
        let outcome = RUNNING.set(&mut caller, || engine.call(&mut instance.inner, entry, budget));
        let outcome = match outcome {
            Ok(()) => {
                let bytes = engine.memory_bytes(&instance.inner);
                if bytes <= KEPT_MEMORY_BYTES.max(instance.begin_bytes) {
                    library.instance = Some(instance);
                }
                match caller.finish(value) {
                    Ok(()) => Ok(()),
                    Err(NoValue::Wrong(text)) => Err(plain(text)),
                    Err(NoValue::Stopped) => Err(ended(Fault::Stopped, caller.end)),
                }
            }
            Err(fault) => Err(ended(fault, caller.end)),
        };
        self.buffers.shrink();
        outcome
    }

    /// There is none: what a guest no longer uses is its own affair.
    fn collect_garbage(&mut self) -> bool {
        false
    }

    fn memory_bytes(&self) -> u64 {
        let engine = &self.modules.engine;
        let bytes_of = |library: &Library<E>| {
            let memory = library.instance.as_ref().map_or(0, |instance| engine.memory_bytes(&instance.inner));
            (memory + engine.module_bytes(library.module.source_bytes)) as u64
        };
        self.libraries.iter().map(|(_, library)| bytes_of(library)).sum()
    }
}
