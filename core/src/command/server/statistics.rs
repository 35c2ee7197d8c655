//! The sections of INFO with a line for each command or error: commandstats, errorstats, latencystats.

use std::sync::atomic::Ordering;

use super::Lines;
use crate::server::Shared;

pub(super) fn commands(shared: &Shared) -> Lines {
    let line = |(spec, counters): (&crate::catalog::CommandSpec, &crate::server::CommandStatistics)| {
        let calls = counters.calls.load(Ordering::Relaxed);
        let took_us = counters.took_ns.load(Ordering::Relaxed) as f64 / 1000.0;
        let each_us = if calls == 0 { 0.0 } else { took_us / calls as f64 };
        let (rejected, failed) =
            (counters.rejected.load(Ordering::Relaxed), counters.failed.load(Ordering::Relaxed));
        let mut text = format!(
            "calls={calls},usec={},usec_per_call={each_us:.2},rejected_calls={rejected},failed_calls={failed}",
            took_us as u64
        );
        if shared.peers.are_possible() {
            let counted =
                [&counters.rounds, &counters.retries].map(|counter| counter.load(Ordering::Relaxed));
            text += &format!(",cluster_rounds={},cluster_retries={}", counted[0], counted[1]);
        }
        (format!("cmdstat_{}", spec.name).into(), text)
    };
    shared.statistics.commands().map(line).collect()
}

pub(super) fn errors(shared: &Shared) -> Lines {
    let errors = shared.statistics.errors();
    errors
        .into_iter()
        .map(|(code, count)| (format!("errorstat_{code}").into(), format!("count={count}")))
        .collect()
}

/// The percentiles that `latency-tracking-info-percentiles` names.
pub(super) fn latencies(shared: &Shared) -> Lines {
    let wanted = shared.settings.get("latency-tracking-info-percentiles").unwrap_or_default();
    let percentiles: Vec<f64> =
        wanted.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    let timed =
        shared.statistics.commands().filter_map(|(spec, counters)| Some((spec, counters.histogram()?)));
    timed
        .map(|(spec, histogram)| {
            let shown: Vec<String> = percentiles
                .iter()
                .map(|percent| format!("p{percent}={:.3}", histogram.percentile(*percent) as f64 / 1000.0))
                .collect();
            (format!("latency_percentiles_usec_{}", spec.name).into(), shown.join(","))
        })
        .collect()
}
