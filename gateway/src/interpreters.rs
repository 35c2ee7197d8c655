//! The languages that this server has: of scripts and functions, SQL, and JSON Schema.

use std::sync::Arc;

use edgecask_core::server::scripts::ScriptEngine;
use edgecask_core::server::{REDIS_VERSION, Shared};
use edgecask_lua::Lua;
use edgecask_sql::Sqlite;

use crate::schemas::Schemas;

/// Adds them. SQL only where `has_sql`.
pub fn add(shared: &Shared, has_sql: bool) {
    let scripts = &shared.scripts;
    // A server has them added once.
    let _ = shared.schemas.set(Box::new(Schemas::default()));
    if has_sql {
        shared.sql.set_engine(Arc::new(Sqlite::default()));
    }
    scripts.add_engine(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lua::new(REDIS_VERSION)))));
    #[cfg(feature = "wasm-functions")]
    match edgecask_wasm::wasmtime_runtimes() {
        Ok(new) => scripts.add_engine(ScriptEngine::new("wasm", true, Box::new(new))),
        Err(error) => tracing::warn!(error, "functions as WebAssembly modules cannot run on this machine"),
    }
}
