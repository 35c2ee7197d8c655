//! What a short beginning stands for, by the heads of parts ([`Head`]) instead of a walk through all words that begin so.
//!
//! The cut keeps the words with most documents, so it needs no others. All words that heads have are taken together. A word that a head
//! lacks is in no more documents of its part than the head's last one: so its documents have a bound, and words are looked up where
//! heads lack them from the greatest bound on, until what the cut keeps is known for sure.

use std::sync::Arc;

use crate::search::evaluate::Failure;
use crate::search::index::part::{Head, List, View, Walk};
use crate::sorted;

use super::Request;

/// A word that the cut keeps.
pub(super) struct Kept {
    pub(super) name: Vec<u8>,
    /// In how many documents it is, those that are gone included.
    pub(super) documents: u64,
    /// Its postings in each view that has it.
    pub(super) lists: Vec<(u16, List)>,
}

/// A word of a part that its head has.
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
    if request.postings_max() == u64::MAX {
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
    // In how many documents of each view a word is at most that is not among the entries.
    let others: Vec<u64> =
        heads.iter().map(|head| head.as_ref().map_or(0, |head| head.others_max())).collect();
    let name = |entry: &Entry| names.get(entry.start..entry.start + entry.len).unwrap_or_default();
    let of = |at: u32| entries.get(at as usize).map_or(&[][..], &name);
    let order = sorted::by_text(entries.len() as u32, &of);
    let mut exact = None;
    let mut words: Vec<(u64, &[u32])> = Vec::new();
    for same in order.chunk_by(|one, other| of(*one) == of(*other)) {
        // Each view in which the word is known has its own number of documents, all others at most as many as unknown words.
        let known = same.iter().filter_map(|at| entries.get(*at as usize));
        let more = known.map(|entry| {
            let others = others.get(usize::from(entry.view)).copied().unwrap_or(0);
            u64::from(entry.list.documents).saturating_sub(others)
        });
        let bound = others.iter().sum::<u64>() + more.sum::<u64>();
        if same.first().is_some_and(|at| of(*at) == prefix) {
            exact = Some(same)
        } else {
            words.push((bound, same))
        }
    }
    sorted::by_key(&mut words, |(bound, _)| !bound);
    let look_up = |name: &[u8], same: &[u32]| {
        let mut lists: Vec<(u16, List)> = Vec::with_capacity(views.len());
        for ((view, number), others) in views.iter().zip(0u16..).zip(&others) {
            let known =
                same.iter().filter_map(|at| entries.get(*at as usize)).find(|entry| entry.view == number);
            let list = match known {
                Some(entry) => Some(entry.list),
                None if *others == 0 => None,
                None => view.part.word(name),
            };
            lists.extend(list.map(|list| (number, list)));
        }
        let documents = lists.iter().map(|(_, list)| u64::from(list.documents)).sum();
        Kept { name: name.to_vec(), documents, lists }
    };
    let exact = look_up(prefix, exact.unwrap_or_default());
    let unseen: u64 = others.iter().sum();
    let mut known: Vec<Kept> = Vec::new();
    let mut next_look = 16;
    for (number, (_, same)) in words.iter().enumerate() {
        let name = same.first().map_or(&[][..], |at| of(*at));
        request.meter.work(views.len() as u64)?;
        known.push(look_up(name, same));
        if number + 1 == next_look || number + 1 == words.len() {
            next_look *= 2;
            // What is next has at least as many as all that come behind it, and as those that no head has.
            let bound = words.get(number + 1).map_or(unseen, |(bound, _)| *bound);
            if let Some(count) = cut(&exact, &mut known, bound, request.postings_max()) {
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
