//! A part of an index over plain maps, for tests: slow and obvious.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::search::bits::Bits;
use crate::search::index::part::{
    BLOCK, Block, DocumentId, Head, List, Part, Position, Postings, Rank, TermVisitor,
};
use crate::search::query::Bound;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{Language, analyze, stem};

/// A value of a field.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Tags(Vec<String>),
    Number(f64),
    Point(f64, f64),
    Vector(Vec<u8>),
}

/// A document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) id: DocumentId,
    pub(crate) score: f32,
    pub(crate) values: BTreeMap<u16, Value>,
}

type Lists = BTreeMap<Vec<u8>, Vec<(u32, Vec<Position>)>>;

/// All documents of a part.
#[derive(Debug, Default)]
pub(crate) struct Naive {
    documents: Vec<Document>,
    words: Lists,
    tags: BTreeMap<u16, Lists>,
    field_words: BTreeMap<(u16, u32), u32>,
    /// Lists by number, as [`List::at`] names them.
    lists: Vec<Vec<(u32, Vec<Position>)>>,
    word_numbers: BTreeMap<Vec<u8>, List>,
    tag_numbers: BTreeMap<u16, BTreeMap<Vec<u8>, List>>,
    tag_names: BTreeMap<u16, Vec<Vec<u8>>>,
    /// How many words a head has; it has none for 0.
    pub(crate) head_words: usize,
}

/// The words of a text, folded, with their positions.
pub(crate) fn words_of(schema: &Schema, text: &str) -> Vec<(String, u32)> {
    let mut words = Vec::new();
    analyze(schema.analyzer, text.as_bytes(), &|word| schema.is_stop_word(word), &mut |token| {
        words.push((token.text.to_string(), token.position));
    });
    words
}

/// The rank byte of positions in order.
fn rank(positions: &[Position]) -> Rank {
    let Some(first) = positions.first() else { return Rank(0) };
    let class = match first.word {
        0 => 0,
        1 => 1,
        2 => 2,
        3..=4 => 3,
        5..=8 => 4,
        9..=20 => 5,
        21..=50 => 6,
        _ => 7,
    };
    Rank((first.field.min(3) as u8) << 6 | class << 3 | positions.len().min(7) as u8)
}

