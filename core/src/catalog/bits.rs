//! Sets of named bits: command flags, ACL categories and key flags are all "a few words out of a fixed list".
//!
//! A set is written in a row of the table exactly as `COMMAND INFO` prints it (`"write denyoom fast"`), is parsed
//! when the program is compiled, and costs one integer afterwards. A misspelt word does not compile.

/// Defines a set type with one bit for each word. The order of the words is the order in which they are printed.
macro_rules! named_bits {
    (
        $(#[$set_doc:meta])*
        $set:ident($integer:ty) {
            $($(#[$bit_doc:meta])* $constant:ident = $word:literal,)*
        }
    ) => {
        $(#[$set_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default)]
        pub struct $set($integer);

        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Position { $($constant),* }

            impl $set {
                /// The empty set.
                pub const NONE: $set = $set(0);
                $($(#[$bit_doc])* pub const $constant: $set = $set(1 << Position::$constant as u32);)*

                /// Every word with its bit, in the order in which they are printed.
                pub const WORDS: &'static [(&'static str, $set)] = &[$(($word, $set::$constant)),*];
            }
        };

        impl $set {
            /// Parses words separated by single spaces. Panics on an unknown word: it is meant for constants.
            pub const fn parse(words: &str) -> $set {
                let mut rest = words.as_bytes();
                let mut set = $set::NONE;
                while !rest.is_empty() {
                    let mut length = 0;
                    while length < rest.len() && rest[length] != b' ' {
                        length += 1;
                    }
                    let (word, after) = rest.split_at(length);
                    match $set::of_word(word) {
                        Some(bit) => set = set.with(bit),
                        None => panic!("unknown word in a set of the catalog"),
                    }
                    rest = if after.is_empty() { after } else { after.split_at(1).1 };
                }
                set
            }

            /// The bit that `word` (in the case in which it is printed) stands for.
            pub const fn of_word(word: &[u8]) -> Option<$set> {
                let mut index = 0;
                while index < $set::WORDS.len() {
                    if $crate::catalog::bits::same_bytes($set::WORDS[index].0.as_bytes(), word) {
                        return Some($set::WORDS[index].1);
                    }
                    index += 1;
                }
                None
            }

            /// Both sets together.
            pub const fn with(self, other: $set) -> $set {
                $set(self.0 | other.0)
            }

            /// This set without the bits of `other`.
            pub const fn without(self, other: $set) -> $set {
                $set(self.0 & !other.0)
            }

            /// Whether every bit of `other` is in this set.
            pub const fn contains(self, other: $set) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether some bit of `other` is in this set.
            pub const fn intersects(self, other: $set) -> bool {
                self.0 & other.0 != 0
            }

            /// Whether no bit is set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// The words of this set, in the order in which Redis prints them.
            pub fn words(self) -> impl Iterator<Item = &'static str> {
                $set::WORDS.iter().filter(move |(_, bit)| self.contains(*bit)).map(|(word, _)| *word)
            }
        }

        impl std::fmt::Debug for $set {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(out, "{}(", stringify!($set))?;
                for (index, word) in self.words().enumerate() {
                    write!(out, "{}{word}", if index == 0 { "" } else { " " })?;
                }
                write!(out, ")")
            }
        }
    };
}

pub(super) use named_bits;

/// Byte equality that a constant can evaluate.
pub(super) const fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}
