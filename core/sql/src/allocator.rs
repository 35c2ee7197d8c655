//! SQLite's memory out of Rust's allocator: a home which counts its memory counts SQLite's, and a server does not have a second allocator
//! that gives memory back to the system after each transaction and asks for it again.
//!
//! A block has its size before it, since SQLite asks for it:
//!
//! ```text
//!  size, 8 bytes | the block that SQLite has
//! ```
//!
//! Invariant, on which every unsafe block here rests: every block that SQLite gives back or asks about was made here and is not freed yet.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
#[cfg(target_arch = "wasm32")]
use std::sync::atomic::{AtomicU64, Ordering};

use edgecask_core::memory_budget::MARGIN_BYTES;
use rusqlite::ffi;

use crate::shared::budget;

/// The size of a block, and what blocks are aligned to: SQLite wants 8.
const HEADER_BYTES: usize = 8;

/// Bytes that were asked for since somebody looked. Where there are threads nobody looks.
#[cfg(target_arch = "wasm32")]
static ALLOCATED_BYTES: AtomicU64 = AtomicU64::new(0);

/// Bytes that SQLite has asked for since the last call.
#[cfg(target_arch = "wasm32")]
pub(crate) fn take_allocated_bytes() -> u64 {
    ALLOCATED_BYTES.swap(0, Ordering::Relaxed)
}

/// The layout of a block of so many bytes; None if there is none, or the home has too little memory left for `more` bytes.
fn layout(bytes: c_int, more: usize) -> Option<Layout> {
    #[cfg(target_arch = "wasm32")]
    ALLOCATED_BYTES.fetch_add(more as u64, Ordering::Relaxed);
    let left_bytes = (budget().left_bytes())();
    let is_there = left_bytes >= MARGIN_BYTES.saturating_add(more as u64);
    let size = usize::try_from(bytes).ok().filter(|_| is_there)?.checked_add(HEADER_BYTES)?;
    Layout::from_size_align(size, HEADER_BYTES).ok()
}

/// Notes the size of a block, and answers what SQLite gets of it.
///
/// Safety: `block` is null or has room for the header.
unsafe fn begun(block: *mut u8, bytes: c_int) -> *mut c_void {
    if block.is_null() {
        return null_mut();
    }
    // SAFETY: as the caller promises; blocks are aligned to the header.
    unsafe {
        block.cast::<c_int>().write(bytes);
        block.add(HEADER_BYTES).cast()
    }
}

unsafe extern "C" fn x_malloc(bytes: c_int) -> *mut c_void {
    let Some(layout) = layout(bytes, usize::try_from(bytes).unwrap_or(0)) else { return null_mut() };
    // SAFETY: the layout is not empty.
    unsafe { begun(alloc(layout), bytes) }
}

unsafe extern "C" fn x_size(block: *mut c_void) -> c_int {
    if block.is_null() {
        return 0;
    }
    // SAFETY: the invariant.
    unsafe { block.cast::<u8>().sub(HEADER_BYTES).cast::<c_int>().read() }
}

unsafe extern "C" fn x_free(block: *mut c_void) {
    // SAFETY: the invariant; the layout is the one that it was made with.
    unsafe {
        let size = usize::try_from(x_size(block)).unwrap_or(0) + HEADER_BYTES;
        if !block.is_null() {
            let layout = Layout::from_size_align_unchecked(size, HEADER_BYTES);
            dealloc(block.cast::<u8>().sub(HEADER_BYTES), layout);
        }
    }
}

unsafe extern "C" fn x_realloc(block: *mut c_void, bytes: c_int) -> *mut c_void {
    // SAFETY: the invariant; SQLite gives no null here, and a size above zero.
    unsafe {
        let before = x_size(block);
        let more = usize::try_from(bytes.saturating_sub(before)).unwrap_or(0);
        let Some(after) = layout(bytes, more) else { return null_mut() };
        let size = usize::try_from(before).unwrap_or(0) + HEADER_BYTES;
        let layout = Layout::from_size_align_unchecked(size, HEADER_BYTES);
        begun(realloc(block.cast::<u8>().sub(HEADER_BYTES), layout, after.size()), bytes)
    }
}

unsafe extern "C" fn x_roundup(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

unsafe extern "C" fn x_init(_user: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_shutdown(_user: *mut c_void) {}

/// Answers SQLite's result code.
pub(super) fn configure() -> c_int {
    let methods = ffi::sqlite3_mem_methods {
        xMalloc: Some(x_malloc),
        xFree: Some(x_free),
        xRealloc: Some(x_realloc),
        xSize: Some(x_size),
        xRoundup: Some(x_roundup),
        xInit: Some(x_init),
        xShutdown: Some(x_shutdown),
        pAppData: null_mut(),
    };
    // A sort that grows takes many small blocks, not one that doubles and is copied.
    let is_on: c_int = 1;
    // SAFETY: SQLite has done nothing yet, and copies the methods.
    unsafe {
        match ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) {
            ffi::SQLITE_OK => ffi::sqlite3_config(ffi::SQLITE_CONFIG_SMALL_MALLOC, is_on),
            code => code,
        }
    }
}
