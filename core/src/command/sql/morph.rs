//! Keys become tables and tables become keys: NORM, DENORM, and CREATE TABLE … AS a command of Redis.
//!
//! Values are parameters and arguments, never parts of a text, so any bytes come back as they were. A column is INT only if each of its
//! values is an integer as Redis writes one, so that `007` stays text; a field that a hash does not have is NULL, and comes back
//! as no field. Keys are read by GET and HGETALL with the rights of the user.

use std::collections::BTreeMap;

use super::gather::{Held, change, gather};
use super::store::call;
use super::{identifier, placed, schema, text_value};
use crate::command::atomic::atomically;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::Kind;
use crate::limits::{SQL_COLUMNS_MAX, SQL_NORM_TABLES_MAX};
use crate::number::parse_i64;
use crate::resp::{Decoder, Protocol, Value};
use crate::sorted;
use crate::sql::{Parameter, SqlValue};

/// Names and values.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A key that belongs to a row.
struct Source {
    key: Vec<u8>,
    /// The column whose value the key has; None for a hash of them.
    column: Option<Vec<u8>>,
}

/// A table that is to be.
#[derive(Default)]
struct Draft {
    /// By the primary key.
    rows: BTreeMap<Vec<u8>, Vec<Source>>,
    /// The columns in the order in which they were found, and whether all values so far are integers.
    columns: Vec<(Vec<u8>, bool)>,
}

impl Draft {
    fn note(&mut self, column: &[u8], value: &[u8]) {
        let is_integer = parse_i64(value).is_some();
        match self.columns.iter_mut().find(|(name, _)| *name == column) {
            Some((_, are_integers)) => *are_integers &= is_integer,
            None => self.columns.push((column.to_vec(), is_integer)),
        }
    }

    fn has_integer_key(&self) -> bool {
        self.rows.keys().all(|key| parse_i64(key).is_some())
    }

    /// The text that makes it.
    fn create(&self, name: &[u8]) -> Vec<u8> {
        let mut text = [b"CREATE TABLE ".to_vec(), identifier(name), b" (pk ".to_vec()].concat();
        text.extend_from_slice(if self.has_integer_key() {
            b"INTEGER PRIMARY KEY"
        } else {
            b"TEXT PRIMARY KEY"
        });
        for (column, are_integers) in &self.columns {
            text.extend_from_slice(b", ");
            text.extend_from_slice(&identifier(column));
            text.extend_from_slice(if *are_integers { b" INT" } else { b" TEXT" });
        }
        text.push(b')');
        text
    }
}

/// `SQL.NORM database pattern [secondary ...]`
pub(super) fn norm(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, pattern) = (args[1], args[2]);
    let name = pattern.strip_suffix(b":*").unwrap_or(pattern);
    let secondary =
        args.get(3..).unwrap_or_default().iter().flat_map(|words| words.split(|byte| *byte == b','));
    let secondary: Vec<&[u8]> = secondary.filter(|word| !word.is_empty()).collect();
    if secondary.len() >= SQL_NORM_TABLES_MAX {
        return Err(CommandError::owned(format!(
            "ERR at most {SQL_NORM_TABLES_MAX} tables are made at once"
        )));
    }
    if name.is_empty() {
        return Err(CommandError::SYNTAX);
    }
    let db = ctx.db();
    let count = ctx.txn.key_count(db)?;
    ctx.expect_work(count)?;
    let texts = atomically(ctx, |ctx| {
        let mut texts = Vec::new();
        for (table, mut draft) in drafts(ctx, name, &secondary)? {
            look_at_values(ctx, &mut draft)?;
            let text = draft.create(&table);
            change(ctx, key, &text, &[])?;
            fill(ctx, key, &table, &draft)?;
            texts.push(text);
        }
        Ok(texts)
    })?;
    if texts.is_empty() {
        ctx.reply.integer(0);
        return Ok(());
    }
    ctx.reply.array(texts.len());
    texts.iter().for_each(|text| ctx.reply.bulk(text));
    Ok(())
}

