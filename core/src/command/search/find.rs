//! What FT.SEARCH, FT.AGGREGATE and their like share: a query is parsed, and the parts of the index are asked at one moment.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::document;
use super::maps;
use super::request::{self, GeoFilter, NumberFilter, Request};
use crate::command::{CommandError, Context};
use crate::engine::EngineError;
use crate::limits::SEARCH_WORK_PER_MS;
use crate::memory_budget::MemoryBudget;
use crate::search::aggregate;
use crate::search::evaluate::{
    self, Failure, Hit, Matches, Meter, Neighbour, Options, Order, Scorer, Wanted,
};
use crate::search::index::{Delta, DocumentId, View};
use crate::search::query::tree::GeoUnit;
use crate::search::query::{self, Bound, Clause, Nearest, Node};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::Language;
use crate::search::value::Value;
use crate::server::search::{DocumentChange, Index};
use crate::sorted;

type Result<T, E = CommandError> = std::result::Result<T, E>;

/// A parsed query with what a request says about it.
pub(super) struct Asked {
    pub root: Node,
    pub nearest: Option<Nearest>,
    pub scorer: Scorer,
    pub needs_scores: bool,
    pub language: Language,
    pub is_verbatim: bool,
    pub slop: Option<i64>,
    pub in_order: bool,
    /// Whether phrases end with their field, as they do where one types.
    pub are_fields_apart: bool,
    /// INFIELDS, as numbers of fields.
    pub fields: Option<Vec<FieldId>>,
    /// INKEYS.
    pub keys: Option<Vec<Vec<u8>>>,
    /// Milliseconds after which it ends; 0 for any number.
    pub timeout_ms: u64,
}

/// What a request says about its query.
pub(super) struct Words<'a> {
    pub text: &'a [u8],
    pub dialect: u8,
    pub parameters: Vec<(&'a [u8], &'a [u8])>,
    pub is_verbatim: bool,
    pub keeps_stop_words: bool,
    /// Whether the last word is still being typed (SCORER INSTANT).
    pub is_typed: bool,
}

impl<'a> Words<'a> {
    /// What FT.SEARCH's options say.
    pub fn of_search(ctx: &Context<'_, '_>, text: &'a [u8], request: &Request<'a>) -> Words<'a> {
        Words {
            text,
            dialect: request.dialect.unwrap_or_else(|| ctx.shared.search.settings.default_dialect()),
            parameters: request.parameters.clone(),
            is_verbatim: request.verbatim,
            keeps_stop_words: request.keep_stop_words,
            is_typed: request.is_instant(),
        }
    }
}

/// Parses a query.
///
/// # Errors
/// It is none.
pub(super) fn parse(schema: &Schema, words: &Words<'_>) -> Result<query::Query> {
    let context = query::Context {
        schema,
        dialect: words.dialect,
        parameters: &words.parameters,
        is_verbatim: words.is_verbatim,
        keeps_stop_words: words.keeps_stop_words,
        is_typed: words.is_typed,
    };
    query::parse(words.text, &context).map_err(|error| CommandError::owned(error.text))
}

/// The scorer of this name; INSTANT is none.
///
/// # Errors
/// There is none.
fn scorer(name: Option<&[u8]>) -> Result<Scorer> {
    let Some(name) = name.filter(|name| !request::is_instant(name)) else { return Ok(Scorer::default()) };
    Scorer::named(&name.to_ascii_uppercase()).ok_or_else(|| {
        let name = crate::command::args::quoted(name, 64);
        CommandError::owned(format!("No such scorer {name}"))
    })
}

/// Refuses options that would mean nothing.
fn check_instant(request: &Request<'_>) -> Result<()> {
    let is_instant = request.is_instant();
    if is_instant && (request.slop.is_some() || request.in_order) {
        return Err(CommandError::text("SLOP and INORDER do not go together with SCORER INSTANT"));
    }
    if !is_instant && (request.cap.is_some() || request.popularity.is_some()) {
        return Err(CommandError::text("CAP and POPULARITY need SCORER INSTANT"));
    }
    Ok(())
}

