//! How much was done a second lately: the `instantaneous_*` lines of INFO stats.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// Samples that a rate is taken from: with ten a second, the last second and a half, as in Redis.
const SAMPLES: usize = 16;

/// The counters as they were at a few times.
#[derive(Debug, Default)]
pub struct Rates(Mutex<VecDeque<Sample>>);

/// The counters as they were at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at_ms: u64,
    pub(crate) commands: u64,
    pub(crate) input_bytes: u64,
    pub(crate) output_bytes: u64,
}

/// What was done a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Commands.
    pub commands: f64,
    /// Bytes received.
    pub input_bytes: f64,
    /// Bytes sent.
    pub output_bytes: f64,
}

impl Rates {
    /// Takes note of the counters as they are now.
    pub(crate) fn add(&self, sample: Sample) {
        let mut samples = self.0.lock();
        samples.push_back(sample);
        if samples.len() > SAMPLES {
            samples.pop_front();
        }
    }

    /// The rates between the oldest and the latest sample; none without a host that takes them.
    pub fn now(&self) -> Rate {
        let samples = self.0.lock();
        let (Some(first), Some(last)) = (samples.front(), samples.back()) else { return Rate::default() };
        let seconds = last.at_ms.saturating_sub(first.at_ms) as f64 / 1000.0;
        if seconds <= 0.0 {
            return Rate::default();
        }
        // CONFIG RESETSTAT makes counters smaller.
        let rate = |of: fn(&Sample) -> u64| of(last).saturating_sub(of(first)) as f64 / seconds;
        Rate {
            commands: rate(|sample| sample.commands),
            input_bytes: rate(|sample| sample.input_bytes),
            output_bytes: rate(|sample| sample.output_bytes),
        }
    }
}
