//! What all matches together say of fields: how often each value, and from where to where numbers go.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::search::evaluate::Failure;
use crate::search::index::part::View;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::fold_tag;
use crate::sorted;

use super::Request;
use super::progress::Candidate;

/// The values of a tag field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    /// The field.
    pub field: FieldId,
    /// Values as they were written in one of the documents, and how many matches have each: the most frequent first, then by name.
    pub values: Vec<(Vec<u8>, u64)>,
    /// Whether all values are here.
    pub is_exhaustive: bool,
}

/// Where the numbers of a field lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// The part of the matches that lies in a view. Matches are in the order of views.
fn of_view(found: &[Candidate], view: usize) -> &[Candidate] {
    let start = found.partition_point(|hit| usize::from(hit.view) < view);
    let end = found.partition_point(|hit| usize::from(hit.view) <= view);
    found.get(start..end).unwrap_or_default()
}

/// Whether a field of tags tells upper and lower case apart.
pub(super) fn tells_case(schema: &Schema, field: FieldId) -> bool {
    let kind = schema.field(field).map(|field| &field.kind);
    matches!(kind, Some(FieldKind::Tag { is_case_sensitive: true, .. }))
}

/// A tag that was written so, as it is found: as filters have it, and the same in all parts.
pub(super) fn key_of(name: &[u8], tells_case: bool) -> Vec<u8> {
    if tells_case {
        return name.to_vec();
    }
    let mut key = Vec::with_capacity(name.len());
    fold_tag(name, &mut key);
    key
}

pub(super) fn facets(
    schema: &Schema,
    views: &[View<'_>],
    request: &Request<'_>,
    found: &[Candidate],
) -> Result<Vec<Facet>, Failure> {
    let mut facets = Vec::with_capacity(request.facets.len());
    for field in request.facets {
        let tells_case = tells_case(schema, *field);
        // By the value as it is found; with the least way in which it is written.
        let mut merged: BTreeMap<Vec<u8>, (&[u8], u64)> = BTreeMap::new();
        for (number, view) in views.iter().enumerate() {
            let tags = view.part.tag_count(*field) as usize;
            request.meter.memory(tags * 4)?;
            request.meter.work(found.len() as u64)?;
            let mut counts = vec![0u32; tags];
            for candidate in of_view(found, number) {
                view.part.tags_of(*field, candidate.place, &mut |tag| {
                    if let Some(count) = counts.get_mut(tag as usize) {
                        *count += 1;
                    }
                });
            }
            for (tag, count) in (0..).zip(&counts).filter(|(_, count)| **count > 0) {
                let name = view.part.tag_name(*field, tag);
                let key = key_of(name, tells_case);
                request.meter.memory(key.len() + size_of::<(Vec<u8>, &[u8], u64)>())?;
                let (least, sum) = merged.entry(key).or_insert((name, 0));
                *least = (*least).min(name);
                *sum += u64::from(*count);
            }
        }
        let values: Vec<(&[u8], u64)> = merged.into_values().collect();
        let key = |at: u32| values.get(at as usize).map(|(name, count)| (Reverse(*count), *name));
        let order = sorted::first(values.len() as u32, request.facet_values_max, &|a, b| key(a).cmp(&key(b)));
        let is_exhaustive = values.len() <= request.facet_values_max;
        let values = order.iter().filter_map(|at| values.get(*at as usize));
        let values = values.map(|(name, count)| (name.to_vec(), *count)).collect();
        facets.push(Facet { field: *field, values, is_exhaustive });
    }
    Ok(facets)
}

pub(super) fn ranges(
    views: &[View<'_>],
    request: &Request<'_>,
    found: &[Candidate],
) -> Result<Vec<Option<Range>>, Failure> {
    let mut ranges = Vec::with_capacity(request.ranges.len());
    for field in request.ranges {
        request.meter.work(found.len() as u64)?;
        let mut range: Option<Range> = None;
        for (number, view) in views.iter().enumerate() {
            for candidate in of_view(found, number) {
                if let Some((least, greatest)) = view.part.extremes(*field, candidate.place) {
                    let range = range.get_or_insert(Range { least, greatest });
                    range.least = range.least.min(least);
                    range.greatest = range.greatest.max(greatest);
                }
            }
        }
        ranges.push(range);
    }
    Ok(ranges)
}
