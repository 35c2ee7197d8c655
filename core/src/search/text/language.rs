//! Languages by their names in RediSearch, and the stems of words by Snowball's algorithms.
//!
//! English is in every home. The other stemmers are ten times as large together (110 kB of wasm gzip at level 2, English 10 kB), so they
//! come with the Cargo feature `stemmers`, which the gateway has and the edge has not.

use waken_snowball::Algorithm;

/// A shorter word is its own stem: RediSearch's MINSTEMLEN.
pub const STEM_MIN_BYTES: usize = 4;

/// A language that FT.CREATE's LANGUAGE and a document's language field may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Language {
    Arabic,
    Armenian,
    Basque,
    Catalan,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hindi,
    Hungarian,
    Indonesian,
    Irish,
    Italian,
    Lithuanian,
    Nepali,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Serbian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Yiddish,
    /// Has no stems, and RediSearch finds its words with a dictionary that we have not.
    Chinese,
}

use Language::{
    Arabic, Armenian, Basque, Catalan, Chinese, Danish, Dutch, English, Finnish, French, German, Greek,
    Hindi, Hungarian, Indonesian, Irish, Italian, Lithuanian, Nepali, Norwegian, Portuguese, Romanian,
    Russian, Serbian, Spanish, Swedish, Tamil, Turkish, Yiddish,
};

impl Language {
    /// All of them, as they stand in the type.
    pub const ALL: [Language; 29] = [
        Arabic, Armenian, Basque, Catalan, Danish, Dutch, English, Finnish, French, German, Greek, Hindi,
        Hungarian, Indonesian, Irish, Italian, Lithuanian, Nepali, Norwegian, Portuguese, Romanian, Russian,
        Serbian, Spanish, Swedish, Tamil, Turkish, Yiddish, Chinese,
    ];

    /// The language of this name, in any case.
    pub fn named(name: &[u8]) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Its English name in lower case, as FT.INFO prints it.
    pub fn name(self) -> &'static str {
        match self {
            Arabic => "arabic",
            Armenian => "armenian",
            Basque => "basque",
            Catalan => "catalan",
            Danish => "danish",
            Dutch => "dutch",
            English => "english",
            Finnish => "finnish",
            French => "french",
            German => "german",
            Greek => "greek",
            Hindi => "hindi",
            Hungarian => "hungarian",
            Indonesian => "indonesian",
            Irish => "irish",
            Italian => "italian",
            Lithuanian => "lithuanian",
            Nepali => "nepali",
            Norwegian => "norwegian",
            Portuguese => "portuguese",
            Romanian => "romanian",
            Russian => "russian",
            Serbian => "serbian",
            Spanish => "spanish",
            Swedish => "swedish",
            Tamil => "tamil",
            Turkish => "turkish",
            Yiddish => "yiddish",
            Chinese => "chinese",
        }
    }

    /// Whether this build knows the stems of its words.
    pub fn has_stemmer(self) -> bool {
        self.algorithm().is_some()
    }

    #[cfg(not(feature = "stemmers"))]
    fn algorithm(self) -> Option<Algorithm> {
        (self == English).then_some(Algorithm::English)
    }

    #[cfg(feature = "stemmers")]
    fn algorithm(self) -> Option<Algorithm> {
        Some(match self {
            Arabic => Algorithm::Arabic,
            Armenian => Algorithm::Armenian,
            Basque => Algorithm::Basque,
            Catalan => Algorithm::Catalan,
            Danish => Algorithm::Danish,
            // The algorithm that Snowball called Dutch before its version 3, and that RediSearch has.
            Dutch => Algorithm::DutchPorter,
            English => Algorithm::English,
            Finnish => Algorithm::Finnish,
            French => Algorithm::French,
            German => Algorithm::German,
            Greek => Algorithm::Greek,
            Hindi => Algorithm::Hindi,
            Hungarian => Algorithm::Hungarian,
            Indonesian => Algorithm::Indonesian,
            Irish => Algorithm::Irish,
            Italian => Algorithm::Italian,
            Lithuanian => Algorithm::Lithuanian,
            Nepali => Algorithm::Nepali,
            Norwegian => Algorithm::Norwegian,
            Portuguese => Algorithm::Portuguese,
            Romanian => Algorithm::Romanian,
            Russian => Algorithm::Russian,
            Serbian => Algorithm::Serbian,
            Spanish => Algorithm::Spanish,
            Swedish => Algorithm::Swedish,
            Tamil => Algorithm::Tamil,
            Turkish => Algorithm::Turkish,
            Yiddish => Algorithm::Yiddish,
            Chinese => return None,
        })
    }
}

/// Appends the stem of a word, which is in lower case, to `stem`: the word itself if it is shorter than [`STEM_MIN_BYTES`] or this build
/// has no stemmer of the language.
pub fn stem(language: Language, word: &str, stem: &mut String) {
    match language.algorithm() {
        Some(algorithm) if word.len() >= STEM_MIN_BYTES => {
            stem.push_str(&waken_snowball::stem(algorithm, word))
        }
        _ => stem.push_str(word),
    }
}
