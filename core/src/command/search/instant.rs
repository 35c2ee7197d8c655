//! SCORER INSTANT: a search as one types.

use std::cell::RefCell;

use super::answer;
use super::find::{self, Allowed, Asked, Ended, Own};
use super::request::Request;
use crate::command::{CommandError, Context};
use crate::search::bits::Bits;
use crate::search::evaluate::{self, Failure, Meter};
use crate::search::index::{DocumentId, View};
use crate::search::instant::{self, Answer, Marker, SortKey, Strategy, Typos, Weights};
use crate::search::query::{Clause, Node, Pattern};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::Token;
use crate::server::search::Index;

type Result<T> = std::result::Result<T, CommandError>;

/// What a query says, sorted into words and what filters documents.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    words: Vec<String>,
    phrases: Vec<Vec<String>>,
    negated: Vec<Vec<String>>,
    /// Everything that is no bare word.
    filters: Vec<Node>,
    /// Whether the last word is still being typed.
    is_open: bool,
}

impl Sorted {
    /// A query is being typed at the end of its last word: a blank behind it ends the word.
    pub fn of(root: &Node, text: &[u8]) -> Sorted {
        let mut sorted = Sorted::default();
        let mut nodes = Vec::new();
        leaves(root, &mut nodes);
        let Some((last, others)) = nodes.split_last() else { return sorted };
        others.iter().for_each(|node| sorted.add(node));
        sorted.is_open = match &last.clause {
            // What begins so is what an open word stands for.
            Clause::Word(Pattern::Prefix(text)) => {
                sorted.words.extend(String::from_utf8(text.clone()));
                true
            }
            clause => {
                sorted.add(last);
                let is_word = matches!(clause, Clause::Word(Pattern::Word { .. }));
                is_word && !text.last().is_some_and(u8::is_ascii_whitespace)
            }
        };
        sorted
    }

    fn add(&mut self, node: &Node) {
        let word = |pattern: &Pattern| match pattern {
            Pattern::Word { text, .. } => String::from_utf8(text.clone()).ok(),
            _ => None,
        };
        let words = |patterns: &[Pattern]| patterns.iter().map(word).collect::<Option<Vec<String>>>();
        let is_known = match &node.clause {
            Clause::All => true,
            Clause::Word(pattern) => push(&mut self.words, word(pattern)),
            Clause::Phrase(patterns) if !has_window(node) => push(&mut self.phrases, words(patterns)),
            Clause::Not(inner) => match &inner.clause {
                Clause::Word(pattern) => push(&mut self.negated, words(std::slice::from_ref(pattern))),
                Clause::Phrase(patterns) => push(&mut self.negated, words(patterns)),
                _ => false,
            },
            _ => false,
        };
        if !is_known {
            self.filters.push(node.clone());
        }
    }
}

/// The parts that all have to match, in their order. The parser bounds how deep they stand in each other.
fn leaves<'n>(node: &'n Node, into: &mut Vec<&'n Node>) {
    match &node.clause {
        Clause::And(nodes) if !has_window(node) => nodes.iter().for_each(|node| leaves(node, into)),
        _ => into.push(node),
    }
}

/// Whether something is said about how near to each other words stand.
fn has_window(node: &Node) -> bool {
    node.attributes.slop.is_some() || node.attributes.in_order.is_some()
}

/// Whether there is something to push.
fn push<T>(list: &mut Vec<T>, found: Option<T>) -> bool {
    let is_there = found.is_some();
    list.extend(found);
    is_there
}

/// What else a request says about such a search.
struct How {
    popularity: Option<FieldId>,
    sort: Vec<SortKey>,
    /// The score counts doublings of popularity; the numbers themselves decide between equals.
    ties: Option<SortKey>,
    postings_max: u64,
    offset: usize,
    count: usize,
}

