//! Addresses as URLs.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::error::{Error, Result};
use crate::options::{Address, Options};

/// The port of a URL that names none.
const REDIS_PORT: u16 = 6379;

/// The port of sentinels.
const SENTINEL_PORT: u16 = 26379;

impl Options {
    /// Options from a URL:
    ///
    /// | URL | what it is |
    /// | --- | --- |
    /// | `redis://[user[:password]@]host[:port][/database]` | TCP |
    /// | `rediss://…` | TCP with TLS |
    /// | `unix://[user[:password]@]/path[?db=n]` | a socket of the file system |
    /// | `ws://host[:port]/resp`, `wss://…` | WebSocket |
    /// | `redis-sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/database]` | the master that sentinels name |
    /// | `edgecask:DIR` | a store in this process |
    /// | `edgecask:memory` | one in its memory |
    ///
    /// Behind `?` may stand `db`, `user`, `password`, `name`, `timeout_ms`, `connect_timeout_ms`, `pool`, `read_only` (of a store in this process), and for sentinels
    /// `sentinel_user` and `sentinel_password`. A single word before `@` is a password, as redis-cli has it, unless a `:`
    /// follows it.
    ///
    /// # Errors
    /// It is none of these.
    pub fn from_url(url: &str) -> Result<Options> {
        let invalid = |why: &str| Error::Invalid(format!("{why} in the URL of a server").into());
        let (scheme, rest) = url.split_once(':').ok_or_else(|| invalid("no scheme"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if scheme == "edgecask" {
            let address = if rest == "memory" {
                Address::Memory
            } else {
                Address::Directory(PathBuf::from(decode(rest)?))
            };
            let mut options = Options::new(address);
            options.take_query(query)?;
            return Ok(options);
        }
        let rest = rest.strip_prefix("//").ok_or_else(|| invalid("no //"))?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let mut path = path.trim_start_matches('/');
        let mut options = match scheme {
            "redis" | "rediss" => {
                let (host, port) = host_and_port(hosts, REDIS_PORT)?;
                let mut options = Options::new(Address::Tcp { host, port });
                options.tls = scheme == "rediss";
                options
            }
            "unix" | "redis+unix" => {
                let socket = format!("/{}", decode(path)?);
                path = "";
                Options::new(Address::Unix(PathBuf::from(socket)))
            }
            "ws" | "wss" => {
                let resource = if path.is_empty() { "resp" } else { path };
                let url = format!("{scheme}://{hosts}/{resource}");
                path = "";
                let mut options = Options::new(Address::WebSocket(url));
                options.tls = scheme == "wss";
                options
            }
            "redis-sentinel" | "rediss-sentinel" => {
                let sentinels = hosts.split(',').map(|host| host_and_port(host, SENTINEL_PORT));
                let sentinels = sentinels.collect::<Result<Vec<_>>>()?;
                let (master, database) = path.split_once('/').unwrap_or((path, ""));
                path = database;
                if master.is_empty() {
                    return Err(invalid("no name of a master"));
                }
                let mut options = Options::new(Address::Sentinel { master: decode(master)?, sentinels });
                options.tls = scheme == "rediss-sentinel";
                options
            }
            _ => return Err(invalid("an unknown scheme")),
        };
        if !login.is_empty() {
            match login.split_once(':') {
                Some((user, password)) => {
                    options.user = Some(decode(user)?).filter(|user| !user.is_empty());
                    options.password = Some(decode(password)?);
                }
                None => options.password = Some(decode(login)?),
            }
        }
        let database = path.trim_end_matches('/');
        if !database.is_empty() {
            options.database = database.parse().map_err(|_| invalid("a database that is no number"))?;
        }
        options.take_query(query)?;
        Ok(options)
    }

    fn take_query(&mut self, query: &str) -> Result<()> {
        let mut sentinel_user = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| Error::Invalid(format!("{name}={value} is no number").into()))
            };
            match name {
                "db" | "database" => {
                    self.database =
                        u32::try_from(number()?).map_err(|_| Error::Invalid("no such database".into()))?;
                }
                "read_only" => self.read_only = number()? != 0,
                "user" => self.user = Some(value),
                "password" => self.password = Some(value),
                "name" => self.name = Some(value),
                "timeout_ms" => self.timeout = Duration::from_millis(number()?),
                "connect_timeout_ms" => self.connect_timeout = Duration::from_millis(number()?),
                "pool" => self.pool_max = usize::try_from(number()?).unwrap_or(usize::MAX),
                "sentinel_user" => sentinel_user = Some(value),
                "sentinel_password" => self.sentinel_login = Some((None, value)),
                // What other clients know by these names is how this one works anyway.
                "protocol" => {}
                _ => {
                    return Err(Error::Invalid(
                        format!("an unknown option {name:?} in the URL of a server").into(),
                    ));
                }
            }
        }
        if let Some((user, _)) = &mut self.sentinel_login {
            *user = sentinel_user;
        }
        Ok(())
    }
}

