//! The VFS by which SQLite reaches the pages of the host, and the lease of that host. With `ffi`, `table_ffi`,
//! `page_cache` and `allocator` the only files with unsafe code.
//!
//! There is one file, the main database. Journals and temporary tables are in SQLite's own memory (`journal_mode=MEMORY`,
//! `SQLITE_TEMP_STORE=3`), so nothing else is ever opened.
//!
//! As WebAssembly there is no system below SQLite: this is its only VFS then.
//!
//! Invariants, on which every unsafe block here rests:
//! - A [`Shared`] is allocated once for a connection, never moves, and outlives it: `ffi::Inner` frees it after the connection is closed.
//! - SQLite calls the VFS only inside a call that `ffi` makes, on the thread of that call. All but opening and closing happen inside
//!   [`Shared::lend`], so [`CURRENT`] is the connection that is at work.
//! - The pointer to a host is set only while [`Lease::lend`] runs, and is out of its cell while [`Lease::with`] uses it: there are never
//!   two references to one host.
//! - No panic reaches C: [`Shared::guarded`] catches it.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;

use edgecask_core::sql::SqlHost;
use rusqlite::ffi;

use crate::allocator;
use crate::function::fill_random;
use crate::page_cache;
use crate::shared::Shared;

/// The name of the VFS.
pub(crate) const NAME: &CStr = c"edgecask";

/// The name of the only file.
pub(crate) const FILE: &CStr = c"main";

/// Longer than that of the only file.
const NAME_BYTES_MAX: c_int = 64;

/// The host that is lent for a call.
#[derive(Default)]
pub(crate) struct Lease {
    host: Cell<Option<NonNull<dyn SqlHost>>>,
}

impl Lease {
    /// Lends the host while `act` runs; None if one is lent already.
    fn lend<R>(&self, host: &mut dyn SqlHost, act: impl FnOnce() -> R) -> Option<R> {
        struct Back<'a>(&'a Cell<Option<NonNull<dyn SqlHost>>>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.set(None);
            }
        }
        if self.host.get().is_some() {
            return None;
        }
        // SAFETY: only the lifetime changes. The pointer is gone from the cell when this function ends, by a panic too.
        let host = unsafe { std::mem::transmute::<&mut dyn SqlHost, NonNull<dyn SqlHost>>(host) };
        self.host.set(Some(host));
        let _back = Back(&self.host);
        Some(act())
    }

    /// Uses the host; None if none is lent, or it is in use.
    pub fn with<R>(&self, act: impl FnOnce(&mut dyn SqlHost) -> R) -> Option<R> {
        struct Back<'a>(&'a Cell<Option<NonNull<dyn SqlHost>>>, NonNull<dyn SqlHost>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.set(Some(self.1));
            }
        }
        let mut host = self.host.take()?;
        let _back = Back(&self.host, host);
        // SAFETY: `lend` is running, so the host lives, and the cell is empty, so nothing else uses it.
        Some(act(unsafe { host.as_mut() }))
    }
}

thread_local! {
    /// The connection that is at work on this thread. SQLite asks for the time without saying for which.
    static CURRENT: Cell<*const Shared> = const { Cell::new(null()) };
}

impl Shared {
    /// Lends the host to the connection while `act` runs; None if it has one.
    pub fn lend<R>(&self, host: &mut dyn SqlHost, act: impl FnOnce() -> R) -> Option<R> {
        struct Back(*const Shared);
        impl Drop for Back {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        self.lease.lend(host, || {
            let _back = Back(CURRENT.replace(self));
            // What was asked for outside of statements, and in those that ended before they were asked, is not this one's.
            #[cfg(target_arch = "wasm32")]
            if _back.0.is_null() {
                allocator::take_allocated_bytes();
            }
            act()
        })
    }
}

/// What SQLite keeps of an open file.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    shared: *const Shared,
}

/// Safety: the file was opened by `x_open` and is not closed.
unsafe fn shared<'a>(file: *mut ffi::sqlite3_file) -> &'a Shared {
    unsafe { &*(*file.cast::<File>()).shared }
}

