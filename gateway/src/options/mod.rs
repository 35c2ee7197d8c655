//! The command line, and the options of `edgecask serve`: command line, then `EDGECASK_*` environment, then configuration file, then default.
//!
//! [`Flags`] is the one list: the command line's help, the environment variables and the names in the file all come
//! from its fields. [`Options`] are the decided and checked values.

pub mod cluster;

use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use cluster::{ClusterOptions, EngineFlag, GcLife};
use edgecask_core::bitcask::OnDamage;
use edgecask_core::limits::{BLOB_MIN_BYTES, DATAFILE_MAX_BYTES};
use edgecask_core::number::parse_u64;
use edgecask_core::origin::Origins;
use edgecask_core::server::{SettingError, Settings};
use serde::Deserialize;

use crate::gateway::is_local;
use crate::limits::{
    BULK_MAX_BYTES, CLUSTER_BULK_MAX_BYTES, CONNECTIONS_PER_ADDRESS, SCRUB_BYTES_PER_SECOND,
    SCRUB_INTERVAL_DAYS,
};
use crate::sync::Appendfsync;
use crate::web::protocol::Protocol;
use crate::web::tls::{AuthClients, TlsFiles};

/// Why the process does not start. The text is for a person and goes to standard error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(String);

/// EdgeCask: a Redis-compatible store on a Bitcask log, or in a cluster of TiKV.
#[derive(Debug, Parser)]
#[command(name = "edgecask", version, disable_help_flag = true, disable_help_subcommand = true)]
pub struct CommandLine {
    /// The subcommand.
    #[command(subcommand)]
    pub task: Task,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Serve Redis clients from one directory (the default)
    #[command(disable_help_flag = true)]
    Serve(Box<Flags>),

    /// Read every record, blob and hint of the store in a directory that no server uses, and print what is damaged; the
    /// exit status is 0 if nothing is, 1 if something is, 2 if the store cannot be read. Changes nothing
    Check {
        /// The directory
        directory: PathBuf,
    },

    /// Write what can be read of a damaged store to a new directory, and print exactly what is lost; the original is not
    /// changed. The exit status is that of check
    Repair {
        /// The directory of the damaged store
        directory: PathBuf,

        /// The new directory, which must be empty or missing
        #[arg(long, value_name = "DIRECTORY")]
        to: PathBuf,
    },

    /// Take a backup of the store in a directory, whether a server uses it or not: everything that was committed at one
    /// moment. Files that never change are linked on the same file system, and copied to another one. The server writes the
    /// backup itself, as its own user. The exit status is 0 for a whole one, 1 if the store itself has lost values, 2 if there is
    /// no backup
    Backup {
        /// The directory of the store
        directory: PathBuf,

        /// The new directory, which must be missing
        #[arg(long, value_name = "DIRECTORY")]
        to: PathBuf,
    },

    /// Have the server that uses a directory read everything in the background and compare it with its checksums, now. The
    /// exit status is 0 if it begins and 2 if not
    Scrub {
        /// The directory of the store
        directory: PathBuf,
    },

    /// Copy all data of one place to another and compare the two. A place is the directory of a store that no server uses, a store in a
    /// cluster (tikv://pd:2379,pd:2379/store), or a server (redis://[user:password@]host:port[/database]; Redis from 7.0 on). What was
    /// interrupted goes on with the same command. The exit status is 0 if both are the same then, 1 if not, 2 if something failed
    Copy {
        /// Where the data comes from
        #[arg(long, value_name = "PLACE")]
        from: String,

        /// Where it goes
        #[arg(long, value_name = "PLACE")]
        to: String,

        /// Copy nothing, compare only
        #[arg(long)]
        verify: bool,

        /// Copy to a target that has keys already, and replace those of the same names
        #[arg(long)]
        add: bool,

        /// Databases of a store in a cluster
        #[arg(long, value_name = "COUNT", default_value_t = 16)]
        databases: u32,

        /// The file that says how far the copy has come [default: edgecask-copy-....state in the current directory]
        #[arg(long, value_name = "FILE")]
        state: Option<PathBuf>,
    },

