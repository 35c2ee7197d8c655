//! Every bound of the engine, with its reason.

use std::ffi::c_int;

use edgecask_core::sql;

/// Bytes of one statement, at most. A schema is stored as statements and read back under the same bound, so it must never shrink.
pub const STATEMENT_BYTES_MAX: c_int = 1024 * 1024;

/// Bytes of a value while a statement is described: the statements of the schema are values of a table, and nothing else is read.
pub const DESCRIBE_VALUE_BYTES: usize = 2 * STATEMENT_BYTES_MAX as usize;

/// Columns of a table, a result or an index: some of SQLite's work grows with their square.
pub const COLUMNS_MAX: c_int = 1000;

/// Levels of an expression; SQLite walks it by recursion. A chain of so many ANDs is one, as programs generate it.
pub const EXPRESSION_DEPTH_MAX: c_int = 1000;

/// SELECTs in one UNION: also walked by recursion.
pub const COMPOUND_SELECTS_MAX: c_int = 200;

/// Instructions of a compiled statement, each of about 24 bytes. The longest text gives a fifth of them.
pub const PROGRAM_STEPS_MAX: c_int = 2_000_000;

/// Arguments of a function, of `redis` too.
pub const FUNCTION_ARGUMENTS_MAX: c_int = 127;

/// Databases beside the main one: one, which VACUUM attaches for itself.
pub const ATTACHED_MAX: c_int = 1;

/// Bytes of a pattern of LIKE or GLOB. A match costs up to their product with the text, and nothing can stop it.
pub const PATTERN_BYTES_MAX: c_int = 1000;

/// The highest number of a parameter, as SQLite has it; clients insert many rows by one statement.
pub const PARAMETERS_MAX: c_int = 32_766;

/// Triggers that set off triggers.
pub const TRIGGER_DEPTH_MAX: c_int = 100;

/// Threads that help a sort: the server has its own.
pub const SORT_THREADS_MAX: c_int = 0;

/// Steps of SQLite's machine between two ticks, as hosts count on.
pub const STEPS_OF_A_TICK: c_int = sql::STEPS_OF_A_TICK as c_int;

/// Bytes that SQLite allocates take as long as a tick.
#[cfg(target_arch = "wasm32")]
pub const ALLOCATED_BYTES_OF_A_TICK: u64 = 8 * 1024;

/// Texts whose statements stay prepared.
pub const CACHED_TEXTS_MAX: usize = 128;

/// A longer text is hardly sent twice, and comparing it costs as much as it saves.
pub const CACHED_TEXT_BYTES_MAX: usize = 8 * 1024;

/// Bytes of prepared statements, by SQLite's count. A SELECT takes 2 to 5 KB.
pub const CACHED_STATEMENT_BYTES_MAX: usize = 1024 * 1024;

/// Pages that a connection keeps in memory, in KiB, if the engine is not told otherwise. More than that is written to the host early.
pub const CACHE_KIB: u32 = 8 * 1024;

/// A buffer that grew beyond this is given back after the call.
pub const KEPT_BUFFER_BYTES: usize = 64 * 1024;

/// Functions of libraries that a connection knows at a time.
pub const LIBRARY_FUNCTIONS_MAX: usize = 256;

/// Rows that a table over a key reads at a time, at first: many statements want one.
pub const TABLE_ROWS_FIRST: i64 = 16;

/// Rows that it reads at a time, at most.
pub const TABLE_ROWS_MAX: i64 = 128;

/// Bytes of the rows that it reads at a time, beyond which it asks for fewer.
pub const TABLE_BATCH_BYTES: usize = 256 * 1024;

/// Bytes that one table over a graph holds: some four million nodes, or at the edge as much as the pages of all databases together.
pub const GRAPH_BYTES_MAX: usize = if cfg!(target_arch = "wasm32") { 8 << 20 } else { 256 << 20 };

/// Edges that are read between two questions whether a table over a graph may go on: some 20 µs.
pub const GRAPH_EDGES_OF_A_TICK: usize = 128;

/// Tables over graphs whose edges are read from each other, each level of which is on the stack.
pub const GRAPH_DEPTH_MAX: u32 = 4;

/// Types of edges that are asked for at a time: each edge is compared with them.
pub const GRAPH_TYPES_MAX: usize = 64;

/// Statements that read edges and stay prepared.
pub const GRAPH_QUERIES_MAX: usize = 16;

/// Rounds of the rank of pages, of which each brings it nearer to the end by the factor of the damping.
pub const GRAPH_RANK_ROUNDS_MAX: usize = 100;

/// SQLite's own bounds of a page.
pub const PAGE_BYTES_MIN: usize = 512;
/// See [`PAGE_BYTES_MIN`].
pub const PAGE_BYTES_MAX: usize = 65_536;
