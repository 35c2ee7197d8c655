//! Long copies in pieces, between which the caller says whether to go on.
//!
//! A copy of a hundred megabytes into fresh memory takes tens of milliseconds, and a buffer that grows copies all that it holds. A
//! run that is to end should not wait for that.

/// Bytes that are copied at once: with the page faults of fresh memory about half a millisecond.
pub(super) const PIECE_BYTES: usize = 1024 * 1024;

/// Makes room for so many more bytes, as [`Vec::try_reserve`] does; false if there is no memory. A large buffer is moved in pieces,
/// and `ask` gets the bytes of each; its error ends the move and leaves the buffer as it was.
///
/// # Errors
///
/// That of `ask`.
pub fn reserve<E>(
    buffer: &mut Vec<u8>,
    more: usize,
    ask: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<bool, E> {
    if buffer.capacity() - buffer.len() >= more {
        return Ok(true);
    }
    if buffer.len() < PIECE_BYTES {
        return Ok(buffer.try_reserve(more).is_ok());
    }
    ask(PIECE_BYTES)?;
    let mut larger = Vec::new();
    let size = buffer.len().saturating_add(more).max(buffer.capacity().saturating_mul(2));
    if larger.try_reserve_exact(size).is_err() {
        return Ok(false);
    }
    copy(&mut larger, buffer, ask)?;
    *buffer = larger;
    Ok(true)
}

/// Appends bytes for which there is room, in pieces.
fn copy<E>(
    buffer: &mut Vec<u8>,
    bytes: &[u8],
    ask: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    for (index, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        if index > 0 {
            ask(PIECE_BYTES)?;
        }
        buffer.extend_from_slice(piece);
    }
    Ok(())
}

/// Appends bytes; false if there is no memory for them. If `ask` fails, only some of them are there.
///
/// # Errors
///
/// That of `ask`.
pub fn append<E>(
    buffer: &mut Vec<u8>,
    bytes: &[u8],
    ask: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<bool, E> {
    if !reserve(buffer, bytes.len(), ask)? {
        return Ok(false);
    }
    copy(buffer, bytes, ask)?;
    Ok(true)
}
