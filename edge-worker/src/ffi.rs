//! The border to JavaScript: what it calls, what it is asked for, and the counting of the heap. The only file of this crate
//! with `unsafe`.
//!
//! Bytes cross it through the *tray*: JavaScript asks [`edgecask_take`] for room, copies into it, and makes its call, which
//! finds what was taken in order. What goes out is handed over by address and length, and copied by JavaScript.
//!
//! Why the `unsafe` here is sound:
//! - Exports have names of their own (`no_mangle`): nothing else in the module is called so, all begin with `edgecask_`.
//! - Imports are called with addresses and lengths of slices that live until the call returns; what they get is only read.
//!   They may call [`edgecask_take`] back, which touches nothing but the tray, and no reference into the tray is held then.
//!   One that fails throws, and JavaScript then never calls this instance again.
//! - MemoryBudget that was handed out is a vector's own memory. It stays where it is until the call that takes it, since moving a
//!   vector does not move its memory. JavaScript writes within the length that it asked for.
//! - The allocator only counts and passes every call on, with the same arguments, to the one of the standard library.
//! - There is one thread, so statics of cells are never used by two.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::host::{Entry, Host};
use crate::limits::{GAPS_BYTES, MEMORY_MAX_BYTES};
use crate::object::{Config, Object};

struct Counting;

static HEAP_BYTES: AtomicUsize = AtomicUsize::new(0);

/// What WebAssembly counts memory in.
const PAGE_BYTES: usize = 64 * 1024;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is the system's, with the caller's arguments; the count is no part of the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let address = unsafe { System.alloc(layout) };
        if !address.is_null() {
            HEAP_BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        }
        address
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HEAP_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let address = unsafe { System.realloc(pointer, layout, size) };
        if !address.is_null() {
            HEAP_BYTES.fetch_add(size, Ordering::Relaxed);
            HEAP_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        address
    }
}

/// How many bytes can still be taken, gaps between those that were taken aside.
pub(crate) fn bytes_left() -> u64 {
    MEMORY_MAX_BYTES.saturating_sub(GAPS_BYTES + HEAP_BYTES.load(Ordering::Relaxed)) as u64
}

#[link(wasm_import_module = "edgecask")]
unsafe extern "C" {
    // Numbers of chunks are below 2^53 (`limits.rs`), so an f64 has them exactly.
    fn insert_chunk(number: f64, bytes: *const u8, len: usize);
    fn read_chunks(from: f64, to: f64);
    fn remove_chunks(from: f64, to: f64);
    fn read_entries(from: *const u8, from_len: usize, part: u32, to: *const u8, to_len: usize, most: usize);
    fn insert_entry(key: *const u8, key_len: usize, part: u32, bytes: *const u8, len: usize);
    fn remove_entry(key: *const u8, key_len: usize);
    fn stored_bytes() -> f64;
    fn hand_over(messages: *const u8, len: usize);
}

/// What came from JavaScript and was not used yet.
struct Taken {
    number: f64,
    bytes: Vec<u8>,
}

