//! One datafile: chunks in rows, and behind them the bytes that are in no row yet.

use std::any::Any;
use std::sync::Arc;

use edgecask_core::storage::{Datafile, Result, StorageError};
use parking_lot::Mutex;

use super::Rows;
use crate::host::Host;
use crate::limits::{
    CACHED_MAX_BYTES, CHUNK_BYTES, DATAFILE_HARD_MAX_BYTES, FRAME_MAX_BYTES, READ_STEP_BYTES,
};

/// The number of the byte at an offset of a datafile.
pub(super) fn number(id: u32, offset: u64) -> u64 {
    u64::from(id) * DATAFILE_HARD_MAX_BYTES + offset
}

/// A number larger than that of any byte of a datafile, and not larger than those of the next.
pub(super) fn number_behind(id: u32) -> u64 {
    number(id, DATAFILE_HARD_MAX_BYTES)
}

/// How many bytes of a datafile are in rows.
pub(super) fn stored_len<H: Host>(rows: &Rows<H>, id: u32) -> u64 {
    let (from, to) = (number(id, 0), number_behind(id));
    let last = rows.host.chunks(to - 1, to).pop().filter(|(number, _)| *number >= from);
    last.map_or(0, |(number, bytes)| number - from + bytes.len() as u64)
}

/// A datafile, shared by all of its handles.
pub(super) struct RowFile<H: Host> {
    id: u32,
    rows: Arc<Rows<H>>,
    state: Mutex<State>,
}

struct State {
    /// The offset of the first byte that is in no row yet.
    tail_start: u64,
    tail: Vec<u8>,
    /// Whether its rows are removed with the last handle.
    is_removed: bool,
}

impl State {
    fn len(&self) -> u64 {
        self.tail_start + self.tail.len() as u64
    }
}

impl<H: Host> RowFile<H> {
    pub(super) fn new(id: u32, rows: Arc<Rows<H>>, len: u64) -> RowFile<H> {
        let state = State { tail_start: len, tail: Vec::new(), is_removed: false };
        RowFile { id, rows, state: Mutex::new(state) }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Removes the rows when the last handle is dropped.
    pub(super) fn end_with_last_handle(&self) {
        self.state.lock().is_removed = true;
    }

    /// Inserts the bytes that are in no row yet.
    pub(super) fn flush(&self) {
        self.write_tail(&mut self.state.lock(), true);
    }

    /// Writes the tail, which is one chunk at most.
    fn write_tail(&self, state: &mut State, is_cached: bool) {
        if state.tail.is_empty() {
            return;
        }
        let number = number(self.id, state.tail_start);
        self.rows.host.insert_chunk(number, &state.tail);
        if is_cached {
            self.rows.cache.lock().put(number, state.tail.as_slice().into());
        }
        state.tail_start += state.tail.len() as u64;
        state.tail.clear();
    }

    /// Appends bytes and inserts whole chunks at once, so that a large value is never in memory twice.
    fn add(&self, state: &mut State, bytes: &[u8], is_cached: bool) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES - state.tail.len()));
            state.tail.extend_from_slice(now);
            if state.tail.len() == CHUNK_BYTES {
                self.write_tail(state, is_cached);
            }
            rest = later;
        }
    }

    /// Adds the bytes from `from` to below `to`, all of them in rows.
    fn stored(&self, from: u64, to: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let (mut at, end) = (number(self.id, from), number(self.id, to));
        let is_cached = to - from < CACHED_MAX_BYTES;
        while at < end {
            let cached = self.rows.cache.lock().get(at);
            if let Some((number, chunk)) = cached {
                at = copy(bytes, number, &chunk, at, end);
                continue;
            }
            let before = at;
            for (number, chunk) in self.rows.host.chunks(at, end.min(at + READ_STEP_BYTES)) {
                at = copy(bytes, number, &chunk, at, end);
                if is_cached && number + chunk.len() as u64 > before {
                    self.rows.cache.lock().put(number, chunk.into());
                }
            }
            if at == before {
                return Err(StorageError::Io(format!("rows of datafile {} are missing", self.id)));
            }
        }
        Ok(())
    }

    fn read(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let state = self.state.lock();
        let missing = || StorageError::Missing(format!("{len} bytes at {offset} of datafile {}", self.id));
        let end = offset.checked_add(len).filter(|end| *end <= state.len()).ok_or_else(missing)?;
        let mut bytes = Vec::new();
        let no_memory = |_| StorageError::Io(format!("no memory for {len} bytes of datafile {}", self.id));
        bytes.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX)).map_err(no_memory)?;
        if offset < state.tail_start {
            self.stored(offset, end.min(state.tail_start), &mut bytes)?;
        }
        // Within the tail, whose length is a usize.
        let of_tail = |at: u64| at.saturating_sub(state.tail_start) as usize;
        bytes.extend_from_slice(state.tail.get(of_tail(offset)..of_tail(end)).unwrap_or_default());
        Ok(bytes)
    }
}

