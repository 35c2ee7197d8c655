//! SQL.DUMP: a database, or one table, as a text that makes it again in sqlite3 or MySQL.
//!
//! Numbers are written so that reading them gives the same ones, and what no literal can hold comes as hexadecimal digits: text with
//! bytes of zero or such as are no UTF-8, and blobs. Indexes, triggers and views come last, so that rows are inserted without them.

use std::ops::ControlFlow;

use super::gather::{Gathered, Held, gather};
use super::lend::Gathers;
use super::text;
use super::{identifier, placed, quoted, schema};
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::sorted;
use crate::sql::{Access, Rows, SqlText, SqlValue};

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Sqlite,
    MySql,
}

/// Rows of one INSERT for MySQL, which reads them faster so.
const ROWS_OF_AN_INSERT: usize = 100;

/// Bytes after which an INSERT ends: MySQL's servers refuse packets of 16 MB and more, older ones 4 MB.
const INSERT_MAX_BYTES: usize = 1024 * 1024;

/// In the order in which they were made. The statistics of ANALYZE are made anew where they are wanted.
const TABLES: &[u8] = b"SELECT s.name, s.sql, l.type FROM sqlite_schema AS s JOIN pragma_table_list AS l \
    ON l.schema = 'main' AND l.name = s.name WHERE s.type = 'table' AND l.type IN ('table', 'virtual') \
    AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid";

const LAST: &[u8] = b"SELECT sql, tbl_name, type FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index', 'trigger', 'view') \
    ORDER BY type = 'view', type = 'trigger', rowid";

const COLUMNS: &[u8] =
    b"SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1";

const INDEXES: &[u8] =
    b"SELECT i.name, i.\"unique\", i.origin, i.partial, c.name FROM pragma_index_list(?) AS i, \
    pragma_index_info(i.name) AS c ORDER BY i.seq, c.seqno";

/// `SQL.DUMP database [table] [TO SQLITE | MYSQL]`
pub(super) fn dump(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (table, dialect) = match args.get(2..).unwrap_or_default() {
        [] => (None, Dialect::Sqlite),
        [table] => (Some(*table), Dialect::Sqlite),
        [to, name] if is_option(to, "TO") => (None, dialect(name)?),
        [table, to, name] if is_option(to, "TO") => (Some(*table), dialect(name)?),
        _ => return Err(CommandError::SYNTAX),
    };
    let key = args[1];
    let only = match table {
        Some(name) => Some(schema::find_table(ctx, key, name)?),
        None => None,
    };
    let only = only.as_ref().map(schema::Table::name);
    let room = usize::try_from(ctx.reply.bytes_left()).unwrap_or(usize::MAX);
    let mut out = Text { bytes: Vec::new(), room, dialect, insert: Insert::default(), is_full: false };
    match dialect {
        Dialect::Sqlite => sqlite(ctx, key, only, &mut out)?,
        Dialect::MySql => mysql(ctx, key, only, &mut out)?,
    }
    if out.is_full() {
        return Err(CommandError::text("ERR the dump does not fit into a reply; dump one table at a time"));
    }
    ctx.reply.bulk(&out.bytes);
    Ok(())
}

fn dialect(name: &[u8]) -> Result<Dialect, CommandError> {
    match name {
        name if is_option(name, "SQLITE") => Ok(Dialect::Sqlite),
        name if is_option(name, "MYSQL") => Ok(Dialect::MySql),
        _ => Err(CommandError::SYNTAX),
    }
}

/// Whether something of this table is wanted; names differ in more than the case of letters.
fn is_wanted(only: Option<&[u8]>, table: &[u8]) -> bool {
    only.is_none_or(|only| only.eq_ignore_ascii_case(table))
}

