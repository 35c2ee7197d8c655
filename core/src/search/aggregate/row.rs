//! A row, and what is asked before more of them are held.

use crate::search::value::{Message, Value};

/// Is called with the number of bytes before so many more are held; what it fails with ends the request.
pub type Ask<'a> = &'a mut dyn FnMut(u64) -> Result<(), Message>;

/// A row.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Row {
    /// Values by column. None where the row has no value, which is not shown; Null is shown.
    pub values: Vec<Option<Value>>,
    /// With `LOAD *` of hashes: the fields that are no inputs, which rows show, too.
    pub others: Vec<(Vec<u8>, Value)>,
}

impl Row {
    /// The value of a column.
    pub fn value(&self, column: usize) -> Option<&Value> {
        self.values.get(column)?.as_ref()
    }

    /// Sets the value of a column, which is there after that.
    pub fn set(&mut self, column: usize, value: Value) {
        if self.values.len() <= column {
            self.values.resize(column + 1, None);
        }
        if let Some(place) = self.values.get_mut(column) {
            *place = Some(value);
        }
    }

    /// Roughly the memory that it takes.
    pub fn size_bytes(&self) -> usize {
        let values: usize = self.values.iter().flatten().map(Value::size_bytes).sum();
        let others: usize =
            self.others.iter().map(|(name, value)| name.len() + 48 + value.size_bytes()).sum();
        size_of::<Row>() + self.values.len() * size_of::<Option<Value>>() + values + others
    }
}