impl Asked {
    /// That of FT.SEARCH, and whether it is to be ranked as one types.
    ///
    /// # Errors
    /// What is wrong with the query, or with the words behind it.
    pub fn of_search(
        ctx: &Context<'_, '_>,
        index: &Index,
        text: &[u8],
        request: &Request<'_>,
    ) -> Result<(Asked, bool)> {
        let (schema, settings) = (&index.definition.schema, &ctx.shared.search.settings);
        let query = parse(schema, &Words::of_search(ctx, text, request))?;
        let is_instant = request.is_instant();
        let scorer = scorer(request.scorer)?;
        check_instant(request)?;
        let filters = request.numbers.iter().map(|filter| number_filter(schema, filter));
        let filters = filters.chain(request.places.iter().map(|filter| geo_filter(schema, filter)));
        let filters: Vec<Node> = filters.collect::<Result<_>>()?;
        let asked = Asked {
            root: with_filters(query.root, filters),
            nearest: query.nearest,
            scorer,
            needs_scores: !is_instant && (request.sort.is_none() || request.with_scores),
            language: request.language.unwrap_or(schema.language),
            is_verbatim: request.verbatim,
            slop: request.slop,
            in_order: request.in_order,
            are_fields_apart: is_instant,
            fields: request.fields.map(|names| fields(schema, names.iter().copied())),
            keys: request.keys.map(|keys| keys.iter().map(|key| key.to_vec()).collect()),
            timeout_ms: request.timeout_ms.unwrap_or_else(|| settings.timeout_ms()),
        };
        Ok((asked, is_instant))
    }

    /// That of FT.AGGREGATE.
    ///
    /// # Errors
    /// As for [`Asked::of_search`].
    pub fn of_aggregate(
        ctx: &Context<'_, '_>,
        index: &Index,
        text: &[u8],
        request: &aggregate::Request,
    ) -> Result<Asked> {
        let (schema, settings) = (&index.definition.schema, &ctx.shared.search.settings);
        let words = Words {
            text,
            dialect: request.dialect.unwrap_or_else(|| settings.default_dialect()),
            parameters: request
                .parameters
                .iter()
                .map(|(name, value)| (name.as_slice(), value.as_slice()))
                .collect(),
            is_verbatim: request.is_verbatim,
            keeps_stop_words: request.keeps_stop_words,
            is_typed: false,
        };
        let query = parse(schema, &words)?;
        let language = request.language.as_deref().map(super::create::language).transpose()?;
        let scorer = scorer(request.scorer.as_deref())?;
        if request.scorer.as_deref().is_some_and(request::is_instant) || scorer == Scorer::Hamming {
            return Err(CommandError::text("FT.AGGREGATE has no SCORER INSTANT and no SCORER HAMMING"));
        }
        Ok(Asked {
            root: query.root,
            nearest: query.nearest,
            scorer,
            needs_scores: request.adds_scores,
            language: language.unwrap_or(schema.language),
            is_verbatim: request.is_verbatim,
            slop: request.slop,
            in_order: request.is_in_order,
            are_fields_apart: false,
            fields: request.fields.as_ref().map(|names| fields(schema, names.iter().map(Vec::as_slice))),
            keys: request.keys.clone(),
            timeout_ms: request.timeout_ms.unwrap_or_else(|| settings.timeout_ms()),
        })
    }

    /// The names of the distances that the query yields.
    pub fn distance_names(&self) -> Vec<Vec<u8>> {
        let mut names = Vec::new();
        near_names(&self.root, &mut names);
        names.extend(self.nearest.as_ref().map(|nearest| nearest.distance_name.clone()));
        names
    }
}

