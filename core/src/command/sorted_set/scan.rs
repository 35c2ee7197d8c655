//! ZSCAN.

use crate::command::scan::{self, ScanOptions, SubScan};
use crate::command::{CommandError, Context, Outcome};
use crate::data::zset::{self, SortedSet};
use crate::engine::{Direction, Want};
use crate::resp::format_f64;

pub(super) fn zscan(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, cursor, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let cursor = scan::cursor(cursor)?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    if !set.is_there() {
        scan::reply_nothing(context.reply);
        return Ok(());
    }
    let options = scan::options(options, false)?;
    if set.is_listpack() {
        return reply_all(context, &set, &options);
    }
    // The walk follows the members' names, which stay where they are when scores change.
    let ranks = 0..set.len(context.txn)?;
    let walk = SubScan { key, cursor, options, ranks, is_small: false, want: Want::Values };
    walk.reply(context, 2, zset::member_of, &mut |reply, member, value| {
        reply.bulk(member);
        reply.bulk(seventeen_digits(zset::read_score(value).unwrap_or(0.0)).as_bytes());
    })
}

/// A small set goes in one step and in order; only its scores are in their shortest form, as in Redis.
fn reply_all(context: &mut Context<'_, '_>, set: &SortedSet<'_>, options: &ScanOptions<'_>) -> Outcome {
    let len = set.len(context.txn)?;
    let reply = &mut *context.reply;
    reply.array(2);
    reply.bulk(b"0");
    let elements = reply.defer();
    let mut count = 0;
    set.scan(context.txn, 0..len, Direction::Ascending, &mut |member, score| {
        if options.takes(member) {
            reply.bulk(member);
            reply.bulk(format_f64(score).as_bytes());
            count += 2;
        }
    })?;
    reply.finish_array(elements, count);
    Ok(())
}

/// A double as C's `%.17g` prints it.
fn seventeen_digits(number: f64) -> String {
    const DIGITS: i32 = 17;
    if number == 0.0 || !number.is_finite() {
        return format_f64(number).as_str().to_string();
    }
    let text = format!("{number:.16e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| -> String {
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text.to_string(),
        }
    };
    if (-4..DIGITS).contains(&exponent) {
        let places = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
        return trim(&format!("{number:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(mantissa), exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::seventeen_digits;

    #[test]
    fn digits_differ_from_printf() {
        let cases: [(f64, &str); 14] = [
            (0.1, "0.10000000000000001"),
            (3.0, "3"),
            (-2.5, "-2.5"),
            (2.7, "2.7000000000000002"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680000.0, "1.2345678901234568e+20"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NEG_INFINITY, "-inf"),
            (-0.0, "-0"),
            (0.3, "0.29999999999999999"),
        ];
        for (number, text) in cases {
            assert_eq!(seventeen_digits(number), text);
        }
    }
}
