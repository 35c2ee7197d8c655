//! What a running function reaches: its arguments, commands of the host, the answer, the log; and the count of its steps.

use edgecask_core::resp::{Protocol, parse_i64};
use edgecask_core::script::{
    Answer, FunctionId, Host, Level, NewFunction, Reader, Run, ScriptFlags, Tick, Value, Writer,
};
use slab::Slab;
use smallvec::SmallVec;

use crate::guest_value::{self, Answers, BULK, ERROR, NoValue, STATUS, put_bytes, put_integer};
use crate::imports::{Imports, Span, Stop};
use crate::interface::{Outline, check_count, check_entry};
use crate::limits::{ARGUMENTS_MAX, BUFFER_PART, LOG_LINE_BYTES_MAX};

/// Why a run ended before its function returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The guest failed with this text.
    Failed {
        message: Vec<u8>,
        is_counted: bool,
    },
    /// The guest used an import as it may not.
    Misused(String),
    Killed,
    Abandoned,
    OutOfSteps,
}

/// Buffers that stay from run to run.
pub(crate) struct Buffers {
    flat: Writer,
    /// The reply of the last command, as the guest reads it.
    reply: Vec<u8>,
    answer: Vec<u8>,
    /// The last error of a command.
    error: Vec<u8>,
}

/// A buffer that grew beyond this is given back after the run.
const KEPT_BYTES: usize = 64 << 10;

impl Buffers {
    pub fn new() -> Buffers {
        Buffers { flat: Writer::with_integers(0), reply: Vec::new(), answer: Vec::new(), error: Vec::new() }
    }

    fn begin(&mut self) {
        self.reply.clear();
        self.answer.clear();
        self.error.clear();
    }

    pub fn shrink(&mut self) {
        self.flat.shrink(KEPT_BYTES);
        for buffer in [&mut self.reply, &mut self.answer, &mut self.error] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// A function of a library.
pub(crate) struct Function {
    pub library: usize,
    /// Its place among the exports that are called.
    pub entry: usize,
}

/// What the guest does just now, which decides on the imports that it may use.
pub(crate) enum Phase<'r> {
    /// A library registers its functions.
    Load {
        outline: &'r Outline,
        library: usize,
        functions: &'r mut Slab<Function>,
        /// The exports that are called; those of the functions are added.
        entries: &'r mut Vec<String>,
        /// The functions of this library, to be taken back if it fails.
        ids: &'r mut Vec<usize>,
    },
    /// A new instance is made ready.
    Initialize,
    /// A function runs.
    Run(&'r Run<'r>),
}

/// Steps of one call of an import, about as much time as so many instructions.
const STEPS_PER_CALL: u64 = 40;

/// One more step for so many bytes that are copied.
const BYTES_PER_STEP: u64 = 16;

/// Steps of imports after which the host is asked whether the run may go on.
const STEPS_BETWEEN_TICKS: u64 = 10_000;

/// The imports of one run.
pub(crate) struct Caller<'r> {
    host: &'r mut dyn Host,
    buffers: &'r mut Buffers,
    pub phase: Phase<'r>,
    /// Bytes of a reply, of a command, and of the answer.
    bytes_max: usize,
    steps_left: Option<u64>,
    /// Steps of imports since the last tick.
    pending: u64,
    random: u64,
    pub end: Option<End>,
}

