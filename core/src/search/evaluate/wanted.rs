//! Which words of a text a query looks for: what HIGHLIGHT marks.

use crate::search::query::{Clause, Node, Pattern};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{Language, stem};

use super::pattern::Matcher;
use super::{DEPTH_MAX, Options};

/// The words and patterns of a query, in their order.
#[derive(Debug)]
pub struct Wanted<'q> {
    terms: Vec<Term<'q>>,
    language: Language,
}

#[derive(Debug)]
struct Term<'q> {
    pattern: &'q Pattern,
    /// The fields that it is looked for in; all if None.
    fields: Option<Vec<FieldId>>,
    /// Its stem, if words with the same stem match.
    root: Option<String>,
    /// Words that mean the same.
    others: Vec<String>,
}

impl<'q> Wanted<'q> {
    /// What a query looks for. Parts that documents must not match are left out.
    pub fn new(schema: &Schema, root: &'q Node, options: &Options<'_>) -> Wanted<'q> {
        let mut wanted = Wanted { terms: Vec::new(), language: options.language };
        wanted.gather(schema, root, options.in_fields.map(<[FieldId]>::to_vec), options, 0);
        wanted
    }

    fn gather(
        &mut self,
        schema: &Schema,
        node: &'q Node,
        fields: Option<Vec<FieldId>>,
        options: &Options<'_>,
        depth: usize,
    ) {
        if depth > DEPTH_MAX {
            return;
        }
        match &node.clause {
            Clause::Word(pattern) => self.add(schema, pattern, fields, options),
            Clause::Phrase(patterns) => {
                patterns.iter().for_each(|pattern| self.add(schema, pattern, fields.clone(), options));
            }
            Clause::And(nodes) | Clause::Or(nodes) => {
                nodes.iter().for_each(|node| self.gather(schema, node, fields.clone(), options, depth + 1));
            }
            Clause::Optional(inner) => self.gather(schema, inner, fields, options, depth + 1),
            Clause::In(only, inner) => {
                let mut only = only.clone();
                if let Some(fields) = fields {
                    only.retain(|field| fields.contains(field));
                }
                self.gather(schema, inner, Some(only), options, depth + 1);
            }
            _ => {}
        }
    }

    fn add(
        &mut self,
        schema: &Schema,
        pattern: &'q Pattern,
        fields: Option<Vec<FieldId>>,
        options: &Options<'_>,
    ) {
        let mut term = Term { pattern, fields, root: None, others: Vec::new() };
        if let Pattern::Word { text, is_verbatim: false } = pattern
            && !options.is_verbatim
            && let Ok(word) = std::str::from_utf8(text)
        {
            if schema.fields.iter().any(|field| matches!(field.kind, FieldKind::Text { has_stems: true, .. }))
            {
                let mut root = String::new();
                stem(options.language, word, &mut root);
                term.root = Some(root);
            }
            (options.synonyms)(word, &mut |other| term.others.push(other.into()));
        }
        self.terms.push(term);
    }

    /// How many words and patterns there are.
    pub fn count(&self) -> usize {
        self.terms.len()
    }

    /// The number of the first word or pattern that a token of a text matches. The token is folded as the index folds it. `field` is the
    /// field of the text, with whether it has stems.
    pub fn find(&self, token: &str, field: Option<(FieldId, bool)>) -> Option<usize> {
        let mut root = String::new();
        self.terms.iter().position(|term| {
            if let (Some(fields), Some((field, _))) = (&term.fields, field)
                && !fields.contains(&field)
            {
                return false;
            }
            if Matcher(term.pattern).accepts(token.as_bytes())
                || term.others.iter().any(|other| other == token)
            {
                return true;
            }
            let Some(wanted) = term.root.as_ref().filter(|_| field.is_none_or(|(_, has_stems)| has_stems))
            else {
                return false;
            };
            if root.is_empty() {
                stem(self.language, token, &mut root);
            }
            root == *wanted
        })
    }
}
