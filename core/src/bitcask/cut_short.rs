//! Whether a datafile was cut within its last frame, by other hands than the loss of power.
//!
//! Where files grow ahead ([`Storage::grows_ahead`](crate::storage::Storage::grows_ahead)) a datafile is longer than any frame in
//! it from before the frame is written. A killed process may leave the first bytes of a frame, with the zeros of the preallocation in
//! place of the others; then the lengths in its header are no larger than they were to be, and the frame still ends within the
//! datafile. So one that does not was cut. The loss of power may take the length of a file.

use super::files::File;
use super::record::{HEADER_MAX_LEN, Header, Record};
use super::scan;
use crate::storage::StorageError;

/// Lengths to which files grow are multiples of this.
const GROWTH_BYTES: u64 = 4096;

/// Whether the frame that begins at an offset, and is broken, goes on behind the end of its datafile.
pub(super) fn runs_over(file: &File, offset: u64, end: u64) -> Result<bool, StorageError> {
    let (mut at, mut bytes) = (offset, Vec::new());
    while at < end {
        let left = end - at;
        scan::read(file, at, left.min(HEADER_MAX_LEN as u64), &mut bytes)?;
        let Some((header, _)) = Header::read(&bytes) else {
            // The beginning of a header, or none.
            let is_cut_off = left < HEADER_MAX_LEN as u64 && !end.is_multiple_of(GROWTH_BYTES);
            return Ok(is_cut_off && bytes.iter().any(|byte| *byte != 0));
        };
        if header.record_len() > left {
            return Ok(true);
        }
        scan::read(file, at, header.record_len(), &mut bytes)?;
        if header.is_last || Record::read(&bytes, file.salt).is_none() {
            return Ok(false);
        }
        at += header.record_len();
    }
    Ok(at > offset)
}
