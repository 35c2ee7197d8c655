//! The page for Prometheus: the fields of INFO as metrics.
//!
//! Metrics that oliver006/redis_exporter has keep its names, so that its dashboards and alerts work; metrics of EdgeCask
//! alone begin with `edgecask_`. Nothing is counted here, and a scrape costs as much as INFO.

mod cluster;
mod exposition;

use std::sync::atomic::Ordering;

use edgecask_core::command::{Facts, facts};
use edgecask_core::server::{CommandStatistics, Shared};

use self::exposition::Kind::{self, Counter, Gauge, Summary};
use self::exposition::Page;
use crate::clock::now_ms;
use crate::gateway::Gateway;

/// The media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Fields that are one number: name in INFO, name of the metric, type, help.
const NUMBERS: &[(&str, &str, Kind, &str)] = &[
    ("uptime_in_seconds", "redis_uptime_in_seconds", Gauge, "Seconds since the start"),
    ("process_id", "redis_process_id", Gauge, "Id of the process"),
    ("connected_clients", "redis_connected_clients", Gauge, "Open connections"),
    ("maxclients", "redis_max_clients", Gauge, "Most connections at a time"),
    ("blocked_clients", "redis_blocked_clients", Gauge, "Connections that wait in a blocking command"),
    ("tracking_clients", "redis_tracking_clients", Gauge, "Connections that get invalidations for a cache"),
    (
        "used_memory",
        "redis_memory_used_bytes",
        Gauge,
        "Memory in use by keys, connections and the program at its start",
    ),
    ("used_memory_rss", "redis_memory_used_rss_bytes", Gauge, "Memory in RAM, mapped datafiles included"),
    ("used_memory_peak", "redis_memory_used_peak_bytes", Gauge, "The most memory that was ever in use"),
    ("total_system_memory", "redis_total_system_memory_bytes", Gauge, "Memory of the machine"),
    (
        "maxmemory",
        "redis_memory_max_bytes",
        Gauge,
        "The setting maxmemory: the most memory that keys and connections may take, 0 for any",
    ),
    ("mem_fragmentation_ratio", "redis_mem_fragmentation_ratio", Gauge, "Memory in RAM to memory in use"),
    (
        "rdb_last_save_time",
        "redis_rdb_last_save_timestamp_seconds",
        Gauge,
        "Unix time of the last checkpoint",
    ),
    ("aof_enabled", "redis_aof_enabled", Gauge, "Whether changes are logged, which they are"),
    ("total_connections_received", "redis_connections_received_total", Counter, "Connections accepted"),
    ("total_commands_processed", "redis_commands_processed_total", Counter, "Commands run"),
    ("total_net_input_bytes", "redis_net_input_bytes_total", Counter, "Bytes received"),
    ("total_net_output_bytes", "redis_net_output_bytes_total", Counter, "Bytes sent"),
    (
        "rejected_connections",
        "redis_rejected_connections_total",
        Counter,
        "Connections refused, being too many",
    ),
    ("expired_keys", "redis_expired_keys_total", Counter, "Keys whose time had come"),
    ("evicted_keys", "redis_evicted_keys_total", Counter, "Keys removed for want of memory"),
    ("evicted_clients", "redis_evicted_clients_total", Counter, "Connections closed for want of memory"),
    ("keyspace_hits", "redis_keyspace_hits_total", Counter, "Reads that found their key"),
    ("keyspace_misses", "redis_keyspace_misses_total", Counter, "Reads that did not"),
    ("pubsub_channels", "redis_pubsub_channels", Gauge, "Channels with subscribers"),
    ("pubsub_patterns", "redis_pubsub_patterns", Gauge, "Patterns with subscribers"),
    ("pubsubshard_channels", "redis_pubsubshard_channels", Gauge, "Shard channels with subscribers"),
    ("tracking_total_keys", "redis_tracking_total_keys", Gauge, "Keys that caches have read"),
    (
        "client_output_buffer_limit_disconnections",
        "redis_client_output_buffer_limit_disconnections_total",
        Counter,
        "Connections cut because too much output waited for them",
    ),
    ("used_cpu_sys", "redis_cpu_sys_seconds_total", Counter, "Processor time in the system"),
    ("used_cpu_user", "redis_cpu_user_seconds_total", Counter, "Processor time of the process itself"),
    ("worker_threads", "edgecask_worker_threads", Gauge, "Threads that may serve connections"),
    ("worker_threads_serving", "edgecask_worker_threads_serving", Gauge, "Those that serve at the moment"),
    (
        "worker_connections_moved",
        "edgecask_worker_connections_moved_total",
        Counter,
        "Connections that moved to another thread",
    ),
    ("datafiles", "edgecask_datafiles", Gauge, "Datafiles of the log"),
    ("datafile_bytes", "edgecask_datafile_bytes", Gauge, "Bytes of all datafiles"),
    ("datafile_live_bytes", "edgecask_datafile_live_bytes", Gauge, "Those that are in use"),
    ("datafile_dead_bytes", "edgecask_datafile_dead_bytes", Gauge, "Those that merge will free"),
    ("datafile_tombstone_bytes", "edgecask_datafile_tombstone_bytes", Gauge, "Those of records of removals"),
    ("blobs", "edgecask_blobs", Gauge, "Values that are files of their own"),
    ("blob_bytes", "edgecask_blob_bytes", Gauge, "Bytes of these values"),
    ("blobs_dead", "edgecask_blobs_dead", Gauge, "Files of values that are gone, still to be removed"),
    ("log_appended_bytes", "edgecask_log_appended_bytes_total", Counter, "Bytes appended to the log"),
    ("log_unsynced_bytes", "edgecask_log_unsynced_bytes", Gauge, "Those that the loss of power would take"),
    ("log_syncs", "edgecask_log_syncs_total", Counter, "Syncs of the log"),
    (
        "log_read_only",
        "edgecask_log_read_only",
        Gauge,
        "Whether writes are refused since an error of the disk",
    ),
    ("log_full", "edgecask_log_full", Gauge, "Whether writes are refused because the disk is full"),
    (
        "write_limit_bytes_per_sec",
        "edgecask_write_limit_bytes_per_second",
        Gauge,
        "What all writers together may append, because merge is left behind; 0 for any speed",
    ),
    (
        "write_limited_clients",
        "edgecask_write_limited_clients",
        Gauge,
        "Connections that rest because of that",
    ),
    ("merges", "edgecask_merges_total", Counter, "Merges of datafiles that came to their end"),
    ("merged_bytes", "edgecask_merged_bytes_total", Counter, "Bytes that merge has gone through"),
    ("merge_in_progress", "edgecask_merge_in_progress", Gauge, "Whether a merge is under way"),
    ("merge_input_bytes", "edgecask_merge_input_bytes", Gauge, "Bytes that the merge under way has to read"),
    ("merge_read_bytes", "edgecask_merge_read_bytes", Gauge, "Bytes that it has read"),
    ("keydir_collections", "edgecask_keydir_collections", Gauge, "Collections in memory"),
    (
        "keydir_garbage",
        "edgecask_keydir_garbage",
        Gauge,
        "Dropped collections and databases still to be freed",
    ),
    (
        "scrub_in_progress",
        "edgecask_scrub_in_progress",
        Gauge,
        "Whether everything is being read and compared",
    ),
    ("scrub_done_bytes", "edgecask_scrub_done_bytes", Gauge, "Bytes that this has done"),
    ("scrub_all_bytes", "edgecask_scrub_all_bytes", Gauge, "Bytes that there were when it began"),
    ("scrub_findings", "edgecask_scrub_findings", Gauge, "Damaged places that it, or the last one, found"),
    (
        "scrub_last_end",
        "edgecask_scrub_last_end_timestamp_seconds",
        Gauge,
        "Unix time when the last one ended",
    ),
];

