//! The foreign function interface to JavaScript: exports, imports, and the allocator that counts the heap. The only file of
//! this crate with `unsafe`.
//!
//! Bytes come in through a list of *buffers*: JavaScript asks [`edgecask_take`] for a buffer, copies bytes into it, and makes
//! its call, which takes all buffers in order. Bytes go out by address and length, and JavaScript copies them.
//!
//! Why the `unsafe` here is sound:
//! - Exports have names of their own (`no_mangle`): nothing else in the module is called so, all begin with `edgecask_`.
//! - Imports are called with addresses and lengths of slices that live until the call returns, and only read them.
//!   They may call [`edgecask_take`] back, which touches only the list of buffers, and no reference into it is held then.
//!   An import that fails throws, and JavaScript then never calls this instance again.
//! - A buffer is a vector's own memory. It stays where it is until the call that takes it, since moving a
//!   vector does not move its memory. JavaScript writes within the length that it asked for.
//! - The allocator only counts, and passes every call with the same arguments to the one of the standard library.
//! - There is one thread, so statics of cells are never used by two.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::host::{Entry, Host, LogLevel};
use crate::limits::{GAPS_BYTES, MEMORY_MAX_BYTES};
use crate::object::{Config, Object};
use crate::origin::decide;

struct Counting;

static HEAP_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The unit of WebAssembly's memory.
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

/// How many bytes can still be allocated, without the gaps between allocations.
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
    fn read_random(len: usize);
    fn deliver(messages: *const u8, len: usize);
    fn write_log(level: u32, text: *const u8, len: usize);
}

/// A buffer that JavaScript has filled.
struct Buffer {
    number: f64,
    bytes: Vec<u8>,
}

thread_local! {
    static BUFFERS: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
    static OBJECT: RefCell<Option<Object<JavaScript>>> = const { RefCell::new(None) };
    static ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

fn take_buffers() -> Vec<Buffer> {
    BUFFERS.with(RefCell::take)
}

/// The arguments of a call; missing ones are empty.
fn arguments<const COUNT: usize>() -> [Vec<u8>; COUNT] {
    let mut buffers = take_buffers().into_iter();
    std::array::from_fn(|_| buffers.next().map(|buffer| buffer.bytes).unwrap_or_default())
}

/// The host on the other side.
struct JavaScript;

impl Host for JavaScript {
    fn insert_chunk(&self, number: u64, bytes: &[u8]) {
        // SAFETY: the slice lives until the call returns; see above.
        unsafe { insert_chunk(number as f64, bytes.as_ptr(), bytes.len()) }
    }

    fn chunks(&self, from: u64, to: u64) -> Vec<(u64, Vec<u8>)> {
        // SAFETY: plain numbers.
        unsafe { read_chunks(from as f64, to as f64) }
        take_buffers().into_iter().map(|buffer| (buffer.number as u64, buffer.bytes)).collect()
    }

    fn remove_chunks(&self, from: u64, to: u64) {
        // SAFETY: plain numbers.
        unsafe { remove_chunks(from as f64, to as f64) }
    }

    fn entries(&self, (from, part): (&[u8], u32), to: Option<&[u8]>, most: usize) -> Vec<Entry> {
        let to = to.unwrap_or_default();
        // SAFETY: the slices live until the call returns; see above.
        unsafe { read_entries(from.as_ptr(), from.len(), part, to.as_ptr(), to.len(), most) }
        let mut buffers = take_buffers().into_iter();
        let mut entries = Vec::new();
        while let (Some(key), Some(bytes)) = (buffers.next(), buffers.next()) {
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

    fn random(&self, len: usize) -> Vec<u8> {
        // SAFETY: a plain number.
        unsafe { read_random(len) }
        take_buffers().pop().map(|buffer| buffer.bytes).unwrap_or_default()
    }

    fn heap_bytes(&self) -> usize {
        HEAP_BYTES.load(Ordering::Relaxed)
    }

    fn resident_bytes(&self) -> usize {
        core::arch::wasm32::memory_size::<0>() * PAGE_BYTES
    }

    fn deliver(&self, messages: &[u8]) {
        // SAFETY: the slice lives until the call returns; see above.
        unsafe { deliver(messages.as_ptr(), messages.len()) }
    }

    fn write_log(&self, level: LogLevel, text: &str) {
        // SAFETY: the slice lives until the call returns; see above.
        unsafe { write_log(level as u32, text.as_ptr(), text.len()) }
    }
}

/// Makes a buffer of `len` bytes, which JavaScript fills before its next call. `number` is that of a chunk or of a part, if the
/// buffer holds one.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_take(number: f64, len: usize) -> *mut u8 {
    let mut bytes = vec![0; len];
    let address = bytes.as_mut_ptr();
    BUFFERS.with_borrow_mut(|buffers| buffers.push(Buffer { number, bytes }));
    address
}

/// Opens the object. Buffers: password, settings. Returns the length of an error text, 0 for success.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_open(seed: u64, now_ms: f64) -> usize {
    let [password, settings] = arguments().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let opened = Object::open(JavaScript, Config { settings, password }, seed, now_ms as u64);
    match opened {
        Ok(object) => {
            OBJECT.set(Some(object));
            0
        }
        Err(error) => fail(error),
    }
}

/// Stores the text of an error, and returns its length.
fn fail(error: String) -> usize {
    let len = error.len();
    ERROR.set(error);
    len
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

/// Decides whether a request may be served, before any object is opened. Buffers: the operator's list, and the header fields
/// `Host`, `Origin` and `Sec-Fetch-Site`, each behind `=` or empty if it is missing. `is_open` is 1 if any host name will do.
/// Returns one of [`crate::origin`]'s verdicts.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_decide_origin(is_open: u32) -> u32 {
    let [list, host, origin, fetch_site] = arguments();
    decide(&list, [&host, &origin, &fetch_site], is_open == 1)
}

/// Begins an event.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_begin() {
    on_object(Object::begin);
}

