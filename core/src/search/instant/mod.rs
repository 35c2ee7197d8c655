//! Search as one types: the last word is open, words may have typos, and the order is what people expect to see first.
//!
//! A query goes through four steps. [`words`] looks up what each word may stand for in all parts, best first, up to a bound of postings.
//! [`candidates`] intersects them part by part over arrays that a [`Scratch`] lends. [`rank`] looks closer at the best. [`choose`] and
//! [`facets`] make the answer.
//!
//! If too few documents match, typos are allowed, and then words are dropped from the end. All scores are whole numbers made of what a
//! document itself says, so an answer does not depend on how documents lie in parts, nor on documents that are gone. Work is bounded by
//! counting postings, never by time; an answer from which something was left out says so ([`Answer::is_exhaustive`]). What is left out does
//! depend on documents that are gone: their postings are read and counted until their segment is merged.

mod candidates;
mod choose;
mod compounds;
mod facets;
mod heads;
mod marks;
mod progress;
mod rank;
mod relevance;
mod weights;
mod words;

#[cfg(test)]
mod tests;

pub use choose::SortKey;
pub use facets::{Facet, Range};
pub use marks::{Mark, Marker};
pub use weights::Weights;

use crate::search::bits::Bits;
use crate::search::evaluate::{Failure, Meter, Options, Scorer, Synonyms, evaluate};
use crate::search::index::part::{DocumentId, View};
use crate::search::query::{Clause, Node, Pattern};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::sorted;

use compounds::Split;
use progress::{Candidate, Reading, Search};
use relevance::Relevance;
use weights::Tables;
use words::{Expansions, distance_max};

/// How many words of a query count. The words after them are ignored, as the answer says ([`Answer::is_exhaustive`]): a page of text pasted
/// into the search box would cost too much.
pub const WORDS_MAX: usize = 8;

/// With fewer hits than this, typos are allowed, and then words are dropped.
const ENOUGH_HITS: usize = 5;

/// How many words are dropped at most.
const DROPPED_WORDS_MAX: usize = 2;

/// Which documents may be missing words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The last words are dropped if too few documents have all.
    #[default]
    Last,
    /// All words have to be there.
    All,
    /// As [`Strategy::Last`], but the words that most documents have are dropped.
    Frequency,
}

/// From how many characters on words may have typos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typos {
    /// Characters of a word that may have one; None for no typos at all.
    pub one_min: Option<usize>,
    /// Characters of a word that may have two.
    pub two_min: usize,
}

impl Typos {
    /// No typos.
    pub const NONE: Typos = Typos { one_min: None, two_min: 0 };
}

impl Default for Typos {
    fn default() -> Typos {
        Typos { one_min: Some(4), two_min: 8 }
    }
}

/// A query.
pub struct Request<'q> {
    /// Its words, folded as the index folds them.
    pub words: &'q [&'q str],
    /// Whether the last word is still being typed.
    pub is_open: bool,
    /// Words that have to stand next to each other. They count as words before the others, without typos.
    pub phrases: &'q [Vec<&'q str>],
    /// Words and phrases that must not be there.
    pub negated: &'q [Vec<&'q str>],
    /// The documents that count, for each view; all live ones if None.
    pub filter: Option<&'q [Bits]>,
    /// The text fields to look in; all if None.
    pub fields: Option<&'q [FieldId]>,
    /// Whether words may be missing.
    pub strategy: Strategy,
    /// Which words may have typos.
    pub typos: Typos,
    /// Shows the words that mean the same as a word.
    pub synonyms: Synonyms<'q>,
    /// A numeric field that says how popular a document is.
    pub popularity: Option<FieldId>,
    /// How much each thing counts.
    pub weights: &'q Weights,
    /// Sorts by fields before the score.
    pub sort: &'q [SortKey],
    /// Sorts by fields what has the same score.
    pub ties: &'q [SortKey],
    /// Matches with a smaller [`Hit::relevance`] do not count. Those that were not looked at closely are judged by their words alone, and
    /// then the answer is not exhaustive.
    pub relevance_min: Option<f64>,
    /// A tag field of whose values only the best document each is in the answer.
    pub distinct: Option<FieldId>,
    /// Tag fields whose values are counted over all matches.
    pub facets: &'q [FieldId],
    /// The most values of a facet in the answer.
    pub facet_values_max: usize,
    /// Numeric fields whose least and greatest numbers are wanted.
    pub ranges: &'q [FieldId],
    /// How many hits are left out from the beginning.
    pub offset: usize,
    /// How many hits are wanted.
    pub count: usize,
    /// Postings that are read for a word at most, a third of them for a word that is alone. A word's best expansion is always read.
    pub postings_max: u64,
    /// Counts work and memory.
    pub meter: &'q Meter<'q>,
}

