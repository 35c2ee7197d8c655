//! Which arguments of a request are keys: what cluster clients, the ACL check, WATCH and the engine's locks ask.
//!
//! The model is Redis' key specifications (<https://redis.io/docs/latest/develop/reference/key-specs/>): a command has
//! a few ranges; each says where it begins, how to find its end, and what the command does with the keys in it.
//!
//! [`KeySpec::positions`] runs for every request, so the commonest shape (one key, right after the name) is decided when the table
//! is compiled. It must never trust a count that the client sent, and never allocate for up to four keys.

use smallvec::{SmallVec, smallvec};

use super::bits::named_bits;

named_bits! {
    /// What a command does with a key, as `COMMAND INFO` prints it in a key specification.
    KeyFlags(u16) {
        /// Reads the value or what is known about the key.
        RO = "RO",
        /// Reads and writes.
        RW = "RW",
        /// Overwrites without regard to the old value.
        OW = "OW",
        /// Removes the key.
        RM = "RM",
        /// The client learns something of the user's data (and not only type, length or existence).
        ACCESS = "access",
        /// Data may be changed in place.
        UPDATE = "update",
        /// Data is added, none is changed or removed.
        INSERT = "insert",
        /// Data is removed.
        DELETE = "delete",
        /// Looks like a key but is not one (a channel of sharded publish/subscribe).
        NOT_KEY = "not_key",
        /// The specification may miss keys.
        INCOMPLETE = "incomplete",
        /// An option of the request decides between weaker and stronger use.
        VARIABLE_FLAGS = "variable_flags",
    }
}

/// Where the search for keys begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At a fixed argument; the name is argument 0.
    Index(u8),
    /// After the first argument equal to `word` (in any case). The search goes forward from argument `from`, or
    /// backward from the argument `-from` places before the end when it is negative. No such word: no keys.
    Keyword {
        /// The option's name, upper case.
        word: &'static str,
        /// The argument at which the search for the word begins.
        from: i8,
    },
    /// Where only the command itself can tell.
    Unknown,
}

/// How far the keys reach from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Every `step`-th argument up to `last`.
    Range {
        /// Relative to the first key; `-1` is the last argument of the request, `-2` the one before it.
        last: i8,
        /// Distance between two keys.
        step: u8,
        /// With `last = -1`: the keys are the first `1/limit` of the remaining arguments; 0 and 1 mean all.
        limit: u8,
    },
    /// As many as a number in the request says; positions are relative to the beginning.
    Keynum {
        /// Where the number stands.
        count_at: u8,
        /// Where the first key stands.
        first: u8,
        /// Distance between two keys.
        step: u8,
    },
    /// As the command itself can tell.
    Unknown,
}

/// Tells from a request (the name included) where the one key of an [`Begin::Unknown`] range stands, if it has one.
pub type Locate = fn(&[&[u8]]) -> Option<usize>;

/// Tells from a request (the name included) what it does with the keys of a range.
pub type Narrow = fn(&[&[u8]]) -> KeyFlags;

/// Finds where the keys of a request (the name included) begin; None if it names none.
pub type Seek = fn(&[&[u8]]) -> Option<usize>;

/// One key specification.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange {
    /// What the command does with these keys.
    pub flags: KeyFlags,
    /// Where the search begins.
    pub begin: Begin,
    /// Where it ends.
    pub find: Find,
    /// With [`KeyFlags::VARIABLE_FLAGS`]: what this very request does with them.
    pub narrow: Option<Narrow>,
    /// Where the keys of a request really begin, if a value before them may look like the word of [`Begin::Keyword`]. Of a
    /// request that makes no sense [`KeyRange::begin`] decides; the word must be there.
    pub seek: Option<Seek>,
    /// With [`Begin::Unknown`]: where the key stands; without it the keys are not in the request.
    pub locate: Option<Locate>,
    /// Whether a request may say that it has none of these keys.
    pub is_optional: bool,
}

/// One key at a fixed position.
pub(super) const fn key(position: u8, flags: &str) -> KeyRange {
    key_range(position, 0, 1, flags)
}

/// All arguments from a position on.
pub(super) const fn keys_from(position: u8, flags: &str) -> KeyRange {
    key_range(position, -1, 1, flags)
}

