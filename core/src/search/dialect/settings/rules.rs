//! Ranking rules: the list of a client, and which lists the ranking can follow.
//!
//! The score of a hit weighs what five rules of Meilisearch look at, in this order: words, typo, proximity, attribute, exactness. Any of
//! them may be missing, and then counts for nothing (the first is there always). What a search sorts by comes before the score. A rule of
//! the index's own comes before it or breaks its ties.

use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape;

/// A rule by which results are ranked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One of Meilisearch's own.
    BuiltIn(BuiltIn),
    /// By the values of an attribute: an own rule of the index.
    By {
        /// The attribute.
        attribute: String,
        /// Whether the largest is best.
        is_descending: bool,
    },
}

/// Meilisearch's own rules, in the order in which the score weighs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltIn {
    /// More words of the query.
    Words,
    /// Fewer typos.
    Typo,
    /// Words nearer to each other.
    Proximity,
    /// A more important attribute.
    AttributeRank,
    /// Nearer to the beginning of an attribute.
    WordPosition,
    /// Both of these.
    Attribute,
    /// By what the search sorts by.
    Sort,
    /// Whole words and whole attributes.
    Exactness,
}

const BUILT_IN: [(&str, BuiltIn); 8] = [
    ("words", BuiltIn::Words),
    ("typo", BuiltIn::Typo),
    ("proximity", BuiltIn::Proximity),
    ("attribute", BuiltIn::Attribute),
    ("attributeRank", BuiltIn::AttributeRank),
    ("wordPosition", BuiltIn::WordPosition),
    ("sort", BuiltIn::Sort),
    ("exactness", BuiltIn::Exactness),
];

impl Rule {
    /// Reads a rule; None if the text is none.
    pub(super) fn parse(text: &str) -> Option<Rule> {
        if let Some((_, rule)) = BUILT_IN.iter().find(|(name, _)| *name == text) {
            return Some(Rule::BuiltIn(*rule));
        }
        let (attribute, order) = text.rsplit_once(':')?;
        let is_descending = match order {
            "asc" => false,
            "desc" => true,
            _ => return None,
        };
        let is_attribute = !attribute.is_empty() && !attribute.starts_with("_geo");
        is_attribute.then(|| Rule::By { attribute: attribute.to_owned(), is_descending })
    }

    /// Whether it is about how documents match words, which one score says.
    pub fn is_of_score(&self) -> bool {
        !matches!(self, Rule::By { .. } | Rule::BuiltIn(BuiltIn::Sort))
    }
}

/// Checks a list of rules.
///
/// # Errors
/// One of them is none, or stands where the ranking cannot follow it.
pub(super) fn check(texts: &[String], path: &str, code: &'static str) -> Result<(), Fault> {
    // The rules of the score so far, and whether rules of the index's own stand behind them.
    let (mut last, mut is_behind): (Option<BuiltIn>, bool) = (None, false);
    for (at, text) in texts.iter().enumerate() {
        let is_in_place = match Rule::parse(text) {
            None => return Err(no_rule(text, &shape::element(path, at), code)),
            Some(Rule::By { .. }) => {
                is_behind = last.is_some();
                true
            }
            Some(Rule::BuiltIn(BuiltIn::Sort)) => last != Some(BuiltIn::Exactness) && !is_behind,
            Some(Rule::BuiltIn(rule)) => {
                let is_in_place = last.is_none_or(|last| last < rule) && !is_behind;
                last = Some(rule);
                is_in_place
            }
        };
        if !is_in_place {
            let what = [
                "The ranking rule `",
                shape::shorten(text),
                "` at this place (the order is words, typo, proximity, attribute, exactness, with sort before exactness and custom ranking rules before or behind all of these)",
            ];
            return Err(Fault::unsupported(&what.concat()));
        }
    }
    Ok(())
}

fn no_rule(text: &str, place: &str, code: &'static str) -> Fault {
    let message = [
        "Invalid value at `",
        place,
        "`: `",
        shape::shorten(text),
        "` ranking rule is invalid. Valid ranking rules are words, typo, sort, proximity, attribute, exactness and custom ranking rules.",
    ];
    Fault::new(code, message.concat())
}
