//! The languages of scripts and functions that this server has.

use edgecask_core::server::REDIS_VERSION;
use edgecask_core::server::scripts::{ScriptEngine, Scripts};
use edgecask_lua::Lua;

/// Adds them.
pub fn add(scripts: &Scripts) {
    scripts.add_engine(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lua::new(REDIS_VERSION)))));
    #[cfg(feature = "wasm-functions")]
    match edgecask_wasm::wasmtime_runtimes() {
        Ok(new) => scripts.add_engine(ScriptEngine::new("wasm", true, Box::new(new))),
        Err(error) => tracing::warn!(error, "functions as WebAssembly modules cannot run on this machine"),
    }
}
