//! The engine of the edge worker and the browser: [wasmi](https://docs.rs/wasmi), which interprets modules; there a program may not make
//! code at run time.
//!
//! A run is stopped through fuel, which is what its instructions cost: the store gets a little at a time, and the host is asked when it
//! is used up.

use ::wasmi::{
    Caller, Config, CustomFuelCosts, Engine, Error, Extern, ExternType, FuncType, Linker, Memory, Module,
    ResourceLimiter, Store, TypedFunc, TypedResumableCall, ValType,
    errors::{ErrorKind, HostError},
};
use edgecask_core::script::Runtime;
use wasmi_core::LimiterError;

use crate::engine::{self, Budget, Fault, trap_text};
use crate::imports::{Imports, RUNNING, Stop, define_imports};
use crate::interface::{Item, MEMORY, Outline, Signature, Type};
use crate::limits::{CALL_DEPTH_MAX, STACK_BYTES, TABLE_ELEMENTS_MAX, TABLES_MAX};
use crate::modules::Modules;
use crate::runtime::Functions;

/// Fuel between two questions to the host, some ten microseconds of a machine and a millisecond of WebAssembly inside WebAssembly.
const FUEL_BETWEEN_TICKS: u64 = 10_000;

/// A function is translated when it is first called. That costs no fuel: wasmi 2.0 cannot go on with a run whose fuel ends there, and
/// the size of a function is bounded.
const FUEL_COSTS: CustomFuelCosts =
    CustomFuelCosts { bytes_copied_per_fuel: 64, fuel_per_bytes_translated: 0, fuel_per_bytes_validated: 0 };

/// Bytes of the interpreter's stack that stay from run to run.
const STACK_BYTES_MIN: usize = 16 << 10;

/// Bytes of memory that a module takes for each byte of its source, at most: its code as wasmi executes it, and what describes it.
const BYTES_PER_SOURCE_BYTE: usize = 4;

/// Makes runtimes of the engine `wasm` where no code may be made at run time. All share their modules. Calling the result is cheap.
pub fn wasmi_runtimes() -> impl Fn() -> Box<dyn Runtime> + Clone + Send + Sync + 'static {
    let modules = Modules::new(Wasmi::new());
    move || Box::new(Functions::new(modules.clone())) as Box<dyn Runtime>
}

/// What an instance's imports and limits need beside it.
struct State {
    memory: Option<Memory>,
    memory_bytes_max: usize,
    was_growth_denied: bool,
}

impl ResourceLimiter for State {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool, LimiterError> {
        let fits = desired <= self.memory_bytes_max;
        self.was_growth_denied |= !fits;
        Ok(fits)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool, LimiterError> {
        Ok(desired <= TABLE_ELEMENTS_MAX)
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        TABLES_MAX as usize
    }

    fn memories(&self) -> usize {
        1
    }
}

impl HostError for Stop {}

/// Makes an engine of wasmi's for each module. One for all would never give back what a module takes that is gone: its code and its
/// types stay in their engine.
struct Wasmi {
    config: Config,
}

/// A module, and its imports in its own engine.
struct Linked {
    module: Module,
    linker: Linker<State>,
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
) -> Result<R, Error> {
    // While an instance is made its memory is not known yet.
    let memory = caller.data().memory.or_else(|| caller.get_export(MEMORY).and_then(Extern::into_memory));
    let memory = match memory {
        Some(memory) => memory.data_mut(&mut caller),
        None => &mut [],
    };
    RUNNING.with(|run| action(run, memory)).map_err(Error::host)
}

impl Wasmi {
    fn new() -> Wasmi {
        let mut config = Config::default();
        config
            .consume_fuel(true)
            .fuel_cost(FUEL_COSTS)
            .set_max_stack_height(STACK_BYTES)
            .set_min_stack_height(STACK_BYTES_MIN)
            .set_max_recursion_depth(CALL_DEPTH_MAX)
            .set_max_cached_stacks(1)
            .ignore_custom_sections(true)
            // What both engines offer, and compilers of today use.
            .wasm_bulk_memory(true)
            .wasm_multi_value(true)
            .wasm_reference_types(true)
            .wasm_extended_const(true)
            .wasm_tail_call(false)
            .wasm_multi_memory(false);
        Wasmi { config }
    }

