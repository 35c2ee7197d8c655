//! The words that a query asks for, to mark them in texts.

use crate::search::query::{Clause, Node, Pattern};
use crate::search::text::{Language, stem};

use super::Matcher;

/// The words of a query, in the order in which they stand there, without those that must not be.
#[derive(Debug, Default)]
pub struct Wanted<'q> {
    patterns: Vec<&'q Pattern>,
    /// The stem of each word that is not verbatim.
    stems: Vec<Option<String>>,
    language: Language,
}

impl<'q> Wanted<'q> {
    /// Those of a query.
    pub fn of(root: &'q Node, language: Language, is_verbatim: bool) -> Wanted<'q> {
        let mut wanted = Wanted { language, ..Wanted::default() };
        wanted.collect(root);
        for pattern in &wanted.patterns {
            wanted.stems.push(match pattern {
                Pattern::Word { text, is_verbatim: false } if !is_verbatim => {
                    let mut root = String::new();
                    stem(language, &String::from_utf8_lossy(text), &mut root);
                    Some(root)
                }
                _ => None,
            });
        }
        wanted
    }

    /// The parser bounds how deep a tree is.
    fn collect(&mut self, node: &'q Node) {
        match &node.clause {
            Clause::Word(pattern) => self.patterns.push(pattern),
            Clause::Phrase(patterns) => self.patterns.extend(patterns),
            Clause::And(nodes) | Clause::Or(nodes) => nodes.iter().for_each(|node| self.collect(node)),
            Clause::Optional(node) | Clause::In(_, node) => self.collect(node),
            _ => {}
        }
    }

    /// The number of the word that a token of a text is, if it is one.
    pub fn find(&self, token: &str) -> Option<usize> {
        if let Some(at) = self.patterns.iter().position(|pattern| Matcher(pattern).accepts(token.as_bytes())) {
            return Some(at);
        }
        if self.stems.iter().all(Option::is_none) {
            return None;
        }
        let mut root = String::new();
        stem(self.language, token, &mut root);
        self.stems.iter().position(|stem| stem.as_ref().is_some_and(|stem| *stem == root || stem == token))
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }
}
