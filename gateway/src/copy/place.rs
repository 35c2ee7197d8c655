//! What a place is called: a directory, `tikv://…`, `redis://…` or `rediss://…`.

use std::path::PathBuf;
use std::time::Duration;

use edgecask_core::engine::Db;

use super::{CopyError, Result};
use crate::limits::{CLUSTER_LIFE_MS, STORE_NAME_MAX_BYTES};
use crate::options::cluster::ClusterOptions;

/// A place that has data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A directory that no server uses.
    Directory(PathBuf),
    /// A store in a cluster.
    Cluster(ClusterOptions),
    /// A server.
    Server(Address),
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// host:port
    pub(super) address: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// The only database that is meant.
    pub(super) database: Option<Db>,
    /// By what it is reached under TLS, if it is.
    pub(super) tls: Option<TlsOptions>,
}

/// How a server under TLS is known, and how it knows us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TlsOptions {
    /// The only authority that counts; else those of the system do.
    pub(super) authority: Option<PathBuf>,
    /// A certificate to show, and its key.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

impl Place {
    /// Reads a name.
    ///
    /// # Errors
    /// It is none; the text says what it could be.
    pub(super) fn parse(name: &str) -> Result<Place> {
        match name.split_once("://") {
            Some(("redis", rest)) => Address::parse(rest).map(Place::Server),
            Some(("rediss", rest)) => Address::parse_under_tls(rest).map(Place::Server),
            Some(("tikv", rest)) => cluster(rest).map(Place::Cluster),
            Some((other, _)) => Err(CopyError::Other(format!(
                "{other}:// is none of redis://[user:password@]host:port[/database], rediss:// (the same under TLS), tikv://pd:2379,pd:2379/store, or a directory"
            ))),
            None if name.is_empty() => Err(CopyError::Other("a place has no name".into())),
            None => Ok(Place::Directory(name.into())),
        }
    }

    /// The only database that is meant, if it is one.
    pub(super) fn database(&self) -> Option<Db> {
        match self {
            Place::Server(address) => address.database,
            Place::Directory(_) | Place::Cluster(_) => None,
        }
    }
}

/// The name of a place as it may be shown and kept: without a password.
pub(super) fn shown(name: &str) -> String {
    let of_server = name.split_once("://").filter(|(scheme, _)| matches!(*scheme, "redis" | "rediss"));
    let login = of_server.and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)));
    let Some((scheme, (login, rest))) = login else { return name.to_owned() };
    let user = login.split_once(':').map_or("", |(user, _)| user);
    format!("{scheme}://{user}:***@{rest}")
}

impl Address {
    /// `[user:password@]host:port[/database]?ca=..&cert=..&key=..`
    fn parse_under_tls(rest: &str) -> Result<Address> {
        let (server, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut address = Address::parse(server)?;
        let (mut tls, mut certificate, mut key) = (TlsOptions::default(), None, None);
        for option in options_in(query) {
            let (name, value) = option?;
            let path = Some(PathBuf::from(value));
            match name {
                "ca" => tls.authority = path,
                "cert" => certificate = path,
                "key" => key = path,
                _ => return Err(CopyError::Other(format!("{name}: rediss:// may have ca, cert and key"))),
            }
        }
        tls.identity = match (certificate, key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate, key)),
            _ => return Err(CopyError::Other("rediss:// needs both of cert and key, or none".into())),
        };
        address.tls = Some(tls);
        Ok(address)
    }

    fn parse(rest: &str) -> Result<Address> {
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login), rest),
            None => (None, rest),
        };
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or(("", login))) {
            Some((user, password)) => {
                (Some(decoded(user)?).filter(|user| !user.is_empty()), Some(decoded(password)?))
            }
            None => (None, None),
        };
        let (address, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = match database {
            "" => None,
            number => Some(number.parse().map_err(|_| CopyError::Other(format!("{number} is no database")))?),
        };
        if address.is_empty() {
            return Err(CopyError::Other("redis:// needs a host".into()));
        }
        let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let address = if has_port { address.to_owned() } else { format!("{address}:6379") };
        Ok(Address { address, user, password, database, tls: None })
    }
}

/// A part of a URL with its escapes.
fn decoded(part: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte.unwrap_or_default()).to_digit(16);
        bytes.push(match byte {
            b'%' => match (digit(rest.next()), digit(rest.next())) {
                // Below 256.
                (Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => return Err(CopyError::Other(format!("{part} has an escape that is none"))),
            },
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| CopyError::Other(format!("{part} is no text")))
}

/// How long a request may take where nobody says otherwise: nobody waits for a reply, and a cluster that is filled may be slow.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The names and values behind the question mark of a place.
fn options_in(query: &str) -> impl Iterator<Item = Result<(&str, String)>> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((name, decoded(value)?))
    })
}

