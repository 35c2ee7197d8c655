//! When two replies to the same request are the same.

use edgecask_core::catalog;
use edgecask_core::resp::Value;
use edgecask_core::resp::quote;
use edgecask_core::transcript::show;
use edgecask_tests::client::Reply;

/// Seconds by which the servers' clocks and the moments of their commands may differ.
const CLOCKS_APART_S: i64 = 5;

/// What must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every byte.
    Exact,
    /// The elements in any order.
    AnyOrder,
    /// Pairs of elements in any order.
    AnyPairs,
    /// A time, up to the servers' distance: seconds or milliseconds.
    Time { unit_ms: bool },
    /// The type, and the text of an error.
    Shape,
    /// Every byte but for times, and what only a radix tree has.
    Timeless,
    /// A cursor and elements, which agree where both servers gave all of them at once.
    Walk { pairs: bool },
}

/// What must agree in the replies to a request.
pub fn mode(request: &[Vec<u8>]) -> Mode {
    let word = |at: usize| request.get(at).map(Vec::as_slice).unwrap_or_default();
    let Some(mut spec) = catalog::lookup(word(0)) else { return Mode::Exact };
    if let Some(sub) = catalog::lookup_sub(spec, word(1)) {
        spec = sub;
    }
    match spec.name {
        "ttl" | "expiretime" => Mode::Time { unit_ms: false },
        "pttl" | "pexpiretime" => Mode::Time { unit_ms: true },
        "hgetall" => Mode::AnyPairs,
        // What stands at a cursor of no walk is nowhere said.
        "scan" if word(1) != b"0" => Mode::Shape,
        "hscan" | "sscan" | "zscan" if word(2) != b"0" => Mode::Shape,
        "scan" | "sscan" => Mode::Walk { pairs: false },
        "hscan" | "zscan" => Mode::Walk { pairs: true },
        "object|encoding" | "object|freq" => Mode::Exact,
        // Ids are given and times are either over or far away, so these leave nothing to chance.
        "xadd" | "xtrim" | "xclaim" | "xautoclaim" => Mode::Exact,
        "xpending" | "xinfo|stream" | "xinfo|groups" => Mode::Timeless,
        "sort" | "sort_ro" => sort_mode(request),
        _ if spec.tips.contains("nondeterministic_output_order") => Mode::AnyOrder,
        _ if spec.tips.contains("nondeterministic_output") => Mode::Shape,
        "client|id" => Mode::Shape,
        _ => Mode::Exact,
    }
}

/// SORT shows the order in which a set is kept where it does not sort, or compares as equal: texts up to a NUL.
fn sort_mode(request: &[Vec<u8>]) -> Mode {
    let has = |word: &[u8]| request.iter().any(|argument| argument.eq_ignore_ascii_case(word));
    let is_unsorted = request.windows(2).any(|pair| match pair {
        [option, pattern] => option.eq_ignore_ascii_case(b"by") && !pattern.contains(&b'*'),
        _ => false,
    });
    match is_unsorted || has(b"alpha") {
        _ if has(b"store") => Mode::Exact,
        false => Mode::Exact,
        true if has(b"limit") => Mode::Shape,
        true => Mode::AnyOrder,
    }
}

/// Whether the replies agree.
pub fn agree(mode: &Mode, ours: &Reply, theirs: &Reply) -> bool {
    if ours.bytes == theirs.bytes {
        return true;
    }
    // Null strings and null arrays read the same, so bytes decide wherever order does not matter.
    *mode != Mode::Exact && values_agree(mode, &ours.value, &theirs.value)
}

fn values_agree(mode: &Mode, ours: &Value, theirs: &Value) -> bool {
    let is_plain = |value: &Value| value.as_error().is_some() || *value == Value::Null;
    if is_plain(ours) || is_plain(theirs) {
        return ours == theirs;
    }
    match mode {
        Mode::Exact => ours == theirs,
        Mode::Timeless => timeless(ours) == timeless(theirs),
        Mode::Shape => std::mem::discriminant(ours) == std::mem::discriminant(theirs),
        Mode::Time { unit_ms } => agree_on_time(ours, theirs, *unit_ms),
        Mode::AnyOrder => sorted(ours, 1) == sorted(theirs, 1),
        Mode::AnyPairs => sorted(ours, 2) == sorted(theirs, 2),
        Mode::Walk { pairs } => match (ours, theirs) {
            (Value::Array(ours), Value::Array(theirs)) => match (ours.as_slice(), theirs.as_slice()) {
                ([a, ours], [b, theirs]) if is_end(a) && is_end(b) => {
                    let size = if *pairs { 2 } else { 1 };
                    sorted(ours, size) == sorted(theirs, size)
                }
                ([a, Value::Array(_)], [b, Value::Array(_)]) => {
                    std::mem::discriminant(a) == std::mem::discriminant(b)
                }
                _ => false,
            },
            _ => false,
        },
    }
}

