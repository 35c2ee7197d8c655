//! The languages that this server has: of scripts and functions, and SQL.

use std::sync::Arc;

use edgecask_core::server::REDIS_VERSION;
use edgecask_core::server::scripts::{ScriptEngine, Scripts};
use edgecask_core::server::sql::Databases;
use edgecask_lua::Lua;
use edgecask_sql::Sqlite;

/// Adds them. SQL only where `has_sql`.
pub fn add(scripts: &Scripts, databases: &Databases, has_sql: bool) {
    if has_sql {
        databases.set_engine(Arc::new(Sqlite::default()));
    }
    scripts.add_engine(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lua::new(REDIS_VERSION)))));
    #[cfg(feature = "wasm-functions")]
    match edgecask_wasm::wasmtime_runtimes() {
        Ok(new) => scripts.add_engine(ScriptEngine::new("wasm", true, Box::new(new))),
        Err(error) => tracing::warn!(error, "functions as WebAssembly modules cannot run on this machine"),
    }
}
