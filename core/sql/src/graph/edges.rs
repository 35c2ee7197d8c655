//! Reads the edges of nodes.

use edgecask_core::sql::SqlValue;

use super::options::{Direction, Options};
use super::plan::{COST, Choice, Form, IS_END, IS_SHOWN, NODE, Plan, SOURCE, TYPE, Wanted, key, prepare};
use super::values::{Affinity, converted};
use super::{Result, Unable};
use crate::graph_ffi::{Handle, Query};
use crate::limits::{GRAPH_EDGES_OF_A_TICK, GRAPH_TYPES_MAX};
use crate::shared::Shared;
use crate::table::scan::Kept;

/// What a call from SQLite has at hand: the connection, and what its callbacks share.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub shared: &'a Shared,
    pub handle: Handle<'a>,
}

/// An edge as a node sees it that is looked from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge<'a> {
    /// The node at the other end, which is not NULL.
    pub node: SqlValue<'a>,
    pub kind: SqlValue<'a>,
    /// As the table has it.
    pub cost: SqlValue<'a>,
    /// Whether it ends at the node.
    pub is_incoming: bool,
    /// Whether the node at the other end is shown.
    pub is_shown: bool,
    /// Whether nothing beyond that node is looked at.
    pub is_end: bool,
}

/// A statement, and what it is kept under.
struct Reader {
    form: Form,
    key: Vec<u8>,
    plan: Option<Plan>,
    /// It was used since it was taken, so the schema is that with which it was prepared.
    is_current: bool,
}

/// The edges of a graph.
pub(super) struct Edges {
    wanted: Wanted,
    types: Vec<Kept>,
    choice: Choice,
    out: Option<Reader>,
    incoming: Option<Reader>,
    /// Work since the host was asked last.
    work: usize,
}

impl Edges {
    /// For [`of`](Self::of), in this direction.
    ///
    /// # Errors
    /// See [`prepare`].
    pub fn open(around: Surroundings<'_>, options: &Options, direction: Direction) -> Result<Edges> {
        let has_out = direction != Direction::In;
        let has_incoming = direction != Direction::Out;
        let mut edges = Edges::without(around, options)?;
        edges.out = has_out.then(|| edges.reader(around, Form::Out)).transpose()?;
        edges.incoming = has_incoming.then(|| edges.reader(around, Form::In)).transpose()?;
        Ok(edges)
    }

    /// For [`all`](Self::all).
    ///
    /// # Errors
    /// See [`prepare`].
    pub fn open_all(around: Surroundings<'_>, options: &Options) -> Result<Edges> {
        let mut edges = Edges::without(around, options)?;
        edges.out = Some(edges.reader(around, Form::All)?);
        Ok(edges)
    }

    fn without(around: Surroundings<'_>, options: &Options) -> Result<Edges> {
        let wanted = options.wanted.clone();
        let types = types_of(around, wanted.types.as_deref())?;
        let choice = match (&wanted.types, types.as_slice()) {
            (None, _) => Choice::All,
            (_, [_]) => Choice::One,
            _ => Choice::Several,
        };
        Ok(Edges { wanted, types, choice, out: None, incoming: None, work: 0 })
    }

    fn reader(&self, around: Surroundings<'_>, form: Form) -> Result<Reader> {
        let key = key(&self.wanted, form, self.choice);
        let cached = around.shared.graphs.borrow_mut().take(&key);
        let is_current = cached.is_none();
        let plan = match cached {
            Some(plan) => {
                plan.query.take_scanned_rows();
                plan
            }
            None => prepare(around.handle, &self.wanted, form, self.choice)?,
        };
        Ok(Reader { form, key, plan: Some(plan), is_current })
    }

    /// Gives the statements back to those that are kept.
    pub fn close(&mut self, shared: &Shared) {
        let mut graphs = shared.graphs.borrow_mut();
        for reader in self.out.take().into_iter().chain(self.incoming.take()) {
            if let Some(mut plan) = reader.plan {
                plan.query.reset();
                graphs.put(reader.key, plan);
            }
        }
    }

    /// Rows that SQLite has read in vain, for want of an index, since the last call or the beginning.
    pub fn take_scanned_rows(&self) -> u64 {
        let readers = self.out.iter().chain(&self.incoming);
        readers.flat_map(|reader| &reader.plan).map(|plan| plan.query.take_scanned_rows()).sum()
    }

    /// A node that a user named, as the table has it.
    pub fn named(&self, node: &Kept) -> Kept {
        let plan = self.out.as_ref().or(self.incoming.as_ref()).and_then(|reader| reader.plan.as_ref());
        converted(plan.map_or(Affinity::None, |plan| plan.affinity), node.clone())
    }

    /// Counts work, and asks the host from time to time whether it may go on.
    ///
    /// # Errors
    /// It may not.
    pub fn work(&mut self, shared: &Shared, amount: usize) -> Result<()> {
        self.work += amount;
        while self.work >= GRAPH_EDGES_OF_A_TICK {
            self.work -= GRAPH_EDGES_OF_A_TICK;
            if !shared.may_go_on() {
                return Err(Unable::Stopped);
            }
        }
        Ok(())
    }