    /// Make a store of its own of a backup: it is checked, then copied. The exit status is 0 if that is done, 1 if the backup
    /// is damaged, 2 if it cannot be read or copied
    Restore {
        /// The directory of the backup
        snapshot: PathBuf,

        /// The new directory, which must be empty or missing
        #[arg(long, value_name = "DIRECTORY")]
        to: PathBuf,
    },
}

/// All flags of a server. `None` means "not set".
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flags {
    /// Addresses or names to listen on, separated by commas [default: 127.0.0.1]
    #[arg(short = 'h', long, env = "EDGECASK_HOST", value_name = "HOST")]
    pub host: Option<String>,

    /// Port to listen on; 0 lets the system choose [default: 6379]
    #[arg(short, long, env = "EDGECASK_PORT", value_parser = whole::<u16>)]
    pub port: Option<u16>,

    /// Port for browsers and HTTP: console, WebSocket, REST, metrics; 0 lets the system choose, "off" closes it [default: 8080]
    #[arg(long, env = "EDGECASK_HTTP_PORT", value_name = "PORT")]
    pub http_port: Option<Port>,

    /// Port for Redis clients that use TLS [default: off]
    #[arg(long, env = "EDGECASK_TLS_PORT", value_name = "PORT")]
    pub tls_port: Option<Port>,

    /// Port for the same as --http-port under TLS [default: off]
    #[arg(long, env = "EDGECASK_HTTPS_PORT", value_name = "PORT")]
    pub https_port: Option<Port>,

    /// Certificate of this server and those that lead to its authority, as PEM [default: none]
    #[arg(long, env = "EDGECASK_TLS_CERT_FILE", value_name = "FILE")]
    pub tls_cert_file: Option<PathBuf>,

    /// Key of the certificate, as PEM [default: none]
    #[arg(long, env = "EDGECASK_TLS_KEY_FILE", value_name = "FILE")]
    pub tls_key_file: Option<PathBuf>,

    /// Authorities that sign the certificates of clients, as PEM [default: none]
    #[arg(long, env = "EDGECASK_TLS_CA_CERT_FILE", value_name = "FILE")]
    pub tls_ca_cert_file: Option<PathBuf>,

    /// Whether clients must show a certificate [default: yes where --tls-ca-cert-file is given]
    #[arg(long, env = "EDGECASK_TLS_AUTH_CLIENTS")]
    pub tls_auth_clients: Option<AuthClients>,

    /// Pages of other sites that may use this server, separated by commas (https://app.example), or * [default: none]
    #[arg(long, env = "EDGECASK_HTTP_ORIGINS", value_name = "ORIGINS")]
    pub http_origins: Option<String>,

    /// Most connections of one address by HTTP and TLS at a time; 0 is any number [default: 1024]
    #[arg(long, env = "EDGECASK_HTTP_MAX_PER_ADDRESS", value_name = "COUNT", value_parser = whole::<usize>)]
    pub http_max_per_address: Option<usize>,

    /// Directory of the store, made if missing [default: edgecask-data]
    #[arg(short, long, env = "EDGECASK_DIR", value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,

    /// What the data is in: a log in --dir, or a cluster of TiKV, which any number of servers may share [default: bitcask]
    #[arg(long, env = "EDGECASK_ENGINE")]
    pub engine: Option<EngineFlag>,

    /// Members of PD, the cluster's directory, for --engine tikv, separated by commas [default: none]
    #[arg(long, env = "EDGECASK_PD", value_name = "HOST:PORT,...")]
    pub pd: Option<String>,

    /// Authority that signs the certificates of the cluster, as PEM [default: none, without TLS]
    #[arg(long, env = "EDGECASK_PD_CA", value_name = "FILE")]
    pub pd_ca: Option<PathBuf>,

    /// Certificate that this server shows the cluster, as PEM [default: none]
    #[arg(long, env = "EDGECASK_PD_CERT", value_name = "FILE")]
    pub pd_cert: Option<PathBuf>,

    /// Key of that certificate, as PEM [default: none]
    #[arg(long, env = "EDGECASK_PD_KEY", value_name = "FILE")]
    pub pd_key: Option<PathBuf>,

    /// Keyspace of the cluster (API version 2) [default: none]
    #[arg(long, env = "EDGECASK_TIKV_KEYSPACE", value_name = "NAME")]
    pub tikv_keyspace: Option<String>,

    /// Name of the store, so that several share a cluster [default: edgecask]
    #[arg(long, env = "EDGECASK_TIKV_PREFIX", value_name = "NAME")]
    pub tikv_prefix: Option<String>,

    /// How long a request to the cluster may take, in milliseconds [default: 5000]
    #[arg(long, env = "EDGECASK_TIKV_TIMEOUT_MS", value_name = "MILLISECONDS", value_parser = whole::<u64>)]
    pub tikv_timeout_ms: Option<u64>,

    /// Address at which this server listens to the others of the same store in a cluster [default: the one from which it reaches PD, any port]
    #[arg(long, env = "EDGECASK_PEER_LISTEN", value_name = "IP:PORT")]
    pub peer_listen: Option<SocketAddr>,

    /// How long TiKV keeps old versions of values, in milliseconds; "off" where something else collects them. A transaction may take half of it [default: 120000]
    #[arg(long, env = "EDGECASK_TIKV_GC_LIFE_MS", value_name = "MILLISECONDS")]
    pub tikv_gc_life_ms: Option<GcLife>,

    /// What to do if the store is damaged: refuse to start, or start with everything that can be read [default: refuse]
    #[arg(long, env = "EDGECASK_ON_DAMAGE")]
    pub on_damage: Option<OnDamageFlag>,

    /// When writes are forced to the disk: before each reply, once a second, or when the system likes [default: everysec]
    #[arg(long, env = "EDGECASK_APPENDFSYNC")]
    pub appendfsync: Option<Appendfsync>,

    /// Number of logical databases [default: 16]
    #[arg(long, env = "EDGECASK_DATABASES", value_name = "COUNT", value_parser = whole::<u32>)]
    pub databases: Option<u32>,

    /// Password clients must give with AUTH or HELLO [default: none]
    #[arg(long, env = "EDGECASK_REQUIREPASS", value_name = "PASSWORD", hide_env_values = true)]
    pub requirepass: Option<String>,

    /// Whether connections that have not logged in are the default user; "off" asks every client for a user of its own [default: on]
    #[arg(long, env = "EDGECASK_DEFAULT_USER")]
    pub default_user: Option<OnOff>,

    /// File of users, one a line as ACL LIST shows them, in place of those in the store [default: none]
    #[arg(long, env = "EDGECASK_ACLFILE", value_name = "FILE")]
    pub aclfile: Option<PathBuf>,

    /// Most connections at a time [default: 10000]
    #[arg(long, env = "EDGECASK_MAXCLIENTS", value_name = "COUNT", value_parser = whole::<u32>)]
    pub maxclients: Option<u32>,

    /// Longest value and argument, with a unit if need be (512mb) [default: 64gb]
    #[arg(long, env = "EDGECASK_PROTO_MAX_BULK_LEN", value_name = "SIZE")]
    pub proto_max_bulk_len: Option<String>,

    /// Strings from this length on are files of their own, which stream in and out [default: 1mb]
    #[arg(long, env = "EDGECASK_BLOB_MIN_BYTES", value_name = "SIZE")]
    pub blob_min_bytes: Option<String>,

    /// A datafile of the log is sealed before it grows beyond this length [default: 256mb]
    #[arg(long, env = "EDGECASK_DATAFILE_MAX_BYTES", value_name = "SIZE")]
    pub datafile_max_bytes: Option<String>,

    /// Everything on the disk is read in the background and compared with its checksums, so many bytes a second; 0 is not at
    /// all [default: 16mb]
    #[arg(long, env = "EDGECASK_SCRUB_BYTES_PER_SECOND", value_name = "SIZE")]
    pub scrub_bytes_per_second: Option<String>,

    /// So many days after that ended it begins again; 0 is only when asked for [default: 30]
    #[arg(long, env = "EDGECASK_SCRUB_INTERVAL_DAYS", value_name = "DAYS", value_parser = whole::<u32>)]
    pub scrub_interval_days: Option<u32>,

    /// Threads that serve connections, at most: how many do follows the load; 0 is one for each processor [default: 0]
    #[arg(long, env = "EDGECASK_THREADS", value_name = "COUNT", value_parser = whole::<usize>)]
    pub threads: Option<usize>,

    /// Whether to refuse a public address without a password [default: yes]
    #[arg(long, env = "EDGECASK_PROTECTED_MODE")]
    pub protected_mode: Option<YesNo>,

    /// Whether DEBUG is allowed: not at all, to clients of the same machine, or to all [default: no]
    #[arg(long, env = "EDGECASK_ENABLE_DEBUG_COMMAND")]
    pub enable_debug_command: Option<Allowed>,

    /// Least important messages to log [default: info]
    #[arg(long, env = "EDGECASK_LOG_LEVEL", value_name = "LEVEL")]
    pub log_level: Option<LogLevel>,

    /// TOML file with any of these options under the same names; the command line wins [default: none]
    #[arg(long, env = "EDGECASK_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,

    /// Print help
    #[arg(long, action = ArgAction::Help)]
    #[serde(skip)]
    help: Option<bool>,
}

