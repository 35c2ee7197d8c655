//! Responses of HTTP: a body that is there as a whole, text, errors, and responses of the REST dialect.

use std::io;

use bytes::Bytes;
use edgecask_core::rest;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};

/// The body of a response.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// No body.
pub fn empty() -> Body {
    Full::new(Bytes::new()).map_err(|never| match never {}).boxed_unsync()
}

/// A response of plain text.
pub fn text(status: StatusCode, text: &str) -> Response<Body> {
    whole(status, "text/plain; charset=utf-8", Bytes::copy_from_slice(text.as_bytes()))
}

/// An error in the form of the REST dialect.
pub fn error(status: StatusCode, text: &str) -> Response<Body> {
    from_rest(rest::Response::error(status.as_u16(), text.as_bytes()))
}

/// A response whose body is there as a whole.
pub fn whole(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// A response of the core as one of hyper.
pub fn from_rest(response: rest::Response) -> Response<Body> {
    let mut answer = if response.body.is_empty() {
        Response::new(empty())
    } else {
        whole(StatusCode::OK, "application/json", response.body.into())
    };
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let fields = answer.headers_mut();
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in response.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            fields.insert(HeaderName::from_static(name), value);
        }
    }
    answer
}
