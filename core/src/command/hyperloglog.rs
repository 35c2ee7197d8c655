//! PFADD, PFCOUNT, PFMERGE and what tests of clients ask of sketches. A sketch is a string of at most some KiB.

use std::fmt::Write;

use super::args::{is_option, quoted};
use super::{CommandError, Context, Group, Outcome};
use crate::data::hyperloglog::{self, Corrupted, HEADER_BYTES, REGISTERS, SKETCH_MAX_BYTES, Sketch};
use crate::data::string;
use crate::server::hub::notify;

pub(super) const HANDLERS: Group = &[
    ("pfadd", pfadd),
    ("pfcount", pfcount),
    ("pfdebug", pfdebug),
    ("pfmerge", pfmerge),
    ("pfselftest", pfselftest),
];

const NOT_A_SKETCH: CommandError =
    CommandError::text("WRONGTYPE Key is not a valid HyperLogLog string value.");

const CORRUPTED: CommandError = CommandError::text("INVALIDOBJ Corrupted HLL object detected");

impl From<Corrupted> for CommandError {
    fn from(_: Corrupted) -> CommandError {
        CORRUPTED
    }
}

/// `PFADD key [element [element ...]]`: without elements it still makes the key.
fn pfadd(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let key = args[1];
    let found = open(ctx, key)?;
    let mut is_changed = found.is_none();
    let mut sketch = found.unwrap_or_default();
    let sparse_max_bytes = sparse_max_bytes(ctx);
    for element in args.iter().skip(2) {
        is_changed |= sketch.add(element, sparse_max_bytes)?;
    }
    if is_changed {
        sketch.forget_estimate();
        put(ctx, key, &sketch)?;
        ctx.notify(notify::STRING, "pfadd", key);
    }
    ctx.reply.integer(i64::from(is_changed));
    Ok(())
}

/// `PFCOUNT key [key ...]`: with one key the estimate is kept in the string.
fn pfcount(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key] = args else {
        let (registers, _) = union(ctx, &args[1..])?;
        reply_estimate(ctx, hyperloglog::estimate(&registers));
        return Ok(());
    };
    let estimate = match open(ctx, key)? {
        None => 0,
        Some(mut sketch) => match sketch.known_estimate() {
            Some(estimate) => estimate,
            None => {
                let estimate = sketch.estimate()?;
                put(ctx, key, &sketch)?;
                estimate
            }
        },
    };
    reply_estimate(ctx, estimate);
    Ok(())
}

/// `PFMERGE destkey [sourcekey [sourcekey ...]]`: the destination is a source too.
fn pfmerge(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let key = args[1];
    let union = union(ctx, &args[1..]);
    ctx.note_reads(&args[1..], union.is_ok());
    let (registers, some_dense) = union?;
    let mut sketch = open(ctx, key)?.unwrap_or_default();
    if some_dense {
        sketch.make_dense()?;
    }
    let sparse_max_bytes = sparse_max_bytes(ctx);
    for (index, value) in registers.iter().enumerate().filter(|(_, value)| **value > 0) {
        sketch.raise(index, *value, sparse_max_bytes)?;
    }
    sketch.forget_estimate();
    put(ctx, key, &sketch)?;
    // As in Redis, to which a merge adds many elements.
    ctx.notify(notify::STRING, "pfadd", key);
    ctx.reply.ok();
    Ok(())
}

