//! Collections as entries that are counted by levels above them, so that rank, selection by rank and ranges cost O(log n)
//! reads and a write touches one count a level.
//!
//! ```text
//! level 2        run ""        ..............................  run "k"     ...      at most 512 runs, counted by the root
//! level 1        run ""    run "c"    run "f"        ....      run "k"  run "m"     each: entries below, elements below
//! level 0        a b       c d e      f g h j                  k l      m n         the subkeys with their values
//! ```
//!
//! A *run* stands for consecutive entries of the level below, from its own name up to the next run's; the first run of a
//! level has the empty name, so every subkey has exactly one run at every level. It is found by a reverse scan for one pair, at all
//! levels in one round. What is stored of a run is how many entries of the level below it has and how many elements they
//! stand for. Every write changes the root as well, so two transactions that change a collection never both commit.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::known::Known;
use super::names::{ENTRIES, Home, Names};
use crate::engine::{Direction, EngineError, Result, Start, SubVisitor, SubWalk};
use crate::packed::varint::{read_varint, write_varint};

/// A run is cut into pieces when it has more entries.
const RUN_MAX: u64 = 128;

/// Entries of a piece.
const PIECE: u64 = 64;

/// A run that has shrunk below this is joined with the one before it.
const RUN_MIN: u64 = 16;

/// A level without another one above it has at most so many runs: they are read together.
const TOP_MAX: u64 = 512;

/// So many changes are looked up one by one; more are found by reading the runs between the first and the last.
pub(super) const FEW: usize = 16;

/// No collection is that high: four levels count 10^10 elements.
const HEIGHT_MAX: u8 = 12;

/// What the root knows of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// Where its entries lie.
    pub(super) home: Home,
    /// How many elements it has.
    pub(super) len: u64,
    /// How many entries its highest level has.
    pub(super) top_len: u64,
    /// Its highest level; 0 if there are entries only.
    pub(super) height: u8,
}

/// What is stored of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    /// Elements below.
    elements: u64,
    /// Entries of the level below.
    entries: u64,
}

/// A changed subkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) subkey: Vec<u8>,
    /// What it becomes; None if it goes.
    pub(super) value: Option<Vec<u8>>,
    /// Whether it was there.
    pub(super) in_base: bool,
}

/// Keys of the cluster with what they become.
pub(super) type Out = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// What became of the entries of one level: None for those that went.
type Pending = BTreeMap<Vec<u8>, Option<Run>>;

/// By how much the run above an entry changes.
#[derive(Clone, Debug)]
struct Delta {
    key: Vec<u8>,
    elements: i64,
    entries: i64,
}

/// A run and what becomes of it.
struct Changing {
    before: Run,
    after: Run,
    /// The changed entries below it.
    below: Pending,
}

impl Run {
    fn read(bytes: &[u8]) -> Result<Run> {
        let mut rest = bytes;
        let run = read_varint(&mut rest).zip(read_varint(&mut rest));
        let (elements, entries) = run.ok_or_else(|| damaged("a count cannot be read"))?;
        Ok(Run { elements, entries })
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        write_varint(self.elements, &mut out);
        write_varint(self.entries, &mut out);
        out
    }
}

fn damaged(what: &str) -> EngineError {
    EngineError::Damaged(format!("a collection in the cluster is damaged: {what}"))
}

impl Tree {
    /// An empty collection.
    pub(super) fn new(home: Home) -> Tree {
        Tree { home, len: 0, top_len: 0, height: 0 }
    }
}

/// A collection as a transaction reads it.
pub(super) struct Walker<'k> {
    pub(super) names: &'k Names,
    pub(super) known: &'k mut Known,
    pub(super) tree: Tree,
}

