//! An extendible directory: 2^depth cells indexed by the leading bits of a position (Fagin et al., "Extendible
//! hashing", 1979).
//!
//! An item covers a run of cells whose length is a power of two. The first cell of the run owns the item, the others
//! say how many leading bits the item's positions share (its local depth), which is enough to find the owner.
//!
//! Invariant: a run of 2^(depth - local) cells begins at a multiple of its length.
//! Invariant: some item has the full depth, or else the directory halves; so its size follows its items down too.

/// Maps the leading bits of a position to items.
pub(super) struct Extendible<T> {
    cells: Box<[Cell<T>]>,
    /// How many items have the full depth as their local depth.
    deepest: usize,
}

/// One entry of a directory.
pub(super) enum Cell<T> {
    Owner(T),
    /// Belongs to the run of an owner before it with this local depth.
    Shared(u8),
}

impl<T> Cell<T> {
    /// Reads the cell, without deciding anything by what is in it. The result means nothing.
    #[inline(always)]
    pub(super) fn touch(&self) -> u8 {
        u8::from(matches!(self, Cell::Owner(_)))
    }
}

impl<T> Extendible<T> {
    /// A directory of depth 0.
    pub(super) fn new(item: T) -> Self {
        Self { cells: Box::new([Cell::Owner(item)]), deepest: 1 }
    }

    pub(super) fn depth(&self) -> u32 {
        self.cells.len().checked_ilog2().unwrap_or(0)
    }

    /// Memory of the cells, in bytes, without what the items own.
    pub(super) fn cells_bytes(&self) -> usize {
        size_of_val(&*self.cells)
    }

    pub(super) fn get(&self, position: u64) -> Option<&T> {
        match self.cells.get(self.owner(position))? {
            Cell::Owner(item) => Some(item),
            Cell::Shared(_) => None,
        }
    }

    pub(super) fn get_mut(&mut self, position: u64) -> Option<&mut T> {
        match self.cells.get_mut(self.owner(position))? {
            Cell::Owner(item) => Some(item),
            Cell::Shared(_) => None,
        }
    }

    /// The cell of `position`, which is not looked into.
    pub(super) fn cell(&self, position: u64) -> Option<&Cell<T>> {
        self.cells.get(position.checked_shr(u64::BITS - self.depth()).unwrap_or(0) as usize)
    }

    /// How many leading bits the positions of the item at `position` share.
    pub(super) fn local_depth(&self, position: u64) -> u32 {
        self.run_depth(self.owner(position))
    }

    /// Replaces the item at `position` by the two that `split` makes of it, for the lower and the upper half of its
    /// positions.
    pub(super) fn split_with(&mut self, position: u64, split: impl FnOnce(T) -> (T, T)) {
        if self.local_depth(position) == self.depth() {
            self.double();
        }
        let owner = self.owner(position);
        let local = self.run_depth(owner) + 1;
        let run = 1usize << (self.depth() - local);
        let Some(Cell::Owner(item)) = self.set(owner, Cell::Shared(local as u8)) else { return };
        let (low, high) = split(item);
        for cell in &mut self.cells[owner..owner + 2 * run] {
            *cell = Cell::Shared(local as u8);
        }
        self.set(owner, Cell::Owner(low));
        self.set(owner + run, Cell::Owner(high));
        if local == self.depth() {
            self.deepest += 2;
        }
    }

    /// Replaces the item at `position` and its buddy, the other half of the item they would have been split from, by
    /// what `join` makes of them: if the buddy is not split further and `may` agrees. Returns whether it did.
    pub(super) fn merge_with(
        &mut self,
        position: u64,
        may: impl FnOnce(&T, &T) -> bool,
        join: impl FnOnce(T, T) -> T,
    ) -> bool {
        let owner = self.owner(position);
        let local = self.run_depth(owner);
        if local == 0 {
            return false;
        }
        let run = 1usize << (self.depth() - local);
        let (low, high) = (owner & !run, owner | run);
        match (self.cells.get(low), self.cells.get(high)) {
            (Some(Cell::Owner(first)), Some(Cell::Owner(second)))
                if self.run_depth(low) == local && self.run_depth(high) == local && may(first, second) => {}
            _ => return false,
        }
        let shared = (local - 1) as u8;
        if let (Some(Cell::Owner(first)), Some(Cell::Owner(second))) =
            (self.set(low, Cell::Shared(shared)), self.set(high, Cell::Shared(shared)))
        {
            for cell in &mut self.cells[low..high + run] {
                *cell = Cell::Shared(shared);
            }
            self.set(low, Cell::Owner(join(first, second)));
        }
        if local == self.depth() {
            self.deepest -= 2;
            self.halve();
        }
        true
    }

    /// The directories of the lower and of the upper half of the positions. The depth must not be 0.
    pub(super) fn into_halves(self) -> (Self, Self) {
        let half = self.cells.len() / 2;
        let mut low: Vec<_> = self.cells.into_vec();
        let high = low.split_off(half);
        (Self::from_cells(low, |local| local - 1), Self::from_cells(high, |local| local - 1))
    }

