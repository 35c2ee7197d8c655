//! What a run has counted, as JSON for keystrokes.py.

use std::fmt::Write as _;
use std::time::Duration;

use crate::clocks::Clocks;

#[derive(Default)]
pub struct Latencies(Vec<Duration>);

impl Latencies {
    pub fn add(&mut self, one: Duration) {
        self.0.push(one);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn json(&mut self, name: &str, text: &mut String) {
        self.0.sort_unstable();
        for (part, share) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)] {
            let at = ((self.0.len() as f64 * share) as usize).min(self.0.len().saturating_sub(1));
            let each = self.0.get(at).copied().unwrap_or_default();
            let _ = write!(text, "\"{name}_{part}_ms\": {:.3}, ", each.as_secs_f64() * 1e3);
        }
    }
}

#[derive(Default)]
pub struct Report {
    pub connections: usize,
    /// Of the measured part.
    pub seconds: f64,
    /// From the planned moment to the moment at which the answer was read. Requests without an answer count until the end.
    pub searches: Latencies,
    pub writes: Latencies,
    /// From the planned moment to the moment of sending: what the generator itself, or the machine, adds to the latencies.
    pub lateness: Latencies,
    pub superseded: usize,
    pub nothing: usize,
    pub errors: usize,
    pub first_error: Option<String>,
    pub unanswered: usize,
    pub clocks: Option<Clocks>,
}

impl Report {
    pub fn json(mut self) -> String {
        let mut text = String::from("{");
        self.searches.json("search", &mut text);
        self.writes.json("write", &mut text);
        self.lateness.json("lateness", &mut text);
        if let Some(clocks) = self.clocks {
            for (name, each) in
                [("server", clocks.server), ("generator", clocks.generator), ("machine", clocks.machine)]
            {
                let _ = write!(text, "\"{name}_processors\": {:.3}, ", each / self.seconds);
            }
        }
        let _ = write!(
            text,
            "\"connections\": {}, \"searches_per_s\": {:.1}, \"writes_per_s\": {:.1}, \"superseded\": {}, \"nothing\": {}, \
             \"errors\": {}, \"unanswered\": {}, \"first_error\": {:?}}}",
            self.connections,
            self.searches.len() as f64 / self.seconds,
            self.writes.len() as f64 / self.seconds,
            self.superseded,
            self.nothing,
            self.errors,
            self.unanswered,
            self.first_error.unwrap_or_default(),
        );
        text
    }
}
