//! The name of an entry: a time and a number within that time, in the order in which entries were added.

/// Length of an id in a subkey or a value.
pub const ID_BYTES: usize = 16;

/// An id, `milliseconds-sequence` to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct StreamId {
    /// Unix time in milliseconds, by intention only: any number will do.
    pub ms: u64,
    /// Tells entries of one millisecond apart.
    pub seq: u64,
}

impl StreamId {
    /// Before every entry: no entry has this id.
    pub const MIN: StreamId = StreamId { ms: 0, seq: 0 };
    /// The last id there is.
    pub const MAX: StreamId = StreamId { ms: u64::MAX, seq: u64::MAX };

    /// The id after this one; None after the last.
    pub fn next(self) -> Option<StreamId> {
        match self.seq.checked_add(1) {
            Some(seq) => Some(StreamId { ms: self.ms, seq }),
            None => Some(StreamId { ms: self.ms.checked_add(1)?, seq: 0 }),
        }
    }

    /// The id before this one; None before the first.
    pub fn previous(self) -> Option<StreamId> {
        match self.seq.checked_sub(1) {
            Some(seq) => Some(StreamId { ms: self.ms, seq }),
            None => Some(StreamId { ms: self.ms.checked_sub(1)?, seq: u64::MAX }),
        }
    }

    /// The bytes that sort as ids do: both numbers big-endian.
    pub fn to_bytes(self) -> [u8; ID_BYTES] {
        let mut bytes = [0; ID_BYTES];
        let (ms, seq) = bytes.split_at_mut(ID_BYTES / 2);
        ms.copy_from_slice(&self.ms.to_be_bytes());
        seq.copy_from_slice(&self.seq.to_be_bytes());
        bytes
    }

    /// What [`to_bytes`](Self::to_bytes) wrote; None for any other length.
    pub fn from_bytes(bytes: &[u8]) -> Option<StreamId> {
        let (ms, seq) = bytes.split_at_checked(ID_BYTES / 2)?;
        let ms = u64::from_be_bytes(ms.try_into().ok()?);
        Some(StreamId { ms, seq: u64::from_be_bytes(seq.try_into().ok()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_bytes_disagree_with_the_order() {
        let ids = [
            StreamId::MIN,
            StreamId { ms: 0, seq: 1 },
            StreamId { ms: 0, seq: u64::MAX },
            StreamId { ms: 1, seq: 0 },
            StreamId { ms: 256, seq: 1 },
            StreamId::MAX,
        ];
        for pair in ids.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].to_bytes() < pair[1].to_bytes());
            assert!(pair[0].next().is_some_and(|next| next <= pair[1] && next.previous() == Some(pair[0])));
        }
        for id in ids {
            assert_eq!(StreamId::from_bytes(&id.to_bytes()), Some(id));
        }
        assert_eq!((StreamId::MIN.previous(), StreamId::MAX.next()), (None, None));
        assert_eq!(StreamId::from_bytes(&[0; 15]), None);
    }
}
