//! A file whose small appends and small reads are copies to and from memory, without system calls.
//!
//! The file is grown in large steps with fallocate before anything is written, so a full disk is an error of that call
//! and never a signal in the middle of a copy. The beginning of the file, up to [`RESERVED_BYTES`], is visible through
//! one shared mapping made once: a mapping may be larger than its file as long as no thread touches it behind the
//! file's end. Large writes go through pwritev and large reads through pread, which cost less than page faults and, on
//! a cold file, read ahead.
//!
//! Apart from one call in [`crate::allocator`] this is the only file of the gateway with `unsafe`.
//!
//! # Safety argument
//!
//! Two places need it: making a slice of the mapping for a reader, and copying an append into it. Both need the
//! touched addresses to be inside the mapping and inside the file, and the first needs the bytes to stay as they are
//! while the slice lives. Call `length` the atomic in [`MappedFile`], and *the gate
//! is closed* when no reader is inside [`MappedFile::read`].
//!
//! 1. Inside the mapping: both places compare their range with the mapping's length first, in checked arithmetic.
//! 2. Inside the file: the file is at least `length` and at least `Writer::allocated` bytes long. Appends call
//!    `allocate` up to their end before they copy; `length` is raised only after that. The file is made shorter in
//!    [`MappedFile::set_len`] with the gate closed, which lowers both first, and in `give_back`, which cuts only above
//!    `length` and, like every append, holds the writer's lock.
//! 3. Bytes below `length` change only with the gate closed, and a reader's slice ends below the `length` it loaded
//!    after entering the gate. Bytes at or above `length` are written by the holder of the writer's lock and never
//!    read. `length` is raised with release and loaded with acquire order, so a reader sees the bytes below it.
//! 4. The slice lives only inside the `visit` closure, during which the reader stays in the gate and the window (and so
//!    the mapping) stays alive.
//! 5. In this process one file has one [`MappedFile`]: [`super::directory::Directory`] keeps a registry of them.
//!
//! Other processes are kept out by the lock on the directory ([`super::lock`]). One that ignores the lock and cuts a
//! file makes a later access a SIGBUS, which ends this process as kill -9 would: no acknowledged write is lost that the
//! cut did not take. One that writes into a file can change bytes under a reader; every record carries a checksum, so
//! a changed record is refused unless it was read whole before. A disk that cannot read a mapped page ends the process as well.
//! File systems where fallocate does not promise space for a later page write, or where other machines can cut
//! files, are not mapped at all ([`MappedFile::new`]'s `maps`): there everything goes through pwritev and pread. So does the
//! part of a file that the system does not map, for want of addresses (`ulimit -v`) perhaps.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use edgecask_core::storage::{Result, StorageError};
use memmap2::{Advice, MmapOptions, MmapRaw};
use parking_lot::Mutex;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use smallvec::SmallVec;

use super::gate::Gate;
use super::{failed, failed_errno};

/// Appends of fewer bytes are copied into the mapping. By themselves such appends are cheaper up to 64 KiB
/// (`cargo bench -p edgecask --bench storage`), but a page that was changed through a mapping costs the kernel some microseconds
/// when it writes it back, because all processors must forget it first. Appends of a kilobyte, four a page, cost less with
/// pwritev than that.
pub const MAPPED_WRITE_BELOW_BYTES: u64 = 1024;

/// Reads of at most so many bytes come straight from the mapping. On a cold file longer reads gain more from
/// read-ahead than they lose by the copy.
pub const MAPPED_READ_MAX_BYTES: u64 = 64 * 1024;

/// Address space reserved for a file that is written; bytes behind it are written with pwritev and read with pread.
/// 47 bits of addresses hold a hundred thousand such files. None on 32-bit machines.
pub const RESERVED_BYTES: usize = if usize::BITS >= 64 { 1 << 30 } else { 0 };

/// A file grows by this many bytes at once: few fallocate calls, and little wasted by an almost empty store.
pub const ALLOCATION_STEP_BYTES: u64 = 16 * 1024 * 1024;

