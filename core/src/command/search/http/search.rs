//! Searches, facets and hits.

use std::sync::Arc;

use super::{Answer, Asked, Failed, Result, documents, open};
use crate::command::search::answer::{Hit as Known, is_still_there};
use crate::command::search::find::{self, Ended, Own};
use crate::command::search::instant::{Answered, run as search_instantly};
use crate::command::{CommandError, Context};
use crate::engine::EngineError;
use crate::search::bits::Bits;
use crate::search::dialect::fault::Fault;
use crate::search::dialect::request::{Page, Part, Search, SortBy, Strategy as Wanted, page, parts};
use crate::search::dialect::response::{
    self, Counts, Facet, Matches, Shown, order_counts, write_answer, write_hit,
};
use crate::search::dialect::settings::{
    ALL_TEXTS, Rule, Settings, attribute_of_text, is_attribute_of, number_field, tag_field,
};
use crate::search::evaluate::Meter;
use crate::search::highlight::{Hit as Mark, Matcher};
use crate::search::instant::{self, Marker, SortKey, Strategy, Typos, Weights};
use crate::search::query::{Clause, Node, Pattern};
use crate::search::schema::{FieldId, Schema};
use crate::search::text::{fold, instant as analyzer};
use crate::server::search::Index;

/// A search is begun anew so often because a document changed while it was read, before everything is locked.
const TRIES: usize = 4;

/// The value of a facet search has so many hits at most, as in Meilisearch.
const FACET_HITS_MAX: u64 = 100;

/// A score of so much is shown as one half.
const HALF_SCORE: f64 = 3000.0;

/// The words of what a user typed, and everything else that a search means for an index.
#[derive(Default)]
struct Meant {
    words: Vec<String>,
    phrases: Vec<Vec<String>>,
    negated: Vec<String>,
    is_open: bool,
    /// Conditions: the filter, and phrases that must not be there.
    conditions: Vec<Node>,
    fields: Option<Vec<FieldId>>,
    sort: Vec<SortKey>,
    popularity: Option<FieldId>,
    distinct: Option<FieldId>,
    /// The facets that are counted, by name.
    facets: Vec<(String, FieldId)>,
    ranges: Vec<(String, FieldId)>,
    synonyms: Vec<(String, Vec<String>)>,
    typos: Typos,
    strategy: Strategy,
    postings_max: u64,
}

fn field(schema: &Schema, name: &str) -> Option<FieldId> {
    schema.find(name.as_bytes()).map(|(id, _)| id)
}

impl Meant {
    /// What a search means.
    ///
    /// # Errors
    /// It does not fit the settings.
    fn of(
        ctx: &Context<'_, '_>,
        search: &Search,
        (uid, index): (&str, &Index),
        settings: &Settings,
    ) -> Result<Meant> {
        search.check(uid, settings)?;
        let schema = &index.definition.schema;
        let mut meant = Meant { strategy: strategy(search.strategy), ..Meant::default() };
        meant.read_words(search.q.as_deref().unwrap_or_default(), settings);
        if let Some(filter) = &search.filter {
            meant.conditions.push(filter.node(schema, &settings.filterable(), "invalid_search_filter")?);
        }
        meant.fields = search.searched.as_ref().map(|names| searched(schema, names));
        for sort in &search.sort {
            let SortBy::Attribute(attribute) = &sort.by else {
                return Err(Fault::unsupported("Sorting by distance (`_geoPoint`)").into());
            };
            meant.sort.extend(sort_keys(schema, attribute, sort.is_descending));
        }
        // Without words, nothing else ranks documents.
        if meant.words.is_empty() && meant.phrases.is_empty() {
            for rule in settings.rules() {
                if let Rule::By { attribute, is_descending } = rule {
                    meant.sort.extend(sort_keys(schema, &attribute, is_descending));
                }
            }
        }
        meant.popularity = settings.rules().iter().find_map(|rule| match rule {
            Rule::By { attribute, is_descending: true } => field(schema, &number_field(attribute)),
            _ => None,
        });
        let distinct = search.distinct.clone().or_else(|| settings.distinct());
        meant.distinct = distinct.and_then(|attribute| field(schema, &tag_field(&attribute)));
        for name in search.counted_facets(settings) {
            meant.facets.extend(field(schema, &tag_field(&name)).map(|id| (name.clone(), id)));
            meant.ranges.extend(field(schema, &number_field(&name)).map(|id| (name, id)));
        }
        meant.synonyms = settings
            .synonyms()
            .into_iter()
            .map(|(word, others)| (folded(&word), others.iter().map(|other| folded(other)).collect()))
            .collect();
        let typos = settings.typos();
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        meant.typos =
            Typos { one_min: typos.is_enabled.then(|| size(typos.one_from)), two_min: size(typos.two_from) };
        let cap = ctx.shared.search.settings.instant_cap();
        meant.postings_max = if cap == 0 { u64::MAX } else { cap };
        Ok(meant)
    }

