//! A document as it is indexed: what is made of its fields before anything is locked.

use crate::search::schema::FieldId;
use crate::search::text::Language;

use super::part::DocumentId;

/// A value of a field, as its kind understands it.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue<'v> {
    /// Texts of a text field, one after the other: one for a hash, any number for an array of JSON. Between two texts lies a gap, so that
    /// no phrase spans them.
    Texts(Vec<&'v [u8]>),
    /// Tags as they were written, split and trimmed.
    Tags(Vec<&'v [u8]>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Longitude and latitude in degrees.
    Positions(Vec<(f64, f64)>),
    /// Bytes of a vector of the field's length.
    Vector(&'v [u8]),
}

/// What a document says to its index.
#[derive(Clone, Debug, Default)]
pub struct Source<'v> {
    /// Its id.
    pub id: DocumentId,
    /// Its key.
    pub key: &'v [u8],
    /// The language of its texts; None for that of the index.
    pub language: Option<Language>,
    /// Its own factor of scores; 1 unless it says another one.
    pub score: f32,
    /// The values of fields that it has, each field once, in the order of their numbers.
    pub values: Vec<(FieldId, FieldValue<'v>)>,
    /// By what sortable fields other than numeric ones are sorted, in the order of their numbers.
    pub sort_texts: Vec<(FieldId, &'v [u8])>,
}
