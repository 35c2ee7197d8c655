//! Which pages of a browser may talk to a server: one rule for the gateway and for the edge worker.
//!
//! A browser lets every page open a WebSocket to any host, and send simple requests to any host. A server on the user's own
//! machine is protected only by looking at where a request comes from:
//! - an `Origin` must be the server's own, which is the one that `Host` names, or be on the operator's list;
//! - a request that a browser sends for a page of another site without an `Origin` (`Sec-Fetch-Site`) is refused;
//! - a server without a password is served only under names that no outsider can point at it: addresses, `localhost`, and
//!   hosts on the list. Under any other name a page could reach it as its own site (DNS rebinding).
//!
//! Clients other than browsers send neither of the two fields and are served. Sources: RFC 6454, W3C Fetch Metadata.

use std::net::IpAddr;

/// The pages that may talk to a server besides its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// In lower case, without a slash at the end.
    listed: Vec<String>,
    is_any: bool,
}

/// The header fields of a request that decide; None where a field is missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestOrigin<'h> {
    /// `Host`, or the authority of the requested URL.
    pub host: Option<&'h [u8]>,
    /// `Origin`.
    pub origin: Option<&'h [u8]>,
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<&'h [u8]>,
}

/// A request that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// It comes from the server's own page, or from no page.
    Own,
    /// It comes from a page on the list. The response must allow that page to read it.
    Listed,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its page is not on the list.
    #[error("this origin is not allowed")]
    Origin,
    /// It uses a name that the server is not served under.
    #[error("this host name is not allowed while no password is set")]
    Host,
}

/// An entry of a list is not an origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an origin such as https://app.example")]
pub struct NotAnOrigin(pub String);

impl Origins {
    /// Reads a list separated by commas: origins as browsers send them (`https://app.example`), or `*` for all.
    ///
    /// # Errors
    /// An entry has no scheme, no host, or a path.
    pub fn parse(text: &str) -> Result<Origins, NotAnOrigin> {
        let mut origins = Origins::default();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            if entry == "*" {
                origins.is_any = true;
                continue;
            }
            let (scheme, host) = entry.split_once("://").unwrap_or_default();
            let host = host.trim_end_matches('/');
            if scheme.is_empty() || host.is_empty() || host.contains('/') {
                return Err(NotAnOrigin(entry.to_owned()));
            }
            origins.listed.push(entry.trim_end_matches('/').to_ascii_lowercase());
        }
        Ok(origins)
    }

    /// Decides about a request. `is_open` says that any host name will do: a password is set, or the operator has declared
    /// that none is needed.
    ///
    /// # Errors
    /// The request must not be served, because of its host name or of its page.
    pub fn decide(&self, request: RequestOrigin<'_>, is_open: bool) -> Result<Allowed, Refused> {
        let host = request.host.map(<[u8]>::to_ascii_lowercase);
        if !is_open && host.as_deref().is_some_and(|host| !self.is_safe_name(host)) {
            return Err(Refused::Host);
        }
        let Some(origin) = request.origin.map(<[u8]>::to_ascii_lowercase) else {
            let is_foreign = matches!(request.fetch_site, Some(b"cross-site" | b"same-site"));
            return if is_foreign && !self.is_any { Err(Refused::Origin) } else { Ok(Allowed::Own) };
        };
        let origin = std::str::from_utf8(&origin).map_err(|_| Refused::Origin)?;
        let authority = authority(origin).map(str::as_bytes);
        if authority.is_some() && authority == host.as_deref() {
            return Ok(Allowed::Own);
        }
        if self.is_any || self.listed.iter().any(|listed| listed == origin) {
            return Ok(Allowed::Listed);
        }
        Err(Refused::Origin)
    }

    /// Whether no outsider can point a name, in lower case and perhaps with a port, at this server.
    fn is_safe_name(&self, host: &[u8]) -> bool {
        let Ok(host) = std::str::from_utf8(host) else { return false };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let address = name.trim_start_matches('[').trim_end_matches(']');
        let listed = || self.listed.iter().filter_map(|origin| authority(origin));
        name == "localhost"
            || name.ends_with(".localhost")
            || address.parse::<IpAddr>().is_ok()
            || listed().any(|listed| listed == host || listed == name)
    }
}

/// Host and port of an origin.
fn authority(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, authority)| authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_FIELDS: RequestOrigin<'_> = RequestOrigin { host: None, origin: None, fetch_site: None };

    fn from_page<'h>(host: &'h str, origin: &'h str) -> RequestOrigin<'h> {
        RequestOrigin { host: Some(host.as_bytes()), origin: Some(origin.as_bytes()), fetch_site: None }
    }

    #[test]
    fn pages_of_others_are_served_though_they_are_not_listed() {
        let none = Origins::default();
        let some = Origins::parse("https://app.example, http://localhost:5173/").expect("origins");
        let all = Origins::parse("*").expect("all");
        assert_eq!(
            none.decide(from_page("localhost:8080", "http://LOCALHOST:8080"), false),
            Ok(Allowed::Own)
        );
        let listed = from_page("cache.example", "https://app.example");
        assert_eq!(none.decide(listed, true), Err(Refused::Origin));
        assert_eq!(some.decide(listed, true), Ok(Allowed::Listed));
        for origin in
            ["null", "https://app.example.evil", "http://localhost:8081", "https://evil", "localhost:8080"]
        {
            let other = from_page("localhost:8080", origin);
            assert_eq!(some.decide(other, true), Err(Refused::Origin), "{origin}");
            assert_eq!(all.decide(other, true), Ok(Allowed::Listed), "{origin}");
        }
    }

    #[test]
    fn pictures_on_pages_of_others_run_commands() {
        let decide = |site: &str| {
            let request = RequestOrigin {
                host: Some(b"127.0.0.1:8080"),
                fetch_site: Some(site.as_bytes()),
                ..RequestOrigin::default()
            };
            Origins::default().decide(request, false)
        };
        assert_eq!(decide("cross-site"), Err(Refused::Origin));
        assert_eq!(decide("same-site"), Err(Refused::Origin));
        assert_eq!(decide("same-origin"), Ok(Allowed::Own));
        assert_eq!(decide("none"), Ok(Allowed::Own));
        assert_eq!(Origins::default().decide(NO_FIELDS, false), Ok(Allowed::Own), "no browser");
    }

    #[test]
    fn name_that_was_made_to_point_here_is_served_without_a_password() {
        let origins = Origins::parse("https://known.example").expect("origins");
        for (name, is_safe) in [
            ("evil.example:8080", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("1.2.3", false),
            ("b\u{fc}cher.example", false),
            ("localhost:8080", true),
            ("app.localhost", true),
            ("127.0.0.1", true),
            ("[::1]:8080", true),
            ("known.example", true),
            ("known.example:443", true),
        ] {
            let request = RequestOrigin { host: Some(name.as_bytes()), ..NO_FIELDS };
            assert_eq!(origins.decide(request, false).is_ok(), is_safe, "{name}");
            assert!(origins.decide(request, true).is_ok(), "{name} with a password");
        }
        let request = RequestOrigin { host: Some(b"\xff.example"), ..NO_FIELDS };
        assert_eq!(origins.decide(request, false), Err(Refused::Host), "bytes that are no text");
    }

    #[test]
    fn list_of_what_is_no_origin_is_taken() {
        assert!(Origins::parse("").is_ok());
        for text in ["app.example", "https://", "https:///", "https://app.example/path", "://x"] {
            assert_eq!(Origins::parse(text), Err(NotAnOrigin(text.into())));
        }
    }
}
