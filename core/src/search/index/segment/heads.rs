//! The most frequent words of a short beginning. A search as one types asks for these at each first letter, and a walk through all
//! words with that letter takes longer than reading their postings.
//!
//! A segment never changes, so what was found once stays: in memory alone, and only for beginnings with many words.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::part::{Head, List, Walk};
use super::dictionary::Dictionary;
use crate::search::sorted;

/// Longest beginning that has a head.
const PREFIX_MAX_BYTES: usize = 3;

/// With no more words than this, a walk is as quick.
const WORDS_MIN: usize = 512;

/// A head ends with the word by which it has so many postings, ...
const POSTINGS: u64 = 48 * 1024;

/// ... or with so many words.
const WORDS_MAX: usize = 1024;

/// Heads take this part of a segment's bytes at most. It counts as taken from the beginning, so that no query changes what an index takes.
const MEMORY_SHARE: usize = 32;

/// What was found so far, by beginnings.
#[derive(Default)]
pub(super) struct Heads {
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    /// None: it has few words.
    heads: BTreeMap<Vec<u8>, Option<Arc<Head>>>,
    bytes: usize,
}

impl Heads {
    /// Bytes of memory that the heads of a segment with so many bytes may take.
    pub fn bytes_max(len_bytes: usize) -> usize {
        len_bytes / MEMORY_SHARE
    }

    /// The head of a beginning in a dictionary that is always the same.
    pub fn of(&self, dictionary: Dictionary<'_>, prefix: &[u8], len_bytes: usize) -> Option<Arc<Head>> {
        if prefix.is_empty() || prefix.len() > PREFIX_MAX_BYTES {
            return None;
        }
        if let Some(known) = self.found.lock().heads.get(prefix) {
            return known.clone();
        }
        let head = find(dictionary, prefix).map(Arc::new);
        let bytes = 64 + head.as_ref().map_or(0, |head| head.memory_bytes());
        let mut found = self.found.lock();
        if found.bytes + bytes <= Heads::bytes_max(len_bytes) && !found.heads.contains_key(prefix) {
            found.bytes += bytes;
            found.heads.insert(prefix.to_vec(), head.clone());
        }
        head
    }
}

fn find(dictionary: Dictionary<'_>, prefix: &[u8]) -> Option<Head> {
    let (mut names, mut words) = (Vec::new(), Vec::<(usize, usize, List)>::new());
    dictionary.walk(prefix, &mut |term, _, list| {
        if !term.starts_with(prefix) {
            return Walk::End;
        }
        words.push((names.len(), term.len(), list));
        names.extend_from_slice(term);
        Walk::On
    });
    if words.len() <= WORDS_MIN {
        return None;
    }
    // Those with as many documents stay in the order of their bytes.
    sorted::by_key(&mut words, |word| u64::from(!word.2.documents));
    let mut head = Head::default();
    let mut postings = 0;
    for (at, len, list) in words.iter().take(WORDS_MAX) {
        head.push(super::super::bytes::piece(&names, *at, *len), *list);
        postings += u64::from(list.documents);
        if postings > POSTINGS {
            break;
        }
    }
    Some(head)
}