fn how(ctx: &Context<'_, '_>, schema: &Schema, request: &Request<'_>) -> Result<How> {
    let popularity = match request.popularity {
        None => None,
        Some(name) => {
            let found = schema.find(name).filter(|(_, field)| matches!(field.kind, FieldKind::Numeric));
            Some(
                found
                    .map(|(id, _)| id)
                    .ok_or_else(|| CommandError::text("POPULARITY is not a NUMERIC field of the index"))?,
            )
        }
    };
    let sort = match request.sort {
        None => Vec::new(),
        Some((name, is_descending)) => {
            let found = schema
                .find(name)
                .filter(|(_, field)| field.is_sortable || matches!(field.kind, FieldKind::Numeric));
            let Some((field, known)) = found else {
                return Err(CommandError::text(
                    "SORTBY beside SCORER INSTANT needs a field that is NUMERIC or SORTABLE",
                ));
            };
            vec![SortKey { field, is_number: matches!(known.kind, FieldKind::Numeric), is_descending }]
        }
    };
    let settings = &ctx.shared.search.settings;
    let cap = request.cap.unwrap_or_else(|| settings.instant_cap());
    let ties = popularity.map(|field| SortKey { field, is_number: true, is_descending: true });
    Ok(How {
        popularity,
        sort,
        ties,
        postings_max: if cap == 0 { u64::MAX } else { cap },
        offset: usize::try_from(request.offset).unwrap_or(usize::MAX),
        count: usize::try_from(request.count.min(settings.results_max())).unwrap_or(usize::MAX),
    })
}

/// The words of phrases, as a request of the pure search has them.
pub(super) fn all_words(phrases: &[Vec<String>]) -> Vec<Vec<&str>> {
    phrases.iter().map(|words| words.iter().map(String::as_str).collect()).collect()
}

