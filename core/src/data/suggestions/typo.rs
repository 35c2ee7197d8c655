//! Which texts begin as something does, but for one edit: a character more, less or another (Levenshtein, as RediSearch counts).
//!
//! A text is read character by character by an automaton whose states are two sets of positions in what is sought: those that are
//! reached without an edit, and those that are reached with one at most. A set is the bits of a number.
//!
//! Where a text cannot match any more, neither can any other that goes on so, and the positions say which character comes next in one
//! that can: so a walk over texts in order leaves out most of them ([`Look::Dead`]).

use crate::limits::SUGGESTION_PREFIX_MAX_CHARS;

// A position for each character, and one behind the last.
const _: () = assert!(SUGGESTION_PREFIX_MAX_CHARS < u128::BITS as usize);

/// A character as a number whose order is that of its bytes: those in front, then zeros.
type Unit = u32;

/// What is sought.
pub(super) struct Typo {
    /// Each of its characters, and the positions in front of it.
    units: Vec<(Unit, u128)>,
    /// The position behind the last.
    last: u128,
}

/// What a look at a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It begins so, with so many edits.
    Matches(u8),
    /// It ends before it could, and longer ones may match.
    Short,
    /// No text with the same bytes up to the offset `at` matches that has there any character from its own on, up to `next`, or any at
    /// all if there is none.
    Dead { at: usize, next: Option<Unit> },
}

/// Positions that are reached.
#[derive(Clone, Copy)]
struct State {
    exact: u128,
    edited: u128,
}

impl Typo {
    /// Seeks this; only its first [`SUGGESTION_PREFIX_MAX_CHARS`] characters.
    pub fn of(folded: &[u8]) -> Typo {
        let (mut units, mut last, mut rest): (Vec<(Unit, u128)>, u128, _) = (Vec::new(), 1, folded);
        while let Some((unit, len)) = first_unit(rest) {
            if last >> SUGGESTION_PREFIX_MAX_CHARS != 0 {
                break;
            }
            match units.iter_mut().find(|(known, _)| *known == unit) {
                Some((_, positions)) => *positions |= last,
                None => units.push((unit, last)),
            }
            last <<= 1;
            rest = rest.get(len..).unwrap_or_default();
        }
        Typo { units, last }
    }

    /// Looks at a folded text.
    pub fn look(&self, text: &[u8]) -> Look {
        let all = self.last | (self.last - 1);
        let mut state = State { exact: 1, edited: 0b11 & all };
        let (mut at, mut is_edited) = (0, false);
        loop {
            if state.exact & self.last != 0 {
                return Look::Matches(0);
            }
            is_edited |= state.edited & self.last != 0;
            let next = text.get(at..).and_then(first_unit);
            let Some((unit, len)) = next.filter(|_| !is_edited || state.exact != 0) else {
                return if is_edited { Look::Matches(1) } else { Look::Short };
            };
            let fits =
                self.units.iter().find(|(known, _)| *known == unit).map_or(0, |(_, positions)| *positions);
            let exact = (state.exact & fits) << 1;
            // The same character, one more, another, one less.
            let edited = (state.edited & fits) << 1 | state.exact | state.exact << 1 | exact << 1;
            let after = State { exact: exact & all, edited: edited & all };
            if after.edited == 0 && !is_edited {
                return Look::Dead { at, next: self.next_after(state, unit) };
            }
            state = after;
            at += len;
        }
    }

    /// The least character behind this one with which a text may go on that has had its edit.
    fn next_after(&self, state: State, unit: Unit) -> Option<Unit> {
        let goes_on = self.units.iter().filter(|(_, positions)| state.edited & positions != 0);
        goes_on.map(|(known, _)| *known).filter(|known| *known > unit).min()
    }
}

/// The first character of a text, and how many bytes it has. Of what is no UTF-8 a character is what comes closest to one.
fn first_unit(text: &[u8]) -> Option<(Unit, usize)> {
    let (first, rest) = text.split_first()?;
    let following = match first {
        0xC0..=0xDF => 1,
        0xE0..=0xEF => 2,
        0xF0..=0xF7 => 3,
        _ => 0,
    };
    let is_continued = |byte: &&u8| **byte & 0xC0 == 0x80;
    let len = 1 + rest.iter().take(following).take_while(is_continued).count();
    let mut bytes = [0; 4];
    bytes.iter_mut().zip(text.get(..len)?).for_each(|(to, byte)| *to = *byte);
    Some((Unit::from_be_bytes(bytes), len))
}

/// Adds the bytes of a character, none of which is zero.
pub(super) fn push_unit(out: &mut Vec<u8>, unit: Unit) {
    out.extend(unit.to_be_bytes().into_iter().take_while(|byte| *byte != 0));
}
