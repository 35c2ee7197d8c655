//! How many edits lie between a word and the terms of a sorted walk. Terms that begin alike share the work for what they share.

use crate::search::index::part::Walk;

/// Longer words match only themselves: beginnings of a word are bits of a number.
pub const CHARACTERS_MAX: usize = 62;

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

/// How many characters ASCII has.
const ASCII: usize = 128;

/// Beginnings of the word, a bit each: bit `n` is the first `n` characters.
type Beginnings = u64;

/// Compares a word with terms in sorted order.
///
/// This is the automaton of Wu and Manber (Fast text searching allowing errors, 1992): for each character of the term, and each number
/// of edits, the beginnings of the word that are no more edits away from the term so far. A step is some shifts for each number of edits,
/// whatever the length of the word.
#[derive(Debug, Default)]
pub struct Edits {
    word: Vec<char>,
    /// For each character of ASCII the beginnings that end with it.
    ascii: Vec<Beginnings>,
    rules: Option<Rules>,
    /// Before the first character of the term and after each of them: those within 0, 1, ... edits.
    near: Vec<Beginnings>,
    /// What is known there besides.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    character: char,
    /// Where the character ends in the term, in bytes.
    end: usize,
    /// The beginnings of the word that end with the character.
    same: Beginnings,
    /// How many edits the term so far is away from the whole word; [`FAR`] for too many.
    whole: u8,
    /// The least of these up to here.
    best: u8,
}

/// More edits than any that count.
const FAR: u8 = u8::MAX;

impl Edits {
    /// Begins anew with another word.
    pub fn start(&mut self, word: &str, rules: Rules) {
        self.word.clear();
        self.word.extend(word.chars());
        if self.word.len() > CHARACTERS_MAX {
            self.word.clear();
        }
        self.ascii.clear();
        self.ascii.resize(ASCII, 0);
        for (wanted, at) in self.word.iter().zip(1..) {
            if let Some(same) = self.ascii.get_mut(*wanted as usize) {
                *same |= 1 << at;
            }
        }
        self.rules = Some(rules);
        self.near.clear();
        self.near.extend((0..=rules.distance_max).map(|edits| all(edits.into()) & all(self.word.len())));
        let whole = whole(&self.near, self.word.len());
        self.steps.clear();
        self.steps.push(Step { character: '\0', end: 0, same: 0, whole, best: whole });
    }

    /// The distance of the next term, if it is within the greatest one, and where the walk goes on. `shared` is how many bytes the term
    /// shares with the one before it.
    pub fn next(&mut self, term: &[u8], shared: usize) -> (Option<u8>, Walk) {
        let Some(rules) = self.rules else { return (None, Walk::End) };
        if self.word.is_empty() {
            return (None, Walk::End);
        }
        while self.steps.last().is_some_and(|step| step.end > shared) {
            self.steps.pop();
        }
        self.near.truncate(self.steps.len() * (usize::from(rules.distance_max) + 1));
        loop {
            let Some(last) = self.steps.last().copied() else { return (None, Walk::End) };
            if self.near.last() == Some(&0) {
                if rules.is_prefix && last.best <= rules.distance_max {
                    return (Some(last.best), Walk::On);
                }
                return (None, self.onward(rules, last));
            }
            let Some((character, len)) = character_at(term, last.end) else { break };
            self.step(rules, character, last.end + len);
        }
        let Some(last) = self.steps.last() else { return (None, Walk::End) };
        let distance = if rules.is_prefix { last.best } else { last.whole };
        (Some(distance).filter(|distance| *distance <= rules.distance_max), Walk::On)
    }

    /// Where the walk goes on behind a character with which nothing matches any more. If no edit was left before it, few others may stand
    /// in its place: the next of them, or if there is none what begins like the term before it.
    fn onward(&self, rules: Rules, dead: Step) -> Walk {
        let (edits, count) = (usize::from(rules.distance_max), usize::from(rules.distance_max) + 1);
        let Some(depth) = self.steps.len().checked_sub(2) else { return Walk::Past(dead.end) };
        let Some(parent) = self.steps.get(depth) else { return Walk::Past(dead.end) };
        let near = |depth: usize, edits: usize| self.near.get(depth * count + edits).copied().unwrap_or(0);
        let has_more = edits.checked_sub(1).is_some_and(|fewer| near(depth, fewer) != 0);
        if has_more || dead.character == char::REPLACEMENT_CHARACTER {
            return Walk::Past(dead.end);
        }
        let mut next: Option<char> = None;
        let mut may_stand = |at: usize| {
            next = self
                .word
                .get(at)
                .copied()
                .filter(|character| *character > dead.character && next.is_none_or(|next| *character < next))
                .or(next);
        };
        each(near(depth, edits), &mut may_stand);
        // Both of two that changed places.
        if rules.has_swaps
            && let (Some(above), Some(fewer)) = (depth.checked_sub(1), edits.checked_sub(1))
        {
            each(near(above, fewer) & (parent.same >> 2), &mut may_stand);
        }
        match next {
            Some(next) => Walk::To { len: parent.end, next },
            None if parent.end == 0 => Walk::End,
            None => Walk::Past(parent.end),
        }
    }

