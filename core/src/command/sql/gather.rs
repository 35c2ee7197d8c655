//! Results that are held until their statement has ended, for what cannot be done while it runs.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::lend::Gathers;
use super::text;
use crate::command::{CommandError, Context};
use crate::limits::SQL_GATHERED_MAX_BYTES;
use crate::number::format_f64;
use crate::sql::{Access, Parameter, Rows, SqlText, SqlValue};

/// A value of a result.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) enum Held {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Held {
    fn of(value: &SqlValue<'_>) -> Held {
        match *value {
            SqlValue::Null => Held::Null,
            SqlValue::Integer(value) => Held::Integer(value),
            SqlValue::Real(value) => Held::Real(value),
            SqlValue::Text(bytes) => Held::Text(bytes.to_vec()),
            SqlValue::Blob(bytes) => Held::Blob(bytes.to_vec()),
        }
    }

    pub fn is_null(&self) -> bool {
        *self == Held::Null
    }

    /// As a reply under RESP2 and an argument of a command have it; NULL is empty.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Held::Null => Cow::Borrowed(b""),
            Held::Integer(value) => Cow::Owned(value.to_string().into_bytes()),
            Held::Real(value) => Cow::Owned(format_f64(*value).as_bytes().to_vec()),
            Held::Text(bytes) | Held::Blob(bytes) => Cow::Borrowed(bytes),
        }
    }

    /// As a value of SQL.
    pub fn value(&self) -> SqlValue<'_> {
        match self {
            Held::Null => SqlValue::Null,
            Held::Integer(value) => SqlValue::Integer(*value),
            Held::Real(value) => SqlValue::Real(*value),
            Held::Text(bytes) => SqlValue::Text(bytes),
            Held::Blob(bytes) => SqlValue::Blob(bytes),
        }
    }

    /// The integer that it is, or 0.
    pub fn integer(&self) -> i64 {
        if let Held::Integer(value) = self { *value } else { 0 }
    }
}

/// Bytes that a value takes beside its own.
const VALUE_BYTES: usize = size_of::<Held>();

/// A whole result.
#[derive(Debug, Default)]
pub(in crate::command) struct Gathered {
    pub names: Vec<Vec<u8>>,
    pub rows: Vec<Vec<Held>>,
    bytes: usize,
    is_full: bool,
}

impl Gathered {
    /// The first value of the first row.
    pub fn first(&self) -> Option<&Held> {
        self.rows.first()?.first()
    }
}

impl Rows for Gathered {
    fn columns(&mut self, names: &[&[u8]]) {
        self.rows.clear();
        self.bytes = 0;
        self.names = names.iter().map(|name| name.to_vec()).collect();
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        let row: Vec<Held> = values.iter().map(Held::of).collect();
        let held = |value: &SqlValue<'_>| match value {
            SqlValue::Text(bytes) | SqlValue::Blob(bytes) => VALUE_BYTES + bytes.len(),
            _ => VALUE_BYTES,
        };
        self.bytes += values.iter().map(held).sum::<usize>();
        self.rows.push(row);
        self.is_full = self.bytes > SQL_GATHERED_MAX_BYTES;
        if self.is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Gathers for Gathered {
    fn is_full(&self) -> bool {
        self.is_full
    }
}

/// Runs a text that only reads and holds its result.
pub(in crate::command) fn gather(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    parameters: &[Parameter<'_>],
) -> Result<Gathered, CommandError> {
    gather_as(ctx, key, text, parameters, Access::ReadOnly)
}

/// The same with another access.
pub(super) fn gather_as(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    parameters: &[Parameter<'_>],
    access: Access,
) -> Result<Gathered, CommandError> {
    let mut gathered = Gathered::default();
    be_of_one_moment(ctx);
    text::run(ctx, key, &SqlText { text, parameters, access }, &mut gathered)?;
    Ok(gathered)
}

/// Has several texts of one command see the same: nobody passes between them. To be called before each.
///
/// A connection takes it that something may have changed unless the command before this one was its last, so that each text counts as a
/// command.
pub(super) fn be_of_one_moment(ctx: &mut Context<'_, '_>) {
    ctx.may_let_pass = false;
    ctx.txn.next_command();
}

/// Where rows go that nobody wants.
pub(super) struct NoRows;

impl Rows for NoRows {
    fn columns(&mut self, _: &[&[u8]]) {}

    fn row(&mut self, _: &[SqlValue<'_>]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Gathers for NoRows {}

/// Runs a text without a result; the number of changed rows.
pub(in crate::command) fn change(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    parameters: &[Parameter<'_>],
) -> Result<u64, CommandError> {
    be_of_one_moment(ctx);
    let text = SqlText { text, parameters, access: Access::Any };
    Ok(text::run(ctx, key, &text, &mut NoRows)?.changed_rows)
}
