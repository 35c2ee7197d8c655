//! Runs every transcript of `tests/transcripts` in process, on the reference engine and on the store.

use super::Console;
use crate::bitcask::{self, Bitcask};
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::engine::waiting::{Odds, Waiting};
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{Options, Ordered, SMALL_BYTES};
use crate::storage::memory::MemoryStorage;
use crate::transcript::{self, Step};

/// The transcripts, one a group; wasm32 has no files, so they are part of the test binary.
pub(super) const TRANSCRIPTS: &[(&str, &str)] = &[
    ("acl", include_str!("../../../../../tests/transcripts/acl.txt")),
    ("bitmap_fields", include_str!("../../../../../tests/transcripts/bitmap_fields.txt")),
    ("bitmap_ranges", include_str!("../../../../../tests/transcripts/bitmap_ranges.txt")),
    ("administration", include_str!("../../../../../tests/transcripts/administration.txt")),
    ("bitmaps", include_str!("../../../../../tests/transcripts/bitmaps.txt")),
    ("command", include_str!("../../../../../tests/transcripts/command.txt")),
    ("config", include_str!("../../../../../tests/transcripts/config.txt")),
    ("connection", include_str!("../../../../../tests/transcripts/connection.txt")),
    ("dump_restore", include_str!("../../../../../tests/transcripts/dump_restore.txt")),
    ("debug", include_str!("../../../../../tests/transcripts/debug.txt")),
    ("generic", include_str!("../../../../../tests/transcripts/generic.txt")),
    ("geo", include_str!("../../../../../tests/transcripts/geo.txt")),
    ("geo_search", include_str!("../../../../../tests/transcripts/geo_search.txt")),
    ("hashes", include_str!("../../../../../tests/transcripts/hashes.txt")),
    ("hello", include_str!("../../../../../tests/transcripts/hello.txt")),
    ("hyperloglog", include_str!("../../../../../tests/transcripts/hyperloglog.txt")),
    ("keyspace", include_str!("../../../../../tests/transcripts/keyspace.txt")),
    ("maxmemory", include_str!("../../../../../tests/transcripts/maxmemory.txt")),
    ("json", include_str!("../../../../../tests/transcripts/json.txt")),
    ("lists", include_str!("../../../../../tests/transcripts/lists.txt")),
    ("restore_idle_time", include_str!("../../../../../tests/transcripts/restore_idle_time.txt")),
    ("search_dictionaries", include_str!("../../../../../tests/transcripts/search_dictionaries.txt")),
    ("search_suggestions", include_str!("../../../../../tests/transcripts/search_suggestions.txt")),
    ("server", include_str!("../../../../../tests/transcripts/server.txt")),
    ("server_facts", include_str!("../../../../../tests/transcripts/server_facts.txt")),
    ("sets", include_str!("../../../../../tests/transcripts/sets.txt")),
    ("sort", include_str!("../../../../../tests/transcripts/sort.txt")),
    ("slow_log", include_str!("../../../../../tests/transcripts/slow_log.txt")),
    ("sorted_set_combinations", include_str!("../../../../../tests/transcripts/sorted_set_combinations.txt")),
    ("sorted_set_ranges", include_str!("../../../../../tests/transcripts/sorted_set_ranges.txt")),
    ("sorted_sets", include_str!("../../../../../tests/transcripts/sorted_sets.txt")),
    ("stream_groups", include_str!("../../../../../tests/transcripts/stream_groups.txt")),
    ("stream_info", include_str!("../../../../../tests/transcripts/stream_info.txt")),
    ("stream_times", include_str!("../../../../../tests/transcripts/stream_times.txt")),
    ("streams", include_str!("../../../../../tests/transcripts/streams.txt")),
    ("streams_trim", include_str!("../../../../../tests/transcripts/streams_trim.txt")),
    ("strings", include_str!("../../../../../tests/transcripts/strings.txt")),
    ("strings_float", include_str!("../../../../../tests/transcripts/strings_float.txt")),
    ("strings_of_other_types", include_str!("../../../../../tests/transcripts/strings_of_other_types.txt")),
    ("time_outs", include_str!("../../../../../tests/transcripts/time_outs.txt")),
    ("transactions", include_str!("../../../../../tests/transcripts/transactions.txt")),
];