/// A number as settings have it: digits alone, without a sign.
fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let number = parse_u64(text.as_bytes()).and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| format!("'{text}' is no number, or too large"))
}

/// Where to listen, if at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum Port {
    /// Not at all.
    Off,
    /// There; 0 lets the system choose.
    At(u16),
}

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Port, String> {
        match text {
            "off" => Ok(Port::Off),
            number => {
                whole(number).map(Port::At).map_err(|_| format!("'{number}' is neither a port nor off"))
            }
        }
    }
}

impl TryFrom<toml::Value> for Port {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Port, String> {
        match value {
            toml::Value::String(text) => text.parse(),
            toml::Value::Integer(number) => number.to_string().parse(),
            _ => Err("a port is a number or \"off\"".into()),
        }
    }
}

/// `yes` or `no`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// `on` or `off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum OnOff {
    /// On.
    #[default]
    On,
    /// Off.
    Off,
}

/// Which clients may run a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Allowed {
    /// No client.
    #[default]
    No,
    /// Clients of the same machine.
    Local,
    /// Every client.
    Yes,
}

/// What to do about damage at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum OnDamageFlag {
    /// Do not start.
    Refuse,
    /// Start with everything that can be read.
    Salvage,
}

/// The least important messages that are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Only failures that need an operator.
    Error,
    /// Problems that an operator should look at.
    Warn,
    /// Events that happen a few times a day.
    Info,
    /// Details for finding a fault.
    Debug,
    /// Everything.
    Trace,
}