    /// How many characters of the last term are the beginning that is nearest to the word: the longest of them.
    pub fn best_characters(&self) -> usize {
        let best = self.steps.last().map_or(0, |step| step.best);
        self.steps.iter().rposition(|step| step.whole == best).unwrap_or(0)
    }

    /// One more character of the term.
    fn step(&mut self, rules: Rules, character: char, end: usize) {
        let (count, depth) = (usize::from(rules.distance_max) + 1, self.steps.len());
        let Some(last) = self.steps.last().copied() else { return };
        let same = match self.ascii.get(character as usize) {
            Some(same) => *same,
            None => self.ending_with(character),
        };
        // Those that end with the two last characters of the term, but the other way round.
        let swapped = if rules.has_swaps { last.same & (same << 1) } else { 0 };
        let all = all(self.word.len());
        // Those within one edit less: before the two last characters, before the last one, and now.
        let (mut before_two, mut before, mut now) = (0, 0, 0);
        for edits in 0..count {
            let near = |depth: usize| self.near.get(depth * count + edits).copied().unwrap_or(0);
            let old = near(depth - 1);
            // The character is the next of the word; one too many; another one; one of the word is left out; two changed places.
            now = (((old << 1) & same) | before | (before << 1) | (now << 1) | ((before_two << 2) & swapped))
                & all;
            (before_two, before) = (depth.checked_sub(2).map_or(0, near), old);
            self.near.push(now);
        }
        let whole = whole(self.near.get(depth * count..).unwrap_or_default(), self.word.len());
        self.steps.push(Step { character, end, same, whole, best: last.best.min(whole) });
    }
}

impl Edits {
    /// The beginnings that end with a character.
    fn ending_with(&self, character: char) -> Beginnings {
        let ends = self.word.iter().zip(1..).filter(|(wanted, _)| **wanted == character);
        ends.fold(0, |same, (_, at)| same | 1 << at)
    }
}

/// All beginnings up to so many characters.
fn all(characters: usize) -> Beginnings {
    Beginnings::MAX >> (Beginnings::BITS as usize - 1 - characters.min(CHARACTERS_MAX))
}

/// Within how many edits the beginning with so many characters is; [`FAR`] for none of these.
fn whole(near: &[Beginnings], characters: usize) -> u8 {
    near.iter().position(|near| near >> characters & 1 == 1).map_or(FAR, |edits| edits as u8)
}

/// Shows how many characters each of the beginnings has.
fn each(mut beginnings: Beginnings, show: &mut dyn FnMut(usize)) {
    while beginnings != 0 {
        show(beginnings.trailing_zeros() as usize);
        beginnings &= beginnings - 1;
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
        let (mut target, mut has_ended) = (Vec::new(), false);
        let mut found = Vec::new();
        for term in terms {
            let shared = term.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            if has_ended || term.as_bytes() < target.as_slice() {
                found.push(None);
                continue;
            }
            let (distance, walk) = edits.next(term.as_bytes(), shared);
            has_ended = !walk.target(term.as_bytes(), &mut target);
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
        assert_eq!(distances("pyhton", rules, &["pyhon", "python"]), [Some(1), None]);
    }

    #[test]
    fn a_walk_leaves_out_a_term_that_matches() {
        let mut rng = fastrand::Rng::with_seed(11);
        for round in 0..2000 {
            let mut word = |len: usize| -> String {
                (0..len).map(|_| *rng.choice(&['a', 'b', 'c', 'é', '語']).unwrap()).collect()
            };
            let mut terms: Vec<String> = (0..60).map(|at| word(1 + at % 8)).collect();
            let word = word(1 + round % 7);
            terms.sort();
            terms.dedup();
            let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
            for (distance_max, is_prefix, has_swaps) in
                [(1, false, true), (1, true, true), (2, true, false), (2, false, true), (0, false, false)]
            {
                let rules = Rules { distance_max, is_prefix, has_swaps };
                // Each alone: no walk that could leave something out.
                let alone: Vec<Option<u8>> =
                    terms.iter().map(|term| distances(&word, rules, &[term])[0]).collect();
                assert_eq!(distances(&word, rules, &terms), alone, "{word} {rules:?} {terms:?}");
            }
        }
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
