//! The value of an entry: its fields and values in turn, as the client gave them, each behind its length ([`varint`]).

use super::varint;

/// Appends the form of these texts.
pub(super) fn encode(texts: &[&[u8]]) -> Vec<u8> {
    let mut bytes =
        Vec::with_capacity(texts.iter().map(|text| text.len() + varint::len(text.len() as u64)).sum());
    for text in texts {
        varint::put(&mut bytes, text.len() as u64);
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
        let length = varint::take(&mut self.bytes)?;
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
