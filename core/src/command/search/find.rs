//! What FT.SEARCH, FT.AGGREGATE and their like share: a query is parsed, and the parts of the index are asked at one moment.

use std::cell::Cell;
use std::sync::Arc;

use super::document;
use super::maps;
use super::request::{GeoFilter, NumberFilter, Request};
use super::stage::present;
use crate::command::{CommandError, Context};
use crate::engine::EngineError;
use crate::limits::SEARCH_WORK_PER_MS;
use crate::memory_budget::MemoryBudget;
use crate::search::aggregate;
use crate::search::evaluate::{self, Failure, Hit, Meter, Options, Scorer, Wanted};
use crate::search::index::{Delta, DocumentId, View};
use crate::search::query::tree::GeoUnit;
use crate::search::query::{self, Bound, Clause, Nearest, Node};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::Language;
use crate::search::value::Value;
use crate::server::search::Index;

type Result<T> = std::result::Result<T, CommandError>;

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
    };
    query::parse(words.text, &context).map_err(|error| CommandError::owned(error.text))
}

/// The scorer of this name.
///
/// # Errors
/// There is none.
fn scorer(name: Option<&[u8]>, is_instant: &mut bool) -> Result<Scorer> {
    let Some(name) = name else { return Ok(Scorer::default()) };
    let upper = name.to_ascii_uppercase();
    *is_instant = upper == b"INSTANT";
    if *is_instant {
        return Ok(Scorer::default());
    }
    Scorer::named(&upper).ok_or_else(|| {
        let name = crate::command::args::quoted(name, 64);
        CommandError::owned(format!("No such scorer {name}"))
    })
}

