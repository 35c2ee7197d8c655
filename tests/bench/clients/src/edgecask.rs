//! EdgeCask's own client, with the feature `edgecask`.
//!
//! To fill in once core/client is there: the dependency in Cargo.toml, and `impl Client` (src/client.rs) for `EdgeCask`, as
//! in src/rustis.rs. A task's clone may have buffers of its own, which its calls reuse.

compile_error!("src/edgecask.rs is to be written: core/client was not there when this benchmark was");

pub struct EdgeCask;
