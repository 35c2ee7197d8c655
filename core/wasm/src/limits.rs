//! How large a module may be. What a run may take is in [`RunLimits`](edgecask_core::script::RunLimits).

/// Bytes of a module. A guest in Rust with an allocator and a JSON parser has some 100 kB.
pub(crate) const MODULE_BYTES_MAX: u64 = 4 << 20;

/// Bytes of code of a module: a compiler needs up to some 2 µs for each, and nothing can stop it half-way.
pub(crate) const CODE_BYTES_MAX: u64 = 1 << 20;

/// A module may have one byte of source for so many bytes that a run may take: interpreted, it takes four bytes of memory for each.
/// Only homes with little memory notice.
pub(crate) const MEMORY_PER_MODULE_BYTE: u64 = 2;

/// A module may have one byte of code for so many bytes that a run may take, as code grows most.
pub(crate) const MEMORY_PER_CODE_BYTE: u64 = 8;

/// One reply, one command and one answer may have this part of the memory of a run. A reply is in memory as the flat value and as the
/// guest reads it, an answer as the guest wrote it and as the flat value, and buffers grow by doubling, so that a run takes about three
/// times its memory at most; homes with little memory give it a quarter of what is left.
pub(crate) const BUFFER_PART: usize = 4;

/// Bytes of code of one function: a few steps of the compiler take more than linear time.
pub(crate) const BODY_BYTES_MAX: u64 = 64 << 10;

/// Local variables of one function; they can be announced in a few bytes, and each takes room on the stack.
pub(crate) const LOCALS_MAX: u64 = 2_000;

/// Entries of any section. Each becomes something larger in memory than it was in the module.
pub(crate) const ENTRIES_MAX: u64 = 20_000;

/// Bytes of any section but code and data, for the same reason: a reference of one byte becomes a hundred.
pub(crate) const SECTION_BYTES_MAX: u64 = 256 << 10;

/// Tables of a module: compilers of today make one.
pub(crate) const TABLES_MAX: u64 = 4;

/// Elements of a table, 16 bytes each.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 20_000;

/// Bytes of a page of linear memory.
pub(crate) const PAGE_BYTES: u64 = 64 << 10;

/// Functions that one library registers.
pub(crate) const FUNCTIONS_MAX: usize = 1_000;

/// Arguments of one command.
pub(crate) const ARGUMENTS_MAX: u32 = 100_000;

/// Bytes of one line of the log, as with Redis.
pub(crate) const LOG_LINE_BYTES_MAX: usize = 1_024;

/// An instance whose memory has grown beyond this is thrown away after the run, so that guests that never free their memory take
/// no more than this for long.
pub(crate) const KEPT_MEMORY_BYTES: usize = 4 << 20;

/// Bytes of native stack, or of the interpreter's own, for the calls of a guest.
pub(crate) const STACK_BYTES: usize = 256 << 10;

/// Calls of a guest within each other, where an interpreter counts them.
#[cfg_attr(not(feature = "wasmi"), expect(dead_code))]
pub(crate) const CALL_DEPTH_MAX: usize = 5_000;

/// So deep may the value be nested that a function answers, as replies of commands.
pub(crate) const DEPTH_MAX: usize = 64;
