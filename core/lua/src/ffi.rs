//! The border to C, and the only file of the crate with unsafe code. `csrc/border.h` has the same declarations in C.
//!
//! Invariants, on which every unsafe block here rests:
//! - A `state` is made by `ec_new`, freed by `Drop`, and used by one thread at a time, under `&mut`.
//! - C calls back only inside `ec_compile`, `ec_load` and `ec_call`, with the pointer of the [`Context`] that `ec_new` got (the
//!   allocator needs no context and may be called at any time). The context says which [`Callbacks`] are those of the run.
//! - Bytes that C passes stay while the callback runs; bytes that a callback passes stay until the next callback of the run, since
//!   they lie in buffers of the callbacks.
//! - No panic reaches C: it is caught, the run is killed, and the panic goes on once C has returned.

use std::alloc::Layout;
use std::any::Any;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use smallvec::SmallVec;

use crate::arguments::{Argument, with_bytes};

/// What a callback answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply<'a> {
    /// Flat bytes.
    Value(&'a [u8]),
    /// For a command flat bytes, one text; for all others the text itself.
    Error(&'a [u8]),
    /// A library's error on the argument of this number.
    Argument(c_int, &'a [u8]),
    /// A library's error in the shape of `redis.call`'s.
    Redis(&'a [u8]),
    /// A library's error without the place of the call.
    Bare(&'a [u8]),
    Kill,
}

/// A function that a library registers.
pub(crate) struct Registered<'a> {
    pub name: &'a [u8],
    pub description: Option<&'a [u8]>,
    pub flags: Vec<&'a [u8]>,
    pub id: i32,
}

/// What C calls while a script runs.
pub(crate) trait Callbacks {
    fn call(&mut self, arguments: &[&[u8]]) -> Reply<'_>;
    /// `None` if there is no such command.
    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool>;
    fn log(&mut self, level: c_int, text: &[u8]);
    fn set_protocol(&mut self, version: c_int);
    fn register_function(&mut self, function: &Registered<'_>) -> Reply<'_>;
    /// False ends the run.
    fn tick(&mut self, steps: u64) -> bool;
    fn clock_seconds(&mut self) -> f64;
    fn library(&mut self, function: c_int, settings: &mut [u8], arguments: &[u8]) -> Reply<'_>;
}

/// How a call of the interpreter ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome<'a> {
    /// Flat bytes.
    Done(&'a [u8]),
    /// Flat bytes: text, source, line, whether it is counted.
    Failed(&'a [u8]),
    Killed,
    /// Flat bytes: one text.
    Plain(&'a [u8]),
    /// Flat bytes: one text.
    Syntax(&'a [u8]),
}

const VALUE: c_int = 0;
const ERROR: c_int = 1;
const KILL: c_int = 2;
const ARGUMENT: c_int = 3;
const REDIS: c_int = 4;
const BARE: c_int = 5;

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    at: *const u8,
    len: usize,
}

impl Bytes {
    fn of(bytes: &[u8]) -> Bytes {
        Bytes { at: bytes.as_ptr(), len: bytes.len() }
    }

    /// Safety: the bytes are C's and stay as long as the caller uses them.
    unsafe fn get<'a>(self) -> &'a [u8] {
        if self.at.is_null() || self.len == 0 {
            &[]
        } else {
            unsafe { std::slice::from_raw_parts(self.at, self.len) }
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawArgument {
    at: *const u8,
    len: usize,
    number: f64,
}

#[repr(C)]
struct RawFunction {
    name: Bytes,
    description: Bytes,
    flags: *const Bytes,
    flag_count: usize,
    id: i32,
}

#[repr(C)]
struct Calls {
    call: unsafe extern "C" fn(*mut c_void, *const RawArgument, usize, *mut Bytes) -> c_int,
    may_call: unsafe extern "C" fn(*mut c_void, *const RawArgument, usize, *mut c_int) -> c_int,
    log: unsafe extern "C" fn(*mut c_void, c_int, Bytes) -> c_int,
    set_protocol: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    register_function: unsafe extern "C" fn(*mut c_void, *const RawFunction, *mut Bytes) -> c_int,
    tick: unsafe extern "C" fn(*mut c_void, u64) -> c_int,
    clock: unsafe extern "C" fn(*mut c_void, *mut f64) -> c_int,
    library: unsafe extern "C" fn(*mut c_void, c_int, *mut u8, usize, Bytes, *mut Bytes, *mut c_int) -> c_int,
    allocate: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void,
}

#[repr(C)]
struct Place {
    source: [c_char; 64],
    line: c_int,
}

#[repr(C)]
struct RawRun {
    keys: *const Bytes,
    key_count: usize,
    arguments: *const Bytes,
    argument_count: usize,
    memory_bytes: u64,
    seed: i32,
}

#[repr(C)]
struct Options {
    environment: c_int,
    with_newproxy: c_int,
    version: *const c_char,
    version_number: u32,
}

#[repr(C)]
struct State {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn ec_new(calls: *const Calls, host: *mut c_void, options: *const Options) -> *mut State;
    fn ec_free(state: *mut State);
    fn ec_compile(
        state: *mut State,
        source: Bytes,
        memory_bytes: u64,
        script: *mut i32,
        out: *mut Bytes,
    ) -> c_int;
    fn ec_load(state: *mut State, source: Bytes, memory_bytes: u64, out: *mut Bytes) -> c_int;
    fn ec_call(state: *mut State, script: i32, run: *const RawRun, out: *mut Bytes) -> c_int;
    fn ec_drop(state: *mut State, script: i32);
    fn ec_killed_at(state: *mut State, place: *mut Place);
    fn ec_collect(state: *mut State) -> c_int;
    fn ec_memory(state: *mut State) -> u64;
}

static CALLS: Calls =
    Calls { call, may_call, log, set_protocol, register_function, tick, clock, library, allocate };

/// What C's `host` points to.
#[derive(Default)]
struct Context {
    /// The callbacks of the run under way; their lifetime is that of the call of [`Interpreter::during`].
    callbacks: Option<NonNull<dyn Callbacks>>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Calls the callbacks of the run; a panic there, or no run, kills.
///
/// Safety: `host` points to a [`Context`], which nothing else refers to now.
unsafe fn with_callbacks(host: *mut c_void, action: impl FnOnce(&mut dyn Callbacks) -> c_int) -> c_int {
    let context = unsafe { &mut *host.cast::<Context>() };
    let Some(mut callbacks) = context.callbacks else { return KILL };
    // The callbacks live while `Interpreter::during` runs, which set them, and are used by nothing else meanwhile.
    let callbacks = unsafe { callbacks.as_mut() };
    match catch_unwind(AssertUnwindSafe(|| action(callbacks))) {
        Ok(answer) => answer,
        Err(panic) => {
            context.panic = Some(panic);
            KILL
        }
    }
}

/// Safety: `count` arguments lie there while the caller uses them.
unsafe fn arguments<'a>(at: *const RawArgument, count: usize) -> impl Iterator<Item = Argument<'a>> + Clone {
    let raw: &'a [RawArgument] =
        if count == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(at, count) } };
    raw.iter().map(|argument| {
        if argument.at.is_null() {
            Argument::Number(argument.number)
        } else {
            Argument::Bytes(unsafe { Bytes { at: argument.at, len: argument.len }.get() })
        }
    })
}

/// Safety: `out` is writable.
unsafe fn give(reply: Reply<'_>, out: *mut Bytes) -> c_int {
    let (answer, bytes) = match reply {
        Reply::Value(bytes) => (VALUE, bytes),
        Reply::Error(bytes) => (ERROR, bytes),
        Reply::Argument(_, bytes) => (ARGUMENT, bytes),
        Reply::Redis(bytes) => (REDIS, bytes),
        Reply::Bare(bytes) => (BARE, bytes),
        Reply::Kill => return KILL,
    };
    unsafe { *out = Bytes::of(bytes) };
    answer
}

unsafe extern "C" fn call(
    host: *mut c_void,
    at: *const RawArgument,
    count: usize,
    reply: *mut Bytes,
) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            with_bytes(arguments(at, count), |arguments| give(callbacks.call(arguments), reply))
        })
    }
}

unsafe extern "C" fn may_call(
    host: *mut c_void,
    at: *const RawArgument,
    count: usize,
    answer: *mut c_int,
) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            match with_bytes(arguments(at, count), |all| callbacks.may_call(all)) {
                Some(may) => {
                    *answer = c_int::from(may);
                    VALUE
                }
                None => ERROR,
            }
        })
    }
}