impl Asked {
    /// That of FT.SEARCH, and whether it is to be ranked as one types.
    ///
    /// # Errors
    /// What is wrong with the query, or with the words behind it.
    pub fn of_search(ctx: &Context<'_, '_>, index: &Index, text: &[u8], request: &Request<'_>) -> Result<(Asked, bool)> {
        let (schema, settings) = (&index.definition.schema, &ctx.shared.search.settings);
        let words = Words {
            text,
            dialect: request.dialect.unwrap_or_else(|| settings.default_dialect()),
            parameters: request.parameters.clone(),
            is_verbatim: request.verbatim,
            keeps_stop_words: request.keep_stop_words,
        };
        let query = parse(schema, &words)?;
        let mut is_instant = false;
        let scorer = scorer(request.scorer, &mut is_instant)?;
        let filters = request.numbers.iter().map(|filter| number_filter(schema, filter));
        let filters = filters.chain(request.places.iter().map(|filter| geo_filter(schema, filter)));
        let filters: Vec<Node> = filters.collect::<Result<_>>()?;
        let asked = Asked {
            root: with_filters(query.root, filters),
            nearest: query.nearest,
            scorer,
            needs_scores: request.sort.is_none() || request.with_scores,
            language: request.language.unwrap_or(schema.language),
            is_verbatim: request.verbatim,
            slop: request.slop,
            in_order: request.in_order,
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
            parameters: request.parameters.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect(),
            is_verbatim: request.is_verbatim,
            keeps_stop_words: request.keeps_stop_words,
        };
        let query = parse(schema, &words)?;
        let language = request.language.as_deref().map(super::create::language).transpose()?;
        let mut is_instant = false;
        Ok(Asked {
            root: query.root,
            nearest: query.nearest,
            scorer: scorer(request.scorer.as_deref(), &mut is_instant)?,
            needs_scores: request.adds_scores,
            language: language.unwrap_or(schema.language),
            is_verbatim: request.is_verbatim,
            slop: request.slop,
            in_order: request.is_in_order,
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

/// What the running transaction has changed of an index so far. Its documents have ids from the upper end.
///
/// # Errors
/// The engine's.
pub(super) fn own_changes(ctx: &mut Context<'_, '_>, index: &Index) -> Result<Own> {
    let mut own = Own::default();
    if ctx.txn.is_unchanged() {
        return Ok(own);
    }
    let changed = ctx.txn.changed();
    ctx.expect_work(changed.len() as u64)?;
    let mut id = DocumentId::MAX;
    for changed in changed.iter().filter(|changed| index.covers(changed.db, &changed.key)) {
        let map = maps::map_of(index, ctx.admin, &changed.key);
        own.without.extend(maps::entry(ctx.txn, map, &changed.key)?.map(|entry| entry.id));
        if let Some(prepared) = document::read(ctx.txn, index, (changed.db, &changed.key), id)? {
            // One transaction has less than a delta holds.
            let _ = own.delta.get_or_insert_with(Delta::new).add(&prepared);
            id -= 1;
        }
    }
    Ok(own)
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
fn ids_of(ctx: &mut Context<'_, '_>, index: &Index, keys: &[Vec<u8>], own: &Own) -> Result<Vec<DocumentId>> {
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

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Error(match failure {
            Failure::Work => return Ended::Timeout,
            Failure::Memory => EngineError::BudgetExceeded.into(),
            Failure::Depth => CommandError::text("Syntax error: the query is nested too deeply"),
            Failure::Vector => CommandError::text("Error parsing vector similarity query: query vector blob size does not match index's expected size"),
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
    choose: impl FnOnce(&[View<'_>], Found<'_>) -> R,
) -> Result<std::result::Result<R, Ended>> {
    let only = match &asked.keys {
        Some(keys) => Some(ids_of(ctx, index, keys, own)?),
        None => None,
    };
    let allowed = Allowed::of(ctx, asked.timeout_ms);
    let (schema, synonyms) = (index.definition.schema.clone(), &index.definition.synonyms);
    Ok(with_views(ctx, index, own, |views| {
        allowed.meter(|meter| {
            let options = Options {
                scorer: asked.scorer,
                needs_scores: asked.needs_scores,
                in_fields: asked.fields.as_deref(),
                in_documents: only.as_deref(),
                slop: asked.slop,
                in_order: asked.in_order,
                is_verbatim: asked.is_verbatim,
                language: asked.language,
                synonyms: &|word, visit| synonyms.others(word, visit),
                statistics: None,
                meter,
            };
            let matches = evaluate::evaluate(&schema, views, &asked.root, &options)?;
            let nearest = match &asked.nearest {
                Some(wanted) => {
                    Some(evaluate::nearest(&schema, views, &matches, wanted, &options.meter)?)
                }
                None => None,
            };
            Ok(choose(views, Found { matches: &matches, nearest, asked, schema: &schema }))
        })
    }))
}

/// All matches of a query.
pub(super) struct Found<'m> {
    pub matches: &'m evaluate::Matches,
    pub nearest: Option<Vec<evaluate::Neighbour>>,
    asked: &'m Asked,
    schema: &'m Schema,
}

impl Found<'_> {
    /// How many there are.
    pub fn total(&self) -> u64 {
        self.nearest.as_ref().map_or_else(|| self.matches.total(), |nearest| nearest.len() as u64)
    }

    /// A match with its distances.
    pub fn matched(&self, views: &[View<'_>], hit: Hit, distance: Option<f64>) -> Matched {
        let mut distances = Vec::new();
        if let Some(view) = views.get(hit.view) {
            self.near_distances(&self.asked.root, view, hit.place, &mut distances);
        }
        distances.extend(distance);
        Matched { hit, distances }
    }

    fn near_distances(&self, node: &Node, view: &View<'_>, place: u32, distances: &mut Vec<f64>) {
        match &node.clause {
            Clause::Near { field, vector, .. } if node.attributes.distance_name.is_some() => {
                distances.push(evaluate::distance_of(self.schema, *field, vector, view.part, place));
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
    pub fn all(&self, views: &[View<'_>]) -> Vec<Matched> {
        match &self.nearest {
            Some(nearest) => nearest.iter().map(|near| self.matched(views, hit_of(near), Some(near.distance))).collect(),
            None => {
                let hits = evaluate::in_id_order(views, self.matches);
                hits.into_iter().map(|hit| self.matched(views, hit, None)).collect()
            }
        }
    }
}

/// A neighbour as a match.
pub(super) fn hit_of(near: &evaluate::Neighbour) -> Hit {
    Hit { view: near.view, place: near.place, id: near.id, score: near.score }
}

/// The words of a query.
pub(super) fn wanted(asked: &Asked) -> Wanted<'_> {
    Wanted::of(&asked.root, asked.language, asked.is_verbatim)
}

/// The values of numeric fields that an index itself has, for a document.
pub(super) fn numbers(view: &View<'_>, place: u32, fields: &[Option<FieldId>]) -> Vec<Option<Value>> {
    let value = |field: &Option<FieldId>| field.and_then(|field| view.part.number(field, place)).map(Value::Number);
    fields.iter().map(value).collect()
}

/// Whether an index is still there, after locks were taken.
pub(super) fn is_present(ctx: &Context<'_, '_>, index: &Index) -> bool {
    present(ctx).iter().any(|other| Arc::ptr_eq(&other.contents, &index.contents))
}
