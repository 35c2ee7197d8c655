//! Names of languages and stems of words.

use super::super::{Language, stem};

fn of(language: Language, word: &str) -> String {
    let mut out = String::new();
    stem(language, word, &mut out);
    out
}

#[test]
fn languages_have_names() {
    for language in Language::ALL {
        assert_eq!(Language::named(language.name().to_ascii_uppercase().as_bytes()), Some(language));
    }
    assert_eq!(Language::named(b"klingon"), None);
    assert_eq!(Language::named(b""), None);
    assert_eq!(Language::default(), Language::English);
    assert!(Language::English.has_stemmer() && !Language::Chinese.has_stemmer());
    assert_eq!(Language::German.has_stemmer(), cfg!(feature = "stemmers"));
}

#[test]
fn words_have_stems() {
    for (word, expected) in [
        ("running", "run"),
        ("flies", "fli"),
        ("hello", "hello"),
        ("kings", "king"),
        ("run", "run"),
        ("ins", "ins"),
        ("", ""),
    ] {
        assert_eq!(of(Language::English, word), expected);
    }
    assert_eq!(of(Language::Chinese, "running"), "running");
}

/// Pairs of forms that clients' tests expect to be one.
#[cfg(feature = "stemmers")]
#[test]
fn forms_of_a_word_share_their_stem() {
    use Language::{French, German, Greek, Hungarian, Italian, Russian, Spanish, Swedish, Turkish};
    for (language, one, other) in [
        (German, "kind", "kinder"),
        (French, "cheval", "chevaux"),
        (Spanish, "hablar", "hablamos"),
        (Greek, "άνθρωπος", "άνθρωποι"),
        (Russian, "книга", "книги"),
        (Italian, "abbandonata", "abbandonato"),
        (Swedish, "jakten", "jakt"),
        (Hungarian, "babakocsi", "babakocsit"),
        (Turkish, "kitaplar", "kitap"),
    ] {
        assert_eq!(of(language, one), of(language, other), "{language:?}");
    }
}