/// With a word that stands alone, so many times fewer postings do: nothing else has to be met, and the judged answers are the same with a
/// third of them (`tests/bench/search/relevance.py`).
const ALONE_FACTOR: u64 = 3;

impl Request<'_> {
    /// Postings that are read for a word at most.
    fn postings_max(&self) -> u64 {
        let words = self.words.len() + self.phrases.iter().map(Vec::len).sum::<usize>();
        match self.postings_max {
            u64::MAX => u64::MAX,
            max if words > 1 => max,
            max => max.div_ceil(ALONE_FACTOR),
        }
    }

    /// Whether scores count beyond which hits are the first.
    fn wants_all_scores(&self) -> bool {
        self.relevance_min.is_some() || self.distinct.is_some() || !self.sort.is_empty()
    }
}

/// A document of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number of its view.
    pub view: usize,
    /// Its place there.
    pub place: u32,
    /// Its id.
    pub id: DocumentId,
    /// Its score; 0 where the order is by fields alone.
    pub score: i32,
    /// How well it fits the query, from 0 to 1, which a document gets whose first field is the query.
    pub relevance: f64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The hits that were asked for, in order.
    pub hits: Vec<Hit>,
    /// How many documents match; at least so many if the answer is not exhaustive.
    pub total: u64,
    /// Whether everything was looked at.
    pub is_exhaustive: bool,
    /// Whether words were allowed to have typos.
    pub has_typos: bool,
    /// How many words had to match, those of phrases not counted.
    pub words_used: usize,
    /// Words that were found for one word of the query which is two in documents, with its number: those of phrases first, then the others.
    pub parts: Vec<(usize, String)>,
    /// The values of each facet that was asked for.
    pub facets: Vec<Facet>,
    /// The least and the greatest number of each field that was asked for; None if no match has one.
    pub ranges: Vec<Option<Range>>,
}

/// Memory that queries use again.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For each place: in which round it was marked, and where its candidate is.
    marks: Vec<u64>,
    round: u32,
    /// Those of all views, one view after the other.
    found: Vec<Candidate>,
    /// Numbers of the candidates that were looked at closely.
    close: Vec<u32>,
}

impl Scratch {
    /// Bytes of memory that it holds.
    pub fn memory_bytes(&self) -> usize {
        self.marks.capacity() * 8 + self.found.capacity() * size_of::<Candidate>() + self.close.capacity() * 4
    }

    /// Keeps some of the candidates.
    fn keep(&mut self, is_kept: impl Fn(&Candidate) -> bool) {
        let mut next = 0u32;
        let mut number = |candidate: &Candidate| {
            let number = is_kept(candidate).then_some(next);
            next += u32::from(number.is_some());
            number
        };
        let numbers: Vec<Option<u32>> = self.found.iter().map(&mut number).collect();
        self.close =
            self.close.iter().filter_map(|at| numbers.get(*at as usize).copied().flatten()).collect();
        let mut kept = numbers.iter();
        self.found.retain(|_| kept.next().is_some_and(Option::is_some));
    }
}