/// Fields that are `ok` or not: name in INFO, name of the metric, help.
const STATUSES: &[(&str, &str, &str)] = &[
    ("aof_last_write_status", "redis_aof_last_write_status", "Whether writes are accepted"),
    ("aof_last_bgrewrite_status", "redis_aof_last_bgrewrite_status", "Whether merge works"),
    ("rdb_last_bgsave_status", "redis_rdb_last_bgsave_status", "Whether the last checkpoint was written"),
];

/// Labels of the metric about this process: those of redis_exporter, which have INFO's names, and those of EdgeCask.
const INSTANCE: &[&str] = &[
    "role",
    "redis_version",
    "redis_build_id",
    "redis_mode",
    "os",
    "maxmemory_policy",
    "tcp_port",
    "run_id",
    "process_id",
    "edgecask_version",
];

/// A metric of every command: name, help, value.
type CommandCounter = (&'static str, &'static str, fn(&CommandStatistics) -> f64);

/// The counters of every command.
const COMMAND_COUNTERS: &[CommandCounter] = &[
    ("redis_commands_total", "Calls of a command", |counters| counters.calls.load(Ordering::Relaxed) as f64),
    ("redis_commands_duration_seconds_total", "Time that took", |counters| {
        counters.took_ns.load(Ordering::Relaxed) as f64 / 1e9
    }),
    ("redis_commands_rejected_calls_total", "Calls that were refused before the command ran", |counters| {
        counters.rejected.load(Ordering::Relaxed) as f64
    }),
    ("redis_commands_failed_calls_total", "Calls that ended in an error", |counters| {
        counters.failed.load(Ordering::Relaxed) as f64
    }),
];

/// Those of a server whose data is in a cluster.
const CLUSTER_COMMAND_COUNTERS: &[CommandCounter] = &[
    ("edgecask_cluster_command_rounds_total", "Times that a command waited for the cluster", |counters| {
        counters.rounds.load(Ordering::Relaxed) as f64
    }),
    ("edgecask_cluster_command_retries_total", "Times that it ran again, having met others", |counters| {
        counters.retries.load(Ordering::Relaxed) as f64
    }),
];