    fn read_words(&mut self, query: &str, settings: &Settings) {
        let stop_words: Vec<String> = settings.stop_words().iter().map(|word| folded(word)).collect();
        for part in parts(query) {
            self.read_part(&part);
        }
        if let Some(last) = parts(query).last() {
            self.is_open = last.is_last
                && settings.has_prefixes()
                && !query.ends_with(char::is_whitespace)
                && !self.words.is_empty();
        }
        // A last word that is being typed may become another one.
        let open = if self.is_open { self.words.pop() } else { None };
        let has_others = open.is_some()
            || self.words.iter().any(|word| !stop_words.contains(word))
            || !self.phrases.is_empty();
        if has_others {
            self.words.retain(|word| !stop_words.contains(word));
        }
        self.words.extend(open);
    }

    fn read_part(&mut self, part: &Part<'_>) {
        // Words that nothing stands between are a phrase: pairs of characters of scripts without spaces.
        let mut groups: Vec<Vec<String>> = Vec::new();
        analyzer::words(
            part.text.as_bytes(),
            analyzer::Source::Query,
            &mut |token| match groups.last_mut() {
                Some(group) if token.is_adjacent || part.is_phrase => group.push(token.text.to_owned()),
                _ => groups.push(vec![token.text.to_owned()]),
            },
        );
        for mut group in groups {
            match (part.is_negative, group.len()) {
                (true, 1) => self.negated.append(&mut group),
                (true, _) => {
                    let word =
                        |word: &String| Pattern::Word { text: word.as_bytes().to_vec(), is_verbatim: true };
                    let phrase: Node = Clause::Phrase(group.iter().map(word).collect()).into();
                    self.conditions.push(Clause::Not(Box::new(phrase)).into());
                }
                (false, 1) if !part.is_phrase => self.words.append(&mut group),
                (false, _) => self.phrases.push(group),
            }
        }
    }

