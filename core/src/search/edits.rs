//! How many edits lie between a word and the terms of a sorted walk. Terms that begin alike share the work for what they share.

use crate::search::index::part::Walk;

/// Longer words match only themselves: rows are a square of the length, and distances bytes.
pub const CHARACTERS_MAX: usize = 100;

/// What is asked of terms.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The greatest distance.
    pub distance_max: u8,
    /// Whether the end of a term is left out of account: the word is the beginning of one.
    pub is_prefix: bool,
    /// Whether two neighbours that changed places are one edit, not two.
    pub has_swaps: bool,
}

/// Compares a word with terms in sorted order.
#[derive(Debug, Default)]
pub struct Edits {
    word: Vec<char>,
    rules: Option<Rules>,
    /// A row for each character of the term so far: the distances of the term up to it to all beginnings of the word.
    rows: Vec<u8>,
    /// What is known of the same characters.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    character: char,
    /// Where the character ends in the term, in bytes.
    end: usize,
    /// The least distance in the row: no longer term has a lower one.
    least: u8,
    /// The least distance of the whole word to a beginning of the term.
    best: u8,
}

impl Edits {
    /// Begins anew with another word.
    pub fn start(&mut self, word: &str, rules: Rules) {
        self.word.clear();
        self.word.extend(word.chars());
        if self.word.len() > CHARACTERS_MAX {
            self.word.clear();
        }
        self.rules = Some(rules);
        self.rows.clear();
        self.rows.extend((0..=self.word.len()).map(|at| at as u8));
        self.steps.clear();
        let length = self.word.len() as u8;
        self.steps.push(Step { character: '\0', end: 0, least: 0, best: length });
    }

    /// The distance of the next term, if it is within the greatest one, and where the walk goes on. `shared` is how many bytes the term
    /// shares with the one before it.
    pub fn next(&mut self, term: &[u8], shared: usize) -> (Option<u8>, Walk) {
        let Some(rules) = self.rules else { return (None, Walk::End) };
        let width = self.word.len() + 1;
        if width == 1 {
            return (None, Walk::End);
        }
        while self.steps.last().is_some_and(|step| step.end > shared) {
            self.steps.pop();
        }
        self.rows.truncate(self.steps.len() * width);
        loop {
            let Some(last) = self.steps.last().copied() else { return (None, Walk::End) };
            if last.least > rules.distance_max {
                if rules.is_prefix && last.best <= rules.distance_max {
                    return (Some(last.best), Walk::On);
                }
                return (None, Walk::Past(last.end));
            }
            let Some((character, len)) = character_at(term, last.end) else { break };
            self.step(rules, character, last.end + len);
        }
        let Some(last) = self.steps.last() else { return (None, Walk::End) };
        let distance = if rules.is_prefix { last.best } else { self.rows.last().copied().unwrap_or(u8::MAX) };
        (Some(distance).filter(|distance| *distance <= rules.distance_max), Walk::On)
    }

    /// How many characters of the last term are the beginning that is nearest to the word: the longest of them.
    pub fn best_characters(&self) -> usize {
        let best = self.steps.last().map_or(0, |step| step.best);
        let mut rows = self.rows.chunks_exact(self.word.len() + 1);
        rows.rposition(|row| row.last() == Some(&best)).unwrap_or(0)
    }

    /// One more character of the term.
    fn step(&mut self, rules: Rules, character: char, end: usize) {
        let width = self.word.len() + 1;
        let depth = self.steps.len();
        let (before_last, best) = self.steps.last().map_or(('\0', 0), |step| (step.character, step.best));
        self.rows.resize((depth + 1) * width, 0);
        let (old, row) = self.rows.split_at_mut(depth * width);
        let above = old.get((depth - 1) * width..).unwrap_or_default();
        let second = depth.checked_sub(2).and_then(|at| old.get(at * width..)).unwrap_or_default();
        let mut left = depth as u8;
        let mut least = left;
        let mut corner = above.first().copied().unwrap_or(0);
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        let mut previous = '\0';
        for (at, ((wanted, cell), up)) in
            self.word.iter().zip(row.iter_mut().skip(1)).zip(above.iter().skip(1)).enumerate()
        {
            let mut cost = (corner + u8::from(*wanted != character)).min(up + 1).min(left + 1);
            if rules.has_swaps && at > 0 && *wanted == before_last && previous == character && depth > 1 {
                cost = cost.min(second.get(at - 1).copied().unwrap_or(u8::MAX - 1) + 1);
            }
            *cell = cost;
            least = least.min(cost);
            left = cost;
            corner = *up;
            previous = *wanted;
        }
        self.steps.push(Step { character, end, least, best: best.min(left) });
    }
}

/// The character that begins at an offset, and its length in bytes. A byte that is not UTF-8 counts as one character.
fn character_at(text: &[u8], at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    let first = *rest.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let len = if first >= 0xF0 {
        4
    } else if first >= 0xE0 {
        3
    } else {
        2
    };
    let character = rest
        .get(..len)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .and_then(|text| text.chars().next());
    Some(character.map_or((char::REPLACEMENT_CHARACTER, 1), |character| (character, len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distances(word: &str, rules: Rules, terms: &[&str]) -> Vec<Option<u8>> {
        let mut edits = Edits::default();
        edits.start(word, rules);
        let mut before: &str = "";
        let mut past: Option<Vec<u8>> = None;
        let mut found = Vec::new();
        for term in terms {
            let shared = term.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            if past.as_ref().is_some_and(|past| term.as_bytes().starts_with(past)) {
                found.push(None);
                continue;
            }
            past = None;
            let (distance, walk) = edits.next(term.as_bytes(), shared);
            if let Walk::Past(len) = walk {
                past = Some(term.as_bytes()[..len].to_vec());
            }
            found.push(distance);
            before = term;
        }
        found
    }

    #[test]
    fn distances_count_characters() {
        let rules = Rules { distance_max: 2, is_prefix: false, has_swaps: false };
        let terms = ["haus", "häuser", "häuserwand", "häutung", "hüser", "maus"];
        assert_eq!(distances("häuser", rules, &terms), [None, Some(0), None, None, Some(2), None]);
    }

    #[test]
    fn swaps_and_prefixes() {
        let rules = Rules { distance_max: 1, is_prefix: true, has_swaps: true };
        assert_eq!(
            distances("pyhton", rules, &["pyth", "pytho", "python", "python3", "pythons", "rust"]),
            [None, None, Some(1), Some(1), Some(1), None]
        );
        let rules = Rules { has_swaps: false, ..rules };
        assert_eq!(distances("pyhton", rules, &["python", "pyhon"]), [None, Some(1)]);
    }

    #[test]
    fn words_and_terms_of_any_bytes() {
        let long = "x".repeat(CHARACTERS_MAX + 1);
        let rules = Rules { distance_max: 3, is_prefix: false, has_swaps: true };
        assert_eq!(distances(&long, rules, &[&long]), [None]);
        let mut edits = Edits::default();
        edits.start("ab", rules);
        assert_eq!(edits.next(b"a\xFF", 0).0, Some(1));
        assert_eq!(edits.next(b"a\xFF\xFF", 2).0, Some(2));
    }
}
