//! What of a WHERE and an ORDER BY the commands do that read a table.

use std::ffi::c_int;

use smallvec::SmallVec;

use super::{Column, Kind, Table};

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    /// `>` or `>=`
    Above,
    /// `<` or `<=`
    Below,
    Other,
}

/// A condition that SQLite offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub column: c_int,
    pub comparison: Comparison,
    /// Whether its other side is known when the table is read, in the order of the join that is looked at.
    pub is_usable: bool,
    /// Whether texts are compared byte by byte.
    pub is_binary: bool,
}

/// What SQLite wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    pub conditions: &'a [Condition],
    /// Columns of ORDER BY, and whether they descend.
    pub order: &'a [(c_int, bool)],
    /// A bit for each column that is used.
    pub columns: u64,
}

/// How a table is read. The values that it needs are given in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The argument of the table.
    pub has_argument: bool,
    /// Its second argument.
    pub has_second: bool,
    /// One row, found by its [`Column::Lookup`].
    pub is_lookup: bool,
    /// Only rows of one type.
    pub is_filtered: bool,
    /// The first and the last value of a range.
    pub has_low: bool,
    pub has_high: bool,
    /// One value is both.
    pub is_point: bool,
    /// The range is one of [`Column::OtherOrder`].
    pub is_other: bool,
    /// The range is one of [`Column::Identifier`].
    pub is_identifier: bool,
    /// From the last row to the first.
    pub descends: bool,
    /// A column is used that costs a command of its own, or more of one.
    pub is_detailed: bool,
}

impl Plan {
    fn bits(&mut self) -> [&mut bool; 11] {
        [
            &mut self.has_argument,
            &mut self.has_second,
            &mut self.is_lookup,
            &mut self.is_filtered,
            &mut self.has_low,
            &mut self.has_high,
            &mut self.is_point,
            &mut self.is_other,
            &mut self.is_identifier,
            &mut self.descends,
            &mut self.is_detailed,
        ]
    }

    /// As the number that SQLite keeps of it.
    pub fn number(mut self) -> c_int {
        self.bits().into_iter().enumerate().fold(0, |number, (at, bit)| number | (c_int::from(*bit) << at))
    }

    pub fn from_number(number: c_int) -> Plan {
        let mut plan = Plan::default();
        for (at, bit) in plan.bits().into_iter().enumerate() {
            *bit = number >> at & 1 != 0;
        }
        plan
    }
}

/// A plan with its cost.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub plan: Plan,
    /// The places of the conditions whose values the plan needs. The first is not checked again if it is the argument.
    pub values: SmallVec<[usize; 4]>,
    /// One for each step of SQLite's machine, roughly.
    pub cost: f64,
    pub rows: i64,
    pub is_unique: bool,
    pub is_ordered: bool,
}

/// Rows of a key of which nothing is known, and of a range of it with one end and with two.
const ROWS: i64 = 1_000;
const ROWS_OF_HALF: i64 = 300;
const ROWS_OF_RANGE: i64 = 50;

/// Keys that match a pattern.
const KEYS: i64 = 100_000;

/// What a command costs beside its rows, in rows.
const COST_OF_COMMAND: f64 = 15.0;

/// More than any other plan.
const COST_WITHOUT_ARGUMENT: f64 = 1e15;