/// A host, with brackets around an IPv6 address, and a port.
pub(crate) fn host_and_port(text: &str, usual: u16) -> Result<(String, u16)> {
    let invalid = || Error::Invalid(format!("{text:?} is no host and port").into());
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or_else(invalid)?;
            (host, port.strip_prefix(':').unwrap_or(port))
        }
        None => text.rsplit_once(':').unwrap_or((text, "")),
    };
    let port = if port.is_empty() { usual } else { port.parse().map_err(|_| invalid())? };
    let host = if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host)? };
    Ok((host, port))
}

fn decode(text: &str) -> Result<String> {
    match percent_decode_str(text).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Error::Invalid("bytes that are no UTF-8 in the URL of a server".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_mean_what_other_clients_take_them_for() {
        let tcp = |host: &str, port| Address::Tcp { host: host.into(), port };
        for (url, address, user, password, database) in [
            ("redis://localhost", tcp("localhost", 6379), None, None, 0),
            ("redis://", tcp("127.0.0.1", 6379), None, None, 0),
            ("redis://:secret@h:1/2", tcp("h", 1), None, Some("secret"), 2),
            ("redis://secret@h:1", tcp("h", 1), None, Some("secret"), 0),
            ("rediss://u:p%40ss@[::1]:7/", tcp("::1", 7), Some("u"), Some("p@ss"), 0),
            ("unix:///run/a%20b.sock?db=3", Address::Unix("/run/a b.sock".into()), None, None, 3),
            ("ws://h:8080", Address::WebSocket("ws://h:8080/resp".into()), None, None, 0),
            ("wss://u:p@h/db/x", Address::WebSocket("wss://h/db/x".into()), Some("u"), Some("p"), 0),
            ("edgecask:memory", Address::Memory, None, None, 0),
            ("edgecask:/var/lib/x", Address::Directory("/var/lib/x".into()), None, None, 0),
            (
                "redis-sentinel://:p@a,b:7/mymaster/4?sentinel_password=q",
                Address::Sentinel {
                    master: "mymaster".into(),
                    sentinels: vec![("a".into(), 26379), ("b".into(), 7)],
                },
                None,
                Some("p"),
                4,
            ),
        ] {
            let options = Options::from_url(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(options.address, address, "{url}");
            let login = (options.user.as_deref(), options.password.as_deref());
            assert_eq!((login, options.database), ((user, password), database), "{url}");
            assert_eq!(options.tls, url.starts_with("rediss") || url.starts_with("wss"), "{url}");
        }
    }

    #[test]
    fn what_is_no_url_is_said() {
        for url in [
            "",
            "localhost",
            "http://h",
            "redis:h",
            "redis://h:x",
            "redis://h/x",
            "redis://h?pol=1",
            "redis-sentinel://h",
        ] {
            assert!(matches!(Options::from_url(url), Err(Error::Invalid(_))), "{url:?}");
        }
    }
}