unsafe extern "C" fn x_close(_file: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_read(
    file: *mut ffi::sqlite3_file,
    out: *mut c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives an open file and a buffer of its own of this length.
    let (shared, out) = unsafe {
        (shared(file), std::slice::from_raw_parts_mut(out.cast::<u8>(), usize::try_from(len).unwrap_or(0)))
    };
    shared.guarded(ffi::SQLITE_IOERR_READ, || shared.read(offset, out))
}

unsafe extern "C" fn x_write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    len: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: as in `x_read`.
    let (shared, bytes) = unsafe {
        (shared(file), std::slice::from_raw_parts(bytes.cast::<u8>(), usize::try_from(len).unwrap_or(0)))
    };
    shared.guarded(ffi::SQLITE_IOERR_WRITE, || shared.write(offset, bytes))
}

unsafe extern "C" fn x_truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite gives an open file.
    let shared = unsafe { shared(file) };
    shared.guarded(ffi::SQLITE_IOERR_TRUNCATE, || shared.truncate(size))
}

unsafe extern "C" fn x_sync(_file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite gives an open file.
    let shared = unsafe { shared(file) };
    let mut bytes = 0;
    let code = shared.guarded(ffi::SQLITE_IOERR_FSTAT, || match shared.file_bytes() {
        Ok(size) => {
            bytes = size;
            ffi::SQLITE_OK
        }
        Err(code) => code,
    });
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *size = bytes };
    code
}

/// The lock of the key is the lock of the database. The host may have somebody who is to write first.
unsafe extern "C" fn x_lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    if level != ffi::SQLITE_LOCK_RESERVED {
        return ffi::SQLITE_OK;
    }
    // SAFETY: SQLite gives an open file.
    let shared = unsafe { shared(file) };
    shared.guarded(ffi::SQLITE_BUSY, || shared.reserve())
}

