//! HIGHLIGHT and SUMMARIZE: fields of results with marks, or only the parts around matches.

use super::answer::Row;
use super::find::{Asked, wanted};
use super::instant;
use super::request::Request;
use crate::search::highlight::summary::{self, Summary};
use crate::search::highlight::{Analysis, Hit, Tags};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::Token;
use crate::server::search::Index;

/// Marks fields of results as the request wants it.
pub(super) fn mark(
    index: &Index,
    (asked, instant): (&Asked, Option<&instant::Found>),
    request: &Request<'_>,
    rows: &mut [Row],
) {
    if request.highlight.is_none() && request.summarize.is_none() {
        return;
    }
    let schema = &index.definition.schema;
    if let Some(instant) = instant {
        return instant.mark(index, asked, |find| {
            mark_rows(schema, request, rows, &mut |token, _| {
                let (word, characters) = find(token)?;
                let term = u32::try_from(word).unwrap_or(u32::MAX);
                Some(Hit { characters: Some(characters), ..Hit::of(term) })
            });
        });
    }
    let wanted = wanted(index, asked);
    mark_rows(schema, request, rows, &mut |token, field| {
        wanted.find(token.text, Some(field)).map(|number| Hit::of(u32::try_from(number).unwrap_or(u32::MAX)))
    });
}

/// Finds a token of a text field, of which it is known whether it has stems, in the query.
type Find<'f> = &'f mut dyn FnMut(&Token<'_>, (FieldId, bool)) -> Option<Hit>;

fn mark_rows(schema: &Schema, request: &Request<'_>, rows: &mut [Row], find: Find<'_>) {
    let analysis = Analysis { analyzer: schema.analyzer, is_stop_word: &|word| schema.is_stop_word(word) };
    let is_meant = |fields: &[&[u8]], name: &[u8]| fields.is_empty() || fields.contains(&name);
    for (name, value) in rows.iter_mut().flat_map(|row| &mut row.fields) {
        let Some(field) = text_field(schema, name) else { continue };
        let mut matcher = |token: &Token<'_>| find(token, field);
        let tags = request.highlight.filter(|highlight| is_meant(highlight.fields, name));
        let tags = tags.map(|highlight| Tags { open: highlight.open, close: highlight.close });
        let summarize = request.summarize.filter(|summarize| is_meant(summarize.fields, name));
        if let Some(summarize) = summarize {
            let how = Summary {
                fragments: summarize.fragments as u64,
                words: summarize.words as u64,
                separator: summarize.separator,
            };
            *value = summary::summarize(value, analysis, &mut matcher, how, tags);
        } else if let Some(tags) = tags {
            *value = summary::highlight(value, analysis, &mut matcher, tags);
        }
    }
}

/// The text field that a name in a reply means, and whether it has stems.
fn text_field(schema: &Schema, name: &[u8]) -> Option<(FieldId, bool)> {
    let (number, field) =
        (0..).zip(&schema.fields).find(|(_, field)| field.name == name || field.path == name)?;
    match field.kind {
        FieldKind::Text { has_stems, .. } => Some((FieldId(number), has_stems)),
        _ => None,
    }
}
