//! Sessions as a host drives them, by symptom.

mod bound_of_a_home_is_passed;
mod huge_value_in_memory;
mod reply_depends_on_split;
mod slow_reader_not_cut;