unsafe extern "C" fn log(host: *mut c_void, level: c_int, text: Bytes) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            callbacks.log(level, text.get());
            VALUE
        })
    }
}

unsafe extern "C" fn set_protocol(host: *mut c_void, version: c_int) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            callbacks.set_protocol(version);
            VALUE
        })
    }
}

unsafe extern "C" fn register_function(
    host: *mut c_void,
    function: *const RawFunction,
    error: *mut Bytes,
) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            let raw = &*function;
            let flags = if raw.flag_count == 0 {
                &[][..]
            } else {
                std::slice::from_raw_parts(raw.flags, raw.flag_count)
            };
            let function = Registered {
                name: raw.name.get(),
                description: (!raw.description.at.is_null()).then(|| raw.description.get()),
                flags: flags.iter().map(|flag| flag.get()).collect(),
                id: raw.id,
            };
            give(callbacks.register_function(&function), error)
        })
    }
}

unsafe extern "C" fn tick(host: *mut c_void, steps: u64) -> c_int {
    unsafe { with_callbacks(host, |callbacks| if callbacks.tick(steps) { VALUE } else { KILL }) }
}

unsafe extern "C" fn clock(host: *mut c_void, seconds: *mut f64) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            *seconds = callbacks.clock_seconds();
            VALUE
        })
    }
}