impl<'r> Caller<'r> {
    pub fn new(
        host: &'r mut dyn Host,
        buffers: &'r mut Buffers,
        phase: Phase<'r>,
        memory_bytes: usize,
        steps: Option<u64>,
    ) -> Caller<'r> {
        buffers.begin();
        let mut random = 0;
        if let Phase::Run(run) = &phase {
            random = u64::from(run.seed as u32);
            // The kinds of RESP3 are those that guests know.
            host.set_protocol(Protocol::Resp3);
        }
        let bytes_max = memory_bytes / BUFFER_PART;
        Caller { host, buffers, phase, bytes_max, steps_left: steps, pending: 0, random, end: None }
    }

    /// Writes the answer of a run that ended well.
    pub fn finish(&mut self, value: &mut Writer) -> Result<(), NoValue> {
        // Out of the buffers, since the host is asked meanwhile whether this may go on.
        let mut flat = std::mem::take(&mut self.buffers.flat);
        let answer = std::mem::take(&mut self.buffers.answer);
        flat.reset(self.bytes_max);
        let outcome = guest_value::decode(&answer, &mut flat, self).and_then(|()| {
            let has_room = !flat.is_full();
            value.append(flat.as_bytes());
            if has_room && !value.is_full() { Ok(()) } else { Err(NoValue::Wrong(NO_ROOM.into())) }
        });
        self.buffers.flat = flat;
        self.buffers.answer = answer;
        outcome
    }

    fn stop(&mut self, end: End) -> Stop {
        // The first reason stays: what follows is its consequence.
        self.end.get_or_insert(end);
        Stop
    }

    fn misused(&mut self, import: &str, mistake: impl std::fmt::Display) -> Stop {
        self.stop(End::Misused(format!("{import}: {mistake}")))
    }

    fn outside(&mut self, import: &str, span: Span) -> Stop {
        let Span { at, length } = span;
        self.misused(import, format_args!("{length} bytes at {at} are not in the memory"))
    }

    /// Counts the steps of an import that copies so many bytes.
    fn work(&mut self, bytes: usize) -> Result<(), Stop> {
        self.pending += STEPS_PER_CALL + bytes as u64 / BYTES_PER_STEP;
        if self.pending < STEPS_BETWEEN_TICKS {
            return Ok(());
        }
        let steps = std::mem::take(&mut self.pending);
        Imports::tick(self, steps)
    }

    fn run(&mut self, import: &str) -> Result<&'r Run<'r>, Stop> {
        match &self.phase {
            Phase::Run(run) => Ok(*run),
            _ => Err(self.misused(import, "only a function that runs may call this")),
        }
    }

    fn read<'m>(&mut self, memory: &'m [u8], span: Span, import: &str) -> Result<&'m [u8], Stop> {
        self.work(span.length as usize)?;
        span.of(memory).ok_or_else(|| self.outside(import, span))
    }

    /// Copies what fits, and says how long it is.
    fn write(&mut self, memory: &mut [u8], into: Span, bytes: &[u8], import: &str) -> Result<u32, Stop> {
        let target = into.of_mut(memory).ok_or_else(|| self.outside(import, into))?;
        let size = bytes.len().min(target.len());
        if let (Some(target), Some(bytes)) = (target.get_mut(..size), bytes.get(..size)) {
            target.copy_from_slice(bytes);
        }
        self.work(size)?;
        u32::try_from(bytes.len()).map_err(|_| self.misused(import, "more than 4 GiB"))
    }

    /// The argument or key of this index, or -1.
    fn write_item(
        &mut self,
        memory: &mut [u8],
        item: Option<&&[u8]>,
        into: Span,
        import: &str,
    ) -> Result<u32, Stop> {
        match item {
            Some(bytes) => self.write(memory, into, bytes, import),
            None => Ok(u32::MAX),
        }
    }

    /// Calls `action` with the arguments of a command.
    fn with_arguments<R>(
        &mut self,
        memory: &[u8],
        spans: u32,
        count: u32,
        import: &str,
        action: impl FnOnce(&mut Self, &[&[u8]]) -> R,
    ) -> Result<R, Stop> {
        if count == 0 || count > ARGUMENTS_MAX {
            return Err(
                self.misused(import, format_args!("{count} arguments; 1 to {ARGUMENTS_MAX} make a command"))
            );
        }
        let list = Span::new(spans, count * 8);
        let list = list.of(memory).ok_or_else(|| self.outside(import, list))?;
        let mut arguments: SmallVec<[&[u8]; 8]> = SmallVec::with_capacity(count as usize);
        let (pairs, _) = list.as_chunks::<8>();
        let mut bytes = 0;
        for [a, b, c, d, e, f, g, h] in pairs {
            let span = Span::new(u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes([*e, *f, *g, *h]));
            let argument = span.of(memory).ok_or_else(|| self.outside(import, span))?;
            // Arguments may lie on one another, so their sum has no other bound.
            bytes += argument.len();
            let most = self.bytes_max;
            if bytes > most {
                return Err(self.misused(import, format_args!("more than {most} bytes of arguments")));
            }
            arguments.push(argument);
        }
        self.work(bytes)?;
        Ok(action(self, &arguments))
    }

    /// Runs a command; its reply is in the buffer.
    fn command(&mut self, arguments: &[&[u8]]) -> Result<(), Stop> {
        let Buffers { flat, reply, error, .. } = &mut *self.buffers;
        flat.reset(self.bytes_max);
        let answer = self.host.call(arguments, flat);
        reply.clear();
        match answer {
            Answer::Value | Answer::Error if flat.is_full() => put_bytes(ERROR, REPLY_TOO_LARGE, reply),
            Answer::Value => guest_value::encode(flat.as_bytes(), reply),
            Answer::Error => {
                if let Some(Value::Text(text)) = Reader::new(flat.as_bytes()).next() {
                    put_bytes(ERROR, text, reply);
                    error.clear();
                    error.extend_from_slice(text);
                }
            }
            Answer::Abandon => return Err(self.stop(End::Abandoned)),
            Answer::Kill => return Err(self.stop(End::Killed)),
        }
        Ok(())
    }

    fn add_answer(&mut self, import: &str, bytes: usize, add: impl FnOnce(&mut Buffers)) -> Result<(), Stop> {
        self.run(import)?;
        // The longest header is that of an integer.
        if self.buffers.answer.len().saturating_add(bytes + 9) > self.bytes_max {
            return Err(self.misused(import, NO_ROOM));
        }
        add(self.buffers);
        Ok(())
    }
}

