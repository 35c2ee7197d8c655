//! Patterns that make a key, or a field of a hash, of each element.

use super::EngineError;
use crate::command::{CommandError, Context};
use crate::engine::Kind;
use crate::limits::VALUE_IN_MEMORY_MAX_BYTES;

/// What an element's name is put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern<'a> {
    /// `#`: the element itself.
    Element,
    /// `before*after` or `before*after->field`.
    Key { before: &'a [u8], after: &'a [u8], field: Option<&'a [u8]> },
    /// Without a star: nothing, since the same key for all elements makes no sense.
    Nothing,
}

/// What a pattern leads to.
pub(super) enum Found {
    Nothing,
    Bytes(Vec<u8>),
    /// The string of so many bytes at this key.
    String(Vec<u8>, u64),
}

impl<'a> Pattern<'a> {
    /// Like Redis this looks for the star and the arrow before the first NUL only.
    pub fn new(text: &'a [u8]) -> Pattern<'a> {
        if text == b"#" {
            return Pattern::Element;
        }
        let until = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        let searched = text.get(..until).unwrap_or_default();
        let Some(star) = searched.iter().position(|byte| *byte == b'*') else { return Pattern::Nothing };
        let behind = searched.get(star + 1..).unwrap_or_default();
        let arrow = behind.windows(2).position(|pair| pair == b"->").map(|at| star + 1 + at);
        // An arrow at the end belongs to the key.
        let arrow = arrow.filter(|arrow| arrow + 2 < until);
        let end = arrow.unwrap_or(text.len());
        Pattern::Key {
            before: text.get(..star).unwrap_or_default(),
            after: text.get(star + 1..end).unwrap_or_default(),
            field: arrow.and_then(|arrow| text.get(arrow + 2..)),
        }
    }

    /// Whether it is different for every element.
    pub fn has_star(&self) -> bool {
        matches!(self, Pattern::Key { .. })
    }

    /// What the pattern leads to for an element. A key of another type than it asks for is no key.
    pub fn find(&self, ctx: &mut Context<'_, '_>, element: &[u8]) -> Result<Found, CommandError> {
        let (before, after, field) = match *self {
            Pattern::Element => return Ok(Found::Bytes(element.to_vec())),
            Pattern::Nothing => return Ok(Found::Nothing),
            Pattern::Key { before, after, field } => (before, after, field),
        };
        let key = [before, element, after].concat();
        let db = ctx.db();
        let Some(root) = ctx.txn.root(db, &key)? else {
            ctx.note_reads(&[&key], true);
            return Ok(Found::Nothing);
        };
        Ok(match field {
            None if root.kind == Kind::String => Found::String(key, root.value_len),
            Some(field) if root.kind == Kind::Hash => {
                ctx.txn.sub_value(db, &key, field)?.map_or(Found::Nothing, Found::Bytes)
            }
            _ => Found::Nothing,
        })
    }

    /// The bytes that [`Pattern::find`] leads to. They are added to `held_bytes`, which is bounded.
    pub fn value(
        &self,
        ctx: &mut Context<'_, '_>,
        element: &[u8],
        held_bytes: &mut u64,
    ) -> Result<Option<Vec<u8>>, CommandError> {
        let (db, seen) = (ctx.db(), ctx.txn.keys_seen());
        let found = self.find(ctx, element)?;
        *held_bytes += match &found {
            Found::Nothing => 0,
            Found::Bytes(bytes) => bytes.len() as u64,
            Found::String(_, len) => *len,
        };
        ctx.txn.share().look()?;
        if *held_bytes > VALUE_IN_MEMORY_MAX_BYTES {
            return Err(EngineError::TooLarge(*held_bytes).into());
        }
        let value = match found {
            Found::Nothing => None,
            Found::Bytes(bytes) => Some(bytes),
            Found::String(key, _) => ctx.txn.value(db, &key)?,
        };
        ctx.txn.forget_reads(seen);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_read_as_another() {
        let key = |before, after, field| Pattern::Key { before, after, field };
        let cases: [(&[u8], Pattern<'_>); 11] = [
            (b"#", Pattern::Element),
            (b"", Pattern::Nothing),
            (b"nosort", Pattern::Nothing),
            (b"##", Pattern::Nothing),
            (b"h->f*", key(b"h->f", b"", None)),
            (b"w_*", key(b"w_", b"", None)),
            (b"a*b*c", key(b"a", b"b*c", None)),
            (b"h_*_x->f->g", key(b"h_", b"_x", Some(b"f->g"))),
            (b"h_*->", key(b"h_", b"->", None)),
            (b"h_*->f\0*", key(b"h_", b"", Some(b"f\0*"))),
            (b"h\0*", Pattern::Nothing),
        ];
        for (text, wanted) in cases {
            assert_eq!(Pattern::new(text), wanted, "{}", String::from_utf8_lossy(text));
        }
    }
}
