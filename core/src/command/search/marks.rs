//! HIGHLIGHT and SUMMARIZE: fields of results with marks, or only the parts around matches.

use super::answer::Row;
use super::find::{Asked, wanted};
use super::request::Request;
use crate::search::highlight::summary::{self, Summary};
use crate::search::highlight::{Analysis, Hit, Tags};
use crate::search::schema::{Field, FieldKind, Schema};

/// Marks fields of results as the request wants it.
pub(super) fn mark(schema: &Schema, asked: &Asked, request: &Request<'_>, rows: &mut [Row]) {
    if request.highlight.is_none() && request.summarize.is_none() {
        return;
    }
    let wanted = wanted(asked);
    let analysis = Analysis { analyzer: schema.analyzer, is_stop_word: &|word| schema.is_stop_word(word) };
    let is_meant = |fields: &[&[u8]], name: &[u8]| fields.is_empty() || fields.contains(&name);
    for (name, value) in rows.iter_mut().flat_map(|row| &mut row.fields) {
        if !is_text(schema, name) {
            continue;
        }
        let mut matcher = |token: &crate::search::text::Token<'_>| {
            wanted.find(token.text).map(|number| Hit::of(u32::try_from(number).unwrap_or(u32::MAX)))
        };
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

/// Whether a name in a reply is that of a text field.
fn is_text(schema: &Schema, name: &[u8]) -> bool {
    let is_it = |field: &&Field| field.name == name || field.path == name;
    schema.fields.iter().find(is_it).is_some_and(|field| matches!(field.kind, FieldKind::Text { .. }))
}