/// Runs `body` with the request of the pure search.
fn with_request<R>(
    index: &Index,
    (asked, sorted, how): (&Asked, &Sorted, &How),
    (filter, meter): (Option<&[Bits]>, &Meter<'_>),
    body: impl FnOnce(&instant::Request<'_>) -> R,
) -> R {
    let synonyms = &index.definition.synonyms;
    let words: Vec<&str> = sorted.words.iter().map(String::as_str).collect();
    let (negated, phrases) = (all_words(&sorted.negated), all_words(&sorted.phrases));
    body(&instant::Request {
        words: &words,
        is_open: sorted.is_open,
        phrases: &phrases,
        negated: &negated,
        filter,
        fields: asked.fields.as_deref(),
        strategy: Strategy::Last,
        typos: if asked.is_verbatim { Typos::NONE } else { Typos::default() },
        synonyms: &|word, visit| {
            if !asked.is_verbatim {
                synonyms.others(word, visit);
            }
        },
        popularity: how.popularity,
        weights: &Weights::default(),
        sort: &how.sort,
        ties: how.ties.as_slice(),
        relevance_min: None,
        distinct: None,
        facets: &[],
        facet_values_max: 0,
        ranges: &[],
        offset: how.offset,
        count: how.count,
        postings_max: how.postings_max,
        meter,
    })
}

/// What an index answers, with the keys of the hits and what they are sorted by first.
pub(super) struct Answered {
    pub answer: Answer,
    pub keys: Vec<Vec<u8>>,
    pub sort_keys: Vec<Option<Vec<u8>>>,
}

/// Makes the request of a search for a filter and a meter, and shows it once.
pub(super) type Requests<'f> = &'f dyn Fn(Option<&[Bits]>, &Meter<'_>, &mut dyn FnMut(&instant::Request<'_>));

/// Runs a search among the documents that match what is asked, or among all if only `None` is said about them.
///
/// # Errors
/// The query takes too much.
pub(super) fn run(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    (asked, own): (&Asked, &Own),
    (filter, only): (Option<&Node>, Option<&[DocumentId]>),
    request: Requests<'_>,
) -> std::result::Result<Answered, Ended> {
    thread_local! {
        /// What a search of this thread used last: its size follows the largest index.
        static SCRATCH: RefCell<instant::Scratch> = RefCell::default();
    }
    let schema = &index.definition.schema;
    let allowed = Allowed::of(ctx, asked.timeout_ms);
    let answered = find::with_views(ctx, index, own, |views| {
        allowed.meter(|meter| {
            let bits = filter.map(|root| matching(index, views, (asked, root, only), &meter)).transpose()?;
            let (mut answer, mut sort) = (Ok(Answer::default()), None);
            request(bits.as_deref(), &meter, &mut |request| {
                sort = request.sort.first().copied();
                answer = SCRATCH.with_borrow_mut(|scratch| instant::search(schema, views, request, scratch));
            });
            let answer = answer?;
            let key = |hit: &instant::Hit| {
                let mut key = Vec::new();
                if let Some(view) = views.get(hit.view) {
                    view.part.key(hit.place, &mut key);
                }
                key
            };
            let sort_key = |hit: &instant::Hit| {
                let (view, sort) = (views.get(hit.view)?, sort?);
                answer::sort_key(view, hit.place, (sort.field, sort.is_number))
            };
            let hits = &answer.hits;
            let (keys, sort_keys) = (hits.iter().map(key).collect(), hits.iter().map(sort_key).collect());
            Ok(Answered { answer, keys, sort_keys })
        })
    });
    answered.map_err(|failure: Failure| failure.into())
}

/// The documents that match a query, in each view.
fn matching(
    index: &Index,
    views: &[View<'_>],
    (asked, root, only): (&Asked, &Node, Option<&[DocumentId]>),
    meter: &Meter<'_>,
) -> std::result::Result<Vec<Bits>, Failure> {
    let meter = Meter { work: 0.into(), work_max: meter.work_max, may_take: meter.may_take };
    let matches = find::with_options(index, asked, only, meter, |options| {
        evaluate::evaluate(&index.definition.schema, views, root, options)
    })?;
    Ok(matches.places(views))
}

/// What FT.SEARCH has found.
pub(super) struct Found {
    pub answered: Answered,
    sorted: Sorted,
    how: How,
}

/// Runs FT.SEARCH's search.
///
/// # Errors
/// What the request says does not go together; the engine's.
pub(super) fn search(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    (asked, own): (&Asked, &Own),
    (text, request): (&[u8], &Request<'_>),
) -> Result<std::result::Result<Found, Ended>> {
    if asked.nearest.is_some() {
        return Err(CommandError::text("SCORER INSTANT does not go together with KNN"));
    }
    let how = how(ctx, &index.definition.schema, request)?;
    let sorted = Sorted::of(&asked.root, text);
    let only = match &asked.keys {
        Some(keys) => Some(find::ids_of(ctx, index, keys, own)?),
        None => None,
    };
    let filter: Option<Node> = match sorted.filters.as_slice() {
        [] => only.is_some().then(|| Clause::All.into()),
        filters => Some(Clause::And(filters.to_vec()).into()),
    };
    let answered = run(ctx, index, (asked, own), (filter.as_ref(), only.as_deref()), &|bits, meter, body| {
        with_request(index, (asked, &sorted, &how), (bits, meter), body);
    });
    Ok(answered.map(|answered| Found { answered, sorted, how }))
}

impl Found {
    /// Runs `body` with what finds the words of the answer in texts: the number of a word of the query, and how many characters of the
    /// token match.
    pub fn mark(
        &self,
        index: &Index,
        asked: &Asked,
        body: impl FnOnce(&mut dyn FnMut(&Token<'_>) -> Option<(usize, usize)>),
    ) {
        let may_take = |_| true;
        let meter = Meter { work: 0.into(), work_max: u64::MAX, may_take: &may_take };
        with_request(index, (asked, &self.sorted, &self.how), (None, &meter), |request| {
            // A word that few documents have is marked where it is, even if the answer did not insist on it.
            let answer = Answer { words_used: self.sorted.words.len(), ..self.answered.answer.clone() };
            let mut marker = Marker::new(request, &answer);
            body(&mut |token| marker.find(token.text).map(|mark| (mark.word, mark.characters)));
        });
    }
}
