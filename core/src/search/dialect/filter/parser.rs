//! Reads the text of a filter.

use super::{DEPTH_MAX, Filter, Test, join};
use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape::shorten;
use crate::search::query::tree::Bound;

/// Words that are no attribute and no value unless they stand in quotes.
const KEYWORDS: [&str; 9] =
    ["AND", "OR", "NOT", "IN", "TO", "EXISTS", "_geoRadius", "_geoBoundingBox", "_geoPolygon"];

const OPERATIONS: &str = "Was expecting an operation `=`, `!=`, `>=`, `>`, `<=`, `<`, `IN`, `NOT IN`, `TO`, `EXISTS`, `NOT EXISTS`, `IS NULL`, `IS NOT NULL`, `IS EMPTY`, `IS NOT EMPTY`, `_geoRadius`, or `_geoBoundingBox`";

/// Reads a filter; None if the text is empty. `budget` is how many conditions there may be, and goes down.
///
/// # Errors
/// The text is no filter.
pub(super) fn parse(text: &str, code: &'static str, budget: &mut usize) -> Result<Option<Filter>> {
    let mut parser = Parser { text, at: 0, code, budget };
    parser.skip_spaces();
    if parser.rest().is_empty() {
        return Ok(None);
    }
    let filter = parser.or(0)?;
    let start = parser.at;
    if !parser.rest().is_empty() {
        let rest = shorten(parser.rest()).to_owned();
        let message = [
            "Found unexpected characters at the end of the filter: `",
            &rest,
            "`. You probably forgot an `OR` or an `AND` rule.",
        ];
        return Err(parser.fault(&message.concat(), start));
    }
    Ok(Some(filter))
}

/// A value as a number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    code: &'static str,
    budget: &'a mut usize,
}