/// Every `step`-th argument from `position` to `last`, in the sense of [`Find::Range`].
pub(super) const fn key_range(position: u8, last: i8, step: u8, flags: &str) -> KeyRange {
    let find = Find::Range { last, step, limit: 0 };
    KeyRange {
        flags: KeyFlags::parse(flags),
        begin: Begin::Index(position),
        find,
        narrow: None,
        seek: None,
        locate: None,
        is_optional: false,
    }
}

/// Keys that do not stand in the request.
pub(super) const fn unnamed_keys(flags: &str) -> KeyRange {
    KeyRange { begin: Begin::Unknown, find: Find::Unknown, ..key(0, flags) }
}

/// A number of keys at a position, and the keys after it.
pub(super) const fn numkeys(position: u8, flags: &str) -> KeyRange {
    KeyRange { find: Find::Keynum { count_at: 0, first: 1, step: 1 }, ..key(position, flags) }
}

/// The same, where the number may be 0.
pub(super) const fn numkeys_or_none(position: u8, flags: &str) -> KeyRange {
    KeyRange { is_optional: true, ..numkeys(position, flags) }
}

/// The first half of all arguments behind a word, which is searched from a position on.
pub(super) const fn first_half_after(word: &'static str, from: i8, flags: &str) -> KeyRange {
    KeyRange { find: Find::Range { last: -1, step: 1, limit: 2 }, ..key_after(word, from, flags) }
}

/// The key after an option's name, which is looked for from a position on.
pub(super) const fn key_after(word: &'static str, from: i8, flags: &str) -> KeyRange {
    KeyRange { begin: Begin::Keyword { word, from }, ..key(0, flags) }
}

impl KeyRange {
    /// Names the function that tells what a request with these arguments really does.
    pub(super) const fn narrowed_by(mut self, narrow: Narrow) -> KeyRange {
        self.narrow = Some(narrow);
        self
    }

    /// Names the function that tells where the keys of a request begin.
    pub(super) const fn sought_by(mut self, seek: Seek) -> KeyRange {
        self.seek = Some(seek);
        self
    }

    /// Names the function that finds the key of an unknown range.
    pub(super) const fn located_by(mut self, locate: Locate) -> KeyRange {
        self.locate = Some(locate);
        self
    }
}

/// All key specifications of a command, and what is derived from them when the table is compiled.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    ranges: &'static [KeyRange],
    path: Path,
    legacy: LegacyRange,
}

/// How [`KeySpec::positions`] goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    None,
    /// One key at this position and no other.
    One(u8),
    /// As many as the number at this position says, right behind it.
    Counted(u8),
    /// By the ranges.
    Walk,
}

/// The key positions of Redis before 7.0, still elements four to six of `COMMAND INFO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegacyRange {
    /// The first key, 0 when there is none at a fixed position.
    pub first: i16,
    /// The last key; negative counts from the end.
    pub last: i16,
    /// Distance between two keys.
    pub step: i16,
}

impl KeySpec {
    /// A command without keys.
    pub const NONE: KeySpec = KeySpec::new(&[]);

    /// Derives the rest from the ranges.
    pub const fn new(ranges: &'static [KeyRange]) -> KeySpec {
        let path = match ranges {
            [] => Path::None,
            // Names that are no keys: a cluster finds a node by them, nothing else.
            [only] if only.flags.contains(KeyFlags::NOT_KEY) => Path::None,
            [KeyRange { begin: Begin::Index(position), find: Find::Range { last: 0, .. }, .. }] => {
                Path::One(*position)
            }
            [
                KeyRange {
                    begin: Begin::Index(position),
                    find: Find::Keynum { count_at: 0, first: 1, step: 1 },
                    seek: None,
                    ..
                },
            ] => Path::Counted(*position),
            _ => Path::Walk,
        };
        KeySpec { ranges, path, legacy: legacy_range(ranges) }
    }

