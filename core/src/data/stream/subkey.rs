//! The subkeys of a stream, made and read in one place. The families are drawn in [`super`].

use smallvec::SmallVec;

use super::{ID_BYTES, StreamId};

/// Entries.
pub(super) const ENTRY: u8 = b'e';
/// Consumer groups.
pub(super) const GROUP: u8 = b'g';
/// The stream's own facts, one subkey.
pub(super) const FACTS: u8 = b'm';
/// Where nodes begin.
pub(super) const NODE: u8 = b'n';
/// Pending entries of a group.
pub(super) const PENDING: u8 = b'p';
/// Pending entries of a consumer.
pub(super) const OWNED: u8 = b'q';
/// Consumers ("readers") of a group.
pub(super) const CONSUMER: u8 = b'r';

/// A subkey on the stack, unless a client gave something a long name.
pub(super) type Subkey = SmallVec<[u8; 64]>;

/// A family's subkey of an id: an entry or the beginning of a node.
pub(super) fn of_id(family: u8, id: StreamId) -> [u8; 1 + ID_BYTES] {
    let mut subkey = [family; 1 + ID_BYTES];
    let (_, rest) = subkey.split_at_mut(1);
    rest.copy_from_slice(&id.to_bytes());
    subkey
}

/// The id at the end of a subkey of this family; None for a subkey of another one.
pub(super) fn id_in(family: u8, subkey: &[u8]) -> Option<StreamId> {
    let (first, rest) = subkey.split_first()?;
    let at = rest.len().checked_sub(ID_BYTES)?;
    (*first == family).then(|| StreamId::from_bytes(rest.get(at..)?)).flatten()
}

/// A family and numbers that say whose part of it.
pub(super) fn prefix(family: u8, numbers: &[u64]) -> Subkey {
    let mut subkey = Subkey::new();
    subkey.push(family);
    numbers.iter().for_each(|number| subkey.extend_from_slice(&number.to_be_bytes()));
    subkey
}

/// A prefix and what follows it.
pub(super) fn joined(mut prefix: Subkey, rest: &[u8]) -> Subkey {
    prefix.extend_from_slice(rest);
    prefix
}

/// The first bytes that sort behind everything with this prefix. Families are letters, so there always are some.
pub(super) fn after(mut prefix: Subkey) -> Subkey {
    while let Some(last) = prefix.last_mut() {
        if let Some(next) = last.checked_add(1) {
            *last = next;
            break;
        }
        prefix.pop();
    }
    prefix
}
