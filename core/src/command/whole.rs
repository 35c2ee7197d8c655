//! The safety net under replies: a command replies with one whole value or with an error.
//!
//! A handler announces as many elements as the value counts and writes those that it finds. Damage may have taken a part of the
//! value and left another that counts it. A reply that then lacks elements would make the client wait for them, and take all
//! later replies for them.

use super::call::{Keys, keys_of};
use super::{CommandError, Context, Outcome};
use crate::catalog::{CommandSpec, Group};
use crate::engine::EngineError;

/// An error names so many keys at most, each with so many bytes at most.
const KEYS_SHOWN: usize = 3;
const KEY_SHOWN_BYTES: usize = 128;

impl Context<'_, '_> {
    /// Decides about a command whose reply does not come to exactly one value (`written` is by how much
    /// [`Reply::balance`](crate::resp::Reply::balance) grew).
    ///
    /// # Errors
    /// The reply lacks elements or has too many: a value that the command reads is damaged.
    #[cold]
    pub(super) fn check_whole(&self, spec: &CommandSpec, args: &[&[u8]], written: u64) -> Outcome {
        let replies_later = self.wait.as_ref().is_some_and(|wait| wait.is_some())
            || self.later.as_ref().is_some_and(|later| later.is_some());
        // SUBSCRIBE answers once for every channel; CLIENT REPLY and SHUTDOWN may not answer at all. Nothing of that comes from a
        // key.
        let may_differ = match spec.group {
            Group::PubSub | Group::Connection => true,
            Group::Server => written == 0,
            _ => written == 0 && replies_later,
        };
        if may_differ {
            return Ok(());
        }
        let mut keys = Keys::new();
        keys_of(spec, args, &mut keys);
        Err(CommandError::Engine(EngineError::Damaged(damaged(&keys))))
    }
}

/// The text of the error about a value of these keys.
fn damaged(keys: &[&[u8]]) -> String {
    let shown = |key: &&[u8]| {
        let rest = if key.len() > KEY_SHOWN_BYTES { "…" } else { "" };
        format!("\"{}{rest}\"", key.get(..KEY_SHOWN_BYTES).unwrap_or(key).escape_ascii())
    };
    let names: Vec<String> = keys.iter().take(KEYS_SHOWN).map(shown).collect();
    let rest = if keys.len() > KEYS_SHOWN { ", …" } else { "" };
    let value = match names.as_slice() {
        [] => "a value".to_owned(),
        [key] => format!("the value of {key}"),
        names => format!("the value of one of {}{rest}", names.join(", ")),
    };
    format!("{value} is damaged: a part of it is missing that another part counts")
}