unsafe extern "C" fn library(
    host: *mut c_void,
    function: c_int,
    settings: *mut u8,
    settings_len: usize,
    arguments: Bytes,
    results: *mut Bytes,
    argument: *mut c_int,
) -> c_int {
    unsafe {
        with_callbacks(host, |callbacks| {
            let settings = if settings.is_null() {
                &mut [][..]
            } else {
                std::slice::from_raw_parts_mut(settings, settings_len)
            };
            let reply = callbacks.library(function, settings, arguments.get());
            if let Reply::Argument(number, _) = reply {
                *argument = number;
            }
            give(reply, results)
        })
    }
}

/// Lua asks for blocks like C's `realloc`; what it allocates comes from the program's allocator.
unsafe extern "C" fn allocate(
    _host: *mut c_void,
    block: *mut c_void,
    old_size: usize,
    new_size: usize,
) -> *mut c_void {
    // Of all that Lua and the shim put there: numbers, pointers, 64-bit integers.
    const ALIGNMENT: usize = 8;
    let layout = |size| Layout::from_size_align(size, ALIGNMENT);
    let (Ok(old), Ok(new)) = (layout(old_size), layout(new_size)) else { return std::ptr::null_mut() };
    let block = block.cast::<u8>();
    // A block that is there was allocated here with the old size and this alignment; sizes of zero never reach the allocator.
    unsafe {
        match (block.is_null() || old_size == 0, new_size == 0) {
            (true, true) => std::ptr::null_mut(),
            (true, false) => std::alloc::alloc(new).cast(),
            (false, true) => {
                std::alloc::dealloc(block, old);
                std::ptr::null_mut()
            }
            (false, false) => std::alloc::realloc(block, old, new_size).cast(),
        }
    }
}

/// What scripts find in an interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Environment {
    /// That of EVAL.
    Eval,
    /// That of libraries of functions.
    Functions,
}

/// One interpreter.
pub(crate) struct Interpreter {
    state: NonNull<State>,
    /// A box that only C and this file refer to, by this pointer.
    context: NonNull<Context>,
}

// Neither the state nor the context belongs to a thread; all use is under `&mut`.
unsafe impl Send for Interpreter {}

/// One call of a script or function.
pub(crate) struct Call<'a> {
    pub keys: &'a [&'a [u8]],
    pub arguments: &'a [&'a [u8]],
    pub memory_bytes: u64,
    pub seed: i32,
}

impl Interpreter {
    /// `None` if there is no memory for it. `version` is that of Redis, as scripts see it.
    pub fn new(
        environment: Environment,
        version: &str,
        version_number: u32,
        with_newproxy: bool,
    ) -> Option<Interpreter> {
        let version = CString::new(version).ok()?;
        let options = Options {
            environment: c_int::from(environment == Environment::Functions),
            with_newproxy: c_int::from(with_newproxy),
            version: version.as_ptr(),
            version_number,
        };
        let context = NonNull::from(Box::leak(Box::<Context>::default()));
        let state = unsafe { ec_new(&CALLS, context.as_ptr().cast(), &options) };
        match NonNull::new(state) {
            Some(state) => Some(Interpreter { state, context }),
            None => {
                drop(unsafe { Box::from_raw(context.as_ptr()) });
                None
            }
        }
    }

