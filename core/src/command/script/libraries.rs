//! The libraries of functions: in the store, where they last, and in interpreters, where they run.
//!
//! In the store they are a hash of the database [`CATALOG`]: its fields are the names of libraries, its values their sources.

use std::sync::Arc;

use super::shebang::line_of_library;
use crate::command::args::quoted;
use crate::command::definitions::{Definition, Definitions};
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{Engine, EngineError};
use crate::limits::LIBRARY_LOAD_MAX_NS;
use crate::resp::Protocol;
use crate::script::{
    Answer, CompileError, Ended, FunctionId, Host, Level, LoadError, NewFunction, Tick, Writer,
};
use crate::server::outbox::Action;
use crate::server::scripts::{Change, Function, Interpreter, Library, LibrarySet, Registered};
use crate::server::{Server, Shared};

type Result<T> = std::result::Result<T, CommandError>;

/// The libraries of a store.
pub(in crate::command) const LIBRARIES: Definitions = Definitions::of("library", b"functions");

/// Redis' error where a function that is named is not there.
pub(super) const FUNCTION_NOT_FOUND: CommandError = CommandError::text("ERR Function not found");

/// Redis' text for names of libraries, and of functions.
const BAD_NAME: &str = "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The libraries as the running transaction sees them: those of the server, with the changes that the transaction has made.
pub(in crate::command) fn present(ctx: &Context<'_, '_>) -> Arc<LibrarySet> {
    let mut set = ctx.shared.scripts.libraries.present();
    for change in ctx.outbox.changes_of_libraries() {
        Arc::make_mut(&mut set).apply(change);
    }
    set
}

/// Reads a library from its source and has it registered by an interpreter, to see whether that works.
///
/// # Errors
/// Redis' texts for what is wrong with it.
pub(super) fn build(shared: &Shared, source: &[u8]) -> Result<Library> {
    let line = line_of_library(source)?;
    let name = line.name.ok_or(CommandError::text("ERR Library name was not given"))?;
    if !is_name(&name) {
        return Err(CommandError::owned(format!("ERR {BAD_NAME}")));
    }
    let engine = shared.scripts.engine(&line.engine).ok_or_else(|| {
        let shown = quoted(&line.engine, 128);
        CommandError::owned(format!("ERR Engine '{shown}' not found"))
    })?;
    let number = shared.scripts.libraries.next_number();
    let mut lent = engine.take();
    let registered = register(shared, source, &mut lent);
    if let Ok(registered) = &registered {
        let ids = registered.iter().map(|(function, id)| (function.name.clone(), *id)).collect();
        lent.libraries.insert(number, ids);
    }
    engine.give_back(lent);
    let functions: Vec<Function> = registered?.into_iter().map(|(function, _)| function).collect();
    if functions.is_empty() {
        return Err(CommandError::text("ERR No functions registered"));
    }
    Ok(Library { number, name: name.into(), engine, source: source.into(), functions })
}

/// The names of functions that another library than the one of this name has already.
pub(super) fn taken<'l>(set: &LibrarySet, library: &'l Library) -> Option<&'l Function> {
    library
        .functions
        .iter()
        .find(|function| set.function(&function.name).is_some_and(|(other, _)| other.name != library.name))
}

/// The function in this interpreter, which loads the library if it does not know it.
pub(super) fn prepare(
    shared: &Shared,
    library: &Library,
    function: &Function,
    lent: &mut Interpreter,
) -> Result<FunctionId> {
    let id_in = |ids: &Registered| ids.iter().find(|(name, _)| *name == function.name).map(|(_, id)| *id);
    let found = match lent.libraries.get(&library.number) {
        Some(ids) => id_in(ids),
        None => {
            let registered = register(shared, &library.source, lent)?;
            let ids = registered.into_iter().map(|(function, id)| (function.name, id)).collect();
            let found = id_in(&ids);
            lent.libraries.insert(library.number, ids);
            found
        }
    };
    // A library may register different functions from time to time, if it depends on a random number.
    found.ok_or(FUNCTION_NOT_FOUND)
}

/// Has an interpreter forget libraries, by their numbers.
pub(super) fn forget(lent: &mut Interpreter, is_meant: impl Fn(u64) -> bool) {
    let runtime = &mut lent.runtime;
    lent.libraries.retain(|number, functions| {
        let goes = is_meant(*number);
        if goes {
            functions.iter().for_each(|(_, id)| runtime.drop_function(*id));
        }
        !goes
    });
}

/// Has an interpreter load a library; the functions that it registered.
fn register(shared: &Shared, source: &[u8], lent: &mut Interpreter) -> Result<Vec<(Function, FunctionId)>> {
    let limits = shared.settings.bounds().script_limits();
    let mut host = LoadHost { shared, began_ns: None, is_late: false, functions: Vec::new() };
    let loaded = lent.runtime.load_library(source, limits, &mut host);
    let LoadHost { functions, is_late, .. } = host;
    let Err(error) = loaded else { return Ok(functions) };
    let message = match error {
        LoadError::Compile(CompileError::Syntax(text)) => {
            let shown = String::from_utf8_lossy(&text).into_owned();
            return Err(CommandError::owned(format!("ERR Error compiling function: {shown}")));
        }
        LoadError::Compile(CompileError::Stopped(ended)) | LoadError::Run(ended) => match ended {
            Ended::Failed(failure) => String::from_utf8_lossy(&failure.message).into_owned(),
            Ended::Killed(_) if is_late => "ERR FUNCTION LOAD timeout".to_owned(),
            Ended::Killed(_) | Ended::Abandoned => "ERR the library was ended from outside".to_owned(),
            Ended::OutOfSteps(_) => {
                format!("ERR FUNCTION LOAD takes more steps than it may take here ({})", steps_max(shared))
            }
        },
    };
    Err(CommandError::owned(format!("ERR Error registering functions: {message}")))
}

