//! What an index is, as its definition in the store says it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::{Db, Kind};
use crate::search::dialect::settings::Settings;
use crate::search::expression::Expression;
use crate::search::index::DocumentId;
use crate::search::schema::Schema;

/// A condition that a document must meet to be in the index (FILTER).
#[derive(Clone, Debug)]
pub struct Filter {
    /// As it was written.
    pub text: Vec<u8>,
    /// What it means.
    pub expression: Expression,
    /// The fields of the document that it reads.
    pub fields: Vec<Vec<u8>>,
}

/// The words of one index that mean the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synonyms {
    /// The groups of each word, sorted.
    pub groups_of: BTreeMap<String, Vec<String>>,
}

impl Synonyms {
    /// Shows the other words of the groups of a word.
    pub fn others(&self, word: &str, visit: &mut dyn FnMut(&str)) {
        let Some(groups) = self.groups_of.get(word) else { return };
        for (other, others_groups) in &self.groups_of {
            if other != word && others_groups.iter().any(|group| groups.contains(group)) {
                visit(other);
            }
        }
    }
}

/// Words of FT.CREATE that change nothing here and are repeated by FT.INFO: what they save is not kept, or costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// NOOFFSETS.
    pub no_offsets: bool,
    /// NOHL.
    pub no_highlight: bool,
    /// NOFIELDS.
    pub no_fields: bool,
    /// NOFREQS.
    pub no_frequencies: bool,
    /// MAXTEXTFIELDS.
    pub max_text_fields: bool,
}

/// What an index is.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its number, which no other index of the store has ever had.
    pub number: u64,
    /// The database whose keys it covers.
    pub db: Db,
    /// Its name in that database.
    pub name: Box<[u8]>,
    /// The type of the keys that it covers.
    pub kind: Kind,
    /// Keys that begin so are covered; never empty, the empty prefix stands for all keys.
    pub prefixes: Vec<Box<[u8]>>,
    /// What else a document must meet.
    pub filter: Option<Filter>,
    /// Its fields.
    pub schema: Arc<Schema>,
    /// The field of a document with its language.
    pub language_field: Option<Box<[u8]>>,
    /// The factor of documents that say none.
    pub score: f64,
    /// The field of a document with its factor.
    pub score_field: Option<Box<[u8]>>,
    /// The field of a document with its payload.
    pub payload_field: Option<Box<[u8]>>,
    /// What FT.INFO repeats.
    pub hints: Hints,
    /// After so many seconds without use it goes by itself; 0 for never.
    pub temporary_s: u64,
    /// Other names.
    pub aliases: Vec<Box<[u8]>>,
    /// Words that mean the same.
    pub synonyms: Synonyms,
    /// Whether the keys that were there before it, or before its last change, have been looked at.
    pub is_scanned: bool,
    /// Documents with smaller ids were made before its last change.
    pub since: DocumentId,
    /// Settings of the HTTP dialect, if it is an index of that.
    pub settings: Option<Arc<Settings>>,
    /// The words of FT.CREATE from which all of it but the number, aliases, synonyms and settings is made again; those of FT.ALTER are
    /// behind them.
    pub words: Vec<Vec<u8>>,
}

impl Definition {
    /// Whether a key of its database is one that it may cover.
    pub fn has_prefix_of(&self, key: &[u8]) -> bool {
        self.prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}