/// The same once a whole step was refused, and where little space is left.
const SMALL_STEP_BYTES: u64 = 64 * 1024;

/// A whole step takes at most this part of the space that is left.
const STEP_PART: u64 = 16;

/// Zeros written ahead of shorter appends at once. The kernel keeps the bytes of one large write in large pieces of page
/// cache. This halves the cost of the page faults that follow (measured: 95 ns to 40 ns for an append of 60 bytes), and
/// appends with pwritev cost less as well: 20 kB cost 3.2 µs instead of 8.7, and their write-back half. Pieces of twice the size
/// cost four times as much, because the kernel walks over all blocks of a piece at each write.
const BLANK_STEP_BYTES: u64 = 128 * 1024;

/// A file that is synced again within so short a time is synced for each batch of replies, not once a second.
const SYNCED_OFTEN: Duration = Duration::from_millis(100);

/// In a file that is synced often, so much is blanked ahead at once, and made durable by the sync that is due anyway.
/// Later syncs then only overwrite: they allocate nothing, so the file system need not commit its journal for them.
const SYNCED_AHEAD_BYTES: u64 = 1024 * 1024;

/// It is blanked again when less than this is left. A load that writes more between two syncs gains nothing from it.
const SYNCED_AHEAD_LEAST_BYTES: u64 = 64 * 1024;

/// In such pieces: a sync writes whole pieces of page cache, as large as they were when they were blanked.
const SYNCED_PIECE_BYTES: u64 = 4 * 1024;

static BLANK: [u8; BLANK_STEP_BYTES as usize] = [0; BLANK_STEP_BYTES as usize];

/// A scratch buffer for large reads is kept by its thread up to this size.
const SCRATCH_KEPT_BYTES: usize = 1024 * 1024;

/// The kernel takes at most this many parts in one write (IOV_MAX).
const PARTS_MAX: usize = 1024;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The mapped beginning of a file, or nothing.
type Window = Option<Arc<MmapRaw>>;

/// One file; the only one for its name in this process.
pub struct MappedFile {
    file: File,
    /// For errors.
    name: String,
    /// Whether the file system is fit for mapping.
    maps: bool,
    window: Gate<Window>,
    /// Bytes that are written and can be read.
    length: AtomicU64,
    writer: Mutex<Writer>,
}

struct Writer {
    /// Length of the file as the file system knows it.
    allocated: u64,
    /// By how much the file grows at once.
    step: u64,
    /// The file is in the page cache up to this offset: written, or blanked.
    blanked: u64,
    /// The writable mapping, once there has been an append.
    window: Window,
    /// Whether the system refused such a mapping.
    is_refused: bool,
    /// When the file was last synced, and the length that it had.
    synced: Option<(Instant, u64)>,
    /// Whether syncs follow each other soon with few bytes between them.
    is_synced_soon: bool,
}

impl MappedFile {
    /// Takes over an open file of any length. `maps` says whether its file system is fit for mapping.
    ///
    /// # Errors
    /// The file's length cannot be read.
    pub fn new(file: File, name: &str, maps: bool) -> Result<MappedFile> {
        let length = file.metadata().map_err(|error| failed("cannot look at", name, &error))?.len();
        let window = if maps { sealed_window(&file, length) } else { None };
        let writer = Writer {
            allocated: length,
            step: ALLOCATION_STEP_BYTES,
            blanked: 0,
            window: None,
            is_refused: false,
            synced: None,
            is_synced_soon: false,
        };
        Ok(MappedFile {
            file,
            name: name.to_string(),
            maps,
            window: Gate::new(window),
            length: AtomicU64::new(length),
            writer: Mutex::new(writer),
        })
    }

