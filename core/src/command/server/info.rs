//! INFO: what is known of the running server, section by section.
//!
//! The core says what it knows; the host adds facts to the same sections or to sections of its own, and its word
//! replaces the core's where both give the same name. What neither knows has Redis' value for "nothing". [`facts`] gives a
//! host the same, for pages of its own.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use super::memory::Counted;
use super::module;
use super::{Lines, statistics};
use crate::acl::Reason;
use crate::command::search::MODULE_VERSION;
use crate::command::{Context, Outcome};
use crate::engine::{Admin, Begun, Db, Engine, EngineError, Overlay, Scope, Txn, access_clock};
use crate::server::search::Progress;
use crate::server::{REDIS_VERSION, Server, Shared};
use crate::sorted;

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
    ("search", "Search"),
    ("commandstats", "Commandstats"),
    ("errorstats", "Errorstats"),
    ("latencystats", "Latencystats"),
    ("cluster", "Cluster"),
    ("keyspace", "Keyspace"),
    ("bitcask", "Bitcask"),
    ("cluster-store", "Cluster-store"),
];

/// Sections about the store, of which each engine has one ([`Admin::section`]).
const OF_STORES: &[&str] = &["bitcask", "cluster-store"];

/// Sections that come only when they, or all, are asked for.
const NOT_BY_DEFAULT: &[&str] = &["commandstats", "latencystats"];

/// Facts with a second line for people: `name` in bytes and `name_human`.
const HUMAN: &[&str] = &[
    "used_memory",
    "used_memory_rss",
    "used_memory_peak",
    "total_system_memory",
    "used_memory_lua",
    "used_memory_vm_total",
    "used_memory_scripts",
    "maxmemory",
];

/// What a store reports while it refuses writes.
const REFUSALS: &[&str] = &["log_read_only", "log_full"];

/// What the host knows: (section, name, value).
type HostLines = [(&'static str, &'static str, String)];

/// Where the facts come from.
struct Sources<'s, 'e> {
    shared: &'s Shared,
    admin: &'s dyn Admin,
    txn: &'s mut Txn<'e>,
}

pub(super) fn info(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let wanted: Vec<Vec<u8>> = args.iter().skip(1).map(|argument| argument.to_ascii_lowercase()).collect();
    let asks_for =
        |words: &[&str]| wanted.iter().any(|name| words.iter().any(|word| name == word.as_bytes()));
    let is_default = wanted.is_empty() || asks_for(&["default"]);
    let is_all = asks_for(&["all", "everything"]);
    let is_wanted =
        |name: &str| is_all || (is_default && !NOT_BY_DEFAULT.contains(&name)) || asks_for(&[name]);
    let mut text = String::new();
    let mut sources = Sources { shared: ctx.shared, admin: ctx.admin, txn: &mut *ctx.txn };
    for (heading, lines) in sections(&mut sources, &is_wanted)? {
        write_section(&mut text, &heading, &lines);
    }
    ctx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

/// What INFO says of a server, for other readers than clients.
#[derive(Debug)]
pub struct Facts {
    /// Names and values.
    pub lines: Lines,
    /// The databases that have keys: number, keys, keys that expire. None are told while a transaction that takes long holds
    /// the locks of some.
    pub databases: Vec<(Db, u64, u64)>,
}

impl Facts {
    /// The number under a name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok()
    }

    /// The text under a name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The sections of INFO that have neither a line for each command nor one for each error or database.
pub fn facts<E: Engine>(server: &Server<E>, now_ms: u64) -> Result<Facts, EngineError> {
    const APART: &[&str] = &["commandstats", "errorstats", "latencystats", "keyspace"];
    // Nobody is to be kept waiting for the numbers of keys, and a cluster would have to be asked for them.
    let (mut guard, are_counted) =
        match server.engine.begin_soon(Scope::Everything, &|| Waker::noop().clone())? {
            Begun::Open(guard) => (guard, server.engine.holds_locks()),
            Begun::Waits(ticket) => {
                server.engine.forget(ticket);
                (server.engine.begin(Scope::Nothing)?, false)
            }
        };
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut guard, &mut overlay, now_ms);
    let mut sources = Sources { shared: &server.shared, admin: &server.engine, txn: &mut txn };
    let sections = sections(&mut sources, &|name| !APART.contains(&name))?;
    let lines = sections.into_iter().flat_map(|(_, lines)| lines).collect();
    let databases = if are_counted { databases(&mut sources)? } else { Vec::new() };
    Ok(Facts { lines, databases })
}

