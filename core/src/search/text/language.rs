//! Languages by their names in RediSearch, and the stems of words by Snowball's algorithms.
//!
//! English is in every home. The other stemmers are ten times as large together (110 kB of wasm gzip at level 2, English 10 kB), so they
//! come with the Cargo feature `stemmers`, which the gateway has and the edge has not.

use waken_snowball::{SnowballEnv, algorithms};

/// Replaces a word by its stem. One function per language, rather than the crate's enum, so that a build contains only those it names.
type Stemmer = fn(&mut SnowballEnv) -> bool;

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
        self.stemmer().is_some()
    }

    #[cfg(not(feature = "stemmers"))]
    fn stemmer(self) -> Option<Stemmer> {
        (self == English).then_some(algorithms::english_stemmer::stem)
    }

    #[cfg(feature = "stemmers")]
    fn stemmer(self) -> Option<Stemmer> {
        Some(match self {
            Arabic => algorithms::arabic_stemmer::stem,
            Armenian => algorithms::armenian_stemmer::stem,
            Basque => algorithms::basque_stemmer::stem,
            Catalan => algorithms::catalan_stemmer::stem,
            Danish => algorithms::danish_stemmer::stem,
            // The algorithm that Snowball called Dutch before its version 3, and that RediSearch has.
            Dutch => algorithms::dutch_porter_stemmer::stem,
            English => algorithms::english_stemmer::stem,
            Finnish => algorithms::finnish_stemmer::stem,
            French => algorithms::french_stemmer::stem,
            German => algorithms::german_stemmer::stem,
            Greek => algorithms::greek_stemmer::stem,
            Hindi => algorithms::hindi_stemmer::stem,
            Hungarian => algorithms::hungarian_stemmer::stem,
            Indonesian => algorithms::indonesian_stemmer::stem,
            Irish => algorithms::irish_stemmer::stem,
            Italian => algorithms::italian_stemmer::stem,
            Lithuanian => algorithms::lithuanian_stemmer::stem,
            Nepali => algorithms::nepali_stemmer::stem,
            Norwegian => algorithms::norwegian_stemmer::stem,
            Portuguese => algorithms::portuguese_stemmer::stem,
            Romanian => algorithms::romanian_stemmer::stem,
            Russian => algorithms::russian_stemmer::stem,
            Serbian => algorithms::serbian_stemmer::stem,
            Spanish => algorithms::spanish_stemmer::stem,
            Swedish => algorithms::swedish_stemmer::stem,
            Tamil => algorithms::tamil_stemmer::stem,
            Turkish => algorithms::turkish_stemmer::stem,
            Yiddish => algorithms::yiddish_stemmer::stem,
            Chinese => return None,
        })
    }
}

/// Appends the stem of a word, which is in lower case, to `stem`: the word itself if it is shorter than [`STEM_MIN_BYTES`] or this build
/// has no stemmer of the language.
pub fn stem(language: Language, word: &str, stem: &mut String) {
    match language.stemmer() {
        Some(stemmer) if word.len() >= STEM_MIN_BYTES => {
            let mut env = SnowballEnv::create(word);
            stemmer(&mut env);
            stem.push_str(&env.get_current());
        }
        _ => stem.push_str(word),
    }
}
