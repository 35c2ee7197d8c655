//! Passwords: only their SHA-256 is kept, compared and shown.

use sha2::{Digest, Sha256};

const BYTES: usize = 32;

/// The SHA-256 of a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Password([u8; BYTES]);

impl Password {
    /// Of a password as a client gives it.
    pub fn of(text: &[u8]) -> Password {
        Password(Sha256::digest(text).into())
    }

    /// Of 64 lower-case hexadecimal digits.
    pub fn from_hex(digits: &[u8]) -> Option<Password> {
        let bytes = base16ct::lower::decode_vec(digits).ok()?;
        bytes.try_into().ok().map(Password)
    }

    /// As 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        base16ct::lower::encode_string(&self.0)
    }

    /// Compares without telling by the time taken how much was right.
    pub fn is(&self, other: &Password) -> bool {
        let differences = self.0.iter().zip(&other.0).fold(0, |all, (left, right)| all | (left ^ right));
        std::hint::black_box(differences) == 0
    }
}

/// A hash is no password, but nobody needs it in a log either.
impl std::fmt::Debug for Password {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Password(..)")
    }
}