/// `PFDEBUG <GETREG | DECODE | ENCODING | TODENSE> key`
fn pfdebug(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (word, key) = (args[1], args[2]);
    let mut sketch = open(ctx, key)?.ok_or(CommandError::text("ERR The specified key does not exist"))?;
    let was_dense = sketch.is_dense();
    if is_option(word, "DECODE") {
        return decode(ctx, &sketch);
    }
    if is_option(word, "ENCODING") {
        ctx.reply.simple(if was_dense { "dense" } else { "sparse" });
        return Ok(());
    }
    let shows_registers = is_option(word, "GETREG");
    if !shows_registers && !is_option(word, "TODENSE") {
        let shown = quoted(word, usize::MAX);
        return Err(CommandError::owned(format!("ERR Unknown PFDEBUG subcommand '{shown}'")));
    }
    if !was_dense {
        sketch.make_dense()?;
        put(ctx, key, &sketch)?;
    }
    if shows_registers {
        ctx.reply.array(REGISTERS);
        sketch.dense_registers().for_each(|value| ctx.reply.integer(i64::from(value)));
    } else {
        ctx.reply.integer(i64::from(!was_dense));
    }
    Ok(())
}

/// The runs of a sparse sketch as text: `z` and `Z` are zeros in the short and the long form, `v` is value and length.
fn decode(ctx: &mut Context<'_, '_>, sketch: &Sketch) -> Outcome {
    if sketch.is_dense() {
        return Err(CommandError::text("ERR HLL encoding is not sparse"));
    }
    let mut text = String::new();
    for run in sketch.runs() {
        let separator = if text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = match run.value {
            0 if run.is_long => write!(text, "{separator}Z:{}", run.len),
            0 => write!(text, "{separator}z:{}", run.len),
            value => write!(text, "{separator}v:{value},{}", run.len),
        };
    }
    ctx.reply.bulk(text.as_bytes());
    Ok(())
}

/// `PFSELFTEST`
fn pfselftest(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    hyperloglog::self_test().map_err(|problem| CommandError::owned(format!("ERR TESTFAILED {problem}")))?;
    ctx.reply.ok();
    Ok(())
}

/// The sketch at a key, if the key is there.
fn open(ctx: &mut Context<'_, '_>, key: &[u8]) -> Result<Option<Sketch>, CommandError> {
    let db = ctx.db();
    let Some(root) = string::root(ctx.txn, db, key)? else { return Ok(None) };
    let mut bytes = Vec::new();
    if root.value_len > SKETCH_MAX_BYTES {
        // Not worth reading: at best it begins like a sketch.
        string::read_into(ctx.txn, db, key, 0..HEADER_BYTES as u64, &mut bytes)?;
        let is_sketch = Sketch::is_sketch(&bytes, root.value_len);
        return Err(if is_sketch { CORRUPTED } else { NOT_A_SKETCH });
    }
    string::read_into(ctx.txn, db, key, 0..root.value_len, &mut bytes)?;
    Sketch::read(&bytes).map(Some).ok_or(NOT_A_SKETCH)
}

/// Replaces the string at a key, which keeps its expiry.
fn put(ctx: &mut Context<'_, '_>, key: &[u8], sketch: &Sketch) -> Outcome {
    let db = ctx.db();
    let expires_at_ms = string::root(ctx.txn, db, key)?.and_then(|root| root.expires_at_ms);
    string::put(ctx.txn, db, key, sketch.to_bytes().as_slice(), string::GROWN, expires_at_ms)?;
    Ok(())
}

/// The highest value of each register, and whether one of the sketches is dense. Missing keys are sketches of nothing.
fn union(
    ctx: &mut Context<'_, '_>,
    keys: &[&[u8]],
) -> Result<(Box<hyperloglog::Registers>, bool), CommandError> {
    let mut registers = Box::new([0; REGISTERS]);
    let mut some_dense = false;
    for key in keys {
        if let Some(sketch) = open(ctx, key)? {
            some_dense |= sketch.is_dense();
            sketch.merge_into(&mut registers)?;
        }
    }
    Ok((registers, some_dense))
}

fn sparse_max_bytes(ctx: &Context<'_, '_>) -> u64 {
    u64::try_from(ctx.shared.settings.number("hll-sparse-max-bytes")).unwrap_or(0)
}

fn reply_estimate(ctx: &mut Context<'_, '_>, estimate: u64) {
    ctx.reply.integer(i64::try_from(estimate).unwrap_or(i64::MAX));
}
