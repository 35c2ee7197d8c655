//! The flags of scripts and of functions of libraries.

/// What a script promises or needs, as its first line (`#!lua flags=…`) or `redis.register_function` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptFlags(u8);

/// Names and bits, in Redis' order; the last is not one of Redis.
const NAMES: [(&str, ScriptFlags); 6] = [
    ("no-writes", ScriptFlags::NO_WRITES),
    ("allow-oom", ScriptFlags::ALLOW_OOM),
    ("allow-stale", ScriptFlags::ALLOW_STALE),
    ("no-cluster", ScriptFlags::NO_CLUSTER),
    ("allow-cross-slot-keys", ScriptFlags::ALLOW_CROSS_SLOT_KEYS),
    ("deterministic", ScriptFlags::DETERMINISTIC),
];

impl ScriptFlags {
    /// No flag.
    pub const NONE: ScriptFlags = ScriptFlags(0);
    /// `no-writes`: every command that may write is refused.
    pub const NO_WRITES: ScriptFlags = ScriptFlags(1);
    /// `allow-oom`: runs even if there is no memory for writes.
    pub const ALLOW_OOM: ScriptFlags = ScriptFlags(2);
    /// `allow-stale`: runs on a replica that lost its primary.
    pub const ALLOW_STALE: ScriptFlags = ScriptFlags(4);
    /// `no-cluster`: does not run in cluster mode.
    pub const NO_CLUSTER: ScriptFlags = ScriptFlags(8);
    /// `allow-cross-slot-keys`: may touch keys of several slots.
    pub const ALLOW_CROSS_SLOT_KEYS: ScriptFlags = ScriptFlags(16);

    /// `deterministic`: a function answers the same to the same arguments, so it calls no command, and SQL may make an index of it.
    pub const DETERMINISTIC: ScriptFlags = ScriptFlags(32 | ScriptFlags::NO_WRITES.0);

    /// The flag of this name, in letters of any case.
    pub fn named(name: &[u8]) -> Option<ScriptFlags> {
        NAMES.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name)).map(|(_, flag)| *flag)
    }

    /// Both together.
    pub const fn with(self, other: ScriptFlags) -> ScriptFlags {
        ScriptFlags(self.0 | other.0)
    }

    /// Whether all flags of the other are among these.
    pub const fn has(self, other: ScriptFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of the flags that are set, in Redis' order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |(_, flag)| self.has(*flag)).map(|(name, _)| *name)
    }
}