    /// The key specifications, in the order of `COMMAND INFO`.
    pub const fn ranges(&self) -> &'static [KeyRange] {
        self.ranges
    }

    /// The range that clients older than key specifications use.
    pub const fn legacy_range(&self) -> LegacyRange {
        self.legacy
    }

    /// Whether every request names one key and no other, right after the command's name.
    pub const fn is_one_key(&self) -> bool {
        matches!(self.path, Path::One(1))
    }

    /// Whether the command takes no keys at all.
    pub const fn is_empty(&self) -> bool {
        matches!(self.path, Path::None)
    }

    /// Whether some key does not stand where [`KeySpec::legacy_range`] says.
    pub const fn is_movable(&self) -> bool {
        let mut index = 0;
        while index < self.ranges.len() {
            if !matches!(self.ranges[index].begin, Begin::Index(_))
                || !matches!(self.ranges[index].find, Find::Range { .. })
            {
                return true;
            }
            index += 1;
        }
        false
    }
}

/// Joins the ranges at fixed positions that follow one another without a gap.
const fn legacy_range(ranges: &[KeyRange]) -> LegacyRange {
    let mut legacy = LegacyRange { first: 0, last: 0, step: 0 };
    let mut index = 0;
    while index < ranges.len() {
        if let Begin::Index(position) = ranges[index].begin
            && let Find::Range { last, step, .. } = ranges[index].find
        {
            let position = position as i16;
            let last = if last < 0 { last as i16 } else { position + last as i16 };
            if legacy.step == 0 {
                legacy = LegacyRange { first: position, last, step: step as i16 };
            } else if legacy.last == position - 1 {
                legacy.last = last;
            }
        }
        index += 1;
    }
    legacy
}

/// Key positions: indexes into the request, the name being 0.
pub type Keys = SmallVec<[usize; 4]>;

/// A key of a request and what the command will do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// Index into the request.
    pub index: usize,
    /// What the command will do with it.
    pub flags: KeyFlags,
}

/// The request does not have the keys that it announces. `COMMAND GETKEYS` answers with this text; a dispatcher goes
/// on without keys, as Redis does, and leaves it to the command to say what is wrong with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid arguments specified for command")]
pub struct KeysError;

impl KeySpec {
    /// The keys of a request, in the order of the key specifications. `args[0]` is the name. A few nanoseconds for a
    /// command with one key. Fails where the request does not have the keys that it announces.
    #[inline]
    pub fn positions(&self, args: &[&[u8]]) -> Result<Keys, KeysError> {
        match self.path {
            Path::None => Ok(Keys::new()),
            Path::One(position) if args.len() > usize::from(position) => Ok(smallvec![usize::from(position)]),
            Path::One(_) => Err(KeysError),
            Path::Counted(_) | Path::Walk => self.walk(args),
        }
    }

    /// The keys of a request where they stand one behind the other at a known place, as nearly all do; None where
    /// [`KeySpec::positions`] must look for them.
    #[inline]
    pub fn in_a_row<'r, 'a>(&self, args: &'r [&'a [u8]]) -> Option<&'r [&'a [u8]]> {
        match self.path {
            Path::None => Some(&[]),
            Path::One(position) => args.get(usize::from(position)..=usize::from(position)),
            Path::Counted(position) => {
                let (count, behind) = args.get(usize::from(position)..)?.split_first()?;
                behind.get(..positive(count)?)
            }
            Path::Walk => None,
        }
    }

    fn walk(&self, args: &[&[u8]]) -> Result<Keys, KeysError> {
        let mut found = Keys::new();
        for range in self.ranges {
            if let Some((positions, _)) = range.positions(args)? {
                found.extend(positions);
            }
        }
        Ok(found)
    }

    /// The keys of a request with what it will do to each: for the ACL check and `COMMAND GETKEYSANDFLAGS`. Fails as
    /// [`KeySpec::positions`] does.
    pub fn uses(&self, args: &[&[u8]]) -> Result<SmallVec<[KeyUse; 4]>, KeysError> {
        let mut found = SmallVec::new();
        let ranges = if self.is_empty() { &[] } else { self.ranges };
        for range in ranges {
            if let Some((positions, flags)) = range.positions(args)? {
                found.extend(positions.map(|index| KeyUse { index, flags }));
            }
        }
        Ok(found)
    }

    /// As [`KeySpec::uses`], for a request that does not say how many keys it has as it should. Redis then lets C's `atoi`
    /// read the count, puts counted keys first and knows nothing of their use.
    pub fn uses_counted_loosely(&self, args: &[&[u8]]) -> Result<SmallVec<[KeyUse; 4]>, KeysError> {
        let count_at = self.ranges.iter().find_map(KeyRange::count_at).ok_or(KeysError)?;
        let count = loose_number(args.get(count_at).ok_or(KeysError)?).to_string();
        let args: Vec<&[u8]> = args
            .iter()
            .enumerate()
            .map(|(at, argument)| if at == count_at { count.as_bytes() } else { *argument })
            .collect();
        let (counted, others): (Vec<&KeyRange>, Vec<&KeyRange>) =
            self.ranges.iter().partition(|range| range.count_at().is_some());
        let mut found = SmallVec::new();
        for range in counted.into_iter().chain(others) {
            if let Some((positions, _)) = range.positions(&args)? {
                found.extend(positions.map(|index| KeyUse { index, flags: KeyFlags::NONE }));
            }
        }
        Ok(found)
    }
}

