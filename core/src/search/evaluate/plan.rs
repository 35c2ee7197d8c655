//! From a query's tree to a plan: words are looked up in all parts, and counted there.

use crate::search::bits::Bits;
use crate::search::index::part::{Block, List, View};
use crate::search::query::{Bound, Clause, Node, Pattern};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{fold_tag, stem};
use crate::search::vector::Probe;
use crate::sorted;

use super::pattern::Matcher;
use super::score::{Judge, TEXT_FIELDS_MAX};
use super::{DEPTH_MAX, Failure, Options};

/// Text fields as bits; all of them means that nobody needs to look.
pub(super) const ALL_FIELDS: u128 = u128::MAX;

/// A part of a plan.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) what: What,
    pub(super) weight: f64,
}

/// What a part of a plan matches.
#[derive(Debug)]
pub(super) enum What {
    All,
    Nothing,
    /// At least one of the words.
    Words(Terms),
    /// At least one of the tags.
    Tags(Terms),
    And(Vec<Step>, Option<Window>),
    Or(Vec<Step>),
    Not(Box<Step>),
    Optional(Box<Step>),
    /// A number in one of these ranges.
    Numbers(FieldId, Vec<(Bound, Bound)>),
    Geo {
        field: FieldId,
        longitude: f64,
        latitude: f64,
        radius_m: f64,
    },
    Near {
        field: FieldId,
        radius: f64,
        probe: Probe,
    },
    Missing(FieldId),
}

/// How near to each other words have to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Other words between them; any number if None.
    pub(super) slop: Option<u64>,
    pub(super) in_order: bool,
}

/// Terms, and where their postings are.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) terms: Vec<Term>,
    /// In the order of views, and of terms in each.
    lists: Vec<Listed>,
}

/// A term as scorers see it: a word, or several that count as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) rarity: f64,
    pub(super) fields: u128,
    pub(super) is_stem: bool,
}

/// Postings of a term in one view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    view: u32,
    pub(super) term: u32,
    pub(super) list: List,
}

impl Terms {
    /// Those that a view holds.
    pub(super) fn of_view(&self, view: usize) -> &[Listed] {
        let start = self.lists.partition_point(|listed| (listed.view as usize) < view);
        let end = self.lists.partition_point(|listed| (listed.view as usize) <= view);
        self.lists.get(start..end).unwrap_or_default()
    }
}

impl Step {
    /// At most how many places of a view match, roughly: intersections begin with the fewest.
    pub(super) fn estimate(&self, number: usize, view: View<'_>) -> u64 {
        let all = u64::from(view.part.places());
        let of_terms =
            |terms: &Terms| terms.of_view(number).iter().map(|listed| u64::from(listed.list.documents)).sum();
        match &self.what {
            What::Nothing => 0,
            What::Words(terms) | What::Tags(terms) => of_terms(terms),
            What::And(members, _) => {
                members.iter().map(|member| member.estimate(number, view)).min().unwrap_or(all)
            }
            What::Or(members) => members.iter().map(|member| member.estimate(number, view)).sum(),
            // What looks at places one by one comes late, when few are left.
            What::Geo { .. } => all + 1,
            What::Near { .. } => all + 2,
            What::All | What::Not(_) | What::Optional(_) | What::Numbers(..) | What::Missing(_) => all,
        }
    }
}