/// Chooses how a table is read. None if an argument is there that is not known in this order of the join.
pub(crate) fn choose(table: &Table, wish: &Wish<'_>) -> Option<Choice> {
    let column = |condition: &Condition| {
        usize::try_from(condition.column).ok().and_then(|at| table.columns.get(at)).copied()
    };
    let find = |wanted: Column, comparison: Comparison| {
        wish.conditions.iter().position(|condition| {
            let is_text = matches!(wanted, Column::Lookup | Column::Identifier | Column::Filter);
            condition.is_usable
                && condition.comparison == comparison
                && column(condition) == Some(wanted)
                && (condition.is_binary || !is_text)
        })
    };
    let mut plan = Plan::default();
    let mut values = SmallVec::new();
    match find(Column::Argument, Comparison::Equal) {
        Some(at) => {
            plan.has_argument = true;
            values.push(at);
        }
        None => {
            let is_one = |condition: &Condition| {
                condition.comparison == Comparison::Equal && column(condition) == Some(Column::Argument)
            };
            if wish.conditions.iter().any(is_one) {
                return None;
            }
        }
    }
    if let Some(at) = find(Column::SecondArgument, Comparison::Equal) {
        plan.has_second = true;
        values.push(at);
    } else if wish.conditions.iter().any(|condition| {
        condition.comparison == Comparison::Equal && column(condition) == Some(Column::SecondArgument)
    }) {
        return None;
    }
    let lookup = find(Column::Lookup, Comparison::Equal).or(find(Column::Identifier, Comparison::Equal));
    let rows = if let Some(at) = lookup {
        plan.is_lookup = true;
        values.push(at);
        1
    } else {
        if let Some(at) = find(Column::Filter, Comparison::Equal) {
            plan.is_filtered = true;
            values.push(at);
        }
        choose_range(&mut plan, &mut values, find)
    };
    let rows = match (table.kind, plan.is_lookup, plan.is_filtered) {
        (Kind::Keys, false, false) => KEYS,
        (Kind::Keys, false, true) => KEYS / 5,
        (Kind::Json, ..) => 1,
        (Kind::JsonEach, ..) => ROWS_OF_RANGE,
        _ => rows,
    };
    let is_ordered = plan.is_lookup || choose_order(table, wish.order, &mut plan);
    plan.is_detailed = table.columns.iter().enumerate().any(|(at, column)| {
        let is_detail = matches!(column, Column::OtherOrder | Column::Filter | Column::Shown);
        is_detail && wish.columns >> at & 1 != 0
    });
    let is_without = table.needs_argument && !plan.has_argument;
    let cost = if is_without { COST_WITHOUT_ARGUMENT } else { COST_OF_COMMAND + rows as f64 };
    Some(Choice { plan, values, cost, rows, is_unique: plan.is_lookup, is_ordered })
}

/// Adds a range, if there is one; how many rows are left.
fn choose_range(
    plan: &mut Plan,
    values: &mut SmallVec<[usize; 4]>,
    find: impl Fn(Column, Comparison) -> Option<usize>,
) -> i64 {
    for by in [Column::Order, Column::OtherOrder, Column::Identifier] {
        let point = find(by, Comparison::Equal);
        let (low, high) = (find(by, Comparison::Above), find(by, Comparison::Below));
        if point.or(low).or(high).is_none() {
            continue;
        }
        plan.is_other = by == Column::OtherOrder;
        plan.is_identifier = by == Column::Identifier;
        plan.is_point = point.is_some();
        plan.has_low = point.or(low).is_some();
        plan.has_high = point.or(high).is_some();
        match point {
            Some(at) => values.push(at),
            None => values.extend(low.into_iter().chain(high)),
        }
        return match (point, plan.has_low && plan.has_high) {
            (Some(_), _) => 2,
            (None, true) => ROWS_OF_RANGE,
            (None, false) => ROWS_OF_HALF,
        };
    }
    ROWS
}

/// Whether the rows come in this order; from the last to the first if that is wanted.
fn choose_order(table: &Table, order: &[(c_int, bool)], plan: &mut Plan) -> bool {
    let column = |at: c_int| usize::try_from(at).ok().and_then(|at| table.columns.get(at)).copied();
    let descends = match order {
        [(first, descends)] => {
            let is_order = matches!(column(*first), Some(Column::Order | Column::OtherOrder));
            is_order.then_some(*descends)
        }
        [(first, descends), (second, same)] => {
            let are_orders =
                column(*first) == Some(Column::Order) && column(*second) == Some(Column::ThenOrder);
            (are_orders && descends == same).then_some(*descends)
        }
        _ => None,
    };
    plan.descends = descends.unwrap_or_default();
    descends.is_some()
}

#[cfg(test)]
mod tests {
    use super::Plan;

    #[test]
    fn a_plan_changes_on_its_way_through_sqlite() {
        for number in 0..1 << 11 {
            assert_eq!(Plan::from_number(number).number(), number);
        }
    }
}
