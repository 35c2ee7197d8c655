//! Answers as JSON, written straight into bytes.
//!
//! One member is an addition to Meilisearch's: `exhaustive` says whether all matches were looked at, or a bound of work left some out.

mod hit;
#[cfg(test)]
mod tests;

pub use hit::{Matches, Shown, select, write_hit};

use std::cmp::Ordering;

use crate::sorted;

use super::request::Page;
use crate::json::format::write_text;

/// How often a value of a facet occurs.
pub type Counts = Vec<(String, u64)>;

/// What is said of one facet.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// Its name.
    pub name: String,
    /// Its values, in the order in which they are shown.
    pub counts: Counts,
    /// Its least and greatest number, if it has any.
    pub range: Option<(f64, f64)>,
}

/// Everything but the hits of an answer to a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<'a> {
    /// The index, in answers to a multi-search.
    pub index_uid: Option<&'a str>,
    /// What was searched for.
    pub query: &'a str,
    /// Which hits these are.
    pub page: Page,
    /// How many documents match, at most as many as can be seen.
    pub total: u64,
    /// Whether all matches were looked at.
    pub is_exhaustive: bool,
    /// The time that it took.
    pub processing_time_ms: u64,
    /// The facets that were asked for; None if none were.
    pub facets: Option<&'a [Facet]>,
}

/// Writes an answer. `hits` are the hits as [`write_hit`] wrote them, with commas in between.
pub fn write_answer(answer: &Answer<'_>, hits: &[u8], out: &mut Vec<u8>) {
    out.push(b'{');
    if let Some(uid) = answer.index_uid {
        out.extend_from_slice(b"\"indexUid\":");
        write_text(uid, out);
        out.push(b',');
    }
    out.extend_from_slice(b"\"hits\":[");
    out.extend_from_slice(hits);
    out.extend_from_slice(b"],\"query\":");
    write_text(answer.query, out);
    write_count("processingTimeMs", answer.processing_time_ms, out);
    match answer.page.numbered {
        Some((page, size)) => {
            write_count("hitsPerPage", size, out);
            write_count("page", page, out);
            write_count(
                "totalPages",
                answer.total.checked_div(size).map_or(0, |_| answer.total.div_ceil(size)),
                out,
            );
            write_count("totalHits", answer.total, out);
        }
        None => {
            write_count("limit", answer.page.limit, out);
            write_count("offset", answer.page.offset, out);
            write_count("estimatedTotalHits", answer.total, out);
        }
    }
    if let Some(facets) = answer.facets {
        write_facets(facets, out);
    }
    out.extend_from_slice(b",\"exhaustive\":");
    out.extend_from_slice(truth(answer.is_exhaustive));
    out.push(b'}');
}

fn truth(is_true: bool) -> &'static [u8] {
    if is_true { b"true" } else { b"false" }
}

fn write_count(name: &str, number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes a number as JSON; one that JSON does not have is null.
pub(super) fn write_number(number: f64, out: &mut Vec<u8>) {
    match number.is_finite() {
        true => out.extend_from_slice(crate::number::format_f64(number).as_bytes()),
        false => out.extend_from_slice(b"null"),
    }
}

fn write_facets(facets: &[Facet], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"facetDistribution\":{");
    for (at, facet) in facets.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(&facet.name, out);
        out.extend_from_slice(b":{");
        for (at, (value, count)) in facet.counts.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_text(value, out);
            out.push(b':');
            out.extend_from_slice(itoa::Buffer::new().format(*count).as_bytes());
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"},\"facetStats\":{");
    let ranges = facets.iter().filter_map(|facet| Some((&facet.name, facet.range?)));
    for (at, (name, (min, max))) in ranges.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.extend_from_slice(b":{\"min\":");
        write_number(min, out);
        out.extend_from_slice(b",\"max\":");
        write_number(max, out);
        out.push(b'}');
    }
    out.push(b'}');
}

/// Puts the values of a facet into the order in which they are shown, and leaves those beyond `most` out.
pub fn order_counts(counts: &mut Counts, is_by_count: bool, most: u64) {
    sorted::all(counts, |one, other| {
        let by_count = if is_by_count { other.1.cmp(&one.1) } else { Ordering::Equal };
        by_count.then_with(|| one.0.cmp(&other.0))
    });
    counts.truncate(usize::try_from(most).unwrap_or(usize::MAX));
}

/// Writes the answer to a search in the values of a facet.
pub fn write_facet_hits(
    counts: &Counts,
    facet_query: Option<&str>,
    processing_time_ms: u64,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"facetHits\":[");
    for (at, (value, count)) in counts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"value\":");
        write_text(value, out);
        write_count("count", *count, out);
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"facetQuery\":");
    match facet_query {
        Some(query) => write_text(query, out),
        None => out.extend_from_slice(b"null"),
    }
    write_count("processingTimeMs", processing_time_ms, out);
    out.push(b'}');
}
