//! What a short beginning stands for, by the heads of parts ([`Head`]) instead of a walk through all words that begin so.
//!
//! The cut keeps the words with most documents, so it needs no others. Heads are read from their most frequent words on, all parts
//! together, and each word is looked up in the other parts. A word that has not come yet is in no more documents than the last one
//! that came from each part, added up: what is in more is known for sure.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::search::evaluate::Failure;
use crate::search::index::part::{Head, List, View, Walk};
use crate::search::sorted;

use super::Request;

/// A word that the cut keeps.
pub(super) struct Kept {
    pub(super) name: Vec<u8>,
    /// In how many documents it is, those that are gone included.
    pub(super) documents: u64,
    /// Its postings in each view that has it.
    pub(super) lists: Vec<(u16, List)>,
}

/// A word of a part.
#[derive(Clone, Copy)]
struct Entry {
    view: u16,
    list: List,
    start: usize,
    len: usize,
}

/// The words that a cut of all words with this beginning keeps: the word itself first, the others by name. None if heads do not tell,
/// as when nothing is cut.
///
/// # Errors
/// More work or memory than allowed.
pub(super) fn kept(
    views: &[View<'_>],
    request: &Request<'_>,
    prefix: &[u8],
) -> Result<Option<Vec<Kept>>, Failure> {
    if request.postings_max == u64::MAX {
        return Ok(None);
    }
    let heads: Vec<Option<Arc<Head>>> = views.iter().map(|view| view.part.head(prefix)).collect();
    if heads.iter().all(Option::is_none) {
        return Ok(None);
    }
    let (mut names, mut entries) = (Vec::new(), Vec::new());
    let mut add = |view, name: &[u8], list| {
        entries.push(Entry { view, list, start: names.len(), len: name.len() });
        names.extend_from_slice(name);
    };
    for ((view, head), number) in views.iter().zip(&heads).zip(0..) {
        match head {
            Some(head) => head.words().for_each(|(name, list)| add(number, name, list)),
            None => view.part.words(prefix, &mut |name, _, list| {
                if !name.starts_with(prefix) {
                    return Walk::End;
                }
                add(number, name, list);
                Walk::On
            }),
        }
    }
    request.meter.work(entries.len() as u64)?;
    request.meter.memory(names.len() + entries.len() * size_of::<Entry>() * 2)?;
    sorted::by_key(&mut entries, |entry| u64::from(!entry.list.documents));
    // In how many documents of each view a word is at most that has not come yet.
    let mut bounds = vec![0u64; views.len()];
    for entry in entries.iter().rev() {
        if let Some(bound) = bounds.get_mut(usize::from(entry.view)) {
            *bound = entry.list.documents.into();
        }
    }
    let look_up = |name: &[u8]| {
        let in_view = |(view, number): (&View<'_>, u16)| Some((number, view.part.word(name)?));
        let lists: Vec<(u16, List)> = views.iter().zip(0..).filter_map(in_view).collect();
        let documents = lists.iter().map(|(_, list)| u64::from(list.documents)).sum();
        Kept { name: name.to_vec(), documents, lists }
    };
    let exact = look_up(prefix);
    let mut known: Vec<Kept> = Vec::new();
    let mut seen = BTreeSet::from([prefix]);
    let mut next_look = 16;
    for (number, entry) in entries.iter().enumerate() {
        if let Some(bound) = bounds.get_mut(usize::from(entry.view)) {
            *bound = entry.list.documents.into();
        }
        let name = names.get(entry.start..entry.start + entry.len).unwrap_or_default();
        if seen.insert(name) {
            request.meter.work(views.len() as u64)?;
            known.push(look_up(name));
        }
        if number + 1 == next_look || number + 1 == entries.len() {
            next_look *= 2;
            if let Some(count) = cut(&exact, &mut known, bounds.iter().sum(), request.postings_max) {
                known.truncate(count);
                sorted::all(&mut known, |one, other| one.name.cmp(&other.name));
                let exact = (!exact.lists.is_empty()).then_some(exact);
                return Ok(Some(exact.into_iter().chain(known).collect()));
            }
        }
    }
    Ok(None)
}

/// How many of the known words the cut keeps, which are put first; None if words may be among them that are in `bound` documents at most
/// and not known.
fn cut(exact: &Kept, known: &mut [Kept], bound: u64, postings_max: u64) -> Option<usize> {
    sorted::all(known, |one, other| {
        other.documents.cmp(&one.documents).then_with(|| one.name.cmp(&other.name))
    });
    let mut sum = exact.documents;
    for (count, word) in known.iter().enumerate() {
        if word.documents <= bound {
            return None;
        }
        sum += word.documents;
        let is_first = count == 0 && exact.lists.is_empty();
        if sum > postings_max && !is_first {
            return Some(count);
        }
    }
    None
}
