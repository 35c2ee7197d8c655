//! INFO: what is known of the running server, section by section.
//!
//! The core says what it knows; the host adds facts to the same sections or to sections of its own, and its word
//! replaces the core's where both give the same name. What neither knows has Redis' value for "nothing".

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::command::{Context, Outcome};
use crate::session::REDIS_VERSION;

/// Sections in the order of the reply, with their headings. Sections of the host's own come behind them.
const SECTIONS: &[(&str, &str)] = &[
    ("server", "Server"),
    ("clients", "Clients"),
    ("memory", "Memory"),
    ("persistence", "Persistence"),
    ("stats", "Stats"),
    ("replication", "Replication"),
    ("cpu", "CPU"),
    ("modules", "Modules"),
    ("errorstats", "Errorstats"),
    ("cluster", "Cluster"),
    ("keyspace", "Keyspace"),
];

/// Facts with a second line for people: `name` in bytes and `name_human`.
const HUMAN: &[&str] =
    &["used_memory", "used_memory_rss", "used_memory_peak", "total_system_memory", "maxmemory"];

type Lines = Vec<(Cow<'static, str>, String)>;

pub(super) fn info(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let wanted: Vec<Vec<u8>> = args.iter().skip(1).map(|argument| argument.to_ascii_lowercase()).collect();
    let is_all = wanted.is_empty()
        || wanted.iter().any(|name| matches!(name.as_slice(), b"all" | b"default" | b"everything"));
    let is_wanted = |name: &str| is_all || wanted.iter().any(|wanted| wanted == name.as_bytes());
    let facts = ctx.shared.host.facts();
    let mut text = String::new();
    let mut own: Vec<&str> = facts.iter().map(|(section, ..)| *section).collect();
    own.sort_unstable();
    own.dedup();
    own.retain(|name| SECTIONS.iter().all(|(known, _)| known != name));
    let headed = SECTIONS.iter().map(|(name, heading)| (*name, (*heading).to_string()));
    let others = own.into_iter().map(|name| (name, capitalised(name)));
    for (name, heading) in headed.chain(others) {
        if !is_wanted(name) {
            continue;
        }
        let mut lines = section(ctx, name)?;
        for (_, fact, value) in facts.iter().filter(|(section, ..)| *section == name) {
            match lines.iter_mut().find(|(name, _)| name == fact) {
                Some(line) => line.1.clone_from(value),
                None => lines.push((Cow::Borrowed(*fact), value.clone())),
            }
        }
        write_section(&mut text, &heading, &lines);
    }
    ctx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

fn capitalised(name: &str) -> String {
    let (first, rest) = name.split_at_checked(1).unwrap_or((name, ""));
    format!("{}{rest}", first.to_ascii_uppercase())
}

fn write_section(text: &mut String, heading: &str, lines: &Lines) {
    if !text.is_empty() {
        text.push_str("\r\n");
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "# {heading}\r\n");
    for (name, value) in lines {
        let _ = write!(text, "{name}:{value}\r\n");
        if HUMAN.contains(&name.as_ref()) {
            let _ = write!(text, "{name}_human:{}\r\n", human(value));
        }
    }
}

/// A number of bytes as Redis shows it to people: `1.50K`.
fn human(bytes: &str) -> String {
    let bytes: u64 = bytes.parse().unwrap_or(0);
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let power = (bytes.ilog2() / 10).min(5);
    let unit = ["K", "M", "G", "T", "P"].get(power as usize - 1).copied().unwrap_or("P");
    format!("{:.2}{unit}", bytes as f64 / (1_u64 << (10 * power)) as f64)
}

fn section(ctx: &mut Context<'_, '_>, name: &str) -> Result<Lines, crate::command::CommandError> {
    Ok(match name {
        "server" => server(ctx),
        "clients" => clients(ctx),
        "memory" => memory(ctx),
        "persistence" => persistence(ctx),
        "stats" => stats(ctx),
        "replication" => replication(ctx),
        "cpu" => lines(&[("used_cpu_sys", "0.000000"), ("used_cpu_user", "0.000000")]),
        "cluster" => lines(&[("cluster_enabled", "0")]),
        "keyspace" => keyspace(ctx)?,
        _ => Lines::new(),
    })
}

fn lines(constants: &[(&'static str, &str)]) -> Lines {
    constants.iter().map(|(name, value)| (Cow::Borrowed(*name), (*value).to_string())).collect()
}

fn setting(ctx: &Context<'_, '_>, name: &str) -> String {
    ctx.shared.settings.get(name).unwrap_or_default()
}

fn server(ctx: &Context<'_, '_>) -> Lines {
    let now_ms = ctx.now_ms();
    let uptime_s = now_ms.saturating_sub(ctx.shared.started_at_ms) / 1000;
    let number = |value: u64| value.to_string();
    vec![
        ("redis_version".into(), REDIS_VERSION.to_string()),
        ("redis_git_sha1".into(), "00000000".to_string()),
        ("redis_git_dirty".into(), "0".to_string()),
        ("redis_mode".into(), "standalone".to_string()),
        ("edgecask_version".into(), env!("CARGO_PKG_VERSION").to_string()),
        ("os".into(), std::env::consts::OS.to_string()),
        ("arch_bits".into(), usize::BITS.to_string()),
        ("process_id".into(), number(0)),
        ("run_id".into(), "0".repeat(40)),
        ("tcp_port".into(), setting(ctx, "port")),
        ("server_time_usec".into(), number(now_ms * 1000)),
        ("uptime_in_seconds".into(), number(uptime_s)),
        ("uptime_in_days".into(), number(uptime_s / (24 * 60 * 60))),
        ("hz".into(), setting(ctx, "hz")),
        ("configured_hz".into(), setting(ctx, "hz")),
        ("executable".into(), String::new()),
        ("config_file".into(), String::new()),
    ]
}

fn clients(ctx: &Context<'_, '_>) -> Lines {
    let connected = ctx.shared.clients.lock().len();
    let hub = &ctx.shared.hub;
    let (tracking, ..) = hub.tracking.counts();
    let mut all = vec![
        ("cluster_connections".into(), "0".to_string()),
        ("blocked_clients".into(), hub.waiting.count().to_string()),
        ("tracking_clients".into(), tracking.to_string()),
    ];
    all.insert(0, ("connected_clients".into(), connected.to_string()));
    all.insert(2, ("maxclients".into(), setting(ctx, "maxclients")));
    all
}

fn memory(ctx: &Context<'_, '_>) -> Lines {
    let mut all = lines(&[("used_memory", "0"), ("used_memory_rss", "0"), ("used_memory_peak", "0")]);
    all.push(("total_system_memory".into(), "0".to_string()));
    all.push(("maxmemory".into(), setting(ctx, "maxmemory")));
    all.push(("maxmemory_policy".into(), setting(ctx, "maxmemory-policy")));
    all.push(("mem_fragmentation_ratio".into(), "1.00".to_string()));
    all
}

fn persistence(ctx: &Context<'_, '_>) -> Lines {
    let mut all = lines(&[
        ("loading", "0"),
        ("async_loading", "0"),
        ("rdb_changes_since_last_save", "0"),
        ("rdb_bgsave_in_progress", "0"),
    ]);
    let saved_at_s = ctx.shared.saved_at_s.load(Ordering::Relaxed);
    all.push(("rdb_last_save_time".into(), saved_at_s.to_string()));
    let is_on = setting(ctx, "appendonly") == "yes";
    all.push(("rdb_last_bgsave_status".into(), "ok".to_string()));
    all.push(("aof_enabled".into(), u8::from(is_on).to_string()));
    all.extend(lines(&[
        ("aof_rewrite_in_progress", "0"),
        ("aof_rewrite_scheduled", "0"),
        ("aof_last_bgrewrite_status", "ok"),
        ("aof_last_write_status", "ok"),
    ]));
    all.extend(ctx.admin.report().into_iter().map(|(name, value)| (name.into(), value.to_string())));
    all
}

fn stats(ctx: &Context<'_, '_>) -> Lines {
    let counters = &ctx.shared.counters;
    let line = |name: &'static str, counter: &AtomicU64| {
        (Cow::Borrowed(name), counter.load(Ordering::Relaxed).to_string())
    };
    let mut all = vec![
        line("total_connections_received", &counters.connections),
        line("total_commands_processed", &counters.commands),
        ("instantaneous_ops_per_sec".into(), "0".to_string()),
        line("total_net_input_bytes", &counters.input_bytes),
        line("total_net_output_bytes", &counters.output_bytes),
        line("rejected_connections", &counters.rejected_connections),
        line("expired_keys", &counters.expired_keys),
        ("evicted_keys".into(), "0".to_string()),
        line("keyspace_hits", &counters.keyspace_hits),
        line("keyspace_misses", &counters.keyspace_misses),
    ];
    let (channels, patterns, shard_channels) = ctx.shared.hub.pubsub.counts();
    all.push(("pubsub_channels".into(), channels.to_string()));
    all.push(("pubsub_patterns".into(), patterns.to_string()));
    all.push(("pubsubshard_channels".into(), shard_channels.to_string()));
    all.push(("latest_fork_usec".into(), "0".to_string()));
    all.push(line("total_error_replies", &counters.error_replies));
    all
}

fn replication(ctx: &Context<'_, '_>) -> Lines {
    let no_id = "0".repeat(40);
    vec![
        ("role".into(), "master".to_string()),
        ("connected_slaves".into(), "0".to_string()),
        ("master_failover_state".into(), "no-failover".to_string()),
        ("master_replid".into(), no_id.clone()),
        ("master_replid2".into(), no_id),
        ("master_repl_offset".into(), "0".to_string()),
        ("second_repl_offset".into(), "-1".to_string()),
        ("repl_backlog_active".into(), "0".to_string()),
        ("repl_backlog_size".into(), setting(ctx, "repl-backlog-size")),
        ("repl_backlog_first_byte_offset".into(), "0".to_string()),
        ("repl_backlog_histlen".into(), "0".to_string()),
    ]
}

fn keyspace(ctx: &mut Context<'_, '_>) -> Result<Lines, crate::command::CommandError> {
    let mut all = Lines::new();
    for db in 0..ctx.shared.settings.databases() {
        let keys = ctx.txn.key_count(db)?;
        if keys > 0 {
            let expires = ctx.txn.expiring_count(db)?;
            all.push((format!("db{db}").into(), format!("keys={keys},expires={expires},avg_ttl=0")));
        }
    }
    Ok(all)
}
