//! How a row is written: `command(name, arity, syntax)` followed by what is to be said of it, all of it constant.
//!
//! ```text
//! command("getdel", 2, "key")
//!     .since("6.2.0")
//!     .flags("write fast")
//!     .keys(&[key(1, "RW access delete")])
//!     .reply("bulk?")
//!     .complexity("O(1)")
//!     .summary("Returns the string at a key and deletes the key"),
//! ```
//!
//! The group comes from the file in which the row stands; the ACL categories and `movablekeys` are derived.

use super::arguments::Kind;
use super::keys::{KeyRange, KeySpec};
use super::spec::{
    Categories, CommandId, CommandSpec, Deprecated, Flags, Group, IsSecret, ReachesUnnamedKeys,
};

/// A row before it has a place in the table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    spec: CommandSpec,
    extra_categories: Categories,
    missing_categories: Categories,
    pub(super) subcommands: &'static [Row],
}

/// Begins a row. `name` is lower case, `container|word` for a subcommand; `arity` counts the name; `syntax` is what
/// follows the name.
pub(super) const fn command(name: &'static str, arity: i16, syntax: &'static str) -> Row {
    let spec = CommandSpec {
        id: CommandId(0),
        name,
        arity,
        flags: Flags::NONE,
        keys: KeySpec::NONE,
        group: Group::Server,
        since: "",
        syntax,
        reply: "",
        summary: "",
        complexity: "",
        categories: Categories::NONE,
        tips: "",
        deprecated: None,
        word: word_of(name),
        types: &[],
        reaches_unnamed_keys: None,
        values: None,
        secrets: None,
        subcommands_first: 0,
        subcommands_count: 0,
        container: None,
    };
    Row { spec, extra_categories: Categories::NONE, missing_categories: Categories::NONE, subcommands: &[] }
}

/// What stands behind the `|`, or all of it.
const fn word_of(name: &'static str) -> &'static str {
    let mut index = 0;
    while index < name.len() {
        if name.as_bytes()[index] == b'|' {
            return name.split_at(index + 1).1;
        }
        index += 1;
    }
    name
}

impl Row {
    /// The Redis version that introduced the command.
    pub(super) const fn since(mut self, version: &'static str) -> Row {
        self.spec.since = version;
        self
    }

    /// Flags by the words of `COMMAND INFO`, and our own ([`Flags::INTERNAL`]).
    pub(super) const fn flags(mut self, words: &str) -> Row {
        self.spec.flags = Flags::parse(words);
        self
    }

    /// Where the keys stand.
    pub(super) const fn keys(mut self, ranges: &'static [KeyRange]) -> Row {
        self.spec.keys = KeySpec::new(ranges);
        self
    }

    /// The type of the reply, in the notation of [`super::reply`].
    pub(super) const fn reply(mut self, text: &'static str) -> Row {
        self.spec.reply = text;
        self
    }

    /// Running time.
    pub(super) const fn complexity(mut self, text: &'static str) -> Row {
        self.spec.complexity = text;
        self
    }

    /// One sentence without a full stop.
    pub(super) const fn summary(mut self, text: &'static str) -> Row {
        self.spec.summary = text;
        self
    }

    /// ACL categories that neither flags nor group imply.
    pub(super) const fn also_in(mut self, categories: &str) -> Row {
        self.extra_categories = Categories::parse(categories);
        self
    }

    /// ACL categories that flags or group imply and the command is not in.
    pub(super) const fn not_in(mut self, categories: &str) -> Row {
        self.missing_categories = Categories::parse(categories);
        self
    }

    /// Names the function that tells of requests which need keys that they do not name: for those the engine takes all of
    /// its locks.
    pub(super) const fn reaches_unnamed_keys(mut self, reaches: ReachesUnnamedKeys) -> Row {
        self.spec.reaches_unnamed_keys = Some(reaches);
        self
    }

    /// Command tips, separated by spaces.
    pub(super) const fn tips(mut self, words: &'static str) -> Row {
        self.spec.tips = words;
        self
    }

    /// Marks the command as superseded.
    pub(super) const fn deprecated(mut self, since: &'static str, replaced_by: &'static str) -> Row {
        self.spec.deprecated = Some(Deprecated { since, replaced_by });
        self
    }

    /// Types of arguments whose name suggests another one.
    pub(super) const fn types(mut self, types: &'static [(&'static str, Kind)]) -> Row {
        self.spec.types = types;
        self
    }

    /// Arguments that are values or messages: the first of them, and the distance to the next (0 if it is the only one).
    /// The command's name is argument 0; a key among them stays a key.
    pub(super) const fn values(mut self, first: usize, step: usize) -> Row {
        self.spec.values = Some((first, step));
        self
    }

    /// Names the function that tells which arguments are secrets.
    pub(super) const fn secrets(mut self, is_secret: IsSecret) -> Row {
        self.spec.secrets = Some(is_secret);
        self
    }

    /// Makes the command a container.
    pub(super) const fn subcommands(mut self, rows: &'static [Row]) -> Row {
        self.subcommands = rows;
        self
    }

    /// The finished row at its place in the table.
    pub(super) const fn placed(&self, place: Place) -> CommandSpec {
        let mut spec = self.spec;
        spec.id = CommandId(place.id);
        spec.group = place.group;
        spec.container = place.container;
        spec.subcommands_first = place.subcommands_first;
        spec.subcommands_count = self.subcommands.len() as u16;
        if spec.keys.is_movable() {
            spec.flags = spec.flags.with(Flags::MOVABLEKEYS);
        }
        spec.categories = Categories::derived(spec.flags, spec.group, !self.subcommands.is_empty())
            .with(self.extra_categories)
            .without(self.missing_categories);
        spec
    }
}

/// What a row learns only when the table is put together.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) id: u16,
    pub(super) group: Group,
    pub(super) container: Option<CommandId>,
    pub(super) subcommands_first: u16,
}
