//! What a running script reaches: commands of its transaction, the log, and ticks by which it is stopped.

use std::sync::Arc;

use super::job::Job;
use crate::catalog::{CommandSpec, Flags};
use crate::command::admission::{self, Origin};
use crate::command::args::is_option;
use crate::command::{Busy, CommandError, Context};
use crate::engine::EngineError;
use crate::limits::{SCRIPT_LOG_MAX_BYTES, SCRIPT_TURN_NS};
use crate::memory_budget::MARGIN_BYTES;
use crate::resp::{Protocol, Reply};
use crate::script::{Answer, Host, Level, NewFunction, Tick, Writer, read_reply};
use crate::server::hub::Interest;
use crate::server::monitors;
use crate::server::outbox::Action;
use crate::server::scripts::LongScript;

/// A line of the log counts as so many bytes more.
const LOG_LINE_BYTES: usize = 64;

/// Why a run was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kill {
    /// SCRIPT KILL or FUNCTION KILL.
    Wished,
    /// The server ends.
    Stopping,
    /// It is to run again where it may take its time.
    TakesLong,
    /// What it wants of others, and has written, fills the memory of this home.
    NoMemory,
}

/// The host of one run.
pub(super) struct ScriptHost<'h, 'c, 'e> {
    ctx: &'h mut Context<'c, 'e>,
    job: &'h Job<'h>,
    reply: &'h mut Reply,
    protocol: Protocol,
    has_written: bool,
    /// The host's clock at the first tick, which comes so early that it counts as the beginning.
    began_ns: Option<u64>,
    long: Option<Arc<LongScript>>,
    /// Clients have waited for it for long enough.
    busy: Option<Busy<'c>>,
    kill: Option<Kill>,
    logged_bytes: usize,
}

impl<'h, 'c, 'e> ScriptHost<'h, 'c, 'e> {
    pub fn new(
        ctx: &'h mut Context<'c, 'e>,
        job: &'h Job<'h>,
        reply: &'h mut Reply,
    ) -> ScriptHost<'h, 'c, 'e> {
        reply.take_bounds_of(ctx.reply);
        reply.set_protocol(Protocol::Resp2);
        ScriptHost {
            ctx,
            job,
            reply,
            protocol: Protocol::Resp2,
            has_written: false,
            began_ns: None,
            long: None,
            busy: None,
            kill: None,
            logged_bytes: 0,
        }
    }

    /// The protocol that the script has chosen.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The run has ended; tells why it was killed, if it was.
    pub fn end(self) -> Option<Kill> {
        if let Some(long) = &self.long {
            self.ctx.shared.scripts.long.end(long);
        }
        self.kill
    }

    fn kill(&mut self, why: Kill) -> Tick {
        self.kill = Some(why);
        Tick::Kill
    }

    /// The run has taken longer than a turn and nobody waits for it here: from now on it is known to others.
    fn list(&mut self, began_ns: u64) -> Arc<LongScript> {
        let what = self.job.what;
        let request = self.job.request.iter().map(|argument| argument.to_vec()).collect();
        let long = Arc::new(LongScript::new(what.kind(), what.name(), request, began_ns));
        long.set_written(self.has_written);
        self.ctx.shared.scripts.long.begin(long.clone());
        self.long = Some(long.clone());
        long
    }

    /// Why a command is not even tried.
    fn refusal(&self, spec: &CommandSpec, arguments: &[&[u8]]) -> Option<&'static str> {
        if !spec.accepts(arguments.len()) {
            return Some("ERR Wrong number of args calling Redis command from script");
        }
        if spec.is(Flags::NOSCRIPT) {
            return Some("ERR This Redis command is not allowed from script");
        }
        if self.job.what.is_deterministic() {
            return Some("ERR A deterministic function may not call commands");
        }
        // Redis counts what replicas would have to hear among the writes: PUBLISH, PFCOUNT.
        if self.job.reads && (spec.may_commit() || spec.is(Flags::MAY_REPLICATE)) {
            return Some("ERR Write commands are not allowed from read-only scripts.");
        }
        None
    }

    /// Whether there may be too little memory for one more command in a home that counts its memory. The commands of a script
    /// ask for what they need by themselves; their messages and lines of the log are here until the commit.
    fn is_short_of_memory(&self) -> bool {
        let left_bytes = (self.ctx.shared.settings.bounds().budget.left_bytes())();
        left_bytes != u64::MAX && left_bytes < MARGIN_BYTES + self.ctx.outbox.growth_bytes()
    }

    fn error(&mut self, text: &str, reply: &mut Writer) -> Answer {
        self.ctx.tally.error(text);
        reply.text(text.as_bytes());
        Answer::Error
    }
}

/// Whether an XREAD or XREADGROUP asks to wait, which is an error in a script; other commands that could wait do not.
fn asks_to_wait(spec: &CommandSpec, arguments: &[&[u8]]) -> bool {
    let options = match spec.name {
        _ if !spec.is(Flags::BLOCKING) => None,
        "xread" => arguments.get(1..),
        "xreadgroup" => arguments.get(4..),
        _ => None,
    };
    let mut options = options.unwrap_or_default().iter();
    while let Some(option) = options.next().filter(|option| !is_option(option, "STREAMS")) {
        if is_option(option, "BLOCK") {
            return true;
        }
        if is_option(option, "COUNT") {
            options.next();
        }
    }
    false
}