fn sqlite(ctx: &mut Context<'_, '_>, key: &[u8], only: Option<&[u8]>, out: &mut Text) -> Outcome {
    // Rows may come before those that they refer to.
    out.line(&[b"BEGIN TRANSACTION;\nPRAGMA defer_foreign_keys=ON;"]);
    let mut has_sequence = false;
    for row in gather(ctx, key, TABLES, &[])?.rows {
        let [name, sql, ..] = row.as_slice() else { continue };
        let (name, sql) = (name.bytes(), sql.bytes());
        if !is_wanted(only, &name) {
            continue;
        }
        has_sequence |= sql.to_ascii_uppercase().windows(13).any(|word| word == b"AUTOINCREMENT");
        out.line(&[&sql, b";"]);
        let columns = gather(ctx, key, COLUMNS, &[placed(SqlValue::Text(&name))])?;
        rows_of(ctx, key, &name, &columns, out)?;
    }
    if has_sequence {
        out.line(&[b"DELETE FROM sqlite_sequence;"]);
        for row in gather(ctx, key, b"SELECT name, seq FROM sqlite_sequence", &[])?.rows {
            let [name, seq] = row.as_slice() else { continue };
            if is_wanted(only, &name.bytes()) {
                let name = quoted(&name.bytes(), b'\'');
                out.line(&[b"INSERT INTO sqlite_sequence VALUES(", &name, b",", &seq.bytes(), b");"]);
            }
        }
    }
    for row in gather(ctx, key, LAST, &[])?.rows {
        let [sql, table, _] = row.as_slice() else { continue };
        if is_wanted(only, &table.bytes()) {
            out.line(&[&sql.bytes(), b";"]);
        }
    }
    out.line(&[b"COMMIT;"]);
    Ok(())
}

fn mysql(ctx: &mut Context<'_, '_>, key: &[u8], only: Option<&[u8]>, out: &mut Text) -> Outcome {
    out.line(&[b"SET NAMES utf8mb4;\nSET FOREIGN_KEY_CHECKS=0;"]);
    for row in gather(ctx, key, TABLES, &[])?.rows {
        let [name, ..] = row.as_slice() else { continue };
        let name = name.bytes();
        // Prepared statements are of no use there.
        if !is_wanted(only, &name) || *name == *b"edgecask_statements" {
            continue;
        }
        let about = [placed(SqlValue::Text(&name))];
        let columns = gather(ctx, key, COLUMNS, &about)?;
        let indexes = gather(ctx, key, INDEXES, &about)?;
        let quoted_name = quoted(&name, b'`');
        out.line(&[b"DROP TABLE IF EXISTS ", &quoted_name, b";"]);
        out.line(&[b"CREATE TABLE ", &quoted_name, b" (", &mysql_columns(&columns, &indexes), b");"]);
        out.line(&[b"LOCK TABLES ", &quoted_name, b" WRITE;"]);
        rows_of(ctx, key, &name, &columns, out)?;
        for index in mysql_indexes(&quoted_name, &columns, &indexes) {
            out.line(&[&index]);
        }
        out.line(&[b"UNLOCK TABLES;"]);
    }
    for row in gather(ctx, key, LAST, &[])?.rows {
        let [_, table, kind] = row.as_slice() else { continue };
        if is_wanted(only, &table.bytes()) && *kind.bytes() != *b"index" {
            let table = String::from_utf8_lossy(&table.bytes()).replace(['\r', '\n'], " ");
            out.line(&[b"-- left out: a ", &kind.bytes(), b" of ", table.as_bytes()]);
        }
    }
    out.line(&[b"SET FOREIGN_KEY_CHECKS=1;"]);
    Ok(())
}