/// The number that C's `atoi` finds in a text: digits behind white space and a sign, up to whatever follows them.
fn loose_number(text: &[u8]) -> i32 {
    let spaces = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    let text = text.get(spaces..).unwrap_or_default();
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let number = digits.iter().take_while(|digit| digit.is_ascii_digit()).fold(0i64, |number, digit| {
        let digit = i64::from(digit - b'0');
        let digit = if is_negative { -digit } else { digit };
        number.saturating_mul(10).saturating_add(digit)
    });
    // An int has the lower half of a long.
    number as i32
}

type Positions = std::iter::StepBy<std::ops::RangeInclusive<usize>>;

impl KeyRange {
    /// Where the number of keys stands, if there is one at a fixed place.
    fn count_at(&self) -> Option<usize> {
        match (self.begin, self.find) {
            (Begin::Index(begin), Find::Keynum { count_at, .. }) => {
                Some(usize::from(begin) + usize::from(count_at))
            }
            _ => None,
        }
    }

    /// The positions in this request; `None` when an optional keyword is absent.
    fn positions(&self, args: &[&[u8]]) -> Result<Option<(Positions, KeyFlags)>, KeysError> {
        let sought = self.seek.and_then(|seek| seek(args));
        if self.seek.is_some() && sought.is_none() && self.begin.position(args).is_none() {
            return Err(KeysError);
        }
        let located = self.locate.and_then(|locate| locate(args));
        let Some(begin) = sought.or_else(|| self.begin.position(args)).or(located) else {
            return Ok(None);
        };
        let (first, last, step) = match self.find {
            Find::Range { last, step, limit } => (begin, range_end(begin, last, limit, args.len())?, step),
            Find::Keynum { count_at, first, step } => {
                let count_text = args.get(begin + usize::from(count_at));
                let count = count_text.and_then(|text| positive(text));
                if self.is_optional && count_text.is_some_and(|text| **text == *b"0") {
                    return Ok(None);
                }
                let first = begin + usize::from(first);
                let span = count.ok_or(KeysError)?.checked_sub(1).ok_or(KeysError)?;
                let span = span.checked_mul(usize::from(step)).ok_or(KeysError)?;
                (first, first.checked_add(span).ok_or(KeysError)?, step)
            }
            Find::Unknown => (begin, begin, 1),
        };
        // What may be left out at the end of a request (the sources of PFMERGE).
        if first == args.len() && matches!(self.find, Find::Range { last: -1, limit: 0, .. }) {
            return Ok(None);
        }
        if last < first || last >= args.len() || step == 0 {
            return Err(KeysError);
        }
        let flags = self.narrow.map_or(self.flags, |narrow| narrow(args));
        Ok(Some(((first..=last).step_by(usize::from(step)), flags)))
    }
}

impl Begin {
    fn position(self, args: &[&[u8]]) -> Option<usize> {
        match self {
            Begin::Index(position) => Some(usize::from(position)),
            Begin::Keyword { word, from } => {
                let start = usize::from(from.unsigned_abs());
                let is_word = |index: &usize| {
                    args.get(*index).is_some_and(|argument| argument.eq_ignore_ascii_case(word.as_bytes()))
                };
                let found = if from >= 0 {
                    // Nothing follows the last argument.
                    (start..args.len().saturating_sub(1)).find(is_word)
                } else {
                    (1..=args.len().saturating_sub(start)).rev().find(is_word)
                };
                found.map(|index| index + 1)
            }
            Begin::Unknown => None,
        }
    }
}