type Result<T> = std::result::Result<T, Fault>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes a sign, and the spaces behind it.
    fn take(&mut self, sign: &str) -> bool {
        let is_it = self.rest().starts_with(sign);
        if is_it {
            self.at += sign.len();
            self.skip_spaces();
        }
        is_it
    }

    /// Takes a word that no other letter goes on.
    fn take_word(&mut self, word: &str) -> bool {
        let follows = self.rest().strip_prefix(word).map(|rest| rest.chars().next());
        matches!(follows, Some(next) if !next.is_some_and(is_word)) && self.take(word)
    }

    /// An error about the text from `start` on.
    fn fault(&self, message: &str, start: usize) -> Fault {
        let column = self.text.get(..start).unwrap_or_default().chars().count() + 1;
        let end = self.text.chars().count() + 1;
        let (mut first, mut last) = (itoa::Buffer::new(), itoa::Buffer::new());
        Fault::new(
            self.code,
            [message, "\n", first.format(column), ":", last.format(end), " ", shorten(self.text)].concat(),
        )
    }

    fn or(&mut self, depth: usize) -> Result<Filter> {
        if depth > DEPTH_MAX {
            return Err(self.fault("The filter exceeded the maximum depth limit. Try rewriting the filter so that it contains fewer nested conditions.", self.at));
        }
        let mut any = vec![self.and(depth)?];
        while self.take_word("OR") {
            any.push(self.and(depth)?);
        }
        join(any, Filter::Or).ok_or_else(|| self.operation(self.at))
    }

    fn and(&mut self, depth: usize) -> Result<Filter> {
        let mut all = vec![self.not(depth)?];
        while self.take_word("AND") {
            all.push(self.not(depth)?);
        }
        join(all, Filter::And).ok_or_else(|| self.operation(self.at))
    }

    fn not(&mut self, depth: usize) -> Result<Filter> {
        let mut is_negated = false;
        while self.take_word("NOT") {
            is_negated = !is_negated;
        }
        let start = self.at;
        let inner = if self.take("(") {
            let inner = self.or(depth + 1)?;
            if !self.take(")") {
                let rest = shorten(self.text.get(start..).unwrap_or_default()).to_owned();
                return Err(self.fault(
                    &["Expression `", &rest, "` is missing the following closing delimiter: `)`."].concat(),
                    start,
                ));
            }
            inner
        } else {
            self.condition()?
        };
        Ok(if is_negated { negate(inner) } else { inner })
    }

    fn operation(&self, start: usize) -> Fault {
        let rest = shorten(self.text.get(start..).unwrap_or_default());
        match rest.is_empty() {
            true => self.fault(&[OPERATIONS, " but instead got nothing."].concat(), start),
            false => self.fault(&[OPERATIONS, " at `", rest, "`."].concat(), start),
        }
    }

    fn spend(&mut self) -> Result<()> {
        match self.budget.checked_sub(1) {
            Some(left) => {
                *self.budget = left;
                Ok(())
            }
            None => Err(Fault::new(self.code, "Too many filter conditions.")),
        }
    }

    fn condition(&mut self) -> Result<Filter> {
        self.spend()?;
        let start = self.at;
        for name in ["_geoRadius", "_geoBoundingBox", "_geoPolygon"] {
            if self.take_word(name) {
                return self.geo(name, start);
            }
        }
        let Some(attribute) = self.word()? else { return Err(self.operation(start)) };
        match attribute.as_str() {
            "_geo" => return Err(self.fault("`_geo` is a reserved keyword and thus can't be used as a filter expression. Use the `_geoRadius(latitude, longitude, distance)` or `_geoBoundingBox([latitude, longitude], [latitude, longitude])` built-in rules to filter on `_geo` coordinates.", start)),
            "_geoDistance" | "_geoPoint" => {
                let message = ["`", &attribute, "` is a reserved keyword and thus can't be used as a filter expression."];
                return Err(self.fault(&message.concat(), start));
            }
            _ => {}
        }
        let is = |test| Filter::Is { attribute: attribute.clone(), test };
        for sign in ["!=", ">=", "<=", "=", ">", "<"] {
            if self.take(sign) {
                return self.comparison(sign, attribute);
            }
        }
        let is_negated = self.take_word("NOT");
        let found = if self.take_word("EXISTS") {
            is(Test::Exists)
        } else if self.take_word("IN") {
            is(Test::In(self.list()?))
        } else if self.take_word("CONTAINS") || self.take_word("STARTS WITH") {
            return Err(Fault::new(
                "feature_not_enabled",
                "`CONTAINS` and `STARTS WITH` in a filter are not supported by this server.",
            ));
        } else if !is_negated && self.take_word("IS") {
            let is_negated = self.take_word("NOT");
            let test = if self.take_word("NULL") {
                Test::Null
            } else if self.take_word("EMPTY") {
                Test::Empty
            } else {
                return Err(self.operation(start));
            };
            return Ok(if is_negated { negate(is(test)) } else { is(test) });
        } else if !is_negated {
            let from_at = self.at;
            let Some(from) = self.word()? else { return Err(self.operation(start)) };
            if !self.take_word("TO") {
                return Err(self.operation(start));
            }
            let to_at = self.at;
            let Some(to) = self.word()? else { return Err(self.value(to_at)) };
            let from = self.number(&from, from_at)?;
            is(Test::Range(inclusive(from), inclusive(self.number(&to, to_at)?)))
        } else {
            return Err(self.operation(start));
        };
        Ok(if is_negated { negate(found) } else { found })
    }

    fn comparison(&mut self, sign: &str, attribute: String) -> Result<Filter> {
        let start = self.at;
        let Some(value) = self.word()? else { return Err(self.value(start)) };
        if let "=" | "!=" = sign {
            let equal = Filter::Is { attribute, test: Test::In(vec![value]) };
            return Ok(if sign == "=" { equal } else { negate(equal) });
        }
        let value = self.number(&value, start)?;
        let bound = Bound { value, is_exclusive: matches!(sign, ">" | "<") };
        let (from, to) = match sign {
            ">" | ">=" => (bound, inclusive(f64::INFINITY)),
            _ => (inclusive(f64::NEG_INFINITY), bound),
        };
        Ok(Filter::Is { attribute, test: Test::Range(from, to) })
    }

    fn number(&self, text: &str, start: usize) -> Result<f64> {
        number(text).ok_or_else(|| {
            self.fault(&["Was expecting a number but instead got `", shorten(text), "`."].concat(), start)
        })
    }

    fn value(&self, start: usize) -> Fault {
        let rest = shorten(self.text.get(start..).unwrap_or_default());
        match rest.is_empty() {
            true => self.fault("Was expecting a value but instead got nothing.", start),
            false => self.fault(&["Was expecting a value but instead got `", rest, "`."].concat(), start),
        }
    }

    /// Takes a word or a text in quotes, and the spaces behind it. None if there is none.
    fn word(&mut self) -> Result<Option<String>> {
        let rest = self.rest();
        let start = self.at;
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
        let Some(quote) = quote else {
            let end = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
            let word = rest.get(..end).unwrap_or_default();
            if word.is_empty() || KEYWORDS.contains(&word) {
                return Ok(None);
            }
            self.at += end;
            self.skip_spaces();
            return Ok(Some(word.to_owned()));
        };
        let mut word = String::new();
        let mut characters = rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, next)) if next == quote || next == '\\' => word.push(next),
                    Some((_, next)) => word.extend(['\\', next]),
                    None => break,
                },
                character if character == quote => {
                    self.at += at + 1;
                    self.skip_spaces();
                    return Ok(Some(word));
                }
                other => word.push(other),
            }
        }
        let quote = quote.to_string();
        Err(self.fault(
            &["Expression `", shorten(rest), "` is missing the following closing delimiter: `", &quote, "`."]
                .concat(),
            start,
        ))
    }

    fn list(&mut self) -> Result<Vec<String>> {
        let start = self.at;
        if !self.take("[") {
            return Err(self.fault("Expected `[` after `IN` keyword.", start));
        }
        let mut values = Vec::new();
        while let Some(value) = self.word()? {
            self.spend()?;
            values.push(value);
            if !self.take(",") {
                break;
            }
        }
        if !self.take("]") {
            let message = if self.rest().is_empty() {
                "Expected matching `]` after the list of field names given to `IN[`"
            } else {
                "Expected only comma-separated field names inside `IN[..]`"
            };
            return Err(self.fault(message, start));
        }
        Ok(values)
    }

    fn geo(&mut self, name: &str, start: usize) -> Result<Filter> {
        let numbers = self.geo_arguments();
        let wrong = |parser: &Parser<'_>, message: &str| Err(parser.fault(message, start));
        match (name, numbers.as_deref()) {
            ("_geoRadius", Some([(latitude, 0), (longitude, 0), (radius, 0), ..])) => {
                let center = (self.latitude(*latitude, start)?, self.longitude(*longitude, start)?);
                if *radius < 0.0 {
                    return wrong(self, "The radius of `_geoRadius` is not to be negative.");
                }
                Ok(Filter::Radius { center, radius_m: *radius })
            }
            ("_geoBoundingBox", Some([(north, 1), (east, 1), (south, 2), (west, 2)])) => {
                let top_right = (self.latitude(*north, start)?, self.longitude(*east, start)?);
                let bottom_left = (self.latitude(*south, start)?, self.longitude(*west, start)?);
                if top_right.0 < bottom_left.0 {
                    return wrong(
                        self,
                        "The top latitude of `_geoBoundingBox` is below the bottom latitude.",
                    );
                }
                Ok(Filter::Box { top_right, bottom_left })
            }
            ("_geoRadius", _) => wrong(
                self,
                "The `_geoRadius` filter expects three arguments: `_geoRadius(latitude, longitude, radius)`.",
            ),
            ("_geoBoundingBox", _) => wrong(
                self,
                "The `_geoBoundingBox` filter expects two pairs of arguments: `_geoBoundingBox([latitude, longitude], [latitude, longitude])`.",
            ),
            _ => Err(Fault::new("feature_not_enabled", "`_geoPolygon` is not supported by this server.")),
        }
    }

    /// The numbers between parentheses, at most four, each with the number of its pair, or 0 outside of brackets.
    fn geo_arguments(&mut self) -> Option<Vec<(f64, usize)>> {
        let (mut numbers, mut pairs) = (Vec::new(), 0);
        if !self.take("(") {
            return None;
        }
        let mut is_inside = false;
        while numbers.len() <= 4 {
            if !is_inside && self.take("[") {
                (is_inside, pairs) = (true, pairs + 1);
            }
            let word = self.word().ok()??;
            numbers.push((number(&word)?, if is_inside { pairs } else { 0 }));
            if is_inside && self.take("]") {
                is_inside = false;
            }
            if !self.take(",") {
                return (!is_inside && self.take(")")).then_some(numbers);
            }
        }
        None
    }

    fn latitude(&self, value: f64, start: usize) -> Result<f64> {
        let is_valid = (-90.0..=90.0).contains(&value);
        if is_valid { Ok(value) } else { Err(self.bad("latitude", "-90 and 90", value, start)) }
    }

    fn longitude(&self, value: f64, start: usize) -> Result<f64> {
        let is_valid = (-180.0..=180.0).contains(&value);
        if is_valid { Ok(value) } else { Err(self.bad("longitude", "-180 and 180", value, start)) }
    }

    fn bad(&self, what: &str, between: &str, value: f64, start: usize) -> Fault {
        let value = crate::number::format_f64(value);
        let name = if what == "latitude" { "Latitude" } else { "Longitude" };
        let message = [
            "Bad ",
            what,
            " `",
            value.as_str(),
            "`. ",
            name,
            " must be contained between ",
            between,
            " degrees.",
        ];
        self.fault(&message.concat(), start)
    }
}

fn negate(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

fn inclusive(value: f64) -> Bound {
    Bound { value, is_exclusive: false }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '/' | '.')
}