/// The columns of a table for CREATE TABLE in MySQL, and its primary key.
fn mysql_columns(columns: &Gathered, indexes: &Gathered) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let mut primary: Vec<(i64, Vec<u8>)> = Vec::new();
    for row in &columns.rows {
        let [name, declared, not_null, _, pk, _] = row.as_slice() else { continue };
        let name = name.bytes();
        if !out.is_empty() {
            out.extend_from_slice(b", ");
        }
        let column = quoted(&name, b'`');
        out.extend_from_slice(&column);
        out.push(b' ');
        let is_key = pk.integer() > 0 || is_indexed(&name, indexes);
        out.extend_from_slice(mysql_type(&declared.bytes(), is_key));
        if not_null.integer() != 0 || pk.integer() > 0 {
            out.extend_from_slice(b" NOT NULL");
        }
        if pk.integer() > 0 {
            primary.push((pk.integer(), column));
        }
    }
    sorted::plainly(&mut primary);
    if !primary.is_empty() {
        let names: Vec<Vec<u8>> = primary.into_iter().map(|(_, name)| name).collect();
        out.extend_from_slice(b", PRIMARY KEY (");
        out.extend_from_slice(&names.join(&b", "[..]));
        out.push(b')');
    }
    out
}

fn is_indexed(name: &[u8], indexes: &Gathered) -> bool {
    indexes.rows.iter().any(|row| row.last().is_some_and(|column| *column.bytes() == *name))
}

/// The type of MySQL that holds what a column with SQLite's rules for types holds. Keys have a bound there.
fn mysql_type(declared: &[u8], is_key: bool) -> &'static [u8] {
    let declared = String::from_utf8_lossy(declared).to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    match () {
        () if has(&["INT"]) => b"BIGINT",
        () if has(&["CHAR", "CLOB", "TEXT"]) && is_key => b"VARCHAR(255)",
        () if has(&["CHAR", "CLOB", "TEXT"]) => b"LONGTEXT",
        () if declared.is_empty() || has(&["BLOB"]) => {
            if is_key {
                b"VARBINARY(255)"
            } else {
                b"LONGBLOB"
            }
        }
        () if has(&["REAL", "FLOA", "DOUB"]) => b"DOUBLE",
        () if has(&["DATE", "TIME"]) => b"VARCHAR(255)",
        () => b"DOUBLE",
    }
}

/// The indexes of a table but for that of its primary key. Those of expressions and of a part of the rows have no like in MySQL.
fn mysql_indexes(table: &[u8], columns: &Gathered, indexes: &Gathered) -> Vec<Vec<u8>> {
    let is_column = |value: &Held| columns.rows.iter().any(|row| row.first() == Some(value));
    let mut out = Vec::new();
    for group in indexes.rows.chunk_by(|one, next| one.first() == next.first()) {
        let Some([name, unique, origin, partial, _]) = group.first().map(Vec::as_slice) else { continue };
        if *origin.bytes() == *b"pk" {
            continue;
        }
        let of: Vec<&Held> = group.iter().filter_map(|row| row.last()).collect();
        if partial.integer() != 0 || !of.iter().all(|column| is_column(column)) {
            out.push([b"-- left out: the index ".to_vec(), quoted(&name.bytes(), b'`')].concat());
            continue;
        }
        let of: Vec<Vec<u8>> = of.iter().map(|column| quoted(&column.bytes(), b'`')).collect();
        let unique: &[u8] = if unique.integer() != 0 { b"UNIQUE " } else { b"" };
        let of = of.join(&b", "[..]);
        let name = quoted(&name.bytes(), b'`');
        out.push([b"CREATE ", unique, b"INDEX ", &name, b" ON ", table, b" (", &of, b");"].concat());
    }
    out
}

/// The rows of a table as INSERTs, without the columns that are computed.
fn rows_of(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    table: &[u8],
    columns: &Gathered,
    out: &mut Text,
) -> Outcome {
    let quote = if out.dialect == Dialect::MySql { b'`' } else { b'"' };
    let is_stored = |row: &&Vec<Held>| row.last().is_some_and(|hidden| hidden.integer() == 0);
    let stored: Vec<&Held> = columns.rows.iter().filter(is_stored).filter_map(|row| row.first()).collect();
    let names = |quote: u8| {
        let names: Vec<Vec<u8>> = stored.iter().map(|name| quoted(&name.bytes(), quote)).collect();
        names.join(&b","[..])
    };
    let head =
        [b"INSERT INTO ".to_vec(), quoted(table, quote), b"(".to_vec(), names(quote), b") VALUES".to_vec()];
    out.insert = Insert { head: head.concat(), ..Insert::default() };
    let text = [b"SELECT ".to_vec(), names(b'"'), b" FROM ".to_vec(), identifier(table)].concat();
    ctx.txn.next_command();
    let ran = text::run(ctx, key, &SqlText { text: &text, parameters: &[], access: Access::ReadOnly }, out);
    if !out.is_full {
        ran?;
    }
    out.end_insert();
    Ok(())
}

