//! The gateway from outside: real files, real sockets, real processes.

mod backup_is_not_one_moment;
mod damaged_blob_is_sent;
mod cron_does_not_run;
mod damage_waits_for_a_reader;
mod full_disk_stays_full;
mod held_key_keeps_others_from_expiring;
mod idle_memory;
mod limits;
mod loading_cannot_be_ended;
mod long_requests;
mod maxmemory_limits_nothing;
mod memory_is_not_given_back;
mod metrics;
mod moved_connection_loses_something;
mod no_store_passes_for_a_sound_one;
mod origin_answers_differ;
mod out_of_descriptors;
mod refused_while_loading;
mod rest;
mod script_cannot_be_ended;
mod serving;
mod sql;
mod sql_alchemy;
mod sql_commands;
mod sql_open;
mod sql_functions;
mod sql_tables;
mod stopping;
mod storage;
mod support;
#[cfg(feature = "wasm-functions")]
mod wasm_functions;
mod web;
mod web_thread_waits_for_a_script;
mod worker_waits_for_a_lock;
mod writers_outrun_merge;
