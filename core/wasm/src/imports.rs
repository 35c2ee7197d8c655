//! The imports of a guest as a trait, and one place that defines them in the linker of an engine.
//!
//! A running function reaches what it was called with through [`RUNNING`]: an engine's store can hold nothing that is borrowed, so
//! the run's [`Imports`] are in a slot of the thread while the engine runs. Runs may be nested on one thread (a trigger's function
//! inside a command of another); each sees its own.

use scoped_tls_hkt::scoped_thread_local;

/// The run is to end; the one who said so knows why.
#[derive(Debug)]
pub(crate) struct Stop;

impl std::fmt::Display for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the run was stopped")
    }
}

impl std::error::Error for Stop {}

/// What a guest may import, each with its linear memory. docs/functions.md says what each does.
pub(crate) trait Imports {
    fn register(&mut self, memory: &[u8], name: Span, description: Span, flags: u32) -> Result<(), Stop>;
    fn key_count(&mut self) -> Result<u32, Stop>;
    fn key(&mut self, memory: &mut [u8], index: u32, into: Span) -> Result<u32, Stop>;
    fn argument_count(&mut self) -> Result<u32, Stop>;
    fn argument(&mut self, memory: &mut [u8], index: u32, into: Span) -> Result<u32, Stop>;
    fn call(&mut self, memory: &mut [u8], spans: u32, count: u32, into: Span) -> Result<u32, Stop>;
    fn reply(&mut self, memory: &mut [u8], offset: u32, into: Span) -> Result<u32, Stop>;
    fn may_call(&mut self, memory: &[u8], spans: u32, count: u32) -> Result<u32, Stop>;
    fn answer(&mut self, memory: &[u8], value: Span) -> Result<(), Stop>;
    fn answer_integer(&mut self, value: i64) -> Result<(), Stop>;
    fn answer_bulk(&mut self, memory: &[u8], text: Span) -> Result<(), Stop>;
    fn answer_status(&mut self, memory: &[u8], text: Span) -> Result<(), Stop>;
    fn answer_reply(&mut self) -> Result<(), Stop>;
    fn fail(&mut self, memory: &[u8], text: Span) -> Result<(), Stop>;
    fn log(&mut self, memory: &[u8], level: u32, text: Span) -> Result<(), Stop>;
    fn time(&mut self) -> Result<i64, Stop>;
    fn random(&mut self) -> Result<i64, Stop>;

    /// Counts steps that the engine took, and asks whether the run may go on.
    fn tick(&mut self, steps: u64) -> Result<(), Stop>;
}

/// A place in the memory of a guest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub at: u32,
    pub length: u32,
}

impl Span {
    pub fn new(at: u32, length: u32) -> Span {
        Span { at, length }
    }

    /// The bytes there; none if they are not all in the memory.
    pub fn of(self, memory: &[u8]) -> Option<&[u8]> {
        let at = usize::try_from(self.at).ok()?;
        memory.get(at..at.checked_add(usize::try_from(self.length).ok()?)?)
    }

    /// The same for writing.
    pub fn of_mut(self, memory: &mut [u8]) -> Option<&mut [u8]> {
        let at = usize::try_from(self.at).ok()?;
        memory.get_mut(at..at.checked_add(usize::try_from(self.length).ok()?)?)
    }
}

scoped_thread_local!(pub(crate) static mut RUNNING: for<'r> &'r mut (dyn Imports + 'r));

/// Defines all imports in the linker of an engine. `$with` gives a closure the imports of the run and the memory of the guest, and
/// turns its outcome into the engine's.
macro_rules! define_imports {
    ($linker:expr, $caller:ty, $with:path) => {{
        use crate::imports::Span;
        use crate::interface::IMPORT_MODULE as MODULE;
        $linker.func_wrap(
            MODULE,
            "register",
            |caller: $caller, name: u32, name_length: u32, text: u32, text_length: u32, flags: u32| {
                $with(caller, |run, memory| {
                    run.register(memory, Span::new(name, name_length), Span::new(text, text_length), flags)
                })
            },
        )?;
        $linker.func_wrap(MODULE, "key_count", |caller: $caller| $with(caller, |run, _| run.key_count()))?;
        $linker.func_wrap(MODULE, "key", |caller: $caller, index: u32, into: u32, capacity: u32| {
            $with(caller, |run, memory| run.key(memory, index, Span::new(into, capacity)))
        })?;
        $linker.func_wrap(MODULE, "argument_count", |caller: $caller| {
            $with(caller, |run, _| run.argument_count())
        })?;
        $linker.func_wrap(MODULE, "argument", |caller: $caller, index: u32, into: u32, capacity: u32| {
            $with(caller, |run, memory| run.argument(memory, index, Span::new(into, capacity)))
        })?;
        $linker.func_wrap(
            MODULE,
            "call",
            |caller: $caller, spans: u32, count: u32, into: u32, capacity: u32| {
                $with(caller, |run, memory| run.call(memory, spans, count, Span::new(into, capacity)))
            },
        )?;
        $linker.func_wrap(MODULE, "reply", |caller: $caller, offset: u32, into: u32, capacity: u32| {
            $with(caller, |run, memory| run.reply(memory, offset, Span::new(into, capacity)))
        })?;
        $linker.func_wrap(MODULE, "may_call", |caller: $caller, spans: u32, count: u32| {
            $with(caller, |run, memory| run.may_call(memory, spans, count))
        })?;
        $linker.func_wrap(MODULE, "answer", |caller: $caller, at: u32, length: u32| {
            $with(caller, |run, memory| run.answer(memory, Span::new(at, length)))
        })?;
        $linker.func_wrap(MODULE, "answer_integer", |caller: $caller, value: i64| {
            $with(caller, |run, _| run.answer_integer(value))
        })?;
        $linker.func_wrap(MODULE, "answer_bulk", |caller: $caller, at: u32, length: u32| {
            $with(caller, |run, memory| run.answer_bulk(memory, Span::new(at, length)))
        })?;
        $linker.func_wrap(MODULE, "answer_status", |caller: $caller, at: u32, length: u32| {
            $with(caller, |run, memory| run.answer_status(memory, Span::new(at, length)))
        })?;
        $linker.func_wrap(MODULE, "answer_reply", |caller: $caller| {
            $with(caller, |run, _| run.answer_reply())
        })?;
        $linker.func_wrap(MODULE, "fail", |caller: $caller, at: u32, length: u32| {
            $with(caller, |run, memory| run.fail(memory, Span::new(at, length)))
        })?;
        $linker.func_wrap(MODULE, "log", |caller: $caller, level: u32, at: u32, length: u32| {
            $with(caller, |run, memory| run.log(memory, level, Span::new(at, length)))
        })?;
        $linker.func_wrap(MODULE, "time", |caller: $caller| $with(caller, |run, _| run.time()))?;
        $linker.func_wrap(MODULE, "random", |caller: $caller| $with(caller, |run, _| run.random()))?;
    }};
}
pub(crate) use define_imports;
