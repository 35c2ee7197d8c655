//! The committed table is the one that Unicode's decompositions give. After an update of the compiler or of unicode-normalization,
//! `WRITE_FOLD_TABLE=path/of/fold_table.rs cargo test folding_table` writes it anew; indexes of the analyzer must then be built again.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::super::fold::{self, Class, FIRST_POOLED};

/// What is typed for letters that do not decompose.
fn typed(character: char) -> Option<&'static str> {
    Some(match character {
        'æ' => "ae",
        'œ' => "oe",
        'ß' => "ss",
        'þ' => "th",
        'ð' | 'đ' | 'ɖ' | 'ɗ' => "d",
        'ħ' => "h",
        'ı' | 'ɨ' => "i",
        'ŀ' | 'ł' | 'ƚ' => "l",
        'ø' => "o",
        'ŧ' | 'ⱦ' => "t",
        'ŋ' => "ng",
        'ƀ' | 'ɓ' => "b",
        'ƒ' => "f",
        'ƶ' => "z",
        'ɇ' | 'ə' | 'ǝ' => "e",
        'ɉ' => "j",
        'ɍ' => "r",
        'ɏ' => "y",
        'ǥ' => "g",
        'ⱥ' => "a",
        'ȼ' => "c",
        'ʉ' => "u",
        'ς' => "σ",
        'ـ' => "",
        'ى' | 'ی' => "ي",
        'ک' => "ك",
        'ة' => "ه",
        '٠' | '۰' => "0",
        '١' | '۱' => "1",
        '٢' | '۲' => "2",
        '٣' | '۳' => "3",
        '٤' | '۴' => "4",
        '٥' | '۵' => "5",
        '٦' | '۶' => "6",
        '٧' | '۷' => "7",
        '٨' | '۸' => "8",
        '٩' | '۹' => "9",
        _ => return None,
    })
}

fn once(text: &str) -> String {
    let mut folded = String::new();
    for part in text.chars().flat_map(char::to_lowercase).nfkd() {
        match typed(part) {
            Some(typed) => folded.push_str(typed),
            None if fold::is_dropped(part) => {}
            None => folded.extend(part.to_lowercase()),
        }
    }
    folded
}

/// What a character should become, or None where code decides and not the table.
fn expected(character: char) -> Option<String> {
    let lower: String = character.to_lowercase().collect();
    match u32::from(character) {
        0..0x80
        | 0x1161..=0x1175
        | 0x11A8..=0x11C2
        | 0x3000
        | 0x3099
        | 0x309A
        | 0xFF01..=0xFF5E
        | 0xFF9E
        | 0xFF9F => return None,
        // Kana keep their voicing, syllables are not taken apart, and characters for compatibility beyond the first plane are not worth a table.
        0x3041..=0x30FF | 0xAC00..=0xD7A3 | 0x2F800..=0x2FA1F => return Some(lower),
        _ if fold::is_dropped(character) => return None,
        _ if !character.is_alphanumeric() => return Some(lower),
        _ => {}
    }
    let mut folded = once(&character.to_string());
    for _ in 0..4 {
        folded = once(&folded);
    }
    let is_word =
        !folded.is_empty() && folded.chars().all(|part| part.is_alphanumeric() || is_combining_mark(part));
    // A pool would be needed for the singles beyond the first plane; none occurs.
    Some(if is_word { folded } else { lower })
}

fn is_kept_mark(character: char) -> bool {
    is_combining_mark(character)
        && !fold::is_dropped(character)
        && !character.is_alphanumeric()
        && !matches!(character, '\u{3099}' | '\u{309A}')
}

/// The largest gap between entries that is filled with characters that stay as they are, instead of starting another run.
const GAP_MAX: u32 = 3;

#[derive(Default)]
struct Table {
    runs: Vec<(u32, u16, u16)>,
    targets: Vec<u16>,
    pool: Vec<String>,
    marks: Vec<(u32, u16)>,
}