/// The decided options of TLS and HTTP.
#[derive(Clone, Debug)]
pub struct WebOptions {
    /// The addresses to listen on, and the protocol of each.
    pub listeners: Vec<(Protocol, SocketAddr)>,
    /// Pages of other sites that may use the server.
    pub origins: Origins,
    /// The largest number of connections of one address at a time; 0 for any number.
    pub max_per_address: usize,
    /// The certificates, if a listener needs them.
    pub tls: Option<TlsFiles>,
}

/// The decided options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The addresses to listen on; for port 0 the system chooses one.
    pub addresses: Vec<SocketAddr>,
    /// The options of TLS and HTTP; without listeners where both are off.
    pub web: WebOptions,
    /// The directory of the store, if its data is in one.
    pub directory: PathBuf,
    /// The cluster that the data is in instead.
    pub cluster: Option<ClusterOptions>,
    /// What to do about damage at the start.
    pub on_damage: OnDamage,
    /// The sync policy at the start.
    pub appendfsync: Appendfsync,
    /// Threads that serve connections, at most; at least one.
    pub threads: usize,
    /// Whether a public address needs a password.
    pub protected_mode: bool,
    /// The least important messages to log.
    pub log_level: LogLevel,
    /// The file of users.
    pub users_file: Option<PathBuf>,
    /// The configuration file that was read.
    pub config: Option<PathBuf>,
    /// The settings as CONFIG GET and SET show them.
    pub settings: Vec<(&'static str, String)>,
}

