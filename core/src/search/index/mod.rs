//! Stub.
mod document;
mod part;
pub use document::{FieldValue, Source};
pub use part::*;
use super::bits::Bits;
use super::schema::{FieldId, Schema};
use super::query::Bound;
use super::text::Language;
use std::sync::Arc;
#[derive(Debug, Clone)]
pub struct Prepared { id: DocumentId }
impl Prepared { pub fn id(&self) -> DocumentId { self.id } pub fn set_id(&mut self, id: DocumentId) { self.id = id; } }
pub fn prepare(_: &Schema, s: &Source<'_>) -> Prepared { Prepared { id: s.id } }
pub struct Delta;
impl Delta { pub fn new(_: &Schema) -> Delta { Delta } pub fn add(&mut self, _: Prepared) -> u32 { 0 } pub fn memory_bytes(&self) -> usize { 0 } pub fn word_count(&self) -> u32 { 0 } pub fn posting_count(&self) -> u64 { 0 } }
pub struct Segment;
pub struct Bad;
impl Segment { pub fn open(_: Vec<u8>, _: u64) -> Result<Segment, Bad> { Err(Bad) } pub fn first_id(&self) -> u64 { 0 } pub fn last_id(&self) -> u64 { 0 } pub fn len_bytes(&self) -> usize { 0 } pub fn word_count(&self) -> u32 { 0 } pub fn posting_count(&self) -> u64 { 0 } pub fn bytes(&self) -> &[u8] { &[] } }
pub fn index_number(_: &[u8]) -> Option<u64> { None }
pub fn freeze(_: &Delta, _: &Bits, _: &Schema, _: u64) -> Vec<u8> { Vec::new() }
pub struct Merge;
impl Merge { pub fn new(_: Vec<(Arc<Segment>, Bits)>, _: u64) -> Merge { Merge } pub fn step(&mut self, _: u32) -> bool { true } pub fn finish(self) -> Vec<u8> { Vec::new() } }
pub struct Size { pub bytes: usize, pub places: u32, pub live: u32 }
pub fn plan(_: &[Size], _: usize) -> Option<Vec<usize>> { None }
macro_rules! part { ($t:ty) => { impl Part for $t {
 fn places(&self) -> u32 { 0 } fn id(&self, _: u32) -> DocumentId { 0 } fn find(&self, _: DocumentId) -> Option<u32> { None } fn key(&self, _: u32, _: &mut Vec<u8>) {}
 fn word(&self, _: &[u8]) -> Option<List> { None } fn words(&self, _: &[u8], _: TermVisitor<'_>) {} fn words_of_stem(&self, _: Language, _: &[u8], _: &mut dyn FnMut(&[u8])) {}
 fn tag(&self, _: FieldId, _: &[u8]) -> Option<List> { None } fn tags(&self, _: FieldId, _: &[u8], _: TermVisitor<'_>) {} fn postings(&self, _: List) -> Box<dyn Postings + '_> { unimplemented!() }
 fn field_words(&self, _: u16, _: u32) -> u32 { 0 } fn score(&self, _: u32) -> f32 { 1.0 } fn has(&self, _: FieldId, _: u32) -> bool { false } fn number(&self, _: FieldId, _: u32) -> Option<f64> { None }
 fn numbers_within(&self, _: FieldId, _: Bound, _: Bound, _: &mut Bits) {} fn positions_of(&self, _: FieldId, _: u32, _: &mut dyn FnMut(f64, f64)) {} fn vector(&self, _: FieldId, _: u32) -> Option<&[u8]> { None }
 fn tags_of(&self, _: FieldId, _: u32, _: &mut dyn FnMut(u32)) {} fn tag_count(&self, _: FieldId) -> u32 { 0 } fn tag_name(&self, _: FieldId, _: u32) -> &[u8] { &[] } fn sort_text(&self, _: FieldId, _: u32) -> Option<&[u8]> { None }
} } }
part!(Delta); part!(Segment);
