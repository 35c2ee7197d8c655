//! A set of small numbers, a bit each.

/// Numbers below a bound that was given when the set was made.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bits {
    words: Vec<u64>,
    bound: u32,
}

impl Bits {
    /// The empty set of numbers below `bound`.
    pub fn none(bound: u32) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64) as usize], bound }
    }

    /// All numbers below `bound`.
    pub fn all(bound: u32) -> Bits {
        let mut bits = Bits { words: vec![u64::MAX; bound.div_ceil(64) as usize], bound };
        bits.trim();
        bits
    }

    /// Some numbers below `bound`; others are left out.
    pub fn of(bound: u32, numbers: &[u32]) -> Bits {
        let mut bits = Bits::none(bound);
        numbers.iter().for_each(|number| {
            bits.add(*number);
        });
        bits
    }

    /// What all numbers are below.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Makes room for numbers below a greater bound, which are not in the set yet.
    pub fn grow(&mut self, bound: u32) {
        if bound > self.bound {
            self.words.resize(bound.div_ceil(64) as usize, 0);
            self.bound = bound;
        }
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds a number below the bound; returns whether it is new.
    #[inline]
    pub fn add(&mut self, number: u32) -> bool {
        let Some(word) = self.words.get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Adds numbers from `at` times 64 on, a bit each, as far as they are below the bound.
    #[inline]
    pub fn add_word(&mut self, at: u32, numbers: u64) {
        let left = self.bound.saturating_sub(at.saturating_mul(64));
        let below = if left < 64 { (1 << left) - 1 } else { u64::MAX };
        if let Some(word) = self.words.get_mut(at as usize) {
            *word |= numbers & below;
        }
    }

    /// Takes a number away; returns whether it was there.
    #[inline]
    pub fn remove(&mut self, number: u32) -> bool {
        let Some(word) = self.words.get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let was_there = *word & bit != 0;
        *word &= !bit;
        was_there
    }

    /// Keeps what is in the other set, too.
    pub fn keep(&mut self, other: &Bits) {
        for (at, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(at).copied().unwrap_or(0);
        }
    }

    /// Adds what is in the other set, below this one's bound.
    pub fn join(&mut self, other: &Bits) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
        self.trim();
    }

    /// Exchanges what is in the set and what is not.
    pub fn invert(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.trim();
    }

    /// How many numbers are in the set.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The numbers in rising order, in memory.
    pub fn to_vec(&self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.count() as usize);
        numbers.extend(self.iter());
        numbers
    }

    /// The numbers in rising order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().zip(0..).flat_map(|(word, at)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(at * 64 + bit)
            })
        })
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.words.capacity() * 8
    }

    fn trim(&mut self) {
        if !self.bound.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.bound % 64)) - 1;
        }
    }
}
