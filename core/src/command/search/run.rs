//! FT.SEARCH, FT.EXPLAIN and FT.EXPLAINCLI.

use std::sync::Arc;

use super::admin::{check_access, find};
use super::answer::{self, Hit, Row};
use super::find::{self, Asked, Words};
use super::instant::{self, Answered};
use super::marks;
use super::request::Request;
use super::values::Documents;
use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::EngineError;
use crate::search::evaluate::{Order, Scorer, hamming};
use crate::search::index::View;
use crate::search::query::explain;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{fold, stem};
use crate::server::search::{Index, Progress};
use crate::sorted;

type Result<T> = std::result::Result<T, CommandError>;

/// A run is begun anew so often because a document changed while it was read, before everything is locked.
const TRIES: usize = 4;

/// What a search as one types says if it has not looked at everything.
const CAP_WARNING: &str = "The search was not exhaustive: CAP was reached";

/// What RediSearch warns of where documents that were there before the index are not in it for lack of memory.
const MEMORY_WARNING: &str =
    "Index contains partial data due to an indexing failure caused by insufficient memory";

/// Results of a search.
pub(super) struct Found {
    pub total: u64,
    pub rows: Vec<Row>,
    pub warnings: Vec<&'static str>,
}

pub(super) fn search(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let request = Request::parse(args.get(3..).unwrap_or_default())?;
    if request.latest_only && ctx.client.has_newer_search {
        return Err(CommandError::text(
            "SUPERSEDED a newer search of this connection came before this one was run",
        ));
    }
    let found = found(ctx, args, &request)?;
    answer::write(ctx.reply, &request, found.total, &found.rows, &found.warnings);
    Ok(())
}

