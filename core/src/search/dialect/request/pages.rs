//! Which hits a search shows.

use super::Search;

/// A part of the hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many are left out before.
    pub offset: u64,
    /// How many are shown.
    pub limit: u64,
    /// The page and its size, if pages were asked for: then the answer says how many there are, and must count exactly.
    pub numbered: Option<(u64, u64)>,
}

/// The part that a search asks for, of at most so many hits.
pub fn page(search: &Search, max_total_hits: u64) -> Page {
    let (offset, limit, numbered) = match (search.page, search.hits_per_page) {
        (None, None) => (search.offset, search.limit, None),
        (page, size) => {
            let (page, size) = (page.unwrap_or(1), size.unwrap_or(20));
            // There is no page 0, and nothing on it.
            let limit = if page == 0 { 0 } else { size };
            (page.saturating_sub(1).saturating_mul(size), limit, Some((page, size)))
        }
    };
    let offset = offset.min(max_total_hits);
    Page { offset, limit: limit.min(max_total_hits - offset), numbered }
}
