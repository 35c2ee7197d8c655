//! Memory for many short strings of bytes that grow: pages, and buffers of some sizes within them.
//!
//! An allocation of its own for each term would take more than most of their contents. A buffer that is full moves to one of the next
//! size, and its place is used again by another one of its size.

/// Pages double from the first size to the last; a longer buffer has a page of its own.
const PAGE_FIRST: usize = 512;
const PAGE_LAST: usize = 64 * 1024;

/// Where a buffer is: its page above, its offset below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At(u32);

/// The sizes that buffers have: 6, 9, 12, 18, 24, …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size(u8);

impl Size {
    pub(super) fn bytes(self) -> usize {
        (if self.0 % 2 == 0 { 6usize } else { 9 }) << (self.0 / 2)
    }

    pub(super) fn at_least(bytes: usize) -> Size {
        let mut size = Size(0);
        while size.bytes() < bytes {
            size.0 += 1;
        }
        size
    }
}

#[derive(Debug, Default)]
pub(super) struct Pool {
    pages: Vec<Vec<u8>>,
    /// The page that is being filled.
    filling: usize,
    free: Vec<Vec<At>>,
    bytes: usize,
}

impl Pool {
    /// A place for so many bytes, with zeros or old contents in it.
    fn reserve(&mut self, bytes: usize) -> At {
        let has_room = self.pages.get(self.filling).is_some_and(|page| page.capacity() - page.len() >= bytes);
        let mut number = self.filling;
        if !has_room {
            let usual = (PAGE_FIRST << self.pages.len().min(16)).min(PAGE_LAST);
            number = self.pages.len();
            self.pages.push(Vec::with_capacity(usual.max(bytes)));
            self.bytes += usual.max(bytes);
            // A page that is full at once must not end the filling of another.
            if bytes < usual / 2 || self.pages.len() == 1 {
                self.filling = number;
            }
        }
        let Some(page) = self.pages.get_mut(number) else { return At(0) };
        let at = page.len();
        page.resize(at + bytes, 0);
        At((number as u32) << 16 | at as u32)
    }

    /// A buffer of a size.
    pub(super) fn buffer(&mut self, size: Size) -> At {
        match self.free.get_mut(usize::from(size.0)).and_then(Vec::pop) {
            Some(at) => at,
            None => self.reserve(size.bytes()),
        }
    }

    /// Gives a buffer back.
    pub(super) fn release(&mut self, at: At, size: Size) {
        if self.free.len() <= usize::from(size.0) {
            self.free.resize_with(usize::from(size.0) + 1, Vec::new);
        }
        if let Some(free) = self.free.get_mut(usize::from(size.0)) {
            free.push(at);
        }
    }

    /// Stores bytes for good.
    pub(super) fn store(&mut self, bytes: &[u8]) -> At {
        let at = self.reserve(bytes.len());
        self.write(at, 0, bytes);
        at
    }

    pub(super) fn write(&mut self, at: At, offset: usize, bytes: &[u8]) {
        let start = (at.0 & 0xFFFF) as usize + offset;
        let page = self.pages.get_mut((at.0 >> 16) as usize);
        if let Some(to) = page.and_then(|page| page.get_mut(start..start + bytes.len())) {
            to.copy_from_slice(bytes);
        }
    }

    pub(super) fn read(&self, at: At, len: usize) -> &[u8] {
        let start = (at.0 & 0xFFFF) as usize;
        self.pages
            .get((at.0 >> 16) as usize)
            .and_then(|page| page.get(start..start + len))
            .unwrap_or_default()
    }

    /// Moves the first `len` bytes of a buffer to a larger one.
    pub(super) fn enlarge(&mut self, at: At, from: Size, len: usize, to: Size) -> At {
        let new = self.buffer(to);
        let [old_page, new_page] = [at, new].map(|at| (at.0 >> 16) as usize);
        let [old_at, new_at] = [at, new].map(|at| (at.0 & 0xFFFF) as usize);
        if old_page == new_page {
            if let Some(page) = self.pages.get_mut(old_page) {
                page.copy_within(old_at..old_at + len, new_at);
            }
        } else if let Ok([old, new]) = self.pages.get_disjoint_mut([old_page, new_page])
            && let (Some(old), Some(new)) = (old.get(old_at..old_at + len), new.get_mut(new_at..new_at + len))
        {
            new.copy_from_slice(old);
        }
        self.release(at, from);
        new
    }

    /// Whether pages have run out of numbers, or nearly so.
    pub(super) fn is_full(&self) -> bool {
        self.pages.len() > 60_000
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let lists: usize = self.free.iter().map(|free| free.capacity() * 4 + 24).sum();
        self.bytes + self.pages.capacity() * 24 + lists
    }
}
