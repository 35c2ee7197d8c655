//! SQL.STORE: a command for each row of a result.

use std::borrow::Cow;

use super::gather::{Gathered, Held, gather};
use crate::catalog::{self, CommandId, Flags};
use crate::command::admission;
use crate::command::atomic::atomically;
use crate::command::{CommandError, Context, Outcome};

/// Commands that lead here.
const NOT_NESTED: [CommandId; 2] = [catalog::id("sql.store"), catalog::id("sql.words")];

/// `SQL.STORE command arg [arg ...] database text`
///
/// In the arguments `$1` stands for the first value of a row, `$name` or `${name}` for that of a column, `$$` for a dollar. An argument
/// `$*` stands for all values, one argument each, and `$2*` for those from the second on.
pub(super) fn store(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, template @ .., key, text] = args else { return Err(CommandError::SYNTAX) };
    let spec = admission::find(template)?;
    // One inside of the other would be as deep as the request is long.
    if !spec.may_commit() || spec.is(Flags::NOSCRIPT) || NOT_NESTED.contains(&spec.id) {
        return Err(CommandError::text("ERR SQL.STORE takes a command that writes, and not itself"));
    }
    let stored = atomically(ctx, |ctx| {
        let result = gather(ctx, key, text, &[])?;
        ctx.expect_work(result.rows.len() as u64)?;
        let template = template.iter().map(|argument| Template::parse(argument, &result));
        let template = template.collect::<Result<Vec<_>, _>>()?;
        for row in &result.rows {
            let request: Vec<Cow<'_, [u8]>> = template.iter().flat_map(|one| one.fill(row)).collect();
            let request: Vec<&[u8]> = request.iter().map(AsRef::as_ref).collect();
            call(ctx, &request)?;
        }
        Ok(result.rows.len())
    })?;
    ctx.reply.integer(i64::try_from(stored).unwrap_or(i64::MAX));
    Ok(())
}

/// Calls a command whose reply is of no interest unless it is an error.
pub(super) fn call(ctx: &mut Context<'_, '_>, request: &[&[u8]]) -> Outcome {
    let value = ctx.call(request)?;
    match value.as_error() {
        Some(error) => Err(CommandError::owned(String::from_utf8_lossy(error).into_owned())),
        None => Ok(()),
    }
}

/// An argument with places for values.
enum Template {
    /// All values from a column on, one argument each.
    All(usize),
    One(Vec<Piece>),
}

enum Piece {
    Bytes(Vec<u8>),
    Column(usize),
}

impl Template {
    fn parse(argument: &[u8], result: &Gathered) -> Result<Template, CommandError> {
        if let Some(from) = argument.strip_prefix(b"$").and_then(|rest| rest.strip_suffix(b"*"))
            && from.iter().all(u8::is_ascii_digit)
        {
            let from = if from.is_empty() { 0 } else { column(from, result)? };
            return Ok(Template::All(from));
        }
        let mut pieces = Vec::new();
        let mut rest = argument;
        while let Some(at) = rest.iter().position(|byte| *byte == b'$') {
            let (before, behind) = rest.split_at(at);
            pieces.push(Piece::Bytes(before.to_vec()));
            let behind = behind.get(1..).unwrap_or_default();
            let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let (name, used) = match behind {
                [b'$', ..] => {
                    pieces.push(Piece::Bytes(b"$".to_vec()));
                    rest = behind.get(1..).unwrap_or_default();
                    continue;
                }
                [b'{', inner @ ..] => {
                    let end = inner.iter().position(|byte| *byte == b'}').ok_or_else(|| no_column(inner))?;
                    inner.split_at_checked(end).map(|(name, _)| (name, end + 2)).unwrap_or_default()
                }
                // A number ends where its digits end, so that `$1st` has the first value.
                [b'0'..=b'9', ..] => word(behind, u8::is_ascii_digit),
                _ => word(behind, is_of_name),
            };
            pieces.push(Piece::Column(column(name, result)?));
            rest = behind.get(used..).unwrap_or_default();
        }
        pieces.push(Piece::Bytes(rest.to_vec()));
        Ok(Template::One(pieces))
    }

    /// The arguments that it becomes with the values of a row.
    fn fill<'r>(&'r self, row: &'r [Held]) -> Vec<Cow<'r, [u8]>> {
        match self {
            Template::All(from) => row.iter().skip(*from).map(Held::bytes).collect(),
            Template::One(pieces) => {
                let mut bytes = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Bytes(piece) => bytes.extend_from_slice(piece),
                        Piece::Column(column) => {
                            bytes.extend_from_slice(&row.get(*column).unwrap_or(&Held::Null).bytes());
                        }
                    }
                }
                vec![Cow::Owned(bytes)]
            }
        }
    }
}

/// The beginning of a text as long as its bytes are such, and its length.
fn word(text: &[u8], is_part: impl Fn(&u8) -> bool) -> (&[u8], usize) {
    let len = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
    (text.get(..len).unwrap_or_default(), len)
}

/// The column that a name or a number, from 1 on, means.
fn column(name: &[u8], result: &Gathered) -> Result<usize, CommandError> {
    let number = std::str::from_utf8(name).ok().and_then(|digits| digits.parse::<usize>().ok());
    let found = match number {
        Some(number) => number.checked_sub(1).filter(|column| *column < result.names.len()),
        None => result.names.iter().position(|column| column.eq_ignore_ascii_case(name)),
    };
    found.ok_or_else(|| no_column(name))
}

fn no_column(name: &[u8]) -> CommandError {
    let name = crate::command::args::quoted(name, 128);
    CommandError::owned(format!("ERR the result has no column for '${name}'"))
}
