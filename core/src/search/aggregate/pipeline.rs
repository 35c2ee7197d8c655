//! Rows through the stages of a plan.
//!
//! The caller pushes one row after another, and each may come out at once ([`Pipeline::push`]). After the last one, [`Pipeline::finish`]
//! and then [`Pipeline::pull`] give the rows that GROUPBY and SORTBY held back; a cursor can stop between any two.

use super::group::Groups;
use super::plan::{Plan, Stage};
use super::row::{Ask, Row};
use super::sort::Sorted;
use crate::search::expression::Expression;
use crate::search::value::Message;

/// The rows that a stage gives back after the last one came.
type Rows = Box<dyn Iterator<Item = Row> + Send>;

enum Part {
    Apply {
        expression: Expression,
        columns: Vec<usize>,
        target: usize,
    },
    Filter {
        expression: Expression,
        columns: Vec<usize>,
    },
    Group(Groups),
    Sort(Sorted),
    Limit {
        skipped: u64,
        left: u64,
    },
    /// A stage that held rows and gives them back.
    Drained(Rows),
}

/// A plan at work.
pub struct Pipeline {
    parts: Vec<Part>,
    /// The stage whose rows come next, once the last row was pushed.
    draining: Option<usize>,
    /// Rows that came to the last stage that counts.
    total: u64,
    /// The last stage that holds rows.
    last_holder: Option<usize>,
}

impl Pipeline {
    /// A pipeline without rows. The seed is for RANDOM_SAMPLE.
    pub fn new(plan: &Plan, seed: u64) -> Pipeline {
        let part = |stage: &Stage| match stage {
            Stage::Apply { expression, columns, target } => {
                Part::Apply { expression: expression.clone(), columns: columns.clone(), target: *target }
            }
            Stage::Filter { expression, columns } => {
                Part::Filter { expression: expression.clone(), columns: columns.clone() }
            }
            Stage::Group { columns, reducers, width } => {
                Part::Group(Groups::new(columns, reducers, *width, seed))
            }
            Stage::Sort { keys, count } => Part::Sort(Sorted::new(keys, *count)),
            Stage::Limit { offset, count } => Part::Limit { skipped: *offset, left: *count },
        };
        let parts: Vec<Part> = plan.stages.iter().map(part).collect();
        let last_holder = parts.iter().rposition(|part| matches!(part, Part::Group(_) | Part::Sort(_)));
        Pipeline { parts, draining: None, total: 0, last_holder }
    }

    /// Takes a row, and gives the row that comes out at once, if one does. Fails with the text for the client.
    pub fn push(&mut self, row: Row, ask: Ask<'_>) -> Result<Option<Row>, Message> {
        self.flow(0, row, ask)
    }

    /// Whether more rows could change the answer: not once a LIMIT before GROUPBY and SORTBY has all it wants.
    pub fn wants_more(&self) -> bool {
        for part in &self.parts {
            match part {
                Part::Group(_) | Part::Sort(_) => return true,
                Part::Limit { left: 0, .. } => return false,
                _ => {}
            }
        }
        true
    }

    /// There are no more rows to push; [`Pipeline::pull`] gives those that were held back.
    pub fn finish(&mut self) {
        if self.draining.is_none() {
            self.drain_from(0);
        }
    }

    /// The next row that was held back. Fails with the text for the client.
    pub fn pull(&mut self, ask: Ask<'_>) -> Result<Option<Row>, Message> {
        while let Some(at) = self.draining {
            let next = match self.parts.get_mut(at) {
                Some(Part::Drained(rows)) => rows.next(),
                _ => return Ok(None),
            };
            match next {
                None => self.drain_from(at + 1),
                Some(row) => {
                    if let Some(row) = self.flow(at + 1, row, ask)? {
                        return Ok(Some(row));
                    }
                }
            }
        }
        Ok(None)
    }

    /// How many rows there are, before LIMIT and MAX: all that came so far to the last SORTBY, the groups of the last GROUPBY if it comes
    /// later, or else the rows that no FILTER dropped.
    pub fn total(&self) -> u64 {
        match self.last_holder.and_then(|at| self.parts.get(at)) {
            Some(Part::Group(groups)) => groups.len() as u64,
            Some(Part::Sort(sorted)) => sorted.seen(),
            _ => self.total,
        }
    }

    /// Makes the next stage from here that holds rows give them back.
    fn drain_from(&mut self, from: usize) {
        let holder =
            self.parts.iter().skip(from).position(|part| matches!(part, Part::Group(_) | Part::Sort(_)));
        self.draining = Some(holder.map_or(self.parts.len(), |at| from + at));
        if self.draining.is_some() && self.draining == self.last_holder {
            self.total = self.total();
        }
        if let Some(part) = self.draining.and_then(|at| self.parts.get_mut(at)) {
            let rows: Rows = match core::mem::replace(part, Part::Drained(Box::new(core::iter::empty()))) {
                Part::Group(groups) => Box::new(groups.into_rows()),
                Part::Sort(sorted) => Box::new(sorted.into_rows()),
                Part::Drained(rows) => rows,
                _ => return,
            };
            *part = Part::Drained(rows);
        }
    }

    /// Sends a row through the stages from one on. Some if it comes out.
    fn flow(&mut self, from: usize, mut row: Row, ask: Ask<'_>) -> Result<Option<Row>, Message> {
        // The first LIMIT ends what is counted.
        let mut is_counted = self.last_holder.is_none();
        for part in self.parts.iter_mut().skip(from) {
            match part {
                Part::Apply { expression, columns, target } => {
                    let value = expression.evaluate(&|at| row.value(*columns.get(at)?))?;
                    row.set(*target, value);
                }
                Part::Filter { expression, columns } => {
                    if !expression.evaluate(&|at| row.value(*columns.get(at)?))?.is_true() {
                        return Ok(None);
                    }
                }
                Part::Group(groups) => return groups.add(&row, ask).map(|()| None),
                Part::Sort(sorted) => return sorted.add(row, ask).map(|()| None),
                Part::Limit { skipped, left } => {
                    self.total += u64::from(is_counted);
                    is_counted = false;
                    if *skipped > 0 {
                        *skipped -= 1;
                        return Ok(None);
                    }
                    if *left == 0 {
                        return Ok(None);
                    }
                    *left -= 1;
                }
                Part::Drained(_) => {}
            }
        }
        self.total += u64::from(is_counted);
        Ok(Some(row))
    }
}
