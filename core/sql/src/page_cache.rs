//! SQLite's own cache of pages, told when there is nothing to cut off.
//!
//! At the end of every transaction SQLite cuts its cache off behind the last page of the file. Its cache looks for pages there as long as
//! it ever had one. It had: a page that changes places with another one while a tree is balanced has a number far behind the end for
//! a moment. So each such transaction would walk the whole cache, which was a tenth of an INSERT into a table with three indexes. Here
//! the highest number is kept without such a moment, and the walk is left out.
//!
//! Invariants, on which every unsafe block here rests:
//! - SQLite gives to every function but `xCreate` a cache that `x_create` made, one thread at a time, and never after `xDestroy`.
//! - The methods below are those that SQLite had; they all are there, and stay for as long as the process.
//! - [`Cache::inner`] is a cache that those methods made, and is given to no other.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use rusqlite::ffi;

/// The numbers of the pages that a cache may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Numbers {
    /// No page but the parked one has a higher number.
    highest: c_uint,
    /// The number above it that a page was given last, if it still has it; 0 is no number of a page.
    parked: c_uint,
}

impl Numbers {
    /// A page of this number is there.
    fn note(&mut self, number: c_uint) {
        self.highest = self.highest.max(number);
    }

    /// A page has another number.
    fn renumber(&mut self, old: c_uint, new: c_uint) {
        if old == self.parked {
            self.parked = 0;
        }
        if new > self.highest {
            self.note(self.parked);
            self.parked = new;
        }
    }

    /// Whether there may be pages from this number on, which are cut off then.
    fn cut_off(&mut self, first: c_uint) -> bool {
        if self.highest < first && self.parked < first {
            return false;
        }
        self.highest = self.highest.min(first.saturating_sub(1));
        self.parked = 0;
        true
    }
}

/// A cache of a database, or of a temporary table.
#[repr(C)]
struct Cache {
    inner: *mut ffi::sqlite3_pcache,
    numbers: Numbers,
}

/// SQLite's own methods.
struct Methods {
    init: unsafe extern "C" fn(*mut c_void) -> c_int,
    shutdown: unsafe extern "C" fn(*mut c_void),
    create: unsafe extern "C" fn(c_int, c_int, c_int) -> *mut ffi::sqlite3_pcache,
    cache_size: unsafe extern "C" fn(*mut ffi::sqlite3_pcache, c_int),
    page_count: unsafe extern "C" fn(*mut ffi::sqlite3_pcache) -> c_int,
    fetch: unsafe extern "C" fn(*mut ffi::sqlite3_pcache, c_uint, c_int) -> *mut ffi::sqlite3_pcache_page,
    unpin: unsafe extern "C" fn(*mut ffi::sqlite3_pcache, *mut ffi::sqlite3_pcache_page, c_int),
    renumber: unsafe extern "C" fn(*mut ffi::sqlite3_pcache, *mut ffi::sqlite3_pcache_page, c_uint, c_uint),
    truncate: unsafe extern "C" fn(*mut ffi::sqlite3_pcache, c_uint),
    destroy: unsafe extern "C" fn(*mut ffi::sqlite3_pcache),
    shrink: unsafe extern "C" fn(*mut ffi::sqlite3_pcache),
}

static OWN: OnceLock<Methods> = OnceLock::new();

impl Methods {
    /// None if one of them is not there.
    fn of(own: &ffi::sqlite3_pcache_methods2) -> Option<Methods> {
        Some(Methods {
            init: own.xInit?,
            shutdown: own.xShutdown?,
            create: own.xCreate?,
            cache_size: own.xCachesize?,
            page_count: own.xPagecount?,
            fetch: own.xFetch?,
            unpin: own.xUnpin?,
            renumber: own.xRekey?,
            truncate: own.xTruncate?,
            destroy: own.xDestroy?,
            shrink: own.xShrink?,
        })
    }
}

/// Safety: the first invariant; the reference ends before SQLite goes on.
unsafe fn cache<'a>(cache: *mut ffi::sqlite3_pcache) -> &'a mut Cache {
    unsafe { &mut *cache.cast::<Cache>() }
}

unsafe extern "C" fn x_init(user: *mut c_void) -> c_int {
    // SAFETY: what SQLite asks for goes to its own method.
    OWN.get().map_or(ffi::SQLITE_ERROR, |own| unsafe { (own.init)(user) })
}

unsafe extern "C" fn x_shutdown(user: *mut c_void) {
    if let Some(own) = OWN.get() {
        // SAFETY: as in `x_init`.
        unsafe { (own.shutdown)(user) };
    }
}

unsafe extern "C" fn x_create(page: c_int, extra: c_int, is_purgeable: c_int) -> *mut ffi::sqlite3_pcache {
    let Some(own) = OWN.get() else { return null_mut() };
    // SAFETY: memory of SQLite, large enough, is aligned to 8 bytes; without it nothing stays.
    unsafe {
        let made = ffi::sqlite3_malloc(size_of::<Cache>() as c_int).cast::<Cache>();
        if made.is_null() {
            return null_mut();
        }
        let inner = (own.create)(page, extra, is_purgeable);
        if inner.is_null() {
            ffi::sqlite3_free(made.cast());
            return null_mut();
        }
        made.write(Cache { inner, numbers: Numbers::default() });
        made.cast()
    }
}