/// Steps of a value that is answered.
const STEPS_PER_VALUE: u64 = 10;

impl Answers for Caller<'_> {
    fn is_counted(&self, error: &[u8]) -> bool {
        !error.is_empty() && self.buffers.error == error
    }

    fn tick(&mut self, values: u64) -> bool {
        Imports::tick(self, values * STEPS_PER_VALUE).is_ok()
    }
}

/// The text for an answer, or what becomes of it, that is too large.
const NO_ROOM: &str = "the answer takes more than a quarter of the memory of a run";

const REPLY_TOO_LARGE: &[u8] = b"ERR the reply takes more than a quarter of the memory of a function";

/// A line as a reply may have it.
fn one_line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect()
}

/// The flags in the bits of a registration.
fn flags(bits: u32) -> Option<ScriptFlags> {
    const BITS: [ScriptFlags; 6] = [
        ScriptFlags::NO_WRITES,
        ScriptFlags::ALLOW_OOM,
        ScriptFlags::ALLOW_STALE,
        ScriptFlags::NO_CLUSTER,
        ScriptFlags::ALLOW_CROSS_SLOT_KEYS,
        ScriptFlags::DETERMINISTIC,
    ];
    if bits >> BITS.len() != 0 {
        return None;
    }
    let set = BITS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    Some(set.fold(ScriptFlags::NONE, |flags, (_, flag)| flags.with(*flag)))
}