/// The tables that the names of the keys make.
fn drafts(
    ctx: &mut Context<'_, '_>,
    name: &[u8],
    secondary: &[&[u8]],
) -> Result<BTreeMap<Vec<u8>, Draft>, CommandError> {
    let mut drafts: BTreeMap<Vec<u8>, Draft> = BTreeMap::new();
    let (db, mut cursor) = (ctx.db(), 0);
    loop {
        cursor = ctx.txn.scan_keys(db, cursor, &mut |key, root| {
            let rest = key.strip_prefix(name).and_then(|rest| rest.strip_prefix(b":"));
            let Some(rest) = rest else { return };
            let parts: Vec<&[u8]> = rest.split(|byte| *byte == b':').collect();
            let (primary, word, column) = match (root.kind, parts.as_slice()) {
                (Kind::Hash, [primary]) => (*primary, None, None),
                (Kind::Hash, [primary, word]) if secondary.contains(word) => (*primary, Some(*word), None),
                (Kind::String, [primary, column]) => (*primary, None, Some(*column)),
                (Kind::String, [primary, word, column]) if secondary.contains(word) => {
                    (*primary, Some(*word), Some(*column))
                }
                _ => return,
            };
            let table = match word {
                None => name.to_vec(),
                Some(word) => [name, b"_", word].concat(),
            };
            let source = Source { key: key.to_vec(), column: column.map(<[u8]>::to_vec) };
            drafts.entry(table).or_default().rows.entry(primary.to_vec()).or_default().push(source);
        })?;
        if cursor == 0 {
            // A walk may show a key twice, and shows keys in no order.
            for sources in drafts.values_mut().flat_map(|draft| draft.rows.values_mut()) {
                sorted::all(sources, |one, other| one.key.cmp(&other.key));
                sources.dedup_by(|one, other| one.key == other.key);
            }
            return Ok(drafts);
        }
    }
}

/// Finds the columns and their types.
fn look_at_values(ctx: &mut Context<'_, '_>, draft: &mut Draft) -> Outcome {
    let rows = std::mem::take(&mut draft.rows);
    for source in rows.values().flatten() {
        for (column, value) in values(ctx, source)? {
            draft.note(&column, &value);
        }
        if draft.columns.len() >= SQL_COLUMNS_MAX {
            return Err(CommandError::text("ERR the keys have more fields than a table may have columns"));
        }
    }
    draft.rows = rows;
    for (column, _) in &draft.columns {
        if std::str::from_utf8(column).is_err() || column.contains(&0) {
            return Err(CommandError::text(
                "ERR the name of a field has bytes that no name of a column may have",
            ));
        }
    }
    Ok(())
}

/// The columns and values of a key.
fn values(ctx: &mut Context<'_, '_>, source: &Source) -> Result<Pairs, CommandError> {
    match &source.column {
        Some(column) => {
            let value = ask(ctx, &[b"GET", &source.key])?;
            Ok(value.as_bytes().map(|value| (column.clone(), value.to_vec())).into_iter().collect())
        }
        None => Ok(pairs(items(ask(ctx, &[b"HGETALL", &source.key])?))),
    }
}

/// Runs a command that reads; its reply, in the shapes of RESP2.
fn ask(ctx: &mut Context<'_, '_>, request: &[&[u8]]) -> Result<Value, CommandError> {
    let mut reply = ctx.reply.beside();
    reply.set_protocol(Protocol::Resp2);
    ctx.call_into(request, &mut reply)?;
    let bytes = reply.take().map_err(|error| CommandError::owned(format!("ERR {error}")))?;
    match Decoder::new().decode(&bytes) {
        Ok(Some((value, _))) => match value.as_error() {
            Some(error) => Err(CommandError::owned(String::from_utf8_lossy(error).into_owned())),
            None => Ok(value),
        },
        _ => Err(CommandError::text("ERR the reply of a nested call cannot be read")),
    }
}

/// The texts of an array, or the one text.
fn items(value: Value) -> Vec<Vec<u8>> {
    match value {
        Value::Array(values) | Value::Set(values) => values.into_iter().flat_map(items).collect(),
        Value::Integer(number) => vec![number.to_string().into_bytes()],
        Value::Bulk(text) | Value::Simple(text) => vec![text],
        _ => Vec::new(),
    }
}