unsafe extern "C" fn x_unlock(_file: *mut ffi::sqlite3_file, _level: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_check_reserved_lock(_file: *mut ffi::sqlite3_file, is_locked: *mut c_int) -> c_int {
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *is_locked = 0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_file_control(
    _file: *mut ffi::sqlite3_file,
    _what: c_int,
    _value: *mut c_void,
) -> c_int {
    ffi::SQLITE_NOTFOUND
}

/// Not above the size of a page, else SQLite writes several for one.
unsafe extern "C" fn x_sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    512
}

/// A transaction of the host writes all or nothing.
unsafe extern "C" fn x_device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_ATOMIC
        | ffi::SQLITE_IOCAP_SAFE_APPEND
        | ffi::SQLITE_IOCAP_SEQUENTIAL
        | ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(x_close),
    xRead: Some(x_read),
    xWrite: Some(x_write),
    xTruncate: Some(x_truncate),
    xSync: Some(x_sync),
    xFileSize: Some(x_file_size),
    xLock: Some(x_lock),
    xUnlock: Some(x_unlock),
    xCheckReservedLock: Some(x_check_reserved_lock),
    xFileControl: Some(x_file_control),
    xSectorSize: Some(x_sector_size),
    xDeviceCharacteristics: Some(x_device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn x_open(
    _vfs: *mut ffi::sqlite3_vfs,
    _name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let shared = CURRENT.get();
    let is_main = flags & ffi::SQLITE_OPEN_MAIN_DB != 0 && !shared.is_null();
    // SAFETY: SQLite gives `szOsFile` bytes for the file, and null or a place for the flags. Without methods the file is not open.
    unsafe {
        let methods = if is_main { &raw const METHODS } else { null() };
        file.cast::<File>().write(File { base: ffi::sqlite3_file { pMethods: methods }, shared });
        if !out_flags.is_null() {
            *out_flags = flags;
        }
    }
    if is_main { ffi::SQLITE_OK } else { ffi::SQLITE_CANTOPEN }
}

unsafe extern "C" fn x_delete(_vfs: *mut ffi::sqlite3_vfs, _name: *const c_char, _sync: c_int) -> c_int {
    ffi::SQLITE_OK
}

/// No journal is left over from before.
unsafe extern "C" fn x_access(
    _vfs: *mut ffi::sqlite3_vfs,
    _name: *const c_char,
    _flags: c_int,
    exists: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *exists = 0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_full_pathname(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    len: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: SQLite gives a text and a buffer of this length.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes_with_nul();
        if name.len() > usize::try_from(len).unwrap_or(0) {
            return ffi::SQLITE_CANTOPEN;
        }
        std::ptr::copy_nonoverlapping(name.as_ptr().cast(), out, name.len());
    }
    ffi::SQLITE_OK
}

/// The seed of SQLite's own numbers, where there is no system's VFS that gives it; `random()` is ours. Once in a process, when a connection
/// first needs one.
unsafe extern "C" fn x_randomness(_vfs: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) -> c_int {
    let shared = CURRENT.get();
    if shared.is_null() || len <= 0 {
        return 0;
    }
    // SAFETY: it is set only while that connection is at work; SQLite gives a buffer of this length.
    let (shared, out) = unsafe {
        (&*shared, std::slice::from_raw_parts_mut(out.cast::<u8>(), usize::try_from(len).unwrap_or(0)))
    };
    let seed = shared.guarded(None, || shared.lease.with(|host| host.random()));
    fill_random(seed.unwrap_or_default(), out);
    len
}

unsafe extern "C" fn x_sleep(_vfs: *mut ffi::sqlite3_vfs, _microseconds: c_int) -> c_int {
    0
}

/// Days from the begin of the Julian calendar to that of Unix time, in milliseconds.
const UNIX_EPOCH_JULIAN_MS: i64 = 210_866_760_000_000;

fn julian_ms() -> i64 {
    let shared = CURRENT.get();
    if shared.is_null() {
        return UNIX_EPOCH_JULIAN_MS;
    }
    // SAFETY: it is set only while that connection is at work.
    let shared = unsafe { &*shared };
    let now_ms = shared.guarded(None, || shared.lease.with(|host| host.now_ms()));
    UNIX_EPOCH_JULIAN_MS.saturating_add(now_ms.and_then(|now_ms| i64::try_from(now_ms).ok()).unwrap_or(0))
}

unsafe extern "C" fn x_current_time(_vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *out = julian_ms() as f64 / 86_400_000.0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_current_time_ms(_vfs: *mut ffi::sqlite3_vfs, out: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *out = julian_ms() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn x_last_error(_vfs: *mut ffi::sqlite3_vfs, _len: c_int, _out: *mut c_char) -> c_int {
    0
}

/// The VFS. SQLite writes into it, so there is one for the process.
fn vfs() -> *mut ffi::sqlite3_vfs {
    Box::leak(Box::new(ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: size_of::<File>() as c_int,
        mxPathname: NAME_BYTES_MAX,
        pNext: null_mut(),
        zName: NAME.as_ptr(),
        pAppData: null_mut(),
        xOpen: Some(x_open),
        xDelete: Some(x_delete),
        xAccess: Some(x_access),
        xFullPathname: Some(x_full_pathname),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(x_randomness),
        xSleep: Some(x_sleep),
        xCurrentTime: Some(x_current_time),
        xGetLastError: Some(x_last_error),
        xCurrentTimeInt64: Some(x_current_time_ms),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }))
}

/// Makes SQLite ready, once for the process, and answers its result code. To be called before anything else of SQLite.
pub(crate) fn register() -> c_int {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        let code = allocator::configure();
        // Somebody else in a native process may have initialized SQLite: it keeps its own memory then, which is slower and no error.
        if cfg!(target_arch = "wasm32") && code != ffi::SQLITE_OK {
            return code;
        }
        page_cache::configure();
        // SAFETY: all that is called before is the configuration; the VFS stays for as long as the process.
        #[cfg(target_arch = "wasm32")]
        unsafe {
            ffi::sqlite3_initialize()
        }
        // SAFETY: the same.
        #[cfg(not(target_arch = "wasm32"))]
        unsafe {
            ffi::sqlite3_vfs_register(vfs(), 0)
        }
    })
}

/// SQLite's initialization asks for the VFS of the system. It does so once.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn sqlite3_os_init() -> c_int {
    // SAFETY: the VFS stays for as long as the process.
    unsafe { ffi::sqlite3_vfs_register(vfs(), 1) }
}

/// See [`sqlite3_os_init`].
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn sqlite3_os_end() -> c_int {
    ffi::SQLITE_OK
}
