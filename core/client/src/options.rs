//! What a client is told: where the server is, who asks, how long things may take, how much there may be.

use std::path::PathBuf;
use std::time::Duration;

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// A host and a port.
    Tcp {
        /// A name or an IP address, without brackets.
        host: String,
        /// 6379 where a URL names none.
        port: u16,
    },
    /// A socket of the file system.
    Unix(PathBuf),
    /// RESP over WebSocket: a whole `ws://` or `wss://` URL.
    WebSocket(String),
    /// A store in this process, in this directory.
    Directory(PathBuf),
    /// A store in this process's memory, which is gone with its last client.
    Memory,
    /// Sentinels, which know where the master of this name is.
    Sentinel {
        /// The name of the master.
        master: String,
        /// Hosts and ports of sentinels.
        sentinels: Vec<(String, u16)>,
    },
}

/// Options of a client. Those of a URL: `redis://[user[:password]@]host[:port][/database][?name=value&…]`.
#[derive(Clone)]
pub struct Options {
    /// Where the server is.
    pub address: Address,
    /// Whether a store in this process is only read.
    pub read_only: bool,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// With TLS: certificates in PEM that are trusted instead of the system's.
    pub tls_authorities: Option<Vec<u8>>,
    /// With TLS: the certificate that this client shows to a server that asks for one, with those that lead to its authority, and
    /// its key, both in PEM.
    pub tls_identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The user; `default` if there is only a password.
    pub user: Option<String>,
    /// The password.
    pub password: Option<String>,
    /// The database of every connection.
    pub database: u32,
    /// The name of the connections (`CLIENT SETNAME`).
    pub name: Option<String>,
    /// The user and password of sentinels, if they want any.
    pub sentinel_login: Option<(Option<String>, String)>,
    /// How long a request may take, with waiting for a connection and for room. 10 s.
    pub timeout: Duration,
    /// How long an attempt to connect may take, greeting included. 5 s.
    pub connect_timeout: Duration,
    /// A connection on which nothing comes for so long while a reply is due is given up, which finds peers that are gone.
    /// 30 s. Connections of blocking commands are exempt.
    pub silence: Duration,
    /// The least and the longest pause between attempts to connect; it doubles each time, with jitter. 10 ms and 500 ms.
    pub backoff: (Duration, Duration),
    /// Connections beside the one that all share: for large values and transactions. 16.
    pub pool_max: usize,
    /// Connections for blocking commands. 256.
    pub blocking_max: usize,
    /// The largest string of a reply in bytes. 16 GiB.
    pub value_max_bytes: u64,
    /// Messages and bytes that wait for the reader of one subscription; beyond that the oldest are dropped and counted. 16,384
    /// and 64 MiB.
    pub subscription_max: (usize, usize),
    /// Where sockets come from, if the caller makes them.
    #[cfg(target_family = "wasm")]
    pub(crate) opener: Option<crate::transport::Opener>,
    /// The store of an address in this process, once it is open.
    #[cfg(feature = "embedded")]
    pub(crate) store: Option<edgecask::embedded::Embedded>,
}

impl Options {
    /// Options for a server, all else as it is usual.
    pub fn new(address: Address) -> Options {
        Options {
            address,
            read_only: false,
            tls: false,
            tls_authorities: None,
            tls_identity: None,
            user: None,
            password: None,
            database: 0,
            name: None,
            sentinel_login: None,
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(5),
            silence: Duration::from_secs(30),
            backoff: (Duration::from_millis(10), Duration::from_millis(500)),
            pool_max: 16,
            blocking_max: 256,
            value_max_bytes: 16 << 30,
            subscription_max: (16_384, 64 << 20),
            #[cfg(target_family = "wasm")]
            opener: None,
            #[cfg(feature = "embedded")]
            store: None,
        }
    }

    /// Connections get their sockets from here, whatever the address is.
    #[cfg(target_family = "wasm")]
    pub fn opened_by(mut self, opener: crate::transport::Opener) -> Options {
        self.opener = Some(opener);
        self
    }

    /// Whether there can be one connection only.
    pub(crate) fn is_single(&self) -> bool {
        #[cfg(target_family = "wasm")]
        return self.opener.as_ref().is_some_and(|opener| opener.is_single);
        #[cfg(not(target_family = "wasm"))]
        false
    }

    /// Whether the store is in this process.
    pub fn is_embedded(&self) -> bool {
        matches!(self.address, Address::Directory(_) | Address::Memory)
    }

    pub(crate) fn timeout_ms(&self) -> u64 {
        millis(self.timeout)
    }

    pub(crate) fn connect_timeout_ms(&self) -> u64 {
        millis(self.connect_timeout)
    }

    pub(crate) fn silence_ms(&self) -> u64 {
        millis(self.silence)
    }

    pub(crate) fn backoff_ms(&self) -> (u64, u64) {
        (millis(self.backoff.0), millis(self.backoff.1))
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
