//! The first line of a script or a library: `#!lua flags=no-writes`, `#!lua name=library`.

use crate::command::CommandError;
use crate::command::args::quoted;
use crate::resp::split_line;
use crate::script::ScriptFlags;

/// The language of EVAL.
pub(super) const ENGINE: &[u8] = b"lua";

/// Upstash's flag, which libraries of theirs set and Redis does not know: no other script has to wait, but for those that share keys.
/// That is so for all scripts here.
const ALLOW_KEY_LOCKING: &[u8] = b"allow-key-locking";

/// Error texts show so many bytes of a word.
const SHOWN_BYTES: usize = 128;

/// What follows `#!` in the first line; None if the source does not begin so, and nothing within if the line has no end.
fn first_line(source: &[u8]) -> Option<Option<&[u8]>> {
    let rest = source.strip_prefix(b"#!")?;
    let end = rest.iter().position(|byte| *byte == b'\n');
    Some(end.and_then(|end| rest.get(..end)))
}

fn error(text: &str, shown: &[u8]) -> CommandError {
    CommandError::owned(format!("ERR {text}{}", quoted(shown, SHOWN_BYTES)))
}

/// The flags of a script of EVAL; None without a first line that names the language.
///
/// # Errors
/// Redis' texts for a line that it does not understand.
pub(super) fn flags_of_script(source: &[u8]) -> Result<Option<ScriptFlags>, CommandError> {
    let Some(line) = first_line(source) else { return Ok(None) };
    let line = line.ok_or(CommandError::text("ERR Invalid script shebang"))?;
    let words = split_line(line).ok_or(CommandError::text("ERR Invalid engine in script shebang"))?;
    let (engine, options) = match words.split_first() {
        Some((engine, options)) => (engine.as_slice(), options),
        None => (&b""[..], &[][..]),
    };
    if engine != ENGINE {
        return Err(error("Unexpected engine in script shebang: #!", engine));
    }
    let mut flags = ScriptFlags::NONE;
    for option in options {
        let Some(names) = option.strip_prefix(b"flags=") else {
            return Err(error("Unknown lua shebang option: ", option));
        };
        let names = names.split(|byte| *byte == b',').filter(|name| !name.is_empty());
        for name in names.filter(|name| *name != ALLOW_KEY_LOCKING) {
            // That one is for functions: a script has no name by which SQL could call it.
            let flag = ScriptFlags::named(name).filter(|flag| *flag != ScriptFlags::DETERMINISTIC);
            flags = flags.with(flag.ok_or_else(|| error("Unexpected flag in script shebang: ", name))?);
        }
    }
    Ok(Some(flags))
}

/// What the first line of a library says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LibraryLine {
    /// The name of the language.
    pub engine: Vec<u8>,
    /// The name of the library; None if it is missing.
    pub name: Option<Vec<u8>>,
}

/// Reads the first line of a library.
///
/// # Errors
/// Redis' texts for a line that it does not understand.
pub(super) fn line_of_library(source: &[u8]) -> Result<LibraryLine, CommandError> {
    const INVALID: CommandError = CommandError::text("ERR Invalid library metadata");
    let line = first_line(source).ok_or(CommandError::text("ERR Missing library metadata"))?;
    let words = split_line(line.ok_or(INVALID)?).ok_or(INVALID)?;
    let (engine, options) = words.split_first().ok_or(INVALID)?;
    let mut name = None;
    for option in options {
        match option.strip_prefix(b"name=") {
            None => return Err(error("Invalid metadata value given: ", option)),
            Some(_) if name.is_some() => {
                return Err(CommandError::text(
                    "ERR Invalid metadata value, name argument was given multiple times",
                ));
            }
            Some(given) => name = Some(given.to_vec()),
        }
    }
    Ok(LibraryLine { engine: engine.clone(), name })
}