impl Host for ScriptHost<'_, '_, '_> {
    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        if self.ctx.interrupted.is_some() {
            return Answer::Abandon;
        }
        if self.is_short_of_memory() {
            self.kill = Some(Kill::NoMemory);
            return Answer::Kill;
        }
        let Ok(spec) = admission::find(arguments) else {
            return self.error("ERR Unknown Redis command called from script", reply);
        };
        if let Some(refusal) = self.refusal(spec, arguments) {
            self.ctx.tally.rejected(spec.id);
            return self.error(refusal, reply);
        }
        let ignores_memory = self.job.ignores_memory || self.has_written;
        let origin = if ignores_memory { Origin::NestedAnyway } else { Origin::Nested };
        let admitted = match self.ctx.admit_nested(spec, arguments, origin) {
            Ok(admitted) => admitted,
            Err(error) => {
                self.ctx.tally.rejected(spec.id);
                return self.error(&error.reply_text(), reply);
            }
        };
        if spec.may_commit() && !self.has_written {
            self.has_written = true;
            if let Some(long) = &self.long {
                long.set_written(true);
            }
        }
        if asks_to_wait(spec, arguments) {
            self.ctx.tally.called(spec.id);
            self.ctx.tally.failed(spec.id);
            let name = spec.name;
            return self
                .error(&format!("ERR {name} command is not allowed with BLOCK option from scripts"), reply);
        }
        self.reply.clear();
        self.reply.set_protocol(self.protocol);
        let outcome = self.ctx.run_nested(&admitted, self.reply);
        self.ctx.tally.called(spec.id);
        if self.ctx.shared.hub.interest.has(Interest::MONITORS) && !spec.is(Flags::SKIP_MONITOR) {
            // With the database that SELECT has chosen.
            let at = (self.ctx.client.db, "lua");
            let line = monitors::line(self.ctx.shared, at, spec, arguments, self.ctx.now_ms());
            self.ctx.outbox.push(Action::ShowMonitors(line));
        }
        match outcome {
            Ok(()) => {}
            Err(CommandError::Engine(error)) if error.asks_to_run_again() => return Answer::Abandon,
            Err(error) => {
                self.ctx.tally.failed(spec.id);
                let text = error.reply_text();
                return self.error(&text, reply);
            }
        }
        let stored;
        let bytes = if self.reply.has_stored() {
            let size_bytes = self.reply.unsent();
            let budget = self.ctx.shared.settings.bounds().budget;
            if size_bytes > reply.room_bytes() as u64 || budget.ask(2, size_bytes).is_err() {
                return self.error("ERR the reply does not fit into the memory of a script", reply);
            }
            match self.reply.take() {
                Ok(bytes) => {
                    stored = bytes;
                    stored.as_slice()
                }
                Err(error) => {
                    let text = format!("ERR {}", EngineError::Damaged(error.to_string()));
                    return self.error(&text, reply);
                }
            }
        } else {
            self.reply.as_bytes()
        };
        if let Some(error) = bytes.strip_prefix(b"-") {
            let text = error.strip_suffix(b"\r\n").unwrap_or(error);
            self.ctx.tally.error(&String::from_utf8_lossy(text));
            reply.text(text);
            return Answer::Error;
        }
        match read_reply(bytes, reply) {
            Ok(()) => Answer::Value,
            Err(_) => self.error("ERR the reply of a nested call cannot be read", reply),
        }
    }

    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool> {
        let spec = admission::find(arguments).ok().filter(|spec| spec.accepts(arguments.len()))?;
        Some(self.ctx.client.access.check(&self.ctx.shared.acl, spec, arguments).is_ok())
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        if self.logged_bytes >= SCRIPT_LOG_MAX_BYTES {
            return;
        }
        self.logged_bytes = self.logged_bytes.saturating_add(text.len()).saturating_add(LOG_LINE_BYTES);
        let is_last = self.logged_bytes >= SCRIPT_LOG_MAX_BYTES;
        let line =
            if is_last { b"the script has filled the log; what else it says is left out" } else { text };
        self.ctx.outbox.push(Action::Log(level, line.to_vec()));
    }

    fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    fn register_function(&mut self, _: &NewFunction<'_>) -> Result<(), String> {
        Err("redis.register_function can only be called on FUNCTION LOAD command".to_owned())
    }

    fn tick(&mut self, _steps: u64) -> Tick {
        let shared = self.ctx.shared;
        if shared.scripts.long.is_stopping() {
            return self.kill(Kill::Stopping);
        }
        let now_ns = shared.host.monotonic_ns();
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let took_ns = now_ns.saturating_sub(began_ns);
        if took_ns < SCRIPT_TURN_NS {
            return Tick::Continue;
        }
        if self.ctx.may_hand_over {
            *self.ctx.interrupted = Some(EngineError::TakesLong);
            return self.kill(Kill::TakesLong);
        }
        let long = match &self.long {
            Some(long) => long.clone(),
            None => self.list(began_ns),
        };
        if long.is_killed() {
            return self.kill(Kill::Wished);
        }
        if self.busy.is_none() {
            let threshold_ms = u64::try_from(shared.settings.number("busy-reply-threshold")).unwrap_or(0);
            if threshold_ms > 0 && took_ns / 1_000_000 >= threshold_ms {
                self.busy = Some(self.ctx.keep_busy(long.kind));
            }
        }
        Tick::Continue
    }

    fn clock_seconds(&mut self) -> f64 {
        if self.job.what.is_deterministic() {
            return 0.0;
        }
        match self.ctx.shared.host.monotonic_ns() {
            // A home without such a clock.
            0 => self.ctx.now_ms() as f64 / 1e3,
            now_ns => now_ns as f64 / 1e9,
        }
    }
}
