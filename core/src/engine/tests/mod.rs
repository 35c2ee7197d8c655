//! Transactions over the reference engine, by symptom.

mod removed_run_takes_others_along;
