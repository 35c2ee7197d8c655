//! The value of an entry: its fields and values in turn, as the client gave them.
//!
//! ```text
//!  length  bytes   length  bytes  …       a length: seven bits a byte, least significant first, the top bit set on all
//!  field           value                  but the last byte
//! ```

/// Longest form of a length: 64 bits, seven a byte.
const LENGTH_BYTES_MAX: u32 = 10;

/// Appends the form of these texts.
pub(super) fn encode(texts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(texts.iter().map(|text| text.len() + 2).sum());
    for text in texts {
        let mut length = text.len() as u64;
        while length >= 0x80 {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.extend_from_slice(text);
    }
    bytes
}

/// The fields and values of an entry, in turn.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'e> {
    bytes: &'e [u8],
}

impl<'e> Fields<'e> {
    /// The texts in an entry's value.
    pub(super) fn of(bytes: &'e [u8]) -> Fields<'e> {
        Fields { bytes }
    }
}

impl<'e> Iterator for Fields<'e> {
    type Item = &'e [u8];

    fn next(&mut self) -> Option<&'e [u8]> {
        let (mut length, mut shift) = (0_u64, 0);
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            length |= u64::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
            if shift >= 7 * LENGTH_BYTES_MAX {
                return None;
            }
        }
        let (text, rest) = self.bytes.split_at_checked(usize::try_from(length).ok()?)?;
        self.bytes = rest;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_changed() {
        let long = [7; 20_000];
        let cases: [&[&[u8]]; 3] =
            [&[], &[b"a", b""], &[b"", &long[..127], &long[..128], &long, b"z", b"end"]];
        for texts in cases {
            let bytes = encode(texts);
            assert_eq!(Fields::of(&bytes).collect::<Vec<_>>(), texts);
            for cut in 0..bytes.len().min(300) {
                assert!(Fields::of(&bytes[..cut]).count() < texts.len(), "a cut entry is not whole");
            }
        }
        assert_eq!(Fields::of(&[0xFF; 30]).count(), 0);
    }
}
