//! The commands that a selector allows: a bitmap over the rows of the catalog, and the rules that made it.

use std::collections::BTreeSet;

use super::rule::RuleError;
use crate::catalog::{self, COUNT, Categories, CommandId, CommandSpec};

const WORD_BITS: usize = u64::BITS as usize;
const WORDS: usize = COUNT.div_ceil(WORD_BITS);

/// A set of commands. It is kept as text, too, since a later version has other rows: `rules` are applied again then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commands {
    bits: [u64; WORDS],
    /// Every command is allowed, without a look at the bits.
    all: bool,
    /// The rules begin with all commands, and not with none.
    begins_with_all: bool,
    /// Commands that are allowed only with this first argument (`+select|0`), which is in lower case. Their order means nothing.
    first_arguments: BTreeSet<(CommandId, Box<[u8]>)>,
    /// What is behind the beginning, each without its sign: in lower case, but for first arguments.
    rules: Vec<(bool, Vec<u8>)>,
}

impl Commands {
    /// No command.
    pub(super) const NONE: Commands = Commands {
        bits: [0; WORDS],
        all: false,
        begins_with_all: false,
        first_arguments: BTreeSet::new(),
        rules: Vec::new(),
    };

    /// Allows every command, later ones included.
    pub(super) fn allow_all(&mut self) {
        *self = Commands { bits: [u64::MAX; WORDS], all: true, begins_with_all: true, ..Commands::NONE };
    }

    /// Allows no command.
    pub(super) fn reset(&mut self) {
        *self = Commands::NONE;
    }

    pub(super) fn are_all(&self) -> bool {
        self.all
    }

    /// Applies `+name`, `-name`, `+@category` or `-@category`.
    pub(super) fn apply(&mut self, allows: bool, what: &[u8]) -> Result<(), RuleError> {
        if let [b'@', category @ ..] = what {
            return self.apply_category(allows, category);
        }
        if allows && let Some(bar) = what.iter().rposition(|byte| *byte == b'|') {
            let (name, sub) = what.split_at(bar);
            return self.allow_part(what, name, sub.get(1..).unwrap_or_default());
        }
        let spec = catalog::lookup_full(what).ok_or(RuleError::Unknown)?;
        self.change(spec, allows);
        self.note(allows, spec.name.as_bytes().to_vec());
        Ok(())
    }

    /// `+container|subcommand`, or `+command|first-argument`.
    fn allow_part(&mut self, what: &[u8], name: &[u8], sub: &[u8]) -> Result<(), RuleError> {
        let spec = catalog::lookup_full(name).ok_or(RuleError::Unknown)?;
        if spec.container().is_some() {
            return Err(RuleError::ArgumentOfSubcommand);
        }
        if sub.is_empty() {
            return Err(RuleError::Syntax);
        }
        if spec.is_container() {
            let sub = catalog::lookup_sub(spec, sub).ok_or(RuleError::Unknown)?;
            self.change(sub, true);
        } else {
            self.first_arguments.insert((spec.id, sub.to_ascii_lowercase().into()));
        }
        self.note(true, what.to_ascii_lowercase());
        Ok(())
    }

    fn apply_category(&mut self, allows: bool, category: &[u8]) -> Result<(), RuleError> {
        let word = category.to_ascii_lowercase();
        let category = Categories::of_word(&word).ok_or(RuleError::Unknown)?;
        for spec in catalog::all().iter().filter(|spec| spec.categories.contains(category)) {
            self.change(spec, allows);
        }
        self.note(allows, [b"@", word.as_slice()].concat());
        Ok(())
    }

    /// A container takes its subcommands along.
    fn change(&mut self, spec: &CommandSpec, allows: bool) {
        self.first_arguments.retain(|(id, _)| *id != spec.id);
        for one in std::iter::once(spec).chain(spec.subcommands()) {
            let (word, bit) = (one.id.index() / WORD_BITS, 1_u64 << (one.id.index() % WORD_BITS));
            // Invariant: every id is below COUNT.
            if let Some(word) = self.bits.get_mut(word) {
                *word = if allows { *word | bit } else { *word & !bit };
            }
        }
    }

    /// Adds a rule in place of those that it makes pointless: the same one, and those about its subcommands.
    fn note(&mut self, allows: bool, rule: Vec<u8>) {
        self.rules.retain(|(_, known)| {
            let rest = known.strip_prefix(rule.as_slice());
            rest.is_none_or(|rest| !rest.is_empty() && !rest.starts_with(b"|"))
        });
        self.rules.push((allows, rule));
        self.all = self.begins_with_all && self.rules.iter().all(|(allows, _)| *allows);
    }

    /// Whether a request of this row is allowed, its keys aside.
    #[inline]
    pub(super) fn allow(&self, spec: &CommandSpec, args: &[&[u8]]) -> bool {
        let (word, bit) = (spec.id.index() / WORD_BITS, 1_u64 << (spec.id.index() % WORD_BITS));
        self.all || self.bits.get(word).is_some_and(|word| word & bit != 0) || self.allow_first(spec, args)
    }

    fn allow_first(&self, spec: &CommandSpec, args: &[&[u8]]) -> bool {
        let first = args.get(1);
        let mut allowed = self.first_arguments.iter().filter(|(id, _)| *id == spec.id);
        first.is_some_and(|first| allowed.any(|(_, word)| word.eq_ignore_ascii_case(first)))
    }

    /// Whether a request may be allowed that begins with this name, and of which no more is known.
    pub(super) fn may_allow(&self, spec: &CommandSpec) -> bool {
        self.allow(spec, &[])
            || spec.subcommands().iter().any(|sub| self.allow(sub, &[]))
            || self.first_arguments.iter().any(|(id, _)| *id == spec.id)
    }

    /// The rules.
    pub(super) fn rules(&self) -> impl Iterator<Item = Vec<u8>> {
        let first = if self.begins_with_all { b"+@all" } else { b"-@all" };
        let others = self.rules.iter().map(|(allows, rule)| {
            let sign = if *allows { b"+" } else { b"-" };
            [sign, rule.as_slice()].concat()
        });
        std::iter::once(first.to_vec()).chain(others)
    }
}
