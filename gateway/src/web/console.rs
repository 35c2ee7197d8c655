//! The console's files, which the build includes in this program (`build.rs`).

use bytes::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, HeaderMap, HeaderName,
    HeaderValue, IF_NONE_MATCH, REFERRER_POLICY, VARY, X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};

use super::response::{Body, text, whole};

/// One file.
struct File {
    /// Its path in URLs, from the root.
    path: &'static str,
    content_type: &'static str,
    /// Changes with the bytes; with quotes.
    etag: &'static str,
    bytes: &'static [u8],
    gzipped: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/console_files.rs"));

/// The page may load and run only its own files, and connect to any server that the user names.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
                      font-src 'self'; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The build gives these files names that change with their contents.
const HASHED_FOLDER: &str = "/assets/";

/// The answer to a request for a file of the console; None if the path is not one of them.
pub fn file(path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let wanted = if path == "/" { "/index.html" } else { path };
    let Some(file) = FILES.iter().find(|file| file.path == wanted) else {
        let missing = "The console is not in this build; `make run` builds it.\n";
        return (path == "/").then(|| text(StatusCode::NOT_FOUND, missing));
    };
    let has = |name: HeaderName, part: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(part))
    };
    let mut response = if has(IF_NONE_MATCH, file.etag) {
        whole(StatusCode::NOT_MODIFIED, file.content_type, Bytes::new())
    } else if has(ACCEPT_ENCODING, "gzip") {
        let mut response = whole(StatusCode::OK, file.content_type, Bytes::from_static(file.gzipped));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        whole(StatusCode::OK, file.content_type, Bytes::from_static(file.bytes))
    };
    let cache =
        if path.starts_with(HASHED_FOLDER) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let fields = [
        (CACHE_CONTROL, cache),
        (CONTENT_SECURITY_POLICY, POLICY),
        (ETAG, file.etag),
        (REFERRER_POLICY, "no-referrer"),
        (VARY, "accept-encoding"),
        (X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fields {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Some(response)
}
