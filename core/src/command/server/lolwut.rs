//! LOLWUT: a drawing, and the version.

use std::fmt::Write;

use crate::command::args::{integer, is_option};
use crate::command::{Context, Outcome};
use crate::server::REDIS_VERSION;

/// A cask.
const DRAWING: &str = r"
      .-=========-.
     /  |   |   |  \
    |===+===+===+===|
    |   |   |   |   |
    |   | ( o ) |   |
    |   |   |   |   |
    |===+===+===+===|
     \  |   |   |  /
      '-=========-'
";

/// `LOLWUT [VERSION version]`; there is one drawing for all versions, and further arguments change nothing.
pub(super) fn lolwut(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    if let [_, option, version, ..] = args
        && is_option(option, "VERSION")
    {
        integer(version)?;
    }
    let mut text = DRAWING.trim_start_matches('\n').to_string();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "Redis ver. {REDIS_VERSION}, EdgeCask ver. {}", env!("CARGO_PKG_VERSION"));
    ctx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}
