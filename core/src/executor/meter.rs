//! How long commands take, without reading the clock for each of them.
//!
//! A reading costs as much as a short command does. So commands of constant time (those with the FAST flag, and GET and
//! SET where they go the short way) that follow one another in a pipeline share one: their time is divided among them.
//! All others have a reading before and one after, and a request that comes alone is timed exactly in any case. When the
//! slow log is to catch commands of less than [`EXACT_BELOW_NS`], every command is timed by itself.
//!
//! Where commands that share a reading were slow together, the slow log gets one entry: the first of them, the time of
//! all, and how many more there were.

use smallvec::SmallVec;

use crate::catalog::{self, CommandId, CommandSpec, Flags};
use crate::server::{Client, Server};
use crate::server::{SlowEntry, shown};

/// Below this threshold of the slow log every command is timed by itself: an operator who looks for single microseconds pays for
/// the readings.
const EXACT_BELOW_NS: u64 = 1_000_000;

/// The clock of one session.
#[derive(Debug, Default)]
pub struct Meter {
    /// The last reading; None before the first of a batch.
    read_ns: Option<u64>,
    /// What has run since, each command with how many times in a row.
    since: SmallVec<[(CommandId, u32); 2]>,
    /// Whether every command has its own reading.
    is_exact: bool,
    /// The last commands that shared a reading were slow together, and have no entry in the slow log yet.
    late: Option<Late>,
}

/// Commands that were slow together.
#[derive(Clone, Copy, Debug)]
struct Late {
    /// How many.
    count: usize,
    took_ns: u64,
}

/// The reading before a command that is timed by itself.
pub struct Begin(Option<u64>);

impl Meter {
    /// A command ran that shares its reading with its neighbours.
    #[inline]
    pub fn ran(&mut self, command: CommandId) {
        match self.since.last_mut() {
            Some((last, count)) if *last == command => *count += 1,
            _ => self.since.push((command, 1)),
        }
    }

    /// Reads the clock if this is the first command of a batch.
    #[inline]
    pub fn start<E>(&mut self, server: &Server<E>) {
        if self.read_ns.is_none() {
            self.read_ns = Some(server.shared.host.monotonic_ns());
            self.is_exact = server.shared.settings.slow_ns() < EXACT_BELOW_NS;
        }
    }

    /// Whether every command is timed by itself.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The last reading, if no command has run since.
    pub fn fresh_reading(&self) -> Option<u64> {
        self.read_ns.filter(|_| self.since.is_empty())
    }

    /// Ends a batch: the next begins with a reading of its own.
    pub fn stop(&mut self) {
        self.read_ns = None;
    }

    /// Divides the time since the last reading among what has run since; returns the reading.
    pub fn settle<E>(&mut self, server: &Server<E>, now_ms: u64) -> u64 {
        let before = self.read_ns;
        if self.since.is_empty()
            && let Some(read_ns) = before
        {
            return read_ns;
        }
        let read_ns = server.shared.host.monotonic_ns();
        self.read_ns = Some(read_ns);
        let took_ns = before.map_or(0, |before| read_ns.saturating_sub(before));
        let count: u64 = self.since.iter().map(|(_, count)| u64::from(*count)).sum();
        let tracks = server.shared.settings.tracks_latency();
        for (command, calls) in &self.since {
            let calls = u64::from(*calls);
            let share_ns = if self.since.len() == 1 { took_ns } else { took_ns / count.max(1) * calls };
            server.shared.statistics.ran(*command, calls, share_ns, tracks);
        }
        if took_ns >= server.shared.settings.alarm_ns()
            && let Some((first, _)) = self.since.first().copied()
        {
            self.late = Some(Late { count: usize::try_from(count).unwrap_or(usize::MAX), took_ns });
            note_spike(server, catalog::spec(first), took_ns, now_ms);
        }
        self.since.clear();
        read_ns
    }

    /// The reading before a command, if it is to be timed by itself.
    pub fn begin<E>(&mut self, server: &Server<E>, spec: &CommandSpec, now_ms: u64) -> Begin {
        let is_alone = self.is_exact || !spec.flags.contains(Flags::FAST);
        Begin(is_alone.then(|| self.settle(server, now_ms)))
    }