/// The names of the metrics that stand for one fact of INFO each.
pub fn names() -> impl Iterator<Item = &'static str> {
    let statuses = STATUSES.iter().map(|(_, name, _)| *name);
    NUMBERS.iter().map(|(_, name, ..)| *name).chain(statuses)
}

/// The page as it is now.
pub fn text(gateway: &Gateway) -> String {
    let shared = &gateway.server.shared;
    let facts = facts(&gateway.server, now_ms());
    let mut page = Page::default();
    page.family("redis_up", Gauge, "Whether the store answers")
        .sample(&[], f64::from(u8::from(facts.is_ok())));
    if let Ok(facts) = &facts {
        write_facts(&mut page, facts);
    }
    let has_failed = f64::from(u8::from(gateway.syncer.has_failed()));
    page.family("edgecask_sync_failed", Gauge, "Whether a sync has failed, after which there are no more")
        .sample(&[], has_failed);
    page.family("redis_start_time_seconds", Gauge, "Unix time of the start")
        .sample(&[], (shared.started_at_ms / 1000) as f64);
    write_commands(&mut page, shared);
    write_latencies(&mut page, shared);
    let mut errors = page.family("redis_errors_total", Counter, "Replies that were errors, by code");
    for (code, count) in shared.statistics.errors() {
        errors.sample(&[("err", &code)], count as f64);
    }
    write_slow_log(&mut page, shared);
    page.finish()
}

fn write_facts(page: &mut Page, facts: &Facts) {
    for (fact, name, kind, help) in NUMBERS.iter().chain(cluster::NUMBERS) {
        if let Some(value) = facts.number(fact) {
            page.family(name, *kind, help).sample(&[], value);
        }
    }
    for (fact, name, help) in STATUSES {
        let is_ok = facts.text(fact) == Some("ok");
        page.family(name, Gauge, help).sample(&[], f64::from(u8::from(is_ok)));
    }
    let labels: Vec<(&str, &str)> =
        INSTANCE.iter().map(|name| (*name, facts.text(name).unwrap_or_default())).collect();
    page.family("redis_instance_info", Gauge, "What runs here").sample(&labels, 1.0);
    let databases: Vec<(String, u64, u64)> =
        facts.databases.iter().map(|(db, keys, expiring)| (format!("db{db}"), *keys, *expiring)).collect();
    let mut family = page.family("redis_db_keys", Gauge, "Keys of a database");
    databases.iter().for_each(|(db, keys, _)| family.sample(&[("db", db)], *keys as f64));
    let mut family = page.family("redis_db_keys_expiring", Gauge, "Those of them that expire");
    databases.iter().for_each(|(db, _, expiring)| family.sample(&[("db", db)], *expiring as f64));
}

/// The counters of every command that was called or refused.
fn write_commands(page: &mut Page, shared: &Shared) {
    let of_cluster = if shared.peers.are_possible() { CLUSTER_COMMAND_COUNTERS } else { &[] };
    for (name, help, value) in COMMAND_COUNTERS.iter().chain(of_cluster) {
        let mut family = page.family(name, Counter, help);
        for (spec, counters) in shared.statistics.commands() {
            family.sample(&[("cmd", spec.name)], value(counters));
        }
    }
}

/// The percentiles that `latency-tracking-info-percentiles` names, as quantiles in percent: so redis_exporter has them.
fn write_latencies(page: &mut Page, shared: &Shared) {
    let wanted = shared.settings.get("latency-tracking-info-percentiles").unwrap_or_default();
    let mut percentiles: Vec<f64> =
        wanted.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    let help = "How many microseconds a command takes";
    let mut family = page.family("redis_latency_percentiles_usec", Summary, help);
    for (spec, counters) in shared.statistics.commands() {
        let Some(histogram) = counters.histogram() else { continue };
        for percent in &percentiles {
            let labels = [("cmd", spec.name), ("quantile", &percent.to_string())];
            family.sample(&labels, histogram.percentile(*percent) as f64 / 1000.0);
        }
        let took_us = counters.took_ns.load(Ordering::Relaxed) as f64 / 1000.0;
        family.sum_and_count(&[("cmd", spec.name)], took_us, counters.calls.load(Ordering::Relaxed) as f64);
    }
}

fn write_slow_log(page: &mut Page, shared: &Shared) {
    let entries = shared.slow_log.len();
    page.family("redis_slowlog_length", Gauge, "Entries of the slow log").sample(&[], entries as f64);
    let latest = shared.slow_log.latest(1);
    let (id, took_us) = latest.first().map_or((0, 0), |entry| (entry.id, entry.took_us));
    page.family("redis_slowlog_last_id", Gauge, "Number of the latest of them").sample(&[], id as f64);
    page.family("redis_last_slow_execution_duration_seconds", Gauge, "How long that command took")
        .sample(&[], took_us as f64 / 1e6);
}