/// Makes plans.
pub(super) struct Planner<'a> {
    schema: &'a Schema,
    views: &'a [View<'a>],
    options: &'a Options<'a>,
    judge: &'a Judge,
    has_scores: bool,
    /// The places of text fields among all fields, and which of them have stems.
    texts: Vec<FieldId>,
    stems: u128,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        schema: &'a Schema,
        views: &'a [View<'a>],
        options: &'a Options<'a>,
        judge: &'a Judge,
    ) -> Planner<'a> {
        let (mut texts, mut stems) = (Vec::new(), 0);
        for (field, id) in schema.fields.iter().zip(0..) {
            if let FieldKind::Text { has_stems, .. } = field.kind {
                if has_stems {
                    stems |= bit(texts.len());
                }
                texts.push(FieldId(id));
            }
        }
        let has_scores = options.needs_scores && options.scorer.needs_words();
        Planner { schema, views, options, judge, has_scores, texts, stems }
    }

    /// The plan of a query.
    pub(super) fn plan(&self, root: &Node) -> Result<Step, Failure> {
        let fields = self.options.in_fields.map_or(ALL_FIELDS, |fields| self.fields(fields));
        self.step(root, fields, 0)
    }

    fn fields(&self, fields: &[FieldId]) -> u128 {
        let places = self.texts.iter().enumerate().filter(|(_, id)| fields.contains(id));
        places.fold(0, |bits, (at, _)| bits | bit(at))
    }

    fn step(&self, node: &Node, fields: u128, depth: usize) -> Result<Step, Failure> {
        if depth > DEPTH_MAX {
            return Err(Failure::Depth);
        }
        let steps = |nodes: &[Node]| {
            nodes
                .iter()
                .map(|node| self.step(node, fields, depth + 1))
                .collect::<Result<Vec<Step>, Failure>>()
        };
        let what = match &node.clause {
            Clause::All => What::All,
            Clause::Nothing => What::Nothing,
            Clause::Word(pattern) => What::Words(self.words(pattern, fields)?),
            Clause::Phrase(patterns) => {
                let words = patterns
                    .iter()
                    .map(|pattern| Ok(Step { what: What::Words(self.words(pattern, fields)?), weight: 1.0 }));
                let slop = node.attributes.slop.map_or(Some(0), |slop| u64::try_from(slop).ok());
                let in_order = node.attributes.in_order.unwrap_or(true);
                What::And(words.collect::<Result<_, _>>()?, Some(Window { slop, in_order }))
            }
            Clause::And(nodes) => What::And(steps(nodes)?, self.window(node)),
            Clause::Or(nodes) => {
                let mut alternatives = Alternatives::default();
                self.alternatives(nodes, fields, depth, &mut alternatives)?;
                What::Or(alternatives.steps())
            }
            Clause::Not(inner) => What::Not(Box::new(self.step(inner, fields, depth + 1)?)),
            Clause::Optional(inner) => What::Optional(Box::new(self.step(inner, fields, depth + 1)?)),
            Clause::In(only, inner) => {
                let mut step = self.step(inner, fields & self.fields(only), depth + 1)?;
                step.weight *= node.attributes.weight.unwrap_or(1.0);
                return Ok(step);
            }
            Clause::Tag(field, _)
            | Clause::Number(field, ..)
            | Clause::Geo { field, .. }
            | Clause::Near { field, .. }
                if self.schema.field(*field).is_some_and(|field| field.is_not_indexed) =>
            {
                What::Nothing
            }
            Clause::Tag(field, patterns) => What::Tags(self.tags(*field, patterns)?),
            Clause::Number(field, low, high) => What::Numbers(*field, vec![(*low, *high)]),
            Clause::Geo { field, longitude, latitude, radius_m, .. } => {
                What::Geo { field: *field, longitude: *longitude, latitude: *latitude, radius_m: *radius_m }
            }
            Clause::Near { field, radius, vector, .. } => {
                let probe = super::nearest::probe(self.schema, *field, vector)?;
                What::Near { field: *field, radius: *radius, probe }
            }
            Clause::Missing(field) => What::Missing(*field),
        };
        Ok(Step { what, weight: node.attributes.weight.unwrap_or(1.0) })
    }

    /// The members of a union. Where nobody asks for scores, all ranges of a field are one member, since each is a walk through its numbers.
    fn alternatives(
        &self,
        nodes: &[Node],
        fields: u128,
        depth: usize,
        into: &mut Alternatives,
    ) -> Result<(), Failure> {
        for node in nodes {
            match &node.clause {
                Clause::Or(inner) if !self.has_scores && depth < DEPTH_MAX => {
                    self.alternatives(inner, fields, depth + 1, into)?;
                }
                Clause::Number(field, low, high)
                    if !self.has_scores
                        && !self.schema.field(*field).is_some_and(|field| field.is_not_indexed) =>
                {
                    match into.numbers.iter_mut().find(|(other, _)| other == field) {
                        Some((_, ranges)) => ranges.push((*low, *high)),
                        None => into.numbers.push((*field, vec![(*low, *high)])),
                    }
                }
                _ => into.others.push(self.step(node, fields, depth + 1)?),
            }
        }
        Ok(())
    }

    /// SLOP and INORDER count for all intersections that say nothing else.
    fn window(&self, node: &Node) -> Option<Window> {
        let slop = node.attributes.slop.or(self.options.slop).and_then(|slop| u64::try_from(slop).ok());
        let in_order = node.attributes.in_order.unwrap_or(self.options.in_order);
        (slop.is_some() || in_order).then_some(Window { slop, in_order })
    }

    fn words(&self, pattern: &Pattern, fields: u128) -> Result<Terms, Failure> {
        let mut found = Found::default();
        let Pattern::Word { text, is_verbatim } = pattern else {
            for (number, view) in self.views.iter().enumerate() {
                self.expand(pattern, number, &|from, visit| view.part.words(from, visit), &mut found)?;
            }
            found.merge(self.has_scores);
            return self.terms(found, fields, false);
        };
        self.add(text, 0, &mut found);
        found.terms = 1;
        let mut terms = self.terms(std::mem::take(&mut found), fields, false)?;
        if *is_verbatim || self.options.is_verbatim {
            return Ok(terms);
        }
        let Ok(word) = std::str::from_utf8(text) else { return Ok(terms) };
        let mut others: Vec<Vec<u8>> = Vec::new();
        if self.stems & fields != 0 {
            let mut root = String::new();
            stem(self.options.language, word, &mut root);
            for view in self.views {
                view.part.words_of_stem(self.options.language, root.as_bytes(), &mut |other| {
                    if other != root.as_bytes() {
                        others.push(other.to_vec());
                    }
                });
            }
            let has_all = (0..self.texts.len()).all(|at| self.stems & bit(at) != 0);
            let fields = if has_all { fields } else { fields & self.stems };
            self.group(&mut others, fields, true, &mut terms)?;
            if root != word {
                others.push(root.into_bytes());
                self.group(&mut others, fields, false, &mut terms)?;
            }
        }
        (self.options.synonyms)(word, &mut |other| others.push(other.as_bytes().to_vec()));
        if others.iter().any(|other| other != text) {
            others.push(text.clone());
            self.group(&mut others, fields, false, &mut terms)?;
        }
        sorted::by_key(&mut terms.lists, by_view);
        Ok(terms)
    }

    /// Adds words that count as one term, and forgets them.
    fn group(
        &self,
        words: &mut Vec<Vec<u8>>,
        fields: u128,
        is_stem: bool,
        terms: &mut Terms,
    ) -> Result<(), Failure> {
        let mut found = Found { terms: 1, ..Found::default() };
        let words = sorted::set(words.drain(..));
        words.iter().for_each(|word| self.add(word, 0, &mut found));
        if found.lists.is_empty() {
            return Ok(());
        }
        let more = self.terms(found, fields, is_stem)?;
        let first = terms.terms.len() as u32;
        terms.terms.extend(more.terms);
        terms
            .lists
            .extend(more.lists.into_iter().map(|listed| Listed { term: first + listed.term, ..listed }));
        Ok(())
    }

    fn add(&self, word: &[u8], term: u32, found: &mut Found) {
        for (view, number) in self.views.iter().zip(0..) {
            found.lists.extend(view.part.word(word).map(|list| Listed { view: number, term, list }));
        }
    }

    fn tags(&self, field: FieldId, patterns: &[Pattern]) -> Result<Terms, Failure> {
        let folds = matches!(
            self.schema.field(field).map(|field| &field.kind),
            Some(FieldKind::Tag { is_case_sensitive: false, .. })
        );
        let mut found = Found::default();
        for pattern in patterns {
            let pattern = if folds { lower(pattern) } else { pattern.clone() };
            for (number, view) in self.views.iter().enumerate() {
                if let Pattern::Word { text, .. } = &pattern {
                    found.lists.extend(view.part.tag(field, text).map(|list| Listed {
                        view: number as u32,
                        term: found.terms,
                        list,
                    }));
                } else {
                    self.expand(
                        &pattern,
                        number,
                        &|from, visit| view.part.tags(field, from, visit),
                        &mut found,
                    )?;
                }
            }
            if matches!(pattern, Pattern::Word { .. }) {
                found.terms += 1;
            }
        }
        found.names.clear();
        found.lists.iter_mut().for_each(|listed| listed.term = 0);
        sorted::by_key(&mut found.lists, by_view);
        self.options.meter.memory(found.lists.len() * size_of::<Listed>())?;
        let term = Term { rarity: 1.0, fields: ALL_FIELDS, is_stem: false };
        Ok(Terms { terms: vec![term], lists: found.lists })
    }

    fn expand(
        &self,
        pattern: &Pattern,
        number: usize,
        walk: &dyn Fn(&[u8], crate::search::index::part::TermVisitor<'_>),
        found: &mut Found,
    ) -> Result<(), Failure> {
        let mut state = Ok(());
        let before = found.lists.len();
        Matcher(pattern).expand(
            walk,
            &mut || {
                state = self.options.meter.work(1);
                state.is_ok()
            },
            &mut |term, list| found.push(term, number as u32, list, self.has_scores && self.views.len() > 1),
        );
        state?;
        self.options.meter.memory((found.lists.len() - before) * 2 * size_of::<Listed>())
    }

    fn terms(&self, found: Found, fields: u128, is_stem: bool) -> Result<Terms, Failure> {
        let mut lists = found.lists;
        let rarity = if self.has_scores { 1.0 } else { 0.0 };
        let mut terms = vec![Term { rarity, fields, is_stem }; found.terms.max(1) as usize];
        if self.has_scores {
            sorted::by_key(&mut lists, |listed| sorted::pair(listed.term, listed.view));
            for same in lists.chunk_by(|a, b| a.term == b.term) {
                let documents = self.documents(same)?;
                if let Some(term) = same.first().and_then(|listed| terms.get_mut(listed.term as usize)) {
                    term.rarity = self.judge.rarity(documents);
                }
            }
        }
        sorted::by_key(&mut lists, by_view);
        Ok(Terms { terms, lists })
    }

    /// How many live documents have a term.
    fn documents(&self, lists: &[Listed]) -> Result<u64, Failure> {
        let mut count = 0;
        for same in lists.chunk_by(|a, b| a.view == b.view) {
            let Some(listed) = same.first() else { continue };
            let Some(view) = self.views.get(listed.view as usize) else { continue };
            if same.len() == 1 && view.live.count() == view.part.places() {
                count += u64::from(listed.list.documents);
                continue;
            }
            let mut seen = Bits::none(if same.len() > 1 { view.part.places() } else { 0 });
            let mut block = Block::default();
            for listed in same {
                self.options.meter.work(u64::from(listed.list.documents))?;
                let mut postings = view.part.postings(listed.list);
                while postings.next_block(&mut block) {
                    for place in block.places.iter().take(block.len) {
                        count += u64::from(view.live.has(*place) && (same.len() == 1 || seen.add(*place)));
                    }
                }
            }
        }
        Ok(count)
    }
}