fn pairs(items: Vec<Vec<u8>>) -> Pairs {
    let mut items = items.into_iter();
    std::iter::from_fn(|| Some((items.next()?, items.next()?))).collect()
}

/// Inserts the rows.
fn fill(ctx: &mut Context<'_, '_>, key: &[u8], table: &[u8], draft: &Draft) -> Outcome {
    let has_integer_key = draft.has_integer_key();
    let places = vec![&b"?"[..]; draft.columns.len() + 1].join(&b',');
    let text =
        [b"INSERT INTO ".to_vec(), identifier(table), b" VALUES (".to_vec(), places, b")".to_vec()].concat();
    for (primary, sources) in &draft.rows {
        let mut row: Vec<Option<Vec<u8>>> = vec![None; draft.columns.len()];
        for source in sources {
            for (column, value) in values(ctx, source)? {
                let place = draft.columns.iter().position(|(name, _)| *name == column);
                if let Some(place) = place.and_then(|place| row.get_mut(place)) {
                    *place = Some(value);
                }
            }
        }
        let mut parameters: Vec<Parameter<'_>> = vec![placed(typed(primary, has_integer_key))];
        for (value, (_, are_integers)) in row.iter().zip(&draft.columns) {
            let value = value.as_ref().map_or(SqlValue::Null, |value| typed(value, *are_integers));
            parameters.push(placed(value));
        }
        change(ctx, key, &text, &parameters)?;
    }
    Ok(())
}

fn typed(bytes: &[u8], is_integer: bool) -> SqlValue<'_> {
    match parse_i64(bytes).filter(|_| is_integer) {
        Some(number) => SqlValue::Integer(number),
        None => text_value(bytes),
    }
}

/// `SQL.DENORM database table pattern`
pub(super) fn denorm(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, table, pattern) = (args[1], args[2], args[3]);
    let star = pattern.iter().position(|byte| *byte == b'*');
    let Some((before, behind)) = star.and_then(|at| Some((pattern.get(..at)?, pattern.get(at + 1..)?)))
    else {
        return Err(CommandError::text("ERR the pattern needs a * for the primary key"));
    };
    let table = schema::find_table(ctx, key, table)?;
    let primary = primary_key(ctx, key, table.name())?;
    let text = [b"SELECT * FROM ".to_vec(), identifier(table.name())].concat();
    let stored = atomically(ctx, |ctx| {
        let result = gather(ctx, key, &text, &[])?;
        ctx.expect_work(result.rows.len() as u64)?;
        for row in &result.rows {
            let name = row.get(primary).map(Held::bytes).unwrap_or_default();
            let hash = [before, &name, behind].concat();
            let fields = result.names.iter().zip(row).enumerate();
            let fields = fields.filter(|(column, (_, value))| *column != primary && !value.is_null());
            let fields: Vec<_> = fields.map(|(_, (name, value))| (name.as_slice(), value.bytes())).collect();
            if fields.is_empty() {
                continue;
            }
            let mut request: Vec<&[u8]> = vec![b"HSET", &hash];
            request.extend(fields.iter().flat_map(|(name, value)| [*name, value]));
            call(ctx, &request)?;
        }
        Ok(result.rows.len())
    })?;
    ctx.reply.integer(i64::try_from(stored).unwrap_or(i64::MAX));
    Ok(())
}

/// The place of the primary key among the columns; the first column if there is none.
fn primary_key(ctx: &mut Context<'_, '_>, key: &[u8], table: &[u8]) -> Result<usize, CommandError> {
    let columns = gather(
        ctx,
        key,
        b"SELECT pk FROM pragma_table_xinfo(?) WHERE hidden <> 1",
        &[placed(SqlValue::Text(table))],
    )?;
    let is_key = |row: &Vec<Held>| row.first().is_some_and(|pk| pk.integer() > 0);
    let mut keys = columns.rows.iter().enumerate().filter(|(_, row)| is_key(row)).map(|(at, _)| at);
    match (keys.next(), keys.next()) {
        (first, None) => Ok(first.unwrap_or(0)),
        _ => Err(CommandError::text("ERR the table has a primary key of several columns")),
    }
}