    /// Runs `body` with the request of the pure search.
    fn with_request<R>(
        &self,
        (offset, count): (usize, usize),
        (filter, meter): (Option<&[Bits]>, &Meter<'_>),
        body: impl FnOnce(&instant::Request<'_>) -> R,
    ) -> R {
        let (words, negated) = (texts_of(&self.words), texts_of(&self.negated));
        let phrases: Vec<Vec<&str>> = self.phrases.iter().map(|phrase| texts_of(phrase)).collect();
        let facets: Vec<FieldId> = self.facets.iter().map(|(_, field)| *field).collect();
        let ranges: Vec<FieldId> = self.ranges.iter().map(|(_, field)| *field).collect();
        let synonyms = |word: &str, visit: &mut dyn FnMut(&str)| {
            let known = self.synonyms.iter().filter(|(other, _)| other == word);
            known.flat_map(|(_, others)| others).for_each(|other| visit(other));
        };
        body(&instant::Request {
            words: &words,
            is_open: self.is_open,
            phrases: &phrases,
            negated: &negated,
            filter,
            fields: self.fields.as_deref(),
            strategy: self.strategy,
            typos: self.typos,
            synonyms: &synonyms,
            popularity: self.popularity,
            weights: &Weights::default(),
            sort: &self.sort,
            distinct: self.distinct,
            facets: &facets,
            // All, since they may be sorted by name before some are left out.
            facet_values_max: usize::MAX,
            ranges: &ranges,
            offset,
            count,
            postings_max: self.postings_max,
            meter,
        })
    }
}

/// The orders by an attribute: numbers first, then texts.
fn sort_keys(schema: &Schema, attribute: &str, is_descending: bool) -> impl Iterator<Item = SortKey> {
    let fields = [(number_field(attribute), true), (tag_field(attribute), false)];
    let keys = fields.map(|(name, is_number)| {
        field(schema, &name).map(|field| SortKey { field, is_number, is_descending })
    });
    keys.into_iter().flatten()
}

fn texts_of(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn strategy(wanted: Wanted) -> Strategy {
    match wanted {
        Wanted::All => Strategy::All,
        Wanted::Last | Wanted::Frequency => Strategy::Last,
    }
}

/// A text as the index folds it; of several words, the first.
fn folded(text: &str) -> String {
    let mut word = String::new();
    analyzer::words(text.as_bytes(), analyzer::Source::Query, &mut |token| {
        if word.is_empty() {
            word.push_str(token.text);
        }
    });
    word
}

/// A whole value as it is compared.
fn whole(text: &str) -> String {
    let mut folded = String::new();
    fold(text.as_bytes(), &mut folded);
    folded
}

/// The text fields of attributes. One that has no field is looked for where such attributes are.
fn searched(schema: &Schema, names: &[String]) -> Vec<FieldId> {
    let mut fields = Vec::new();
    for name in names {
        let count = fields.len();
        for (field, number) in schema.fields.iter().zip(0..) {
            let attribute = attribute_of_text(&field.name);
            if attribute
                .is_some_and(|attribute| is_attribute_of(name, attribute) || is_attribute_of(attribute, name))
            {
                fields.push(FieldId(number));
            }
        }
        if fields.len() == count {
            fields.extend(field(schema, ALL_TEXTS));
        }
    }
    fields
}

fn run(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    (meant, own): (&Meant, &Own),
    part: (usize, usize),
) -> Result<Answered> {
    let asked = documents::plain(ctx, index, Clause::And(meant.conditions.clone()).into());
    let filter = (!meant.conditions.is_empty()).then_some(&asked.root);
    let answered = search_instantly(ctx, index, (&asked, own), (filter, None), &|bits, meter, body| {
        meant.with_request(part, (bits, meter), body);
    });
    answered.map_err(|ended| match ended {
        Ended::Timeout => Fault::new("internal", "The search took too long.").into(),
        Ended::Error(error) => Failed::Error(error),
    })
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
                processing_time_ms: 0,
                facets,
            };
            write_answer(&answer, &hits, out);
            return Ok(());
        }
    }
    Err(EngineError::Undeclared.into())
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
        let score = f64::from(hit.score.max(0));
        let score = if meant.words.is_empty() && meant.phrases.is_empty() {
            1.0
        } else {
            score / (score + HALF_SCORE)
        };
        if search.score_threshold.is_some_and(|threshold| score < threshold) {
            continue;
        }
        if let Some(document) = documents::read(ctx, uid, settings, key)? {
            documents.push((document, score));
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
        }
    });
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
        let wanted = whole(query.trim());
        // The words of a value, too, may begin so.
        all.retain(|(value, _)| {
            let value = whole(value);
            value.starts_with(&wanted) || value.split(' ').any(|word| word.starts_with(&wanted))
        });
    }
    order_counts(&mut all, settings.is_facet_by_count(&facet), FACET_HITS_MAX);
    let mut body = Vec::new();
    response::write_facet_hits(&all, search.facet_query.as_deref(), 0, &mut body);
    Ok((200, body))
}