thread_local! {
    static TRAY: RefCell<Vec<Taken>> = const { RefCell::new(Vec::new()) };
    static OBJECT: RefCell<Option<Object<JavaScript>>> = const { RefCell::new(None) };
    static ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

fn tray() -> Vec<Taken> {
    TRAY.with(RefCell::take)
}

/// What a call was given: as many arguments as it says, those that are missing being empty.
fn arguments<const COUNT: usize>() -> [Vec<u8>; COUNT] {
    let mut taken = tray().into_iter();
    std::array::from_fn(|_| taken.next().map(|taken| taken.bytes).unwrap_or_default())
}

/// The rows that JavaScript keeps.
struct JavaScript;

impl Host for JavaScript {
    fn insert_chunk(&self, number: u64, bytes: &[u8]) {
        // SAFETY: the slice lives until the call returns; see above.
        unsafe { insert_chunk(number as f64, bytes.as_ptr(), bytes.len()) }
    }

    fn chunks(&self, from: u64, to: u64) -> Vec<(u64, Vec<u8>)> {
        // SAFETY: plain numbers.
        unsafe { read_chunks(from as f64, to as f64) }
        tray().into_iter().map(|taken| (taken.number as u64, taken.bytes)).collect()
    }

    fn remove_chunks(&self, from: u64, to: u64) {
        // SAFETY: plain numbers.
        unsafe { remove_chunks(from as f64, to as f64) }
    }

    fn entries(&self, (from, part): (&[u8], u32), to: Option<&[u8]>, most: usize) -> Vec<Entry> {
        let to = to.unwrap_or_default();
        // SAFETY: the slices live until the call returns; see above.
        unsafe { read_entries(from.as_ptr(), from.len(), part, to.as_ptr(), to.len(), most) }
        let mut taken = tray().into_iter();
        let mut entries = Vec::new();
        while let (Some(key), Some(bytes)) = (taken.next(), taken.next()) {
            entries.push(Entry { key: key.bytes, part: key.number as u32, bytes: bytes.bytes });
        }
        entries
    }

    fn insert_entry(&self, key: &[u8], part: u32, bytes: &[u8]) {
        // SAFETY: the slices live until the call returns; see above.
        unsafe { insert_entry(key.as_ptr(), key.len(), part, bytes.as_ptr(), bytes.len()) }
    }

    fn remove_entry(&self, key: &[u8]) {
        // SAFETY: the slice lives until the call returns; see above.
        unsafe { remove_entry(key.as_ptr(), key.len()) }
    }

    fn stored_bytes(&self) -> u64 {
        // SAFETY: no arguments.
        let bytes = unsafe { stored_bytes() };
        bytes.max(0.0) as u64
    }

    fn heap_bytes(&self) -> usize {
        HEAP_BYTES.load(Ordering::Relaxed)
    }

    fn resident_bytes(&self) -> usize {
        core::arch::wasm32::memory_size::<0>() * PAGE_BYTES
    }

    fn hand_over(&self, messages: &[u8]) {
        // SAFETY: the slice lives until the call returns; see above.
        unsafe { hand_over(messages.as_ptr(), messages.len()) }
    }
}

/// Makes room for `len` bytes that JavaScript writes before its next call. `number` is the chunk's or the part's, if it
/// is one.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_take(number: f64, len: usize) -> *mut u8 {
    let mut bytes = vec![0; len];
    let address = bytes.as_mut_ptr();
    TRAY.with_borrow_mut(|tray| tray.push(Taken { number, bytes }));
    address
}

/// Opens the object; the tray has the password and the settings. Returns the length of an error text, 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_open(seed: u64, now_ms: f64) -> usize {
    let [password, settings] = arguments().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let opened = Object::open(JavaScript, Config { settings, password }, seed, now_ms as u64);
    match opened {
        Ok(object) => {
            OBJECT.set(Some(object));
            0
        }
        Err(error) => {
            let len = error.len();
            ERROR.set(error);
            len
        }
    }
}

fn on_object(act: impl FnOnce(&mut Object<JavaScript>)) {
    OBJECT.with_borrow_mut(|object| {
        if let Some(object) = object {
            act(object);
        }
    });
}

fn on_object_with<T>(arguments: T, act: impl FnOnce(&mut Object<JavaScript>, T)) {
    on_object(|object| act(object, arguments));
}

/// Begins an event.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_begin() {
    on_object(Object::begin);
}

/// Connects a socket; the tray has its address.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_connect(seat: u32, seed: u64, now_ms: f64) {
    on_object_with(arguments(), |object, [address]| {
        object.connect(seat, &String::from_utf8_lossy(&address), seed, now_ms as u64);
    });
}

/// Has a socket back; the tray has what it kept.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_thaw(seat: u32, now_ms: f64) {
    on_object_with(arguments(), |object, [attached]| object.thaw(seat, &attached, now_ms as u64));
}

/// All sockets are back.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_all_are_thawed() {
    on_object(Object::all_are_thawed);
}

/// Takes a message; the tray has it.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_receive(seat: u32, now_ms: f64) {
    on_object_with(arguments(), |object, [message]| object.receive(seat, &message, now_ms as u64));
}

/// Answers a request whose sender may send no body; the tray has head and address.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_admit(seat: u32, seed: u64, now_ms: f64) {
    on_object_with(arguments(), |object, [head, address]| {
        object.admit(seat, &head, &String::from_utf8_lossy(&address), seed, now_ms as u64);
    });
}

/// Takes a request; the tray has head, body and address.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_request(seat: u32, seed: u64, now_ms: f64) {
    on_object_with(arguments(), |object, [head, body, address]| {
        object.request(seat, &head, &body, &String::from_utf8_lossy(&address), seed, now_ms as u64);
    });
}

/// A peer has gone.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_leave(seat: u32) {
    on_object(|object| object.leave(seat));
}

/// The alarm rang.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_alarm(now_ms: f64) {
    on_object(|object| object.alarm(now_ms as u64));
}

/// Ends an event.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_finish(now_ms: f64) {
    on_object(|object| object.finish(now_ms as u64));
}

/// Where the text of an error is, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_error() -> *const u8 {
    ERROR.with_borrow(|text| text.as_ptr())
}