impl Imports for Caller<'_> {
    fn register(&mut self, memory: &[u8], name: Span, description: Span, bits: u32) -> Result<(), Stop> {
        const IMPORT: &str = "register";
        let name = self.read(memory, name, IMPORT)?;
        let description = self.read(memory, description, IMPORT)?;
        let Some(flags) = flags(bits) else {
            return Err(self.misused(IMPORT, format_args!("unknown flag given: {bits:#x}")));
        };
        let Phase::Load { outline, library, functions, entries, ids } = &mut self.phase else {
            return Err(self.misused(IMPORT, "functions are registered while their library is loaded"));
        };
        let export = String::from_utf8_lossy(name).into_owned();
        let checked = check_count(ids.len()).and_then(|()| check_entry(outline, &export));
        let place = functions.vacant_entry();
        let new = NewFunction {
            name,
            description: (!description.is_empty()).then_some(description),
            flags,
            id: FunctionId(place.key() as u32),
        };
        if let Err(text) = checked.and_then(|()| self.host.register_function(&new)) {
            let message = format!("ERR {text}").into_bytes();
            return Err(self.stop(End::Failed { message, is_counted: false }));
        }
        ids.push(place.key());
        place.insert(Function { library: *library, entry: entries.len() });
        entries.push(export);
        Ok(())
    }

    fn key_count(&mut self) -> Result<u32, Stop> {
        self.work(0)?;
        Ok(self.run("key_count")?.keys.len() as u32)
    }

    fn key(&mut self, memory: &mut [u8], index: u32, into: Span) -> Result<u32, Stop> {
        let key = self.run("key")?.keys.get(index as usize);
        self.write_item(memory, key, into, "key")
    }

    fn argument_count(&mut self) -> Result<u32, Stop> {
        self.work(0)?;
        Ok(self.run("argument_count")?.arguments.len() as u32)
    }

    fn argument(&mut self, memory: &mut [u8], index: u32, into: Span) -> Result<u32, Stop> {
        let argument = self.run("argument")?.arguments.get(index as usize);
        self.write_item(memory, argument, into, "argument")
    }

    fn call(&mut self, memory: &mut [u8], spans: u32, count: u32, into: Span) -> Result<u32, Stop> {
        const IMPORT: &str = "call";
        self.run(IMPORT)?;
        // A command that has run is not undone by what its caller does wrong afterwards, so the place is looked at first.
        if into.of(memory).is_none() {
            return Err(self.outside(IMPORT, into));
        }
        self.with_arguments(memory, spans, count, IMPORT, |caller, arguments| caller.command(arguments))??;
        let reply = std::mem::take(&mut self.buffers.reply);
        let size = self.write(memory, into, &reply, IMPORT);
        self.buffers.reply = reply;
        size
    }

    fn reply(&mut self, memory: &mut [u8], offset: u32, into: Span) -> Result<u32, Stop> {
        const IMPORT: &str = "reply";
        self.run(IMPORT)?;
        let reply = std::mem::take(&mut self.buffers.reply);
        let rest = reply.get(offset as usize..).unwrap_or_default();
        let size = self.write(memory, into, rest, IMPORT);
        self.buffers.reply = reply;
        size
    }

    fn may_call(&mut self, memory: &[u8], spans: u32, count: u32) -> Result<u32, Stop> {
        const IMPORT: &str = "may_call";
        self.run(IMPORT)?;
        let may = self.with_arguments(memory, spans, count, IMPORT, |caller, arguments| {
            caller.host.may_call(arguments)
        })?;
        Ok(match may {
            Some(true) => 1,
            Some(false) => 0,
            None => u32::MAX,
        })
    }

    fn answer(&mut self, memory: &[u8], value: Span) -> Result<(), Stop> {
        let value = self.read(memory, value, "answer")?;
        self.add_answer("answer", value.len(), |buffers| buffers.answer.extend_from_slice(value))
    }

    fn answer_integer(&mut self, value: i64) -> Result<(), Stop> {
        self.work(0)?;
        self.add_answer("answer_integer", 0, |buffers| put_integer(value, &mut buffers.answer))
    }

    fn answer_bulk(&mut self, memory: &[u8], text: Span) -> Result<(), Stop> {
        let text = self.read(memory, text, "answer_bulk")?;
        self.add_answer("answer_bulk", text.len(), |buffers| put_bytes(BULK, text, &mut buffers.answer))
    }

    fn answer_status(&mut self, memory: &[u8], text: Span) -> Result<(), Stop> {
        let text = self.read(memory, text, "answer_status")?;
        self.add_answer("answer_status", text.len(), |buffers| put_bytes(STATUS, text, &mut buffers.answer))
    }

    fn answer_reply(&mut self) -> Result<(), Stop> {
        let size = self.buffers.reply.len();
        self.work(size)?;
        self.add_answer("answer_reply", size, |buffers| buffers.answer.extend_from_slice(&buffers.reply))
    }

    fn fail(&mut self, memory: &[u8], text: Span) -> Result<(), Stop> {
        let text = self.read(memory, text, "fail")?;
        let message = if text.is_empty() { b"ERR the function failed".to_vec() } else { one_line(text) };
        let is_counted = self.is_counted(text);
        Err(self.stop(End::Failed { message, is_counted }))
    }

    fn log(&mut self, memory: &[u8], level: u32, text: Span) -> Result<(), Stop> {
        let text = self.read(memory, text, "log")?;
        let level = match level {
            0 => Level::Debug,
            1 => Level::Verbose,
            2 => Level::Notice,
            3 => Level::Warning,
            _ => return Err(self.misused("log", format_args!("{level} is no level; 0 to 3 are"))),
        };
        self.host.log(level, text.get(..LOG_LINE_BYTES_MAX).unwrap_or(text));
        Ok(())
    }

    fn time(&mut self) -> Result<i64, Stop> {
        self.run("time")?;
        self.work(0)?;
        // The reply of the guest's last command stays where it is.
        let flat = &mut self.buffers.flat;
        flat.reset(self.bytes_max);
        let answer = self.host.call(&[b"TIME"], flat);
        let mut values = Reader::new(flat.as_bytes());
        match (answer, values.next()) {
            (Answer::Abandon, _) => Err(self.stop(End::Abandoned)),
            (Answer::Kill, _) => Err(self.stop(End::Killed)),
            (Answer::Value, Some(Value::Table(table))) => {
                let mut parts = table.values().map(|part| match part {
                    Value::Text(digits) => parse_i64(digits),
                    _ => None,
                });
                let (seconds, micros) = (parts.next().flatten(), parts.next().flatten());
                Ok(seconds.unwrap_or(0).saturating_mul(1_000_000).saturating_add(micros.unwrap_or(0)))
            }
            (_, Some(Value::Text(text))) => {
                let message = text.to_vec();
                Err(self.stop(End::Failed { message, is_counted: true }))
            }
            _ => Err(self.misused("time", "the server has no time")),
        }
    }

    fn random(&mut self) -> Result<i64, Stop> {
        self.run("random")?;
        self.work(0)?;
        // SplitMix64: https://prng.di.unimi.it/splitmix64.c
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok((mixed ^ mixed >> 31) as i64)
    }

    fn tick(&mut self, steps: u64) -> Result<(), Stop> {
        if let Some(left) = &mut self.steps_left {
            *left = left.saturating_sub(steps);
            if *left == 0 {
                return Err(self.stop(End::OutOfSteps));
            }
        }
        match self.host.tick(steps) {
            Tick::Continue => Ok(()),
            Tick::Kill => Err(self.stop(End::Killed)),
        }
    }
}
