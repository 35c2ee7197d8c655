//! How much memory a request may take, in a home that has little of it.
//!
//! An allocation that fails ends the process, and nothing can catch that. So a request asks first: before it takes a large block
//! ([`MemoryBudget::ask`]), and repeatedly while it collects many small items ([`Share`], [`Gathered`]).

use smallvec::SmallVec;

/// A request need not ask for a block of fewer bytes.
pub const LARGE_BYTES: u64 = 64 * 1024;

/// Bytes that stay free for allocations that do not ask.
pub const MARGIN_BYTES: u64 = 2 * 1024 * 1024;

/// [`Gathered`] asks again after this many items, or bytes of them.
const ITEMS_BETWEEN: usize = 256;
const BYTES_BETWEEN: usize = 64 * 1024;

/// The memory that a request needs is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded;

/// Tells how much memory is left.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    left_bytes: fn() -> u64,
}

impl MemoryBudget {
    /// The budget of a home that does not count its memory: every request fits.
    pub const UNBOUNDED: MemoryBudget = MemoryBudget { left_bytes: || u64::MAX };

    /// The budget of a home that counts: the function returns how many bytes are left at the moment.
    pub const fn counted(left_bytes: fn() -> u64) -> MemoryBudget {
        MemoryBudget { left_bytes }
    }

    /// The function that returns how many bytes are left at the moment, or `u64::MAX` in a home that does not count.
    pub const fn left_bytes(self) -> fn() -> u64 {
        self.left_bytes
    }

    /// Checks that `blocks` blocks of `bytes` bytes each can be allocated. Fails if too few bytes are left. The blocks are
    /// really allocated, and freed again: the free bytes may lie in gaps that are too small for them.
    pub fn ask(self, blocks: usize, bytes: u64) -> Result<(), BudgetExceeded> {
        let left_bytes = if bytes < LARGE_BYTES { u64::MAX } else { (self.left_bytes)() };
        if left_bytes == u64::MAX {
            return Ok(());
        }
        if bytes.saturating_mul(blocks as u64).saturating_add(MARGIN_BYTES) > left_bytes {
            return Err(BudgetExceeded);
        }
        let len = usize::try_from(bytes).map_err(|_| BudgetExceeded)?;
        let mut tried: SmallVec<[Vec<u8>; 4]> = SmallVec::new();
        for _ in 0..blocks {
            let mut block = Vec::new();
            block.try_reserve_exact(len).map_err(|_| BudgetExceeded)?;
            tried.push(block);
        }
        Ok(())
    }

    /// The share of a request that begins now.
    pub fn share(self) -> Share {
        Share { budget: self, least_bytes: (self.left_bytes)() / 3 * 2 }
    }
}

/// The memory that one request may fill with small items: a third of what was left when it began. It needs a second third for
/// its record in the log, and the last one for its entries in the keydir.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    budget: MemoryBudget,
    least_bytes: u64,
}

impl Share {
    /// Fails once the request has used up its share.
    pub fn look(self) -> Result<(), BudgetExceeded> {
        if (self.budget.left_bytes)() >= self.least_bytes { Ok(()) } else { Err(BudgetExceeded) }
    }
}

/// Items that a request collects before it can reply or write. Once its share is used up the collection is empty and stays
/// empty, so code that adds items need not check; [`Gathered::all`] returns the error.
#[derive(Debug)]
pub struct Gathered<T> {
    items: Vec<T>,
    share: Share,
    unasked_bytes: usize,
    is_over: bool,
}

impl<T> Gathered<T> {
    /// An empty collection.
    pub fn within(share: Share) -> Gathered<T> {
        Gathered { items: Vec::new(), share, unasked_bytes: 0, is_over: false }
    }

    /// Adds an item that owns `bytes` bytes beside its own size.
    pub fn push_with(&mut self, bytes: usize, item: impl FnOnce() -> T) {
        if self.is_over {
            return;
        }
        self.unasked_bytes += bytes;
        if self.items.len().is_multiple_of(ITEMS_BETWEEN) || self.unasked_bytes >= BYTES_BETWEEN {
            self.unasked_bytes = 0;
            let asked = self.share.look().and_then(|()| self.share.budget.ask(1, bytes as u64));
            if asked.is_err() {
                self.is_over = true;
                self.items = Vec::new();
                return;
            }
        }
        self.items.push(item());
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All items. Fails if the share was used up.
    pub fn all(self) -> Result<Vec<T>, BudgetExceeded> {
        if self.is_over { Err(BudgetExceeded) } else { Ok(self.items) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static LEFT: Cell<u64> = const { Cell::new(0) };
    }

    #[test]
    fn request_gathers_more_than_its_share() {
        LEFT.set(9_000_000);
        let budget = MemoryBudget::counted(|| LEFT.get());
        assert_eq!(budget.ask(2, 3_400_000), Ok(()));
        assert_eq!(budget.ask(2, 3_500_000), Err(BudgetExceeded));
        let mut gathered = Gathered::within(budget.share());
        (0..1000).for_each(|n| gathered.push_with(0, || n));
        LEFT.set(6_000_000);
        (0..1000).for_each(|n| gathered.push_with(0, || n));
        assert_eq!(gathered.len(), 2000);
        LEFT.set(5_999_999);
        (0..1000).for_each(|n| gathered.push_with(0, || n));
        assert!(gathered.is_empty());
        LEFT.set(9_000_000);
        gathered.push_with(0, || 1);
        assert_eq!(gathered.all(), Err(BudgetExceeded));
    }

    #[test]
    fn few_large_items_are_more_than_a_share() {
        LEFT.set(9_000_000);
        let mut gathered = Gathered::within(MemoryBudget::counted(|| LEFT.get()).share());
        gathered.push_with(1_000_000, || 1);
        assert_eq!(gathered.len(), 1);
        gathered.push_with(7_100_000, || 2);
        assert_eq!(gathered.all(), Err(BudgetExceeded));
    }
}
