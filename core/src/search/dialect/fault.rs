//! Errors of the dialect: a code that programs know, the status that belongs to it, and a sentence for people.

use serde_json::json;

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The code of the error, one of Meilisearch's but for `search_timeout`.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
}

impl Fault {
    /// An error with this code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into() }
    }

    /// Something that Meilisearch has and this server does not.
    pub fn unsupported(what: &str) -> Fault {
        Fault::new("feature_not_enabled", [what, " is not supported by this server."].concat())
    }

    /// There is no such index.
    pub fn index_not_found(uid: &str) -> Fault {
        Fault::new("index_not_found", ["Index `", uid, "` not found."].concat())
    }

    /// There is no such document.
    pub fn document_not_found(id: &str) -> Fault {
        Fault::new("document_not_found", ["Document `", id, "` not found."].concat())
    }

    /// A query takes more time than one may.
    pub fn search_timeout() -> Fault {
        Fault::new(
            "search_timeout",
            "This takes longer than the server allows (FT.CONFIG's TIMEOUT): a narrower query or filter takes less.",
        )
    }

    /// The hits of an answer take more bytes than one may have.
    pub fn hits_too_large() -> Fault {
        Fault::new(
            "payload_too_large",
            "The hits take more than 64 MiB: ask for fewer, or for fewer attributes.",
        )
    }

    /// The client must say who it is.
    pub fn missing_authorization() -> Fault {
        Fault::new(
            "missing_authorization_header",
            "The Authorization header is missing. It must use the bearer authorization method.",
        )
    }

    /// The password is wrong, or the user may not do this.
    pub fn invalid_api_key() -> Fault {
        Fault::new("invalid_api_key", "The provided API key is invalid.")
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match self.code {
            "missing_authorization_header" => 401,
            "invalid_api_key" => 403,
            "not_found" | "index_not_found" | "document_not_found" | "task_not_found"
            | "api_key_not_found" => 404,
            "method_not_allowed" => 405,
            "index_already_exists" => 409,
            "payload_too_large" => 413,
            "invalid_content_type" | "missing_content_type" => 415,
            "internal" => 500,
            "index_not_accessible" => 503,
            "search_timeout" => 504,
            _ => 400,
        }
    }

    /// The group of errors that clients know it by.
    pub fn kind(&self) -> &'static str {
        match self.code {
            "missing_authorization_header" | "invalid_api_key" => "auth",
            "internal" | "index_not_accessible" | "search_timeout" => "internal",
            _ => "invalid_request",
        }
    }

    /// The error as JSON: the body of the response, or the member `error` of a task.
    pub fn json(&self) -> serde_json::Value {
        let link = ["https://docs.meilisearch.com/errors#", self.code].concat();
        json!({
            "message": self.message,
            "code": self.code,
            "type": self.kind(),
            "link": link,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_differs_from_meilisearchs() {
        let shown = |fault: Fault| (fault.status(), fault.json().to_string());
        assert_eq!(
            shown(Fault::index_not_found("films")),
            (
                404,
                r#"{"code":"index_not_found","link":"https://docs.meilisearch.com/errors#index_not_found","message":"Index `films` not found.","type":"invalid_request"}"#
                    .to_owned()
            )
        );
        assert_eq!(Fault::invalid_api_key().status(), 403);
        assert_eq!(Fault::invalid_api_key().kind(), "auth");
        assert_eq!(Fault::new("invalid_search_filter", "").status(), 400);
    }
}
