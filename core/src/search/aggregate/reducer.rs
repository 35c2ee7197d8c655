//! Reducers: what they are given, what they hold for a group, and their result.

use std::collections::BinaryHeap;

use super::SAMPLES_MAX;
use super::distinct::{Distinctish, HASH_BYTES, Hashes, SKETCH_BYTES, Sketch, hash};
use super::row::{Ask, Row};
use super::words::Words;
use crate::search::value::{Message, Value, digits, message, number_of_bits, order_bits};

/// A reducer with its columns.
#[derive(Clone, Debug)]
pub(super) struct Reducer {
    kind: Kind,
    /// The property; unused by COUNT.
    column: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Count,
    CountDistinct,
    CountDistinctish,
    Sum,
    Average,
    Minimum,
    Maximum,
    Deviation,
    Quantile(f64),
    ToList,
    /// The column to order by and whether it descends.
    FirstValue(Option<(usize, bool)>),
    RandomSample(usize),
    Sketch,
    SketchSum,
}

const KINDS: [(&str, Kind); 14] = [
    ("COUNT", Kind::Count),
    ("COUNT_DISTINCT", Kind::CountDistinct),
    ("COUNT_DISTINCTISH", Kind::CountDistinctish),
    ("SUM", Kind::Sum),
    ("AVG", Kind::Average),
    ("MIN", Kind::Minimum),
    ("MAX", Kind::Maximum),
    ("STDDEV", Kind::Deviation),
    ("QUANTILE", Kind::Quantile(0.0)),
    ("TOLIST", Kind::ToList),
    ("FIRST_VALUE", Kind::FirstValue(None)),
    ("RANDOM_SAMPLE", Kind::RandomSample(0)),
    ("HLL", Kind::Sketch),
    ("HLL_SUM", Kind::SketchSum),
];

/// Finds the column of a property, which is loaded if need be.
type Find<'a> = &'a mut dyn FnMut(&[u8]) -> Option<usize>;

