//! The languages of scripts and functions that an object has, and what outlives its sleep: functions, triggers and crons.

use edgecask_core::bitcask::Bitcask;
use edgecask_core::command::script::{crons, libraries, triggers};
use edgecask_core::command::{Unreadable, search};
use edgecask_core::server::scripts::ScriptEngine;
use edgecask_core::server::{REDIS_VERSION, Server};
use edgecask_lua::Lua;

use crate::host::{Host, LogLevel};
use crate::limits::INTERPRETER_KEPT_BYTES;
use crate::storage::RowStorage;

/// Adds the languages, and takes over the libraries of functions that are in the store, and what calls them.
///
/// # Errors
/// The store cannot be read. What this version cannot use stays in the store and is named on the console.
pub(super) fn open<H: Host>(
    server: &Server<Bitcask>,
    storage: &RowStorage<H>,
    now_ms: u64,
) -> Result<(), String> {
    let lua = ScriptEngine::new("lua", false, Box::new(|| Box::new(Lua::new(REDIS_VERSION))));
    server.shared.scripts.add_engine(lua.keeping(INTERPRETER_KEPT_BYTES));
    #[cfg(feature = "wasm-functions")]
    {
        let wasm = ScriptEngine::new("wasm", true, Box::new(edgecask_wasm::wasmi_runtimes()));
        server.shared.scripts.add_engine(wasm.keeping(INTERPRETER_KEPT_BYTES));
    }
    let unusable = libraries::restore(server, now_ms).map_err(|error| error.to_string())?;
    for library in unusable {
        let name = String::from_utf8_lossy(&library.name);
        let reason = library.reason;
        let text = format!("the library of functions {name} cannot be used and stays in the store: {reason}");
        storage.write_log(LogLevel::Warning, &text);
    }
    let triggers = triggers::restore(server, now_ms).map_err(|error| error.to_string())?;
    let crons = crons::restore(server, now_ms).map_err(|error| error.to_string())?;
    let indexes = search::open(server, now_ms).map_err(|error| error.to_string())?;
    for Unreadable { kind, name } in triggers.into_iter().chain(crons).chain(indexes) {
        let name = String::from_utf8_lossy(&name);
        let text = format!(
            "the {kind} {name} does nothing, since this version cannot read it; it stays in the store"
        );
        storage.write_log(LogLevel::Warning, &text);
    }
    Ok(())
}
