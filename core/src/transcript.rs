//! Transcripts: tests as text, run in process, over every transport, and against redis-server as the oracle.
//!
//! ```text
//! # a comment
//! > SET greeting "hello \x00"       a request, in the syntax of inline commands
//! OK                                its reply, as redis-cli would show it
//! 2> GET greeting                   the same on a second connection
//! "hello \x00"
//! >~ SMEMBERS letters               elements of the reply in any order
//! 1) "a"
//! 2) "b"
//! @ 5000                            time goes on by 5000 ms (in-process runs only)
//! ```

use std::fmt::Write as _;

use crate::resp::{Args, Parsed, RequestLimits, RequestParser, Value, quote};

/// One step of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A request and the reply it must get.
    Request {
        /// Line of the transcript, from 1.
        line: usize,
        /// Number of the connection, from 1.
        connection: usize,
        /// Whether the reply's elements may come in any order.
        unordered: bool,
        /// The arguments, the name first.
        args: Vec<Vec<u8>>,
        /// The reply as [`show`] prints it.
        expected: String,
    },
    /// Time goes on by so many milliseconds.
    Advance(u64),
}

/// Reads a transcript. A line that is none of the forms above is an error naming it.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let trimmed = line.trim_end();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Some(pause) = trimmed.strip_prefix("@ ") {
            let pause =
                pause.trim().parse().map_err(|_| format!("line {number}: no number of milliseconds"))?;
            steps.push(Step::Advance(pause));
        } else if let Some((connection, unordered, request)) = request_line(trimmed) {
            let args = split(request).ok_or_else(|| format!("line {number}: not a request"))?;
            steps.push(Step::Request { line: number, connection, unordered, args, expected: String::new() });
        } else if let Some(Step::Request { expected, .. }) = steps.last_mut() {
            if !expected.is_empty() {
                expected.push('\n');
            }
            expected.push_str(trimmed);
        } else {
            return Err(format!("line {number}: a reply without a request"));
        }
    }
    Ok(steps)
}

fn request_line(line: &str) -> Option<(usize, bool, &str)> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let rest = rest.strip_prefix('>')?;
    let (unordered, rest) = rest.strip_prefix('~').map_or((false, rest), |rest| (true, rest));
    let connection = if number.is_empty() { 1 } else { number.parse().ok()? };
    Some((connection, unordered, rest.strip_prefix(' ')?))
}

fn split(request: &str) -> Option<Vec<Vec<u8>>> {
    let line = format!("{request}\r\n");
    let limits = RequestLimits { bulk_max_bytes: u64::MAX, ..RequestLimits::new(true) };
    let (mut parser, mut args) = (RequestParser::new(), Args::new());
    match parser.parse(line.as_bytes(), &limits, &mut args) {
        Ok(Parsed::Request { .. }) => Some(args.iter().map(|argument| argument.to_vec()).collect()),
        _ => None,
    }
}

/// A reply as redis-cli shows it; with `unordered`, the elements of the outermost array are sorted first.
pub fn show(value: &Value, unordered: bool) -> String {
    let mut out = String::new();
    match value {
        Value::Array(items) | Value::Set(items) if unordered => {
            let mut shown: Vec<String> = items.iter().map(|item| show(item, false)).collect();
            shown.sort();
            for (at, item) in shown.iter().enumerate() {
                let _ = writeln!(out, "{}) {item}", at + 1);
            }
            if shown.is_empty() {
                out.push_str("(empty array)");
            }
        }
        _ => show_into(value, 0, &mut out),
    }
    out.trim_end().to_string()
}

fn show_into(value: &Value, indent: usize, out: &mut String) {
    let _ = match value {
        Value::Simple(text) => writeln!(out, "{}", String::from_utf8_lossy(text)),
        Value::Error(text) | Value::BlobError(text) => {
            writeln!(out, "(error) {}", String::from_utf8_lossy(text))
        }
        Value::Integer(number) => writeln!(out, "(integer) {number}"),
        Value::Bulk(bytes) => writeln!(out, "{}", quote(bytes)),
        Value::Null => writeln!(out, "(nil)"),
        Value::Double(number) => writeln!(out, "(double) {}", crate::resp::format_f64(*number).as_str()),
        Value::Boolean(truth) => writeln!(out, "({truth})"),
        Value::BigNumber(digits) => writeln!(out, "(big number) {}", String::from_utf8_lossy(digits)),
        Value::Verbatim { text, .. } => writeln!(out, "{}", quote(text)),
        Value::Array(items) => return show_items(items, "array", ')', indent, out),
        Value::Set(items) => return show_items(items, "set", '~', indent, out),
        Value::Push(items) => return show_items(items, "push", '>', indent, out),
        Value::Map(pairs) => {
            if pairs.is_empty() {
                out.push_str("(empty hash)\n");
            }
            for (at, (key, value)) in pairs.iter().enumerate() {
                let prefix = if at == 0 { String::new() } else { " ".repeat(indent) };
                let _ = write!(out, "{prefix}{}# ", at + 1);
                let mut shown = String::new();
                show_into(key, 0, &mut shown);
                let _ = write!(out, "{} => ", shown.trim_end());
                show_into(value, indent + 3, out);
            }
            return;
        }
    };
}

fn show_items(items: &[Value], name: &str, mark: char, indent: usize, out: &mut String) {
    if items.is_empty() {
        let _ = writeln!(out, "(empty {name})");
    }
    for (at, item) in items.iter().enumerate() {
        let prefix = if at == 0 { String::new() } else { " ".repeat(indent) };
        let head = format!("{}{mark} ", at + 1);
        let _ = write!(out, "{prefix}{head}");
        show_into(item, indent + head.len(), out);
    }
}
