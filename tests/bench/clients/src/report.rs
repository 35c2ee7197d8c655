//! The line of JSON: the load, and what an operation cost. `*_us` are microseconds of this process' CPU, all else per
//! operation are counts.

use serde_json::json;

use crate::counters::Counter;
use crate::load::{Load, Measured, Operation};

/// Digits after the point that are shown.
const PRECISION: f64 = 10_000.0;

pub fn line(load: &Load, measured: &Measured) -> String {
    let per_operation = |amount: f64| rounded(amount / measured.operations.max(1) as f64);
    let counted = |counter| per_operation(measured.counts.of(counter) as f64);
    let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
    json!({
        "client": load.client,
        "operation": match load.operation { Operation::Get => "get", Operation::Set => "set" },
        "size_bytes": load.size,
        "tasks": load.tasks,
        "pipeline": load.pipeline,
        "seconds": rounded(measured.elapsed.as_secs_f64()),
        "operations": measured.operations,
        "operations_per_second": (measured.operations as f64 / measured.elapsed.as_secs_f64()).round(),
        "cpu_us": per_operation(micros(measured.user + measured.system)),
        "system_us": per_operation(micros(measured.system)),
        "allocations": counted(Counter::Allocations),
        "allocated_bytes": counted(Counter::AllocatedBytes),
        "receives": counted(Counter::Receives),
        "sends": counted(Counter::Sends),
        "polls": counted(Counter::Polls),
        "wakes": counted(Counter::Wakes),
        "waits": per_operation(measured.waits as f64),
    })
    .to_string()
}

fn rounded(number: f64) -> f64 {
    (number * PRECISION).round() / PRECISION
}
