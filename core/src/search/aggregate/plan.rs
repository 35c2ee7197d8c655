//! Names become columns, for one schema.
//!
//! A row is a list of values by column. Its first layout has the inputs, which the caller loads, and what APPLY makes; each GROUPBY begins
//! a new one. As in RediSearch, expressions see what was loaded and SORTABLE fields, while SORTBY, GROUPBY and reducers load any field of
//! the schema themselves, as long as there was no GROUPBY before.

use super::reducer::Reducer;
use super::{Arrangement, ReducerCall, Request, SORTED_DEFAULT, Step};
use crate::search::expression::{Expression, MATCHED_TERMS};
use crate::search::value::{Message, message};

/// What is known of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldFacts {
    /// Whether it is SORTABLE.
    pub is_sortable: bool,
}

/// What a plan needs to know of the index and the query.
pub struct Facts<'a> {
    /// Whether documents are JSON: `LOAD *` then loads the whole document as `$`, and makes no property known.
    pub is_json: bool,
    /// Fields by name.
    pub field: &'a dyn Fn(&[u8]) -> Option<FieldFacts>,
    /// Names of distances that the query yields (`__vector_score`): every row has them.
    pub distances: &'a [&'a [u8]],
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// The field of this name in the schema or, if there is none, the hash's field or the JSON path of this text. `__key` is the key.
    Property,
    /// A distance of the query.
    Distance,
    /// The score.
    Score,
    /// The terms of the query that the document has, a list of texts.
    MatchedTerms,
}

/// A value that the caller puts into a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// What it is.
    pub kind: InputKind,
    /// The path that was written, or the name of the distance.
    pub path: Vec<u8>,
    /// Where it goes in a row.
    pub column: usize,
}

/// Steps over columns.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) inputs: Vec<Input>,
    pub(super) width: usize,
    pub(super) stages: Vec<Stage>,
    pub(super) output: Vec<(Vec<u8>, usize)>,
    pub(super) loads_all: bool,
    pub(super) is_count_only: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Stage {
    Apply { expression: Expression, columns: Vec<usize>, target: usize },
    Filter { expression: Expression, columns: Vec<usize> },
    Group { columns: Vec<usize>, reducers: Vec<Reducer>, width: usize },
    Sort { keys: Vec<(usize, bool)>, count: u64 },
    Limit { offset: u64, count: u64 },
}

/// A name that steps see.
struct Named {
    name: Vec<u8>,
    column: usize,
    is_shown: bool,
}

struct Builder<'a> {
    facts: &'a Facts<'a>,
    named: Vec<Named>,
    inputs: Vec<Input>,
    /// Whether there was no GROUPBY: inputs can be added.
    is_first_layout: bool,
    loads_all: bool,
    /// Columns of the layout.
    width: usize,
    /// Columns of the first layout, once there is another.
    first_width: usize,
    /// Stages whose layout grows until the next GROUPBY.
    group: Option<usize>,
    stages: Vec<Stage>,
}

impl Plan {
    /// Resolves a request. Fails with the text for the client if a property is not known, and if a reducer's words are wrong.
    pub fn build(request: &Request, facts: &Facts<'_>) -> Result<Plan, Message> {
        let mut builder = Builder {
            facts,
            named: Vec::new(),
            inputs: Vec::new(),
            is_first_layout: true,
            loads_all: false,
            width: 0,
            first_width: 0,
            group: None,
            stages: Vec::new(),
        };
        for distance in facts.distances {
            builder.input(InputKind::Distance, distance, distance, true);
        }
        if request.adds_scores {
            builder.input(InputKind::Score, b"__score", b"__score", true);
        }
        let mut is_count_only = false;
        for step in &request.steps {
            is_count_only |= matches!(step, Step::Arrange(arrangement) if arrangement.is_count_only);
            builder.step(step)?;
        }
        builder.end_layout();
        let shown = builder.named.into_iter().filter(|named| named.is_shown);
        Ok(Plan {
            inputs: builder.inputs,
            width: builder.first_width,
            stages: builder.stages,
            output: shown.map(|named| (named.name, named.column)).collect(),
            loads_all: builder.loads_all,
            is_count_only,
        })
    }

    /// What the caller loads for every row.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Whether rows also carry the hash's fields that are no inputs ([`super::Row::others`]).
    pub fn loads_all(&self) -> bool {
        self.loads_all
    }

    /// Columns of the rows that the pipeline takes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Names of what rows show at the end, and their columns. A row shows those that it has.
    pub fn output(&self) -> &[(Vec<u8>, usize)] {
        &self.output
    }

    /// Whether only [`super::Pipeline::total`] is asked for (LIMIT 0 0): the caller drops the rows that come out.
    pub fn is_count_only(&self) -> bool {
        self.is_count_only
    }

    /// Whether rows come as they are found: there is neither GROUPBY nor SORTBY.
    pub fn is_streaming(&self) -> bool {
        !self.stages.iter().any(|stage| matches!(stage, Stage::Group { .. } | Stage::Sort { .. }))
    }
}

