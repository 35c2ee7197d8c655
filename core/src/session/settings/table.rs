//! The table of settings. Many rows name what nothing here acts upon: applications and tools read or set them when they
//! connect, and expect Redis' answer. A row whose value would promise something that does not happen (eviction,
//! clustering) cannot be changed to that value.

use super::SettingKind::{self, Events, Integer, Memory, OneOf, SavePoints, Text, YesNo};
use super::SettingSpec;

/// A setting that CONFIG SET may change.
const fn row(name: &'static str, default: &'static str, kind: SettingKind) -> SettingSpec {
    SettingSpec { name, default, mutable: true, kind }
}

/// A setting that only the host's configuration decides.
const fn fixed(name: &'static str, default: &'static str, kind: SettingKind) -> SettingSpec {
    SettingSpec { name, default, mutable: false, kind }
}

/// Any number from 0.
const COUNT: SettingKind = Integer(0, i64::MAX);
/// Any number from 0 that Redis keeps in 32 bits.
const SMALL_COUNT: SettingKind = Integer(0, i32::MAX as i64);
/// Any size.
const SIZE: SettingKind = Memory(0, i64::MAX as u64);

/// All settings. Invariant: in the order of their names, by which they are searched.
pub const SETTINGS: &[SettingSpec] = &[
    row("acllog-max-len", "128", COUNT),
    row("active-expire-effort", "1", Integer(1, 10)),
    fixed("activedefrag", "no", YesNo),
    row("activerehashing", "yes", YesNo),
    row("aof-load-truncated", "yes", YesNo),
    row("aof-rewrite-incremental-fsync", "yes", YesNo),
    row("aof-use-rdb-preamble", "yes", YesNo),
    fixed("appenddirname", "appendonlydir", Text),
    fixed("appendfilename", "appendonly.aof", Text),
    row("appendfsync", "everysec", OneOf(&["everysec", "always", "no"])),
    fixed("appendonly", "yes", YesNo),
    row("auto-aof-rewrite-min-size", "64mb", SIZE),
    row("auto-aof-rewrite-percentage", "100", SMALL_COUNT),
    fixed("bind", "127.0.0.1", Text),
    // Ours: strings of so many bytes are blobs.
    row("blob-min-bytes", "1mb", Memory(1, i64::MAX as u64)),
    row("busy-reply-threshold", "5000", COUNT),
    fixed(
        "client-output-buffer-limit",
        "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        Text,
    ),
    row("client-query-buffer-limit", "1gb", Memory(1024 * 1024, i64::MAX as u64)),
    fixed("cluster-enabled", "no", YesNo),
    fixed("daemonize", "no", YesNo),
    fixed("databases", "16", Integer(1, 1024)),
    fixed("dbfilename", "dump.rdb", Text),
    fixed("dir", ".", Text),
    row("dynamic-hz", "yes", YesNo),
    fixed("enable-debug-command", "no", Text),
    row("hash-max-listpack-entries", "512", COUNT),
    row("hash-max-listpack-value", "64", COUNT),
    row("hll-sparse-max-bytes", "3000", SIZE),
    row("hz", "10", SMALL_COUNT),
    fixed("io-threads", "1", Integer(1, 128)),
    row("latency-monitor-threshold", "0", COUNT),
    row("latency-tracking", "yes", YesNo),
    row("lazyfree-lazy-eviction", "no", YesNo),
    row("lazyfree-lazy-expire", "no", YesNo),
    row("lazyfree-lazy-server-del", "no", YesNo),
    row("lazyfree-lazy-user-del", "no", YesNo),
    row("lazyfree-lazy-user-flush", "no", YesNo),
    row("lfu-decay-time", "1", SMALL_COUNT),
    row("lfu-log-factor", "10", SMALL_COUNT),
    row("list-compress-depth", "0", SMALL_COUNT),
    row("list-max-listpack-size", "-2", Integer(i32::MIN as i64, i32::MAX as i64)),
    fixed("logfile", "", Text),
    row("loglevel", "notice", OneOf(&["debug", "verbose", "notice", "warning", "nothing"])),
    row("maxclients", "10000", Integer(1, u32::MAX as i64)),
    row("maxmemory", "0", Memory(0, u64::MAX)),
    row("maxmemory-eviction-tenacity", "10", Integer(0, 100)),
    row("maxmemory-policy", "noeviction", OneOf(&["noeviction"])),
    row("maxmemory-samples", "5", Integer(1, 64)),
    row("min-replicas-max-lag", "10", SMALL_COUNT),
    row("min-replicas-to-write", "0", Integer(0, 0)),
    row("no-appendfsync-on-rewrite", "no", YesNo),
    row("notify-keyspace-events", "", Events),
    fixed("port", "6379", Integer(0, 65535)),
    row("protected-mode", "yes", YesNo),
    row("proto-max-bulk-len", "512mb", Memory(1024 * 1024, i64::MAX as u64)),
    fixed("rdbchecksum", "yes", YesNo),
    row("rdbcompression", "yes", YesNo),
    row("repl-backlog-size", "1mb", Memory(1, i64::MAX as u64)),
    row("repl-timeout", "60", Integer(1, i32::MAX as i64)),
    row("replica-priority", "100", SMALL_COUNT),
    row("replica-read-only", "yes", YesNo),
    row("replica-serve-stale-data", "yes", YesNo),
    fixed("replicaof", "", Text),
    row("requirepass", "", Text),
    row("save", "", SavePoints),
    row("set-max-intset-entries", "512", COUNT),
    row("set-max-listpack-entries", "128", COUNT),
    row("set-max-listpack-value", "64", COUNT),
    row("slowlog-log-slower-than", "10000", Integer(-1, i64::MAX)),
    row("slowlog-max-len", "128", COUNT),
    row("stop-writes-on-bgsave-error", "yes", YesNo),
    row("stream-node-max-bytes", "4096", SIZE),
    row("stream-node-max-entries", "100", COUNT),
    fixed("supervised", "no", OneOf(&["no", "upstart", "systemd", "auto"])),
    fixed("tcp-backlog", "511", SMALL_COUNT),
    row("tcp-keepalive", "300", SMALL_COUNT),
    row("timeout", "0", SMALL_COUNT),
    fixed("tls-port", "0", Integer(0, 65535)),
    row("tracking-table-max-keys", "1000000", COUNT),
    fixed("unixsocket", "", Text),
    row("zset-max-listpack-entries", "128", COUNT),
    row("zset-max-listpack-value", "64", COUNT),
];

/// Older names of settings, as Redis still takes and shows them: (old, present).
pub const ALIASES: &[(&str, &str)] = &[
    ("hash-max-ziplist-entries", "hash-max-listpack-entries"),
    ("hash-max-ziplist-value", "hash-max-listpack-value"),
    ("list-max-ziplist-size", "list-max-listpack-size"),
    ("lua-time-limit", "busy-reply-threshold"),
    ("min-slaves-max-lag", "min-replicas-max-lag"),
    ("min-slaves-to-write", "min-replicas-to-write"),
    ("slave-priority", "replica-priority"),
    ("slave-read-only", "replica-read-only"),
    ("slave-serve-stale-data", "replica-serve-stale-data"),
    ("slaveof", "replicaof"),
    ("zset-max-ziplist-entries", "zset-max-listpack-entries"),
    ("zset-max-ziplist-value", "zset-max-listpack-value"),
];