/// Whether two times to live or Unix times are as near as the moments at which they were asked for.
pub fn agree_on_time(ours: &Value, theirs: &Value, unit_ms: bool) -> bool {
    let apart = if unit_ms { CLOCKS_APART_S * 1000 } else { CLOCKS_APART_S };
    matches!((ours, theirs), (Value::Integer(a), Value::Integer(b))
        if a == b || (*a > 0 && *b > 0 && a.abs_diff(*b) <= apart.unsigned_abs()))
}

/// Facts about streams that differ from server to server: times, the inner nodes of Redis' radix tree, and consumers,
/// which 7.2 makes even where they find nothing.
const NOT_COMPARED: &[&[u8]] = &[b"radix-tree-nodes", b"consumers"];

/// The reply of XINFO or XPENDING without them.
pub fn timeless(value: &Value) -> Value {
    let is_left_out = |name: Option<&Value>| {
        name.and_then(Value::as_bytes).is_some_and(|name| NOT_COMPARED.contains(&name))
    };
    match value {
        Value::Array(items) => match items.as_slice() {
            // A pending entry: id, consumer, time, deliveries.
            [id @ Value::Bulk(_), owner @ Value::Bulk(_), Value::Integer(_), count @ Value::Integer(_)] => {
                Value::Array(vec![id.clone(), owner.clone(), Value::Null, count.clone()])
            }
            items => {
                let names = std::iter::once(None).chain(items.iter().map(Some));
                let kept = items.iter().zip(names).filter(|(_, name)| !is_left_out(*name));
                Value::Array(kept.map(|(item, _)| timeless(item)).collect())
            }
        },
        Value::Map(pairs) => {
            let kept = pairs.iter().filter(|(name, _)| !is_left_out(Some(name)));
            Value::Map(kept.map(|(name, value)| (name.clone(), timeless(value))).collect())
        }
        other => other.clone(),
    }
}

fn is_end(cursor: &Value) -> bool {
    cursor.as_bytes() == Some(b"0")
}

/// The strings, numbers and nulls in a reply, as text, in order.
pub fn scalars(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) | Value::Set(items) => items.iter().flat_map(scalars).collect(),
        Value::Map(pairs) => {
            pairs.iter().flat_map(|(key, value)| [scalars(key), scalars(value)].concat()).collect()
        }
        other => vec![show(other, false)],
    }
}

/// The kind of an aggregate and its elements in groups of `size`, in an order of their own.
fn sorted(value: &Value, size: usize) -> (&'static str, Vec<String>) {
    let shown = |items: &[Value]| items.iter().map(|item| show(item, false)).collect::<Vec<_>>().join("\n");
    let (kind, mut groups) = match value {
        Value::Array(items) => ("array", items.chunks(size).map(shown).collect()),
        Value::Set(items) => ("set", items.chunks(size).map(shown).collect()),
        Value::Push(items) => ("push", items.chunks(size).map(shown).collect()),
        Value::Map(pairs) => {
            ("map", pairs.iter().map(|(key, value)| shown(&[key.clone(), value.clone()])).collect())
        }
        other => ("scalar", vec![show(other, false)]),
    };
    groups.sort();
    (kind, groups)
}

/// A reply for a person; the bytes too where two replies would read the same.
pub fn shown(reply: &Reply, other: &Reply) -> String {
    let text = show(&reply.value, false);
    if text == show(&other.value, false) { format!("{text} as {}", quote(&reply.bytes)) } else { text }
}

/// Whether two replies differ in nothing but the spelling of numbers.
pub fn numbers_are_equal(ours: &Value, theirs: &Value) -> bool {
    let (ours, theirs) = (scalars(ours), scalars(theirs));
    // Without a number, bytes that differ mean something else, such as another kind of null.
    let has_number = ours.iter().any(|text| plain_number(text) != *text || text.starts_with("(double)"));
    has_number && ours.iter().map(|text| plain_number(text)).eq(theirs.iter().map(|text| plain_number(text)))
}

/// A number in its one spelling, any other text as it is.
pub fn plain_number(shown: &str) -> String {
    let bare = shown.trim_start_matches("(double) ").trim_matches('"');
    bare.parse::<f64>().map_or_else(|_| shown.to_string(), |number| format!("{number:?}"))
}
