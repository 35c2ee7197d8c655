//! JSON Schema for JSON.VALIDATE. Schemas are compiled once and kept; patterns are matched in linear time, and nothing is fetched from elsewhere.

use std::sync::Arc;

use edgecask_core::json::schema::{Invalid, SchemaEngine};
use jsonschema::{PatternOptions, ValidationError, Validator};
use parking_lot::Mutex;
use serde_json::Value;

use crate::limits::{SCHEMA_KEPT_BYTES_MAX, SCHEMAS_KEPT_MAX};

/// A schema that was compiled, with its text.
type Kept = (Box<[u8]>, Arc<Validator>);

/// The validator of this server.
#[derive(Default)]
pub struct Schemas {
    /// The last one used stands first.
    kept: Mutex<Vec<Kept>>,
}

impl Schemas {
    fn compiled(&self, schema: &[u8]) -> Result<Arc<Validator>, Invalid> {
        let mut kept = self.kept.lock();
        if let Some(at) = kept.iter().position(|(text, _)| **text == *schema) {
            let found = kept.remove(at);
            let validator = found.1.clone();
            kept.insert(0, found);
            return Ok(validator);
        }
        drop(kept);
        let value: Value =
            serde_json::from_slice(schema).map_err(|error| Invalid::Schema(error.to_string()))?;
        let compiled = jsonschema::options().with_pattern_options(PatternOptions::regex()).build(&value);
        let validator = Arc::new(compiled.map_err(|error| Invalid::Schema(error.to_string()))?);
        if schema.len() <= SCHEMA_KEPT_BYTES_MAX {
            let mut kept = self.kept.lock();
            kept.insert(0, (schema.into(), validator.clone()));
            kept.truncate(SCHEMAS_KEPT_MAX);
        }
        Ok(validator)
    }
}

impl SchemaEngine for Schemas {
    fn validate(&self, schema: &[u8], document: &[u8]) -> Result<(), Invalid> {
        let validator = self.compiled(schema)?;
        let broken = |at: String, rule: String| Invalid::Document { at, rule };
        let document: Value =
            serde_json::from_slice(document).map_err(|error| broken(String::new(), error.to_string()))?;
        let told = |error: ValidationError<'_>| broken(error.instance_path().to_string(), error.to_string());
        validator.validate(&document).map_err(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(schema: &str, document: &str) -> Result<(), Invalid> {
        Schemas::default().validate(schema.as_bytes(), document.as_bytes())
    }

    #[test]
    fn invalid_document_passes() {
        let schema =
            r#"{"type":"object","required":["price"],"properties":{"price":{"type":"number","minimum":0}}}"#;
        assert_eq!(validate(schema, r#"{"price":1}"#), Ok(()));
        let at = |document| match validate(schema, document) {
            Err(Invalid::Document { at, .. }) => at,
            other => panic!("{document}: {other:?}"),
        };
        assert_eq!(at(r#"{"price":-1}"#), "/price");
        assert_eq!(at("{}"), "");
    }

    #[test]
    fn schema_without_an_end_takes_for_ever() {
        for schema in [
            r##"{"$ref":"#"}"##,
            r##"{"allOf":[{"$ref":"#"}]}"##,
            r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
            r##"{"$dynamicRef":"#x","$dynamicAnchor":"x"}"##,
        ] {
            assert_eq!(validate(schema, "1"), Ok(()), "{schema}");
        }
        let long = format!("\"{}!\"", "a".repeat(100_000));
        assert!(matches!(validate(r#"{"pattern":"^(a+)+$"}"#, &long), Err(Invalid::Document { .. })));
    }

    #[test]
    fn schema_is_fetched_from_elsewhere() {
        for schema in
            [r#"{"$ref":"http://127.0.0.1:9/x"}"#, r#"{"type":"nosuch"}"#, r#"{"$ref":"file:///etc/passwd"}"#]
        {
            assert!(matches!(validate(schema, "1"), Err(Invalid::Schema(_))), "{schema}");
        }
    }
}
