//! Tests of sessions, by symptom, and of everything that only shows in one.

mod bound_of_a_home_is_passed;
mod commands;
mod denied_argument_is_buffered;
mod huge_value_in_memory;
mod key_is_locked_for_long;
mod long_request_keeps_others_waiting;
mod queue_of_a_multi_grows_without_end;
mod reply_depends_on_split;
mod slow_reader_not_cut;
mod wrong_bytes_of_a_damaged_blob;