unsafe extern "C" fn x_cache_size(raw: *mut ffi::sqlite3_pcache, pages: c_int) {
    if let Some(own) = OWN.get() {
        // SAFETY: the invariants.
        unsafe { (own.cache_size)(cache(raw).inner, pages) };
    }
}

unsafe extern "C" fn x_page_count(raw: *mut ffi::sqlite3_pcache) -> c_int {
    // SAFETY: the invariants.
    OWN.get().map_or(0, |own| unsafe { (own.page_count)(cache(raw).inner) })
}

unsafe extern "C" fn x_fetch(
    raw: *mut ffi::sqlite3_pcache,
    number: c_uint,
    create: c_int,
) -> *mut ffi::sqlite3_pcache_page {
    let Some(own) = OWN.get() else { return null_mut() };
    // SAFETY: the invariants.
    unsafe {
        let cache = cache(raw);
        let page = (own.fetch)(cache.inner, number, create);
        if !page.is_null() {
            cache.numbers.note(number);
        }
        page
    }
}

unsafe extern "C" fn x_unpin(
    raw: *mut ffi::sqlite3_pcache,
    page: *mut ffi::sqlite3_pcache_page,
    discard: c_int,
) {
    if let Some(own) = OWN.get() {
        // SAFETY: the invariants; the page is one of this cache.
        unsafe { (own.unpin)(cache(raw).inner, page, discard) };
    }
}

unsafe extern "C" fn x_renumber(
    raw: *mut ffi::sqlite3_pcache,
    page: *mut ffi::sqlite3_pcache_page,
    old: c_uint,
    new: c_uint,
) {
    if let Some(own) = OWN.get() {
        // SAFETY: the invariants; the page is one of this cache.
        unsafe {
            let cache = cache(raw);
            (own.renumber)(cache.inner, page, old, new);
            cache.numbers.renumber(old, new);
        }
    }
}

unsafe extern "C" fn x_truncate(raw: *mut ffi::sqlite3_pcache, first: c_uint) {
    if let Some(own) = OWN.get() {
        // SAFETY: the invariants.
        unsafe {
            let cache = cache(raw);
            if cache.numbers.cut_off(first) {
                (own.truncate)(cache.inner, first);
            }
        }
    }
}

unsafe extern "C" fn x_destroy(raw: *mut ffi::sqlite3_pcache) {
    if let Some(own) = OWN.get() {
        // SAFETY: the invariants; `x_create` had the memory of SQLite.
        unsafe {
            (own.destroy)(cache(raw).inner);
            ffi::sqlite3_free(raw.cast());
        }
    }
}

unsafe extern "C" fn x_shrink(raw: *mut ffi::sqlite3_pcache) {
    if let Some(own) = OWN.get() {
        // SAFETY: the invariants.
        unsafe { (own.shrink)(cache(raw).inner) };
    }
}

/// Puts the cache before SQLite's own one. To be called before SQLite is initialized; later, SQLite keeps its own, which is slower and no
/// error.
pub(crate) fn configure() {
    // SAFETY: SQLite copies its methods to the place it is given, and ours from there.
    unsafe {
        let mut own = std::mem::MaybeUninit::<ffi::sqlite3_pcache_methods2>::zeroed().assume_init();
        if ffi::sqlite3_config(ffi::SQLITE_CONFIG_GETPCACHE2, &raw mut own) != ffi::SQLITE_OK {
            return;
        }
        let Some(methods) = Methods::of(&own) else { return };
        OWN.get_or_init(|| methods);
        let ours = ffi::sqlite3_pcache_methods2 {
            iVersion: 1,
            pArg: own.pArg,
            xInit: Some(x_init),
            xShutdown: Some(x_shutdown),
            xCreate: Some(x_create),
            xCachesize: Some(x_cache_size),
            xPagecount: Some(x_page_count),
            xFetch: Some(x_fetch),
            xUnpin: Some(x_unpin),
            xRekey: Some(x_renumber),
            xTruncate: Some(x_truncate),
            xDestroy: Some(x_destroy),
            xShrink: Some(x_shrink),
        };
        ffi::sqlite3_config(ffi::SQLITE_CONFIG_PCACHE2, &raw const ours);
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn two_pages_that_change_places_leave_nothing_to_cut_off() {
        let mut numbers = Numbers::default();
        for number in 1..=9 {
            numbers.note(number);
        }
        // The number for a moment lies far behind the last page.
        numbers.renumber(7, 524_289);
        numbers.renumber(9, 7);
        numbers.renumber(524_289, 9);
        assert!(!numbers.cut_off(10), "nothing is behind the last page");
        assert_eq!(numbers, Numbers { highest: 9, parked: 0 });
    }

    #[test]
    fn pages_behind_the_end_are_cut_off() {
        let mut numbers = Numbers::default();
        numbers.note(12);
        assert!(numbers.cut_off(12) && !numbers.cut_off(12));
        numbers.renumber(3, 40);
        assert!(numbers.cut_off(12), "a page that was not given a lower number again");
        numbers.renumber(3, 40);
        numbers.renumber(4, 50);
        assert!(numbers.cut_off(41), "the second of two");
        assert!(numbers.cut_off(40), "the first of two");
        numbers.renumber(3, 40);
        numbers.note(40);
        numbers.renumber(40, 3);
        assert!(numbers.cut_off(40), "a page of the number was read meanwhile");
        assert!(numbers.cut_off(0) && !numbers.cut_off(1));
    }
}