impl Walker<'_> {
    fn name(&self, level: u8, subkey: &[u8]) -> Vec<u8> {
        self.names.entry(self.tree.home, level, subkey)
    }

    /// The end of a level.
    fn end(&self, level: u8) -> Vec<u8> {
        self.names.entry(self.tree.home, level + 1, b"")
    }

    /// The name right behind that of an entry.
    fn behind(&self, level: u8, subkey: &[u8]) -> Vec<u8> {
        let mut name = self.name(level, subkey);
        name.push(0);
        name
    }

    /// The value of a subkey, if it is there.
    pub(super) fn get(&mut self, subkey: &[u8]) -> Result<Option<&[u8]>> {
        let name = self.name(ENTRIES, subkey);
        let stored = self.known.get(&name)?;
        Ok(stored.map(|stored| stored.get(1..).unwrap_or_default()))
    }

    /// Says that a subkey will be read.
    pub(super) fn want(&mut self, subkey: &[u8]) {
        let name = self.name(ENTRIES, subkey);
        self.known.want_get(&name);
    }

    /// Says that the number of elements will change at a subkey.
    pub(super) fn want_runs(&mut self, subkey: &[u8]) {
        for level in 1..=self.tree.height {
            let (from, to) = (self.name(level, b""), self.behind(level, subkey));
            self.known.want_scan((&from, &to), Direction::Descending, 1);
        }
    }

    /// The run of a level that a subkey belongs to.
    fn find(&mut self, level: u8, subkey: &[u8]) -> Result<(Vec<u8>, Run)> {
        let (from, to) = (self.name(level, b""), self.behind(level, subkey));
        self.last_in((&from, &to))?.ok_or_else(|| damaged("no run has a subkey"))
    }

    /// The last run of a range of names.
    fn last_in(&mut self, range: (&[u8], &[u8])) -> Result<Option<(Vec<u8>, Run)>> {
        let mut found = None;
        let prefix = self.names.entry_prefix_len();
        self.known.scan(range, Direction::Descending, 1, &mut |name, value| {
            found = Some((name.get(prefix..).unwrap_or_default().to_vec(), Run::read(value)));
            ControlFlow::Break(())
        })?;
        found.map(|(key, run)| Ok((key, run?))).transpose()
    }

    /// Shows the runs of a level within names, `expect` of them as far as is known.
    fn runs(
        &mut self,
        level: u8,
        (from, to): (&[u8], &[u8]),
        expect: u64,
        visit: &mut dyn FnMut(&[u8], Run) -> ControlFlow<()>,
    ) -> Result<()> {
        let prefix = self.names.entry_prefix_len();
        let mut outcome = Ok(());
        self.known.scan((from, to), Direction::Ascending, expect, &mut |name, value| {
            let run = if level == ENTRIES { Ok(Run { elements: 1, entries: 1 }) } else { Run::read(value) };
            match run {
                Ok(run) => visit(name.get(prefix..).unwrap_or_default(), run),
                Err(error) => {
                    outcome = Err(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        outcome
    }

    /// How many elements are smaller than a subkey, which need not be there. Two rounds.
    pub(super) fn rank(&mut self, subkey: &[u8]) -> Result<u64> {
        let height = self.tree.height;
        // The names of the runs, from level 1 up.
        let mut above = Vec::new();
        let mut found = Ok(());
        for level in 1..=height {
            match self.find(level, subkey) {
                Ok((key, _)) => above.push(key),
                Err(error) => found = Err(error),
            }
        }
        found?;
        let (mut rank, mut outcome) = (0, Ok(()));
        for level in (0..=height).rev() {
            let from = above.get(usize::from(level)).map_or(&[][..], Vec::as_slice);
            let from = self.name(level, from);
            let expect = if level == height { self.tree.top_len } else { RUN_MAX };
            // Of runs all but the last lie before the subkey.
            let to = if level == ENTRIES { self.name(level, subkey) } else { self.behind(level, subkey) };
            let mut last = 0;
            let read = self.runs(level, (&from, &to), expect, &mut |_, run| {
                rank += last;
                last = run.elements;
                ControlFlow::Continue(())
            });
            if level == ENTRIES {
                rank += last;
            }
            // What is missing on other levels is wanted as well.
            outcome = outcome.and(read);
        }
        outcome.map(|()| rank)
    }

    /// The run of entries in which the element with this rank is, and how many of its elements come before. A round a level.
    fn select(&mut self, rank: u64) -> Result<(Vec<u8>, u64)> {
        let (mut from, mut left) = (Vec::new(), rank);
        for level in (1..=self.tree.height).rev() {
            let (begin, end) = (self.name(level, &from), self.end(level));
            let expect = if level == self.tree.height { self.tree.top_len } else { RUN_MAX };
            let mut found = None;
            self.runs(level, (&begin, &end), expect, &mut |key, run| {
                if left < run.elements {
                    found = Some(key.to_vec());
                    return ControlFlow::Break(());
                }
                left -= run.elements;
                ControlFlow::Continue(())
            })?;
            from = found.ok_or_else(|| damaged("its counts do not add up"))?;
        }
        Ok((from, left))
    }

    /// Walks the elements; see [`crate::engine::Reader::sub_scan`].
    pub(super) fn scan(&mut self, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        let (first, end) = (self.name(ENTRIES, b""), self.end(ENTRIES));
        let (from, to, mut skipped) = match (walk.start, walk.direction) {
            (Start::End, _) | (Start::Rank(0), Direction::Ascending) => (first, end, 0),
            (Start::Subkey(subkey), Direction::Ascending) => (self.name(ENTRIES, subkey), end, 0),
            (Start::Subkey(subkey), Direction::Descending) => (first, self.behind(ENTRIES, subkey), 0),
            (Start::Rank(rank), _) if rank >= self.tree.len => return Ok(()),
            (Start::Rank(rank), Direction::Ascending) => {
                let (from, skipped) = self.select(rank)?;
                (self.name(ENTRIES, &from), end, skipped)
            }
            (Start::Rank(rank), Direction::Descending) => {
                let at = self.element_at(rank)?;
                (first, self.behind(ENTRIES, &at), 0)
            }
        };
        let (prefix, expect) = (self.names.entry_prefix_len(), walk.expect.saturating_add(skipped));
        self.known.scan((&from, &to), walk.direction, expect, &mut |name, stored| {
            if skipped > 0 {
                skipped -= 1;
                return ControlFlow::Continue(());
            }
            visit(name.get(prefix..).unwrap_or_default(), stored.get(1..).unwrap_or_default())
        })
    }

    /// The subkey with a rank that is there.
    fn element_at(&mut self, rank: u64) -> Result<Vec<u8>> {
        let (from, mut skipped) = self.select(rank)?;
        let (begin, end) = (self.name(ENTRIES, &from), self.end(ENTRIES));
        let mut found = None;
        self.runs(ENTRIES, (&begin, &end), skipped + 1, &mut |key, _| {
            if skipped > 0 {
                skipped -= 1;
                return ControlFlow::Continue(());
            }
            found = Some(key.to_vec());
            ControlFlow::Break(())
        })?;
        found.ok_or_else(|| damaged("it has fewer elements than its counts say"))
    }

    /// Adds to `out` what a collection of changed subkeys becomes; `edits` are in the order of their subkeys, each once. Returns the
    /// collection after them.
    ///
    /// # Errors
    /// Counts are not here, or damaged.
    pub(super) fn apply(mut self, edits: &[Edit], out: &mut Out) -> Result<Tree> {
        let mut pending = Pending::new();
        let mut deltas = Vec::new();
        for Edit { subkey, value, in_base } in edits {
            let stored = value.as_ref().map(|value| [&[0], value.as_slice()].concat());
            let change = i64::from(value.is_some()) - i64::from(*in_base);
            if change != 0 {
                pending.insert(subkey.clone(), value.as_ref().map(|_| Run { elements: 1, entries: 1 }));
                deltas.push(Delta { key: subkey.clone(), elements: change, entries: change });
            }
            out.push((self.name(ENTRIES, subkey), stored));
        }
        if deltas.len() <= FEW {
            deltas.iter().for_each(|delta| self.want_runs(&delta.key));
            if self.known.has_wants() {
                return Err(EngineError::NotHere);
            }
        }
        let added: i64 = deltas.iter().map(|delta| delta.elements).sum();
        for level in 1..=self.tree.height {
            let changing = self.changing(level, deltas, pending)?;
            (deltas, pending) = self.change_level(level, changing, out)?;
        }
        let added_to_top: i64 = deltas.iter().map(|delta| delta.entries).sum();
        let Tree { home, len, top_len, height } = self.tree;
        let mut grown = Tree {
            home,
            len: len.saturating_add_signed(added),
            top_len: top_len.saturating_add_signed(added_to_top),
            height,
        };
        while grown.top_len > if grown.height == 0 { RUN_MAX } else { TOP_MAX } && grown.height < HEIGHT_MAX {
            // Nothing of a level that was just made is committed.
            let committed = if grown.height == height { top_len } else { 0 };
            let below = self.children(grown.height, b"", committed, &pending)?;
            grown.height += 1;
            let runs = cut(b"", &below);
            grown.top_len = runs.len() as u64;
            pending = runs.into_iter().map(|(key, run)| (key, Some(run))).collect();
            self.put_runs(grown.height, &pending, out);
        }
        Ok(grown)
    }

    /// The runs of a level above changed entries.
    fn changing(
        &mut self,
        level: u8,
        deltas: Vec<Delta>,
        mut pending: Pending,
    ) -> Result<BTreeMap<Vec<u8>, Changing>> {
        let between = if deltas.len() > FEW { Some(self.runs_between(level, &deltas)?) } else { None };
        let mut changing: BTreeMap<Vec<u8>, Changing> = BTreeMap::new();
        for Delta { key, elements, entries } in deltas {
            let (name, before) = match &between {
                Some(runs) => {
                    let at = runs.partition_point(|(name, _)| *name <= key);
                    let run = at.checked_sub(1).and_then(|at| runs.get(at));
                    run.cloned().ok_or_else(|| damaged("no run has a subkey"))?
                }
                None => self.find(level, &key)?,
            };
            let run = changing.entry(name).or_insert_with(|| Changing {
                before,
                after: before,
                below: Pending::new(),
            });
            run.after.elements = run.after.elements.saturating_add_signed(elements);
            run.after.entries = run.after.entries.saturating_add_signed(entries);
            if let Some(entry) = pending.remove(&key) {
                run.below.insert(key, entry);
            }
        }
        Ok(changing)
    }

    /// The runs of a level that changes in this order may touch.
    fn runs_between(&mut self, level: u8, deltas: &[Delta]) -> Result<Vec<(Vec<u8>, Run)>> {
        let (Some(first), Some(last)) = (deltas.first(), deltas.last()) else { return Ok(Vec::new()) };
        let (first, run) = self.find(level, &first.key)?;
        let (from, to) = (self.behind(level, &first), self.behind(level, &last.key));
        let mut runs = vec![(first, run)];
        self.runs(level, (&from, &to), deltas.len() as u64, &mut |key, run| {
            runs.push((key.to_vec(), run));
            ControlFlow::Continue(())
        })?;
        Ok(runs)
    }

    /// Changes the runs of a level; returns what that changes above.
    fn change_level(
        &mut self,
        level: u8,
        changing: BTreeMap<Vec<u8>, Changing>,
        out: &mut Out,
    ) -> Result<(Vec<Delta>, Pending)> {
        let mut pending = Pending::new();
        let mut deltas: BTreeMap<Vec<u8>, Delta> = BTreeMap::new();
        let mut note = |key: &[u8], elements: i64, entries: i64| {
            let empty = Delta { key: key.to_vec(), elements: 0, entries: 0 };
            let delta = deltas.entry(key.to_vec()).or_insert(empty);
            delta.elements += elements;
            delta.entries += entries;
        };
        for (key, Changing { before, after, below }) in changing {
            if after.entries > RUN_MAX {
                let below = self.children(level - 1, &key, before.entries, &below)?;
                for (number, (name, run)) in cut(&key, &below).into_iter().enumerate() {
                    match number {
                        0 => note(&name, difference(run.elements, before.elements), 0),
                        _ => note(&name, difference(run.elements, 0), 1),
                    }
                    pending.insert(name, Some(run));
                }
                continue;
            }
            if after.entries == 0 && !key.is_empty() {
                note(&key, difference(0, before.elements), -1);
                pending.insert(key, None);
                continue;
            }
            if after.entries < RUN_MIN && after.entries < before.entries && !key.is_empty() {
                let (from, to) = (self.name(level, b""), self.name(level, &key));
                let (name, stored) =
                    self.last_in((&from, &to))?.ok_or_else(|| damaged("no run is the first"))?;
                let run = match pending.get(&name) {
                    Some(changed) => *changed,
                    None => Some(stored),
                };
                if let Some(run) = run.filter(|run| run.entries + after.entries <= RUN_MAX - PIECE / 2) {
                    let run =
                        Run { elements: run.elements + after.elements, entries: run.entries + after.entries };
                    note(&name, difference(after.elements, 0), 0);
                    note(&key, difference(0, before.elements), -1);
                    pending.insert(name, Some(run));
                    pending.insert(key, None);
                    continue;
                }
            }
            note(&key, difference(after.elements, before.elements), 0);
            pending.insert(key, Some(after));
        }
        self.put_runs(level, &pending, out);
        Ok((deltas.into_values().collect(), pending))
    }

    fn put_runs(&self, level: u8, runs: &Pending, out: &mut Out) {
        out.extend(runs.iter().map(|(key, run)| (self.name(level, key), run.map(Run::to_bytes))));
    }

    /// The entries of a level from a name on as they become: the first `committed` ones that are stored, with those that
    /// changed.
    fn children(
        &mut self,
        level: u8,
        from: &[u8],
        committed: u64,
        changed: &Pending,
    ) -> Result<BTreeMap<Vec<u8>, Run>> {
        let mut children = BTreeMap::new();
        if committed > 0 {
            let (begin, end) = (self.name(level, from), self.end(level));
            let mut left = committed;
            self.runs(level, (&begin, &end), committed, &mut |key, run| {
                children.insert(key.to_vec(), run);
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        for (key, run) in changed {
            match run {
                Some(run) => children.insert(key.clone(), *run),
                None => children.remove(key),
            };
        }
        Ok(children)
    }
}

/// How much larger the first number is.
fn difference(left: u64, right: u64) -> i64 {
    left.wrapping_sub(right) as i64
}

/// Runs over these entries, of about the same size; the first has the name `first`.
fn cut(first: &[u8], entries: &BTreeMap<Vec<u8>, Run>) -> Vec<(Vec<u8>, Run)> {
    let pieces = (entries.len() as u64).div_ceil(PIECE).max(1);
    let size = entries.len().div_ceil(usize::try_from(pieces).unwrap_or(1)).max(1);
    let mut runs: Vec<(Vec<u8>, Run)> = Vec::new();
    for (number, (key, run)) in entries.iter().enumerate() {
        if number % size == 0 {
            let name = if number == 0 { first } else { key };
            runs.push((name.to_vec(), Run::default()));
        }
        if let Some((_, last)) = runs.last_mut() {
            last.elements += run.elements;
            last.entries += 1;
        }
    }
    if runs.is_empty() {
        runs.push((first.to_vec(), Run::default()));
    }
    runs
}