/// The parser bounds how deep a tree is.
fn near_names(node: &Node, names: &mut Vec<Vec<u8>>) {
    match &node.clause {
        Clause::Near { .. } => names.extend(node.attributes.distance_name.clone()),
        Clause::And(nodes) | Clause::Or(nodes) => nodes.iter().for_each(|node| near_names(node, names)),
        Clause::Not(node) | Clause::Optional(node) | Clause::In(_, node) => near_names(node, names),
        _ => {}
    }
}

fn with_filters(root: Node, mut filters: Vec<Node>) -> Node {
    if filters.is_empty() {
        return root;
    }
    filters.insert(0, root);
    Clause::And(filters).into()
}

fn fields<'n>(schema: &Schema, names: impl Iterator<Item = &'n [u8]>) -> Vec<FieldId> {
    names.filter_map(|name| schema.find(name).map(|(id, _)| id)).collect()
}

fn field_of(schema: &Schema, name: &[u8], is_it: fn(&FieldKind) -> bool, what: &str) -> Result<FieldId> {
    let found = schema.find(name).filter(|(_, field)| is_it(&field.kind)).map(|(id, _)| id);
    found.ok_or_else(|| {
        let name = crate::command::args::quoted(name, 64);
        CommandError::owned(format!("Unknown Field '{name}', or it is no {what} field"))
    })
}

fn number_filter(schema: &Schema, filter: &NumberFilter<'_>) -> Result<Node> {
    let field = field_of(schema, filter.field, |kind| matches!(kind, FieldKind::Numeric), "NUMERIC")?;
    let bound = |(value, is_exclusive)| Bound { value, is_exclusive };
    Ok(Clause::Number(field, bound(filter.from), bound(filter.to)).into())
}

fn geo_filter(schema: &Schema, filter: &GeoFilter<'_>) -> Result<Node> {
    let field = field_of(schema, filter.field, |kind| matches!(kind, FieldKind::Geo), "GEO")?;
    let GeoFilter { longitude, latitude, radius_m, .. } = *filter;
    Ok(Clause::Geo { field, longitude, latitude, radius_m, unit: GeoUnit::Metre }.into())
}

/// Documents of a transaction that are not committed, and those that it has taken away.
#[derive(Default)]
pub(super) struct Own {
    delta: Option<Delta>,
    without: Vec<DocumentId>,
}

/// What the running transaction has changed of an index so far. Its documents have the ids at the upper end, in the order in which their keys were changed.
///
/// # Errors
/// The engine's.
pub(super) fn own_changes(ctx: &mut Context<'_, '_>, index: &Index) -> Result<Own> {
    own_changes_and(ctx, index, &[])
}

/// The same, together with the documents of keys that the index does not have yet.
///
/// # Errors
/// The engine's; or there are more documents than such an answer may have.
pub(super) fn own_changes_and(ctx: &mut Context<'_, '_>, index: &Index, unmapped: &[Vec<u8>]) -> Result<Own> {
    let mut own = Own::default();
    if ctx.txn.is_unchanged() && unmapped.is_empty() {
        return Ok(own);
    }
    let changed = ctx.txn.changed();
    let mut keys: Vec<&[u8]> = changed
        .iter()
        .filter(|changed| index.covers(changed.db, &changed.key))
        .map(|changed| &*changed.key)
        .collect();
    let has_changed: BTreeSet<&[u8]> = sorted::set(keys.iter().copied());
    keys.extend(unmapped.iter().map(Vec::as_slice).filter(|key| !has_changed.contains(key)));
    // What the transaction has had indexed anew, for other settings; and what it has found to be gone.
    let pending: Vec<&DocumentChange> = ctx
        .search
        .documents
        .iter()
        .filter(|(other, _)| other.definition.number == index.definition.number)
        .map(|(_, change)| change)
        .collect();
    ctx.expect_work((keys.len() + pending.len()) as u64)?;
    for change in pending {
        own.without.extend(change.removed);
        if let Some(added) = change.added.as_ref().filter(|added| !has_changed.contains(added.key())) {
            own.delta.get_or_insert_with(Delta::new).add(added).map_err(|_| too_many())?;
        }
    }
    let mut id = DocumentId::MAX - keys.len() as DocumentId;
    for key in keys {
        let map = maps::map_of(index, ctx.admin, key);
        own.without.extend(maps::entry(ctx.txn, map, key)?.map(|entry| entry.id));
        if let Some(prepared) = document::read(ctx.txn, index, (index.definition.db, key), id)? {
            own.delta.get_or_insert_with(Delta::new).add(&prepared).map_err(|_| too_many())?;
            id += 1;
        }
    }
    Ok(own)
}

