//! What a database holds, and how a statement would run: SQL.TABLES, SQL.DESC, SQL.EXPLAIN, SQL.STATS.

use std::collections::HashMap;

use super::gather::{Gathered, Held, gather, gather_as};
use super::lend::NO_SQL;
use super::rows::ReplyRows;
use super::{identifier, parameters, placed, text};
use crate::command::{CommandError, Context, Outcome, args};
use crate::data::sqldb;
use crate::limits::SQL_COUNTED_ROWS_MAX;
use crate::resp::Reply;
use crate::sql::{Access, Parameter, SqlText, SqlValue};

/// Those that the user made.
const TABLES: &[u8] = b"SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') \
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'edgecask_statements' ORDER BY name";

const TABLE: &[u8] =
    b"SELECT name, type, sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')";

const COLUMNS: &[u8] = b"SELECT name, type, \"notnull\", dflt_value AS \"default\", pk, \
    CASE WHEN hidden IN (2, 3) THEN 1 ELSE 0 END AS generated FROM pragma_table_xinfo(?) WHERE hidden <> 1";

/// A row for each column of each index.
const INDEXES: &[u8] = b"SELECT i.name, i.\"unique\", i.partial, (SELECT sql FROM sqlite_schema AS s WHERE s.type = 'index' \
    AND s.name = i.name) AS sql, c.name FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS c ORDER BY i.name, c.seqno";

const TRIGGERS: &[u8] =
    b"SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY name";

const FOREIGN_KEYS: &[u8] = b"SELECT id, \"from\", \"table\", \"to\", on_update, on_delete \
    FROM pragma_foreign_key_list(?) ORDER BY id, seq";

/// `SQL.TABLES database`
pub(super) fn tables(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let text = SqlText { text: TABLES, parameters: &[], access: Access::ReadOnly };
    let mut rows = ReplyRows::beside(ctx.reply, ctx.shared.settings.sql_rows_max());
    text::run(ctx, args[1], &text, &mut rows)?;
    rows.write(ctx.reply);
    Ok(())
}

/// `SQL.DESC database table`
pub(super) fn desc(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let key = args[1];
    let table = find_table(ctx, key, args[2])?;
    let name = table.name();
    let about = [placed(SqlValue::Text(name))];
    let columns = gather(ctx, key, COLUMNS, &about)?;
    let indexes = gather(ctx, key, INDEXES, &about)?;
    let triggers = gather(ctx, key, TRIGGERS, &about)?;
    let foreign_keys = gather(ctx, key, FOREIGN_KEYS, &about)?;
    let rows = if table.is_view { Held::Null } else { count(ctx, key, name)? };

    let reply = &mut *ctx.reply;
    reply.map(8);
    for (field, value) in
        [("name", &table.row[0]), ("type", &table.row[1]), ("sql", &table.row[2]), ("rows", &rows)]
    {
        reply.bulk(field.as_bytes());
        put(reply, value);
    }
    put_maps(reply, "columns", &columns);
    put_indexes(reply, &indexes);
    put_maps(reply, "triggers", &triggers);
    put_maps(reply, "foreign_keys", &foreign_keys);
    Ok(())
}

/// A table or a view that there is.
pub(super) struct Table {
    /// Its name, type and text.
    row: [Held; 3],
    pub is_view: bool,
}

impl Table {
    /// Its name, in its own spelling.
    pub fn name(&self) -> &[u8] {
        if let [Held::Text(name), ..] = &self.row { name } else { b"" }
    }
}

/// Looks for a table or view.
///
/// # Errors
/// There is none with this name.
pub(super) fn find_table(ctx: &mut Context<'_, '_>, key: &[u8], name: &[u8]) -> Result<Table, CommandError> {
    let mut found = gather(ctx, key, TABLE, &[placed(SqlValue::Text(name))])?;
    let row = found.rows.pop().and_then(|row| <[Held; 3]>::try_from(row).ok());
    let row =
        row.ok_or_else(|| CommandError::owned(format!("ERR no such table: {}", args::quoted(name, 128))))?;
    let is_view = row[1] == Held::Text(b"view".to_vec());
    Ok(Table { row, is_view })
}

/// How many rows a table has, or NULL if they are too many to count.
fn count(ctx: &mut Context<'_, '_>, key: &[u8], name: &[u8]) -> Result<Held, CommandError> {
    let most = SQL_COUNTED_ROWS_MAX;
    let mut text = b"SELECT count(*) FROM (SELECT 1 FROM ".to_vec();
    text.extend_from_slice(&identifier(name));
    text.extend_from_slice(format!(" LIMIT {})", most + 1).as_bytes());
    let counted = gather(ctx, key, &text, &[])?;
    let counted = counted.first().map_or(0, Held::integer);
    Ok(if counted.unsigned_abs() > most { Held::Null } else { Held::Integer(counted) })
}

fn put(reply: &mut Reply, value: &Held) {
    match value {
        Held::Null => reply.null(),
        Held::Integer(value) => reply.integer(*value),
        value => reply.bulk(&value.bytes()),
    }
}

