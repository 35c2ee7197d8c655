//! MEMORY: what takes memory. Values stand on the disk, so what counts for a key is its entry in the keydir.

use std::sync::atomic::Ordering;

use crate::catalog;
use crate::command::args::{integer, is_option};
use crate::command::{CommandError, Context, Outcome, help};
use crate::engine::Admin;
use crate::resp::Reply;
use crate::server::{Effect, Shared};

/// Below so much memory there is nothing to give advice about.
const WORTH_ADVICE_BYTES: u64 = 5 * 1024 * 1024;

/// Resident memory of more than so many times what is in use is worth a word.
const MUCH_MORE: f64 = 1.4;

/// The memory that is counted, in bytes. What the program itself takes is not.
pub(super) struct Counted {
    /// The keydir, garbage included.
    pub(super) keys: u64,
    /// What was deleted and has yet to be freed.
    pub(super) garbage: u64,
    /// The buffers of connections.
    pub(super) clients: u64,
    /// What is remembered for them: keys in their caches, and the slow log.
    pub(super) tables: u64,
    /// The most that there ever was of all this together.
    pub(super) peak: u64,
}

impl Counted {
    pub(super) fn of(shared: &Shared, admin: &dyn Admin) -> Counted {
        let clients = shared.memory.clients_bytes.load(Ordering::Relaxed);
        let tables = shared.overhead_bytes().saturating_sub(clients);
        let keys = admin.held_bytes();
        let peak = shared.memory.note_counted(keys + clients + tables);
        Counted { keys, garbage: admin.garbage_bytes(), clients, tables, peak }
    }

    /// All of it.
    pub(super) fn all(&self) -> u64 {
        self.keys + self.clients + self.tables
    }
}

/// What is known of the process, in bytes.
struct Usage {
    used: u64,
    startup: u64,
    resident: u64,
    peak: u64,
    counted: Counted,
    keys: u64,
}

pub(super) fn memory(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args[1].to_ascii_lowercase().as_slice() {
        b"doctor" => doctor(ctx),
        b"help" => help::reply_help(ctx.reply, catalog::spec(catalog::id("memory"))),
        b"malloc-stats" => malloc_stats(ctx),
        b"purge" => {
            ctx.outbox.effect(Effect::GiveMemoryBack);
            ctx.reply.ok();
            Ok(())
        }
        b"stats" => stats(ctx),
        _ => usage(ctx, args),
    }
}

fn usage(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let mut options = args.get(3..).unwrap_or_default();
    while let Some(option) = options.first() {
        options = match options {
            [_, count, rest @ ..] if is_option(option, "SAMPLES") => {
                // Every node of a collection is known, so none is guessed from samples.
                if integer(count)? < 0 {
                    return Err(CommandError::SYNTAX);
                }
                rest
            }
            _ => return Err(CommandError::SYNTAX),
        };
    }
    let db = ctx.db();
    ctx.txn.set_touches(false);
    match ctx.txn.memory_bytes(db, args[2])? {
        Some(bytes) => ctx.reply.integer(i64::try_from(bytes).unwrap_or(i64::MAX)),
        None => ctx.reply.null(),
    }
    ctx.txn.set_touches(!ctx.client.no_touch);
    Ok(())
}

/// A fact of the host's memory section.
fn fact(ctx: &Context<'_, '_>, wanted: &str) -> u64 {
    let facts = ctx.shared.host.facts();
    let found = facts.iter().find(|(section, name, _)| *section == "memory" && *name == wanted);
    found.and_then(|(.., value)| value.parse().ok()).unwrap_or(0)
}

