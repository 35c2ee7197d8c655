// Runs the corpora of the tests in the module that `cargo build -p edgecask-wasm --features wasmi --example functions_wasm_tests
// --target wasm32-unknown-unknown` makes: node run.mjs MODULE
import { runCorpora } from "../../../../tests/wasm/corpora.mjs";

runCorpora(() => ({}), { call: "call", what: "function", rounds: 50_000 });