/// `pd,pd/store?keyspace=..&ca=..&cert=..&key=..&timeout-ms=..`
fn cluster(rest: &str) -> Result<ClusterOptions> {
    let refused = |text: &str| Err(CopyError::Other(format!("tikv://{rest}: {text}")));
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (members, store) = path.split_once('/').unwrap_or((path, ""));
    let pd: Vec<String> = members.split(',').filter(|member| !member.is_empty()).map(str::to_owned).collect();
    let store = if store.is_empty() { "edgecask" } else { store };
    if pd.is_empty() {
        return refused("it names no member of PD");
    }
    if store.len() > STORE_NAME_MAX_BYTES {
        return refused("the name of a store has 64 bytes at most");
    }
    let mut options = ClusterOptions {
        pd,
        tls: None,
        keyspace: None,
        store: store.into(),
        peer_listen: None,
        life: Duration::from_millis(CLUSTER_LIFE_MS),
        collects_versions: false,
        timeout: TIMEOUT,
    };
    let (mut ca, mut certificate, mut key) = (None, None, None);
    for option in options_in(query) {
        let (name, value) = option?;
        match name {
            "keyspace" => options.keyspace = Some(value),
            "ca" => ca = Some(PathBuf::from(value)),
            "cert" => certificate = Some(PathBuf::from(value)),
            "key" => key = Some(PathBuf::from(value)),
            "timeout-ms" => match value.parse() {
                Ok(ms) if ms > 0 => options.timeout = Duration::from_millis(ms),
                _ => return refused("timeout-ms is a number of milliseconds"),
            },
            _ => return refused("it may have keyspace, ca, cert, key and timeout-ms"),
        }
    }
    options.tls = match (ca, certificate, key) {
        (None, None, None) => None,
        (Some(ca), Some(certificate), Some(key)) => Some((ca, certificate, key)),
        _ => return refused("TLS needs all of ca, cert and key"),
    };
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_shown() {
        assert_eq!(shown("redis://ann:p@ss@host:6379/2"), "redis://ann:***@host:6379/2");
        assert_eq!(shown("redis://secret@host:6379"), "redis://:***@host:6379");
        assert_eq!(shown("rediss://ann:p@host/0?ca=a.pem"), "rediss://ann:***@host/0?ca=a.pem");
        for name in ["redis://host:6379", "tikv://pd:2379/store", "a@b:c"] {
            assert_eq!(shown(name), name);
        }
    }

    #[test]
    fn name_of_a_place_is_taken_for_another() {
        let server = |name: &str| match Place::parse(name) {
            Ok(Place::Server(address)) => address,
            other => panic!("{other:?}"),
        };
        let plain = server("redis://localhost");
        assert_eq!((plain.address.as_str(), plain.password, plain.database), ("localhost:6379", None, None));
        let full = server("redis://me:a%40b@[::1]:7000/3");
        assert_eq!(full.address, "[::1]:7000");
        assert_eq!((full.user.as_deref(), full.password.as_deref()), (Some("me"), Some("a@b")));
        assert_eq!(full.database, Some(3));
        assert_eq!((server("redis://:secret@host:1").user, full.tls), (None, None));
        let secret = server("rediss://host/2?ca=a%20b.pem&cert=c.pem&key=k.pem");
        assert_eq!((secret.address.as_str(), secret.database), ("host:6379", Some(2)));
        let tls = secret.tls.expect("it is under TLS");
        assert_eq!(tls.authority, Some("a b.pem".into()));
        assert_eq!(tls.identity, Some(("c.pem".into(), "k.pem".into())));
        assert_eq!(server("rediss://host").tls, Some(TlsOptions::default()));
        let Ok(Place::Cluster(cluster)) = Place::parse("tikv://a:1,b:2/shop?keyspace=k&timeout-ms=70") else {
            panic!("no cluster")
        };
        assert_eq!((cluster.pd.len(), cluster.store.as_str()), (2, "shop"));
        assert_eq!((cluster.keyspace.as_deref(), cluster.timeout.as_millis()), (Some("k"), 70));
        assert_eq!(Place::parse("data/redis").ok(), Some(Place::Directory("data/redis".into())));
        for wrong in [
            "http://host",
            "redis://",
            "redis://host/x",
            "rediss://host?insecure=1",
            "rediss://host?cert=c.pem",
            "tikv:///store",
            "tikv://a?ca=x",
            "tikv://a?x=y",
            "",
        ] {
            assert!(Place::parse(wrong).is_err(), "{wrong}");
        }
    }
}
