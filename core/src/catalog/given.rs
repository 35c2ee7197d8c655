//! Which options a request gives, found by the grammar of its row.
//!
//! A word is an option only where the grammar has one: `SET key GET` stores the word, `ZUNION 1 withscores` names a key.
//! Options that stand side by side in the grammar come in any order, as in Redis. The request is one that the command has
//! accepted or would accept; of others nothing is promised but an end, after a time that grows with the request's length.

use std::collections::BTreeSet;

use super::arguments::{Argument, Kind};

/// What a walk has found.
pub(super) struct Given<'r, 'a> {
    args: &'r [&'a [u8]],
    /// The positions of the keys.
    keys: BTreeSet<usize>,
    /// Tokens, and names of arguments without a token.
    names: Vec<String>,
}

impl<'r, 'a> Given<'r, 'a> {
    /// Walks through a request. `first` is the position behind the name (and the container's).
    pub(super) fn find(
        arguments: &[Argument<'_>],
        args: &'r [&'a [u8]],
        first: usize,
        keys: BTreeSet<usize>,
    ) -> Self {
        let mut given = Given { args, keys, names: Vec::new() };
        given.sequence(arguments, first, 0, true);
        given
    }

    /// Whether an option or an argument is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|given| given == name)
    }

    fn note(&mut self, name: &str) {
        // Once each: a request may have a million members.
        if !self.has(name) {
            self.names.push(name.to_owned());
        }
    }

    fn is_token(&self, at: usize, token: &str) -> bool {
        self.args.get(at).is_some_and(|word| word.eq_ignore_ascii_case(token.as_bytes()))
    }

    /// The position behind a list of arguments; None where one that is needed is missing. `after` counts the words that
    /// are needed behind the list; `is_top` says that it is the whole grammar.
    fn sequence(
        &mut self,
        items: &[Argument<'_>],
        mut at: usize,
        after: usize,
        is_top: bool,
    ) -> Option<usize> {
        let mut next = 0;
        while let Some(item) = items.get(next) {
            let rest = items.get(next..).unwrap_or_default();
            let options = rest.iter().take_while(|item| begins_with_token(item)).count();
            if options > 0 {
                let (options, rest) = rest.split_at(options);
                at = self.options(options, at, after + least_words(rest), is_top)?;
                next += options.len();
                continue;
            }
            next += 1;
            let behind = items.get(next..).unwrap_or_default();
            let needed = after + least_words(behind);
            if item.optional && self.args.len() <= at + needed {
                continue;
            }
            at = match self.argument(item, behind, at, needed) {
                None if item.optional => continue,
                behind => behind?,
            };
        }
        Some(at)
    }

    /// Options in any order, each once or as often as it likes.
    fn options(
        &mut self,
        items: &[Argument<'_>],
        mut at: usize,
        after: usize,
        is_top: bool,
    ) -> Option<usize> {
        let mut used = vec![false; items.len()];
        loop {
            let mut found = None;
            for (item, used) in items.iter().zip(&mut used) {
                let repeats = item.multiple_token || (item.multiple && item.kind == Kind::OneOf);
                if found.is_none() && (!*used || repeats) {
                    found = self.argument(item, items, at, after);
                    *used |= found.is_some();
                }
            }
            // An option takes a word at least.
            if let Some(behind) = found.filter(|behind| *behind > at) {
                at = behind;
                continue;
            }
            // A word that no choice has: commands do not look at all words of a request for a missing key.
            let is_word =
                |item: &Argument<'_>| !item.optional && least_words(std::slice::from_ref(item)) == 1;
            let missing = items.iter().zip(&mut used).find(|(item, used)| !**used && is_word(item));
            match missing {
                Some((_, used)) if is_top && self.args.len() > at + after => *used = true,
                _ => break,
            }
            at += 1;
        }
        let is_whole = items.iter().zip(&used).all(|(item, used)| item.optional || *used);
        is_whole.then_some(at)
    }

    /// The position behind an argument; None if it does not stand here, and then nothing is noted.
    fn argument(
        &mut self,
        item: &Argument<'_>,
        behind: &[Argument<'_>],
        at: usize,
        after: usize,
    ) -> Option<usize> {
        let noted = self.names.len();
        let found = self.argument_or_part(item, behind, at, after);
        if found.is_none() {
            self.names.truncate(noted);
        }
        found
    }

    fn argument_or_part(
        &mut self,
        item: &Argument<'_>,
        behind: &[Argument<'_>],
        mut at: usize,
        after: usize,
    ) -> Option<usize> {
        if let Some(token) = item.token {
            if !self.is_token(at, token) {
                return None;
            }
            self.note(token);
            at += 1;
        } else if item.arguments.is_empty() {
            self.note(&item.name);
        }
        at = self.once(item, at, after)?;
        // Where the token is repeated, too, `options` comes back.
        let repeats = item.multiple && !item.multiple_token;
        while repeats && self.goes_on(item, behind, at, after) {
            match self.once(item, at, after) {
                Some(next) if next > at => at = next,
                _ => break,
            }
        }
        Some(at)
    }

    /// Whether an argument that may be repeated comes again: not where an option begins, or what is needed behind it.
    fn goes_on(&self, item: &Argument<'_>, behind: &[Argument<'_>], at: usize, after: usize) -> bool {
        if item.kind == Kind::Key {
            return self.keys.contains(&at);
        }
        let mut tokens = Vec::new();
        behind.iter().for_each(|argument| note_first_tokens(argument, &mut tokens));
        self.args.len() > at + after && !tokens.iter().any(|token| self.is_token(at, token))
    }

    /// The argument itself, its token being taken.
    fn once(&mut self, item: &Argument<'_>, at: usize, after: usize) -> Option<usize> {
        match item.kind {
            Kind::PureToken => Some(at),
            Kind::Block => self.sequence(&item.arguments, at, after, false),
            Kind::OneOf => {
                let (words, values): (Vec<_>, Vec<_>) =
                    item.arguments.iter().partition(|choice| begins_with_token(choice));
                words.into_iter().chain(values).find_map(|choice| self.argument(choice, &[], at, after))
            }
            _ => (at < self.args.len()).then_some(at + 1),
        }
    }
}

/// Whether an argument begins with a word that is typed as it stands.
fn begins_with_token(argument: &Argument<'_>) -> bool {
    if argument.token.is_some() {
        return true;
    }
    match argument.kind {
        Kind::OneOf => argument.arguments.iter().all(begins_with_token),
        Kind::Block => {
            let needed = argument.arguments.iter().position(|member| !member.optional);
            let first = argument.arguments.get(..=needed.unwrap_or(0)).unwrap_or_default();
            !first.is_empty() && first.iter().all(begins_with_token)
        }
        _ => false,
    }
}

fn note_first_tokens<'g>(argument: &Argument<'g>, tokens: &mut Vec<&'g str>) {
    match (argument.token, argument.kind) {
        (Some(token), _) => tokens.push(token),
        (None, Kind::OneOf) => argument.arguments.iter().for_each(|choice| note_first_tokens(choice, tokens)),
        (None, Kind::Block) => {
            argument.arguments.first().into_iter().for_each(|first| note_first_tokens(first, tokens))
        }
        _ => {}
    }
}

/// How many words a list of arguments has at least.
pub(super) fn least_words(arguments: &[Argument<'_>]) -> usize {
    let least = |argument: &Argument<'_>| match argument.kind {
        _ if argument.optional => 0,
        Kind::PureToken => 1,
        Kind::OneOf => {
            let choices = argument.arguments.iter().map(|choice| least_words(std::slice::from_ref(choice)));
            choices.min().unwrap_or(0) + usize::from(argument.token.is_some())
        }
        Kind::Block => least_words(&argument.arguments) + usize::from(argument.token.is_some()),
        _ => 1 + usize::from(argument.token.is_some()),
    };
    arguments.iter().map(least).sum()
}
