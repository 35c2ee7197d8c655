//! Types of Rust from types of replies.

use edgecask_core::catalog::ReplyType;

/// The type as it is written.
pub fn rust(reply: &ReplyType) -> String {
    match reply {
        ReplyType::Ok | ReplyType::Null | ReplyType::None => "()".into(),
        ReplyType::Status | ReplyType::Text => "String".into(),
        ReplyType::Integer => "i64".into(),
        ReplyType::Bool => "bool".into(),
        ReplyType::Double => "f64".into(),
        ReplyType::Bulk => "Vec<u8>".into(),
        ReplyType::Value => "Value".into(),
        ReplyType::Entry => "Entry".into(),
        // Whether it happened.
        ReplyType::Nullable(of) if **of == ReplyType::Ok => "bool".into(),
        ReplyType::Nullable(of) => format!("Option<{}>", rust(of)),
        // Two that take turns are pairs: a member and its score, a channel and its listeners.
        ReplyType::Array(of) => match &**of {
            ReplyType::Either(types) if types.len() == 2 && types.iter().all(is_single) => {
                format!("Vec<({}, {})>", rust(&types[0]), rust(&types[1]))
            }
            other => format!("Vec<{}>", rust(other)),
        },
        ReplyType::Set(of) if is_single(of) => format!("HashSet<{}>", rust(of)),
        // A value of any type has no hash.
        ReplyType::Set(of) => format!("Vec<{}>", rust(of)),
        ReplyType::Map(key, value) | ReplyType::Pairs(key, value) | ReplyType::Flat(key, value) => {
            format!("Vec<({}, {})>", rust(key), rust(value))
        }
        ReplyType::Tuple(types) => {
            let types: Vec<_> = types.iter().map(rust).collect();
            if types.len() == 1 { format!("({},)", types[0]) } else { format!("({})", types.join(", ")) }
        }
        ReplyType::Either(types) => match types.as_slice() {
            // One or none.
            [ReplyType::Tuple(pair), ReplyType::Tuple(none)] if pair.len() == 2 && none.is_empty() => {
                format!("Vec<({}, {})>", rust(&pair[0]), rust(&pair[1]))
            }
            [one, many] if is_single(one) && !is_single(many) => {
                format!("Either<{}, {}>", rust(one), rust(many))
            }
            _ => "Value".into(),
        },
    }
}

/// Whether it is no aggregate.
fn is_single(reply: &ReplyType) -> bool {
    match reply {
        ReplyType::Nullable(of) => is_single(of),
        ReplyType::Either(types) => types.iter().all(is_single),
        ReplyType::Array(_)
        | ReplyType::Set(_)
        | ReplyType::Map(..)
        | ReplyType::Pairs(..)
        | ReplyType::Flat(..)
        | ReplyType::Tuple(_)
        | ReplyType::Entry
        | ReplyType::Value => false,
        _ => true,
    }
}
