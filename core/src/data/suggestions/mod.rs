//! Suggestions of FT.SUGADD: texts with scores, found by how they begin.
//!
//! ```text
//! suggestion   subkey: 00, the text folded, 00, the text unless it is folded itself    value: score, 8 bytes
//! payload      subkey: 01, the text                                                     value: bytes of the client
//! ```
//!
//! A score is an IEEE 754 double, little-endian, and finite. The root has no value. Texts have no zero byte, so what begins alike when
//! folded is one run of subkeys, and each says which text it is. Payloads stand apart: [`complete`] looks at scores of thousands of
//! suggestions and at the payloads of a few, and scores alone are short enough to stay in the tree.
//!
//! Folded is lower case, character by character, as far as lower case is one character; what is not UTF-8 stays as it is. A client's
//! text comes back as it was added, and two texts that differ in case are two suggestions, as in RediSearch.

mod complete;
#[cfg(test)]
mod tests;
mod typo;

use std::borrow::Cow;
use std::ops::ControlFlow;

pub use complete::{Completion, Wanted, complete};

use super::{DataError, Result, root_of_kind};
use crate::engine::{Db, EngineError, Kind, NewRoot, Root, Start, SubWalk, Txn, Want};
use crate::limits::SUGGESTION_MAX_CHARS;

/// The first byte of a suggestion's subkey.
const SUGGESTIONS: u8 = 0;

/// The first byte of a payload's subkey: all of them stand behind the suggestions.
const PAYLOADS: u8 = 1;

/// Suggestions that are held between two walks.
const AT_ONCE: usize = 1024;

/// Stands behind a folded text.
const END: u8 = 0;

/// Sees text, score and payload of a suggestion, and ends the walk by an error.
pub type Visit<'v> = &'v mut dyn FnMut(&[u8], f64, &[u8]) -> Result<()>;

