//! The origin rules of the core ([`edgecask_core::origin`]) for the worker, which decides before it calls any object.

use edgecask_core::origin::{Allowed, Origins, Refused, RequestOrigin};

/// The request comes from the worker's own page, or from no page.
pub const OWN: u32 = 0;
/// The request comes from a page on the list.
pub const LISTED: u32 = 1;
/// The page of the request is not on the list.
pub const REFUSED_ORIGIN: u32 = 2;
/// The request uses a host name that is not served without a password.
pub const REFUSED_HOST: u32 = 3;
/// The operator's list has an entry that is no origin.
pub const BAD_LIST: u32 = 4;

/// Decides about a request by the operator's list and by `Host`, `Origin` and `Sec-Fetch-Site`. Each field stands behind `=`,
/// or is empty if it is missing.
pub fn decide(list: &[u8], fields: [&[u8]; 3], is_open: bool) -> u32 {
    let Some(origins) = std::str::from_utf8(list).ok().and_then(|list| Origins::parse(list).ok()) else {
        return BAD_LIST;
    };
    let [host, origin, fetch_site] = fields.map(|field| field.strip_prefix(b"="));
    match origins.decide(RequestOrigin { host, origin, fetch_site }, is_open) {
        Ok(Allowed::Own) => OWN,
        Ok(Allowed::Listed) => LISTED,
        Err(Refused::Origin) => REFUSED_ORIGIN,
        Err(Refused::Host) => REFUSED_HOST,
    }
}
