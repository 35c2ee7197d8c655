//! A part of an index, as queries read it: the delta in memory and each segment are one.
//!
//! The documents of a part have numbers from 0 on, its *places*. A place means nothing outside its part. What lasts is the document's id
//! ([`DocumentId`]), which is never used twice in an index. Parts never change what they say of a place; that a document is gone is noted
//! beside them ([`View`]).
//!
//! Postings come in blocks of at most [`BLOCK`], so that the loops over them are the caller's, over plain arrays.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::search::bits::Bits;
use crate::search::query::Bound;
use crate::search::schema::FieldId;
use crate::search::text::Language;

/// The number of a document in its index. It grows, and is never used again.
pub type DocumentId = u64;

/// Postings that are decoded at a time, and between two entries of a list's skips.
pub const BLOCK: usize = 128;

/// The postings of a term in one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// How many documents of the part have the term, those that are gone included.
    pub documents: u32,
    /// Where it is; the part's own matter.
    pub at: u32,
    /// How long it is there; the part's own matter.
    pub len: u32,
}

/// Some postings: the first `len` of each array.
#[derive(Clone, Debug)]
pub struct Block {
    /// Places in rising order.
    pub places: [u32; BLOCK],
    /// What is known at a glance of each ([`Rank`]).
    pub ranks: [Rank; BLOCK],
    /// How many there are.
    pub len: usize,
}

impl Default for Block {
    fn default() -> Block {
        Block { places: [0; BLOCK], ranks: [Rank(0); BLOCK], len: 0 }
    }
}

impl Block {
    /// The postings.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&u32, &Rank)> {
        let (places, ranks) = (self.places.get(..self.len), self.ranks.get(..self.len));
        places.unwrap_or_default().iter().zip(ranks.unwrap_or_default())
    }
}

/// What is known of a posting at a glance, in a byte: bits 6-7 the first field in which the term stands (3 for all from the fourth on),
/// bits 3-5 the class of its first position there, bits 0-2 how often it stands in the document (7 for all from seven on).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rank(pub u8);

/// Where a term stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The text field, by its place among the text fields of the schema.
    pub field: u16,
    /// Which word of it, from 0 on.
    pub word: u32,
}

/// Some words of a part with the same beginning: no other has more documents than the last of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    names: Vec<u8>,
    /// Where the name of a word ends, and its postings. Most documents first, then by name.
    words: Vec<(u32, List)>,
}

impl Head {
    /// Adds the next word.
    pub fn push(&mut self, name: &[u8], list: List) {
        self.names.extend_from_slice(name);
        self.words.push((self.names.len() as u32, list));
    }

    /// The words with their postings.
    pub fn words(&self) -> impl Iterator<Item = (&[u8], List)> {
        let mut start = 0;
        self.words.iter().map(move |(end, list)| {
            let name = self.names.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            (name, *list)
        })
    }

    /// How many words it has.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// In how many documents of the part a word with the beginning is at most that is not among these.
    pub fn others_max(&self) -> u64 {
        self.words.last().map_or(0, |(_, list)| list.documents.into())
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.names.capacity() + self.words.capacity() * size_of::<(u32, List)>()
    }
}

/// What a visitor of terms wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// The next term.
    On,
    /// The first term behind those that begin with so many bytes of this one.
    Past(usize),
    /// The first term that is not before what so many bytes of this one and a character make.
    To {
        /// The bytes.
        len: usize,
        /// The character, which is greater than the one that stands there in this term.
        next: char,
    },
    /// Nothing more.
    End,
}