    /// Gives all edges of a node, those that begin at it before those that end at it.
    ///
    /// # Errors
    /// SQLite's, those of `give`, and that the statement was stopped.
    pub fn of(
        &mut self,
        around: Surroundings<'_>,
        node: SqlValue<'_>,
        mut give: impl FnMut(Edge<'_>) -> Result<()>,
    ) -> Result<()> {
        let (judges_shown, judges_end) = (self.wanted.include.is_some(), self.wanted.prune.is_some());
        self.work(around.shared, 4)?;
        for form in [Form::Out, Form::In] {
            self.run(around, form, node, |query, form| {
                let node = query.value(NODE);
                let edge = Edge {
                    node,
                    kind: query.value(TYPE),
                    cost: query.value(COST),
                    is_incoming: form == Form::In,
                    is_shown: !judges_shown || query.is_true(IS_SHOWN),
                    is_end: judges_end && query.is_true(IS_END),
                };
                if node == SqlValue::Null { Ok(()) } else { give(edge) }
            })?;
        }
        Ok(())
    }

    /// Gives the source and the target of each edge.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn all(
        &mut self,
        around: Surroundings<'_>,
        mut give: impl FnMut(SqlValue<'_>, SqlValue<'_>) -> Result<()>,
    ) -> Result<()> {
        self.run(around, Form::All, SqlValue::Null, |query, _| {
            match (query.value(SOURCE), query.value(NODE)) {
                (SqlValue::Null, _) | (_, SqlValue::Null) => Ok(()),
                (source, target) => give(source, target),
            }
        })
    }

    /// Runs a statement to its end.
    fn run(
        &mut self,
        around: Surroundings<'_>,
        form: Form,
        node: SqlValue<'_>,
        mut give: impl FnMut(&Query, Form) -> Result<()>,
    ) -> Result<()> {
        let slot = if form == Form::In { &mut self.incoming } else { &mut self.out };
        let Some(mut reader) = slot.take().filter(|reader| reader.form == form) else { return Ok(()) };
        let outcome = self.run_by(around, &mut reader, node, &mut give);
        if let Some(plan) = &mut reader.plan {
            plan.query.reset();
        }
        let slot = if form == Form::In { &mut self.incoming } else { &mut self.out };
        *slot = Some(reader);
        outcome
    }

    fn run_by(
        &mut self,
        around: Surroundings<'_>,
        reader: &mut Reader,
        node: SqlValue<'_>,
        give: &mut impl FnMut(&Query, Form) -> Result<()>,
    ) -> Result<()> {
        let mut has_row = self.first_step(around, reader, node)?;
        let form = reader.form;
        let Some(plan) = &mut reader.plan else { return Ok(()) };
        while has_row {
            self.work(around.shared, 1)?;
            if self.choice != Choice::Several || is_among(&self.types, plan.query.value(TYPE)) {
                give(&plan.query, form)?;
            }
            has_row = plan.query.step(around.handle)?;
        }
        Ok(())
    }

    /// Begins a statement. One that was kept is prepared anew if the schema has changed since: columns may have come or gone.
    fn first_step(&self, around: Surroundings<'_>, reader: &mut Reader, node: SqlValue<'_>) -> Result<bool> {
        let Some(plan) = &mut reader.plan else { return Ok(false) };
        let begun = self.begin(around, plan, reader.form, node);
        if reader.is_current {
            return begun;
        }
        let was_changed = begun.is_err() || plan.query.times_prepared() != plan.times_prepared;
        reader.is_current = true;
        if !was_changed || around.shared.is_stopped() {
            return begun;
        }
        reader.plan = None;
        let mut plan = prepare(around.handle, &self.wanted, reader.form, self.choice)?;
        let begun = self.begin(around, &mut plan, reader.form, node);
        reader.plan = Some(plan);
        begun
    }

    fn begin(
        &self,
        around: Surroundings<'_>,
        plan: &mut Plan,
        form: Form,
        node: SqlValue<'_>,
    ) -> Result<bool> {
        let query = &mut plan.query;
        query.reset();
        if form != Form::All {
            query.bind(1, node)?;
        }
        if let (Choice::One, [kind]) = (self.choice, self.types.as_slice()) {
            query.bind(2, kind.value())?;
        }
        query.step(around.handle)
    }
}

fn is_among(types: &[Kept], kind: SqlValue<'_>) -> bool {
    types.iter().any(|one| one.value() == kind)
}

/// The types that a text names: one, or those of an array of JSON.
fn types_of(around: Surroundings<'_>, text: Option<&[u8]>) -> Result<Vec<Kept>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    if !text.trim_ascii_start().starts_with(b"[") {
        return Ok(vec![Kept::Text(text.to_vec())]);
    }
    let mut types = Vec::new();
    let mut query = Query::prepare(around.handle, c"SELECT value FROM json_each(?1)")?;
    query.bind(1, SqlValue::Text(text))?;
    while query.step(around.handle)? {
        if types.len() >= GRAPH_TYPES_MAX {
            return Err(Unable::text(format!("there are more than {GRAPH_TYPES_MAX} types")));
        }
        types.push(Kept::of(query.value(0)));
    }
    Ok(types)
}

/// What an edge costs: 1 if it has no weight.
///
/// # Errors
/// It is no number.
pub(super) fn cost_of(edge: &Edge<'_>) -> Result<f64> {
    match edge.cost {
        SqlValue::Null => Ok(1.0),
        SqlValue::Integer(cost) => Ok(cost as f64),
        SqlValue::Real(cost) => Ok(cost),
        SqlValue::Text(_) | SqlValue::Blob(_) => Err(Unable::text("the cost of an edge is no number")),
    }
}
