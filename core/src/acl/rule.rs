//! What all rules have in common: why one is refused, what may stand in a name, and selectors that came as several arguments.

/// Why a rule is refused, in Redis' words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A command or a category that there is not.
    #[error("Unknown command or category name in ACL")]
    Unknown,
    /// The rule means nothing.
    #[error("Syntax error")]
    Syntax,
    /// A pattern behind the one that matches all keys.
    #[error(
        "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try \
         'resetkeys' to start with an empty list of patterns"
    )]
    BehindAllKeys,
    /// A pattern behind the one that matches all channels.
    #[error(
        "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try \
         'resetchannels' to start with an empty list of channels"
    )]
    BehindAllChannels,
    /// The user does not have this password.
    #[error("The password you are trying to remove from the user does not exist")]
    NoSuchPassword,
    /// No SHA-256 in lower-case hexadecimal digits.
    #[error(
        "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
    )]
    NoHash,
    /// `+command|subcommand|argument`.
    #[error("Allowing first-arg of a subcommand is not supported")]
    ArgumentOfSubcommand,
}

/// Whether a text may be a user's name: no white space as C's `isspace` has it, and no zero byte.
pub fn is_name(text: &[u8]) -> bool {
    !text.iter().any(|byte| matches!(byte, b' ' | b'\t'..=b'\r' | 0))
}

/// Joins rules from one that begins with `(` to the one that ends with `)`.
///
/// # Errors
/// The rule whose parenthesis is never closed.
pub fn merge_selectors(rules: &[&[u8]]) -> Result<Vec<Vec<u8>>, Vec<u8>> {
    let mut merged = Vec::with_capacity(rules.len());
    let mut open: Option<(&[u8], Vec<u8>)> = None;
    for rule in rules {
        match &mut open {
            Some((_, selector)) => {
                selector.push(b' ');
                selector.extend_from_slice(rule);
                if rule.ends_with(b")") {
                    merged.extend(open.take().map(|(_, selector)| selector));
                }
            }
            None if rule.starts_with(b"(") && !rule.ends_with(b")") => open = Some((rule, rule.to_vec())),
            None => merged.push(rule.to_vec()),
        }
    }
    match open {
        None => Ok(merged),
        Some((first, _)) => Err(first.to_vec()),
    }
}
