//! The most frequent words of a short beginning. A search as one types asks for these at each first letter, and a walk through all
//! words with that letter takes longer than reading their postings.
//!
//! What was found once stays until documents come: in memory alone, and only for beginnings with many words.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::part::{Head, List, TermVisitor, Walk};
use crate::sorted;

/// Longest beginning that has a head.
const PREFIX_MAX_BYTES: usize = 3;

/// With no more words than this, a walk is as quick.
const WORDS_MIN: usize = 512;

/// A head ends with the word by which it has so many postings, but not before it has some words: the first may be in half of all documents,
/// and one word alone decides no cut, ...
const POSTINGS: u64 = 32 * 1024;

/// ... so it has at least so many, ...
const WORDS_LEAST: usize = 16;

/// ... or with so many words.
const WORDS_MAX: usize = 192;

/// Heads take this part of a part's bytes at most. It counts as taken from the beginning, so that no query changes what an index takes.
const MEMORY_SHARE: usize = 32;

/// In a small part they may take more than that: a head is of about the same size everywhere, and all letters are asked for. So many
/// bytes are the heads of all letters, and of pairs of letters that many words begin with; ...
const MEMORY_LEAST_BYTES: usize = 192 * 1024;

/// ... but never more than this part of the bytes.
const MEMORY_SHARE_MAX: usize = 4;

/// About what a beginning takes beside its words.
const ENTRY_BYTES: usize = 64;

/// What was found so far, by beginnings.
#[derive(Debug, Default)]
pub(super) struct Heads {
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    /// How many documents the part had.
    places: u32,
    /// None: it has few words.
    heads: BTreeMap<Vec<u8>, Option<Arc<Head>>>,
    bytes: usize,
}

impl Heads {
    /// Bytes of memory that the heads of a part with so many bytes may take.
    pub fn bytes_max(part_bytes: usize) -> usize {
        (part_bytes / MEMORY_SHARE).max(MEMORY_LEAST_BYTES.min(part_bytes / MEMORY_SHARE_MAX))
    }

    /// The head of a beginning in a part with so many places and bytes. `walk` shows its words from a beginning on.
    pub fn of(
        &self,
        prefix: &[u8],
        (places, part_bytes): (u32, usize),
        walk: &dyn Fn(&[u8], TermVisitor<'_>),
    ) -> Option<Arc<Head>> {
        if prefix.is_empty() || prefix.len() > PREFIX_MAX_BYTES {
            return None;
        }
        {
            let mut found = self.found.lock();
            if found.places != places {
                *found = Found { places, ..Found::default() };
            } else if let Some(known) = found.heads.get(prefix) {
                return known.clone();
            }
        }
        let head = find(prefix, walk).map(Arc::new);
        let bytes = ENTRY_BYTES + head.as_ref().map_or(0, |head| head.memory_bytes());
        let mut found = self.found.lock();
        let is_new = found.places == places && !found.heads.contains_key(prefix);
        if is_new && found.bytes + bytes <= Heads::bytes_max(part_bytes) {
            found.bytes += bytes;
            found.heads.insert(prefix.to_vec(), head.clone());
        }
        head
    }
}

fn find(prefix: &[u8], walk: &dyn Fn(&[u8], TermVisitor<'_>)) -> Option<Head> {
    let (mut names, mut words) = (Vec::new(), Vec::<(usize, usize, List)>::new());
    walk(prefix, &mut |term, _, list| {
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
        head.push(super::bytes::piece(&names, *at, *len), *list);
        postings += u64::from(list.documents);
        if postings > POSTINGS && head.len() >= WORDS_LEAST {
            break;
        }
    }
    Some(head)
}
