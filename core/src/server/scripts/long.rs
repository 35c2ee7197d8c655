//! The runs of scripts that have taken longer than a turn: they can be shown (FUNCTION STATS) and killed (SCRIPT KILL).
//!
//! A run is listed only once it has been under way for some time, so that short ones cost nothing here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// A script of EVAL.
    Script,
    /// A function of a library.
    Function,
}

/// A run that takes long.
#[derive(Debug)]
pub struct LongScript {
    /// What it is.
    pub kind: ScriptKind,
    /// The SHA-1 of a script, the name of a function.
    pub name: String,
    /// The request.
    pub request: Vec<Vec<u8>>,
    /// When it began, on the host's clock that only goes forward, in nanoseconds.
    pub began_ns: u64,
    has_written: AtomicBool,
    is_killed: AtomicBool,
}

impl LongScript {
    /// A run that began at this time.
    pub fn new(kind: ScriptKind, name: String, request: Vec<Vec<u8>>, began_ns: u64) -> LongScript {
        LongScript {
            kind,
            name,
            request,
            began_ns,
            has_written: AtomicBool::new(false),
            is_killed: AtomicBool::new(false),
        }
    }

    /// Says whether it has called a command that writes.
    pub fn set_written(&self, has_written: bool) {
        self.has_written.store(has_written, Ordering::Release);
    }

    /// Whether somebody wants it to end.
    pub fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Acquire)
    }
}

/// The outcome of a wish to kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// It ends soon.
    Yes,
    /// Nothing of this kind runs.
    NothingRuns,
    /// What runs has written, so it is to end by itself.
    HasWritten,
    /// What runs is of the other kind.
    OfOtherKind,
}

/// The runs that take long.
#[derive(Debug, Default)]
pub struct LongScripts {
    list: Mutex<Vec<Arc<LongScript>>>,
    is_stopping: AtomicBool,
}

impl LongScripts {
    /// Lists a run.
    pub fn begin(&self, run: Arc<LongScript>) {
        self.list.lock().push(run);
    }

    /// A run has ended.
    pub fn end(&self, run: &Arc<LongScript>) {
        self.list.lock().retain(|other| !Arc::ptr_eq(other, run));
    }

    /// The run that has been under way for longest.
    pub fn oldest(&self) -> Option<Arc<LongScript>> {
        self.list.lock().iter().min_by_key(|run| run.began_ns).cloned()
    }

    /// Ends all runs of a kind that have not written.
    pub fn kill(&self, kind: ScriptKind) -> Killed {
        let list = self.list.lock();
        let (have_written, have_not): (Vec<_>, Vec<_>) =
            list.iter().partition(|run| run.has_written.load(Ordering::Acquire));
        let of_kind = || have_not.iter().filter(|run| run.kind == kind);
        of_kind().for_each(|run| run.is_killed.store(true, Ordering::Release));
        // That a run has written is said before that it is of the other kind, as in Redis.
        match () {
            () if of_kind().next().is_some() => Killed::Yes,
            () if !have_written.is_empty() => Killed::HasWritten,
            () if !have_not.is_empty() => Killed::OfOtherKind,
            () => Killed::NothingRuns,
        }
    }

    /// Ends all runs, because the server ends; what they wrote is undone.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
    }

    /// Whether the server ends.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }
}
