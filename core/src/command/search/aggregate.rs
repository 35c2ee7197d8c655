//! FT.AGGREGATE and FT.CURSOR.

use std::sync::Arc;

use super::admin::{check_access, find};
use super::answer::{Hit, is_still_there};
use super::find::{self, Asked};
use super::values::Documents;
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{EngineError, Kind};
use crate::limits::{SEARCH_CURSOR_IDLE_MS, SEARCH_CURSOR_ROWS};
use crate::resp::{Protocol, Reply, parse_i64};
use crate::search::aggregate::{self, Facts, FieldFacts, Input, InputKind, Pipeline, Plan, Row};
use crate::search::evaluate::Wanted;
use crate::search::schema::{FieldId, FieldKind};
use crate::search::text::analyze;
use crate::search::value::{Message, Value};
use crate::server::outbox::Action;
use crate::server::search::{CursorRow, Index, SearchCursor};

type Result<T> = std::result::Result<T, CommandError>;

/// A run is begun anew so often because a document changed while it was read, before everything is locked.
const TRIES: usize = 3;

pub(super) fn client_error(text: Message) -> CommandError {
    CommandError::owned(format!("{text}"))
}

pub(super) fn aggregate(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (rows, total, cursor, index) = compute(ctx, args)?;
    match cursor {
        None => write(ctx.reply, total, &rows),
        Some(cursor) => {
            let count = cursor
                .count
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or(SEARCH_CURSOR_ROWS)
                .max(1);
            let max_idle_ms = cursor.max_idle_ms.unwrap_or(SEARCH_CURSOR_IDLE_MS).min(SEARCH_CURSOR_IDLE_MS);
            let mut rows = rows;
            let rest = rows.split_off(rows.len().min(count));
            let id = match rest.is_empty() {
                true => 0,
                false => {
                    let cursor =
                        SearchCursor::new(index.definition.number, rest, count, max_idle_ms, ctx.now_ms());
                    let id = ctx.shared.search.cursors.add(cursor);
                    id.ok_or(CommandError::text("Too many cursors, or too many rows that wait to be read"))?
                }
            };
            ctx.reply.array(2);
            write(ctx.reply, total, &rows);
            ctx.reply.integer(i64::try_from(id).unwrap_or(i64::MAX));
        }
    }
    Ok(())
}

/// Rows, how many there were before LIMIT, and the cursor that was asked for.
type Computed = (Vec<CursorRow>, u64, Option<aggregate::Cursor>, Arc<Index>);

