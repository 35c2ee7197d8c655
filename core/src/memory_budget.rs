//! How much memory is left, in a home that has little of it.
//!
//! Where an allocation that fails ends the process there is no way back from it, so a request asks first: before it takes much
//! at once ([`MemoryBudget::ask`]), and again and again while it gathers much in small parts ([`Share`], [`Gathered`]).

use smallvec::SmallVec;

/// Below so many bytes nobody asks.
pub const LARGE_BYTES: u64 = 64 * 1024;

/// So many bytes are left to those who do not ask.
const MARGIN_BYTES: u64 = 2 * 1024 * 1024;

/// [`Gathered`] asks after so many items, or bytes of them.
const ITEMS_BETWEEN: usize = 256;
const BYTES_BETWEEN: usize = 64 * 1024;

/// There is no memory for what a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded;

/// Tells how much memory is left.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    left_bytes: fn() -> u64,
}

impl MemoryBudget {
    /// For homes with more memory than anybody asks for.
    pub const UNBOUNDED: MemoryBudget = MemoryBudget { left_bytes: || u64::MAX };

    /// A home that counts: the function tells how many bytes are left at the moment.
    pub const fn counted(left_bytes: fn() -> u64) -> MemoryBudget {
        MemoryBudget { left_bytes }
    }

    /// An error if there are not so many blocks of so many bytes each. They are tried, since what is free may lie in gaps.
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

    /// What a request that begins now may gather.
    pub fn share(self) -> Share {
        Share { budget: self, least_bytes: (self.left_bytes)() / 3 * 2 }
    }
}

/// What one request may gather in small parts: a third of what was left when it began. It needs as much again for its record in
/// the log, and as much for its entries in the keydir.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    budget: MemoryBudget,
    least_bytes: u64,
}

impl Share {
    /// An error once the request has taken its share.
    pub fn look(self) -> Result<(), BudgetExceeded> {
        if (self.budget.left_bytes)() >= self.least_bytes { Ok(()) } else { Err(BudgetExceeded) }
    }
}

/// What a request gathers in memory before it can reply or write. Once there is no room it is empty and stays so; whoever fills
/// it need not know.
#[derive(Debug)]
pub struct Gathered<T> {
    items: Vec<T>,
    share: Share,
    unasked_bytes: usize,
    is_over: bool,
}

impl<T> Gathered<T> {
    /// Nothing yet.
    pub fn within(share: Share) -> Gathered<T> {
        Gathered { items: Vec::new(), share, unasked_bytes: 0, is_over: false }
    }

    /// Adds one that has so many bytes beside its own.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All of them, or an error if there was no room for all.
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
