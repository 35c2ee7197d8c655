//! Metrics of a server whose data is in a cluster; others do not have them.

use super::exposition::Kind::{self, Counter, Gauge};

/// Fields that are one number: name in INFO, name of the metric, type, help.
pub(super) const NUMBERS: &[(&str, &str, Kind, &str)] = &[
    ("cluster_reads", "edgecask_cluster_reads_total", Counter, "Rounds of reading from the cluster"),
    ("cluster_writes", "edgecask_cluster_writes_total", Counter, "Writes sent to the cluster"),
    ("cluster_conflicts", "edgecask_cluster_conflicts_total", Counter, "Transactions that met another one"),
    (
        "cluster_unknown_writes",
        "edgecask_cluster_unknown_writes_total",
        Counter,
        "Writes of which nobody knows whether they happened",
    ),
    (
        "cluster_unavailable",
        "edgecask_cluster_unavailable_total",
        Counter,
        "Requests that the cluster did not answer",
    ),
    (
        "cluster_silent_ms",
        "edgecask_cluster_silent_milliseconds",
        Gauge,
        "How long the cluster has not answered",
    ),
    (
        "cluster_read_usec_mean",
        "edgecask_cluster_read_microseconds_mean",
        Gauge,
        "How long a round of reading takes",
    ),
    (
        "cluster_read_usec_p99",
        "edgecask_cluster_read_microseconds_p99",
        Gauge,
        "Within which 99 of 100 rounds of reading are done",
    ),
    ("cluster_write_usec_mean", "edgecask_cluster_write_microseconds_mean", Gauge, "How long a write takes"),
    (
        "cluster_write_usec_p99",
        "edgecask_cluster_write_microseconds_p99",
        Gauge,
        "Within which 99 of 100 writes are done",
    ),
    ("peers", "edgecask_cluster_peers", Gauge, "Other servers of the store"),
    ("peers_linked", "edgecask_cluster_peers_linked", Gauge, "Those of them with a link"),
    (
        "peers_stands_apart",
        "edgecask_cluster_stands_apart",
        Gauge,
        "Whether this server cannot reach the others, and they do not wait for it",
    ),
    (
        "peer_requests_forwarded",
        "edgecask_cluster_requests_forwarded_total",
        Counter,
        "Requests of hot keys that were sent to another server",
    ),
    (
        "peer_requests_run_for_others",
        "edgecask_cluster_requests_run_for_others_total",
        Counter,
        "Requests of hot keys of other servers' clients that ran here",
    ),
    (
        "cluster_hints_pending",
        "edgecask_cluster_hints_pending",
        Gauge,
        "Keys that expire soon or whose hint is yet to be written",
    ),
    ("cluster_hints_written", "edgecask_cluster_hints_written_total", Counter, "Hints of keys that expire"),
    (
        "cluster_collect_pending",
        "edgecask_cluster_collect_pending",
        Gauge,
        "Dropped collections and values that are to be collected",
    ),
    (
        "cluster_collected_entries",
        "edgecask_cluster_collected_entries_total",
        Counter,
        "Entries of dropped collections and values that were removed",
    ),
    (
        "cluster_expired_found",
        "edgecask_cluster_expired_found_total",
        Counter,
        "Keys found to have expired, by hints and memory",
    ),
    (
        "cluster_collected_homes",
        "edgecask_cluster_collected_homes_total",
        Counter,
        "Dropped collections and values that were removed",
    ),
    (
        "cluster_destroyed_databases",
        "edgecask_cluster_destroyed_databases_total",
        Counter,
        "Emptied databases whose data was removed",
    ),
    (
        "cluster_sweep_found",
        "edgecask_cluster_sweep_found_total",
        Counter,
        "Collections and values without a mark that walks found",
    ),
    (
        "cluster_leader",
        "edgecask_cluster_leader",
        Gauge,
        "The number of the server that looks after the store",
    ),
    (
        "cluster_notes_lost",
        "edgecask_cluster_notes_lost_total",
        Counter,
        "Notes that did not fit into memory",
    ),
    ("cluster_sweeps", "edgecask_cluster_sweeps_total", Counter, "Walks over the store that have ended"),
    ("cluster_leads", "edgecask_cluster_leads", Gauge, "Whether this server looks after the whole store"),
    (
        "cluster_gc_safe_point_ms",
        "edgecask_cluster_gc_safe_point_milliseconds",
        Gauge,
        "Up to when this server has let old versions go: unix time",
    ),
    (
        "cluster_gc_failures",
        "edgecask_cluster_gc_failures_total",
        Counter,
        "Attempts at that which have failed",
    ),
];