    /// One directory whose lower half is `self` and whose upper half is `other`.
    pub(super) fn join(mut self, mut other: Self) -> Self {
        while self.depth() < other.depth() {
            self.double();
        }
        while other.depth() < self.depth() {
            other.double();
        }
        let mut cells = self.cells.into_vec();
        cells.reserve_exact(other.cells.len());
        cells.extend(other.cells);
        Self::from_cells(cells, |local| local + 1)
    }

    /// Takes items out from the last towards the first for as long as `take` returns true; the rest stays, good for
    /// no more than this. `take` may give an item back that it did not finish. Returns whether anything is left.
    pub(super) fn take_from_end(&mut self, mut take: impl FnMut(T) -> (Option<T>, bool)) -> bool {
        let mut cells = std::mem::take(&mut self.cells).into_vec();
        while let Some(cell) = cells.pop() {
            let Cell::Owner(item) = cell else { continue };
            let (unfinished, more) = take(item);
            if let Some(item) = unfinished {
                cells.push(Cell::Owner(item));
            }
            if !more {
                break;
            }
        }
        self.cells = cells.into_boxed_slice();
        !self.cells.is_empty()
    }

    /// The index of the cell that owns the item at `position`.
    fn owner(&self, position: u64) -> usize {
        let depth = self.depth();
        let index = position.checked_shr(u64::BITS - depth).unwrap_or(0) as usize;
        match self.cells.get(index) {
            Some(Cell::Shared(local)) => {
                let run_bits = depth.saturating_sub(u32::from(*local));
                index >> run_bits << run_bits
            }
            _ => index,
        }
    }

    /// The local depth of the run that begins at `owner`: the cell behind it tells, if it is of the same run.
    fn run_depth(&self, owner: usize) -> u32 {
        match self.cells.get(owner + 1) {
            Some(Cell::Shared(local)) => u32::from(*local),
            _ => self.depth(),
        }
    }

    fn set(&mut self, index: usize, cell: Cell<T>) -> Option<Cell<T>> {
        self.cells.get_mut(index).map(|old| std::mem::replace(old, cell))
    }

    fn double(&mut self) {
        let depth = self.depth() as u8;
        let mut doubled = Vec::with_capacity(2 * self.cells.len());
        let mut cells = std::mem::take(&mut self.cells).into_vec().into_iter().peekable();
        while let Some(cell) = cells.next() {
            let local = match (&cell, cells.peek()) {
                (Cell::Shared(local), _) | (Cell::Owner(_), Some(Cell::Shared(local))) => *local,
                (Cell::Owner(_), _) => depth,
            };
            doubled.push(cell);
            doubled.push(Cell::Shared(local));
        }
        self.cells = doubled.into_boxed_slice();
        self.deepest = 0;
    }

    /// Halves the directory until some item has its full depth.
    fn halve(&mut self) {
        while self.deepest == 0 && self.cells.len() > 1 {
            let mut cells = std::mem::take(&mut self.cells).into_vec();
            let mut index = 0;
            // No run is shorter than two cells: every second cell is shared and can go.
            cells.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            cells.shrink_to_fit();
            self.cells = cells.into_boxed_slice();
            self.deepest = self.count_deepest();
        }
    }

    fn from_cells(mut cells: Vec<Cell<T>>, local: impl Fn(u8) -> u8) -> Self {
        for cell in &mut cells {
            if let Cell::Shared(depth) = cell {
                *depth = local(*depth);
            }
        }
        let mut directory = Self { cells: cells.into_boxed_slice(), deepest: 0 };
        directory.deepest = directory.count_deepest();
        directory.halve();
        directory
    }

    fn count_deepest(&self) -> usize {
        let alone = |pair: &[Cell<T>]| pair.iter().all(|cell| matches!(cell, Cell::Owner(_)));
        // An item of full depth owns a run of one cell, and so does its buddy.
        match self.cells.len() {
            1 => 1,
            _ => self.cells.chunks_exact(2).filter(|pair| alone(pair)).count() * 2,
        }
    }

    #[cfg(test)]
    pub(super) fn items(&self) -> impl Iterator<Item = &T> {
        self.cells.iter().filter_map(|cell| match cell {
            Cell::Owner(item) => Some(item),
            Cell::Shared(_) => None,
        })
    }

    /// Panics unless the invariants hold.
    #[cfg(test)]
    pub(super) fn check(&self) {
        assert!(self.cells.len().is_power_of_two());
        assert_eq!(self.deepest, self.count_deepest());
        assert!(self.deepest > 0, "the directory should have halved");
        let mut index = 0;
        while index < self.cells.len() {
            assert!(matches!(self.cells[index], Cell::Owner(_)), "cell {index} has no owner");
            let local = self.run_depth(index);
            let run = 1 << (self.depth() - local);
            assert_eq!(index % run, 0);
            for cell in &self.cells[index + 1..index + run] {
                assert!(matches!(cell, Cell::Shared(depth) if u32::from(*depth) == local));
            }
            index += run;
        }
    }
}