/// The INSERT that is being written.
#[derive(Default)]
struct Insert {
    head: Vec<u8>,
    rows: usize,
    begin: usize,
}

/// The text as far as it is written.
struct Text {
    bytes: Vec<u8>,
    room: usize,
    dialect: Dialect,
    insert: Insert,
    is_full: bool,
}

impl Text {
    fn line(&mut self, parts: &[&[u8]]) {
        if self.bytes.len() <= self.room {
            parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
            self.bytes.push(b'\n');
        }
        self.is_full |= self.bytes.len() > self.room;
    }

    fn end_insert(&mut self) {
        if std::mem::take(&mut self.insert.rows) > 0 {
            self.bytes.extend_from_slice(b";\n");
        }
    }

    fn value(&mut self, value: SqlValue<'_>) {
        let out = &mut self.bytes;
        let is_mysql = self.dialect == Dialect::MySql;
        match value {
            SqlValue::Null => out.extend_from_slice(b"NULL"),
            SqlValue::Integer(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            SqlValue::Real(value) if value.is_finite() => {
                out.extend_from_slice(format!("{value:?}").as_bytes())
            }
            // MySQL has no infinity.
            SqlValue::Real(_) if is_mysql => out.extend_from_slice(b"NULL"),
            SqlValue::Real(value) => out.extend_from_slice(if value > 0.0 { b"1e999" } else { b"-1e999" }),
            SqlValue::Text(bytes) if is_mysql && std::str::from_utf8(bytes).is_ok() => mysql_text(bytes, out),
            SqlValue::Text(bytes) if !is_mysql && is_plain(bytes) => {
                out.extend_from_slice(&quoted(bytes, b'\''))
            }
            SqlValue::Text(bytes) if !is_mysql => {
                out.extend_from_slice(b"CAST(");
                hexadecimal(bytes, out);
                out.extend_from_slice(b" AS TEXT)");
            }
            SqlValue::Text(bytes) | SqlValue::Blob(bytes) => hexadecimal(bytes, out),
        }
    }
}

/// Whether a literal of SQLite may have these bytes.
fn is_plain(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

fn hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(b"X'");
    for byte in bytes {
        out.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
    }
    out.push(b'\'');
}

fn mysql_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for byte in bytes {
        match byte {
            0 => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1a => out.extend_from_slice(b"\\Z"),
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
}

impl Rows for Text {
    fn columns(&mut self, _: &[&[u8]]) {}

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        let is_long = self.bytes.len() - self.insert.begin > INSERT_MAX_BYTES;
        if self.dialect == Dialect::Sqlite || is_long || self.insert.rows == ROWS_OF_AN_INSERT {
            self.end_insert();
        }
        if self.insert.rows == 0 {
            self.insert.begin = self.bytes.len();
            self.bytes.extend_from_slice(&self.insert.head);
        } else {
            self.bytes.push(b',');
        }
        self.insert.rows += 1;
        self.bytes.push(b'(');
        for (number, value) in values.iter().enumerate() {
            if number > 0 {
                self.bytes.push(b',');
            }
            self.value(*value);
        }
        self.bytes.push(b')');
        self.is_full = self.bytes.len() > self.room;
        if self.is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Gathers for Text {
    fn is_full(&self) -> bool {
        self.is_full
    }
}