impl<E: Engine> Console<E> {
    fn run(mut self, name: &str, text: &str) {
        for step in transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")) {
            match step {
                Step::Advance(pause_ms) => self.now_ms += pause_ms,
                Step::Request { line, connection, unordered, args, expected } => {
                    let value = self.call(connection, &args);
                    let name_of = |word: Option<&Vec<u8>>| word.map(|word| word.to_ascii_lowercase());
                    if !self.server.engine.holds_locks()
                        && name_of(args.get(1)).as_deref() == Some(b"idletime")
                    {
                        // Reading writes nothing in a cluster, not even the time.
                        continue;
                    }
                    let shown = transcript::show(&value, unordered);
                    assert_eq!(shown, expected, "{name}.txt line {line}");
                }
            }
        }
    }
}

#[test]
fn transcripts_hold_on_the_reference_engine() {
    for (name, text) in TRANSCRIPTS {
        Console::new(MemoryEngine::new(16)).run(name, text);
    }
}

#[test]
fn transcripts_hold_on_the_bitcask_store() {
    for (name, text) in TRANSCRIPTS {
        let storage = std::sync::Arc::new(MemoryStorage::new());
        let options = bitcask::Options { databases: 16, ..bitcask::Options::default() };
        let Ok(opened) = Bitcask::open(storage, &options) else { panic!("an empty store opens") };
        Console::new(opened.store).run(name, text);
    }
}

/// Runs are thrown away and repeated at random: because a read has to wait, a commit has met another one, or a key was not
/// declared.
#[test]
fn engine_that_makes_its_callers_wait_changes_a_reply() {
    for (number, (name, text)) in (0..).zip(TRANSCRIPTS) {
        let odds = Odds { undeclared_percent: 10, ..Odds::default() };
        let engine = Waiting::with_odds(MemoryEngine::new(16), number, odds);
        Console::new(engine).run(name, text);
        let storage = std::sync::Arc::new(MemoryStorage::new());
        let Ok(opened) = Bitcask::open(storage, &bitcask::Options::default()) else {
            panic!("an empty store opens")
        };
        Console::new(Waiting::new(opened.store, number)).run(name, text);
    }
}

/// On a cluster every command fetches what it reads, meets others at random, and runs again.
#[test]
fn cluster_changes_a_reply() {
    // Nothing of a cluster is in this process' memory, so `maxmemory` bounds nothing, and uses are not counted.
    let here = TRANSCRIPTS.iter().filter(|(name, _)| *name != "maxmemory");
    for (number, (name, text)) in (0..).zip(here) {
        let often = Faults { conflict_percent: 10, read_conflict_percent: 5 };
        for (faults, small_bytes) in [(Faults::default(), SMALL_BYTES), (often, 0), (Faults::default(), 0)] {
            let options = Options { store: b"test".to_vec(), databases: 16, process: 1, small_bytes };
            let console = Console::new(Ordered::new(Simulated::new(number, faults), options));
            console.server.shared.settings.set("blob-min-bytes", "64gb").expect("a setting");
            console.run(name, text);
        }
    }
}

#[test]
fn freezing_between_requests_changes_a_reply() {
    for (name, text) in TRANSCRIPTS {
        let mut console = Console::new(MemoryEngine::new(16));
        console.sleeps = true;
        console.run(name, text);
    }
}

/// With a threshold of one byte every string is a blob.
#[test]
fn transcripts_hold_where_every_string_is_a_blob() {
    for (name, text) in TRANSCRIPTS {
        let storage = std::sync::Arc::new(MemoryStorage::new());
        let Ok(opened) = Bitcask::open(storage, &bitcask::Options::default()) else {
            panic!("an empty store opens")
        };
        let console = Console::new(opened.store);
        console.server.shared.settings.set("blob-min-bytes", "1").expect("a setting");
        console.run(name, text);
        let console = Console::new(MemoryEngine::new(16));
        console.server.shared.settings.set("blob-min-bytes", "1").expect("a setting");
        console.run(name, text);
    }
}