impl OnOff {
    /// The word of CONFIG GET.
    fn word(self) -> &'static str {
        match self {
            OnOff::On => "on",
            OnOff::Off => "off",
        }
    }
}

impl Allowed {
    /// The word of CONFIG GET.
    fn word(self) -> &'static str {
        match self {
            Allowed::No => "no",
            Allowed::Local => "local",
            Allowed::Yes => "yes",
        }
    }
}

/// Parses a command line, program name first. `serve` may be left out.
///
/// # Errors
/// A flag is unknown or has a bad value, or help or the version is asked for; the error prints the text.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let first = arguments.get(1).and_then(|argument| argument.to_str()).unwrap_or_default();
    if !matches!(
        first,
        "serve" | "check" | "repair" | "backup" | "copy" | "restore" | "scrub" | "-V" | "--version"
    ) {
        arguments.insert(1.min(arguments.len()), "serve".into());
    }
    CommandLine::try_parse_from(arguments)
}

impl Flags {
    /// These flags, and those of `fallback` where a flag is not set.
    fn or(self, fallback: Flags) -> Flags {
        Flags {
            host: self.host.or(fallback.host),
            port: self.port.or(fallback.port),
            http_port: self.http_port.or(fallback.http_port),
            tls_port: self.tls_port.or(fallback.tls_port),
            https_port: self.https_port.or(fallback.https_port),
            tls_cert_file: self.tls_cert_file.or(fallback.tls_cert_file),
            tls_key_file: self.tls_key_file.or(fallback.tls_key_file),
            tls_ca_cert_file: self.tls_ca_cert_file.or(fallback.tls_ca_cert_file),
            tls_auth_clients: self.tls_auth_clients.or(fallback.tls_auth_clients),
            http_origins: self.http_origins.or(fallback.http_origins),
            http_max_per_address: self.http_max_per_address.or(fallback.http_max_per_address),
            dir: self.dir.or(fallback.dir),
            engine: self.engine.or(fallback.engine),
            pd: self.pd.or(fallback.pd),
            pd_ca: self.pd_ca.or(fallback.pd_ca),
            pd_cert: self.pd_cert.or(fallback.pd_cert),
            pd_key: self.pd_key.or(fallback.pd_key),
            tikv_keyspace: self.tikv_keyspace.or(fallback.tikv_keyspace),
            tikv_prefix: self.tikv_prefix.or(fallback.tikv_prefix),
            tikv_timeout_ms: self.tikv_timeout_ms.or(fallback.tikv_timeout_ms),
            peer_listen: self.peer_listen.or(fallback.peer_listen),
            tikv_gc_life_ms: self.tikv_gc_life_ms.or(fallback.tikv_gc_life_ms),
            on_damage: self.on_damage.or(fallback.on_damage),
            appendfsync: self.appendfsync.or(fallback.appendfsync),
            databases: self.databases.or(fallback.databases),
            requirepass: self.requirepass.or(fallback.requirepass),
            default_user: self.default_user.or(fallback.default_user),
            aclfile: self.aclfile.or(fallback.aclfile),
            maxclients: self.maxclients.or(fallback.maxclients),
            proto_max_bulk_len: self.proto_max_bulk_len.or(fallback.proto_max_bulk_len),
            blob_min_bytes: self.blob_min_bytes.or(fallback.blob_min_bytes),
            datafile_max_bytes: self.datafile_max_bytes.or(fallback.datafile_max_bytes),
            scrub_bytes_per_second: self.scrub_bytes_per_second.or(fallback.scrub_bytes_per_second),
            scrub_interval_days: self.scrub_interval_days.or(fallback.scrub_interval_days),
            threads: self.threads.or(fallback.threads),
            protected_mode: self.protected_mode.or(fallback.protected_mode),
            enable_debug_command: self.enable_debug_command.or(fallback.enable_debug_command),
            log_level: self.log_level.or(fallback.log_level),
            config: self.config.or(fallback.config),
            help: None,
        }
    }
}