impl Naive {
    pub(crate) fn new(schema: &Schema, documents: &[Document]) -> Naive {
        let mut naive = Naive { documents: documents.to_vec(), ..Naive::default() };
        for (place, document) in (0..).zip(documents) {
            let mut text_field = 0;
            for (number, field) in (0..).zip(&schema.fields) {
                let value = document.values.get(&number);
                match (&field.kind, value) {
                    (FieldKind::Text { .. }, value) => {
                        if let Some(Value::Text(text)) = value {
                            let words = words_of(schema, text);
                            naive.field_words.insert((text_field, place), words.len() as u32);
                            for (word, at) in words {
                                let list = naive.words.entry(word.into_bytes()).or_default();
                                if list.last().is_none_or(|posting| posting.0 != place) {
                                    list.push((place, Vec::new()));
                                }
                                if let Some(posting) = list.last_mut() {
                                    posting.1.push(Position { field: text_field, word: at });
                                }
                            }
                        }
                        text_field += 1;
                    }
                    (FieldKind::Tag { is_case_sensitive, .. }, Some(Value::Tags(tags))) => {
                        for tag in tags {
                            let folded = if *is_case_sensitive { tag.clone() } else { tag.to_lowercase() };
                            let list =
                                naive.tags.entry(number).or_default().entry(folded.into_bytes()).or_default();
                            if list.last().is_none_or(|posting| posting.0 != place) {
                                list.push((place, Vec::new()));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        naive.number_lists();
        naive
    }

    fn number_lists(&mut self) {
        let lists = &mut self.lists;
        let mut add = |list: &Vec<(u32, Vec<Position>)>| {
            lists.push(list.clone());
            List { documents: list.len() as u32, at: lists.len() as u32 - 1, len: 0 }
        };
        self.word_numbers = self.words.iter().map(|(word, list)| (word.clone(), add(list))).collect();
        for (field, tags) in &self.tags {
            self.tag_numbers
                .insert(*field, tags.iter().map(|(tag, list)| (tag.clone(), add(list))).collect());
            self.tag_names.insert(*field, tags.keys().cloned().collect());
        }
    }

    fn value(&self, field: FieldId, place: u32) -> Option<&Value> {
        self.documents.get(place as usize)?.values.get(&field.0)
    }
}

struct Reader<'n> {
    list: &'n [(u32, Vec<Position>)],
    at: usize,
}

impl Postings for Reader<'_> {
    fn next_block(&mut self, block: &mut Block) -> bool {
        let rest = &self.list[self.at.min(self.list.len())..];
        // Shorter blocks than allowed, so that a few documents make several.
        block.len = rest.len().min(BLOCK.min(3));
        for (at, (place, positions)) in rest.iter().take(block.len).enumerate() {
            block.places[at] = *place;
            block.ranks[at] = rank(positions);
        }
        self.at += block.len;
        block.len > 0
    }

    fn skip_to(&mut self, place: u32) {
        let target = self.list.partition_point(|posting| posting.0 < place).saturating_sub(1);
        self.at = self.at.max(target);
    }

    fn positions(&mut self, place: u32, into: &mut Vec<Position>) {
        if let Ok(at) = self.list.binary_search_by_key(&place, |posting| posting.0) {
            into.extend(&self.list[at].1);
        }
    }
}

fn walk(terms: Option<&BTreeMap<Vec<u8>, List>>, from: &[u8], visit: TermVisitor<'_>) {
    let mut before: Vec<u8> = Vec::new();
    let mut target = from.to_vec();
    for (term, list) in terms.into_iter().flat_map(|terms| terms.range(from.to_vec()..)) {
        if *term < target {
            continue;
        }
        let shared = term.iter().zip(&before).take_while(|(a, b)| a == b).count();
        if !visit(term, shared, *list).target(term, &mut target) {
            return;
        }
        before.clone_from(term);
    }
}

impl Part for Naive {
    fn places(&self) -> u32 {
        self.documents.len() as u32
    }
    fn id(&self, place: u32) -> DocumentId {
        self.documents[place as usize].id
    }
    fn find(&self, id: DocumentId) -> Option<u32> {
        self.documents.iter().position(|document| document.id == id).map(|place| place as u32)
    }
    fn key(&self, place: u32, into: &mut Vec<u8>) {
        into.extend(self.id(place).to_string().bytes());
    }
    fn word(&self, word: &[u8]) -> Option<List> {
        self.word_numbers.get(word).copied()
    }
    fn words(&self, from: &[u8], visit: TermVisitor<'_>) {
        walk(Some(&self.word_numbers), from, visit);
    }
    fn head(&self, prefix: &[u8]) -> Option<Arc<Head>> {
        let begins = |(word, _): &(&Vec<u8>, &List)| word.starts_with(prefix);
        let mut words: Vec<(&Vec<u8>, &List)> = self.word_numbers.iter().filter(begins).collect();
        words.sort_by_key(|(_, list)| std::cmp::Reverse(list.documents));
        let mut head = Head::default();
        words.iter().take(self.head_words).for_each(|(word, list)| head.push(word, **list));
        (self.head_words > 0 && words.len() > self.head_words).then(|| Arc::new(head))
    }
    fn words_of_stem(&self, language: Language, root: &[u8], visit: &mut dyn FnMut(&[u8])) {
        for word in self.words.keys() {
            let mut own = String::new();
            stem(language, std::str::from_utf8(word).expect("words are UTF-8"), &mut own);
            if own.as_bytes() == root {
                visit(word);
            }
        }
    }
    fn tag(&self, field: FieldId, tag: &[u8]) -> Option<List> {
        self.tag_numbers.get(&field.0)?.get(tag).copied()
    }
    fn tags(&self, field: FieldId, from: &[u8], visit: TermVisitor<'_>) {
        walk(self.tag_numbers.get(&field.0), from, visit);
    }
    fn postings(&self, list: List) -> Box<dyn Postings + '_> {
        Box::new(Reader { list: &self.lists[list.at as usize], at: 0 })
    }
    fn field_words(&self, text_field: u16, place: u32) -> u32 {
        self.field_words.get(&(text_field, place)).copied().unwrap_or(0)
    }
    fn score(&self, place: u32) -> f32 {
        self.documents[place as usize].score
    }
    fn frequency_max(&self, place: u32) -> u32 {
        let of_list = |list: &Vec<(u32, Vec<Position>)>| {
            list.iter().find(|posting| posting.0 == place).map(|posting| posting.1.len() as u32)
        };
        self.words.values().filter_map(of_list).max().unwrap_or(0)
    }

    fn has(&self, field: FieldId, place: u32) -> bool {
        self.value(field, place).is_some()
    }
    fn number(&self, field: FieldId, place: u32) -> Option<f64> {
        match self.value(field, place)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
    fn numbers_within(&self, field: FieldId, low: Bound, high: Bound, into: &mut Bits) {
        for place in 0..self.places() {
            if let Some(number) = self.number(field, place)
                && (number > low.value || number == low.value && !low.is_exclusive)
                && (number < high.value || number == high.value && !high.is_exclusive)
            {
                into.add(place);
            }
        }
    }
    fn each_number(&self, field: FieldId, visit: &mut dyn FnMut(u32, f64)) {
        for place in 0..self.places() {
            self.number(field, place).into_iter().for_each(|number| visit(place, number));
        }
    }
    fn positions_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64, f64)) {
        if let Some(Value::Point(longitude, latitude)) = self.value(field, place) {
            visit(*longitude, *latitude);
        }
    }
    fn vector(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        match self.value(field, place)? {
            Value::Vector(vector) => Some(vector),
            _ => None,
        }
    }
    fn tags_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(u32)) {
        for (number, list) in (0..).zip(self.tags.get(&field.0).into_iter().flat_map(BTreeMap::values)) {
            if list.iter().any(|posting| posting.0 == place) {
                visit(number);
            }
        }
    }
    fn tag_count(&self, field: FieldId) -> u32 {
        self.tag_names.get(&field.0).map_or(0, Vec::len) as u32
    }
    fn tag_name(&self, field: FieldId, tag: u32) -> &[u8] {
        &self.tag_names[&field.0][tag as usize]
    }
    fn sort_text(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        match self.value(field, place)? {
            Value::Text(text) => Some(text.as_bytes()),
            Value::Tags(tags) => tags.first().map(String::as_bytes),
            _ => None,
        }
    }
}
