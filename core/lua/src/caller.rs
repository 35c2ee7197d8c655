//! What a running script reaches: commands of the host, ticks, and the libraries in Rust.

use edgecask_core::resp::Protocol;
use edgecask_core::script::{
    Answer, FunctionId, Host, Level, NewFunction, RunLimits, ScriptFlags, Tick, Writer,
};

use crate::ffi::{Callbacks, Registered, Reply};
use crate::library::{self, LibraryError};

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Killed,
    Abandoned,
    OutOfSteps,
}

/// Buffers that stay from run to run.
#[derive(Default)]
pub(crate) struct Buffers {
    reply: Writer,
    text: Vec<u8>,
}

/// A buffer that grew beyond this is given back after the run.
const KEPT_BYTES: usize = 64 * 1024;

impl Buffers {
    pub fn shrink(&mut self) {
        self.reply.shrink(KEPT_BYTES);
        if self.text.capacity() > KEPT_BYTES {
            self.text = Vec::new();
        }
    }
}

/// Steps that a library may take before it asks whether it may go on.
const STEPS_BETWEEN_TICKS: u64 = 10_000;

/// Steps that a call of a command counts as: about the time of a short one. A home that counts steps has no clock, and a script
/// may call nothing but commands.
const STEPS_OF_A_CALL: u64 = 200;

/// Bytes of arguments and of a reply that count as a step: they are copied.
const COPIED_BYTES_OF_A_STEP: usize = 32;

/// Counts the steps of a run and asks the host whether it may go on.
pub(crate) struct Meter<'h> {
    host: &'h mut dyn Host,
    steps_left: Option<u64>,
    /// Steps of libraries since the last tick.
    pending: u64,
    pub stop: Option<Stop>,
}

impl Meter<'_> {
    fn tick(&mut self, steps: u64) -> bool {
        if let Some(left) = self.steps_left.as_mut() {
            *left = left.saturating_sub(steps);
            if *left == 0 {
                self.stop = Some(Stop::OutOfSteps);
                return false;
            }
        }
        match self.host.tick(steps) {
            Tick::Continue => true,
            Tick::Kill => {
                self.stop = Some(Stop::Killed);
                false
            }
        }
    }

    /// Counts work of a library, in steps of about as much time as an instruction.
    pub fn work(&mut self, steps: u64) -> Result<(), LibraryError> {
        self.pending += steps;
        if self.pending < STEPS_BETWEEN_TICKS {
            return Ok(());
        }
        let steps = std::mem::take(&mut self.pending);
        if self.tick(steps) { Ok(()) } else { Err(LibraryError::Stopped) }
    }

    /// The same for so many bytes that are copied at once.
    pub fn copied(&mut self, bytes: usize) -> Result<(), LibraryError> {
        self.work((bytes / COPIED_BYTES_OF_A_STEP) as u64 + 1)
    }

    /// The same for so many bytes that are looked at or copied one by one.
    pub fn work_on(&mut self, bytes: usize) -> Result<(), LibraryError> {
        self.work(bytes as u64 / 2 + 1)
    }
}

/// The callbacks of one run.
pub(crate) struct Caller<'h> {
    pub meter: Meter<'h>,
    buffers: &'h mut Buffers,
    reply_limit: usize,
    /// The functions that the library under way registered.
    pub functions: Vec<i32>,
}

impl<'h> Caller<'h> {
    pub fn new(host: &'h mut dyn Host, limits: &RunLimits, buffers: &'h mut Buffers) -> Caller<'h> {
        let meter = Meter { host, steps_left: limits.steps, pending: 0, stop: None };
        let reply_limit = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX);
        Caller { meter, buffers, reply_limit, functions: Vec::new() }
    }
}

impl Callbacks for Caller<'_> {
    fn call(&mut self, arguments: &[&[u8]]) -> Reply<'_> {
        let reply = &mut self.buffers.reply;
        reply.reset(self.reply_limit);
        let answer = self.meter.host.call(arguments, reply);
        let bytes = arguments.iter().map(|argument| argument.len()).sum::<usize>() + reply.as_bytes().len();
        if self.meter.work(STEPS_OF_A_CALL + (bytes / COPIED_BYTES_OF_A_STEP) as u64).is_err() {
            return Reply::Kill;
        }
        match answer {
            Answer::Value | Answer::Error if reply.is_full() => {
                reply.reset(usize::MAX);
                reply.text(b"ERR the reply does not fit into the memory of a script");
                Reply::Error(reply.as_bytes())
            }
            Answer::Value => Reply::Value(reply.as_bytes()),
            Answer::Error => Reply::Error(reply.as_bytes()),
            Answer::Abandon => {
                self.meter.stop = Some(Stop::Abandoned);
                Reply::Kill
            }
            Answer::Kill => {
                self.meter.stop = Some(Stop::Killed);
                Reply::Kill
            }
        }
    }

    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool> {
        self.meter.host.may_call(arguments)
    }

    fn log(&mut self, level: std::ffi::c_int, text: &[u8]) {
        let level = match level {
            0 => Level::Debug,
            1 => Level::Verbose,
            2 => Level::Notice,
            _ => Level::Warning,
        };
        self.meter.host.log(level, text);
        // A run that has no steps left is ended by the next tick.
        let _ = self.meter.work(STEPS_OF_A_CALL + (text.len() / COPIED_BYTES_OF_A_STEP) as u64);
    }

    fn set_protocol(&mut self, version: std::ffi::c_int) {
        self.meter.host.set_protocol(if version == 3 { Protocol::Resp3 } else { Protocol::Resp2 });
    }

    fn register_function(&mut self, function: &Registered<'_>) -> Reply<'_> {
        let mut flags = ScriptFlags::NONE;
        for name in &function.flags {
            match ScriptFlags::named(name) {
                Some(flag) => flags = flags.with(flag),
                None => return Reply::Error(b"unknown flag given"),
            }
        }
        let id = FunctionId(function.id as u32);
        let new = NewFunction { name: function.name, description: function.description, flags, id };
        match self.meter.host.register_function(&new) {
            Ok(()) => {
                self.functions.push(function.id);
                Reply::Value(&[])
            }
            Err(text) => {
                self.buffers.text = text.into_bytes();
                Reply::Error(&self.buffers.text)
            }
        }
    }

    fn tick(&mut self, steps: u64) -> bool {
        self.meter.tick(steps)
    }

    fn clock_seconds(&mut self) -> f64 {
        self.meter.host.clock_seconds()
    }

    fn library(&mut self, function: std::ffi::c_int, settings: &mut [u8], arguments: &[u8]) -> Reply<'_> {
        let out = &mut self.buffers.reply;
        out.reset(self.reply_limit);
        let error = match library::run(function, settings, arguments, out, &mut self.meter) {
            Ok(()) if out.is_full() => LibraryError::Text("not enough memory".into()),
            Ok(()) => return Reply::Value(out.as_bytes()),
            Err(error) => error,
        };
        match error {
            LibraryError::Text(text) => {
                self.buffers.text = text.into_bytes();
                Reply::Error(&self.buffers.text)
            }
            LibraryError::Argument(number, text) => {
                self.buffers.text = text.into_bytes();
                Reply::Argument(number, &self.buffers.text)
            }
            LibraryError::Redis(text) => {
                self.buffers.text = text.into_bytes();
                Reply::Redis(&self.buffers.text)
            }
            LibraryError::Bare(text) => {
                self.buffers.text = text.into_bytes();
                Reply::Bare(&self.buffers.text)
            }
            LibraryError::Stopped => Reply::Kill,
        }
    }
}