impl Flags {
    /// The options of TLS and HTTP.
    fn web(&self, host: &str) -> Result<WebOptions, OptionsError> {
        let ports = [
            (Protocol::Http, self.http_port.unwrap_or(Port::At(8080))),
            (Protocol::Https, self.https_port.unwrap_or(Port::Off)),
            (Protocol::RespTls, self.tls_port.unwrap_or(Port::Off)),
        ];
        let mut listeners = Vec::new();
        for (protocol, port) in ports {
            if let Port::At(port) = port {
                listeners.extend(resolve(host, port)?.into_iter().map(|address| (protocol, address)));
            }
        }
        let tls = match (&self.tls_cert_file, &self.tls_key_file) {
            _ if listeners.iter().all(|(protocol, _)| *protocol == Protocol::Http) => None,
            (Some(certificate), Some(key)) => {
                let authority = self.tls_ca_cert_file.clone();
                let usual = if authority.is_some() { AuthClients::Yes } else { AuthClients::No };
                let auth_clients = self.tls_auth_clients.unwrap_or(usual);
                if authority.is_none() && auth_clients != AuthClients::No {
                    return Err(OptionsError("--tls-auth-clients needs --tls-ca-cert-file".into()));
                }
                Some(TlsFiles { certificate: certificate.clone(), key: key.clone(), authority, auth_clients })
            }
            _ => return Err(OptionsError("TLS needs --tls-cert-file and --tls-key-file".into())),
        };
        let origins = self.http_origins.as_deref().unwrap_or_default();
        Ok(WebOptions {
            listeners,
            origins: Origins::parse(origins)
                .map_err(|error| OptionsError(format!("--http-origins: {error}")))?,
            max_per_address: self.http_max_per_address.unwrap_or(CONNECTIONS_PER_ADDRESS),
            tls,
        })
    }
}

