//! How searches behave unless a request says it: FT.CONFIG. Until the server ends, as in RediSearch.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::SEARCH_RESULTS_MAX;

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSetting {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub summary: &'static str,
    /// The least and the greatest value; both 0 for what cannot be changed.
    pub bounds: (u64, u64),
}

/// All settings, in the order of their values in [`SearchSettings`].
pub const SEARCH_SETTINGS: [SearchSetting; 5] = [
    SearchSetting { name: "DEFAULT_DIALECT", summary: "Dialect of queries that name none", bounds: (1, 4) },
    SearchSetting {
        name: "TIMEOUT",
        summary: "Milliseconds after which a search ends with an error; 0 for never",
        bounds: (0, u32::MAX as u64),
    },
    SearchSetting {
        name: "MAXSEARCHRESULTS",
        summary: "Most results of FT.SEARCH",
        bounds: (1, SEARCH_RESULTS_MAX),
    },
    SearchSetting {
        name: "MINPREFIX",
        summary: "Fewest letters before the star of a prefix",
        bounds: (0, 0),
    },
    SearchSetting {
        name: "INSTANT_CAP",
        summary: "Postings that are read of each word by SCORER INSTANT, a third of them of a single word; 0 for all",
        bounds: (0, u32::MAX as u64),
    },
];

/// The values.
#[derive(Debug)]
pub struct SearchSettings([AtomicU64; SEARCH_SETTINGS.len()]);

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings([1, 500, SEARCH_RESULTS_MAX, 1, 20_000].map(AtomicU64::new))
    }
}

impl SearchSettings {
    /// The value of a setting by its number.
    pub fn value(&self, number: usize) -> u64 {
        self.0.get(number).map_or(0, |value| value.load(Ordering::Relaxed))
    }

    /// Changes a setting; false if the value is none for it.
    pub fn set(&self, number: usize, value: u64) -> bool {
        let Some((setting, place)) = SEARCH_SETTINGS.get(number).zip(self.0.get(number)) else {
            return false;
        };
        let (least, most) = setting.bounds;
        let is_fine = most > 0 && (least..=most).contains(&value);
        if is_fine {
            place.store(value, Ordering::Relaxed);
        }
        is_fine
    }

    /// The dialect of queries that name none.
    pub fn default_dialect(&self) -> u8 {
        self.value(0) as u8
    }

    /// Milliseconds that a search may take; 0 for any number.
    pub fn timeout_ms(&self) -> u64 {
        self.value(1)
    }

    /// Most results of FT.SEARCH.
    pub fn results_max(&self) -> u64 {
        self.value(2)
    }

    /// Postings that are read of each word in the order for search as one types; 0 for all.
    pub fn instant_cap(&self) -> u64 {
        self.value(4)
    }
}