impl Reducer {
    /// A reducer of the words that it was given.
    pub(super) fn of(function: &[u8], arguments: &[Vec<u8>], find: Find<'_>) -> Result<Reducer, Message> {
        let words: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let mut words = Words::new(&words);
        let found = KINDS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(function));
        let Some(&(_, mut kind)) = found else { return Err(message(&[b"No such reducer: ", function])) };
        if kind == Kind::Count {
            return match words.is_empty() {
                true => Ok(Reducer { kind, column: 0 }),
                false => Err("Count accepts 0 values only".into()),
            };
        }
        let column = property(&mut words, function, find)?;
        match &mut kind {
            Kind::Quantile(share) => {
                let word = words.next().ok_or_else(|| super::words::WordError::Absent.text(function))?;
                *share = crate::number::parse_f64(word)
                    .ok_or_else(|| super::words::WordError::Unparsed.text(function))?;
                if !(0.0..=1.0).contains(share) {
                    return Err("Percentage must be between 0.0 and 1.0".into());
                }
                if !words.is_empty() {
                    // The answer is exact, so that the resolution changes nothing.
                    let resolution = words.number(0).map_err(|why| why.text(b"<resolution>"))?;
                    if !(1..=SAMPLES_MAX).contains(&resolution) {
                        return Err("Invalid resolution".into());
                    }
                }
            }
            Kind::FirstValue(by) if words.take("BY") => {
                let column = property(&mut words, function, find)?;
                *by = Some((column, !words.take("ASC") && words.take("DESC")));
            }
            Kind::RandomSample(size) => {
                let asked = words.number(0).map_err(|why| why.text(b"<sample size>"))?;
                if asked > SAMPLES_MAX {
                    return Err("Sample size too large".into());
                }
                *size = asked as usize;
            }
            _ => {}
        }
        let at = digits(words.position() as u64);
        match words.next() {
            None => Ok(Reducer { kind, column }),
            Some(word) => {
                Err(message(&[b"Unknown argument `", word, b"` at position ", &at, b" for ", function]))
            }
        }
    }

    /// What it holds for a new group. The seed is for sets.
    pub(super) fn state(&self, seed: u64) -> State {
        match self.kind {
            Kind::Count => State::Count(0),
            Kind::CountDistinct => State::Distinct(Hashes::new(seed)),
            Kind::CountDistinctish => State::Distinctish(Distinctish::Few(Hashes::new(seed))),
            Kind::Sum | Kind::Average => State::Sum { total: 0.0, count: 0 },
            Kind::Minimum | Kind::Maximum => State::Extreme(None),
            Kind::Deviation => State::Deviation { count: 0.0, mean: 0.0, squares: 0.0 },
            Kind::Quantile(_) => State::Numbers(Vec::new()),
            Kind::ToList => State::List { seen: Hashes::new(seed), items: Vec::new() },
            Kind::FirstValue(_) => State::First(None),
            Kind::RandomSample(_) => State::Sample { seen: 0, items: Vec::new() },
            Kind::Sketch | Kind::SketchSum => State::Sketch(None),
        }
    }

    /// Takes a row in. `ask` is called before more memory is held.
    pub(super) fn add(
        &self,
        state: &mut State,
        row: &Row,
        random: &mut fastrand::Rng,
        ask: Ask<'_>,
    ) -> Result<(), Message> {
        let value = row.value(self.column);
        match state {
            State::Count(count) => *count += 1,
            State::First(best) => return self.add_first(best, value, row, ask),
            State::Sample { seen, items } => {
                let (Some(value), Kind::RandomSample(size)) = (value, self.kind) else { return Ok(()) };
                *seen += 1;
                if items.len() < size {
                    ask((size_of::<Value>() + value.size_bytes()) as u64)?;
                    items.push(value.clone());
                } else if let Some(item) =
                    usize::try_from(random.u64(..*seen)).ok().and_then(|at| items.get_mut(at))
                {
                    ask(value.size_bytes() as u64)?;
                    *item = value.clone();
                }
            }
            _ => match value {
                None | Some(Value::Null) if !matches!(state, State::List { .. }) => {}
                None => {}
                // Sums and extremes skip lists, and sets take them as one value.
                Some(Value::List(items))
                    if matches!(self.kind, Kind::Deviation | Kind::Quantile(_) | Kind::ToList) =>
                {
                    for item in items.iter() {
                        self.add_value(state, item, ask)?;
                    }
                }
                Some(value) => self.add_value(state, value, ask)?,
            },
        }
        Ok(())
    }

    fn add_value(&self, state: &mut State, value: &Value, ask: Ask<'_>) -> Result<(), Message> {
        match state {
            State::Distinct(hashes) => {
                if hashes.insert(hash(value)) {
                    ask(HASH_BYTES)?;
                }
            }
            State::Distinctish(values) => ask(values.add(hash(value)))?,
            State::Sketch(sketch) => {
                if sketch.is_none() {
                    ask(SKETCH_BYTES)?;
                }
                let sketch = sketch.get_or_insert_with(Sketch::new);
                if self.kind == Kind::SketchSum { sketch.merge(value) } else { sketch.add(hash(value)) }
            }
            State::List { seen, items } => {
                if seen.insert(hash(value)) {
                    ask(HASH_BYTES + (size_of::<Value>() + value.size_bytes()) as u64)?;
                    items.push(value.clone());
                }
            }
            _ => {
                if let Some(number) = value.to_number() {
                    self.add_number(state, number, ask)?;
                }
            }
        }
        Ok(())
    }

    fn add_number(&self, state: &mut State, number: f64, ask: Ask<'_>) -> Result<(), Message> {
        match state {
            State::Sum { total, count } => {
                *total += number;
                *count += 1;
            }
            State::Extreme(extreme) => {
                let is_better =
                    |held: f64| if self.kind == Kind::Minimum { number < held } else { number > held };
                if extreme.is_none_or(is_better) {
                    *extreme = Some(number);
                }
            }
            // Welford's method.
            State::Deviation { count, mean, squares } => {
                *count += 1.0;
                let before = number - *mean;
                *mean += before / *count;
                *squares += before * (number - *mean);
            }
            State::Numbers(numbers) => {
                ask(size_of::<f64>() as u64)?;
                numbers.push(number);
            }
            _ => {}
        }
        Ok(())
    }

    /// The first row's value, or that of the row that comes first in the order; a row without a value to order by comes last.
    fn add_first(
        &self,
        best: &mut Option<(Value, Value)>,
        value: Option<&Value>,
        row: &Row,
        ask: Ask<'_>,
    ) -> Result<(), Message> {
        let order = match self.kind {
            Kind::FirstValue(Some((column, _))) => row.value(column).cloned().unwrap_or_default(),
            _ => Value::Null,
        };
        let descends = matches!(self.kind, Kind::FirstValue(Some((_, true))));
        let is_better = match best {
            None => true,
            Some((_, Value::Null)) => order != Value::Null,
            Some(_) if order == Value::Null => false,
            Some((_, held)) if descends => order.compare_leniently(held).is_gt(),
            Some((_, held)) => order.compare_leniently(held).is_lt(),
        };
        if is_better {
            let value = value.cloned().unwrap_or_default();
            // Counted as if what was held before stayed, and only once if they are of one size.
            let size = |pair: &(Value, Value)| (pair.0.size_bytes() + pair.1.size_bytes()) as u64;
            let pair = (value, order);
            ask(size(&pair).saturating_sub(best.as_ref().map_or(0, size)))?;
            *best = Some(pair);
        }
        Ok(())
    }

    /// The result of a group.
    pub(super) fn result(&self, state: State) -> Value {
        match state {
            State::Count(count) => Value::Number(count as f64),
            State::Distinct(hashes) => Value::Number(hashes.len() as f64),
            State::Distinctish(values) => Value::Number(values.count()),
            State::Sum { count: 0, .. } => Value::Number(f64::NAN),
            State::Sum { total, count } if self.kind == Kind::Average => Value::Number(total / count as f64),
            State::Sum { total, .. } => Value::Number(total),
            State::Extreme(extreme) => Value::Number(extreme.unwrap_or(0.0)),
            State::Deviation { count, squares, .. } if count > 1.0 => {
                Value::Number((squares / (count - 1.0)).sqrt())
            }
            State::Deviation { .. } => Value::Number(0.0),
            State::Numbers(numbers) => Value::Number(self.quantile(numbers)),
            State::List { items, .. } | State::Sample { items, .. } => Value::list(items),
            State::First(best) => best.map(|(value, _)| value).unwrap_or_default(),
            State::Sketch(sketch) => {
                let sketch = sketch.unwrap_or_else(Sketch::new);
                if self.kind == Kind::Sketch { sketch.to_value() } else { Value::Number(sketch.count()) }
            }
        }
    }

    /// The number at the share of the way through the sorted ones.
    fn quantile(&self, numbers: Vec<f64>) -> f64 {
        let Kind::Quantile(share) = self.kind else { return f64::NAN };
        let rank = (share * numbers.len() as f64).ceil() as usize;
        // Bits that order as numbers do, in a heap: less code than a sort.
        let ordered: Vec<u64> = numbers.into_iter().map(order_bits).collect();
        let sorted = BinaryHeap::from(ordered).into_sorted_vec();
        sorted.get(rank.saturating_sub(1)).copied().map_or(f64::NAN, number_of_bits)
    }
}

fn property(words: &mut Words<'_>, function: &[u8], find: Find<'_>) -> Result<usize, Message> {
    let Some(word) = words.next() else { return Err(message(&[b"Missing arguments for ", function])) };
    let name = word.strip_prefix(b"@").unwrap_or(word);
    find(name).ok_or_else(|| message(&[b"Property `", name, b"` not present in document or pipeline"]))
}

/// What a reducer holds for a group.
pub(super) enum State {
    Count(u64),
    Distinct(Hashes),
    Distinctish(Distinctish),
    Sum {
        total: f64,
        count: u64,
    },
    Extreme(Option<f64>),
    Deviation {
        count: f64,
        mean: f64,
        squares: f64,
    },
    Numbers(Vec<f64>),
    List {
        seen: Hashes,
        items: Vec<Value>,
    },
    /// The value and what it is ordered by.
    First(Option<(Value, Value)>),
    Sample {
        seen: u64,
        items: Vec<Value>,
    },
    Sketch(Option<Sketch>),
}