/// Appends the bytes from `at` on that a chunk holds; returns the number of the next byte.
fn copy(bytes: &mut Vec<u8>, number: u64, chunk: &[u8], at: u64, end: u64) -> u64 {
    let chunk_end = number + chunk.len() as u64;
    let until = chunk_end.min(end);
    if number > at || until <= at {
        return at;
    }
    // Both within the chunk.
    bytes.extend_from_slice(chunk.get((at - number) as usize..(until - number) as usize).unwrap_or_default());
    until
}

impl<H: Host> Drop for RowFile<H> {
    fn drop(&mut self) {
        if self.state.get_mut().is_removed {
            self.rows.forget(self.id);
        }
    }
}

/// A handle as the store holds it.
pub(super) struct Handle<H: Host>(pub(super) Arc<RowFile<H>>);

impl<H: Host> Datafile for Handle<H> {
    fn append(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        let file = &self.0;
        let len: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if len > FRAME_MAX_BYTES {
            return Err(StorageError::Full(format!(
                "a transaction of {len} bytes; {FRAME_MAX_BYTES} are allowed"
            )));
        }
        let state = &mut *file.state.lock();
        if offset != state.len() {
            return Err(StorageError::Io(format!("datafile {} does not end at {offset}", file.id)));
        }
        if offset + len > DATAFILE_HARD_MAX_BYTES {
            return Err(StorageError::Full("a datafile".into()));
        }
        file.rows.reserve(len)?;
        let was_written = state.tail.is_empty();
        parts.iter().for_each(|part| file.add(state, part, len <= CACHED_MAX_BYTES));
        if was_written && !state.tail.is_empty() {
            file.rows.unwritten.lock().push(file.clone());
        }
        Ok(())
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let bytes = self.0.read(offset, len)?;
        visit(&bytes);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn cut(&self, len: u64) -> Result<()> {
        let file = &self.0;
        let state = &mut *file.state.lock();
        if len >= state.len() {
            return Ok(());
        }
        if len >= state.tail_start {
            // Within the tail.
            state.tail.truncate((len - state.tail_start) as usize);
            return Ok(());
        }
        state.tail.clear();
        let (start, at, end) = (number(file.id, 0), number(file.id, len), number_behind(file.id));
        let before = file.rows.host.chunks(at, at + 1).into_iter().next();
        let holding = before.filter(|(number, _)| (start..at).contains(number));
        let begin = holding.as_ref().map_or(at, |(number, _)| *number);
        file.rows.host.remove_chunks(begin, end);
        file.rows.cache.lock().remove(begin, end);
        if let Some((number, chunk)) = holding
            && let Some(uncut) = chunk.get(..(at - number) as usize)
        {
            file.rows.host.insert_chunk(number, uncut);
        }
        state.tail_start = len;
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.state.lock().len())
    }
}