impl Walk {
    /// Writes what terms that are shown after this one are not before; false if none is shown.
    pub fn target(self, term: &[u8], into: &mut Vec<u8>) -> bool {
        into.clear();
        match self {
            Walk::On => into.extend_from_slice(term),
            Walk::End => return false,
            Walk::Past(len) => {
                into.extend_from_slice(term.get(..len).unwrap_or(term));
                while into.pop_if(|last| *last == u8::MAX).is_some() {}
                let Some(last) = into.last_mut() else { return false };
                *last += 1;
            }
            Walk::To { len, next } => {
                into.extend_from_slice(term.get(..len).unwrap_or(term));
                into.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        true
    }
}

/// Reads the postings of one list, from its beginning to its end.
pub trait Postings {
    /// The next postings; false, and an empty block, if there are no more.
    fn next_block(&mut self, block: &mut Block) -> bool;

    /// Passes over postings before this place without decoding all of them: the next block begins at or before the first posting that is
    /// not before it. Never goes back.
    fn skip_to(&mut self, place: u32);

    /// Where the term stands in the document at a place, in order of fields and words; empty if the term does not stand there, or if the
    /// index has no positions. Places are asked for in rising order.
    fn positions(&mut self, place: u32, into: &mut Vec<Position>);
}

/// A visitor of terms: the term, how many of its bytes it shares with the term that was shown before, and its postings.
pub type TermVisitor<'v> = &'v mut dyn FnMut(&[u8], usize, List) -> Walk;

/// What queries read of a part. Fields that are unknown to the part, because they came later, have no values there.
pub trait Part {
    /// How many places there are.
    fn places(&self) -> u32;

    /// The id of a document; ids rise with places in segments only.
    fn id(&self, place: u32) -> DocumentId;

    /// Where a document is.
    fn find(&self, id: DocumentId) -> Option<u32>;

    /// Appends the key of a document.
    fn key(&self, place: u32, into: &mut Vec<u8>);

    /// The postings of a word of the text fields.
    fn word(&self, word: &[u8]) -> Option<List>;

    /// Shows words of the text fields in the order of their bytes, from the first that is not before `from` on.
    fn words(&self, from: &[u8], visit: TermVisitor<'_>);

    /// The most frequent words that begin with these bytes. None where [`Part::words`] shows all of them as quickly.
    fn head(&self, _prefix: &[u8]) -> Option<Arc<Head>> {
        None
    }

    /// Shows the words of the part that have this stem in the language.
    fn words_of_stem(&self, language: Language, stem: &[u8], visit: &mut dyn FnMut(&[u8]));

    /// The documents with a tag, as the field folds it.
    fn tag(&self, field: FieldId, tag: &[u8]) -> Option<List>;

    /// Shows the tags of a field in the order of their bytes, from the first that is not before `from` on.
    fn tags(&self, field: FieldId, from: &[u8], visit: TermVisitor<'_>);

    /// Reads the postings of a word or a tag. Those of tags have no ranks and no positions.
    fn postings(&self, list: List) -> Box<dyn Postings + '_>;

    /// How many words a text field of a document has, by the field's place among the text fields.
    fn field_words(&self, text_field: u16, place: u32) -> u32;

    /// The document's own factor of its score.
    fn score(&self, place: u32) -> f32;

    /// How often the most frequent word stands in a document, weights of fields included.
    fn frequency_max(&self, place: u32) -> u32;

    /// Whether a document has a value of a field that could be indexed.
    fn has(&self, field: FieldId, place: u32) -> bool;

    /// The first number of a numeric field.
    fn number(&self, field: FieldId, place: u32) -> Option<f64>;

    /// The same of many documents, which are appended; what is no number where there is none.
    fn numbers(&self, field: FieldId, places: &[u32], into: &mut Vec<f64>) {
        into.extend(places.iter().map(|place| self.number(field, *place).unwrap_or(f64::NAN)));
    }

    /// The least and the greatest number of a numeric field of a document.
    fn extremes(&self, field: FieldId, place: u32) -> Option<(f64, f64)> {
        self.number(field, place).map(|number| (number, number))
    }

    /// Adds the places that have a number in a range.
    fn numbers_within(&self, field: FieldId, low: Bound, high: Bound, into: &mut Bits);

    /// Shows all numbers of a field, each with its place.
    fn each_number(&self, field: FieldId, visit: &mut dyn FnMut(u32, f64));

    /// Shows the positions of a geo field: longitude and latitude in degrees.
    fn positions_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64, f64));

    /// The vector of a field, as bytes of the field's numbers.
    fn vector(&self, field: FieldId, place: u32) -> Option<&[u8]>;

    /// The numbers of a document's tags among [`Part::tag_name`]'s, in rising order.
    fn tags_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(u32));

    /// How many different tags a field has in the part.
    fn tag_count(&self, field: FieldId) -> u32;

    /// A tag by its number, as it was written in one of the documents.
    fn tag_name(&self, field: FieldId, tag: u32) -> &[u8];

    /// The value by which a document is sorted where the field is sortable and no number.
    fn sort_text(&self, field: FieldId, place: u32) -> Option<&[u8]>;
}

/// A part together with what has become of its documents since.
#[derive(Clone, Copy)]
pub struct View<'p> {
    /// The part.
    pub part: &'p dyn Part,
    /// The places whose documents are there: a bit each.
    pub live: &'p Bits,
    /// What is known of all of these together, if somebody keeps it.
    pub totals: Option<&'p Totals>,
}

impl<'p> View<'p> {
    /// A part of whose live documents together nothing is known.
    pub fn of(part: &'p dyn Part, live: &'p Bits) -> View<'p> {
        View { part, live, totals: None }
    }

    /// How many words the live documents have in each of the first text fields.
    pub fn words(&self, text_fields: u16) -> Cow<'p, [u64]> {
        let View { part, live, totals } = *self;
        let count = || {
            let mut words = vec![0; usize::from(text_fields)];
            live.iter().for_each(|place| each_field(&mut words, part, place, &mut |sum, more| *sum += more));
            words
        };
        match totals {
            Some(Totals(words)) => {
                let words = words.get_or_init(count);
                // A field that came later has no words that were counted.
                if words.len() == usize::from(text_fields) { words.into() } else { count().into() }
            }
            None => count().into(),
        }
    }

    /// Whether [`View::words`] takes no time.
    pub fn has_words(&self) -> bool {
        self.totals.is_some_and(|totals| totals.0.get().is_some())
    }
}

/// How many words the live documents of a part have, by text field. Counted when it is first asked for; from then on whoever changes the
/// live documents says so.
#[derive(Clone, Debug, Default)]
pub struct Totals(OnceLock<Vec<u64>>);

impl Totals {
    /// A document has come.
    pub fn add(&mut self, part: &dyn Part, place: u32) {
        if let Some(words) = self.0.get_mut() {
            each_field(words, part, place, &mut |sum, more| *sum += more);
        }
    }

    /// A document that was there has gone.
    pub fn remove(&mut self, part: &dyn Part, place: u32) {
        if let Some(words) = self.0.get_mut() {
            each_field(words, part, place, &mut |sum, less| *sum = sum.saturating_sub(less));
        }
    }
}

/// Shows to `change` a number of each text field, and how many words the field has in a document.
fn each_field(numbers: &mut [u64], part: &dyn Part, place: u32, change: &mut dyn FnMut(&mut u64, u64)) {
    for (number, field) in numbers.iter_mut().zip(0..) {
        change(number, part.field_words(field, place).into());
    }
}
