//! The origin rules of the core ([`edgecask_core::origin`]) for requests of hyper.

use edgecask_core::origin::{Allowed, Origins, Refused, RequestOrigin};
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Decides about a request by its header fields; see [`Origins::decide`].
///
/// # Errors
/// The request must not be served.
pub fn decide(origins: &Origins, headers: &HeaderMap, is_open: bool) -> Result<Allowed, Refused> {
    let field = |name: HeaderName| headers.get(name).map(|value| value.as_bytes());
    let request =
        RequestOrigin { host: field(HOST), origin: field(ORIGIN), fetch_site: field(SEC_FETCH_SITE) };
    origins.decide(request, is_open)
}
