//! The name of a script: the SHA-1 of its source.

use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The SHA-1 of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptHash([u8; 20]);

impl Hash for ScriptHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.first_chunk().map_or(0, |first| u64::from_le_bytes(*first)));
    }
}

/// Tables by [`ScriptHash`], and by numbers that count up, need no other hash.
pub(super) type OfHash = BuildHasherDefault<TakenAsHash>;

/// Takes a number for its hash.
#[derive(Debug, Default)]
pub struct TakenAsHash(u64);

impl Hasher for TakenAsHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl ScriptHash {
    /// That of this source.
    pub fn of(source: &[u8]) -> ScriptHash {
        ScriptHash(sha1_smol::Sha1::from(source).digest().bytes())
    }

    /// Reads forty digits of either case.
    pub fn parse(text: &[u8]) -> Option<ScriptHash> {
        let mut hash = [0; 20];
        let is_long_enough = text.len() == 2 * hash.len();
        let is_read = base16ct::mixed::decode(text.get(..40)?, &mut hash).is_ok();
        (is_long_enough && is_read).then_some(ScriptHash(hash))
    }

    /// Forty digits in lower case.
    pub fn text(self) -> String {
        base16ct::lower::encode_string(&self.0)
    }
}
