//! Keys that appear or expire while a command is about something else: waiting clients and notifications want to know.

use super::Db;

/// A key that appeared or expired while a command was about something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Its time had come when it was looked for.
    Expired,
    /// It was not there, or another key took its place, and now it is.
    Appeared,
}

/// The list of an overlay.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The keys by their places in the overlay; None unless [`Overlay::keep_turns`] was called.
    pub(super) list: Option<Vec<(Turn, Db, usize)>>,
    /// How many were ever added.
    pub(super) noted: u64,
}
