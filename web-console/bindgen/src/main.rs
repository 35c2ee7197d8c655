//! `edgecask-console-bindgen WASM DIRECTORY NAME`: writes the wasm that a page or package loads, and its JavaScript and types, into
//! a directory: NAME_bg.wasm, NAME.js, NAME.d.ts.
//!
//! It replaces the program `wasm-bindgen`: as a member of this workspace its version is pinned to that of the crate,
//! and it needs no installation.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(wasm), Some(directory), Some(name), None) =
        (arguments.next(), arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: edgecask-console-bindgen WASM DIRECTORY NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let made = bindgen
        .input_path(wasm)
        .web(true)
        .map(|bindgen| bindgen.typescript(true).remove_name_section(true).remove_producers_section(true))
        .and_then(|bindgen| {
            bindgen.omit_default_module_path(true).out_name(&name.to_string_lossy()).generate(directory)
        });
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("edgecask-console-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}