/// The root of suggestions, if the key is there.
///
/// # Errors
/// The key has another type; or the engine's, as for all functions here.
pub fn root(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<Root>> {
    root_of_kind(txn, db, key, Kind::Suggestions)
}

/// Whether a text may be one of the suggestions: it has characters, not too many, and no zero byte among them.
pub fn is_text(text: &[u8]) -> bool {
    (1..=SUGGESTION_MAX_CHARS).contains(&chars(text)) && !text.contains(&END)
}

/// How many suggestions there are.
pub fn len(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<u64> {
    Ok(txn.sub_rank(db, key, &[PAYLOADS])?)
}

/// The score of a suggestion, if there is such a one.
pub fn score(txn: &mut Txn<'_>, db: Db, key: &[u8], text: &[u8]) -> Result<Option<f64>> {
    match txn.sub_value(db, key, &subkey(text))? {
        Some(value) => read_score(&value).map(Some).ok_or_else(|| damaged(db, key)),
        None => Ok(None),
    }
}

/// The payload of a suggestion, if it has one.
pub fn payload(txn: &mut Txn<'_>, db: Db, key: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>> {
    Ok(txn.sub_value(db, key, &payload_subkey(text))?)
}

/// Adds a suggestion that [may be one](is_text), or gives one another score; makes the key if there is no root. An empty payload changes
/// nothing: the one that is there stays. Returns whether the suggestion is new.
pub fn put(
    txn: &mut Txn<'_>,
    (db, key): (Db, &[u8]),
    root: Option<&Root>,
    (text, score, payload): (&[u8], f64, &[u8]),
) -> Result<bool> {
    if root.is_none() {
        txn.put(db, key, NewRoot::of(Kind::Suggestions), &[])?;
    }
    let was_there = txn.sub_put(db, key, &subkey(text), &score.to_le_bytes())?;
    if !payload.is_empty() {
        txn.sub_put(db, key, &payload_subkey(text), payload)?;
    }
    Ok(!was_there)
}

/// Removes a suggestion with its payload, and the key with the last one; returns whether there was such a one.
pub fn remove(txn: &mut Txn<'_>, db: Db, key: &[u8], text: &[u8]) -> Result<bool> {
    if !txn.sub_remove(db, key, &subkey(text))? {
        return Ok(false);
    }
    txn.sub_remove(db, key, &payload_subkey(text))?;
    if len(txn, db, key)? == 0 {
        txn.remove(db, key)?;
    }
    Ok(true)
}

/// Shows every suggestion, in order: its text, its score, and its payload, which is empty if it has none.
pub fn each(txn: &mut Txn<'_>, db: Db, key: &[u8], visit: Visit<'_>) -> Result<()> {
    let has_payloads = txn.sub_len(db, key)? > len(txn, db, key)?;
    let (mut start, mut is_sound) = (vec![SUGGESTIONS], true);
    loop {
        // A walk borrows the transaction, so suggestions and payloads are read by turns.
        let mut some: Vec<(Vec<u8>, f64)> = Vec::new();
        txn.sub_scan(db, key, SubWalk::up(Start::Subkey(&start), Want::Values), &mut |subkey, value| {
            if subkey.first() != Some(&SUGGESTIONS) || some.len() >= AT_ONCE {
                return ControlFlow::Break(());
            }
            match (read_subkey(subkey), read_score(value)) {
                (Some((_, text)), Some(score)) => some.push((text.to_vec(), score)),
                _ => is_sound = false,
            }
            ControlFlow::Continue(())
        })?;
        for (text, score) in &some {
            let payload = if has_payloads { payload(txn, db, key, text)? } else { None };
            visit(text, *score, &payload.unwrap_or_default())?;
        }
        if !is_sound {
            return Err(damaged(db, key));
        }
        let Some((last, _)) = some.last() else { return Ok(()) };
        start = subkey(last);
        // The next one there may be.
        start.push(0);
    }
}

/// Removes payloads without a suggestion, of which damage is the only cause; returns how many there were.
pub fn mend(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<u64> {
    let (mut start, mut removed) = (vec![PAYLOADS], 0);
    loop {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        txn.sub_scan(db, key, SubWalk::up(Start::Subkey(&start), Want::Subkeys), &mut |subkey, _| {
            texts.extend(subkey.get(1..).map(<[u8]>::to_vec));
            if texts.len() < AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for text in &texts {
            if !txn.sub_contains(db, key, &subkey(text))? {
                removed += u64::from(txn.sub_remove(db, key, &payload_subkey(text))?);
            }
        }
        let Some(last) = texts.last() else { return Ok(removed) };
        start = payload_subkey(last);
        start.push(0);
    }
}

/// How many characters a text has; a byte that is no part of one counts as one.
pub fn chars(text: &[u8]) -> usize {
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

/// A text as it is compared.
fn fold(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() && !text.iter().any(u8::is_ascii_uppercase) {
        return Cow::Borrowed(text);
    }
    let mut folded = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut lower = character.to_lowercase();
            let lower = lower.next().filter(|_| lower.next().is_none()).unwrap_or(character);
            folded.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

/// The subkey of a suggestion.
fn subkey(text: &[u8]) -> Vec<u8> {
    let folded = fold(text);
    let mut subkey = start_of(&folded);
    subkey.push(END);
    if *folded != *text {
        subkey.extend_from_slice(text);
    }
    subkey
}

/// How the subkeys begin of what begins so when folded.
fn start_of(folded: &[u8]) -> Vec<u8> {
    let mut start = Vec::with_capacity(folded.len() * 2 + 2);
    start.push(SUGGESTIONS);
    start.extend_from_slice(folded);
    start
}

fn payload_subkey(text: &[u8]) -> Vec<u8> {
    let mut subkey = Vec::with_capacity(text.len() + 1);
    subkey.push(PAYLOADS);
    subkey.extend_from_slice(text);
    subkey
}

/// The text of a suggestion, folded and as it is.
fn read_subkey(subkey: &[u8]) -> Option<(&[u8], &[u8])> {
    let both = subkey.strip_prefix(&[SUGGESTIONS])?;
    let (folded, text) = both.split_at_checked(both.iter().position(|byte| *byte == END)?)?;
    match text.strip_prefix(&[END])? {
        [] => Some((folded, folded)),
        text => Some((folded, text)),
    }
}

fn read_score(value: &[u8]) -> Option<f64> {
    Some(f64::from_le_bytes(value.try_into().ok()?))
}

fn damaged(db: Db, key: &[u8]) -> DataError {
    DataError::Engine(EngineError::Damaged("a suggestion".into()).of_key(db, key))
}
