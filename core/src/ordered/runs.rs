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

/// Entries of a piece, about, unless they come in order.
const PIECE: u64 = 96;

/// Of a run that grew at one of its ends a piece stays with so many entries: where they come in order nothing is added to it any more.
const PIECE_IN_ORDER: usize = 120;

/// A run that has shrunk below this is joined with the one before it.
const RUN_MIN: u64 = 16;

/// A level without another one above it has at most so many runs: they are read together, which takes about 20 KB.
const TOP_MAX: u64 = 384;

/// So many changes are looked up one by one; more are found by reading the runs between the first and the last.
const FEW: usize = 16;

/// More changes are looked up one by one as well if there are so many times as many runs.
const SPARSE: u64 = 16;

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
            self.want_run(level, subkey);
        }
    }

    /// Says that the run of a level above a subkey will change: with the one before it, which may take it in.
    fn want_run(&mut self, level: u8, subkey: &[u8]) {
        let (from, to) = (self.name(level, b""), self.behind(level, subkey));
        self.known.want_scan((&from, &to), Direction::Descending, 2);
    }

    /// Says that elements will come or go at an end, `count` of them about.
    fn want_end(&mut self, direction: Direction, count: u64) {
        for level in 1..=self.tree.height {
            let (from, to) = (self.name(level, b""), self.end(level));
            let runs = if level == 1 { 2 + count.min(RUN_MAX) / RUN_MIN } else { 2 };
            self.known.want_scan((&from, &to), direction, runs);
        }
    }

    /// Makes sure that the whole highest level is here.
    ///
    /// # Errors
    /// It is not.
    fn read_top(&mut self) -> Result<()> {
        let level = self.tree.height;
        if level == ENTRIES {
            return Ok(());
        }
        let (from, to) = (self.name(level, b""), self.end(level));
        let expect = self.expect_top();
        self.known.scan((&from, &to), Direction::Ascending, expect, &mut |_, _| ControlFlow::Continue(()))
    }

    /// How many runs a walk over the highest level asks for: one more than there are, so that the end is seen as well.
    fn expect_top(&self) -> u64 {
        self.tree.top_len.saturating_add(1)
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
        ((from, to), direction): ((&[u8], &[u8]), Direction),
        expect: u64,
        visit: &mut dyn FnMut(&[u8], Run) -> ControlFlow<()>,
    ) -> Result<()> {
        let prefix = self.names.entry_prefix_len();
        let mut outcome = Ok(());
        self.known.scan((from, to), direction, expect, &mut |name, value| {
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

    /// How many elements are smaller than a subkey, which need not be there. One round: of every level below the highest so many
    /// entries before the subkey are read as one run can have.
    pub(super) fn rank(&mut self, subkey: &[u8]) -> Result<u64> {
        let mut rank = 0;
        let mut begin = self.read_top().map(|()| Vec::new());
        for level in (ENTRIES..=self.tree.height).rev() {
            begin = match begin {
                Ok(begin) => self.before(level, &begin, subkey).map(|(elements, run)| {
                    rank += elements;
                    run
                }),
                Err(error) if level == self.tree.height => Err(error),
                // Where its run begins is not known yet.
                Err(error) => {
                    let (from, to) = (self.name(level, b""), self.up_to(level, subkey));
                    self.known.want_scan((&from, &to), Direction::Descending, RUN_MAX);
                    Err(error)
                }
            };
        }
        begin.map(|_| rank)
    }

    /// The end of what comes before a subkey on a level: a run with its name has it as well.
    fn up_to(&self, level: u8, subkey: &[u8]) -> Vec<u8> {
        if level == ENTRIES { self.name(level, subkey) } else { self.behind(level, subkey) }
    }

    /// How many elements the entries of a level from `begin` on have that lie before a subkey as a whole; and the run that the
    /// subkey belongs to.
    fn before(&mut self, level: u8, begin: &[u8], subkey: &[u8]) -> Result<(u64, Vec<u8>)> {
        let (from, to) = (self.name(level, begin), self.up_to(level, subkey));
        let (mut elements, mut own) = (0, None);
        self.runs(level, ((&from, &to), Direction::Descending), RUN_MAX, &mut |key, run| {
            if level != ENTRIES && own.is_none() {
                own = Some(key.to_vec());
            } else {
                elements += run.elements;
            }
            ControlFlow::Continue(())
        })?;
        match own {
            None if level != ENTRIES => Err(damaged("no run has a subkey")),
            own => Ok((elements, own.unwrap_or_default())),
        }
    }

    /// The run of entries in which the element with this rank is, how many of its elements come before, and how many entries
    /// it has. A round a level.
    fn select(&mut self, rank: u64) -> Result<(Vec<u8>, u64, u64)> {
        let (mut from, mut left, mut expect) = (Vec::new(), rank, self.expect_top());
        for level in (1..=self.tree.height).rev() {
            let (begin, end) = (self.name(level, &from), self.end(level));
            let mut found = None;
            self.runs(level, ((&begin, &end), Direction::Ascending), expect, &mut |key, run| {
                if left < run.elements {
                    found = Some((key.to_vec(), run.entries));
                    return ControlFlow::Break(());
                }
                left -= run.elements;
                ControlFlow::Continue(())
            })?;
            (from, expect) = found.ok_or_else(|| damaged("its counts do not add up"))?;
        }
        Ok((from, left, expect))
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
                let (from, skipped, _) = self.select(rank)?;
                (self.name(ENTRIES, &from), end, skipped)
            }
            (Start::Rank(rank), Direction::Descending) => {
                let at = self.element_at(rank, walk.expect)?;
                (first, self.behind(ENTRIES, &at), 0)
            }
        };
        let mut expect = walk.expect.saturating_add(skipped);
        if walk.expect != u64::MAX && expect >= self.tree.len {
            // It may go on to see that there are no more.
            expect = self.tree.len.saturating_add(1);
        }
        let prefix = self.names.entry_prefix_len();
        let walked = self.known.scan((&from, &to), walk.direction, expect, &mut |name, stored| {
            if skipped > 0 {
                skipped -= 1;
                return ControlFlow::Continue(());
            }
            visit(name.get(prefix..).unwrap_or_default(), stored.get(1..).unwrap_or_default())
        });
        if walked.is_err() && walk.is_to_change && walk.start == Start::End {
            self.want_end(walk.direction, walk.expect);
        }
        walked
    }

    /// The subkey with a rank that is there, for a walk down from it.
    fn element_at(&mut self, rank: u64, expect: u64) -> Result<Vec<u8>> {
        let (from, mut skipped, entries) = self.select(rank)?;
        let (begin, end) = (self.name(ENTRIES, &from), self.end(ENTRIES));
        let mut found = None;
        let walked = self.runs(
            ENTRIES,
            ((&begin, &end), Direction::Ascending),
            entries.max(skipped + 1),
            &mut |key, _| {
                if skipped > 0 {
                    skipped -= 1;
                    return ControlFlow::Continue(());
                }
                found = Some(key.to_vec());
                ControlFlow::Break(())
            },
        );
        if walked.is_err() && expect > skipped {
            // The walk goes on below the run.
            let first = self.name(ENTRIES, b"");
            self.known.want_scan((&first, &begin), Direction::Descending, expect);
        }
        walked?;
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
        (1..=self.tree.height).for_each(|level| self.want_changing(level, &deltas));
        if self.known.has_wants() {
            return Err(EngineError::NotHere);
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

    /// Whether so many changes are so far from each other that the runs between them are not read.
    fn is_sparse(&self, level: u8, count: usize) -> bool {
        count <= FEW || (count as u64).saturating_mul(SPARSE) < self.expect_runs(level)
    }

    /// How many runs a level has, about.
    fn expect_runs(&self, level: u8) -> u64 {
        self.tree.len >> (6 * u32::from(level)).min(63)
    }

    /// Says which runs of a level changes in this order will touch.
    fn want_changing(&mut self, level: u8, deltas: &[Delta]) {
        if self.is_sparse(level, deltas.len()) {
            deltas.iter().for_each(|delta| self.want_run(level, &delta.key));
            return;
        }
        for family in families(deltas) {
            if let Some(first) = family.first() {
                self.want_run(level, &first.key);
            }
            let _ = self.runs_behind_first(level, family, &mut Vec::new());
        }
    }

    /// The runs of a level above changed entries.
    fn changing(
        &mut self,
        level: u8,
        deltas: Vec<Delta>,
        mut pending: Pending,
    ) -> Result<BTreeMap<Vec<u8>, Changing>> {
        let is_sparse = self.is_sparse(level, deltas.len());
        let between = if is_sparse { None } else { Some(self.runs_between(level, &deltas)?) };
        let mut changing: BTreeMap<Vec<u8>, Changing> = BTreeMap::new();
        let mut outcome = Ok(());
        for Delta { key, elements, entries } in deltas {
            let found = match &between {
                Some(runs) => {
                    let at = runs.partition_point(|(name, _)| *name <= key);
                    let run = at.checked_sub(1).and_then(|at| runs.get(at));
                    run.cloned().ok_or_else(|| damaged("no run has a subkey"))
                }
                None => self.find(level, &key),
            };
            let (name, before) = match found {
                Ok(found) => found,
                // What is missing of others is fetched with it.
                Err(EngineError::NotHere) => {
                    outcome = Err(EngineError::NotHere);
                    continue;
                }
                Err(error) => return Err(error),
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
        outcome.map(|()| changing)
    }

    /// The runs of a level that changes in this order may touch.
    fn runs_between(&mut self, level: u8, deltas: &[Delta]) -> Result<Vec<(Vec<u8>, Run)>> {
        let (mut runs, mut outcome) = (Vec::new(), Ok(()));
        for family in families(deltas) {
            let Some(first) = family.first() else { continue };
            let found = self.find(level, &first.key).map(|run| runs.push(run));
            let read = self.runs_behind_first(level, family, &mut runs);
            outcome = outcome.and(found).and(read);
        }
        outcome.map(|()| runs)
    }

    /// Adds the runs of a level that begin behind the first of these changes and not behind the last one.
    fn runs_behind_first(
        &mut self,
        level: u8,
        deltas: &[Delta],
        runs: &mut Vec<(Vec<u8>, Run)>,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (deltas.first(), deltas.last()) else { return Ok(()) };
        let (from, to) = (self.behind(level, &first.key), self.behind(level, &last.key));
        let expect = self.expect_runs(level).saturating_add(1);
        self.runs(level, ((&from, &to), Direction::Ascending), expect, &mut |key, run| {
            runs.push((key.to_vec(), run));
            ControlFlow::Continue(())
        })
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
        let mut outcome = Ok(());
        for (key, Changing { before, after, below }) in changing {
            if after.entries > RUN_MAX {
                // What is missing of others is fetched with it.
                match self.split(level, &key, before, &below) {
                    Ok(pieces) => {
                        for (number, (name, run)) in pieces.into_iter().enumerate() {
                            match number {
                                0 => note(&name, difference(run.elements, before.elements), 0),
                                _ => note(&name, difference(run.elements, 0), 1),
                            }
                            pending.insert(name, Some(run));
                        }
                    }
                    Err(EngineError::NotHere) => outcome = Err(EngineError::NotHere),
                    Err(error) => return Err(error),
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
                let (name, stored) = match self.last_in((&from, &to)) {
                    Ok(last) => last.ok_or_else(|| damaged("no run is the first"))?,
                    Err(EngineError::NotHere) => {
                        outcome = Err(EngineError::NotHere);
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let run = match pending.get(&name) {
                    Some(changed) => *changed,
                    None => Some(stored),
                };
                if let Some(run) = run.filter(|run| run.entries + after.entries <= RUN_MAX - RUN_MIN * 2) {
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
        outcome?;
        self.put_runs(level, &pending, out);
        Ok((deltas.into_values().collect(), pending))
    }

    /// The pieces of a run that has too many entries.
    fn split(&mut self, level: u8, key: &[u8], before: Run, below: &Pending) -> Result<Vec<(Vec<u8>, Run)>> {
        let entries = self.children(level - 1, key, before.entries, below)?;
        // Where one was added behind or before all others, there will be more.
        let last = below.last_key_value().filter(|(_, run)| run.is_some()).map(|(key, _)| key);
        let first = below.first_key_value().filter(|(_, run)| run.is_some()).map(|(key, _)| key);
        let is_one = entries.len() as u64 == RUN_MAX + 1;
        Ok(match entries.len().checked_sub(PIECE_IN_ORDER) {
            Some(_) if is_one && last == entries.last_key_value().map(|(key, _)| key) => {
                cut_at(key, &entries, &|number| number == PIECE_IN_ORDER)
            }
            Some(rest) if is_one && first == entries.first_key_value().map(|(key, _)| key) => {
                cut_at(key, &entries, &|number| number == rest)
            }
            _ => cut(key, &entries),
        })
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
        let (begin, end) = (self.name(level, from), self.end(level));
        let mut left = committed;
        if committed > 0 && level == ENTRIES {
            // Values may be long, and say nothing here.
            let prefix = self.names.entry_prefix_len();
            let limit = u32::try_from(committed).map_err(|_| damaged("a run has too many entries"))?;
            let (found, _) = self.known.names((&begin, &end), limit)?;
            let key = |name: &Vec<u8>| name.get(prefix..).unwrap_or_default().to_vec();
            children.extend(found.iter().map(|name| (key(name), Run { elements: 1, entries: 1 })));
        } else if committed > 0 {
            self.runs(level, ((&begin, &end), Direction::Ascending), committed, &mut |key, run| {
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

/// Changes of subkeys that begin alike: those of a sorted set by name, and those by score, lie far from each other.
fn families(deltas: &[Delta]) -> impl Iterator<Item = &[Delta]> {
    deltas.chunk_by(|left, right| left.key.first() == right.key.first())
}

/// How much larger the first number is.
fn difference(left: u64, right: u64) -> i64 {
    left.wrapping_sub(right) as i64
}

/// Runs over these entries, of about the same size; the first has the name `first`.
fn cut(first: &[u8], entries: &BTreeMap<Vec<u8>, Run>) -> Vec<(Vec<u8>, Run)> {
    let pieces = (entries.len() as u64).div_ceil(PIECE).max(1);
    let size = entries.len().div_ceil(usize::try_from(pieces).unwrap_or(1)).max(1);
    cut_at(first, entries, &|number| number.is_multiple_of(size))
}

/// Runs over these entries; with the numbers of which of them others than the first begin.
fn cut_at(
    first: &[u8],
    entries: &BTreeMap<Vec<u8>, Run>,
    begins: &dyn Fn(usize) -> bool,
) -> Vec<(Vec<u8>, Run)> {
    let mut runs: Vec<(Vec<u8>, Run)> = Vec::new();
    for (number, (key, run)) in entries.iter().enumerate() {
        if number == 0 || begins(number) {
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