fn usage_of_process(ctx: &mut Context<'_, '_>, databases: u32) -> Result<Usage, CommandError> {
    let mut keys = 0;
    for db in 0..databases {
        keys += ctx.txn.key_count(db)?;
    }
    let counted = Counted::of(ctx.shared, ctx.admin);
    let (startup, resident) = (fact(ctx, "used_memory_startup"), fact(ctx, "used_memory_rss"));
    let used = fact(ctx, "used_memory").max(startup + counted.all());
    let peak = fact(ctx, "used_memory_peak").max(used).max(startup + counted.peak);
    Ok(Usage { used, startup, resident, peak, counted, keys })
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn stats(ctx: &mut Context<'_, '_>) -> Outcome {
    let databases = ctx.shared.settings.databases();
    let usage = usage_of_process(ctx, databases)?;
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let reply = &mut *ctx.reply;
    let mark = reply.defer();
    let mut pairs = 0;
    let mut integer = |reply: &mut Reply, name: &str, number: i64| {
        reply.bulk(name.as_bytes());
        reply.integer(number);
        pairs += 1;
    };
    integer(reply, "peak.allocated", signed(usage.peak));
    integer(reply, "total.allocated", signed(usage.used));
    integer(reply, "startup.allocated", signed(usage.startup));
    integer(reply, "replication.backlog", 0);
    integer(reply, "clients.slaves", 0);
    integer(reply, "clients.normal", signed(usage.counted.clients));
    for name in ["cluster.links", "aof.buffer", "lua.caches", "functions.caches"] {
        integer(reply, name, 0);
    }
    let dataset = usage.counted.keys;
    integer(reply, "overhead.total", signed(usage.used - dataset));
    integer(reply, "keys.count", signed(usage.keys));
    integer(reply, "keys.bytes-per-key", signed(dataset.checked_div(usage.keys).unwrap_or(0)));
    integer(reply, "dataset.bytes", signed(dataset));
    integer(reply, "allocator.allocated", signed(usage.used));
    integer(reply, "allocator.active", signed(usage.used));
    integer(reply, "allocator.resident", signed(usage.resident));
    integer(reply, "allocator-fragmentation.bytes", 0);
    let more = signed(usage.resident).saturating_sub(signed(usage.used));
    integer(reply, "allocator-rss.bytes", more);
    integer(reply, "rss-overhead.bytes", 0);
    integer(reply, "fragmentation.bytes", more);
    let resident = ratio(usage.resident, usage.used);
    for (name, number) in [
        ("dataset.percentage", ratio(dataset, usage.used.saturating_sub(usage.startup)) * 100.0),
        ("peak.percentage", ratio(usage.used, usage.peak) * 100.0),
        ("allocator-fragmentation.ratio", 1.0),
        ("allocator-rss.ratio", resident),
        ("rss-overhead.ratio", 1.0),
        ("fragmentation", resident),
    ] {
        reply.bulk(name.as_bytes());
        reply.double(number);
        pairs += 1;
    }
    reply.finish_map(mark, pairs);
    Ok(())
}

fn doctor(ctx: &mut Context<'_, '_>) -> Outcome {
    let usage = usage_of_process(ctx, 0)?;
    let text = if usage.used < WORTH_ADVICE_BYTES {
        "So little memory is in use that there is nothing to say about it.".to_string()
    } else if ratio(usage.resident, usage.used) > MUCH_MORE {
        format!(
            "{} bytes are in use and {} are resident. Datafiles that are mapped count as resident, and the system takes \
             them back when it needs the room; the rest is what the allocator keeps for later.",
            usage.used, usage.resident
        )
    } else {
        "Nothing about the use of memory looks odd.".to_string()
    };
    ctx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

fn malloc_stats(ctx: &mut Context<'_, '_>) -> Outcome {
    let facts = ctx.shared.host.facts();
    let lines = facts.iter().filter(|(section, ..)| *section == "memory");
    let lines: Vec<String> = lines.map(|(_, name, value)| format!("{name}:{value}")).collect();
    let text = if lines.is_empty() {
        "Stats not supported for the current allocator".into()
    } else {
        lines.join("\n")
    };
    ctx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}
