//! The latency monitor: when events took at least `latency-monitor-threshold` milliseconds.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;

use crate::limits::LATENCY_SPIKES_MAX;

/// The spikes of every event, by its name.
#[derive(Debug, Default)]
pub struct LatencyMonitor(Mutex<BTreeMap<&'static str, Event>>);

/// What is known of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The latest spikes, the oldest first, at most one a second.
    pub spikes: VecDeque<Spike>,
    /// The longest ever, in milliseconds.
    pub worst_ms: u64,
}

/// One time that an event took long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// Unix time in seconds.
    pub at_s: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

impl LatencyMonitor {
    /// Adds a spike; of several in one second the longest is kept.
    pub(crate) fn add(&self, event: &'static str, at_s: u64, took_ms: u64) {
        let mut events = self.0.lock();
        let event = events.entry(event).or_default();
        event.worst_ms = event.worst_ms.max(took_ms);
        match event.spikes.back_mut() {
            Some(last) if last.at_s == at_s => last.took_ms = last.took_ms.max(took_ms),
            _ => event.spikes.push_back(Spike { at_s, took_ms }),
        }
        if event.spikes.len() > LATENCY_SPIKES_MAX {
            event.spikes.pop_front();
        }
    }

    /// All events by name.
    pub fn events(&self) -> Vec<(&'static str, Event)> {
        self.0.lock().iter().map(|(name, event)| (*name, event.clone())).collect()
    }

    /// One event, if it ever took long; its name in any case.
    pub fn event(&self, name: &[u8]) -> Option<(&'static str, Event)> {
        let events = self.0.lock();
        let found = events.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name));
        found.map(|(name, event)| (*name, event.clone()))
    }

    /// Forgets the events that `forget` names; returns how many those were.
    pub fn reset(&self, forget: impl Fn(&str) -> bool) -> usize {
        let mut events = self.0.lock();
        let before = events.len();
        events.retain(|name, _| !forget(name));
        before - events.len()
    }
}
