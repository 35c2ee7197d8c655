//! The system's allocator, counted. A reallocation is one allocation of what it grows by.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use crate::counters::{Counter, add};

struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn count(bytes: usize) {
    add(Counter::Allocations, 1);
    add(Counter::AllocatedBytes, bytes as u64);
}

// Safety: each call goes on to `System` unchanged, and counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}