/// The last position of a [`Find::Range`] that begins at `first` in a request of `count` arguments.
fn range_end(first: usize, last: i8, limit: u8, count: usize) -> Result<usize, KeysError> {
    let distance = usize::from(last.unsigned_abs());
    if last >= 0 {
        return Ok(first + distance);
    }
    let end = match limit {
        0 | 1 => count,
        limit => first + count.saturating_sub(first) / usize::from(limit),
    };
    end.checked_sub(distance).ok_or(KeysError)
}

/// A count of keys as Redis reads it: plain decimal, no sign, no leading zero, at least 1.
fn positive(text: &[u8]) -> Option<usize> {
    match text {
        [b'1'..=b'9', ..] => text.iter().try_fold(0usize, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn after_keyword(word: &'static str, from: i8, last: i8, limit: u8) -> KeyRange {
        let find = Find::Range { last, step: 1, limit };
        KeyRange { begin: Begin::Keyword { word, from }, find, ..key(1, "RO") }
    }

    fn check(ranges: &'static [KeyRange], request: &str, expected: Result<&[usize], KeysError>) {
        let spec = KeySpec::new(ranges);
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        assert_eq!(spec.positions(&args), expected.map(Keys::from_slice), "{request}");
        if let Some(in_a_row) = spec.in_a_row(&args) {
            let expected: Vec<&[u8]> = expected.expect(request).iter().map(|at| args[*at]).collect();
            assert_eq!(in_a_row, expected, "{request}");
        }
        let stays =
            |range: &KeyRange| matches!((range.begin, range.find), (Begin::Index(_), Find::Range { .. }));
        assert_eq!(spec.is_movable(), !ranges.iter().all(stays));
    }

    #[test]
    fn keys_after_an_option_word() {
        const SORT: &[KeyRange] = &[key(1, "RO"), after_keyword("STORE", 2, 0, 0)];
        check(SORT, "sort k", Ok(&[1]));
        check(SORT, "sort k DESC store d", Ok(&[1, 4]));
        check(SORT, "sort store STORE d", Ok(&[1, 3]));
        check(SORT, "sort k STORE", Ok(&[1]));
        const MIGRATE: &[KeyRange] = &[after_keyword("KEYS", -2, -1, 0)];
        check(MIGRATE, "migrate h p keys 0 10 KEYS a b", Ok(&[7, 8]));
        check(MIGRATE, "migrate h p keys 0 10 x", Ok(&[4, 5, 6]));
        check(MIGRATE, "migrate h", Ok(&[]));
        check(MIGRATE, "m", Ok(&[]));
    }

    #[test]
    fn only_the_first_half_of_the_arguments_are_keys() {
        const XREAD: &[KeyRange] = &[after_keyword("STREAMS", 1, -1, 2)];
        check(XREAD, "xread COUNT 2 STREAMS a b 0 0", Ok(&[4, 5]));
        check(XREAD, "xread STREAMS a $", Ok(&[2]));
        check(XREAD, "xread STREAMS", Ok(&[]));
    }

    #[test]
    fn counted_keys_are_missed_or_too_many() {
        const EVAL: &[KeyRange] = &[numkeys_or_none(2, "RW")];
        check(EVAL, "eval s 2 a b c", Ok(&[3, 4]));
        check(EVAL, "eval s 1 a", Ok(&[3]));
        check(EVAL, "eval s 0 a", Ok(&[]));
        check(EVAL, "eval s 3 a b", Err(KeysError));
        check(EVAL, "eval s 18446744073709551615 a b", Err(KeysError));
        check(EVAL, "eval s -1 a", Err(KeysError));
        check(EVAL, "eval s 01 a", Err(KeysError));
        check(EVAL, "eval s", Err(KeysError));
        assert_eq!(
            KeySpec::new(EVAL).in_a_row(&[b"eval", b"s", b"2", b"a", b"b", b"c"]),
            Some(&[&b"a"[..], b"b"][..])
        );
    }

    #[test]
    fn all_but_the_last_argument_are_keys() {
        const BLPOP: &[KeyRange] = &[key_range(1, -2, 1, "RW")];
        check(BLPOP, "blpop a b 0", Ok(&[1, 2]));
        check(BLPOP, "blpop 0", Err(KeysError));
        check(BLPOP, "blpop", Err(KeysError));
    }
}
