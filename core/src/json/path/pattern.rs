//! Regular expressions of filters: `match`, `search` and `=~`.
//!
//! RFC 9535 names RFC 9485 for them (I-Regexp), RedisJSON takes what the crate regex takes. Here they are those of regex-lite, which has
//! anchors and `\d` besides, with what RFC 9485 asks for and it lacks: a dot is no end of a line, neither `\n` nor `\r`, and `\p{…}` are the
//! general categories of Unicode.

use regex_lite::{Regex, RegexBuilder};
use unicode_general_category::{GeneralCategory, get_general_category};

/// A compiled expression takes so many bytes at most.
const COMPILED_MAX_BYTES: usize = 256 * 1024;

/// A dot outside of brackets.
const DOT: &str = r"[^\n\r]";

/// What following a path with `\p` costs for each of these, in values that are looked at: all characters are asked for their category.
const CATEGORY_WORK: u64 = 100_000;

/// So many bytes of a text that is compared with a pattern count as a value that is looked at, for each byte of the pattern.
const COMPARED_BYTES: u64 = 64;

/// The expressions of a path. The last one is kept compiled, since it mostly is the next one, too.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    last: Option<(String, bool, Option<Regex>)>,
}

impl Patterns {
    /// Whether a pattern matches a text, as a whole or in a part. What is no pattern matches nothing. None if it costs more than `work`, which
    /// is counted down.
    pub fn is_match(&mut self, pattern: &str, is_whole: bool, text: &str, work: &mut u64) -> Option<bool> {
        let compared = (text.len() as u64).saturating_mul(pattern.len() as u64) / COMPARED_BYTES;
        *work = work.checked_sub(compared)?;
        if self.last.as_ref().is_none_or(|(last, was_whole, _)| last != pattern || *was_whole != is_whole) {
            let regex = compile(pattern, is_whole, work)?;
            self.last = Some((pattern.to_owned(), is_whole, regex));
        }
        let regex = self.last.as_ref().and_then(|(_, _, regex)| regex.as_ref());
        Some(regex.is_some_and(|regex| regex.is_match(text)))
    }
}

/// The outer None: it costs too much; the inner one: it is no pattern.
fn compile(pattern: &str, is_whole: bool, work: &mut u64) -> Option<Option<Regex>> {
    *work = work.checked_sub(pattern.len() as u64)?;
    let Some(mut translated) = translate(pattern, work)? else { return Some(None) };
    if is_whole {
        translated = [r"\A(?:", &translated, r")\z"].concat();
    }
    Some(RegexBuilder::new(&translated).size_limit(COMPILED_MAX_BYTES).build().ok())
}

/// The pattern in the words of regex-lite.
fn translate(pattern: &str, work: &mut u64) -> Option<Option<String>> {
    let mut translated = String::with_capacity(pattern.len());
    let mut is_in_brackets = false;
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        match next {
            '.' if !is_in_brackets => translated.push_str(DOT),
            '[' | ']' => {
                is_in_brackets = next == '[';
                translated.push(next);
            }
            '\\' => match rest.next() {
                Some(kind @ ('p' | 'P')) => {
                    let text = rest.as_str();
                    let Some((name, behind)) = text.strip_prefix('{').and_then(|text| text.split_once('}'))
                    else {
                        return Some(None);
                    };
                    *work = work.checked_sub(CATEGORY_WORK)?;
                    let Some(ranges) = ranges(name, kind == 'p') else { return Some(None) };
                    match is_in_brackets {
                        true => translated.push_str(&ranges),
                        false => translated.extend(["[", &ranges, "]"]),
                    }
                    rest = behind.chars();
                }
                Some(escaped) => translated.extend(['\\', escaped]),
                None => return Some(None),
            },
            _ => translated.push(next),
        }
    }
    Some(Some(translated))
}

/// The characters of a general category, or all others, as they stand in brackets. None if there is no such category.
fn ranges(name: &str, is_inside: bool) -> Option<String> {
    if !CATEGORIES.iter().any(|(_, known)| known.starts_with(name)) || name.is_empty() {
        return None;
    }
    let is_of = |c: char| {
        let category = get_general_category(c);
        let found = CATEGORIES.iter().find(|(other, _)| *other == category);
        found.is_some_and(|(_, known)| known.starts_with(name)) == is_inside
    };
    let mut ranges = String::new();
    let mut open: Option<(char, char)> = None;
    let mut close = |(from, to): (char, char)| {
        for (before, c) in [("\\x{", from), ("}-\\x{", to)] {
            ranges.push_str(before);
            ranges.push_str(&format!("{:x}", u32::from(c)));
        }
        ranges.push('}');
    };
    for c in ('\0'..=char::MAX).filter(|c| is_of(*c)) {
        match &mut open {
            Some((_, to)) if u32::from(*to) + 1 == u32::from(c) => *to = c,
            _ => {
                open.replace((c, c)).into_iter().for_each(&mut close);
            }
        }
    }
    open.into_iter().for_each(&mut close);
    Some(ranges)
}

/// The categories by their short names; the first letter alone names a group of them.
const CATEGORIES: [(GeneralCategory, &str); 29] = [
    (GeneralCategory::UppercaseLetter, "Lu"),
    (GeneralCategory::LowercaseLetter, "Ll"),
    (GeneralCategory::TitlecaseLetter, "Lt"),
    (GeneralCategory::ModifierLetter, "Lm"),
    (GeneralCategory::OtherLetter, "Lo"),
    (GeneralCategory::NonspacingMark, "Mn"),
    (GeneralCategory::SpacingMark, "Mc"),
    (GeneralCategory::EnclosingMark, "Me"),
    (GeneralCategory::DecimalNumber, "Nd"),
    (GeneralCategory::LetterNumber, "Nl"),
    (GeneralCategory::OtherNumber, "No"),
    (GeneralCategory::ConnectorPunctuation, "Pc"),
    (GeneralCategory::DashPunctuation, "Pd"),
    (GeneralCategory::OpenPunctuation, "Ps"),
    (GeneralCategory::ClosePunctuation, "Pe"),
    (GeneralCategory::InitialPunctuation, "Pi"),
    (GeneralCategory::FinalPunctuation, "Pf"),
    (GeneralCategory::OtherPunctuation, "Po"),
    (GeneralCategory::MathSymbol, "Sm"),
    (GeneralCategory::CurrencySymbol, "Sc"),
    (GeneralCategory::ModifierSymbol, "Sk"),
    (GeneralCategory::OtherSymbol, "So"),
    (GeneralCategory::SpaceSeparator, "Zs"),
    (GeneralCategory::LineSeparator, "Zl"),
    (GeneralCategory::ParagraphSeparator, "Zp"),
    (GeneralCategory::Control, "Cc"),
    (GeneralCategory::Format, "Cf"),
    (GeneralCategory::PrivateUse, "Co"),
    (GeneralCategory::Unassigned, "Cn"),
];