fn table() -> Table {
    let mut table = Table::default();
    for character in '\u{80}'..=char::MAX {
        let code = u32::from(character);
        if is_kept_mark(character) {
            match table.marks.last_mut() {
                Some((first, length)) if *first + u32::from(*length) == code => *length += 1,
                _ => table.marks.push((code, 1)),
            }
        }
        let lower: String = character.to_lowercase().collect();
        let Some(folded) = expected(character).filter(|folded| *folded != lower) else { continue };
        let end = table.runs.last().map_or(0, |&(first, length, _)| first + u32::from(length));
        let can_fill = |code: u32| {
            char::from_u32(code).is_some_and(|between| {
                expected(between).is_some_and(|folded| {
                    folded.chars().count() == 1 && u32::from(folded.chars().next().unwrap_or(' ')) < 0xD800
                })
            })
        };
        if end != 0 && code - end <= GAP_MAX && (end..code).all(can_fill) {
            for between in end..code {
                let folded = expected(char::from_u32(between).expect("a character")).expect("a fold");
                push(&mut table, &folded);
            }
            let run = table.runs.last_mut().expect("a run");
            run.1 += (code - end) as u16 + 1;
        } else {
            let index = table.targets.len() as u16;
            table.runs.push((code, 1, index));
        }
        push(&mut table, &folded);
    }
    table
}

fn push(table: &mut Table, folded: &str) {
    let mut characters = folded.chars();
    let target = match (characters.next(), characters.next()) {
        (Some(single), None) if u32::from(single) < u32::from(FIRST_POOLED) => u32::from(single) as u16,
        _ => {
            let at = table.pool.iter().position(|pooled| pooled == folded).unwrap_or_else(|| {
                table.pool.push(folded.to_string());
                table.pool.len() - 1
            });
            assert!(at < 2048, "the pool is full");
            FIRST_POOLED + at as u16
        }
    };
    table.targets.push(target);
}

fn lines(values: impl Iterator<Item = String>, out: &mut String) {
    let mut line = String::from("   ");
    for value in values {
        if line.len() + value.len() > 138 {
            out.push_str(&line);
            out.push('\n');
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(&value);
    }
    out.push_str(&line);
    out.push_str("\n];\n");
}

fn source(table: &Table) -> String {
    let mut out = String::from(
        "//! What characters fold to: generated by `tests/folding_table.rs` from Unicode's data, which says how.\n\n\
         /// The first character of a run, how many it has, and the index of its first target.\n#[rustfmt::skip]\n\
         pub(super) const RUNS: &[(u32, u16, u16)] = &[\n",
    );
    lines(
        table.runs.iter().map(|(first, length, index)| format!("({first:#x}, {length}, {index}),")),
        &mut out,
    );
    out.push_str("\n/// What each character of a run folds to: a character, or the number of a text in the pool.\n#[rustfmt::skip]\npub(super) const TARGETS: &[u16] = &[\n");
    lines(table.targets.iter().map(|target| format!("{target:#x},")), &mut out);
    out.push_str("\n/// Texts of several characters, one after the other.\n#[rustfmt::skip]\npub(super) const POOL: &str = concat!(\n");
    let all: Vec<char> = table.pool.concat().chars().collect();
    for part in all.chunks(16) {
        out.push_str("    \"");
        part.iter().for_each(|part| out.push_str(&part.escape_unicode().to_string()));
        out.push_str("\",\n");
    }
    out.push_str(");\n\n/// Where each text of the pool ends.\n#[rustfmt::skip]\npub(super) const POOL_ENDS: &[u16] = &[\n");
    let mut end = 0;
    lines(
        table.pool.iter().map(|text| {
            end += text.len();
            format!("{end},")
        }),
        &mut out,
    );
    out.push_str("\n/// Combining marks that are parts of words: the first of a range, and how many.\n#[rustfmt::skip]\npub(super) const MARKS: &[(u32, u16)] = &[\n");
    lines(table.marks.iter().map(|(first, length)| format!("({first:#x}, {length}),")), &mut out);
    out
}

#[test]
fn committed_table_is_that_of_unicode() {
    let source = source(&table());
    if let Ok(path) = std::env::var("WRITE_FOLD_TABLE") {
        std::fs::write(path, &source).expect("the table is written");
    }
    assert!(
        source == include_str!("../fold_table.rs"),
        "the table is another one; see the head of this file"
    );
}

#[test]
fn every_character_folds_as_unicode_says() {
    for character in '\0'..=char::MAX {
        let Some(expected) = expected(character) else { continue };
        let mut folded = String::new();
        fold::push_folded(character, &mut folded);
        assert_eq!(folded, expected, "{character:?}");
        if is_kept_mark(character) {
            assert_ne!(fold::class(character), Class::Separator, "{character:?}");
        }
    }
}