    /// Bytes that can be read: those written in this process, and those in the file when it was opened.
    pub fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// The file, to be read from.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Writes `parts`, concatenated, at `offset`; between the old end and `offset` there are zeros. If the file must grow for it,
    /// `leave_bytes` stay free on the file system.
    ///
    /// # Errors
    /// The disk is full or fails. Bytes below the old length have not changed unless `offset` is below it.
    pub fn write(&self, offset: u64, parts: &[&[u8]], leave_bytes: u64) -> Result<()> {
        let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let end = offset.checked_add(total).ok_or_else(|| self.too_large())?;
        let mut writer = self.writer.lock();
        // Only the holder of the writer's lock changes `length`.
        let length = self.length.load(Ordering::Relaxed);
        self.allocate(&mut writer, end, total, leave_bytes)?;
        if offset < length {
            // Rare (never by the log): readers may be looking at these bytes, so they are asked out first.
            let _closed = self.window.close();
            self.write_through(offset, parts)?;
        } else if !self.copy_into_window(&mut writer, offset, end, parts)? {
            self.write_through(offset, parts).inspect_err(|_| self.give_back(&mut writer))?;
        }
        self.length.store(end.max(length), Ordering::Release);
        Ok(())
    }

    /// Shows `len` bytes at `offset`. `visit` may read any file, but must not write to this one.
    ///
    /// # Errors
    /// The file is shorter than that, or the disk fails.
    pub fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let end = offset.checked_add(len).ok_or_else(|| self.too_short(offset, len))?;
        if len <= MAPPED_READ_MAX_BYTES {
            let inside = self.window.enter();
            if end > self.length() {
                return Err(self.too_short(offset, len));
            }
            if let Some(window) = inside.as_ref().filter(|window| end <= window.len() as u64) {
                // Lossless: `end` fits into the mapping, whose length is a usize.
                let (offset, len) = (offset as usize, len as usize);
                // SAFETY: the range ends within the mapping and below a `length` loaded inside the gate, which we do
                // not leave before the slice is gone: points 1 to 4 of the argument above.
                visit(unsafe { std::slice::from_raw_parts(window.as_ptr().add(offset), len) });
                return Ok(());
            }
        } else if end > self.length() {
            return Err(self.too_short(offset, len));
        }
        self.read_through(offset, len, visit)
    }

    /// Makes contents and length survive the loss of power. fdatasync covers writes through the mapping, too.
    ///
    /// # Errors
    /// The disk fails. The sync must never be tried again: the kernel may have dropped the bytes.
    pub fn sync(&self) -> Result<()> {
        self.blank_ahead();
        self.file.sync_data().map_err(|error| failed("cannot sync", &self.name, &error))
    }

    /// Cuts or extends (with zeros) the file. It gives back preallocated space, and until the next append the file is mapped
    /// for reading only.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn set_len(&self, len: u64) -> Result<()> {
        let mut writer = self.writer.lock();
        let length = self.length.load(Ordering::Relaxed);
        let mut closed = self.window.close();
        closed.replace(&None);
        writer.window = None;
        let common = len.min(length);
        self.length.store(common, Ordering::Release);
        (writer.allocated, writer.blanked) = (common, 0);
        if len > length {
            // Bytes of a failed append or of the preallocation behind the end must not show.
            self.cut_file(length)?;
        }
        self.cut_file(len)?;
        writer.allocated = len;
        self.length.store(len, Ordering::Release);
        if self.maps {
            closed.replace(&sealed_window(&self.file, len));
        }
        Ok(())
    }

    /// Makes the file at least `end` bytes long for a write of so many bytes; if it is fit for mapping, with blocks behind every
    /// byte.
    fn allocate(&self, writer: &mut Writer, end: u64, written: u64, leave_bytes: u64) -> Result<()> {
        if end <= writer.allocated {
            return Ok(());
        }
        let free = self.free_bytes().saturating_sub(leave_bytes);
        // A hole takes no room where nothing is allocated for it.
        let hole = if self.maps { 0 } else { (end - writer.allocated).saturating_sub(written) };
        let space_end = writer.allocated.saturating_add(hole).saturating_add(free);
        // What others could use is not taken long before it is needed.
        let step = if free / STEP_PART < writer.step { SMALL_STEP_BYTES } else { writer.step };
        let whole_step = end.checked_next_multiple_of(step).unwrap_or(end).min(space_end);
        if whole_step < end {
            return Err(failed_errno("cannot grow", &self.name, Errno::NOSPC));
        }
        if !self.maps {
            // Writes allocate by themselves and report a full disk; this only leaves the reserve free.
            writer.allocated = whole_step;
            return Ok(());
        }
        let mut outcome = self.allocate_to(writer, whole_step);
        if matches!(outcome, Err(StorageError::Full(_))) && end < whole_step {
            // A quota, or another process took the space. This write may still fit, and a few more.
            writer.step = SMALL_STEP_BYTES;
            outcome = self.allocate_to(writer, end);
        }
        outcome
    }

    fn allocate_to(&self, writer: &mut Writer, target: u64) -> Result<()> {
        let from = writer.allocated;
        let outcome = loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), from, target - from) {
                Err(Errno::INTR) => {}
                outcome => break outcome,
            }
        };
        match outcome {
            Ok(()) => writer.allocated = target,
            Err(_) => self.give_back(writer),
        }
        outcome.map_err(|error| failed_errno("cannot grow", &self.name, error))
    }

    /// Bytes that are free on this file system. If that is unknown there is no bound: the disk itself reports when it is full.
    fn free_bytes(&self) -> u64 {
        let facts = rustix::fs::fstatvfs(&self.file);
        facts.map_or(u64::MAX, |facts| facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// Copies a small append into the mapping; false if it is large or does not lie inside, and is to be written otherwise. The
    /// file is long enough already.
    fn copy_into_window(&self, writer: &mut Writer, offset: u64, end: u64, parts: &[&[u8]]) -> Result<bool> {
        if !self.maps || writer.is_refused || end > RESERVED_BYTES as u64 {
            return Ok(false);
        }
        let Some(window) = writer.window.clone().or_else(|| self.reserve_window(writer)) else {
            return Ok(false);
        };
        let len = end - offset;
        let is_long = len >= MAPPED_WRITE_BELOW_BYTES;
        // The longest bring large pieces of their own. A sync that is due soon would write the zeros behind a long one as well.
        let gains = !is_long || len < BLANK_STEP_BYTES && !writer.is_synced_soon;
        if end > writer.blanked && gains {
            self.blank(writer, offset, end)?;
        }
        if is_long {
            return Ok(false);
        }
        // Lossless: below RESERVED_BYTES.
        let mut at = offset as usize;
        for part in parts {
            // SAFETY: the parts end at `end`, within the mapping and within the file; only the holder of the writer's lock, which
            // is this thread, reads or writes at or above `length`: points 1 to 3 of the argument above. `part` cannot
            // overlap it, since slices of the mapping end below `length`.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), window.as_mut_ptr().add(at), part.len()) };
            at += part.len();
        }
        Ok(true)
    }

    /// Writes zeros from the append at `offset` to beyond its end. No reader may read there yet.
    fn blank(&self, writer: &mut Writer, offset: u64, end: u64) -> Result<()> {
        let mut from = writer.blanked.max(offset);
        let to = (end + 1).next_multiple_of(BLANK_STEP_BYTES).min(writer.allocated);
        while from < to {
            // Lossless: at most one step.
            let len = (to - from).min(BLANK_STEP_BYTES) as usize;
            self.write_through(from, &[&BLANK[..len]])?;
            from += len as u64;
        }
        writer.blanked = to;
        Ok(())
    }

    /// If the file is synced often, writes zeros for many later appends, which the sync that follows makes durable. A failure
    /// is no loss: appends into space without zeros only cost more.
    fn blank_ahead(&self) {
        let mut writer = self.writer.lock();
        let (now, length) = (Instant::now(), self.length.load(Ordering::Relaxed));
        let Some((when, reached)) = writer.synced.replace((now, length)) else { return };
        let is_often = now.duration_since(when) < SYNCED_OFTEN;
        let appended_bytes = length.saturating_sub(reached);
        writer.is_synced_soon = is_often && appended_bytes < SYNCED_AHEAD_BYTES;
        let is_much = appended_bytes > SYNCED_AHEAD_LEAST_BYTES;
        if !is_often || is_much || writer.blanked >= length + SYNCED_AHEAD_LEAST_BYTES {
            return;
        }
        while writer.window.is_some() {
            let from = writer.blanked.max(self.length.load(Ordering::Relaxed));
            let target = (length + SYNCED_AHEAD_BYTES).min(writer.allocated);
            if from >= target {
                break;
            }
            let to = (from + 1).next_multiple_of(SYNCED_PIECE_BYTES).min(target);
            // Lossless: at most one piece.
            if self.write_through(from, &[&BLANK[..(to - from) as usize]]).is_err() {
                break;
            }
            writer.blanked = to;
            // Appends may go on in between.
            drop(writer);
            writer = self.writer.lock();
        }
    }

    /// Makes the writable mapping; none if the system refuses it, which it is not asked again for this file.
    fn reserve_window(&self, writer: &mut Writer) -> Window {
        let Ok(window) = MmapOptions::new().len(RESERVED_BYTES).map_raw(&self.file) else {
            writer.is_refused = true;
            return None;
        };
        let window = Arc::new(window);
        read_no_neighbours(&window);
        writer.window = Some(window.clone());
        self.window.close().replace(&writer.window);
        Some(window)
    }

    fn write_through(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        let mut at = offset;
        let mut rest: SmallVec<[IoSlice<'_>; 4]> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut rest = rest.as_mut_slice();
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let batch = &rest[..rest.len().min(PARTS_MAX)];
            match rustix::io::pwritev(&self.file, batch, at) {
                Ok(0) => return Err(failed_errno("cannot write to", &self.name, Errno::IO)),
                Ok(written) => {
                    at += written as u64;
                    IoSlice::advance_slices(&mut rest, written);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed_errno("cannot write to", &self.name, error)),
            }
        }
        Ok(())
    }

    fn read_through(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let len = usize::try_from(len).map_err(|_| self.too_short(offset, len))?;
        // Taken rather than borrowed: `visit` may read, too.
        let mut scratch = SCRATCH.take();
        if scratch.len() < len {
            scratch.resize(len, 0);
        }
        let outcome = self.file.read_exact_at(&mut scratch[..len], offset);
        if outcome.is_ok() {
            visit(&scratch[..len]);
        }
        if scratch.len() <= SCRATCH_KEPT_BYTES {
            SCRATCH.set(scratch);
        }
        outcome.map_err(|error| failed("cannot read", &self.name, &error))
    }

    /// Cuts the file to its readable length after a failed append, so that space is free for other files and no bytes of the
    /// failed append show up later. A failure is no loss.
    fn give_back(&self, writer: &mut Writer) {
        let length = self.length.load(Ordering::Relaxed);
        (writer.allocated, writer.blanked) = (length, 0);
        let _ = self.file.set_len(length);
    }

    fn cut_file(&self, len: u64) -> Result<()> {
        self.file.set_len(len).map_err(|error| failed("cannot cut", &self.name, &error))
    }

    fn too_short(&self, offset: u64, len: u64) -> StorageError {
        StorageError::Missing(format!(
            "{}: {len} bytes at {offset}, the file has {}",
            self.name,
            self.length()
        ))
    }

    fn too_large(&self) -> StorageError {
        StorageError::Full(format!("{} cannot grow that far", self.name))
    }
}

/// A mapping of a whole file for reading only; none of an empty one, of one too large for this machine, or where the system
/// refuses it.
fn sealed_window(file: &File, length: u64) -> Window {
    let length = usize::try_from(length).ok().filter(|length| *length > 0 && RESERVED_BYTES > 0)?;
    let window = MmapOptions::new().len(length).map_raw_read_only(file).ok()?;
    read_no_neighbours(&window);
    Some(Arc::new(window))
}

/// A record on a cold page must not drag 128 KiB of its neighbours into memory. Only advice: failing is no harm.
fn read_no_neighbours(window: &MmapRaw) {
    let _ = window.advise(Advice::Random);
}
