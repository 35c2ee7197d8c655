//! A device in memory.