/// Sections with their headings.
fn sections(
    sources: &mut Sources<'_, '_>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Lines)>, EngineError> {
    let facts = sources.shared.host.facts();
    let mut own: Vec<&str> = facts.iter().map(|(section, ..)| *section).collect();
    sorted::plainly(&mut own);
    own.dedup();
    own.retain(|name| SECTIONS.iter().all(|(known, _)| known != name));
    let headed = SECTIONS.iter().map(|(name, heading)| (*name, (*heading).to_string()));
    let others = own.into_iter().map(|name| (name, capitalised(name)));
    let mut all = Vec::new();
    for (name, heading) in headed.chain(others).filter(|(name, _)| is_wanted(name)) {
        let mut lines = section(sources, name, &facts)?;
        for (_, fact, value) in facts.iter().filter(|(section, ..)| *section == name) {
            match lines.iter_mut().find(|(name, _)| name == fact) {
                Some(line) => line.1.clone_from(value),
                None => lines.push((Cow::Borrowed(*fact), value.clone())),
            }
        }
        // A store that keeps nothing has nothing to tell.
        let is_of_store = OF_STORES.contains(&name);
        if !is_of_store || (name == sources.admin.section() && !lines.is_empty()) {
            all.push((heading, lines));
        }
    }
    Ok(all)
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

fn section(sources: &mut Sources<'_, '_>, name: &str, facts: &HostLines) -> Result<Lines, EngineError> {
    Ok(match name {
        "server" => server(sources),
        "clients" => clients(sources),
        "memory" => memory(sources, facts),
        "persistence" => persistence(sources),
        "stats" => stats(sources),
        "replication" => replication(sources, facts),
        "cpu" => lines(&[
            ("used_cpu_sys", "0.000000"),
            ("used_cpu_user", "0.000000"),
            ("used_cpu_sys_children", "0.000000"),
            ("used_cpu_user_children", "0.000000"),
        ]),
        "commandstats" => statistics::commands(sources.shared),
        "errorstats" => statistics::errors(sources.shared),
        "latencystats" => statistics::latencies(sources.shared),
        "modules" => modules(sources),
        "search" => search(sources),
        "cluster" => lines(&[("cluster_enabled", "0")]),
        "keyspace" => keyspace(sources)?,
        name if name == sources.admin.section() => store(sources),
        _ => Lines::new(),
    })
}

/// What clients look for to know whether there is search or JSON.
fn modules(sources: &Sources<'_, '_>) -> Lines {
    let facts =
        |(name, version)| format!("name={name},ver={version},api=1,filters=0,usedby=[],using=[],options=[]");
    module::present(sources.admin).into_iter().map(|one| ("module".into(), facts(one))).collect()
}

/// What is known of all search indexes together.
fn search(sources: &Sources<'_, '_>) -> Lines {
    if sources.admin.partitions() == 0 {
        return Lines::new();
    }
    let (indexes, mut documents, mut segments, mut building) = (sources.shared.search.present(), 0, 0, 0);
    for index in indexes.iter() {
        let facts = index.contents.facts();
        documents += facts.documents;
        segments += facts.segments;
        building += u64::from(index.contents.progress() != Progress::Ready);
    }
    vec![
        ("search_version".into(), MODULE_VERSION.to_string()),
        ("search_number_of_indexes".into(), indexes.len().to_string()),
        ("search_number_of_documents".into(), documents.to_string()),
        ("search_number_of_segments".into(), segments.to_string()),
        ("search_indexes_being_built".into(), building.to_string()),
        ("search_used_memory_indexes".into(), sources.shared.search.memory_bytes().to_string()),
    ]
}

fn lines(constants: &[(&'static str, &str)]) -> Lines {
    constants.iter().map(|(name, value)| (Cow::Borrowed(*name), (*value).to_string())).collect()
}

fn setting(sources: &Sources<'_, '_>, name: &str) -> String {
    sources.shared.settings.get(name).unwrap_or_default()
}

fn server(sources: &Sources<'_, '_>) -> Lines {
    let now_ms = sources.txn.now_ms();
    let uptime_s = now_ms.saturating_sub(sources.shared.started_at_ms) / 1000;
    let number = |value: u64| value.to_string();
    vec![
        ("redis_version".into(), REDIS_VERSION.to_string()),
        ("redis_git_sha1".into(), "00000000".to_string()),
        ("redis_git_dirty".into(), "0".to_string()),
        ("redis_build_id".into(), "0".to_string()),
        ("redis_mode".into(), "standalone".to_string()),
        ("edgecask_version".into(), env!("CARGO_PKG_VERSION").to_string()),
        ("os".into(), std::env::consts::OS.to_string()),
        ("arch_bits".into(), usize::BITS.to_string()),
        ("monotonic_clock".into(), "POSIX clock_gettime".to_string()),
        ("process_id".into(), number(0)),
        ("process_supervised".into(), "no".to_string()),
        ("run_id".into(), "0".repeat(40)),
        ("tcp_port".into(), setting(sources, "port")),
        ("server_time_usec".into(), number(now_ms * 1000)),
        ("uptime_in_seconds".into(), number(uptime_s)),
        ("uptime_in_days".into(), number(uptime_s / (24 * 60 * 60))),
        ("hz".into(), setting(sources, "hz")),
        ("configured_hz".into(), setting(sources, "hz")),
        ("lru_clock".into(), access_clock(now_ms).to_string()),
        ("executable".into(), String::new()),
        ("config_file".into(), String::new()),
        ("io_threads_active".into(), "0".to_string()),
    ]
}

fn clients(sources: &Sources<'_, '_>) -> Lines {
    let connected = sources.shared.clients.lock().len();
    let hub = &sources.shared.hub;
    let (tracking, ..) = hub.tracking.counts();
    let mut all = vec![
        ("connected_clients".into(), connected.to_string()),
        ("cluster_connections".into(), "0".to_string()),
        ("maxclients".into(), setting(sources, "maxclients")),
    ];
    all.extend(lines(&[("client_recent_max_input_buffer", "0"), ("client_recent_max_output_buffer", "0")]));
    all.push(("blocked_clients".into(), (hub.waiting.count() as u64 + hub.pauses.held()).to_string()));
    all.push(("tracking_clients".into(), tracking.to_string()));
    all.push(("clients_in_timeout_table".into(), "0".to_string()));
    all.push(("total_blocking_keys".into(), hub.waiting.key_count().to_string()));
    all.push(("total_blocking_keys_on_nokey".into(), "0".to_string()));
    all
}

/// What is in use is the host's word if it gives one, and otherwise the program's own memory at its start and what was
/// counted since: the keydir ([`Admin::held_bytes`]), the buffers of connections and what is remembered for them. Only what was counted is held against
/// `maxmemory`, and of that not what was deleted and is being freed.
fn memory(sources: &Sources<'_, '_>, facts: &HostLines) -> Lines {
    let fact = |wanted: &str| {
        let found = facts.iter().find(|(section, name, _)| *section == "memory" && *name == wanted);
        found.and_then(|(.., value)| value.parse::<u64>().ok()).unwrap_or(0)
    };
    let counted = Counted::of(sources.shared, sources.admin);
    let Counted { keys, garbage, clients, .. } = counted;
    let startup = fact("used_memory_startup");
    let used = fact("used_memory").max(startup + counted.all());
    let resident = fact("used_memory_rss");
    // A home that counts more has a peak of its own.
    let peak = fact("used_memory_peak").max(used).max(startup + counted.peak);
    let percent = |part: u64, whole: u64| format!("{:.2}%", part as f64 * 100.0 / whole.max(1) as f64);
    let ratio = if used == 0 { 1.0 } else { resident as f64 / used as f64 };
    let more = i128::from(resident) - i128::from(used);
    let line = |name: &'static str, value: u64| (Cow::Borrowed(name), value.to_string());
    let scripts = &sources.shared.scripts;
    let interpreters = scripts.memory_bytes();
    let (script_count, script_bytes) = scripts.cache.count_and_bytes();
    let libraries = scripts.libraries.present();
    let library_bytes = libraries.libraries().map(|library| library.source.len() as u64).sum::<u64>();
    let mut all = vec![
        line("used_memory", used),
        line("used_memory_rss", resident),
        line("used_memory_peak", peak),
        ("used_memory_peak_perc".into(), percent(used, peak)),
        line("used_memory_overhead", used - keys),
        line("used_memory_startup", startup),
        line("used_memory_dataset", keys),
        ("used_memory_dataset_perc".into(), percent(keys, used.saturating_sub(startup))),
        line("allocator_allocated", used),
        line("allocator_active", used),
        line("allocator_resident", resident),
        line("total_system_memory", fact("total_system_memory")),
        line("used_memory_lua", interpreters),
        line("used_memory_vm_eval", interpreters),
        line("used_memory_scripts_eval", script_bytes),
        line("number_of_cached_scripts", script_count),
        line("number_of_functions", libraries.function_count() as u64),
        line("number_of_libraries", libraries.libraries().count() as u64),
        // Interpreters run scripts and functions alike.
        line("used_memory_vm_functions", 0),
        line("used_memory_vm_total", interpreters),
        line("used_memory_functions", library_bytes),
        line("used_memory_scripts", script_bytes + library_bytes),
        ("maxmemory".into(), setting(sources, "maxmemory")),
        ("maxmemory_policy".into(), setting(sources, "maxmemory-policy")),
        ("allocator_frag_ratio".into(), "1.00".to_string()),
        line("allocator_frag_bytes", 0),
        ("allocator_rss_ratio".into(), format!("{ratio:.2}")),
        ("allocator_rss_bytes".into(), more.to_string()),
        ("rss_overhead_ratio".into(), "1.00".to_string()),
        line("rss_overhead_bytes", 0),
        ("mem_fragmentation_ratio".into(), format!("{ratio:.2}")),
        ("mem_fragmentation_bytes".into(), more.to_string()),
        line("mem_not_counted_for_evict", used - counted.all() + garbage),
    ];
    all.extend(lines(&[
        ("mem_replication_backlog", "0"),
        ("mem_total_replication_buffers", "0"),
        ("mem_clients_slaves", "0"),
    ]));
    all.push(line("mem_clients_normal", clients));
    all.extend(lines(&[
        ("mem_cluster_links", "0"),
        ("mem_aof_buffer", "0"),
        ("mem_allocator", "libc"),
        ("active_defrag_running", "0"),
        ("lazyfree_pending_objects", "0"),
        ("lazyfreed_objects", "0"),
    ]));
    all
}

fn persistence(sources: &Sources<'_, '_>) -> Lines {
    let is_loading = sources.shared.loading.is_on();
    let mut all = vec![("loading".into(), u8::from(is_loading).to_string())];
    all.extend(lines(&[
        ("async_loading", "0"),
        ("current_cow_peak", "0"),
        ("current_cow_size", "0"),
        ("current_cow_size_age", "0"),
        ("current_fork_perc", "0.00"),
        ("current_save_keys_processed", "0"),
        ("current_save_keys_total", "0"),
    ]));
    let changes = sources.shared.counters.changes.load(Ordering::Relaxed);
    all.push(("rdb_changes_since_last_save".into(), changes.to_string()));
    all.extend(lines(&[("rdb_bgsave_in_progress", "0")]));
    let saved_at_s = sources.shared.saved_at_s.load(Ordering::Relaxed);
    all.push(("rdb_last_save_time".into(), saved_at_s.to_string()));
    let status = |failed: bool| if failed { "err" } else { "ok" }.to_string();
    let save_failed = sources.shared.save_failed.load(Ordering::Relaxed);
    all.push(("rdb_last_bgsave_status".into(), status(save_failed)));
    all.extend(lines(&[
        ("rdb_last_bgsave_time_sec", "-1"),
        ("rdb_current_bgsave_time_sec", "-1"),
        ("rdb_saves", "0"),
        ("rdb_last_cow_size", "0"),
        ("rdb_last_load_keys_expired", "0"),
        ("rdb_last_load_keys_loaded", "0"),
    ]));
    let is_on = setting(sources, "appendonly") == "yes";
    all.push(("aof_enabled".into(), u8::from(is_on).to_string()));
    let rewriting = sources.admin.rewriting();
    all.push(("aof_rewrite_in_progress".into(), u8::from(rewriting.is_on).to_string()));
    all.extend(lines(&[
        ("aof_rewrite_scheduled", "0"),
        ("aof_last_rewrite_time_sec", "-1"),
        ("aof_current_rewrite_time_sec", "-1"),
    ]));
    let merge_failed = rewriting.has_failed || sources.shared.merge_failed.load(Ordering::Relaxed);
    all.push(("aof_last_bgrewrite_status".into(), status(merge_failed)));
    all.push(("aof_rewrites".into(), rewriting.finished.to_string()));
    all.push(("aof_rewrites_consecutive_failures".into(), "0".into()));
    // Whether writes are refused now: what Redis tells of its last one.
    let refuses = |(name, number): &(&str, u64)| REFUSALS.contains(name) && *number > 0;
    all.push(("aof_last_write_status".into(), status(sources.admin.report().iter().any(refuses))));
    all.extend(lines(&[
        ("aof_last_cow_size", "0"),
        ("module_fork_in_progress", "0"),
        ("module_fork_last_cow_size", "0"),
    ]));
    if is_loading {
        all.extend(progress_of_loading(sources));
    }
    all
}

/// The lines that there are only while data is being loaded. The numbers of bytes are those of datafiles.
fn progress_of_loading(sources: &Sources<'_, '_>) -> Lines {
    let (began_at_ms, total_bytes, loaded_bytes) = sources.shared.loading.progress();
    let elapsed_s = sources.txn.now_ms().saturating_sub(began_at_ms) / 1000;
    let left = total_bytes.saturating_sub(loaded_bytes) as f64 / loaded_bytes.max(1) as f64;
    let percent = loaded_bytes as f64 * 100.0 / total_bytes.max(1) as f64;
    vec![
        ("loading_start_time".into(), (began_at_ms / 1000).to_string()),
        ("loading_total_bytes".into(), total_bytes.to_string()),
        ("loading_rdb_used_mem".into(), "0".to_string()),
        ("loading_loaded_bytes".into(), loaded_bytes.to_string()),
        ("loading_loaded_perc".into(), format!("{percent:.2}")),
        ("loading_eta_seconds".into(), format!("{:.0}", (elapsed_s.max(1) as f64 * left).min(1e9))),
    ]
}

/// What the store tells of itself, which has no place in Redis' sections.
fn store(sources: &Sources<'_, '_>) -> Lines {
    let numbers = sources.admin.report().into_iter();
    let mut all: Lines = numbers.map(|(name, value)| (name.into(), value.to_string())).collect();
    if sources.shared.peers.are_possible() {
        let names = [
            "peers",
            "peers_linked",
            "peer_messages_sent",
            "peer_messages_received",
            "peer_requests_forwarded",
            "peer_requests_run_for_others",
        ];
        let counts = sources.shared.peers.counts();
        all.extend(names.into_iter().zip(counts).map(|(name, count)| (name.into(), count.to_string())));
        all.push(("peers_stands_apart".into(), u8::from(sources.shared.peers.stands_apart()).to_string()));
    }
    // A path may have any bytes, and a field is one line.
    let line = |text: String| text.replace(|sign: char| sign.is_control(), "?");
    all.extend(sources.admin.last_finding().map(|text| ("scrub_last_finding".into(), line(text))));
    all
}

fn stats(sources: &Sources<'_, '_>) -> Lines {
    let counters = &sources.shared.counters;
    let line = |name: &'static str, counter: &AtomicU64| {
        (Cow::Borrowed(name), counter.load(Ordering::Relaxed).to_string())
    };
    let rate = sources.shared.rates.now();
    let kilobytes = |bytes: f64| format!("{:.2}", bytes / 1024.0);
    let mut all = vec![
        line("total_connections_received", &counters.connections),
        line("total_commands_processed", &counters.commands),
        ("instantaneous_ops_per_sec".into(), format!("{:.0}", rate.commands)),
        line("total_net_input_bytes", &counters.input_bytes),
        line("total_net_output_bytes", &counters.output_bytes),
        ("total_net_repl_input_bytes".into(), "0".to_string()),
        ("total_net_repl_output_bytes".into(), "0".to_string()),
        ("instantaneous_input_kbps".into(), kilobytes(rate.input_bytes)),
        ("instantaneous_output_kbps".into(), kilobytes(rate.output_bytes)),
        ("instantaneous_input_repl_kbps".into(), kilobytes(0.0)),
        ("instantaneous_output_repl_kbps".into(), kilobytes(0.0)),
        line("rejected_connections", &counters.rejected_connections),
    ];
    let hub = &sources.shared.hub;
    let (channels, patterns, shard_channels) = hub.pubsub.counts();
    let (_, tracked_keys, tracked_items, tracked_prefixes) = hub.tracking.counts();
    all.extend(lines(&[("sync_full", "0"), ("sync_partial_ok", "0"), ("sync_partial_err", "0")]));
    all.push(line("expired_keys", &counters.expired_keys));
    all.extend(lines(&[
        ("expired_stale_perc", "0.00"),
        ("expired_time_cap_reached_count", "0"),
        ("expire_cycle_cpu_milliseconds", "0"),
    ]));
    let memory = &sources.shared.memory;
    let (exceeded_ms, present_ms) = memory.exceeded_ms(sources.txn.now_ms());
    all.push(line("evicted_keys", &memory.evicted_keys));
    all.push(line("evicted_clients", &memory.evicted_clients));
    all.push(("total_eviction_exceeded_time".into(), exceeded_ms.to_string()));
    all.push(("current_eviction_exceeded_time".into(), present_ms.to_string()));
    all.push(line("keyspace_hits", &counters.keyspace_hits));
    all.push(line("keyspace_misses", &counters.keyspace_misses));
    // Runs of scripts and other commands that met a key which they had not declared and began again.
    all.push(line("transaction_reruns", &sources.shared.reruns));
    all.push(("pubsub_channels".into(), channels.to_string()));
    all.push(("pubsub_patterns".into(), patterns.to_string()));
    all.push(("pubsubshard_channels".into(), shard_channels.to_string()));
    all.extend(lines(&[
        ("latest_fork_usec", "0"),
        ("total_forks", "0"),
        ("migrate_cached_sockets", "0"),
        ("slave_expires_tracked_keys", "0"),
        ("active_defrag_hits", "0"),
        ("active_defrag_misses", "0"),
        ("active_defrag_key_hits", "0"),
        ("active_defrag_key_misses", "0"),
        ("total_active_defrag_time", "0"),
        ("current_active_defrag_time", "0"),
    ]));
    all.push(("tracking_total_keys".into(), tracked_keys.to_string()));
    all.push(("tracking_total_items".into(), tracked_items.to_string()));
    all.push(("tracking_total_prefixes".into(), tracked_prefixes.to_string()));
    all.push(("unexpected_error_replies".into(), "0".to_string()));
    all.push(line("total_error_replies", &counters.error_replies));
    all.extend(lines(&[
        ("dump_payload_sanitizations", "0"),
        ("total_reads_processed", "0"),
        ("total_writes_processed", "0"),
        ("io_threaded_reads_processed", "0"),
        ("io_threaded_writes_processed", "0"),
        ("client_query_buffer_limit_disconnections", "0"),
    ]));
    let cut = &sources.shared.settings.output_limits().cut;
    all.push(line("client_output_buffer_limit_disconnections", cut));
    all.extend(lines(&[("reply_buffer_shrinks", "0"), ("reply_buffer_expands", "0")]));
    for (name, reason) in [
        ("acl_access_denied_auth", Reason::Login),
        ("acl_access_denied_cmd", Reason::Command),
        ("acl_access_denied_key", Reason::Key),
        ("acl_access_denied_channel", Reason::Channel),
    ] {
        all.push((name.into(), sources.shared.acl.log.count(reason).to_string()));
    }
    all
}

/// The history of a server is told by its run: nothing is replicated from one run to the next.
fn replication(sources: &Sources<'_, '_>, facts: &HostLines) -> Lines {
    let run_id = facts.iter().find(|(_, name, _)| *name == "run_id").map(|(.., value)| value.clone());
    let no_id = "0".repeat(40);
    vec![
        ("role".into(), "master".to_string()),
        ("connected_slaves".into(), "0".to_string()),
        ("master_failover_state".into(), "no-failover".to_string()),
        ("master_replid".into(), run_id.unwrap_or_else(|| no_id.clone())),
        ("master_replid2".into(), no_id),
        ("master_repl_offset".into(), "0".to_string()),
        ("second_repl_offset".into(), "-1".to_string()),
        ("repl_backlog_active".into(), "0".to_string()),
        ("repl_backlog_size".into(), setting(sources, "repl-backlog-size")),
        ("repl_backlog_first_byte_offset".into(), "0".to_string()),
        ("repl_backlog_histlen".into(), "0".to_string()),
    ]
}

fn keyspace(sources: &mut Sources<'_, '_>) -> Result<Lines, EngineError> {
    let line = |(db, keys, expiring): &(Db, u64, u64)| {
        (format!("db{db}").into(), format!("keys={keys},expires={expiring},avg_ttl=0"))
    };
    Ok(databases(sources)?.iter().map(line).collect())
}

/// The databases that have keys: number, keys, keys that expire.
fn databases(sources: &mut Sources<'_, '_>) -> Result<Vec<(Db, u64, u64)>, EngineError> {
    let mut all = Vec::new();
    for db in 0..sources.shared.settings.databases() {
        let keys = sources.txn.key_count(db)?;
        if keys > 0 {
            all.push((db, keys, sources.txn.expiring_count(db)?));
        }
    }
    Ok(all)
}