/// A field with an array of maps, one for each row.
fn put_maps(reply: &mut Reply, field: &str, rows: &Gathered) {
    reply.bulk(field.as_bytes());
    reply.array(rows.rows.len());
    for row in &rows.rows {
        reply.map(row.len().min(rows.names.len()));
        for (name, value) in rows.names.iter().zip(row) {
            reply.bulk(name);
            put(reply, value);
        }
    }
}

/// The indexes, each with an array of its columns; an expression has no name.
fn put_indexes(reply: &mut Reply, indexes: &Gathered) {
    reply.bulk(b"indexes");
    let groups: Vec<&[Vec<Held>]> = indexes.rows.chunk_by(|one, next| one.first() == next.first()).collect();
    reply.array(groups.len());
    for group in groups {
        reply.map(5);
        let first = group.first().map(Vec::as_slice).unwrap_or_default();
        for (name, value) in indexes.names.iter().zip(first).take(4) {
            reply.bulk(name);
            put(reply, value);
        }
        reply.bulk(b"columns");
        reply.array(group.len());
        group.iter().for_each(|row| put(reply, row.last().unwrap_or(&Held::Null)));
    }
}

/// `SQL.EXPLAIN database text [arg ...]`
pub(super) fn explain(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    const ONE: CommandError = CommandError::text("ERR the plan of one statement can be asked for at a time");
    let key = args[1];
    let text = [b"EXPLAIN QUERY PLAN ", args[2]].concat();
    // Only the first statement is explained; another one would run.
    let described = gather_as(ctx, key, &text, &[], Access::Describe)?;
    let is_kind = |row: &&Vec<Held>, kind: &[u8]| row.get(1).is_some_and(|value| *value.bytes() == *kind);
    if described.rows.iter().filter(|row| is_kind(row, b"statement")).count() != 1 {
        return Err(ONE);
    }
    let mut parameters = parameters(args.get(3..).unwrap_or_default());
    if parameters.is_empty() {
        let missing = described.rows.iter().filter(|row| is_kind(row, b"parameter"));
        parameters.extend(missing.map(|_| Parameter { name: None, value: SqlValue::Null }));
    }
    let plan = gather_as(ctx, key, &text, &parameters, Access::Any)?;
    // Rows are: number, number of the line above it, nothing, text.
    let mut depths: HashMap<i64, usize> = HashMap::new();
    ctx.reply.array(plan.rows.len());
    for row in &plan.rows {
        let [id, above, _, detail] = row.as_slice() else { return Err(ONE) };
        let depth = depths.get(&above.integer()).map_or(0, |depth| depth + 1);
        depths.insert(id.integer(), depth);
        let mut line = b"  ".repeat(depth);
        line.extend_from_slice(&detail.bytes());
        ctx.reply.bulk(&line);
    }
    Ok(())
}

/// `SQL.STATS [database]`
pub(super) fn stats(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let Some(key) = args.get(1) else { return stats_of_server(ctx) };
    let db = ctx.db();
    let Some(database) = sqldb::open(ctx.txn, db, key)? else { return Err(CommandError::NO_SUCH_KEY) };
    let pages = u64::from(database.page_count(ctx.txn)?);
    // Pages that were never written are rare, and a patch belongs to a page.
    let patches = ctx.txn.sub_len(db, key)?.saturating_sub(pages);
    let page_bytes = database.page_bytes() as u64;
    let numbers = "SELECT (SELECT schema_version FROM pragma_schema_version), (SELECT freelist_count FROM pragma_freelist_count), \
        (SELECT count(*) FROM sqlite_schema WHERE type = 'table'), (SELECT count(*) FROM sqlite_schema WHERE type = 'index')";
    let numbers = gather(ctx, key, numbers.as_bytes(), &[])?;
    let mut numbers = numbers.rows.iter().flatten().map(|number| number.integer().unsigned_abs());
    let mut next = || numbers.next().unwrap_or(0);
    let fields = [
        ("pages", pages),
        ("page_bytes", page_bytes),
        ("bytes", pages * page_bytes),
        ("patches", patches),
        ("schema_version", next()),
        ("free_pages", next()),
        ("tables", next()),
        ("indexes", next()),
    ];
    put_numbers(ctx.reply, fields.len(), &fields);
    Ok(())
}

fn stats_of_server(ctx: &mut Context<'_, '_>) -> Outcome {
    let engine = ctx.shared.sql.engine().ok_or(NO_SQL)?;
    let fields = [("idle_connections_bytes", ctx.shared.sql.memory_bytes())];
    put_numbers(ctx.reply, fields.len() + 1, &fields);
    ctx.reply.bulk(b"sqlite_version");
    ctx.reply.bulk(engine.version().as_bytes());
    Ok(())
}

/// The beginning of a map, with these numbers.
fn put_numbers(reply: &mut Reply, pairs: usize, fields: &[(&str, u64)]) {
    reply.map(pairs);
    for (name, value) in fields {
        reply.bulk(name.as_bytes());
        reply.integer(i64::try_from(*value).unwrap_or(i64::MAX));
    }
}
