//! What a host's validator of JSON Schema must be able to do; the core has none.

/// Why a document does not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The schema is none, or refers to one that is not in it.
    #[error("the schema cannot be used: {0}")]
    Schema(String),
    /// The document breaks a rule.
    #[error("the document is not valid at '{at}': {rule}")]
    Document {
        /// Where, as a JSON Pointer (RFC 6901).
        at: String,
        /// The rule, in words.
        rule: String,
    },
}

/// A validator of JSON Schema.
pub trait SchemaEngine: Send + Sync {
    /// Whether a document is as a schema wants it; both are texts of JSON.
    ///
    /// # Errors
    /// See [`Invalid`].
    fn validate(&self, schema: &[u8], document: &[u8]) -> Result<(), Invalid>;
}
