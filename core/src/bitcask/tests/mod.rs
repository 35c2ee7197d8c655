//! Tests of the store: the engine laws, recovery, merge, and what survives which failure.

mod acknowledged_write_lost;
mod appends_wait_for_the_sync_of_a_full_datafile;
mod crash_states;
mod cut_in_salvage_loses_the_original;
mod backup_is_not_one_moment;
mod blobs_gone_with_their_records;
mod definitions_lost;
mod error_does_not_say_which_key;
mod failed_io;
mod damage_waits_for_a_reader;
mod full_disk_stays_full;
mod flipped_bit_unnoticed;
mod damage_lost_in_silence;
mod harness;
mod hints_are_needed;
// Proves the judge, which is the same everywhere: minutes of one slow thread would prove nothing more.
#[cfg(not(target_family = "wasm"))]
mod injected_fault_unnoticed;
mod judge;
mod large_collection_takes_memory_for_its_values;
mod long_transaction_keeps_threads_waiting;
mod lost_checksums_of_a_whole_blob;
mod lost_key_is_not_named;
mod manifest_of_another_time;
mod matrix;
mod memory_is_miscounted;
mod merge_reads_every_dead_value;
mod neighbour_of_a_damaged_value_is_lost;
mod older_checksums_not_read;
mod older_value_not_compared;
mod rare_key_is_not_found;
mod read_only_for_want_of_descriptors;
mod reload_changes_data;
mod reopen_forgets;
mod rewrite_leaves_dead_bytes;
mod salvage_drops_records;
mod salvage_ends_at_a_dead_end;
mod space_grows_without_end;
mod start_reads_everything;
#[cfg(not(target_family = "wasm"))]
mod value_missing_after_a_race;
mod value_taken_for_records;
mod watchers_misled;
