//! The result of a statement as a reply: an array of the names of the columns, then an array for each row.

use std::ops::ControlFlow;

use super::lend::Gathers;
use crate::resp::{Protocol, Reply};
use crate::sql::{Rows, SqlValue};

/// Where rows are gathered until it is known how many there are.
pub(super) struct ReplyRows {
    names: Reply,
    rows: Reply,
    count: usize,
    /// As many as there may be.
    most: Option<usize>,
    is_full: bool,
}

impl ReplyRows {
    /// For a reply of this kind and with these bounds, with so many rows at most.
    pub fn beside(reply: &Reply, most: Option<usize>) -> ReplyRows {
        ReplyRows { names: reply.beside(), rows: reply.beside(), count: 0, most, is_full: false }
    }

    /// Writes the names of the columns.
    pub fn write_names(&self, reply: &mut Reply) {
        reply.append(&self.names);
    }

    /// Writes the rows as an array.
    pub fn write_rows(&self, reply: &mut Reply) {
        reply.array(self.count);
        reply.append(&self.rows);
    }

    /// Writes the whole result.
    pub fn write(&self, reply: &mut Reply) {
        reply.array(self.count + 1);
        reply.append(&self.names);
        reply.append(&self.rows);
    }
}

impl Rows for ReplyRows {
    fn columns(&mut self, names: &[&[u8]]) {
        self.names.clear();
        self.rows.clear();
        self.count = 0;
        self.names.array(names.len());
        names.iter().for_each(|name| self.names.bulk(name));
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        self.rows.array(values.len());
        values.iter().for_each(|value| put(*value, &mut self.rows));
        self.count += 1;
        self.is_full = self.rows.is_cut();
        if self.is_full || self.too_many().is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Gathers for ReplyRows {
    fn is_full(&self) -> bool {
        self.is_full
    }

    fn too_many(&self) -> Option<usize> {
        self.most.filter(|most| self.count > *most)
    }
}

/// RESP3 has types for numbers; under RESP2 every value is a string, as with HGETALL, and NULL is none.
pub(in crate::command) fn put(value: SqlValue<'_>, reply: &mut Reply) {
    let is_typed = reply.protocol() == Protocol::Resp3;
    match value {
        SqlValue::Null => reply.null(),
        SqlValue::Integer(value) if is_typed => reply.integer(value),
        SqlValue::Integer(value) => reply.bulk(itoa::Buffer::new().format(value).as_bytes()),
        SqlValue::Real(value) if is_typed => reply.double(value),
        SqlValue::Real(value) => reply.bulk(crate::number::format_f64(value).as_bytes()),
        SqlValue::Text(bytes) | SqlValue::Blob(bytes) => reply.bulk(bytes),
    }
}
