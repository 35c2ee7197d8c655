//! The engine of the gateway: [wasmtime](https://wasmtime.dev), which compiles modules to machine code.
//!
//! A run is stopped through the epoch: the [ticker](crate::ticker) advances it every millisecond, and compiled code then asks the host.
//! Precompiled code is never read: it cannot be validated, and reading it is `unsafe`.

use std::sync::Arc;

use ::wasmtime::{
    AsContextMut, Caller, Config, Engine, Error, Extern, ExternType, FuncType, InstancePre, Linker, Memory,
    Module, ResourceLimiter, Result, Store, Trap, TypedFunc, UpdateDeadline, ValType,
};
use edgecask_core::script::Runtime;

use crate::engine::{self, Budget, Fault, trap_text};
use crate::imports::{Imports, RUNNING, Stop, define_imports};
use crate::interface::{Item, MEMORY, Outline, Signature, Type};
use crate::limits::{STACK_BYTES, TABLE_ELEMENTS_MAX};
use crate::modules::Modules;
use crate::runtime::Functions;
use crate::ticker::Ticker;

/// A millisecond in steps of about a nanosecond.
const STEPS_PER_EPOCH: u64 = 1_000_000;

/// Makes runtimes of the engine `wasm` for the gateway. All share one compiler, one thread that watches over deadlines, and their
/// compiled modules. Calling the result is cheap. Fails if this machine lacks what the compiler needs, with its text.
pub fn wasmtime_runtimes() -> Result<impl Fn() -> Box<dyn Runtime> + Clone + Send + Sync + 'static, String> {
    let modules = Modules::new(Wasmtime::new().map_err(|error| format!("{error:#}"))?);
    Ok(move || Box::new(Functions::new(modules.clone())) as Box<dyn Runtime>)
}

/// What an instance's imports and limits need beside it.
struct State {
    memory: Option<Memory>,
    memory_bytes_max: usize,
    was_growth_denied: bool,
}

impl ResourceLimiter for State {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let fits = desired <= self.memory_bytes_max;
        self.was_growth_denied |= !fits;
        Ok(fits)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= TABLE_ELEMENTS_MAX)
    }
}

struct Wasmtime {
    engine: Engine,
    linker: Linker<State>,
    ticker: Arc<Ticker>,
}

/// An instance, in a store of its own.
struct Instance {
    store: Store<State>,
    entries: Vec<Option<TypedFunc<(), ()>>>,
}