    /// Runs `action` while C may call these callbacks.
    fn during<R>(&mut self, callbacks: &mut dyn Callbacks, action: impl FnOnce(*mut State) -> R) -> R {
        // The lifetime is cut off here; the pointer is gone again before this function returns.
        let callbacks: NonNull<dyn Callbacks> = unsafe {
            std::mem::transmute::<NonNull<dyn Callbacks + '_>, NonNull<dyn Callbacks + 'static>>(
                NonNull::from(callbacks),
            )
        };
        unsafe { (*self.context.as_ptr()).callbacks = Some(callbacks) };
        let result = action(self.state.as_ptr());
        let panic = unsafe {
            let context = &mut *self.context.as_ptr();
            context.callbacks = None;
            context.panic.take()
        };
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        result
    }

    /// Safety: `out` was written by the state just now.
    unsafe fn outcome(&mut self, answer: c_int, out: Bytes) -> Outcome<'_> {
        let bytes = unsafe { out.get() };
        match answer {
            0 => Outcome::Done(bytes),
            1 => Outcome::Failed(bytes),
            3 => Outcome::Plain(bytes),
            4 => Outcome::Syntax(bytes),
            _ => Outcome::Killed,
        }
    }

    pub fn compile(
        &mut self,
        source: &[u8],
        memory_bytes: u64,
        callbacks: &mut dyn Callbacks,
    ) -> (i32, Outcome<'_>) {
        let mut script = 0;
        let mut out = Bytes::of(&[]);
        let answer = self.during(callbacks, |state| unsafe {
            ec_compile(state, Bytes::of(source), memory_bytes, &mut script, &mut out)
        });
        (script, unsafe { self.outcome(answer, out) })
    }

    pub fn load(&mut self, source: &[u8], memory_bytes: u64, callbacks: &mut dyn Callbacks) -> Outcome<'_> {
        let mut out = Bytes::of(&[]);
        let answer = self
            .during(callbacks, |state| unsafe { ec_load(state, Bytes::of(source), memory_bytes, &mut out) });
        unsafe { self.outcome(answer, out) }
    }

    pub fn call(&mut self, script: i32, call: &Call<'_>, callbacks: &mut dyn Callbacks) -> Outcome<'_> {
        let keys: SmallVec<[Bytes; 8]> = call.keys.iter().map(|key| Bytes::of(key)).collect();
        let arguments: SmallVec<[Bytes; 8]> = call.arguments.iter().map(|bytes| Bytes::of(bytes)).collect();
        let run = RawRun {
            keys: keys.as_ptr(),
            key_count: keys.len(),
            arguments: arguments.as_ptr(),
            argument_count: arguments.len(),
            memory_bytes: call.memory_bytes,
            seed: call.seed,
        };
        let mut out = Bytes::of(&[]);
        let answer = self.during(callbacks, |state| unsafe { ec_call(state, script, &run, &mut out) });
        unsafe { self.outcome(answer, out) }
    }

    /// Forgets a script or function.
    pub fn drop_script(&mut self, script: i32) {
        unsafe { ec_drop(self.state.as_ptr(), script) }
    }

    /// Where the last run was killed.
    pub fn killed_at(&mut self) -> Option<(Vec<u8>, i64)> {
        let mut place = Place { source: [0; 64], line: 0 };
        unsafe { ec_killed_at(self.state.as_ptr(), &mut place) };
        let source = place.source.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
        (place.line > 0).then(|| (source, i64::from(place.line)))
    }

    /// One step of garbage collection; true if there is more to do.
    pub fn collect(&mut self) -> bool {
        unsafe { ec_collect(self.state.as_ptr()) != 0 }
    }

    /// Bytes that it holds.
    pub fn memory_bytes(&self) -> u64 {
        unsafe { ec_memory(self.state.as_ptr()) }
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        unsafe {
            ec_free(self.state.as_ptr());
            drop(Box::from_raw(self.context.as_ptr()));
        }
    }
}