/// Runs a search.
///
/// # Errors
/// What is wrong with it; or the engine's.
pub(super) fn found(ctx: &mut Context<'_, '_>, args: &[&[u8]], request: &Request<'_>) -> Result<Found> {
    let index = find(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    super::ready(&index)?;
    if request.explain_score {
        return Err(CommandError::text("EXPLAINSCORE is not supported"));
    }
    check_hints(&index, request)?;
    find::check_locks(ctx)?;
    let (asked, is_instant) = Asked::of_search(ctx, &index, args[2], request)?;
    for attempt in 0..=TRIES {
        if attempt == TRIES && !ctx.txn.holds_everything() {
            return Err(find::lock_everything(ctx));
        }
        let page = if is_instant {
            instant_page(ctx, &index, &asked, (args[2], request))?
        } else {
            page(ctx, &index, &asked, request)?
        };
        let Page { total, hits, mut warnings, instant } = page;
        let is_partial = matches!(index.contents.progress(), Progress::Scanning { .. });
        if is_partial && !ctx.shared.has_memory_to_index() {
            warnings.push(MEMORY_WARNING);
        }
        let shows_payloads = request.with_payloads && index.definition.payload_field.is_some();
        if (request.no_content && !shows_payloads) || hits.is_empty() {
            let row = |hit| Row { hit, payload: None, fields: Vec::new() };
            return Ok(Found { total, rows: hits.into_iter().map(row).collect(), warnings });
        }
        if let Some(mut rows) = answer::load(ctx, &index, hits, request)? {
            marks::mark(&index, (&asked, instant.as_ref()), request, &mut rows);
            return Ok(Found { total, rows, warnings });
        }
    }
    Err(EngineError::Undeclared.into())
}

/// Texts are not marked where the index was made without what that takes in RediSearch.
fn check_hints(index: &Index, request: &Request<'_>) -> Outcome {
    let hints = index.definition.hints;
    let hint = if hints.no_offsets {
        "NOOFFSETS"
    } else if hints.no_highlight {
        "NOHL"
    } else {
        return Ok(());
    };
    if request.highlight.is_some() || request.summarize.is_some() {
        return Err(CommandError::owned(format!(
            "Cannot use highlight/summarize because {hint} was specified at index level"
        )));
    }
    Ok(())
}

/// Hits as the index knows them.
pub(super) struct Page {
    pub total: u64,
    pub hits: Vec<Hit>,
    pub warnings: Vec<&'static str>,
    /// More about it if it is one as one types.
    pub instant: Option<instant::Found>,
}

fn page(ctx: &mut Context<'_, '_>, index: &Arc<Index>, asked: &Asked, request: &Request<'_>) -> Result<Page> {
    let schema = index.definition.schema.clone();
    let order = order(&schema, asked, request)?;
    let results_max = ctx.shared.search.settings.results_max();
    let count = request.count.min(results_max);
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let offset = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let own = find::own_changes(ctx, index)?;
    let names = asked.distance_names();
    let found = find::evaluate(ctx, index, (asked, &own), |views, found| {
        let total = found.total();
        let matched = match order {
            By::Loaded(_) | By::Payload => found.all(views)?,
            By::Index(order) => found.top(views, order, request.offset, count)?,
            By::Distance { at, is_descending } => {
                let mut all = found.all(views)?;
                let key =
                    |matched: &find::Matched| matched.distances.get(at).copied().unwrap_or(f64::INFINITY);
                sorted::all(&mut all, |one, other| {
                    let by = key(one).total_cmp(&key(other));
                    if is_descending { by.reverse() } else { by }.then(one.hit.id.cmp(&other.hit.id))
                });
                all.into_iter().skip(offset).take(most).collect()
            }
        };
        let hits = matched.into_iter().filter_map(|matched| hit(views, matched, &names, order)).collect();
        Ok((total, hits))
    })?;
    match found {
        Ok((total, hits)) => {
            let mut hits = match order {
                By::Loaded(field) => sorted_by_loading(ctx, index, hits, (field, request, most))?,
                _ => hits,
            };
            if asked.scorer == Scorer::Hamming {
                score_by_payload(ctx, index, &mut hits, request)?;
            }
            if let By::Payload = order {
                sorted::all(&mut hits, |one, other| {
                    other.score.total_cmp(&one.score).then(one.id.cmp(&other.id))
                });
                hits = hits.into_iter().skip(offset).take(most).collect();
            }
            Ok(Page { total, hits, warnings: Vec::new(), instant: None })
        }
        Err(ended) => Err(ended.into()),
    }
}

fn instant_page(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    asked: &Asked,
    (text, request): (&[u8], &Request<'_>),
) -> Result<Page> {
    let own = find::own_changes(ctx, index)?;
    match instant::search(ctx, index, (asked, &own), (text, request))? {
        Ok(found) => {
            let Answered { answer, keys, sort_keys } = &found.answered;
            let hit = |((hit, key), sort_key): ((&crate::search::instant::Hit, &Vec<u8>), &Option<_>)| Hit {
                id: hit.id,
                key: key.clone(),
                score: f64::from(hit.score),
                sort_key: sort_key.clone(),
                distances: Vec::new(),
            };
            let warnings = if answer.is_exhaustive { Vec::new() } else { vec![CAP_WARNING] };
            Ok(Page {
                total: answer.total,
                hits: answer.hits.iter().zip(keys).zip(sort_keys).map(hit).collect(),
                warnings,
                instant: Some(found),
            })
        }
        Err(ended) => Err(ended.into()),
    }
}

/// By what results are sorted.
#[derive(Clone, Copy)]
enum By {
    /// What the index itself has.
    Index(Order),
    /// A distance, by its number among those that the query yields.
    Distance { at: usize, is_descending: bool },
    /// The text of a field that is not sortable: of all results it has to be read.
    Loaded(FieldId),
    /// How near a payload is to that of the request (SCORER HAMMING), which has to be read, too.
    Payload,
}

fn order(schema: &Schema, asked: &Asked, request: &Request<'_>) -> Result<By> {
    let Some((name, is_descending)) = request.sort else {
        let is_by_payload = asked.scorer == Scorer::Hamming;
        return Ok(if is_by_payload { By::Payload } else { By::Index(Order::Score) });
    };
    if let Some(at) = asked.distance_names().iter().position(|distance| distance == name) {
        return Ok(By::Distance { at, is_descending });
    }
    let Some((field, known)) = schema.find(name) else {
        let name = quoted(name, 64);
        return Err(CommandError::owned(format!("Property `{name}` not loaded nor in schema")));
    };
    Ok(match known.kind {
        FieldKind::Numeric => By::Index(Order::Number { field, is_descending }),
        _ if known.is_sortable => By::Index(Order::Text { field, is_descending }),
        _ => By::Loaded(field),
    })
}

fn hit(views: &[View<'_>], matched: find::Matched, names: &[Vec<u8>], order: By) -> Option<Hit> {
    let view = views.get(matched.hit.view)?;
    let mut key = Vec::new();
    view.part.key(matched.hit.place, &mut key);
    let sort_key = match order {
        By::Index(Order::Number { field, .. }) => answer::sort_key(view, matched.hit.place, (field, true)),
        By::Index(Order::Text { field, .. }) => answer::sort_key(view, matched.hit.place, (field, false)),
        By::Distance { at, .. } => {
            matched.distances.get(at).map(|distance| [b"#", answer::number(*distance).as_slice()].concat())
        }
        By::Index(_) | By::Loaded(_) | By::Payload => None,
    };
    let distances = names.iter().cloned().zip(matched.distances).collect();
    Some(Hit { id: matched.hit.id, key, score: matched.hit.score, sort_key, distances })
}

/// Sorts by the text of a field that the index does not have.
fn sorted_by_loading(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    hits: Vec<Hit>,
    (field, request, most): (FieldId, &Request<'_>, usize),
) -> Result<Vec<Hit>> {
    ctx.expect_work(hits.len() as u64)?;
    let path = index.definition.schema.field(field).map(|field| field.path.clone()).unwrap_or_default();
    let documents = Documents { definition: &index.definition, dialect: 1 };
    let mut folded = String::new();
    let descends = request.sort.is_some_and(|(_, descends)| descends);
    let mut keyed: Vec<(Option<Vec<u8>>, Hit)> = Vec::with_capacity(hits.len());
    for mut hit in hits {
        let value = documents.text(ctx.txn, &hit.key, &path)?;
        // As the key of a sortable field, unless that is UNF.
        let value = value.map(|value| {
            folded.clear();
            fold(&value, &mut folded);
            folded.as_bytes().to_vec()
        });
        hit.sort_key = value.as_ref().map(|value| [b"$", value.as_slice()].concat());
        keyed.push((value, hit));
    }
    sorted::all(&mut keyed, |(one, first), (other, second)| {
        let by = match (one, other) {
            (Some(one), Some(other)) if descends => other.cmp(one),
            (Some(one), Some(other)) => one.cmp(other),
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        by.then(first.id.cmp(&second.id))
    });
    Ok(keyed.into_iter().map(|(_, hit)| hit).skip(request.offset as usize).take(most).collect())
}

/// Scores by payloads; what has none, or one of another length, scores 0.
fn score_by_payload(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    hits: &mut [Hit],
    request: &Request<'_>,
) -> Outcome {
    if let (Some(field), Some(wanted)) = (&index.definition.payload_field, request.payload) {
        ctx.expect_work(hits.len() as u64)?;
        let documents = Documents { definition: &index.definition, dialect: 1 };
        for hit in hits {
            let payload = documents.text(ctx.txn, &hit.key, field)?;
            hit.score = payload.map_or(0.0, |payload| hamming(&payload, wanted));
        }
    }
    Ok(())
}

pub(super) fn explain(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let text = explained(ctx, args)?;
    ctx.reply.bulk(&text);
    Ok(())
}

pub(super) fn explain_lines(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let text = explained(ctx, args)?;
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    ctx.reply.array(lines.len());
    lines.iter().for_each(|line| ctx.reply.bulk(line));
    Ok(())
}

fn explained(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Result<Vec<u8>> {
    let index = find(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    let request = Request::parse(args.get(3..).unwrap_or_default())?;
    let schema = &index.definition.schema;
    let query = find::parse(schema, &Words::of_search(ctx, args[2], &request))?;
    let expansions = |word: &[u8]| -> Vec<Vec<u8>> {
        let text = String::from_utf8_lossy(word);
        let mut root = String::new();
        stem(schema.language, &text, &mut root);
        let mut lines = vec![format!("+{root}").into_bytes()];
        if *root != *text {
            lines.push(root.into_bytes());
        }
        lines
    };
    Ok(explain::explain(&query, schema, &expansions))
}
