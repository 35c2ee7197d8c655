//! Builds Lua 5.1.5: takes its sources out of the crate `lua-src`, changes them by `patches/`, and compiles them with the shim in
//! `csrc/`. For WebAssembly it needs clang and the headers and C library of wasi-libc (`make wasm-tools` installs them).

mod patch;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of `lua-src` in Cargo.toml; the patches fit exactly its sources.
const LUA_SRC: &str = "551.1.0";

/// What of Lua is compiled: nothing that opens files, asks the environment, loads libraries, looks into functions or reads
/// bytecode.
const LUA_FILES: &str = "lapi lcode ldebug ldo ldump lfunc lgc llex lmem lobject lopcodes lparser lstate lstring ltable ltm lvm lzio \
                         lauxlib lbaselib lmathlib lstrlib ltablib";

const SHIM_FILES: [&str; 5] = ["state", "flat", "redis", "libraries", "bit"];

/// The newest clang of Debian 12, whose plain `clang` is too old for some flags of later versions.
const WASM_COMPILER: &str = "clang-19";
const WASM_ARCHIVER: &str = "llvm-ar-19";

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for watched in ["build", "csrc", "patches"] {
        println!("cargo::rerun-if-changed={}", here.join(watched).display());
    }
    let lua = out.join("lua");
    copy_sources(&lua_sources(&here, &out), &lua);
    patch::apply_all(&here.join("patches"), &lua);
    let is_wasm = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    compile(&here.join("csrc"), &lua, is_wasm);
}

/// The folder of Lua 5.1 in the crate `lua-src`, which has no interface to say it. cargo is asked through a package that has no
/// other dependency: so nothing is needed that this build has not downloaded already.
fn lua_sources(here: &Path, out: &Path) -> PathBuf {
    let asking = out.join("asking");
    fs::create_dir_all(asking.join("src")).expect("the output folder is writable");
    let manifest = asking.join("Cargo.toml");
    let name = "edgecask-lua-sources";
    let text = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[dependencies]\nlua-src = \"={LUA_SRC}\"\n[workspace]\n"
    );
    fs::write(&manifest, text).expect("the output folder is writable");
    fs::write(asking.join("src/lib.rs"), "").expect("the output folder is writable");
    let cargo = env::var_os("CARGO").expect("cargo sets it");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(manifest)
        .current_dir(here)
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("cargo metadata lists packages");
    let package =
        packages.iter().find(|package| package["name"] == "lua-src").expect("lua-src is a dependency");
    let manifest = package["manifest_path"].as_str().expect("a package has a manifest");
    Path::new(manifest).parent().expect("a manifest lies in a folder").join("lua-5.1.5")
}

fn copy_sources(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).expect("the old sources can be removed");
    }
    fs::create_dir_all(to).expect("the output folder is writable");
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("the folder is readable");
        fs::write(to.join(entry.file_name()), fs::read(entry.path()).expect("a source is readable"))
            .expect("the output folder is writable");
    }
}

fn compile(shim: &Path, lua: &Path, is_wasm: bool) {
    let mut shim_build = configured(lua, is_wasm);
    shim_build
        .include(shim)
        .warnings(true)
        .extra_warnings(true)
        .files(SHIM_FILES.map(|name| shim.join(name).with_extension("c")));
    let mut lua_build = configured(lua, is_wasm);
    lua_build
        .warnings(false)
        .files(LUA_FILES.split_whitespace().map(|name| lua.join(name).with_extension("c")));
    if is_wasm {
        let wasm = shim.join("wasm");
        shim_build.file(wasm.join("host_try.c")).file(wasm.join("stubs.c")).file(wasm.join("stack.s"));
    }
    lua_build.objects(shim_build.compile_intermediates());
    if is_wasm {
        println!("cargo::rustc-link-search=native=/usr/lib/wasm32-wasi");
    }
    lua_build.compile("edgecask_lua");
    // Not bundled: the archive of the C library stays outside of the crate's own, and only what is used is linked.
    println!(
        "{}",
        if is_wasm { "cargo::rustc-link-lib=static:-bundle=c" } else { "cargo::rustc-link-lib=m" }
    );
}

fn configured(lua: &Path, is_wasm: bool) -> cc::Build {
    let mut build = cc::Build::new();
    // Tests count instructions and time, so they get the same code as a release.
    build.include(lua).opt_level(2).flag("-fno-strict-aliasing");
    if is_wasm {
        build
            .compiler(WASM_COMPILER)
            .archiver(WASM_ARCHIVER)
            .define("LUA_HOSTTRY", None)
            .define("__wasi__", None)
            .flag("-isystem")
            .flag("/usr/include/wasm32-wasi");
    }
    build
}
