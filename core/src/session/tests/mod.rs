//! Tests of sessions, and of everything that only shows in one.

mod commands;