/// Commands whose replies become tables.
const MAKE_TABLES: &[&str] = &[
    "DUMP",
    "HGETALL",
    "HKEYS",
    "HMGET",
    "HVALS",
    "LRANGE",
    "SDIFF",
    "SINTER",
    "SMEMBERS",
    "SORT_RO",
    "SUNION",
    "ZRANGE",
    "ZRANGEBYSCORE",
    "ZREVRANGE",
    "ZREVRANGEBYSCORE",
];

/// Whether words are a command that makes a table.
pub(super) fn makes_tables(command: &[&[u8]]) -> bool {
    let is = |name: &&[u8]| MAKE_TABLES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    command.first().is_some_and(is)
}

/// `CREATE TABLE name AS command arg [arg ...]`, where DUMP stands for the command that reads the whole key, or a table.
pub(super) fn create_as(ctx: &mut Context<'_, '_>, key: &[u8], name: &[u8], command: &[&[u8]]) -> Outcome {
    let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name);
    let request = match command {
        [dump, object] if dump.eq_ignore_ascii_case(b"DUMP") => match reader_of(ctx, object)? {
            Some(request) => request,
            None => {
                let of = [b" AS SELECT * FROM ".to_vec(), identifier(object)].concat();
                let text = [b"CREATE TABLE ".to_vec(), identifier(name), of].concat();
                call(ctx, &[b"SQL.EXEC", key, &text])?;
                ctx.reply.ok();
                return Ok(());
            }
        },
        [dump, ..] if dump.eq_ignore_ascii_case(b"DUMP") => return Err(CommandError::SYNTAX),
        command => command.to_vec(),
    };
    let is = |argument: &&[u8], word: &str| argument.eq_ignore_ascii_case(word.as_bytes());
    let has_scores = request.iter().any(|argument| is(argument, "WITHSCORES"));
    let has_pairs = request.first().is_some_and(|name| is(name, "HGETALL"));
    let columns: &[u8] = match (has_scores, has_pairs) {
        (true, _) => b"(pk INTEGER PRIMARY KEY, name TEXT, value FLOAT)",
        (_, true) => b"(pk INTEGER PRIMARY KEY, name TEXT, value TEXT)",
        _ => b"(pk INTEGER PRIMARY KEY, value TEXT)",
    };
    let (places, of_a_row): (&[u8], usize) =
        if has_scores || has_pairs { (b"(NULL, ?, ?)", 2) } else { (b"(NULL, ?)", 1) };
    let text = [b"CREATE TABLE ".to_vec(), identifier(name), columns.to_vec()].concat();
    let insert = [b"INSERT INTO ".to_vec(), identifier(name), b" VALUES ".to_vec(), places.to_vec()].concat();
    atomically(ctx, |ctx| {
        let values = items(ask(ctx, &request)?);
        ctx.expect_work(values.len() as u64)?;
        // The first of them also says whether the user may.
        call(ctx, &[b"SQL.EXEC", key, &text])?;
        for row in values.chunks(of_a_row) {
            let row: Vec<Parameter<'_>> = row.iter().map(|value| placed(text_value(value))).collect();
            change(ctx, key, &insert, &row)?;
        }
        Ok(())
    })?;
    ctx.reply.ok();
    Ok(())
}

/// The command that reads all of a key; None if there is none.
fn reader_of<'a>(ctx: &mut Context<'_, '_>, object: &'a [u8]) -> Result<Option<Vec<&'a [u8]>>, CommandError> {
    let kind = ask(ctx, &[b"TYPE", object])?;
    Ok(match kind.as_bytes() {
        Some(b"list") => Some(vec![b"LRANGE", object, b"0", b"-1"]),
        Some(b"set") => Some(vec![b"SMEMBERS", object]),
        Some(b"zset") => Some(vec![b"ZRANGE", object, b"0", b"-1", b"WITHSCORES"]),
        Some(b"hash") => Some(vec![b"HGETALL", object]),
        Some(b"string") => Some(vec![b"GET", object]),
        _ => None,
    })
}