    fn link(&self, module: &[u8]) -> Result<Linked, Error> {
        let engine = Engine::new(&self.config);
        let module = Module::new(&engine, module)?;
        let mut linker = Linker::new(&engine);
        define_imports!(linker, Caller<'_, State>, with);
        Ok(Linked { module, linker })
    }
}

fn fault(error: &Error, state: &State) -> Fault {
    match error.kind() {
        ErrorKind::Host(_) => Fault::Stopped,
        _ => Fault::Trapped(trap_text(&error.to_string(), state.was_growth_denied)),
    }
}

fn value_type(kind: &ValType) -> Type {
    match kind {
        ValType::I32 => Type::I32,
        ValType::I64 => Type::I64,
        _ => Type::Other,
    }
}

fn signature(function: &FuncType) -> Signature {
    Signature {
        parameters: function.params().iter().map(value_type).collect(),
        results: function.results().iter().map(value_type).collect(),
    }
}

fn item(kind: &ExternType) -> Item {
    match kind {
        ExternType::Func(function) => Item::Function(signature(function)),
        ExternType::Memory(_) => Item::Memory,
        ExternType::Table(_) => Item::Table,
        ExternType::Global(_) => Item::Global,
    }
}

impl engine::Engine for Wasmi {
    type Module = Linked;
    type Instance = Instance;

    fn compile(&self, module: &[u8]) -> Result<Linked, String> {
        self.link(module).map_err(|error| error.to_string())
    }

    fn outline(&self, Linked { module, .. }: &Linked) -> Outline {
        let import = |import: ::wasmi::ImportType<'_>| {
            (import.module().to_owned(), import.name().to_owned(), item(import.ty()))
        };
        let export = |export: ::wasmi::ExportType<'_>| (export.name().to_owned(), item(export.ty()));
        Outline {
            imports: module.imports().map(import).collect(),
            exports: module.exports().map(export).collect(),
        }
    }

    fn module_bytes(&self, source_bytes: usize) -> usize {
        source_bytes.saturating_mul(BYTES_PER_SOURCE_BYTE)
    }

    fn instantiate(
        &self,
        Linked { module, linker }: &Linked,
        entries: &[String],
        budget: Budget,
    ) -> Result<Instance, Fault> {
        let state = State { memory: None, memory_bytes_max: budget.memory_bytes, was_growth_denied: false };
        let mut store = Store::new(module.engine(), state);
        store.limiter(|state| state);
        let instance =
            linker.instantiate_and_start(&mut store, module).map_err(|error| fault(&error, store.data()))?;
        store.data_mut().memory = instance.get_memory(&store, MEMORY);
        let entries = entries.iter().map(|name| instance.get_typed_func(&store, name).ok()).collect();
        Ok(Instance { store, entries })
    }

    fn call(&self, instance: &mut Instance, entry: usize, budget: Budget) -> Result<(), Fault> {
        let Instance { store, entries } = instance;
        let Some(Some(function)) = entries.get(entry) else { return Ok(()) };
        let state = store.data_mut();
        state.memory_bytes_max = budget.memory_bytes;
        state.was_growth_denied = false;
        let mut fuel = budget.steps.map_or(FUEL_BETWEEN_TICKS, |steps| steps.min(FUEL_BETWEEN_TICKS));
        let outcome = give(store, fuel).and_then(|()| function.call_resumable(&mut *store, ()));
        let mut call = outcome.map_err(|error| fault(&error, store.data()))?;
        loop {
            match call {
                TypedResumableCall::Finished(()) => return Ok(()),
                TypedResumableCall::HostTrap(stopped) => {
                    return Err(fault(stopped.host_error(), store.data()));
                }
                TypedResumableCall::OutOfFuel(run) => {
                    RUNNING.with(|imports| imports.tick(fuel)).map_err(|Stop| Fault::Stopped)?;
                    // An instruction that fills or copies much memory needs all its fuel at once.
                    fuel = run.required_fuel().max(FUEL_BETWEEN_TICKS);
                    let outcome = give(store, fuel).and_then(|()| run.resume(&mut *store));
                    call = outcome.map_err(|error| fault(&error, store.data()))?;
                }
            }
        }
    }

    fn memory_bytes(&self, instance: &Instance) -> usize {
        instance.store.data().memory.map_or(0, |memory| memory.data_size(&instance.store))
    }
}

/// Sets the fuel of a store.
fn give(store: &mut Store<State>, fuel: u64) -> Result<(), Error> {
    store.set_fuel(fuel)
}
