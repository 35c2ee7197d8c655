//! Where the data is: in a directory, or in a cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use serde::Deserialize;

use super::{Flags, OptionsError, whole};
use crate::limits::{CLUSTER_LIFE_MS, CLUSTER_TIMEOUT_MS, STORE_NAME_MAX_BYTES};

/// What the data is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EngineFlag {
    /// A log in a directory.
    #[default]
    Bitcask,
    /// A cluster of TiKV.
    Tikv,
}

/// How long old versions of values stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum GcLife {
    /// As long as something else decides.
    Off,
    /// So many milliseconds.
    Ms(u64),
}

impl FromStr for GcLife {
    type Err = String;

    fn from_str(text: &str) -> Result<GcLife, String> {
        match text {
            "off" => Ok(GcLife::Off),
            number => whole(number)
                .map(GcLife::Ms)
                .map_err(|_| format!("'{number}' is neither a number of milliseconds nor off")),
        }
    }
}

impl TryFrom<toml::Value> for GcLife {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<GcLife, String> {
        match value {
            toml::Value::String(text) => text.parse(),
            toml::Value::Integer(number) => number.to_string().parse(),
            _ => Err("tikv-gc-life-ms is a number or \"off\"".into()),
        }
    }
}

/// How the cluster is reached, and which store of it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterOptions {
    /// The members of PD, each host:port.
    pub pd: Vec<String>,
    /// The cluster's authority, this server's certificate and its key.
    pub tls: Option<(PathBuf, PathBuf, PathBuf)>,
    /// The keyspace, if the cluster has any.
    pub keyspace: Option<String>,
    /// The name of the store among those in the cluster.
    pub store: String,
    /// How long a request to the cluster may take.
    pub timeout: Duration,
    /// Where the server listens to the others of the store, and what it tells them.
    pub peer_listen: Option<SocketAddr>,
    /// Transactions may take half of it, and what was dropped longer ago is collected.
    pub life: Duration,
    /// Whether the cluster's old versions are collected.
    pub collects_versions: bool,
}

impl ClusterOptions {
    /// Those of the flags; None for a store in a directory.
    ///
    /// # Errors
    /// The flags contradict each other.
    pub(super) fn of(flags: &Flags) -> Result<Option<ClusterOptions>, OptionsError> {
        let refused = |text: &str| Err(OptionsError(text.into()));
        if flags.engine.unwrap_or_default() == EngineFlag::Bitcask {
            let named = flags.pd.is_some() || flags.tikv_keyspace.is_some() || flags.tikv_prefix.is_some();
            let named = named || flags.tikv_gc_life_ms.is_some() || flags.tikv_timeout_ms.is_some();
            let named = named || flags.pd_ca.is_some() || flags.pd_cert.is_some() || flags.pd_key.is_some();
            return if named || flags.peer_listen.is_some() {
                refused("--pd, --pd-..., --peer-listen and --tikv-... need --engine tikv")
            } else {
                Ok(None)
            };
        }
        if cfg!(not(feature = "tikv")) {
            return refused(
                "this edgecask was built without TiKV; releases have it (the cargo feature tikv)",
            );
        }
        let members = flags.pd.as_deref().unwrap_or_default().split(',').map(str::trim);
        let pd: Vec<String> = members.filter(|member| !member.is_empty()).map(str::to_owned).collect();
        if pd.is_empty() {
            return refused("--engine tikv needs --pd HOST:PORT,...: the members of PD");
        }
        if let Some(name) = option_of_a_directory(flags) {
            return Err(OptionsError(format!(
                "--{name} does not fit --engine tikv: the data is in the cluster, and nothing on this machine"
            )));
        }
        let tls = match (&flags.pd_ca, &flags.pd_cert, &flags.pd_key) {
            (None, None, None) => None,
            (Some(ca), Some(certificate), Some(key)) => Some((ca.clone(), certificate.clone(), key.clone())),
            _ => return refused("TLS to the cluster needs all of --pd-ca, --pd-cert and --pd-key"),
        };
        if flags.peer_listen.is_some_and(|address| address.ip().is_unspecified()) {
            return refused(
                "--peer-listen is the address by which the other servers reach this one, not that of all interfaces",
            );
        }
        let store = flags.tikv_prefix.clone().unwrap_or_else(|| "edgecask".into());
        if store.is_empty() || store.len() > STORE_NAME_MAX_BYTES {
            return refused("--tikv-prefix is a name of 1 to 64 bytes");
        }
        if flags.tikv_timeout_ms == Some(0) {
            return refused("--tikv-timeout-ms is at least 1");
        }
        let timeout_ms = flags.tikv_timeout_ms.unwrap_or(CLUSTER_TIMEOUT_MS);
        let life_ms = match flags.tikv_gc_life_ms {
            Some(GcLife::Ms(life_ms)) => life_ms,
            None | Some(GcLife::Off) => CLUSTER_LIFE_MS.max(timeout_ms.saturating_mul(4)),
        };
        // What a transaction has sent in its last moment must have ended before anything is collected.
        if life_ms / 4 < timeout_ms {
            return refused("--tikv-gc-life-ms is at least four times --tikv-timeout-ms");
        }
        Ok(Some(ClusterOptions {
            pd,
            tls,
            keyspace: flags.tikv_keyspace.clone(),
            store,
            timeout: Duration::from_millis(timeout_ms),
            peer_listen: flags.peer_listen,
            life: Duration::from_millis(life_ms),
            collects_versions: flags.tikv_gc_life_ms != Some(GcLife::Off),
        }))
    }
}

/// The first option that is only about a store in a directory.
fn option_of_a_directory(flags: &Flags) -> Option<&'static str> {
    let given = [
        ("dir", flags.dir.is_some()),
        ("on-damage", flags.on_damage.is_some()),
        ("appendfsync", flags.appendfsync.is_some()),
        ("datafile-max-bytes", flags.datafile_max_bytes.is_some()),
        ("scrub-bytes-per-second", flags.scrub_bytes_per_second.is_some()),
        ("scrub-interval-days", flags.scrub_interval_days.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}
