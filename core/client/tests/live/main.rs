//! The client beside real servers, and beside one that misbehaves.

mod a_caller_gets_the_reply_of_another;
mod a_cut_reply_passes_for_a_whole;
mod a_request_allocates;
mod a_request_is_lost_in_silence;
mod a_stream_ends_early;
mod a_subscription_stays_away;
mod cached_reply_is_stale;
#[cfg(feature = "embedded")]
mod embedded_store_is_somebody_elses;
mod flows;
mod misbehaving;
mod reader_that_ends_early_sets_a_part;
mod sentinel_names_another_master;
mod server;
mod transaction_is_taken_apart;
mod typed_method_sends_something_else;
