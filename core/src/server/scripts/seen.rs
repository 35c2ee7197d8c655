//! What a connection has run last: most run the same again and again, and find it here without a lock.

/// What was found by a name, as long as nothing has gone since.
#[derive(Debug)]
pub struct Seen<T> {
    /// The name as the request had it.
    name: Vec<u8>,
    generation: u64,
    found: Option<T>,
}

impl<T> Default for Seen<T> {
    fn default() -> Seen<T> {
        Seen { name: Vec::new(), generation: 0, found: None }
    }
}

impl<T> Seen<T> {
    /// Takes what was seen by this name, if nothing has gone since that generation, or what `find` finds. [`Seen::put_back`] is
    /// for after its run. The caller reads the generation before it looks, so a change that comes meanwhile is seen next time.
    #[inline]
    pub(super) fn take(
        &mut self,
        generation: u64,
        name: &[u8],
        find: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        if self.generation == generation && self.name == name && self.found.is_some() {
            return self.found.take();
        }
        let found = find()?;
        self.generation = generation;
        self.name.clear();
        self.name.extend_from_slice(name);
        Some(found)
    }

    /// Keeps what was taken last, unless it is too large: it would stay in memory though the server has dropped it.
    #[inline]
    pub(super) fn put_back(&mut self, found: T, is_small: bool) {
        self.found = is_small.then_some(found);
    }
}