    /// Counts a command that has run.
    pub fn end<E>(
        &mut self,
        (server, client): (&Server<E>, &Client),
        spec: &CommandSpec,
        begin: &Begin,
        args: &[&[u8]],
        now_ms: u64,
    ) {
        let Begin(Some(begin)) = begin else { return self.ran(spec.id) };
        let read_ns = server.shared.host.monotonic_ns();
        self.read_ns = Some(read_ns);
        record((server, client), spec, read_ns.saturating_sub(*begin), args, now_ms);
    }

    /// Counts a command by the time it took, which nothing else shares.
    pub fn record<E>(
        &mut self,
        about: (&Server<E>, &Client),
        spec: &CommandSpec,
        took_ns: u64,
        args: &[&[u8]],
        now_ms: u64,
    ) {
        record(about, spec, took_ns, args, now_ms);
    }

    /// Counts a command of a queue that has run, by the time it took; without one it shares that of its neighbours.
    pub fn took<E>(
        &mut self,
        (server, client): (&Server<E>, &Client),
        spec: &CommandSpec,
        took_ns: Option<u64>,
        args: &[&[u8]],
        now_ms: u64,
    ) {
        let Some(took_ns) = took_ns else { return self.ran(spec.id) };
        // What it took is not its neighbours'.
        self.read_ns = self.read_ns.map(|read_ns| read_ns.saturating_add(took_ns));
        record((server, client), spec, took_ns, args, now_ms);
    }

    /// Whether commands that shared a reading were slow and wait for [`Meter::log_late`].
    #[inline]
    pub fn is_late(&self) -> bool {
        self.late.is_some()
    }

    /// Writes the commands that were slow together into the slow log; `run` are the requests that have run, up to the
    /// last of them.
    pub fn log_late<'a, E>(
        &mut self,
        (server, client): (&Server<E>, &Client),
        run: usize,
        request: impl Fn(usize) -> Option<&'a [&'a [u8]]>,
        now_ms: u64,
    ) {
        let Some(late) = self.late.take() else { return };
        let first = run.checked_sub(late.count).and_then(request);
        let Some(args) = first else { return };
        let Some(spec) = catalog::lookup_request(args) else { return };
        log_slow((server, client), spec, args, late.count, late.took_ns, now_ms);
    }
}

/// Counts one command by the time it took.
fn record<E>(
    (server, client): (&Server<E>, &Client),
    spec: &CommandSpec,
    took_ns: u64,
    args: &[&[u8]],
    now_ms: u64,
) {
    let settings = &server.shared.settings;
    server.shared.statistics.ran(spec.id, 1, took_ns, settings.tracks_latency());
    if took_ns >= settings.alarm_ns() {
        note_spike(server, spec, took_ns, now_ms);
        log_slow((server, client), spec, args, 1, took_ns, now_ms);
    }
}

/// Tells the latency monitor of a command that took long.
fn note_spike<E>(server: &Server<E>, spec: &CommandSpec, took_ns: u64, now_ms: u64) {
    let took_ms = took_ns / 1_000_000;
    let threshold_ms = server.shared.settings.latency_threshold_ms();
    if threshold_ms > 0 && took_ms >= threshold_ms {
        let event = if spec.flags.contains(Flags::FAST) { "fast-command" } else { "command" };
        server.shared.latency.add(event, now_ms / 1000, took_ms);
    }
}

/// Writes a command, or several that were slow together, into the slow log if it took long enough.
fn log_slow<E>(
    (server, client): (&Server<E>, &Client),
    spec: &CommandSpec,
    args: &[&[u8]],
    count: usize,
    took_ns: u64,
    now_ms: u64,
) {
    let settings = &server.shared.settings;
    let most = u64::try_from(settings.number("slowlog-max-len")).unwrap_or_default();
    if took_ns < settings.slow_ns() || most == 0 || spec.flags.contains(Flags::SKIP_SLOWLOG) {
        return;
    }
    let mut args = shown(spec, args);
    if count > 1 {
        args.push(format!("... ({} more commands of the pipeline)", count - 1).into_bytes());
    }
    let address = client.card.lock().address.clone();
    let name = client.labels.name.clone();
    let entry = SlowEntry { id: 0, at_s: now_ms / 1000, took_us: took_ns / 1000, args, address, name };
    server.shared.slow_log.push(entry, most);
}
