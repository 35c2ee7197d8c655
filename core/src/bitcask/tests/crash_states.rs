//! Which crash states a matrix has judged, and where the power went to make them.

use std::collections::{BTreeMap, HashSet};

use super::harness::Promise;
use crate::storage::Simulation;

/// What a matrix found.
#[derive(Default)]
pub(super) struct Findings {
    /// Fingerprints of the disks.
    images: HashSet<u64>,
    seen: HashSet<(u64, usize, usize)>,
    /// Different disks for each place where the power went.
    places: BTreeMap<String, usize>,
    /// Crash states judged.
    pub(super) judged: usize,
    pub(super) violations: Vec<String>,
}

impl Findings {
    /// How many different disks were judged.
    pub(super) fn crash_states(&self) -> usize {
        self.images.len()
    }

    /// How many different disks were judged for each place where the power went.
    pub(super) fn places(&self) -> &BTreeMap<String, usize> {
        &self.places
    }

    /// Whether a disk with such promises was not judged before. `place` says where the power went.
    pub(super) fn is_new(&mut self, left: &Simulation, promise: Promise, place: &dyn Fn() -> String) -> bool {
        let image = image_of(left);
        if self.images.insert(image) {
            *self.places.entry(place()).or_default() += 1;
        }
        let is_new = self.seen.insert((image, promise.required, promise.attempted));
        self.judged += usize::from(is_new);
        is_new
    }

    /// Adds what another matrix found.
    pub(super) fn add(&mut self, other: Findings) {
        self.images.extend(other.images);
        for (place, count) in other.places {
            *self.places.entry(place).or_default() += count;
        }
        self.judged += other.judged;
        self.violations.extend(other.violations);
    }
}

/// A fingerprint of everything a machine holds.
pub(super) fn image_of(machine: &Simulation) -> u64 {
    let mut bytes = Vec::new();
    for name in machine.file_names() {
        bytes.extend_from_slice(name.as_bytes());
        let contents = machine.bytes(&name).unwrap_or_default();
        bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&contents);
    }
    for (key, value) in machine.meta_copy() {
        bytes.extend_from_slice(&key);
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&value);
    }
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

/// An operation of the device without its numbers: `write .data`, `rename MANIFEST.temporary MANIFEST`, `apply metadata`.
pub(super) fn kind_of(operation: &str) -> String {
    let verb = operation.split(' ').next().unwrap_or_default();
    let mut kind = verb.to_owned();
    if verb.starts_with("apply") {
        kind.push_str(" metadata");
    }
    for word in operation.split(' ').filter(|word| word.contains(['.', 'M', 'S', 'R'])) {
        let file = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let file = file.split('-').next().unwrap_or_default();
        kind.push(' ');
        kind.push_str(file);
    }
    if operation.ends_with("directory") {
        kind.push_str(" directory");
    }
    kind
}