/// Answers a query. The views are the parts of one index at one moment.
///
/// # Errors
/// More work or memory than allowed.
pub fn search(
    schema: &Schema,
    views: &[View<'_>],
    request: &Request<'_>,
    scratch: &mut Scratch,
) -> Result<Answer, Failure> {
    let allowed = allowed(schema, views, request)?;
    let mut words: Vec<&str> = request.phrases.iter().flatten().copied().take(WORDS_MAX).collect();
    let fixed = words.len();
    words.extend(request.words.iter().copied().take(WORDS_MAX - fixed));
    let is_open = request.is_open && fixed + request.words.len() <= WORDS_MAX && words.len() > fixed;
    let mut answer = Answer { is_exhaustive: true, words_used: words.len() - fixed, ..Answer::default() };
    let mut search = Search {
        views,
        request,
        allowed: &allowed,
        scratch,
        fields: text_fields(schema, request.fields),
        tables: Tables::default(),
    };
    let joined = search.joined(words.get(fixed..).unwrap_or_default(), is_open)?;
    let mut known: Vec<[Option<Expansions>; 2]> = words.iter().map(|_| Default::default()).collect();
    let mut before: Vec<Candidate> = Vec::new();
    let has_typos = request.typos.one_min.is_some();
    let dropped_max = if request.strategy == Strategy::All { 0 } else { DROPPED_WORDS_MAX };
    // Which words are dropped, the first to go first.
    let mut dropping: Vec<usize> = (fixed..words.len()).rev().collect();
    let mut rounds = vec![(false, 0)];
    rounds.extend(has_typos.then_some((true, 0)));
    rounds.extend((1..=dropped_max).map(|dropped| (has_typos, dropped)));
    for (may_have_typos, dropped) in rounds {
        if dropped > 0 && words.len() - fixed <= dropped {
            break;
        }
        let gone = dropping.get(..dropped).unwrap_or_default();
        // What a word stands for without typos is the same in all rounds.
        let slot = |number: usize, word: &str| {
            usize::from(may_have_typos && number >= fixed && distance_max(word, request.typos) > 0)
        };
        let used = || words.iter().enumerate().filter(|(number, _)| !gone.contains(number));
        for (number, word) in used() {
            let slot = slot(number, word);
            if let Some(known) = known.get_mut(number).and_then(|known| known.get_mut(slot))
                && known.is_none()
            {
                let typos = if slot == 0 { Typos::NONE } else { request.typos };
                let is_last = is_open && number + 1 == words.len();
                let synonyms: Synonyms<'_> = if number < fixed { &|_, _| {} } else { request.synonyms };
                *known = Some(Expansions::find(views, request, word, is_last, (typos, synonyms))?);
            }
        }
        let known = |(number, word): (usize, &&str)| known.get(number)?.get(slot(number, word))?.as_ref();
        let plain: Vec<&Expansions> = used().filter_map(known).collect();
        if !may_have_typos && dropped == 0 && request.strategy == Strategy::Frequency {
            let counts: Vec<u64> =
                plain.iter().map(|word| word.live_documents(views, request)).collect::<Result<_, _>>()?;
            // Stable, so that of words that are equally frequent the last goes first.
            sorted::by_key(&mut dropping, |at| !counts.get(*at).copied().unwrap_or(0));
        }
        let split = if may_have_typos && dropped == 0 && words.len() < WORDS_MAX {
            search.split(schema, words.get(fixed..).unwrap_or_default())?
        } else {
            Vec::new()
        };
        let mut readings = vec![Reading { words: plain.clone(), within: None, bonus: 0, joined: 0 }];
        for (at, joined) in joined.iter().filter(|_| dropped == 0) {
            // One word instead of the two.
            let mut words = plain.clone();
            words.splice(fixed + at..fixed + at + 2, [joined]);
            readings.push(Reading { words, within: None, bonus: request.weights.joined, joined: 1 });
        }
        for Split { at, words: two, parts, within } in &split {
            answer.parts.extend(two.iter().map(|part| (fixed + at, part.clone())));
            let mut words = plain.clone();
            words.splice(fixed + at..fixed + at + 1, parts);
            readings.push(Reading {
                words,
                within: Some(within),
                bonus: request.weights.split(),
                joined: -1,
            });
        }
        answer.has_typos = may_have_typos;
        answer.words_used = plain.len() - fixed;
        answer.is_exhaustive = fixed + request.words.len() <= WORDS_MAX
            && readings.iter().all(|reading| reading.words.iter().all(|word| word.is_whole()));
        search.run(&readings)?;
        if !plain.is_empty() {
            search.rank(&readings)?;
        }
        if dropped > 0 {
            search.prefer(&mut before);
        }
        if words.is_empty() || search.scratch.found.len() >= ENOUGH_HITS {
            break;
        }
        before.clone_from(&search.scratch.found);
    }
    let relevance = Relevance::new(request, words.len());
    if let Some(least) = request.relevance_min {
        let is_exact = search.scratch.found.iter().all(|candidate| relevance.is_exact(candidate));
        answer.is_exhaustive &= is_exact;
        search.scratch.keep(|candidate| relevance.of(candidate) >= least);
    }
    let found = std::mem::take(&mut search.scratch.found);
    answer.total = found.len() as u64;
    answer.facets = facets::facets(schema, views, request, &found)?;
    answer.ranges = facets::ranges(views, request, &found)?;
    search.scratch.found =
        choose::choose(schema, views, request, found, (&search.scratch.close, relevance), &mut answer)?;
    Ok(answer)
}

/// The fields that are looked in, by their places among the text fields; None for all.
fn text_fields(schema: &Schema, fields: Option<&[FieldId]>) -> Option<Vec<bool>> {
    let fields = fields?;
    let is_text =
        |id: &FieldId| schema.field(*id).is_some_and(|field| matches!(field.kind, FieldKind::Text { .. }));
    let texts = (0..schema.fields.len() as u16).map(FieldId).filter(is_text);
    Some(texts.map(|id| fields.contains(&id)).collect())
}

/// The documents of each view that may match at all.
fn allowed(schema: &Schema, views: &[View<'_>], request: &Request<'_>) -> Result<Vec<Option<Bits>>, Failure> {
    let mut allowed: Vec<Option<Bits>> = Vec::with_capacity(views.len());
    for (number, view) in views.iter().enumerate() {
        let filter = request.filter.and_then(|filter| filter.get(number));
        if filter.is_some() {
            request.meter.memory(view.live.memory_bytes())?;
        }
        allowed.push(filter.map(|filter| {
            let mut bits = view.live.clone();
            bits.keep(filter);
            bits
        }));
    }
    let word = |word: &&str| Pattern::Word { text: word.as_bytes().to_vec(), is_verbatim: true };
    let phrase = |words: &Vec<&str>| -> Node { Clause::Phrase(words.iter().map(word).collect()).into() };
    // Single words are found as all words are, as far as these go.
    let mut count = 0;
    let phrases = request.phrases.iter().filter(|words| {
        count += words.len();
        words.len() > 1 || count > WORDS_MAX
    });
    let mut clauses: Vec<Node> = phrases.map(phrase).collect();
    clauses.extend(request.negated.iter().map(|words| Clause::Not(Box::new(phrase(words))).into()));
    if clauses.is_empty() {
        return Ok(allowed);
    }
    for (bits, mut matching) in
        allowed.iter_mut().zip(matching(schema, views, request, Clause::And(clauses))?)
    {
        if let Some(bits) = bits.as_ref() {
            matching.keep(bits);
        }
        *bits = Some(matching);
    }
    Ok(allowed)
}

/// The documents of each view that match a clause exactly.
fn matching(
    schema: &Schema,
    views: &[View<'_>],
    request: &Request<'_>,
    clause: Clause,
) -> Result<Vec<Bits>, Failure> {
    let options = Options {
        scorer: Scorer::DocScore,
        needs_scores: false,
        in_fields: request.fields,
        in_documents: None,
        slop: None,
        in_order: false,
        are_fields_apart: true,
        is_verbatim: true,
        language: schema.language,
        synonyms: &|_, _| {},
        meter: Meter { work: 0.into(), work_max: request.meter.work_max, may_take: request.meter.may_take },
    };
    let matches = evaluate(schema, views, &clause.into(), &options)?;
    request.meter.work(options.meter.work.get())?;
    Ok(matches.places(views))
}
