//! LCS: the longest common subsequence of two strings, by the classic table of all pairs of prefixes.
//!
//! The way back through the table only asks which neighbour is the larger one. So two rows of lengths and one bit a
//! cell are kept, a thirty-second of the table that Redis allocates, under the limit that Redis has for its own.

use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome, args};
use crate::engine::Kind;
use crate::limits::VALUE_IN_MEMORY_MAX_BYTES;

/// What a cell costs in Redis, on which its limit and so its error depend.
const REDIS_CELL_BYTES: u64 = 4;

#[derive(Debug, Default)]
struct Options {
    len: bool,
    indexes: bool,
    with_match_len: bool,
    match_len_min: i64,
}

impl Options {
    fn parse(args: &[&[u8]]) -> Result<Options, CommandError> {
        let mut options = Options::default();
        let mut rest = args.iter();
        while let Some(option) = rest.next() {
            if is_option(option, "IDX") {
                options.indexes = true;
            } else if is_option(option, "LEN") {
                options.len = true;
            } else if is_option(option, "WITHMATCHLEN") {
                options.with_match_len = true;
            } else if is_option(option, "MINMATCHLEN") {
                let number = rest.next().ok_or(CommandError::SYNTAX)?;
                options.match_len_min = args::integer(number)?;
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        if options.indexes && options.len {
            return Err(CommandError::text(
                "ERR If you want both the length and indexes, please just use IDX.",
            ));
        }
        Ok(options)
    }
}

pub(super) fn lcs(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    let kinds = [ctx.txn.kind(db, args[1])?, ctx.txn.kind(db, args[2])?];
    if kinds.into_iter().flatten().any(|kind| kind != Kind::String) {
        return Err(CommandError::text("ERR The specified keys must contain string values"));
    }
    let options = Options::parse(&args[3..])?;
    let mut len_of = |key| Ok::<u64, CommandError>(ctx.txn.root(db, key)?.map_or(0, |root| root.value_len));
    let (left_len, right_len) = (len_of(args[1])?, len_of(args[2])?);
    let cells = (left_len + 1).checked_mul(right_len + 1);
    let redis_bytes = cells.and_then(|cells| cells.checked_mul(REDIS_CELL_BYTES));
    let most = ctx.shared.settings.bulk_max_bytes().min(VALUE_IN_MEMORY_MAX_BYTES);
    if redis_bytes.is_none_or(|bytes| bytes > most) {
        return Err(CommandError::text(
            "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
        ));
    }
    let left = ctx.txn.value(db, args[1])?.unwrap_or_default();
    let right = ctx.txn.value(db, args[2])?.unwrap_or_default();
    let table = Table::build(&left, &right)?;
    if options.len {
        ctx.reply.integer(table.len as i64);
        return Ok(());
    }
    let (common, matches) = table.walk_back(&left, &right);
    if !options.indexes {
        ctx.reply.bulk(&common);
        return Ok(());
    }
    ctx.reply.map(2);
    ctx.reply.bulk(b"matches");
    let shown = |found: &&Match| found.len as i64 >= options.match_len_min;
    ctx.reply.array(matches.iter().filter(shown).count());
    for found in matches.iter().filter(shown) {
        ctx.reply.array(2 + usize::from(options.with_match_len));
        for start in [found.left, found.right] {
            ctx.reply.array(2);
            ctx.reply.integer(start as i64);
            ctx.reply.integer((start + found.len - 1) as i64);
        }
        if options.with_match_len {
            ctx.reply.integer(found.len as i64);
        }
    }
    ctx.reply.bulk(b"len");
    ctx.reply.integer(table.len as i64);
    Ok(())
}

/// A run of bytes that both strings share, where it begins in each.
struct Match {
    left: usize,
    right: usize,
    len: usize,
}

struct Table {
    /// Length of the subsequence.
    len: usize,
    /// A bit for each pair of bytes, row by row: whether leaving out the left byte keeps more than leaving out the
    /// right one.
    skips_left: Vec<u64>,
}

impl Table {
    fn build(left: &[u8], right: &[u8]) -> Result<Table, CommandError> {
        let mut skips_left: Vec<u64> = Vec::new();
        let no_memory =
            || CommandError::text("ERR Insufficient memory, failed allocating transient memory for LCS");
        let words = left.len().checked_mul(right.len()).ok_or_else(no_memory)?.div_ceil(64);
        skips_left.try_reserve_exact(words).map_err(|_| no_memory())?;
        skips_left.resize(words, 0);
        let mut above = vec![0_u32; right.len() + 1];
        let mut cell = 0;
        for left_byte in left {
            // `diagonal` and `before` are the cells above left and left of the current one.
            let (mut diagonal, mut before) = (0, 0);
            for (right_byte, place) in right.iter().zip(above.iter_mut().skip(1)) {
                let up = *place;
                *place = if left_byte == right_byte {
                    diagonal + 1
                } else if up > before {
                    if let Some(word) = skips_left.get_mut(cell / 64) {
                        *word |= 1 << (cell % 64);
                    }
                    up
                } else {
                    before
                };
                (diagonal, before) = (up, *place);
                cell += 1;
            }
        }
        Ok(Table { len: above.last().copied().unwrap_or(0) as usize, skips_left })
    }

    /// The subsequence, and its runs from the last to the first.
    fn walk_back(&self, left: &[u8], right: &[u8]) -> (Vec<u8>, Vec<Match>) {
        let mut common = Vec::with_capacity(self.len);
        let mut matches: Vec<Match> = Vec::new();
        let (mut at, mut other) = (left.len(), right.len());
        let mut extends = false;
        while at > 0 && other > 0 {
            if left[at - 1] == right[other - 1] {
                (at, other) = (at - 1, other - 1);
                common.push(left[at]);
                match matches.last_mut() {
                    Some(last) if extends => {
                        *last = Match { left: at, right: other, len: last.len + 1 };
                    }
                    _ => matches.push(Match { left: at, right: other, len: 1 }),
                }
                extends = true;
                continue;
            }
            extends = false;
            let cell = (at - 1) * right.len() + other - 1;
            if self.skips_left.get(cell / 64).is_some_and(|word| word >> (cell % 64) & 1 == 1) {
                at -= 1;
            } else {
                other -= 1;
            }
        }
        common.reverse();
        (common, matches)
    }
}