impl Builder<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Message> {
        match step {
            Step::Load(loaded) => {
                self.may_load()?;
                for (path, name) in loaded {
                    if self.find(name).is_none() {
                        self.input(InputKind::Property, path, name, true);
                    }
                }
            }
            Step::LoadAll => {
                self.may_load()?;
                match self.facts.is_json {
                    true if self.find(b"$").is_none() => self.input(InputKind::Property, b"$", b"$", true),
                    true => 0,
                    false => {
                        self.loads_all = true;
                        0
                    }
                };
            }
            Step::Apply(expression, name) => {
                let columns = self.columns(expression)?;
                self.named.retain(|named| named.name != *name);
                let target = self.name(name, true);
                self.stages.push(Stage::Apply { expression: expression.clone(), columns, target });
            }
            Step::Filter(expression) => {
                let columns = self.columns(expression)?;
                self.stages.push(Stage::Filter { expression: expression.clone(), columns });
            }
            Step::Arrange(arrangement) => self.arrange(arrangement)?,
            Step::Group { properties, reducers } => self.group(properties, reducers)?,
        }
        Ok(())
    }

    fn may_load(&self) -> Result<(), Message> {
        match self.is_first_layout {
            true => Ok(()),
            false => Err("LOAD cannot be applied after projectors or reducers".into()),
        }
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        self.named.iter().find(|named| named.name == name).map(|named| named.column)
    }

    /// A new column with a name.
    fn name(&mut self, name: &[u8], is_shown: bool) -> usize {
        let column = self.width;
        self.width += 1;
        self.named.push(Named { name: name.to_vec(), column, is_shown });
        column
    }

    fn input(&mut self, kind: InputKind, path: &[u8], name: &[u8], is_shown: bool) -> usize {
        let column = self.name(name, is_shown);
        self.inputs.push(Input { kind, path: path.to_vec(), column });
        column
    }

    /// The column of a property that an expression names.
    fn columns(&mut self, expression: &Expression) -> Result<Vec<usize>, Message> {
        expression
            .names()
            .iter()
            .map(|name| {
                let is_sortable = (self.facts.field)(name).is_some_and(|field| field.is_sortable);
                match self.find(name) {
                    Some(column) => Ok(column),
                    None if name == MATCHED_TERMS && self.is_first_layout => {
                        Ok(self.input(InputKind::MatchedTerms, name, name, false))
                    }
                    // After a GROUPBY no row has them.
                    None if name == MATCHED_TERMS => Ok(self.name(name, false)),
                    None if self.is_first_layout && (is_sortable || self.loads_all) => {
                        Ok(self.input(InputKind::Property, name, name, true))
                    }
                    None => Err(message(&[b"Property `", name, b"` not loaded nor in pipeline"])),
                }
            })
            .collect()
    }

    /// The column of a property that is loaded if need be.
    fn loaded(&mut self, name: &[u8], is_shown: bool) -> Option<usize> {
        let is_known = self.loads_all || (self.facts.field)(name).is_some();
        match self.find(name) {
            Some(column) => Some(column),
            None if self.is_first_layout && is_known => {
                Some(self.input(InputKind::Property, name, name, is_shown))
            }
            None => None,
        }
    }

    fn arrange(&mut self, arrangement: &Arrangement) -> Result<(), Message> {
        let Arrangement { keys, offset, count, is_count_only } = arrangement;
        if *is_count_only {
            // Rows are counted by what came before.
            return Ok(());
        }
        let is_limited = *count > 0;
        if let Some(keys) = keys {
            let mut columns = Vec::new();
            for (name, descends) in keys {
                let Some(column) = self.loaded(name, true) else {
                    return Err(message(&[b"Property `", name, b"` not loaded nor in schema"]));
                };
                columns.push((column, *descends));
            }
            let kept = if is_limited { offset.saturating_add(*count) } else { SORTED_DEFAULT };
            self.stages.push(Stage::Sort { keys: columns, count: kept });
        }
        if *offset > 0 || (is_limited && keys.is_none()) {
            self.stages
                .push(Stage::Limit { offset: *offset, count: if is_limited { *count } else { u64::MAX } });
        }
        Ok(())
    }

    fn group(&mut self, properties: &[Vec<u8>], calls: &[ReducerCall]) -> Result<(), Message> {
        let mut columns = Vec::new();
        for name in properties {
            columns
                .push(self.loaded(name, false).ok_or_else(|| message(&[b"No such property `", name, b"`"]))?);
        }
        let mut reducers = Vec::new();
        for call in calls {
            reducers
                .push(Reducer::of(&call.function, &call.arguments, &mut |name| self.loaded(name, false))?);
        }
        self.end_layout();
        self.named.clear();
        self.width = 0;
        for name in properties.iter().chain(calls.iter().map(|call| &call.name)) {
            if self.find(name).is_some() {
                return Err(message(&[b"Property `", name, b"` specified more than once"]));
            }
            self.name(name, true);
        }
        self.is_first_layout = false;
        self.loads_all = false;
        self.group = Some(self.stages.len());
        self.stages.push(Stage::Group { columns, reducers, width: self.width });
        Ok(())
    }

    /// The layout is complete: what makes its rows learns how many columns they have.
    fn end_layout(&mut self) {
        let width = self.width;
        match self.group.and_then(|at| self.stages.get_mut(at)) {
            Some(Stage::Group { width: of_rows, .. }) => *of_rows = width,
            _ => self.first_width = width,
        }
    }
}
