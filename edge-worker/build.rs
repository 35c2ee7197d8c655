//! Bounds the instance's memory below the platform's bound, so that an allocation beyond it fails inside the instance.

#[path = "src/limits.rs"]
#[allow(dead_code)]
mod limits;

fn main() {
    println!("cargo::rerun-if-changed=src/limits.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=--max-memory={}", limits::MEMORY_MAX_BYTES);
    }
}