/// The members of a union: ranges of numbers by their fields, and everything else.
#[derive(Default)]
struct Alternatives {
    numbers: Vec<(FieldId, Vec<(Bound, Bound)>)>,
    others: Vec<Step>,
}

impl Alternatives {
    fn steps(self) -> Vec<Step> {
        let mut steps = self.others;
        let numbers = |(field, ranges)| Step { what: What::Numbers(field, ranges), weight: 1.0 };
        steps.extend(self.numbers.into_iter().map(numbers));
        steps
    }
}

/// Terms as they are found.
#[derive(Default)]
struct Found {
    lists: Vec<Listed>,
    /// How many terms there are.
    terms: u32,
    /// The terms, one after the other, and where each begins, if the same may be found again in another view.
    names: Vec<u8>,
    starts: Vec<usize>,
}

impl Found {
    fn push(&mut self, term: &[u8], view: u32, list: List, is_named: bool) {
        if is_named {
            self.starts.push(self.names.len());
            self.names.extend_from_slice(term);
        }
        self.lists.push(Listed { view, term: self.terms, list });
        self.terms += 1;
    }

    /// Gives the same number to the same term in all views; to all terms, if nobody asks which is which.
    fn merge(&mut self, has_scores: bool) {
        if !has_scores {
            self.lists.iter_mut().for_each(|listed| listed.term = 0);
            self.terms = 1;
            return;
        }
        if self.starts.is_empty() {
            return;
        }
        let (names, starts) = (&self.names, &self.starts);
        let name = |term: u32| {
            let start = starts.get(term as usize).copied().unwrap_or(0);
            let end = starts.get(term as usize + 1).copied().unwrap_or(names.len());
            names.get(start..end).unwrap_or_default()
        };
        let of = |at: u32| self.lists.get(at as usize).map(|listed| (name(listed.term), listed.view));
        let order = sorted::by(self.lists.len() as u32, &|a, b| of(a).cmp(&of(b)));
        self.lists = order.iter().filter_map(|at| self.lists.get(*at as usize).copied()).collect();
        let mut number = 0;
        let mut before: Option<u32> = None;
        for listed in &mut self.lists {
            let own = listed.term;
            number += u32::from(before.is_some_and(|before| name(before) != name(own)));
            before = Some(own);
            listed.term = number;
        }
        self.terms = number + 1;
    }
}