impl Options {
    /// Reads the configuration file, if one is named, and decides everything.
    ///
    /// # Errors
    /// The file cannot be read, options contradict each other, or a public address has no password.
    pub fn decide(flags: Flags) -> Result<Options, OptionsError> {
        let flags = match &flags.config {
            Some(path) => {
                let file = read_file(path)?;
                flags.or(file)
            }
            None => flags,
        };
        let host = flags.host.clone().unwrap_or_else(|| "127.0.0.1".into());
        let web = flags.web(&host)?;
        let cluster = ClusterOptions::of(&flags)?;
        let bulk_max_bytes = if cluster.is_some() { CLUSTER_BULK_MAX_BYTES } else { BULK_MAX_BYTES };
        let port = flags.port.unwrap_or(6379);
        let requirepass = flags.requirepass.unwrap_or_default();
        let directory = flags.dir.unwrap_or_else(|| "edgecask-data".into());
        let shown_directory = match cluster {
            // Nothing is on this machine.
            Some(_) => String::new(),
            None => {
                std::path::absolute(&directory).unwrap_or_else(|_| directory.clone()).display().to_string()
            }
        };
        let appendfsync = flags.appendfsync.unwrap_or_default();
        let workers = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let tls_port = web.listeners.iter().find(|(protocol, _)| *protocol == Protocol::RespTls);
        let tls_port = tls_port.map_or(0, |(_, address)| address.port());
        let shown = |path: Option<&PathBuf>| path.map_or_else(String::new, |path| path.display().to_string());
        let tls = web.tls.as_ref();
        let tls_settings = [
            ("tls-port", tls_port.to_string()),
            ("tls-cert-file", shown(tls.map(|tls| &tls.certificate))),
            ("tls-key-file", shown(tls.map(|tls| &tls.key))),
            ("tls-ca-cert-file", shown(tls.and_then(|tls| tls.authority.as_ref()))),
            ("tls-auth-clients", tls.map_or(AuthClients::Yes, |tls| tls.auth_clients).word().into()),
        ];
        let mut options = Options {
            addresses: resolve(&host, port)?,
            web,
            protected_mode: flags.protected_mode != Some(YesNo::No),
            on_damage: match flags.on_damage {
                Some(OnDamageFlag::Salvage) => OnDamage::Salvage,
                _ => OnDamage::Refuse,
            },
            threads: flags.threads.filter(|threads| *threads > 0).unwrap_or_else(workers),
            log_level: flags.log_level.unwrap_or(LogLevel::Info),
            config: flags.config,
            users_file: flags.aclfile.clone(),
            settings: vec![
                ("aclfile", shown(flags.aclfile.as_ref())),
                ("appendfsync", appendfsync.word().into()),
                ("bind", host),
                ("databases", flags.databases.unwrap_or(16).to_string()),
                ("dir", shown_directory),
                ("blob-min-bytes", flags.blob_min_bytes.unwrap_or_else(|| BLOB_MIN_BYTES.to_string())),
                (
                    "datafile-max-bytes",
                    flags.datafile_max_bytes.unwrap_or_else(|| DATAFILE_MAX_BYTES.to_string()),
                ),
                ("default-user", flags.default_user.unwrap_or_default().word().into()),
                ("enable-debug-command", flags.enable_debug_command.unwrap_or_default().word().into()),
                ("maxclients", flags.maxclients.unwrap_or(10_000).to_string()),
                ("port", port.to_string()),
                (
                    "proto-max-bulk-len",
                    flags.proto_max_bulk_len.unwrap_or_else(|| bulk_max_bytes.to_string()),
                ),
                ("requirepass", requirepass),
                (
                    "scrub-bytes-per-second",
                    flags.scrub_bytes_per_second.unwrap_or_else(|| SCRUB_BYTES_PER_SECOND.to_string()),
                ),
                ("scrub-interval-days", flags.scrub_interval_days.unwrap_or(SCRUB_INTERVAL_DAYS).to_string()),
            ],
            appendfsync,
            directory,
            cluster,
        };
        options.settings.extend(tls_settings);
        options.check_protection()?;
        Ok(options)
    }

    /// The settings that CONFIG GET and SET see.
    ///
    /// # Errors
    /// A setting does not take such a value.
    pub fn settings(&self) -> Result<Settings, OptionsError> {
        Settings::new(&self.settings).map_err(|error| match error {
            SettingError::Invalid(text) => OptionsError(format!("an option does not fit: {text}")),
            error => OptionsError(error.to_string()),
        })
    }

    /// Refuses a public address without a password: such servers are found and emptied within hours.
    fn check_protection(&self) -> Result<(), OptionsError> {
        // What a file of users or the store says of the default user is looked at with every connection.
        let has_login = |(name, value): &(&str, String)| match *name {
            "requirepass" | "aclfile" => !value.is_empty(),
            "default-user" => value == "off",
            _ => false,
        };
        let has_password = self.settings.iter().any(has_login);
        let public = self.addresses.iter().find(|address| !is_local(address.ip()));
        match public {
            Some(address) if self.protected_mode && !has_password => Err(OptionsError(format!(
                "refusing to listen on {address} without a password: everybody who reaches this address could read \
                 and delete all data. Set --requirepass, listen on 127.0.0.1, or pass --protected-mode no if only \
                 trusted machines can reach it."
            ))),
            _ => Ok(()),
        }
    }
}

fn read_file(path: &Path) -> Result<Flags, OptionsError> {
    let unusable =
        |error: &dyn std::fmt::Display| OptionsError(format!("configuration {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| unusable(&error))?;
    toml::from_str(&text).map_err(|error| unusable(&error))
}

fn resolve(hosts: &str, port: u16) -> Result<Vec<SocketAddr>, OptionsError> {
    let mut addresses = Vec::new();
    for host in hosts.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found = (bare, port).to_socket_addrs();
        addresses.extend(found.map_err(|error| OptionsError(format!("--host {host}: {error}")))?);
    }
    if addresses.is_empty() {
        return Err(OptionsError("--host names no address".into()));
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests;
