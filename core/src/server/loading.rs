//! What keeps most commands from running for a while: the store is still being read, or a script takes long. A home may
//! serve connections before it has opened its store.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::scripts::ScriptKind;

/// The bit of the word that says that the store is being read.
const LOADING: u32 = 1;
/// One busy script, in the word: their count has the bits below that of functions.
const SCRIPT: u32 = 1 << 1;
/// One busy function, in the word.
const FUNCTION: u32 = 1 << 16;

/// Whether commands are restricted, and the state of loading, as INFO tells of it.
#[derive(Debug, Default)]
pub struct Loading {
    /// One word, so that admission looks once: [`LOADING`], and how many scripts and functions keep the server busy.
    word: AtomicU32,
    began_at_ms: AtomicU64,
    total_bytes: AtomicU64,
    loaded_bytes: AtomicU64,
}

impl Loading {
    /// From now on commands that need data are refused. So many bytes are to be read.
    pub fn begin(&self, total_bytes: u64, now_ms: u64) {
        self.began_at_ms.store(now_ms, Ordering::Relaxed);
        self.total_bytes.store(total_bytes, Ordering::Relaxed);
        self.word.fetch_or(LOADING, Ordering::Release);
    }

    /// So many bytes are done by now.
    pub fn reached(&self, loaded_bytes: u64) {
        self.loaded_bytes.store(loaded_bytes, Ordering::Relaxed);
    }

    /// All commands run from now on.
    pub fn end(&self) {
        self.word.fetch_and(!LOADING, Ordering::Release);
    }

    /// Whether commands that need data are refused.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOADING != 0
    }

    /// Whether the store is being read or the server is busy.
    #[inline]
    pub fn restricts(&self) -> bool {
        self.word.load(Ordering::Relaxed) != 0
    }

    /// A script has begun to keep the server busy: commands that are not flagged for that are refused.
    pub(crate) fn begin_busy(&self, kind: ScriptKind) {
        self.word.fetch_add(unit(kind), Ordering::SeqCst);
    }

    /// It does not any more.
    pub(crate) fn end_busy(&self, kind: ScriptKind) {
        self.word.fetch_sub(unit(kind), Ordering::SeqCst);
    }

    /// The error for commands that a busy server refuses; None where it is not busy.
    pub fn busy_text(&self) -> Option<&'static str> {
        let busy = self.word.load(Ordering::SeqCst) & !LOADING;
        match busy {
            0 => None,
            busy if busy & (FUNCTION - 1) != 0 => {
                Some("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
            }
            _ => Some(
                "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
            ),
        }
    }

    /// Unix time in milliseconds of the beginning, bytes to read, and bytes done.
    pub fn progress(&self) -> (u64, u64, u64) {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (get(&self.began_at_ms), get(&self.total_bytes), get(&self.loaded_bytes))
    }
}

fn unit(kind: ScriptKind) -> u32 {
    match kind {
        ScriptKind::Script => SCRIPT,
        ScriptKind::Function => FUNCTION,
    }
}
