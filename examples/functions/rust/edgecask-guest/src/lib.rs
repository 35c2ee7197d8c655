//! Functions for EdgeCask in Rust: the imports of `edgecask_1` without unsafe code in the guest, without an allocator and without the
//! standard library.
//!
//! ```ignore
//! #![no_std]
//! use edgecask_guest::{answer, call, function, library};
//!
//! /// FCALL hello 1 KEY
//! fn hello() {
//!     let mut key = [0; 256];
//!     let key = edgecask_guest::key(0, &mut key).unwrap_or_else(|| edgecask_guest::fail("ERR KEY, of up to 256 bytes"));
//!     call(&[b"GET", key], &mut []);
//!     answer::reply();
//! }
//!
//! library! { hello: "Says what KEY holds.", edgecask_guest::NO_WRITES }
//! ```
//!
//! A guest with an allocator of its own (`extern crate alloc` and a `#[global_allocator]`) should free what it takes, or begin anew
//! with every call: its memory stays from call to call.
#![cfg_attr(target_arch = "wasm32", no_std)]

mod import {
    #[link(wasm_import_module = "edgecask_1")]
    unsafe extern "C" {
        pub fn register(name: *const u8, name_length: usize, text: *const u8, text_length: usize, flags: u32);
        pub safe fn key_count() -> u32;
        pub fn key(index: u32, into: *mut u8, capacity: usize) -> usize;
        pub safe fn argument_count() -> u32;
        pub fn argument(index: u32, into: *mut u8, capacity: usize) -> usize;
        pub fn call(spans: *const super::Span, count: usize, into: *mut u8, capacity: usize) -> usize;
        pub fn reply(offset: usize, into: *mut u8, capacity: usize) -> usize;
        pub fn may_call(spans: *const super::Span, count: usize) -> i32;
        pub fn answer(at: *const u8, length: usize);
        pub safe fn answer_integer(value: i64);
        pub fn answer_bulk(at: *const u8, length: usize);
        pub fn answer_status(at: *const u8, length: usize);
        pub safe fn answer_reply();
        pub fn fail(at: *const u8, length: usize);
        pub fn log(level: u32, at: *const u8, length: usize);
        pub safe fn time() -> i64;
        pub safe fn random() -> i64;
    }
}

/// Arguments of one command.
const ARGUMENTS_MAX: usize = 32;

#[repr(C)]
#[derive(Clone, Copy)]
struct Span {
    at: *const u8,
    length: usize,
}

/// Calls `action` with the arguments as the host reads them.
fn with_spans<R>(arguments: &[&[u8]], action: impl FnOnce(*const Span, usize) -> R) -> R {
    let mut spans = [Span { at: core::ptr::null(), length: 0 }; ARGUMENTS_MAX];
    if arguments.len() > ARGUMENTS_MAX {
        fail("ERR a command of the function has too many arguments");
    }
    for (span, argument) in spans.iter_mut().zip(arguments) {
        *span = Span { at: argument.as_ptr(), length: argument.len() };
    }
    action(spans.as_ptr(), arguments.len())
}

/// Promises that the function writes nothing; FCALL_RO takes only such functions.
pub const NO_WRITES: u32 = 1;
/// Runs even if there is no memory for writes.
pub const ALLOW_OOM: u32 = 2;
/// Runs on a replica that lost its primary.
pub const ALLOW_STALE: u32 = 4;
/// Does not run in cluster mode.
pub const NO_CLUSTER: u32 = 8;
/// May touch keys of several slots.
pub const ALLOW_CROSS_SLOT_KEYS: u32 = 16;
/// Promises that the function answers the same to the same arguments: it calls no command, and SQL may make an index of it.
pub const DETERMINISTIC: u32 = 32;

/// Registers a function of the library. [`library!`] does it.
pub fn register(name: &str, description: &str, flags: u32) {
    unsafe { import::register(name.as_ptr(), name.len(), description.as_ptr(), description.len(), flags) }
}

/// How many keys there are.
pub fn key_count() -> u32 {
    import::key_count()
}

/// How many arguments there are.
pub fn argument_count() -> u32 {
    import::argument_count()
}

/// A key; `None` if there is none of this index, or it does not fit.
pub fn key(index: u32, into: &mut [u8]) -> Option<&[u8]> {
    let length = unsafe { import::key(index, into.as_mut_ptr(), into.len()) };
    into.get(..length)
}

/// An argument; `None` if there is none of this index, or it does not fit.
pub fn argument(index: u32, into: &mut [u8]) -> Option<&[u8]> {
    let length = unsafe { import::argument(index, into.as_mut_ptr(), into.len()) };
    into.get(..length)
}

/// An argument that is a number.
pub fn argument_i64(index: u32) -> Option<i64> {
    let mut digits = [0; 20];
    core::str::from_utf8(argument(index, &mut digits)?).ok()?.parse().ok()
}

/// Runs a command. Its reply, as far as it fits, is in `into`; [`Value::read`] reads it. Returns the reply's whole size; [`reply`] reads
/// the rest.
pub fn call(arguments: &[&[u8]], into: &mut [u8]) -> usize {
    with_spans(arguments, |spans, count| unsafe { import::call(spans, count, into.as_mut_ptr(), into.len()) })
}

/// Reads the reply of the last command from an offset on. Returns how much there was from there.
pub fn reply(offset: usize, into: &mut [u8]) -> usize {
    unsafe { import::reply(offset, into.as_mut_ptr(), into.len()) }
}

