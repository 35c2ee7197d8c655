//! Tests of sessions, by symptom, and of everything that only shows in one.

mod bound_of_a_home_is_passed;
mod commands;
mod huge_value_in_memory;
mod reply_depends_on_split;
mod slow_reader_not_cut;
mod wrong_bytes_of_a_damaged_blob;
