//! Tests of the store: the engine laws, recovery, merge, and what survives which failure.

mod acknowledged_write_lost;
mod backup_is_not_one_moment;
mod definitions_lost;
mod failed_io;
mod damage_waits_for_a_reader;
mod full_disk_stays_full;
mod flipped_bit_unnoticed;
mod damage_lost_in_silence;
mod harness;
mod injected_fault_unnoticed;
mod matrix;
mod memory_is_miscounted;
mod older_value_not_compared;
mod read_only_for_want_of_descriptors;
mod reload_changes_data;
mod reopen_forgets;
mod rewrite_leaves_dead_bytes;
mod space_grows_without_end;
mod start_reads_everything;
#[cfg(not(target_family = "wasm"))]
mod value_missing_after_a_race;
mod watchers_misled;
