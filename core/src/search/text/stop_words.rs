//! The words that RediSearch leaves out unless FT.CREATE says STOPWORDS.

/// In order, since they are found by bisection.
const DEFAULT: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on", "or",
    "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

/// The longest of them: longer words, which are most, need no search.
const LONGEST_BYTES: usize = 5;

/// Whether a word, in lower case, is an English word that is not indexed by default.
pub fn is_default_stop_word(word: &str) -> bool {
    word.len() <= LONGEST_BYTES && DEFAULT.binary_search(&word).is_ok()
}

#[cfg(test)]
pub(super) fn default_stop_words() -> &'static [&'static str] {
    &DEFAULT
}