/// How many steps a run may take in a home that counts them.
pub(super) fn steps_max(shared: &Shared) -> u64 {
    shared.settings.bounds().scripts.steps.unwrap_or_default()
}

/// What a library reaches while it is loaded: only that it registers functions.
struct LoadHost<'s> {
    shared: &'s Shared,
    began_ns: Option<u64>,
    is_late: bool,
    functions: Vec<(Function, FunctionId)>,
}

impl Host for LoadHost<'_> {
    fn call(&mut self, _: &[&[u8]], reply: &mut Writer) -> Answer {
        reply.text(b"ERR commands cannot be called while a library is loaded");
        Answer::Error
    }

    fn may_call(&mut self, _: &[&[u8]]) -> Option<bool> {
        None
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        self.shared.host.log(level, text);
    }

    fn set_protocol(&mut self, _: Protocol) {}

    fn register_function(&mut self, function: &NewFunction<'_>) -> std::result::Result<(), String> {
        if !is_name(function.name) {
            return Err(BAD_NAME.to_owned());
        }
        if self.functions.iter().any(|(known, _)| *known.name == *function.name) {
            return Err("Function already exists in the library".to_owned());
        }
        let registered = Function {
            name: function.name.into(),
            description: function.description.map(Into::into),
            flags: function.flags,
        };
        self.functions.push((registered, function.id));
        Ok(())
    }

    fn tick(&mut self, _steps: u64) -> Tick {
        let now_ns = self.shared.host.monotonic_ns();
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        self.is_late = now_ns.saturating_sub(began_ns) >= LIBRARY_LOAD_MAX_NS;
        if self.is_late { Tick::Kill } else { Tick::Continue }
    }

    fn clock_seconds(&mut self) -> f64 {
        0.0
    }
}

/// Makes a library part of the transaction.
pub(super) fn add(ctx: &mut Context<'_, '_>, library: Arc<Library>) -> Outcome {
    LIBRARIES.set(ctx.txn, &[&library.name, &library.source])?;
    ctx.outbox.push(Action::Libraries(Change::Set(library)));
    Ok(())
}

/// Removes a library, which is this change.
pub(super) fn remove(ctx: &mut Context<'_, '_>, name: &[u8], change: Change) -> Outcome {
    LIBRARIES.remove(ctx.txn, &[name])?;
    ctx.outbox.push(Action::Libraries(change));
    Ok(())
}

pub(super) fn exists(name: &[u8]) -> CommandError {
    CommandError::owned(format!("ERR Library '{}' already exists", quoted(name, 128)))
}

pub(super) fn function_exists(name: &[u8]) -> CommandError {
    CommandError::owned(format!("ERR Function {} already exists", quoted(name, 128)))
}

/// Removes all libraries.
pub(super) fn clear(ctx: &mut Context<'_, '_>) -> Outcome {
    LIBRARIES.clear(ctx.txn)?;
    ctx.outbox.push(Action::Libraries(Change::Flush));
    Ok(())
}

/// A library of the store that cannot be used. It stays in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// Its name.
    pub name: Vec<u8>,
    /// Why.
    pub reason: String,
}

/// Takes the libraries over that are in a store which was just opened. Those that this home or this version cannot load stay in
/// the store, and are told.
///
/// # Errors
/// The engine's.
pub fn restore<E: Engine>(
    server: &Server<E>,
    now_ms: u64,
) -> std::result::Result<Vec<Unusable>, EngineError> {
    let mut unusable = Vec::new();
    for (name, source) in LIBRARIES.read(&server.engine, now_ms)? {
        let built = build(&server.shared, &source).and_then(|library| {
            match taken(&server.shared.scripts.libraries.present(), &library) {
                Some(function) => Err(function_exists(&function.name)),
                None => Ok(library),
            }
        });
        match built {
            Ok(library) => {
                server.shared.scripts.libraries.apply(&Change::Set(Arc::new(library)));
            }
            Err(error) => unusable.push(Unusable { name, reason: error.reply_text().into_owned() }),
        }
    }
    Ok(unusable)
}

/// Takes over what other processes have made of the libraries. Those that cannot be used here stay in the store.
pub(in crate::command) fn take_over(shared: &Shared, stored: &[Definition]) {
    let libraries = &shared.scripts.libraries;
    let present = libraries.present();
    for library in present.libraries() {
        if !stored.iter().any(|(name, _)| **name == *library.name) {
            libraries.apply(&Change::Delete(library.name.clone()));
        }
    }
    for (name, source) in stored {
        let is_present = present.library(name).is_some_and(|library| *library.source == **source);
        if !is_present && let Ok(library) = build(shared, source) {
            libraries.apply(&Change::Set(Arc::new(library)));
        }
    }
}
