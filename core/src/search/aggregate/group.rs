//! GROUPBY: groups by the values of some columns. They come out in the order in which their first rows came.

use std::collections::BTreeMap;

use super::reducer::{Reducer, State};
use super::row::{Ask, Row};
use crate::search::value::{Message, Value};

/// Most groups that one row falls into: a row falls into one for every element of a list, and for every pair of elements of two lists.
const GROUPS_OF_ROW_MAX: usize = 64 * 1024;

/// What a group takes beside its values: nodes of the map, lengths, states.
const GROUP_BYTES: usize = 128;

struct Group {
    values: Vec<Value>,
    states: Vec<State>,
}

/// The groups so far.
pub(super) struct Groups {
    columns: Vec<usize>,
    reducers: Vec<Reducer>,
    width: usize,
    random: fastrand::Rng,
    by_values: BTreeMap<Box<[u8]>, usize>,
    groups: Vec<Group>,
}

impl Groups {
    pub(super) fn new(columns: &[usize], reducers: &[Reducer], width: usize, seed: u64) -> Groups {
        Groups {
            columns: columns.to_vec(),
            reducers: reducers.to_vec(),
            width,
            random: fastrand::Rng::with_seed(seed),
            by_values: BTreeMap::new(),
            groups: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn add(&mut self, row: &Row, ask: Ask<'_>) -> Result<(), Message> {
        let null = Value::Null;
        let choices: Vec<&[Value]> = self
            .columns
            .iter()
            .map(|column| match row.value(*column) {
                Some(Value::List(items)) if !items.is_empty() => &items[..],
                None | Some(Value::List(_)) => core::slice::from_ref(&null),
                Some(value) => core::slice::from_ref(value),
            })
            .collect();
        let combinations =
            choices.iter().try_fold(1_usize, |product, choice| product.checked_mul(choice.len()));
        if combinations.is_none_or(|product| product > GROUPS_OF_ROW_MAX) {
            return Err("A document falls into too many groups".into());
        }
        let mut picks = vec![0_usize; choices.len()];
        loop {
            let values: Vec<&Value> =
                choices.iter().zip(&picks).filter_map(|(choice, pick)| choice.get(*pick)).collect();
            let at = self.find(&values, ask)?;
            if let Some(group) = self.groups.get_mut(at) {
                for (reducer, state) in self.reducers.iter().zip(&mut group.states) {
                    reducer.add(state, row, &mut self.random, ask)?;
                }
            }
            // The next combination: the picks count like digits.
            let next = picks.iter_mut().zip(&choices).find_map(|(pick, choice)| {
                *pick = (*pick + 1) % choice.len();
                (*pick != 0).then_some(())
            });
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// The number of the group of these values, which is made if there is none.
    fn find(&mut self, values: &[&Value], ask: Ask<'_>) -> Result<usize, Message> {
        let mut identity = Vec::new();
        values.iter().for_each(|value| value.write_identity(&mut identity));
        if let Some(at) = self.by_values.get(identity.as_slice()) {
            return Ok(*at);
        }
        let held: usize = values.iter().map(|value| size_of::<Value>() + value.size_bytes()).sum();
        let states = size_of::<State>() * self.reducers.len();
        ask((GROUP_BYTES + identity.len() + held + states) as u64)?;
        let at = self.groups.len();
        let seed = self.random.u64(..);
        self.groups.push(Group {
            values: values.iter().map(|value| (*value).clone()).collect(),
            states: self.reducers.iter().map(|reducer| reducer.state(seed)).collect(),
        });
        self.by_values.insert(identity.into_boxed_slice(), at);
        Ok(at)
    }

    /// The rows of all groups, once there are no more rows to add.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        let Groups { reducers, width, groups, .. } = self;
        groups.into_iter().map(move |group| {
            let results = reducers.iter().zip(group.states).map(|(reducer, state)| reducer.result(state));
            let mut values: Vec<Option<Value>> = group.values.into_iter().chain(results).map(Some).collect();
            values.resize(width, None);
            Row { values, others: Vec::new() }
        })
    }
}
