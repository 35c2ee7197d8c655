//! Access control lists: users, what each may do, and the check that every request passes.
//!
//! ```text
//!  rule texts (ACL SETUSER, the file of users, the catalog of the store)
//!     |  parsed once
//!  User: passwords as hashes, and selectors: a bitmap over the rows of the catalog, patterns of keys, patterns of channels
//!     |  Access::check, for each request
//!  Permit, or a Denial that says what was missing
//! ```
//!
//! The rules, their order and their texts are those of Redis 7.2 (<https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/>).
//! A request is allowed if one selector of the user allows all of it: the command, its keys and its channels.
//!
//! A [`Permit`] is made nowhere else, and no handler runs without one. Passwords are kept and shown as SHA-256 only. This module
//! knows neither connections nor the store: `server` shares a [`Registry`], `command` keeps users in the store and writes the log.

mod channels;
mod check;
mod commands;
mod denial;
mod denial_log;
mod password;
mod patterns;
mod registry;
mod rule;
mod selector;
mod user;
mod users_file;
#[cfg(test)]
mod tests;

pub use channels::ChannelUse;
pub use check::{Access, Permit};
pub use denial::{Denial, Reason};
pub use denial_log::{Context, DenialLog, Entry};
pub use password::Password;
pub use registry::{Change, Registry};
pub use rule::{RuleError, is_name, merge_selectors};
pub use selector::Selector;
pub use user::{DEFAULT_USER, User};
pub use users_file::{parse as parse_users_file, print as print_users_file};
