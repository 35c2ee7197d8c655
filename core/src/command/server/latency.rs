//! LATENCY: spikes of `latency-monitor-threshold` milliseconds and more, and the histograms of all commands.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use super::sparkline;
use crate::catalog::{self, CommandSpec};
use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome, help};
use crate::server::outbox::Action;
use crate::server::{CommandStatistics, Event, Histogram, Spike};

pub(super) fn latency(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args[1].to_ascii_lowercase().as_slice() {
        b"doctor" => doctor(ctx),
        b"graph" => return graph(ctx, args[2]),
        b"help" => return help::reply_help(ctx.reply, catalog::spec(catalog::id("latency"))),
        b"histogram" => histogram(ctx, &args[2..]),
        b"history" => history(ctx, args[2]),
        b"latest" => latest(ctx),
        _ => reset(ctx, &args[2..]),
    }
    Ok(())
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn latest(ctx: &mut Context<'_, '_>) {
    let events = ctx.shared.latency.events();
    ctx.reply.array(events.len());
    for (name, event) in &events {
        let last = event.spikes.back().copied().unwrap_or(Spike { at_s: 0, took_ms: 0 });
        ctx.reply.array(4);
        ctx.reply.bulk(name.as_bytes());
        ctx.reply.integer(number(last.at_s));
        ctx.reply.integer(number(last.took_ms));
        ctx.reply.integer(number(event.worst_ms));
    }
}

fn history(ctx: &mut Context<'_, '_>, name: &[u8]) {
    let spikes = ctx.shared.latency.event(name).map(|(_, event)| event.spikes).unwrap_or_default();
    ctx.reply.array(spikes.len());
    for spike in spikes {
        ctx.reply.array(2);
        ctx.reply.integer(number(spike.at_s));
        ctx.reply.integer(number(spike.took_ms));
    }
}

fn reset(ctx: &mut Context<'_, '_>, names: &[&[u8]]) {
    let is_named = |event: &str| names.iter().any(|name| name.eq_ignore_ascii_case(event.as_bytes()));
    let events = ctx.shared.latency.events().into_iter().map(|(name, _)| name);
    let forgotten: Vec<&'static str> = events.filter(|name| names.is_empty() || is_named(name)).collect();
    ctx.reply.integer(i64::try_from(forgotten.len()).unwrap_or(i64::MAX));
    if !forgotten.is_empty() {
        ctx.outbox.push(Action::ResetLatency(forgotten));
    }
}

fn graph(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    let Some((name, event)) = ctx.shared.latency.event(name) else {
        let shown = quoted(name, 128);
        return Err(CommandError::owned(format!("ERR No samples available for event '{shown}'")));
    };
    let (high, low) = bounds(&event);
    let mut text = format!("{name} - high {high} ms, low {low} ms (all time high {} ms)\n", event.worst_ms);
    text.push_str(&"-".repeat(80));
    text.push('\n');
    let now_s = ctx.now_ms() / 1000;
    let samples: Vec<(u64, String)> =
        event.spikes.iter().map(|spike| (spike.took_ms, age(now_s.saturating_sub(spike.at_s)))).collect();
    sparkline::draw(&mut text, &samples);
    ctx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

fn bounds(event: &Event) -> (u64, u64) {
    let times = event.spikes.iter().map(|spike| spike.took_ms);
    (times.clone().max().unwrap_or(0), times.min().unwrap_or(0))
}

/// How long ago something was, in its largest unit.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

fn doctor(ctx: &mut Context<'_, '_>) {
    let events = ctx.shared.latency.events();
    let threshold_ms = ctx.shared.settings.latency_threshold_ms();
    let mut text = String::new();
    // Writing to a String cannot fail.
    if threshold_ms == 0 && events.is_empty() {
        text.push_str(
            "Latency is not monitored: CONFIG SET latency-monitor-threshold <milliseconds> turns it on, and commands \
             that take at least so long are recorded from then on.\n",
        );
    } else if events.is_empty() {
        let _ =
            writeln!(text, "No command has taken {threshold_ms} ms or more since the last LATENCY RESET.");
    } else {
        text.push_str("These kinds of commands took longer than the threshold:\n\n");
        for (place, (name, event)) in events.iter().enumerate() {
            let count = event.spikes.len() as u64;
            let sum: u64 = event.spikes.iter().map(|spike| spike.took_ms).sum();
            let average = sum / count.max(1);
            let deviation =
                event.spikes.iter().map(|spike| spike.took_ms.abs_diff(average)).sum::<u64>() / count.max(1);
            let _ = writeln!(
                text,
                "{}. {name}: {count} latency spikes (average {average}ms, mean deviation {deviation}ms). \
                 Worst all time event {}ms.",
                place + 1,
                event.worst_ms
            );
        }
        text.push_str(
            "\nWhat helps to find the cause:\n\
             - SLOWLOG GET names the commands that were slow, with their arguments.\n\
             - INFO commandstats and LATENCY HISTOGRAM tell which commands take the time in total.\n\
             - Commands of one pass over large collections or the whole keyspace (KEYS, SMEMBERS, HGETALL, SORT) can \
             be replaced by their SCAN counterparts.\n\
             - Reads of values that are not in the system's cache wait for the disk.\n",
        );
    }
    ctx.reply.verbatim("txt", text.as_bytes());
}

/// The histograms of all commands, or of the named ones and the subcommands of named containers.
fn histogram(ctx: &mut Context<'_, '_>, names: &[&[u8]]) {
    let statistics = &ctx.shared.statistics;
    let shown: Vec<(&CommandSpec, &CommandStatistics)> = if names.is_empty() {
        statistics.commands().collect()
    } else {
        let named = names.iter().filter_map(|name| catalog::lookup_full(name));
        let with_subcommands = named.flat_map(|spec| std::iter::once(spec).chain(spec.subcommands()));
        with_subcommands.filter_map(|spec| Some((spec, statistics.command(spec.id)?))).collect()
    };
    let mark = ctx.reply.defer();
    let mut count = 0;
    for (spec, counters) in shown {
        let Some(histogram) = counters.histogram() else { continue };
        count += 1;
        ctx.reply.bulk(spec.name.as_bytes());
        show_histogram(ctx, histogram, counters);
    }
    ctx.reply.finish_map(mark, count);
}

fn show_histogram(ctx: &mut Context<'_, '_>, histogram: &Histogram, counters: &CommandStatistics) {
    let powers = histogram.by_powers();
    ctx.reply.map(2);
    ctx.reply.bulk(b"calls");
    // Calls that came before latency-tracking was turned on are in no histogram.
    let calls = powers.last().map_or(0, |(_, calls)| *calls).min(counters.calls.load(Ordering::Relaxed));
    ctx.reply.integer(number(calls));
    ctx.reply.bulk(b"histogram_usec");
    ctx.reply.map(powers.len());
    for (micros, calls) in powers {
        ctx.reply.integer(number(micros));
        ctx.reply.integer(number(calls));
    }
}
