//! Which pages of a browser may talk to this server.
//!
//! A browser lets any page open a WebSocket to anywhere and send simple requests to anywhere; what protects a server on the user's own
//! machine is that it looks where they come from. Rules:
//! - an `Origin` must be that of this server (what the `Host` field says) or be on the operator's list;
//! - a request that a browser makes for another site's page without an `Origin` (`Sec-Fetch-Site`) is refused;
//! - a server without a password answers only to names that cannot be made to point at it from outside: addresses, `localhost`, and
//!   hosts on the list. Otherwise a page could reach it under the page's own name (DNS rebinding).
//!
//! Clients that are no browsers send neither field, and are served.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The pages that may talk to this server besides its own.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Lower-case, without a slash at the end.
    listed: Vec<String>,
    is_any: bool,
}

/// What a request may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It comes from here, or from no page.
    Own,
    /// It comes from a page on the list, which is to be told that it may read the answer.
    Listed(HeaderValue),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its page is not on the list.
    #[error("this origin is not allowed; see --http-origins")]
    Origin,
    /// It asks for a name that this server does not go by.
    #[error("this host name is not allowed while no password is set; see --http-origins")]
    Host,
}

impl Origins {
    /// A list separated by commas: origins as browsers send them (`https://app.example`), or `*` for all.
    pub fn parse(text: &str) -> Result<Origins, String> {
        let mut origins = Origins::default();
        for origin in text.split(',').map(str::trim).filter(|origin| !origin.is_empty()) {
            if origin == "*" {
                origins.is_any = true;
                continue;
            }
            let (scheme, host) = origin.split_once("://").unwrap_or_default();
            if scheme.is_empty() || host.is_empty() || host.trim_end_matches('/').contains('/') {
                return Err(format!("'{origin}' is not an origin such as https://app.example"));
            }
            origins.listed.push(origin.trim_end_matches('/').to_ascii_lowercase());
        }
        Ok(origins)
    }

    /// Judges a request by its head.
    pub fn judge(&self, headers: &HeaderMap, has_password: bool) -> Result<Verdict, Refused> {
        let host = text(headers, &HOST);
        if !has_password && !host.is_some_and(|host| self.is_known_name(host)) && host.is_some() {
            return Err(Refused::Host);
        }
        let Some(origin) = headers.get(ORIGIN) else {
            return match text(headers, &SEC_FETCH_SITE) {
                Some("cross-site" | "same-site") if !self.is_any => Err(Refused::Origin),
                _ => Ok(Verdict::Own),
            };
        };
        let lower = origin.to_str().map_err(|_| Refused::Origin)?.to_ascii_lowercase();
        let authority = lower.split_once("://").map(|(_, authority)| authority);
        if authority.is_some() && authority == host.map(str::to_ascii_lowercase).as_deref() {
            return Ok(Verdict::Own);
        }
        if self.is_any || self.listed.contains(&lower) {
            return Ok(Verdict::Listed(origin.clone()));
        }
        Err(Refused::Origin)
    }

    /// Whether nobody outside can make a name point here: it is an address, this machine's own name, or listed.
    fn is_known_name(&self, host: &str) -> bool {
        let lower = host.to_ascii_lowercase();
        let name = match lower.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &lower,
        };
        let address = name.trim_start_matches('[').trim_end_matches(']');
        let is_listed = self.listed.iter().any(|origin| {
            origin.split_once("://").is_some_and(|(_, listed)| listed == lower || listed == name)
        });
        name == "localhost"
            || name.ends_with(".localhost")
            || address.parse::<std::net::IpAddr>().is_ok()
            || is_listed
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};

    use super::{Origins, Refused, SEC_FETCH_SITE, Verdict};

    fn headers(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn pages_of_others_are_refused_unless_they_are_listed() {
        let none = Origins::default();
        let some = Origins::parse("https://app.example, http://localhost:5173/").expect("origins");
        let own = headers(&[(HOST, "localhost:8080"), (ORIGIN, "http://LOCALHOST:8080")]);
        assert_eq!(none.judge(&own, false), Ok(Verdict::Own));
        let listed = headers(&[(HOST, "cache.example"), (ORIGIN, "https://app.example")]);
        assert_eq!(none.judge(&listed, true), Err(Refused::Origin));
        let told = HeaderValue::from_static("https://app.example");
        assert_eq!(some.judge(&listed, true), Ok(Verdict::Listed(told)));
        for origin in
            ["null", "https://app.example.evil", "http://localhost:8081", "https://evil", "localhost:8080"]
        {
            let other = headers(&[(HOST, "localhost:8080"), (ORIGIN, origin)]);
            assert_eq!(some.judge(&other, true), Err(Refused::Origin), "{origin}");
            let all = Origins::parse("*").expect("all");
            assert!(matches!(all.judge(&other, true), Ok(Verdict::Listed(_))), "{origin}");
        }
    }

    #[test]
    fn pictures_on_pages_of_others_cannot_run_commands() {
        let judged = |site| {
            let fields = headers(&[(HOST, "127.0.0.1:8080"), (SEC_FETCH_SITE, site)]);
            Origins::default().judge(&fields, false)
        };
        assert_eq!(judged("cross-site"), Err(Refused::Origin));
        assert_eq!(judged("same-site"), Err(Refused::Origin));
        assert_eq!(judged("same-origin"), Ok(Verdict::Own));
        assert_eq!(judged("none"), Ok(Verdict::Own));
        assert_eq!(Origins::default().judge(&HeaderMap::new(), false), Ok(Verdict::Own), "no browser");
    }

    #[test]
    fn a_name_that_was_made_to_point_here_is_refused_without_a_password() {
        let origins = Origins::parse("https://known.example").expect("origins");
        for (name, is_known) in [
            ("evil.example:8080", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("localhost:8080", true),
            ("app.localhost", true),
            ("127.0.0.1", true),
            ("[::1]:8080", true),
            ("known.example", true),
            ("known.example:443", true),
        ] {
            let fields = headers(&[(HOST, name)]);
            assert_eq!(origins.judge(&fields, false).is_ok(), is_known, "{name}");
            assert!(origins.judge(&fields, true).is_ok(), "{name} with a password");
        }
    }

    #[test]
    fn a_list_names_origins() {
        assert!(Origins::parse("").is_ok());
        for text in ["app.example", "https://", "https://app.example/path", "://x"] {
            assert!(Origins::parse(text).is_err(), "{text}");
        }
    }
}
