//! The file of users (`aclfile`): a line `user <name> <rule> <rule> …` each, split at
//! spaces alone. The texts of errors are Redis'.

use std::sync::Arc;

use super::rule::{RuleError, is_name, merge_selectors};
use super::user::User;

/// The users of a file. Empty lines say nothing.
///
/// # Errors
/// All that is wrong, in one text; `path` names the file in it.
pub fn parse(text: &[u8], path: &str, all_channels: bool) -> Result<Vec<Arc<User>>, String> {
    let mut users: Vec<Arc<User>> = Vec::new();
    let mut errors = String::new();
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match parse_line(line, (path, number), &users, all_channels) {
            Ok(user) => users.push(Arc::new(user)),
            Err(error) => errors.push_str(&error),
        }
    }
    if errors.is_empty() {
        return Ok(users);
    }
    errors
        .push_str("WARNING: ACL errors detected, no change to the previously active ACL rules was performed");
    Err(errors)
}

fn parse_line(
    line: &[u8],
    (path, number): (&str, u64),
    known: &[Arc<User>],
    all_channels: bool,
) -> Result<User, String> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [b"user", name, rules @ ..] = words.as_slice() else {
        return Err(format!("{path}:{number} should start with user keyword followed by the username. "));
    };
    if !is_name(name) {
        return Err(format!("{path}:{number}: username contains invalid characters. "));
    }
    if known.iter().any(|user| user.name() == *name) {
        let shown = String::from_utf8_lossy(name);
        return Err(format!("WARNING: Duplicate user '{shown}' found on line {number}. "));
    }
    let rules = merge_selectors(rules).map_err(|rule| {
        let shown = String::from_utf8_lossy(&rule);
        format!("{path}:{number}: Unmatched parenthesis in selector definition starting at '{shown}'. ")
    })?;
    let mut user = User::new(name, all_channels);
    let mut errors = String::new();
    for rule in &rules {
        match user.apply(rule, all_channels) {
            Ok(()) => {}
            Err(error @ RuleError::Unknown) => {
                let shown = String::from_utf8_lossy(rule);
                errors
                    .push_str(&format!("{path}:{number}: Error in applying operation '{shown}': {error}. "));
            }
            Err(error) => {
                errors.push_str(&format!("{path}:{number}: {error}. "));
            }
        }
    }
    if errors.is_empty() { Ok(user) } else { Err(errors) }
}

/// The file of these users.
pub fn print(users: &[Arc<User>]) -> Vec<u8> {
    let mut text = Vec::new();
    for user in users {
        for part in [b"user ", user.name(), b" ", &user.rules(), b"\n"] {
            text.extend_from_slice(part);
        }
    }
    text
}
