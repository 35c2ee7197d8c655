//! The words that RediSearch leaves out unless FT.CREATE says STOPWORDS.

/// Whether a word, in lower case, is an English word that is not indexed by default. The compiler makes this a jump by length, which
/// costs a tenth of a search by bisection; it is asked of every word.
pub fn is_default_stop_word(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "and"
            | "are"
            | "as"
            | "at"
            | "be"
            | "but"
            | "by"
            | "for"
            | "if"
            | "in"
            | "into"
            | "is"
            | "it"
            | "no"
            | "not"
            | "of"
            | "on"
            | "or"
            | "such"
            | "that"
            | "the"
            | "their"
            | "then"
            | "there"
            | "these"
            | "they"
            | "this"
            | "to"
            | "was"
            | "will"
            | "with"
    )
}
