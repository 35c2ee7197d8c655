//! Copying a key with everything under it, whatever its type.

use std::ops::ControlFlow;

use crate::engine::{Db, NewRoot, Result, Start, SubWalk, Txn, Want};
use crate::limits::COPY_CHUNK_BYTES;

/// Copies a key (value, subkeys, encoding and expiry) over whatever the target was; false if there is no such key.
/// Costs the size of the value. The two must not be the same key.
pub fn copy(txn: &mut Txn<'_>, from: (Db, &[u8]), to: (Db, &[u8])) -> Result<bool> {
    let Some(root) = txn.root(from.0, from.1)? else { return Ok(false) };
    let new = NewRoot { kind: root.kind, encoding: root.encoding, expires_at_ms: root.expires_at_ms };
    if root.blob.is_some() {
        let draft = txn.draft_of(from.0, from.1)?;
        txn.put_draft(to.0, to.1, new, draft)?;
        return Ok(true);
    }
    let value = txn.value(from.0, from.1)?.unwrap_or_default();
    txn.put(to.0, to.1, new, &value)?;
    drop(value);
    let mut chunk = Chunk::default();
    let mut last: Option<Vec<u8>> = None;
    loop {
        // A walk borrows the transaction, so subkeys are read and written by turns.
        let start = last.as_deref().map_or(Start::End, Start::Subkey);
        txn.sub_scan(from.0, from.1, SubWalk::up(start, Want::Values), &mut |subkey, value| {
            if last.as_deref() == Some(subkey) { ControlFlow::Continue(()) } else { chunk.add(subkey, value) }
        })?;
        let Some((subkey, _)) = chunk.pairs.last() else { return Ok(true) };
        last = Some(subkey.clone());
        for (subkey, value) in &chunk.pairs {
            txn.sub_put(to.0, to.1, subkey, value)?;
        }
        chunk = Chunk::default();
    }
}

/// Subkeys on their way.
#[derive(Default)]
struct Chunk {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl Chunk {
    fn add(&mut self, subkey: &[u8], value: &[u8]) -> ControlFlow<()> {
        self.bytes += subkey.len() + value.len() + size_of::<(Vec<u8>, Vec<u8>)>();
        self.pairs.push((subkey.to_vec(), value.to_vec()));
        if self.bytes < COPY_CHUNK_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