/// The order of [`Terms`].
fn by_view(listed: &Listed) -> u64 {
    sorted::pair(listed.view, listed.term)
}

/// A text field as a bit, by its place among the text fields.
pub(super) fn bit(text_field: usize) -> u128 {
    if text_field < TEXT_FIELDS_MAX { 1 << text_field } else { 0 }
}

/// A pattern of a field that tells no case apart.
fn lower(pattern: &Pattern) -> Pattern {
    let fold = |text: &[u8]| {
        let mut folded = Vec::with_capacity(text.len());
        fold_tag(text, &mut folded);
        folded
    };
    match pattern {
        Pattern::Word { text, is_verbatim } => Pattern::Word { text: fold(text), is_verbatim: *is_verbatim },
        Pattern::Prefix(text) => Pattern::Prefix(fold(text)),
        Pattern::Suffix(text) => Pattern::Suffix(fold(text)),
        Pattern::Infix(text) => Pattern::Infix(fold(text)),
        Pattern::Wildcard(text) => Pattern::Wildcard(fold(text)),
        Pattern::Fuzzy { text, distance } => Pattern::Fuzzy { text: fold(text), distance: *distance },
        Pattern::Range { from, to } => {
            Pattern::Range { from: from.as_deref().map(fold), to: to.as_deref().map(fold) }
        }
    }
}
