//! Definitions of indexes in the store: a hash of the catalog, by database and name.
//!
//! ```text
//!  <db>:<name>  ->  NUMBER n SINCE id SCANNED seed ALIASES n alias… SYNONYMS n (group word)… SETTINGS json CREATE words of FT.CREATE and FT.ALTER, marks between fields
//! ```

use std::sync::Arc;

use super::{create, maps};
use crate::command::args::is_option;
use crate::command::definitions::Definitions;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{Admin, Db, Engine, EngineError};
use crate::resp::{parse_i64, quote, split_line};
use crate::search::dialect::settings::Settings;
use crate::search::text::fold_part;
use crate::server::search::{Change, Contents, Definition, Index};

type Result<T> = std::result::Result<T, CommandError>;

pub(super) const INDEXES: Definitions = Definitions::of("index", b"indexes");

/// The field of a definition in the hash.
fn field(db: Db, name: &[u8]) -> Vec<u8> {
    [format!("{db}:").as_bytes(), name].concat()
}

/// The text of a definition; the seed says for which division into parts the document maps hold.
fn text(definition: &Definition, seed: u64) -> String {
    use std::fmt::Write;
    let mut text = format!("NUMBER {} SINCE {} SCANNED ", definition.number, definition.since);
    // Writing to a string does not fail.
    let _ = match definition.is_scanned {
        true => write!(text, "{seed}"),
        false => write!(text, "no"),
    };
    let _ = write!(text, " ALIASES {}", definition.aliases.len());
    for alias in &definition.aliases {
        let _ = write!(text, " {}", quote(alias));
    }
    let groups = &definition.synonyms.groups_of;
    let _ = write!(text, " SYNONYMS {}", groups.values().map(Vec::len).sum::<usize>());
    for (word, groups) in groups {
        for group in groups {
            let _ = write!(text, " {} {}", quote(group.as_bytes()), quote(word.as_bytes()));
        }
    }
    let settings = definition.settings.as_ref().map(|settings| settings.text()).unwrap_or_default();
    let _ = write!(text, " SETTINGS {} CREATE", quote(&settings));
    for word in &definition.words {
        let _ = write!(text, " {}", quote(word));
    }
    text
}

/// The text of a definition whose document maps are gone, so that all its keys are to be looked at; None if it is not one of this form.
fn unscanned(text: &[u8]) -> Option<Vec<u8>> {
    let words: Vec<&[u8]> = text.splitn(7, |byte| *byte == b' ').collect();
    let [b"NUMBER", number, b"SINCE", _, b"SCANNED", _, rest] = *words.as_slice() else { return None };
    Some([b"NUMBER", number, b"SINCE", b"0", b"SCANNED", b"no", rest].join(&b' '))
}

/// Has all indexes look at all their keys when the store is opened, since their document maps are going to be removed. That goes for
/// those that this version cannot read, too.
///
/// # Errors
/// The engine's.
pub(super) fn forget_scans<E: Engine>(engine: &E, now_ms: u64) -> std::result::Result<(), EngineError> {
    INDEXES.transact(engine, now_ms, |txn| {
        for (field, text) in INDEXES.all(txn)? {
            if let Some(text) = unscanned(&text) {
                INDEXES.set(txn, &[&field, &text])?;
            }
        }
        Ok(())
    })
}

/// Reads a definition of the store; whether its document maps hold for the division into parts with this seed is [`Definition::is_scanned`].
///
/// # Errors
/// This version cannot read it.
pub(super) fn read(field: &[u8], text: &[u8], seed: u64) -> Result<Definition> {
    let bad = || CommandError::SYNTAX;
    let at = field.iter().position(|byte| *byte == b':').ok_or_else(bad)?;
    let (db, name) = (field.get(..at).ok_or_else(bad)?, field.get(at + 1..).ok_or_else(bad)?);
    let db = parse_i64(db).and_then(|db| Db::try_from(db).ok()).ok_or_else(bad)?;
    let words = split_line(text).ok_or_else(bad)?;
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let [number_word, number, _, since, scanned_word, scanned, aliases_word, aliases, rest @ ..] =
        words.as_slice()
    else {
        return Err(bad());
    };
    let whole = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|text| text.parse::<u64>().ok());
    let count = |word: &[u8]| parse_i64(word).and_then(|count| usize::try_from(count).ok());
    let is_named = is_option(number_word, "NUMBER")
        && is_option(scanned_word, "SCANNED")
        && is_option(aliases_word, "ALIASES");
    if !is_named {
        return Err(bad());
    }
    let (aliases, rest) = count(aliases).and_then(|count| rest.split_at_checked(count)).ok_or_else(bad)?;
    let [_, synonyms, rest @ ..] = rest else { return Err(bad()) };
    let (synonyms, rest) =
        count(synonyms).and_then(|count| rest.split_at_checked(count.checked_mul(2)?)).ok_or_else(bad)?;
    let [_, settings, create_word, rest @ ..] = rest else { return Err(bad()) };
    if !is_option(create_word, "CREATE") {
        return Err(bad());
    }
    let mut definition = create::parse(name, db, rest)?;
    definition.number = whole(number).ok_or_else(bad)?;
    definition.since = whole(since).ok_or_else(bad)?;
    definition.is_scanned = *scanned == seed.to_string().as_bytes();
    definition.aliases = aliases.iter().map(|alias| (*alias).into()).collect();
    definition.settings = match settings {
        [] => None,
        settings => Some(Arc::new(Settings::parse(settings).ok_or_else(bad)?)),
    };
    for pair in synonyms.chunks_exact(2) {
        if let [group, word] = pair {
            let (word, group) =
                (fold_part(definition.schema.analyzer, word), String::from_utf8_lossy(group).into_owned());
            definition.synonyms.groups_of.entry(word).or_default().push(group);
        }
    }
    Ok(definition)
}

/// An index with a new definition and these contents.
pub(super) fn index_of(admin: &dyn Admin, definition: Definition, contents: Arc<Contents>) -> Arc<Index> {
    let maps = maps::names(admin, definition.number);
    Arc::new(Index { definition, contents, maps })
}

/// Makes an index part of the transaction, in place of the one with its name.
pub(super) fn keep(ctx: &mut Context<'_, '_>, index: Arc<Index>) -> Outcome {
    let definition = &index.definition;
    let text = text(definition, ctx.admin.partition_seed());
    INDEXES.set(ctx.txn, &[&field(definition.db, &definition.name), text.as_bytes()])?;
    ctx.search.changes.push(Change::Set(index));
    Ok(())
}

/// Takes an index out; its document maps stay.
pub(super) fn forget(ctx: &mut Context<'_, '_>, index: &Index) -> Outcome {
    let definition = &index.definition;
    INDEXES.remove(ctx.txn, &[&field(definition.db, &definition.name)])?;
    ctx.search.changes.push(Change::Drop(definition.db, definition.name.clone()));
    Ok(())
}

/// Locks the definitions: nobody else changes one before the transaction has ended.
///
/// # Errors
/// The engine's.
pub(super) fn lock(ctx: &mut Context<'_, '_>) -> Outcome {
    INDEXES.contains(ctx.txn, b"").map(drop)
}