fn too_many() -> CommandError {
    CommandError::text("too many documents are not indexed yet for a search in this transaction")
}

/// Whether a document is one of the transaction's own.
pub(super) fn is_own(id: DocumentId) -> bool {
    id > DocumentId::MAX / 2
}

/// The error by which a command asks to be run again with all keys locked.
pub(super) fn lock_everything(ctx: &mut Context<'_, '_>) -> CommandError {
    *ctx.interrupted = Some(EngineError::Undeclared);
    EngineError::Undeclared.into()
}

/// Has a search in a transaction of more than it locked all keys first: what it finds must not change before the commit.
///
/// # Errors
/// They are not locked yet.
pub(super) fn check_locks(ctx: &mut Context<'_, '_>) -> Result<()> {
    let is_alone = ctx.later.is_some() && ctx.txn.is_unchanged();
    if is_alone || ctx.txn.holds_everything() { Ok(()) } else { Err(lock_everything(ctx)) }
}

/// Shows all parts of an index as the transaction sees them.
pub(super) fn with_views<R>(
    ctx: &Context<'_, '_>,
    index: &Index,
    own: &Own,
    body: impl FnOnce(&[View<'_>]) -> R,
) -> R {
    index.contents.note_use(ctx.now_ms());
    index.contents.read(ctx.now_ms(), &own.without, own.delta.as_ref(), body)
}

/// The ids of the documents with these keys.
pub(super) fn ids_of(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    keys: &[Vec<u8>],
    own: &Own,
) -> Result<Vec<DocumentId>> {
    let mut ids = Vec::new();
    for key in keys {
        let map = maps::map_of(index, ctx.admin, key);
        ids.extend(maps::entry(ctx.txn, map, key)?.map(|entry| entry.id));
    }
    if let Some(delta) = &own.delta {
        use crate::search::index::Part;
        let mut key = Vec::new();
        for place in 0..delta.places() {
            key.clear();
            delta.key(place, &mut key);
            ids.extend(keys.contains(&key).then(|| delta.id(place)));
        }
    }
    Ok(ids)
}

/// What a search may take.
pub(super) struct Allowed {
    budget: MemoryBudget,
    work_max: u64,
}

impl Allowed {
    pub fn of(ctx: &Context<'_, '_>, timeout_ms: u64) -> Allowed {
        let work_max = if timeout_ms == 0 { u64::MAX } else { timeout_ms.saturating_mul(SEARCH_WORK_PER_MS) };
        Allowed { budget: ctx.txn.budget(), work_max }
    }

    /// Runs with a meter of it.
    pub fn meter<R>(&self, body: impl FnOnce(Meter<'_>) -> R) -> R {
        let may_take = |bytes: usize| self.budget.ask(1, bytes as u64).is_ok();
        body(Meter { work: Cell::new(0), work_max: self.work_max, may_take: &may_take })
    }
}

/// What became of a search that came to no end.
pub(super) enum Ended {
    /// It has taken the time that it may.
    Timeout,
    /// An error.
    Error(CommandError),
}

impl From<Ended> for CommandError {
    /// A search that takes too long has no answer: what it has found so far would look like one.
    fn from(ended: Ended) -> CommandError {
        match ended {
            Ended::Timeout => CommandError::text("Timeout limit was reached"),
            Ended::Error(error) => error,
        }
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Error(match failure {
            Failure::Work => return Ended::Timeout,
            Failure::Memory => EngineError::BudgetExceeded.into(),
            Failure::Depth => CommandError::text("Syntax error: the query is nested too deeply"),
            Failure::Vector => CommandError::text(
                "Error parsing vector similarity query: query vector blob size does not match index's expected size",
            ),
        })
    }
}

/// A match with the distances that the query yields for it, in the order of their names.
pub(super) struct Matched {
    pub hit: Hit,
    pub distances: Vec<f64>,
}

/// Evaluates a query; `choose` gets all matches, the nearest first if the query asks for them, and makes of them what is needed while the
/// index is locked.
///
/// # Errors
/// The query takes too much.
pub(super) fn evaluate<R>(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    (asked, own): (&Asked, &Own),
    choose: impl FnOnce(&[View<'_>], Found<'_>) -> std::result::Result<R, Failure>,
) -> Result<std::result::Result<R, Ended>> {
    let only = match &asked.keys {
        Some(keys) => Some(ids_of(ctx, index, keys, own)?),
        None => None,
    };
    let allowed = Allowed::of(ctx, asked.timeout_ms);
    let schema = index.definition.schema.clone();
    Ok(with_views(ctx, index, own, |views| {
        allowed.meter(|meter| {
            with_options(index, asked, only.as_deref(), meter, |options| {
                let matches = evaluate::evaluate(&schema, views, &asked.root, options)?;
                let Some(wanted) = &asked.nearest else {
                    let found =
                        Found { matches, nearest: None, asked, schema: &schema, meter: &options.meter };
                    return Ok(choose(views, found)?);
                };
                let Nearest { field, vector, count, .. } = wanted;
                let near = evaluate::nearest(
                    &schema,
                    views,
                    Some(&matches),
                    *field,
                    vector,
                    *count,
                    &options.meter,
                )?;
                let (matches, nearest) = only_nearest(&matches, &near);
                Ok(choose(
                    views,
                    Found { matches, nearest: Some(nearest), asked, schema: &schema, meter: &options.meter },
                )?)
            })
        })
    }))
}

/// All matches of a query.
pub(super) struct Found<'m> {
    /// Those that match; of a query for the nearest only these.
    pub matches: evaluate::Matches,
    /// The nearest in their order, with their distances, if the query asks for them.
    pub nearest: Option<Vec<(Hit, f64)>>,
    asked: &'m Asked,
    schema: &'m Schema,
    meter: &'m Meter<'m>,
}

/// What is left of matches if only the nearest count, and these with their scores.
fn only_nearest(matches: &Matches, near: &[Neighbour]) -> (Matches, Vec<(Hit, f64)>) {
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); matches.views.len()];
    let mut nearest = Vec::with_capacity(near.len());
    for near in near {
        let hits = matches.views.get(near.view);
        let score =
            hits.and_then(|hits| hits.scores.get(hits.places.binary_search(&near.place).ok()?).copied());
        let hit = Hit { view: near.view, place: near.place, id: near.id, score: score.unwrap_or(0.0) };
        nearest.push((hit, near.distance));
        if let Some(places) = places.get_mut(near.view) {
            places.push(near.place);
        }
    }
    let mut only = Matches { total: near.len() as u64, ..Matches::default() };
    for (mut places, hits) in places.into_iter().zip(&matches.views) {
        places.sort_unstable();
        let score = |place: &u32| hits.scores.get(hits.places.binary_search(place).ok()?).copied();
        let scores =
            if hits.scores.is_empty() { Vec::new() } else { places.iter().filter_map(score).collect() };
        only.views.push(evaluate::Hits { places, scores });
    }
    (only, nearest)
}

impl Found<'_> {
    /// How many there are.
    pub fn total(&self) -> u64 {
        self.matches.total
    }

    /// A match with its distances.
    pub fn matched(&self, views: &[View<'_>], hit: Hit) -> Matched {
        let mut distances = Vec::new();
        if let Some(view) = views.get(hit.view) {
            self.near_distances(&self.asked.root, view, hit.place, &mut distances);
            if let Some(near) = &self.asked.nearest {
                distances.push(evaluate::distance_of(self.schema, near.field, &near.vector, view, hit.place));
            }
        }
        Matched { hit, distances }
    }

    /// The matches from `offset` on, at most `count`, in an order.
    ///
    /// # Errors
    /// They take too much.
    pub fn top(
        &self,
        views: &[View<'_>],
        order: Order,
        offset: u64,
        count: u64,
    ) -> Result<Vec<Matched>, Failure> {
        let hits = match (&self.nearest, order) {
            (Some(nearest), Order::Score) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let most = usize::try_from(count).unwrap_or(usize::MAX);
                nearest.iter().map(|(hit, _)| *hit).skip(from).take(most).collect()
            }
            _ => evaluate::top(views, &self.matches, order, offset, count, self.meter)?,
        };
        Ok(hits.into_iter().map(|hit| self.matched(views, hit)).collect())
    }

    fn near_distances(&self, node: &Node, view: &View<'_>, place: u32, distances: &mut Vec<f64>) {
        match &node.clause {
            Clause::Near { field, vector, .. } if node.attributes.distance_name.is_some() => {
                distances.push(evaluate::distance_of(self.schema, *field, vector, view, place));
            }
            Clause::And(nodes) | Clause::Or(nodes) => {
                nodes.iter().for_each(|node| self.near_distances(node, view, place, distances));
            }
            Clause::Not(node) | Clause::Optional(node) | Clause::In(_, node) => {
                self.near_distances(node, view, place, distances);
            }
            _ => {}
        }
    }

    /// All of them, in the order of their ids, or the nearest first.
    ///
    /// # Errors
    /// They take too much.
    pub fn all(&self, views: &[View<'_>]) -> Result<Vec<Matched>, Failure> {
        if self.nearest.is_some() {
            return self.top(views, Order::Score, 0, u64::MAX);
        }
        let hits = evaluate::in_id_order(views, &self.matches, self.meter)?;
        Ok(hits.into_iter().map(|hit| self.matched(views, hit)).collect())
    }
}

/// The words of a query.
pub(super) fn wanted<'q>(index: &Index, asked: &'q Asked) -> Wanted<'q> {
    let may_take = |_| true;
    let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &may_take };
    with_options(index, asked, None, meter, |options| {
        Wanted::new(&index.definition.schema, &asked.root, options)
    })
}

/// Runs `body` with the options of a query, for certain documents only if there are some.
pub(super) fn with_options<R>(
    index: &Index,
    asked: &Asked,
    only: Option<&[DocumentId]>,
    meter: Meter<'_>,
    body: impl FnOnce(&Options<'_>) -> R,
) -> R {
    let synonyms = &index.definition.synonyms;
    body(&Options {
        scorer: asked.scorer,
        needs_scores: asked.needs_scores,
        in_fields: asked.fields.as_deref(),
        in_documents: only,
        slop: asked.slop,
        in_order: asked.in_order,
        are_fields_apart: asked.are_fields_apart,
        is_verbatim: asked.is_verbatim,
        language: asked.language,
        synonyms: &|word, visit| synonyms.others(word, visit),
        meter,
    })
}

/// The values of numeric fields that an index itself has, for a document.
pub(super) fn numbers(view: &View<'_>, place: u32, fields: &[Option<FieldId>]) -> Vec<Option<Value>> {
    let value =
        |field: &Option<FieldId>| field.and_then(|field| view.part.number(field, place)).map(Value::Number);
    fields.iter().map(value).collect()
}