/// Runs an import: with the run that is going on, and the memory of the guest.
fn with<R>(
    mut caller: Caller<'_, State>,
    action: impl FnOnce(&mut (dyn Imports + '_), &mut [u8]) -> Result<R, Stop>,
) -> Result<R> {
    // While an instance is made its memory is not known yet.
    let memory = caller.data().memory.or_else(|| caller.get_export(MEMORY).and_then(Extern::into_memory));
    let memory = match memory {
        Some(memory) => memory.data_mut(&mut caller),
        None => &mut [],
    };
    RUNNING.with(|run| action(run, memory)).map_err(Error::new)
}

impl Wasmtime {
    fn new() -> Result<Wasmtime> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .max_wasm_stack(STACK_BYTES)
            .wasm_backtrace_max_frames(None)
            // What both engines offer, and compilers of today use.
            .wasm_bulk_memory(true)
            .wasm_multi_value(true)
            .wasm_extended_const(true)
            .wasm_simd(false)
            .wasm_relaxed_simd(false)
            .wasm_tail_call(false)
            .wasm_multi_memory(false)
            .wasm_memory64(false);
        let engine = Engine::new(&config)?;
        let mut linker = Linker::new(&engine);
        define_imports!(linker, Caller<'_, State>, with);
        let ticker = Arc::new(Ticker::start(engine.weak())?);
        Ok(Wasmtime { engine, linker, ticker })
    }

    fn store(&self, budget: Budget) -> Store<State> {
        let state = State { memory: None, memory_bytes_max: budget.memory_bytes, was_growth_denied: false };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| state);
        let ticker = self.ticker.clone();
        store.epoch_deadline_callback(move |_| {
            ticker.touch();
            RUNNING.with(|run| run.tick(STEPS_PER_EPOCH)).map_err(Error::new)?;
            Ok(UpdateDeadline::Continue(1))
        });
        store
    }

    fn begin(&self, store: &mut Store<State>) {
        self.ticker.touch();
        store.set_epoch_deadline(1);
    }
}

fn fault(error: &Error, state: &State) -> Fault {
    if error.is::<Stop>() {
        return Fault::Stopped;
    }
    let text = match error.downcast_ref::<Trap>() {
        Some(trap) => trap.to_string(),
        None => format!("{error:#}"),
    };
    Fault::Trapped(trap_text(&text, state.was_growth_denied))
}

fn value_type(kind: ValType) -> Type {
    match kind {
        ValType::I32 => Type::I32,
        ValType::I64 => Type::I64,
        _ => Type::Other,
    }
}

fn signature(function: &FuncType) -> Signature {
    Signature {
        parameters: function.params().map(value_type).collect(),
        results: function.results().map(value_type).collect(),
    }
}

fn item(kind: &ExternType) -> Item {
    match kind {
        ExternType::Func(function) => Item::Function(signature(function)),
        ExternType::Memory(_) => Item::Memory,
        ExternType::Table(_) => Item::Table,
        ExternType::Global(_) => Item::Global,
        ExternType::Tag(_) => Item::Other,
    }
}

impl engine::Engine for Wasmtime {
    type Module = (Module, Option<InstancePre<State>>);
    type Instance = Instance;

    fn compile(&self, module: &[u8]) -> Result<Self::Module, String> {
        let module = Module::from_binary(&self.engine, module).map_err(|error| format!("{error:#}"))?;
        // Without one the check of the outline finds out what is wrong.
        let linked = self.linker.instantiate_pre(&module).ok();
        Ok((module, linked))
    }

    fn outline(&self, (module, _): &Self::Module) -> Outline {
        let import = |import: ::wasmtime::ImportType<'_>| {
            (import.module().to_owned(), import.name().to_owned(), item(&import.ty()))
        };
        let export = |export: ::wasmtime::ExportType<'_>| (export.name().to_owned(), item(&export.ty()));
        Outline {
            imports: module.imports().map(import).collect(),
            exports: module.exports().map(export).collect(),
        }
    }

    /// Machine code takes about as much again as the module.
    fn module_bytes(&self, source_bytes: usize) -> usize {
        source_bytes.saturating_mul(2)
    }

    fn instantiate(
        &self,
        (_, linked): &Self::Module,
        entries: &[String],
        budget: Budget,
    ) -> Result<Instance, Fault> {
        let Some(linked) = linked else {
            return Err(Fault::Trapped("the module's imports are missing".into()));
        };
        let mut store = self.store(budget);
        self.begin(&mut store);
        let instance = linked.instantiate(&mut store).map_err(|error| fault(&error, store.data()))?;
        store.data_mut().memory = instance.get_memory(&mut store, MEMORY);
        let entries = entries.iter().map(|name| instance.get_typed_func(&mut store, name).ok()).collect();
        Ok(Instance { store, entries })
    }

    fn call(&self, instance: &mut Instance, entry: usize, budget: Budget) -> Result<(), Fault> {
        let Instance { store, entries } = instance;
        let Some(Some(function)) = entries.get(entry) else { return Ok(()) };
        let state = store.data_mut();
        state.memory_bytes_max = budget.memory_bytes;
        state.was_growth_denied = false;
        self.begin(store);
        function.call(store.as_context_mut(), ()).map_err(|error| fault(&error, store.data()))
    }

    fn memory_bytes(&self, instance: &Instance) -> usize {
        instance.store.data().memory.map_or(0, |memory| memory.data_size(&instance.store))
    }
}
