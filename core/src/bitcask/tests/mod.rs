//! Tests of the store: the engine laws, recovery, merge, and what survives which failure.

mod acknowledged_write_lost;
mod definitions_lost;
mod failed_io;
mod flipped_bit_unnoticed;
mod damage_lost_in_silence;
mod harness;
mod injected_fault_unnoticed;
mod matrix;
mod reload_changes_data;
mod reopen_forgets;
mod space_grows_without_end;
#[cfg(not(target_family = "wasm"))]
mod value_missing_after_a_race;
mod watchers_misled;