/// Connects a socket. Buffer: its address.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_connect(connection: u32, seed: u64, now_ms: f64) {
    on_object_with(arguments(), |object, [address]| {
        object.connect(connection, &String::from_utf8_lossy(&address), seed, now_ms as u64);
    });
}

/// Restores a socket after a sleep. Buffer: its attachment.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_thaw(connection: u32, now_ms: f64) {
    on_object_with(arguments(), |object, [attached]| object.thaw(connection, &attached, now_ms as u64));
}

/// Ends the restoring of sockets.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_all_are_thawed() {
    on_object(Object::all_are_thawed);
}

/// Receives a message. Buffer: the message.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_receive(connection: u32, now_ms: f64) {
    on_object_with(arguments(), |object, [message]| object.receive(connection, &message, now_ms as u64));
}

/// Answers a request whose sender may send no body. Buffers: head, address.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_check_login(connection: u32, seed: u64, now_ms: f64) {
    on_object_with(arguments(), |object, [head, address]| {
        object.check_login(connection, &head, &String::from_utf8_lossy(&address), seed, now_ms as u64);
    });
}

/// Runs a request. Buffers: head, body, address.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_request(connection: u32, seed: u64, now_ms: f64) {
    on_object_with(arguments(), |object, [head, body, address]| {
        object.request(connection, &head, &body, &String::from_utf8_lossy(&address), seed, now_ms as u64);
    });
}

/// Ends the connection of a peer that has gone.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_disconnect(connection: u32) {
    on_object(|object| object.disconnect(connection));
}

/// Does the work that is due when the alarm fires.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_alarm(now_ms: f64) {
    on_object(|object| object.alarm(now_ms as u64));
}

/// Ends an event.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_finish(now_ms: f64) {
    on_object(|object| object.finish(now_ms as u64));
}

/// The address of an error text, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn edgecask_error() -> *const u8 {
    ERROR.with_borrow(|text| text.as_ptr())
}
