//! Words, phrases and patterns.

use super::ParseError;
use super::lexer::{Kind, Token, unescape, unescape_wildcard, words};
use super::parser::{Parser, Part};
use super::tree::{Clause, Pattern};
use crate::search::schema::{Analyzer, FieldId};
use crate::search::text::{analyze_word, fold_part, groups_of_word};

impl Parser<'_> {
    /// A word, a phrase or a pattern.
    pub fn text(&mut self) -> Part {
        let token = self.token;
        let part = match token.kind {
            Kind::Word if self.is_first_dialect() => return self.run(),
            Kind::Number if self.is_first_dialect() => return self.run(),
            Kind::Word if self.is_left_out(token) => None,
            Kind::Word | Kind::Number => self.word(token)?,
            Kind::Parameter if !self.is_first_dialect() => {
                let value = self.parameter(token.text)?;
                self.check_empty(value)?;
                let is_number = core::str::from_utf8(value).is_ok_and(|text| text.parse::<f64>().is_ok());
                let is_verbatim = self.context.is_verbatim || is_number;
                self.word_of(value, is_verbatim, false)?
            }
            Kind::Exact => return self.phrase(),
            Kind::Quote if self.is_first_dialect() => return self.phrase_of_tokens(),
            Kind::Percent => return self.fuzzy(),
            Kind::Prefix => {
                let raw = if token.is_parameter { self.parameter(token.text)? } else { token.text };
                let text = if token.is_parameter { raw.to_vec() } else { unescape(raw) };
                self.word_of(&text, true, true)?
            }
            Kind::Suffix | Kind::Infix | Kind::Wildcard => {
                let pattern = self.affix(token)?.map(|text| self.fold(&text));
                Some(self.node(Clause::Word(pattern))?)
            }
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(part)
    }

    /// Plain words of dialect 1, which stand together before `|` sees them: `hello world | foo` has two alternatives.
    fn run(&mut self) -> Part {
        let (mut left, mut count) = (None, 0);
        loop {
            let token = self.token;
            // A number is a word of a run as its first or second only, and a stop word ends a run.
            let is_number = token.kind == Kind::Number && count < 2;
            let is_stop_word = token.kind == Kind::Word && self.is_left_out(token);
            if !(is_number || token.kind == Kind::Word) || (is_stop_word && count > 0) {
                return Ok(left);
            }
            self.advance();
            if is_stop_word {
                return Ok(None);
            }
            let word = self.word(token)?;
            left = self.both(left, word)?;
            count += 1;
        }
    }

    fn word(&mut self, token: Token<'_>) -> Part {
        let is_verbatim = self.context.is_verbatim || token.kind == Kind::Number;
        self.word_of(&unescape(token.text), is_verbatim, false)
    }

    /// The terms of a word: those that nothing stands between are a phrase. Of a word that is none for the analyzer nothing is left. With
    /// `is_prefix`, the last term is the beginning of one.
    fn word_of(&mut self, text: &[u8], is_verbatim: bool, is_prefix: bool) -> Part {
        let mut part = None;
        let mut groups = groups_of_word(self.context.schema.analyzer, text).into_iter().peekable();
        while let Some(group) = groups.next() {
            let is_verbatim = is_verbatim || group.len() > 1;
            let word = |text: String| Pattern::Word { text: text.into_bytes(), is_verbatim };
            let mut words: Vec<Pattern> = group.into_iter().map(word).collect();
            if let (true, None, Some(last)) = (is_prefix, groups.peek(), words.last_mut())
                && let Pattern::Word { text, .. } = last
            {
                *last = Pattern::Prefix(std::mem::take(text));
            }
            let clause = match (words.len(), words.pop()) {
                (1, Some(word)) => Clause::Word(word),
                (_, last) => Clause::Phrase(words.into_iter().chain(last).collect()),
            };
            let node = self.node(clause)?;
            part = self.both(part, Some(node))?;
        }
        Ok(part)
    }

    /// A part of a word as the index has it.
    fn fold(&self, text: &[u8]) -> Vec<u8> {
        fold_part(self.context.schema.analyzer, text).into_bytes()
    }

    /// Whether a word is left out. Where one types, the one at the very end may become another.
    fn is_left_out(&self, token: Token<'_>) -> bool {
        let is_plain = self.fields.is_empty() && !self.is_negated;
        let is_open = self.context.is_typed && is_plain && self.lexer.is_at_end();
        !is_open && self.is_stop_word(token.text)
    }

    pub fn is_stop_word(&self, word: &[u8]) -> bool {
        let word = fold_part(self.context.schema.analyzer, word);
        !self.context.keeps_stop_words && self.context.schema.is_stop_word(&word)
    }

    /// `"…"`: a phrase, or a word that is meant as it is.
    fn phrase(&mut self) -> Part {
        let quotation = self.advance().text;
        if quotation.is_empty() && self.context.schema.analyzer == Analyzer::Words {
            self.check_empty(quotation)?;
            let empty = Pattern::Word { text: Vec::new(), is_verbatim: true };
            return Ok(Some(self.node(Clause::Word(empty))?));
        }
        let texts = match self.context.schema.analyzer {
            Analyzer::Words => words(quotation).iter().map(|word| self.fold(word)).collect(),
            Analyzer::Instant => self.terms(&unescape(quotation)),
        };
        self.phrase_of(texts)
    }

    /// A quotation of dialect 1: words between quotes, where signs are signs.
    fn phrase_of_tokens(&mut self) -> Part {
        self.advance();
        let mut texts = Vec::new();
        while matches!(self.token.kind, Kind::Word | Kind::Number) {
            texts.extend(self.terms(&unescape(self.token.text)));
            self.advance();
        }
        if texts.is_empty() {
            return Err(self.unexpected());
        }
        self.expect(Kind::Quote)?;
        self.phrase_of(texts)
    }

    /// The terms of a text.
    fn terms(&self, text: &[u8]) -> Vec<Vec<u8>> {
        let mut terms = Vec::new();
        let analyzer = self.context.schema.analyzer;
        analyze_word(analyzer, text, &mut |term, _| terms.push(term.as_bytes().to_vec()));
        terms
    }

    /// Stop words are left out where they have no position in documents either.
    fn phrase_of(&mut self, texts: Vec<Vec<u8>>) -> Part {
        let mut patterns = Vec::new();
        for text in texts {
            if self.context.schema.analyzer == Analyzer::Instant || !self.is_stop_word(&text) {
                self.count()?;
                patterns.push(Pattern::Word { text, is_verbatim: true });
            }
        }
        Ok(match (patterns.len(), self.context.schema.analyzer) {
            (0, _) => None,
            // Where one types, a quotation of one word differs from the word: it is finished, and has no typos.
            (1, Analyzer::Words) => patterns.pop().map(|word| Clause::Word(word).into()),
            _ => Some(Clause::Phrase(patterns).into()),
        })
    }

    /// `%word%` to `%%%word%%%`.
    fn fuzzy(&mut self) -> Part {
        let mut distance = 0_u8;
        while distance < 3 && self.take(Kind::Percent) {
            distance += 1;
        }
        let text = match self.token.kind {
            Kind::Word | Kind::Number => unescape(self.token.text),
            Kind::Exact if !self.is_first_dialect() => unescape(self.token.text),
            Kind::Parameter if !self.is_first_dialect() => self.parameter(self.token.text)?.to_vec(),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        for _ in 0..distance {
            self.expect(Kind::Percent)?;
        }
        let pattern = Pattern::Fuzzy { text: self.fold(&text), distance };
        Ok(Some(self.node(Clause::Word(pattern))?))
    }

    /// The pattern of a token that is a prefix, suffix, infix or wildcard, as it is written.
    pub fn affix(&mut self, token: Token<'_>) -> Result<Pattern, ParseError> {
        let raw = if token.is_parameter { self.parameter(token.text)? } else { token.text };
        let plain = || if token.is_parameter { raw.to_vec() } else { unescape(raw) };
        Ok(match token.kind {
            Kind::Prefix => Pattern::Prefix(plain()),
            Kind::Suffix => Pattern::Suffix(plain()),
            Kind::Infix => Pattern::Infix(plain()),
            _ => Pattern::Wildcard(unescape_wildcard(raw)),
        })
    }

    /// Refuses an empty text where named fields have none to find.
    pub fn check_empty(&self, text: &[u8]) -> Result<(), ParseError> {
        let has_empty = |id: &FieldId| self.context.schema.field(*id).is_some_and(|field| field.has_empty);
        if !text.is_empty() || self.fields.is_empty() || self.fields.iter().any(has_empty) {
            return Ok(());
        }
        let text = "Use `INDEXEMPTY` in field creation in order to index and query for empty strings";
        Err(ParseError::new(&[text.as_bytes()]))
    }
}

impl Pattern {
    /// The pattern with another text.
    fn map(self, change: impl Fn(Vec<u8>) -> Vec<u8>) -> Pattern {
        match self {
            Pattern::Prefix(text) => Pattern::Prefix(change(text)),
            Pattern::Suffix(text) => Pattern::Suffix(change(text)),
            Pattern::Infix(text) => Pattern::Infix(change(text)),
            Pattern::Wildcard(text) => Pattern::Wildcard(change(text)),
            other => other,
        }
    }
}
