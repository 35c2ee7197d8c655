//! A selector: commands together with the keys and channels on which they are allowed.

use super::channels::ChannelUse;
use super::commands::Commands;
use super::denial::Missing;
use super::patterns::{Channels, Keys, Uses};
use super::rule::RuleError;
use crate::catalog::{CommandSpec, Flags, KeyFlags, KeyUse};
use crate::resp::split_line;

/// A part of what a user may do. A user has one of its own and any number of further ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    commands: Commands,
    keys: Keys,
    channels: Channels,
}

impl Selector {
    /// One that allows nothing, but for all channels where `acl-pubsub-default` says so.
    pub(super) fn new(all_channels: bool) -> Selector {
        let mut selector =
            Selector { commands: Commands::NONE, keys: Keys::default(), channels: Channels::default() };
        if all_channels {
            selector.channels.allow_all();
        }
        selector
    }

    /// Allows everything.
    pub(super) fn apply_all(&mut self) {
        self.commands.allow_all();
        self.keys.allow_all();
        self.channels.allow_all();
    }

    /// That of a rule `(rule rule …)`.
    pub(super) fn parse(rule: &[u8], all_channels: bool) -> Result<Selector, RuleError> {
        let inner = rule.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
        let rules = inner.and_then(split_line).ok_or(RuleError::Syntax)?;
        let mut selector = Selector::new(all_channels);
        rules.iter().try_for_each(|rule| selector.apply(rule))?;
        Ok(selector)
    }

    /// Applies a rule about commands, keys or channels.
    pub(super) fn apply(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        let lower = rule.to_ascii_lowercase();
        match lower.as_slice() {
            b"allkeys" | b"~*" => self.keys.allow_all(),
            b"resetkeys" => self.keys.reset(),
            b"allchannels" | b"&*" => self.channels.allow_all(),
            b"resetchannels" => self.channels.reset(),
            b"allcommands" | b"+@all" => self.commands.allow_all(),
            b"nocommands" | b"-@all" => self.commands.reset(),
            _ => match rule {
                [b'~' | b'%', ..] => self.keys.add(rule)?,
                [b'&', pattern @ ..] => self.channels.add(pattern)?,
                [sign @ (b'+' | b'-'), what @ ..] => self.commands.apply(*sign == b'+', what)?,
                _ => return Err(RuleError::Syntax),
            },
        }
        Ok(())
    }

    /// Whether it allows everything.
    pub(super) fn is_unrestricted(&self) -> bool {
        self.commands.are_all() && self.keys.are_all() && self.channels.are_all()
    }

    /// What a request lacks here, with the position of the argument that it is about; None if it is allowed. `keys` are the
    /// keys of the request.
    pub(super) fn missing(
        &self,
        spec: &CommandSpec,
        args: &[&[u8]],
        keys: &mut impl FnMut() -> KeyUses,
    ) -> Option<(Missing, usize)> {
        if !spec.is(Flags::NO_AUTH) && !self.commands.allow(spec, args) {
            return Some((Missing::Command, 0));
        }
        if !self.keys.are_all() && !spec.keys.is_empty() {
            let denied = |used: &KeyUse| {
                !used.flags.contains(KeyFlags::NOT_KEY)
                    && args.get(used.index).is_some_and(|key| !self.keys.allow(key, Uses::of(used.flags)))
            };
            if let Some(used) = keys().iter().find(|used| denied(used)) {
                return Some((Missing::Key, used.index));
            }
        }
        if !self.channels.are_all()
            && let Some(used) = ChannelUse::of(spec, args)
        {
            let names = args.iter().enumerate().skip(1).take(used.count);
            let mut denied = names.filter(|(_, name)| !self.channels.allow(name, used.are_patterns));
            return denied.next().map(|(at, _)| (Missing::Channel, at));
        }
        None
    }

    /// Whether a request may be allowed that begins with this name, and of which no more is known.
    pub(super) fn may_allow(&self, spec: &CommandSpec) -> bool {
        spec.is(Flags::NO_AUTH) || self.commands.may_allow(spec)
    }

    /// Whether every key with a prefix may be read, or read and written.
    pub(super) fn allows_prefix(&self, prefix: &[u8], writes: bool) -> bool {
        self.keys.allow_prefix(prefix, if writes { Uses::BOTH } else { Uses::READS })
    }

    /// Whether a channel may be listened to, or a pattern of channels.
    pub(super) fn allows_channel(&self, name: &[u8], is_pattern: bool) -> bool {
        self.channels.allow(name, is_pattern)
    }

    /// All rules in the order of ACL LIST.
    pub(super) fn rules(&self) -> impl Iterator<Item = Vec<u8>> {
        let no_channels = (!self.channels.are_all()).then(|| b"resetchannels".to_vec());
        self.keys.rules().chain(no_channels).chain(self.channels.rules()).chain(self.commands.rules())
    }

    /// The rules about commands, with spaces between them.
    pub fn command_rules(&self) -> Vec<u8> {
        join(self.commands.rules())
    }

    /// The rules about keys, with spaces between them.
    pub fn key_rules(&self) -> Vec<u8> {
        join(self.keys.rules())
    }

    /// The rules about channels, with spaces between them; they do not say that other channels are forbidden.
    pub fn channel_rules(&self) -> Vec<u8> {
        join(self.channels.rules())
    }
}

/// Rules with spaces between them.
pub(super) fn join(rules: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    rules.collect::<Vec<Vec<u8>>>().join(&b' ')
}

/// The keys of a request.
pub(super) type KeyUses = smallvec::SmallVec<[KeyUse; 4]>;