/// Whether the user may run a command; `None` if there is no such command.
pub fn may_call(arguments: &[&[u8]]) -> Option<bool> {
    match with_spans(arguments, |spans, count| unsafe { import::may_call(spans, count) }) {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Ends the function with an error; the text begins with a code (`ERR …`).
pub fn fail(text: &str) -> ! {
    unsafe { import::fail(text.as_ptr(), text.len()) };
    // The host does not return.
    loop {}
}

/// The level of a line of the log.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Level {
    Debug = 0,
    Verbose = 1,
    Notice = 2,
    Warning = 3,
}

/// Writes a line into the log of the server.
pub fn log(level: Level, text: &str) {
    unsafe { import::log(level as u32, text.as_ptr(), text.len()) }
}

/// Microseconds since 1970, the same during a whole call.
pub fn time_us() -> i64 {
    import::time()
}

/// A number that looks random; a call that is repeated gets the same numbers.
pub fn random() -> i64 {
    import::random()
}

/// A value, or the beginning of one whose elements follow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value<'a> {
    Nil,
    Integer(i64),
    Bulk(&'a [u8]),
    Status(&'a [u8]),
    Error(&'a [u8]),
    Double(f64),
    Boolean(bool),
    Array(u32),
    Map(u32),
    Set(u32),
    Number(&'a [u8]),
    Text(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Reads one value; `None` if it is cut short. `bytes` is then what follows.
    pub fn read(bytes: &mut &'a [u8]) -> Option<Value<'a>> {
        let (kind, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(match kind {
            0 => Value::Nil,
            1 => Value::Integer(i64::from_le_bytes(take(bytes)?)),
            5 => Value::Double(f64::from_le_bytes(take(bytes)?)),
            6 => Value::Boolean(take::<1>(bytes)? != [0]),
            kind => {
                let length = u32::from_le_bytes(take(bytes)?);
                match kind {
                    7 => return Some(Value::Array(length)),
                    8 => return Some(Value::Map(length)),
                    9 => return Some(Value::Set(length)),
                    _ => {}
                }
                let (text, rest) = bytes.split_at_checked(length as usize)?;
                *bytes = rest;
                match kind {
                    2 => Value::Bulk(text),
                    3 => Value::Status(text),
                    4 => Value::Error(text),
                    10 => Value::Number(text),
                    _ => Value::Text(text),
                }
            }
        })
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

/// What the function answers: one value, whose parts are written in order. Without any it is nil.
pub mod answer {
    use super::import;

    fn bytes(bytes: &[u8]) {
        unsafe { import::answer(bytes.as_ptr(), bytes.len()) }
    }

    fn header(kind: u8, count: u32) {
        let [a, b, c, d] = count.to_le_bytes();
        bytes(&[kind, a, b, c, d]);
    }

    /// Bytes that are values already.
    pub fn encoded(values: &[u8]) {
        bytes(values);
    }

    /// Nil.
    pub fn nil() {
        bytes(&[0]);
    }

    /// An integer.
    pub fn integer(value: i64) {
        import::answer_integer(value);
    }

    /// A string.
    pub fn bulk(text: &[u8]) {
        unsafe { import::answer_bulk(text.as_ptr(), text.len()) }
    }

    /// A status, as OK.
    pub fn status(text: &str) {
        unsafe { import::answer_status(text.as_ptr(), text.len()) }
    }

    /// An error as a value, possibly among others. [`fail`](super::fail) ends the function instead.
    pub fn error(text: &str) {
        header(4, text.len() as u32);
        bytes(text.as_bytes());
    }

    /// A number with a fraction.
    pub fn double(value: f64) {
        bytes(&[5]);
        bytes(&value.to_le_bytes());
    }

    /// A truth value.
    pub fn boolean(value: bool) {
        bytes(&[6, value as u8]);
    }

    /// The beginning of an array; so many values follow.
    pub fn array(count: u32) {
        header(7, count);
    }

    /// The beginning of a map; so many keys follow, each with its value.
    pub fn map(count: u32) {
        header(8, count);
    }

    /// The beginning of a set; so many values follow.
    pub fn set(count: u32) {
        header(9, count);
    }

    /// The reply of the last command, as it is.
    pub fn reply() {
        import::answer_reply();
    }
}

/// Exports the functions of a library: for each its name, its description and its flags.
#[macro_export]
macro_rules! library {
    ($($function:ident: $description:expr, $flags:expr);+ $(;)?) => {
        $(
            const _: () = {
                #[unsafe(export_name = stringify!($function))]
                extern "C" fn entry() {
                    $function()
                }
            };
        )+

        #[unsafe(export_name = "edgecask_load")]
        extern "C" fn edgecask_load() {
            $($crate::register(stringify!($function), $description, $flags);)+
        }
    };
}

/// A panic ends the function with an error that says where it was.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(panic: &core::panic::PanicInfo<'_>) -> ! {
    /// A text of bounded length, without an allocator.
    struct Text {
        bytes: [u8; 200],
        length: usize,
    }
    impl core::fmt::Write for Text {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            for (place, byte) in self.bytes.iter_mut().skip(self.length).zip(text.bytes()) {
                *place = byte;
                self.length += 1;
            }
            Ok(())
        }
    }
    let mut text = Text { bytes: [0; 200], length: 0 };
    _ = core::fmt::Write::write_fmt(&mut text, format_args!("ERR the function panicked"));
    if let Some(place) = panic.location() {
        _ = core::fmt::Write::write_fmt(&mut text, format_args!(" at {}:{}", place.file(), place.line()));
    }
    unsafe { import::fail(text.bytes.as_ptr(), text.length) };
    loop {}
}