pub(super) fn compute(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Result<Computed> {
    let index = find(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    super::ready(&index)?;
    let request = aggregate::parse(args.get(3..).unwrap_or_default()).map_err(client_error)?;
    find::check_locks(ctx)?;
    let asked = Asked::of_aggregate(ctx, &index, args[2], &request)?;
    let names = asked.distance_names();
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let schema = index.definition.schema.clone();
    let facts = Facts {
        is_json: index.definition.kind == Kind::Json,
        field: &|name| schema.find(name).map(|(_, field)| FieldFacts { is_sortable: field.is_sortable }),
        distances: &names,
    };
    let dialect = request.dialect.unwrap_or_else(|| ctx.shared.search.settings.default_dialect());
    let plan = Plan::build(&request, &facts).map_err(client_error)?;
    for attempt in 0..=TRIES {
        if attempt == TRIES && !ctx.txn.holds_everything() {
            return Err(find::lock_everything(ctx));
        }
        if let Some((rows, total)) = attempt_once(ctx, &index, (&asked, dialect), &plan)? {
            return Ok((rows, total, request.cursor, index));
        }
    }
    Err(EngineError::Undeclared.into())
}

/// A match, as the index says it.
struct Match {
    hit: Hit,
    /// Values of inputs that the index has.
    values: Vec<Option<Value>>,
}

/// None if a document has changed since the index was read.
fn attempt_once(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    (asked, dialect): (&Asked, u8),
    plan: &Plan,
) -> Result<Option<(Vec<CursorRow>, u64)>> {
    let own = find::own_changes(ctx, index)?;
    let (fields, names) = (known_fields(index, plan), asked.distance_names());
    let is_count_only = plan.is_count_only();
    let found = find::evaluate(ctx, index, (asked, &own), |views, found| {
        if is_count_only {
            return Ok((found.total(), Vec::new()));
        }
        let all = found.all(views)?.into_iter().filter_map(|matched| {
            let view = views.get(matched.hit.view)?;
            let mut key = Vec::new();
            view.part.key(matched.hit.place, &mut key);
            let distances = names.iter().cloned().zip(matched.distances).collect();
            let hit = Hit { id: matched.hit.id, key, score: matched.hit.score, sort_key: None, distances };
            Some(Match { hit, values: find::numbers(view, matched.hit.place, &fields) })
        });
        Ok((found.total(), all.collect()))
    })?;
    let (total, matched) = found?;
    if is_count_only {
        return Ok(Some((Vec::new(), total)));
    }
    ctx.expect_work(matched.len() as u64)?;
    let wanted = find::wanted(index, asked);
    let seed = ctx.client.random.u64(..);
    let mut pipeline = Pipeline::new(plan, seed);
    let mut rows = Vec::new();
    let (share, budget) = (ctx.txn.share(), ctx.txn.budget());
    let mut ask = |bytes: u64| budget.ask(1, bytes).map_err(|_| Message::from(OUT_OF_MEMORY));
    for found in matched {
        if !pipeline.wants_more() {
            break;
        }
        let Some(row) = read_row(ctx, index, (plan, &wanted, dialect), found)? else { return Ok(None) };
        let made = pipeline.push(row, &mut ask).map_err(pipeline_error)?;
        rows.extend(made.map(|row| shown(plan, row)));
        share.look().map_err(EngineError::from)?;
    }
    pipeline.finish();
    while let Some(row) = pipeline.pull(&mut ask).map_err(pipeline_error)? {
        rows.push(shown(plan, row));
        share.look().map_err(EngineError::from)?;
    }
    Ok(Some((rows, pipeline.total())))
}

/// The text of an error by which a lack of memory passes the pipeline.
const OUT_OF_MEMORY: &str = "the request needs more memory than is left";

fn pipeline_error(text: Message) -> CommandError {
    if text == OUT_OF_MEMORY { EngineError::BudgetExceeded.into() } else { client_error(text) }
}

/// The fields whose values the index itself has, by the number of the input: they are read with the matches, and need no look at the hash.
fn known_fields(index: &Index, plan: &Plan) -> Vec<Option<crate::search::schema::FieldId>> {
    let schema = &index.definition.schema;
    let of = |input: &Input| {
        let (id, field) = schema.find(&input.path)?;
        let has_it = matches!(field.kind, FieldKind::Numeric) && input.kind == InputKind::Property;
        has_it.then_some(id)
    };
    plan.inputs().iter().map(of).collect()
}

fn read_row(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    (plan, wanted, dialect): (&Plan, &Wanted<'_>, u8),
    found: Match,
) -> Result<Option<Row>> {
    let documents = Documents { definition: &index.definition, dialect };
    let hit = found.hit;
    let mut row = Row { values: vec![None; plan.width()], others: Vec::new() };
    let reads = |input: &Input, value: &Option<Value>| match input.kind {
        InputKind::Property => input.path != b"__key" && value.is_none(),
        InputKind::MatchedTerms => true,
        InputKind::Distance | InputKind::Score => false,
    };
    let must_read =
        plan.loads_all() || plan.inputs().iter().zip(&found.values).any(|(input, value)| reads(input, value));
    if must_read && !is_still_there(ctx, index, &hit)? {
        return Ok(None);
    }
    for (input, known) in plan.inputs().iter().zip(found.values) {
        let value = match input.kind {
            InputKind::Distance => {
                let named = hit.distances.iter().find(|(name, _)| *name == input.path);
                named.map(|(_, distance)| Value::Number(*distance))
            }
            InputKind::Score => Some(Value::Number(hit.score)),
            InputKind::MatchedTerms => Some(Value::list(matched_terms(ctx, documents, &hit.key, wanted)?)),
            InputKind::Property if input.path == b"__key" => Some(Value::text(&hit.key)),
            InputKind::Property if known.is_some() => known,
            InputKind::Property => documents.value(ctx.txn, &hit.key, &input.path)?,
        };
        if let Some(value) = value {
            row.set(input.column, value);
        }
    }
    if plan.loads_all() {
        let is_input = |name: &[u8]| plan.inputs().iter().any(|input| input.path == name);
        documents.each(ctx.txn, &hit.key, &mut |name, value| {
            if !is_input(name) {
                row.others.push((name.to_vec(), Value::text(value)));
            }
        })?;
    }
    Ok(Some(row))
}

/// The words of a document that the query asked for.
fn matched_terms(
    ctx: &mut Context<'_, '_>,
    documents: Documents<'_>,
    key: &[u8],
    wanted: &Wanted<'_>,
) -> Result<Vec<Value>> {
    let (schema, mut terms) = (&documents.definition.schema, std::collections::BTreeSet::new());
    for (number, field) in (0..).zip(&schema.fields) {
        let FieldKind::Text { has_stems, .. } = field.kind else { continue };
        let Some(text) = documents.text(ctx.txn, key, &field.path)? else { continue };
        analyze(schema.analyzer, &text, &|word| schema.is_stop_word(word), &mut |token| {
            if wanted.find(token.text, Some((FieldId(number), has_stems))).is_some() {
                terms.insert(token.text.as_bytes().to_vec());
            }
        });
    }
    Ok(terms.iter().map(|term| Value::text(term)).collect())
}

/// What a row shows.
fn shown(plan: &Plan, mut row: Row) -> CursorRow {
    let mut fields: CursorRow = plan
        .output()
        .iter()
        .filter_map(|(name, column)| Some((name.clone(), row.values.get_mut(*column)?.take()?)))
        .collect();
    fields.append(&mut row.others);
    fields
}

pub(super) fn write(reply: &mut Reply, total: u64, rows: &[CursorRow]) {
    let total = i64::try_from(total).unwrap_or(i64::MAX);
    if reply.protocol() == Protocol::Resp3 {
        reply.map(5);
        reply.bulk(b"attributes");
        reply.array(0);
        reply.bulk(b"warning");
        reply.array(0);
        reply.bulk(b"total_results");
        reply.integer(total);
        reply.bulk(b"format");
        reply.bulk(b"STRING");
        reply.bulk(b"results");
        reply.array(rows.len());
        for row in rows {
            reply.map(2);
            reply.bulk(b"extra_attributes");
            reply.map(row.len());
            row.iter().for_each(|(name, value)| {
                reply.bulk(name);
                write_value(reply, value);
            });
            reply.bulk(b"values");
            reply.array(0);
        }
        return;
    }
    reply.array(rows.len() + 1);
    reply.integer(total);
    for row in rows {
        reply.array(row.len() * 2);
        for (name, value) in row {
            reply.bulk(name);
            write_value(reply, value);
        }
    }
}

fn write_value(reply: &mut Reply, value: &Value) {
    match value {
        Value::Null => reply.null(),
        Value::Number(_) | Value::Text(_) => reply.bulk(&value.to_text()),
        Value::List(values) => {
            reply.array(values.len());
            // Lists in lists come from JSON only, and those are bounded there.
            values.iter().for_each(|value| write_value(reply, value));
        }
    }
}

pub(super) fn cursor(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    let (name, id, options) = match rest {
        [name, id, options @ ..] => (*name, *id, options),
        _ => return Err(CommandError::text("wrong number of arguments for 'ft.cursor' command")),
    };
    let index = find(ctx, name)?;
    check_access(ctx, &index, args, false)?;
    let id =
        parse_i64(id).and_then(|id| u64::try_from(id).ok()).ok_or(CommandError::text("Bad cursor ID"))?;
    let number = index.definition.number;
    let missing = || CommandError::text("Cursor not found");
    if is_option(args[1], "READ") {
        let count = match options {
            [] => 0,
            [word, count] if is_option(word, "COUNT") => parse_i64(count)
                .and_then(|count| usize::try_from(count).ok())
                .filter(|count| *count > 0)
                .ok_or(CommandError::text("Bad value for COUNT"))?,
            _ => return Err(CommandError::SYNTAX),
        };
        let passed = ctx.outbox.passed_rows(id);
        let read = ctx.shared.search.cursors.peek((id, number), passed, count, ctx.now_ms());
        let (rows, is_last) = read.filter(|(rows, _)| !rows.is_empty()).ok_or_else(missing)?;
        ctx.outbox.push(Action::PassRows(id, rows.len()));
        ctx.reply.array(2);
        write(ctx.reply, rows.len() as u64, &rows);
        ctx.reply.integer(if is_last { 0 } else { i64::try_from(id).unwrap_or(i64::MAX) });
        return Ok(());
    }
    let is_del = is_option(args[1], "DEL");
    if !is_del && !is_option(args[1], "GC") {
        return Err(CommandError::text("unknown subcommand"));
    }
    if is_del && !ctx.shared.search.cursors.remove(id, number) {
        return Err(missing());
    }
    ctx.reply.ok();
    Ok(())
}
