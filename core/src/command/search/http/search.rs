//! Searches, facets and hits.

use std::sync::Arc;

use super::meant::Meant;
use super::{Answer, Asked, Failed, Result, documents, open};
use crate::command::search::answer::{Hit as Known, is_still_there};
use crate::command::search::find::{self, Own};
use crate::command::search::instant::{Answered, run as search_instantly};
use crate::command::{CommandError, Context};
use crate::engine::EngineError;
use crate::limits::REST_REPLY_MAX_BYTES;
use crate::search::dialect::fault::Fault;
use crate::search::dialect::request::{Page, Search, page};
use crate::search::dialect::response::{
    self, Counts, Facet, Matches, Shown, order_counts, write_answer, write_hit,
};
use crate::search::dialect::settings::Settings;
use crate::search::evaluate::Meter;
use crate::search::highlight::{Hit as Mark, Matcher};
use crate::search::instant::{self, Marker};
use crate::search::query::Clause;
use crate::search::schema::FieldId;
use crate::search::text::fold;
use crate::server::search::Index;

/// A search is begun anew so often because a document changed while it was read, before everything is locked.
const TRIES: usize = 4;

/// The value of a facet search has so many hits at most, as in Meilisearch.
const FACET_HITS_MAX: u64 = 100;

/// A whole value as a facet search compares it, with a space before each word: hyphens and their like are spaces, all other signs count.
fn words_of(text: &str) -> String {
    let mut words = " ".to_owned();
    fold(text.as_bytes(), &mut words);
    words.replace(['-', '_', '/'], " ")
}

fn run(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    (meant, own): (&Meant, &Own),
    part: (usize, usize),
) -> Result<Answered> {
    let root = meant.filter.clone().unwrap_or_else(|| Clause::All.into());
    let asked = documents::plain(ctx, index, root);
    let filter = meant.filter.is_some().then_some(&asked.root);
    let answered = search_instantly(ctx, index, (&asked, own), (filter, None), &|bits, meter, body| {
        meant.with_request(part, (bits, meter), body);
    });
    answered.map_err(Failed::from)
}

/// Marks the words of an answer in texts.
struct Marks<'m, 'q>(&'m mut Marker<'q>);

impl Matches for Marks<'_, '_> {
    fn with_matcher(&mut self, _attribute: &str, run: &mut dyn FnMut(&mut Matcher<'_>)) {
        let marker = &mut *self.0;
        run(&mut |token| {
            let mark = marker.find(token.text)?;
            let term = u32::try_from(mark.word).unwrap_or(u32::MAX);
            Some(Mark { term, weight: 1.0, characters: Some(mark.characters) })
        });
    }
}

pub(super) fn one(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    search: &Search,
) -> Result<Answer> {
    let mut body = Vec::new();
    write(ctx, asked, (uid, search, false), &mut body)?;
    Ok((200, body))
}

pub(super) fn multi(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, searches: &[Search]) -> Result<Answer> {
    let mut body = b"{\"results\":[".to_vec();
    for (at, search) in searches.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        let uid = search.index_uid.as_deref().unwrap_or_default();
        write(ctx, asked, (uid, search, true), &mut body).map_err(|failed| match failed {
            Failed::Fault(fault) => {
                let place = itoa::Buffer::new().format(at).to_owned();
                Fault::new(fault.code, ["Inside `.queries[", &place, "]`: ", &fault.message].concat()).into()
            }
            other => other,
        })?;
    }
    body.extend_from_slice(b"]}");
    Ok((200, body))
}

/// Writes the answer to a search.
fn write(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    (uid, search, names_index): (&str, &Search, bool),
    out: &mut Vec<u8>,
) -> Result<()> {
    let begin_ns = ctx.shared.host.monotonic_ns();
    let (index, settings) = open(ctx, asked, uid, false)?;
    let meant = Meant::of(ctx, search, (uid, &index), &settings)?;
    find::check_locks(ctx)?;
    let shown = page(search, settings.max_total_hits());
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    for attempt in 0..=TRIES {
        if attempt == TRIES && !ctx.txn.holds_everything() {
            return Err(find::lock_everything(ctx).into());
        }
        let own = find::own_changes(ctx, &index)?;
        let found = run(ctx, &index, (&meant, &own), (size(shown.offset), size(shown.limit)))?;
        if let Some(hits) = load(ctx, (&index, uid), (search, &settings, &meant), &found)? {
            let facets = facets(&meant, &settings, &found.answer);
            let facets = (!search.facets.is_empty()).then_some(facets.as_slice());
            let answer = response::Answer {
                index_uid: names_index.then_some(uid),
                query: search.q.as_deref().unwrap_or_default(),
                page: Page {
                    offset: if shown.numbered.is_some() { shown.offset } else { search.offset },
                    limit: if shown.numbered.is_some() { shown.limit } else { search.limit },
                    ..shown
                },
                total: found.answer.total.min(settings.max_total_hits()),
                is_exhaustive: found.answer.is_exhaustive,
                processing_time_ms: took_ms(ctx, asked, begin_ns),
                facets,
            };
            write_answer(&answer, &hits, out);
            return Ok(());
        }
    }
    Err(EngineError::Undeclared.into())
}

