//! The slow log: the latest commands that took longer than `slowlog-log-slower-than` microseconds.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::catalog::CommandSpec;
use crate::limits::{SLOW_LOG_ARGUMENT_MAX_BYTES, SLOW_LOG_ARGUMENTS_MAX};

/// The entries, the oldest first.
#[derive(Debug, Default)]
pub struct SlowLog {
    entries: Mutex<Entries>,
    /// Bytes of memory of the entries.
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    kept: VecDeque<SlowEntry>,
}

/// One slow command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowEntry {
    /// Its number, which no other entry of this run has.
    pub id: u64,
    /// Unix time in seconds at which it was done.
    pub at_s: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// Its arguments, long ones and long lists of them cut.
    pub args: Vec<Vec<u8>>,
    /// Address of the client, as `ip:port`.
    pub address: String,
    /// Name of the client.
    pub name: Vec<u8>,
}

impl SlowEntry {
    fn memory_bytes(&self) -> u64 {
        let arguments: usize = self.args.iter().map(|argument| size_of::<Vec<u8>>() + argument.len()).sum();
        (size_of::<SlowEntry>() + arguments + self.address.len() + self.name.len()) as u64
    }
}

impl SlowLog {
    /// Adds an entry, which gets its number here, and forgets the oldest beyond `most`.
    pub(crate) fn push(&self, entry: SlowEntry, most: u64) {
        let mut entries = self.entries.lock();
        let id = entries.next;
        entries.next += 1;
        self.bytes.fetch_add(entry.memory_bytes(), Ordering::Relaxed);
        entries.kept.push_back(SlowEntry { id, ..entry });
        while entries.kept.len() as u64 > most
            && let Some(oldest) = entries.kept.pop_front()
        {
            self.bytes.fetch_sub(oldest.memory_bytes(), Ordering::Relaxed);
        }
    }

    /// Bytes of memory that the entries take, about.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The latest entries, the newest first.
    pub fn latest(&self, most: usize) -> Vec<SlowEntry> {
        self.entries.lock().kept.iter().rev().take(most).cloned().collect()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.lock().kept.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all entries; numbers go on.
    pub fn reset(&self) {
        let mut entries = self.entries.lock();
        entries.kept.clear();
        self.bytes.store(0, Ordering::Relaxed);
    }
}

/// What stands in the place of a secret.
pub(crate) const REDACTED: &[u8] = b"(redacted)";

/// A request of a command as the slow log shows it: without secrets, and no more of it than Redis shows.
pub(crate) fn shown(spec: &CommandSpec, args: &[&[u8]]) -> Vec<Vec<u8>> {
    let is_cut = args.len() > SLOW_LOG_ARGUMENTS_MAX;
    let kept = if is_cut { SLOW_LOG_ARGUMENTS_MAX - 1 } else { args.len() };
    let mut all: Vec<Vec<u8>> = Vec::with_capacity(kept + 1);
    for (number, argument) in args.iter().enumerate().take(kept) {
        all.push(if spec.is_secret(args, number) { REDACTED.to_vec() } else { cut(argument) });
    }
    if is_cut {
        all.push(format!("... ({} more arguments)", args.len() - kept).into_bytes());
    }
    all
}

fn cut(argument: &[u8]) -> Vec<u8> {
    match argument.split_at_checked(SLOW_LOG_ARGUMENT_MAX_BYTES) {
        Some((shown, rest)) if !rest.is_empty() => {
            let mut shown = shown.to_vec();
            shown.extend_from_slice(format!("... ({} more bytes)", rest.len()).as_bytes());
            shown
        }
        _ => argument.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn line(request: &str) -> String {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let spec = catalog::lookup_request(&args).expect("a command");
        let shown: Vec<String> = shown(spec, &args)
            .iter()
            .map(|argument| String::from_utf8_lossy(argument).into_owned())
            .collect();
        shown.join(" ")
    }

    #[test]
    fn password_is_in_the_slow_log() {
        assert_eq!(line("auth me secret"), "auth (redacted) (redacted)");
        assert_eq!(line("HELLO 3 AUTH me secret SETNAME x"), "HELLO 3 AUTH (redacted) (redacted) SETNAME x");
        assert_eq!(
            line("config set timeout 1 RequirePass secret"),
            "config set timeout 1 RequirePass (redacted)"
        );
        assert_eq!(line("config get requirepass secret"), "config get requirepass secret");
        assert_eq!(line("set requirepass x"), "set requirepass x");
    }

    #[test]
    fn long_request_fills_the_slow_log() {
        let long = "x".repeat(200);
        assert_eq!(line(&format!("get {long}")), format!("get {}... (72 more bytes)", "x".repeat(128)));
        assert_eq!(line(&format!("get {}", "x".repeat(128))), format!("get {}", "x".repeat(128)));
        let many = format!("get {}", vec!["a"; 39].join(" "));
        assert!(line(&many).ends_with("a a ... (9 more arguments)"), "{}", line(&many));
        let all = format!("get {}", vec!["a"; 31].join(" "));
        assert_eq!(line(&all), all);
    }
}
