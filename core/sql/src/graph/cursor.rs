//! The rows of a table over a graph.

use std::hash::{DefaultHasher, Hash, Hasher};

use edgecask_core::sql::SqlValue;
use smallvec::SmallVec;

use super::edges::{Edges, Surroundings};
use super::memory::Memory;
use super::options::Options;
use super::path::Path;
use super::walk::Walk;
use super::whole::Whole;
use super::{Kind, Result, Table};
use crate::shared::Shared;
use crate::table::scan::Kept;

/// What is read.
#[derive(Default)]
enum Rows {
    #[default]
    None,
    Neighbors(Neighbors),
    Walk(Box<Walk>),
    Path(Box<Path>),
    Whole(Box<Whole>),
}

/// A cursor of one table. It is used again for the next rows.
#[derive(Default)]
pub(crate) struct Cursor {
    given: SmallVec<[Kept; 12]>,
    rows: Rows,
    count: i64,
}

impl Cursor {
    /// Begins with these arguments, and goes to the first row.
    ///
    /// # Errors
    /// The arguments are wrong, or the edges cannot be read.
    pub fn begin(
        &mut self,
        around: Surroundings<'_>,
        table: &Table,
        given: SmallVec<[Kept; 12]>,
    ) -> Result<()> {
        self.end(around.shared);
        self.given = given;
        self.count = 0;
        let options = Options::read(table, &self.given)?;
        self.rows = match table.kind {
            Kind::Neighbors => Rows::Neighbors(Neighbors::of(around, &options)?),
            Kind::Walk => Rows::Walk(Box::new(Walk::begin(around, options)?)),
            Kind::Path => Rows::Path(Box::new(Path::find(around, &options)?)),
            kind => Rows::Whole(Box::new(Whole::of(around, kind, &options)?)),
        };
        Ok(())
    }

    /// Gives the statements back to the connection, and the memory.
    pub fn end(&mut self, shared: &Shared) {
        if let Rows::Walk(walk) = &mut self.rows {
            walk.close(shared);
        }
        self.rows = Rows::None;
    }

    /// Goes on to the next row.
    ///
    /// # Errors
    /// The edges cannot be read.
    pub fn advance(&mut self, around: Surroundings<'_>) -> Result<()> {
        self.count += 1;
        match &mut self.rows {
            Rows::None => {}
            Rows::Neighbors(neighbors) => neighbors.at += 1,
            Rows::Walk(walk) => return walk.advance(around),
            Rows::Path(path) => path.advance(),
            Rows::Whole(whole) => whole.advance(),
        }
        Ok(())
    }

    /// Whether there is no row any more.
    pub fn is_at_end(&self) -> bool {
        match &self.rows {
            Rows::None => true,
            Rows::Neighbors(neighbors) => neighbors.at >= neighbors.found.len(),
            Rows::Walk(walk) => walk.is_at_end(),
            Rows::Path(path) => path.is_at_end(),
            Rows::Whole(whole) => whole.is_at_end(),
        }
    }

    /// A number by which SQLite knows a row that it meets twice, for the sides of an OR: with the same arguments it is the same row.
    pub fn rowid(&self) -> i64 {
        let mut hasher = DefaultHasher::new();
        for given in &self.given {
            match given.value() {
                SqlValue::Null => hasher.write_u8(0),
                SqlValue::Integer(number) => hasher.write_i64(number),
                SqlValue::Real(number) => hasher.write_u64(number.to_bits()),
                SqlValue::Text(bytes) | SqlValue::Blob(bytes) => bytes.hash(&mut hasher),
            }
        }
        hasher.finish().cast_signed().wrapping_add(self.count)
    }

    /// Gives a column of the row.
    ///
    /// # Errors
    /// A path is longer than a value may be.
    pub fn column(
        &self,
        shared: &Shared,
        table: &Table,
        column: usize,
        give: impl FnOnce(SqlValue<'_>),
    ) -> Result<()> {
        if let Some(at) = column.checked_sub(table.shown) {
            give(self.given.get(at).map_or(SqlValue::Null, Kept::value));
            return Ok(());
        }
        match &self.rows {
            Rows::None => {}
            Rows::Neighbors(neighbors) => neighbors.column(column, give),
            Rows::Walk(walk) => return walk.column(shared, column, give),
            Rows::Path(path) => path.column(column, give),
            Rows::Whole(whole) => whole.column(column, give),
        }
        Ok(())
    }
}

/// The edges of a node, which are few or within the bound of memory.
struct Neighbors {
    /// Counted for as long as the rows are there.
    _memory: Memory,
    found: Vec<Neighbor>,
    at: usize,
}

struct Neighbor {
    node: Kept,
    kind: Kept,
    weight: Kept,
    is_incoming: bool,
}

impl Neighbors {
    fn of(around: Surroundings<'_>, options: &Options) -> Result<Neighbors> {
        let mut edges = Edges::open(around, options, options.direction)?;
        let (mut memory, mut found) = (Memory::default(), Vec::new());
        let read = edges.of(around, options.start.value(), |edge| {
            for value in [edge.node, edge.kind, edge.cost] {
                if let SqlValue::Text(bytes) | SqlValue::Blob(bytes) = value {
                    memory.take(bytes.len())?;
                }
            }
            let neighbor = Neighbor {
                node: Kept::of(edge.node),
                kind: Kept::of(edge.kind),
                weight: Kept::of(edge.cost),
                is_incoming: edge.is_incoming,
            };
            memory.push(&mut found, neighbor)
        });
        edges.close(around.shared);
        read?;
        Ok(Neighbors { _memory: memory, found, at: 0 })
    }

    fn column(&self, column: usize, give: impl FnOnce(SqlValue<'_>)) {
        let Some(neighbor) = self.found.get(self.at) else { return };
        give(match column {
            0 => neighbor.node.value(),
            1 => neighbor.kind.value(),
            2 => neighbor.weight.value(),
            _ => SqlValue::Text(if neighbor.is_incoming { b"in" } else { b"out" }),
        });
    }
}
