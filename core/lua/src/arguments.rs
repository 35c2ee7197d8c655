//! Arguments of a command as Lua has them, as the bytes that the command gets.

use edgecask_core::resp::{FloatText, format_f64};
use smallvec::SmallVec;

/// An argument of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    Bytes(&'a [u8]),
    Number(f64),
}

/// Calls `action` with all arguments as bytes. A number prints as an integer if it is one, else in the shortest form.
#[inline]
pub(crate) fn with_bytes<'a, R>(
    arguments: impl Iterator<Item = Argument<'a>> + Clone,
    action: impl FnOnce(&[&[u8]]) -> R,
) -> R {
    let mut texts: SmallVec<[FloatText; 4]> = SmallVec::new();
    for argument in arguments.clone() {
        if let Argument::Number(number) = argument {
            texts.push(format_f64(number));
        }
    }
    let mut texts = texts.iter();
    let mut bytes: SmallVec<[&[u8]; 16]> = SmallVec::new();
    for argument in arguments {
        bytes.push(match argument {
            Argument::Bytes(bytes) => bytes,
            Argument::Number(_) => texts.next().map_or(&[][..], FloatText::as_bytes),
        });
    }
    action(&bytes)
}
