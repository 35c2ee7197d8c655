//! For WebAssembly SQLite needs a C library: the functions of mathematics, strings and calendars of wasi-libc (`make wasm-tools` installs
//! it). How SQLite itself is compiled is said in `.cargo/config.toml`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-search=native=/usr/lib/wasm32-wasi");
        // Not bundled: the archive stays outside of the crate's own, and only what is used is linked.
        println!("cargo::rustc-link-lib=static:-bundle=c");
    }
}