/// Milliseconds since then. None for GET: its answer has a tag by which clients keep it, and would have another one each time.
fn took_ms(ctx: &Context<'_, '_>, asked: &Asked<'_>, begin_ns: u64) -> u64 {
    match asked.args.get(1) {
        Some(&b"GET") => 0,
        _ => ctx.shared.host.monotonic_ns().saturating_sub(begin_ns) / 1_000_000,
    }
}

/// Reads the documents of hits; None if one of them is not what it was when the index was read.
fn load(
    ctx: &mut Context<'_, '_>,
    (index, uid): (&Arc<Index>, &str),
    (search, settings, meant): (&Search, &Settings, &Meant),
    found: &Answered,
) -> Result<Option<Vec<u8>>> {
    let mut documents = Vec::with_capacity(found.keys.len());
    for (hit, key) in found.answer.hits.iter().zip(&found.keys) {
        let known = Known { id: hit.id, key: key.clone(), score: 0.0, sort_key: None, distances: Vec::new() };
        if !is_still_there(ctx, index, &known)? {
            return Ok(None);
        }
        if let Some(document) = documents::read(ctx, uid, settings, key)? {
            documents.push((document, hit.relevance));
        }
        ctx.txn.share().look().map_err(CommandError::from)?;
    }
    let shown = Shown::new(search, settings);
    let may_take = |_| true;
    let meter = Meter { work: 0.into(), work_max: u64::MAX, may_take: &may_take };
    let mut hits = Vec::new();
    meant.with_request((0, 0), (None, &meter), |request| {
        // A word that few documents have is marked where it is, even if the answer did not insist on it.
        let answer = instant::Answer { words_used: meant.words.len(), ..found.answer.clone() };
        let mut marker = Marker::new(request, &answer);
        for (document, score) in &documents {
            if !hits.is_empty() {
                hits.push(b',');
            }
            let score = search.shows_score.then_some(*score);
            write_hit(document, &shown, &mut Marks(&mut marker), (score, None), &mut hits);
            if hits.len() as u64 > REST_REPLY_MAX_BYTES {
                return;
            }
        }
    });
    if hits.len() as u64 > REST_REPLY_MAX_BYTES {
        return Err(Fault::hits_too_large().into());
    }
    Ok(Some(hits))
}

fn counts(facet: &instant::Facet) -> Counts {
    facet.values.iter().map(|(value, count)| (String::from_utf8_lossy(value).into_owned(), *count)).collect()
}

fn facets(meant: &Meant, settings: &Settings, answer: &instant::Answer) -> Vec<Facet> {
    let of = |((name, _), facet): (&(String, FieldId), &instant::Facet)| {
        let mut counts = counts(facet);
        order_counts(&mut counts, settings.is_facet_by_count(name), settings.max_values_per_facet());
        let at = meant.ranges.iter().position(|(other, _)| other == name);
        let range = at.and_then(|at| answer.ranges.get(at).copied().flatten());
        Facet { name: name.clone(), counts, range: range.map(|range| (range.least, range.greatest)) }
    };
    meant.facets.iter().zip(&answer.facets).map(of).collect()
}

pub(super) fn facet(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    search: &Search,
) -> Result<Answer> {
    let begin_ns = ctx.shared.host.monotonic_ns();
    let (index, settings) = open(ctx, asked, uid, false)?;
    if !settings.has_facet_search() {
        return Err(
            Fault::new("facet_search_disabled", "The facet search is disabled for this index.").into()
        );
    }
    let facet = search.facet_name.clone().unwrap_or_default();
    let search = Search { facets: vec![facet.clone()], sort: Vec::new(), ..search.clone() };
    let meant = Meant::of(ctx, &search, (uid, &index), &settings)?;
    find::check_locks(ctx)?;
    let own = find::own_changes(ctx, &index)?;
    let found = run(ctx, &index, (&meant, &own), (0, 0))?;
    let mut all = found.answer.facets.first().map(counts).unwrap_or_default();
    if let Some(query) = search.facet_query.as_deref().filter(|query| !query.trim().is_empty()) {
        // A value that begins so, or words of it.
        let wanted = words_of(query.trim());
        all.retain(|(value, _)| words_of(value).contains(&wanted));
    }
    order_counts(&mut all, settings.is_facet_by_count(&facet), FACET_HITS_MAX);
    let mut body = Vec::new();
    let took_ms = took_ms(ctx, asked, begin_ns);
    response::write_facet_hits(&all, search.facet_query.as_deref(), took_ms, &mut body);
    Ok((200, body))
}
