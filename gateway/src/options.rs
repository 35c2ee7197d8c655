//! The options of `edgecask serve`: command line, then `EDGECASK_*` environment, then configuration file, then default.
//!
//! [`Flags`] is the one list: the command line's help, the environment variables and the names in the file all come
//! from its fields. [`Options`] is what remains after everything has been decided and checked.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use edgecask_core::limits::BLOB_MIN_BYTES;
use edgecask_core::session::{SettingError, Settings};
use serde::Deserialize;

use crate::limits::BULK_MAX_BYTES;

/// Why the process does not start. The text is for a person and goes to standard error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(String);

/// EdgeCask: a Redis-compatible store on a Bitcask log.
#[derive(Debug, Parser)]
#[command(name = "edgecask", version, disable_help_flag = true, disable_help_subcommand = true)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Serve Redis clients from one directory (the default)
    #[command(disable_help_flag = true)]
    Serve(Box<Flags>),
}

/// Everything that can be said about a server. `None` is "not said".
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flags {
    /// Addresses or names to listen on, separated by commas [default: 127.0.0.1]
    #[arg(short = 'h', long, env = "EDGECASK_HOST", value_name = "HOST")]
    pub host: Option<String>,

    /// Port to listen on; 0 lets the system choose [default: 6379]
    #[arg(short, long, env = "EDGECASK_PORT")]
    pub port: Option<u16>,

    /// Directory of the store, made if missing [default: edgecask-data]
    #[arg(short, long, env = "EDGECASK_DIR", value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,

    /// When writes are forced to the disk: before each reply, once a second, or when the system likes [default: everysec]
    #[arg(long, env = "EDGECASK_APPENDFSYNC")]
    pub appendfsync: Option<Appendfsync>,

    /// Number of logical databases [default: 16]
    #[arg(long, env = "EDGECASK_DATABASES", value_name = "COUNT")]
    pub databases: Option<u32>,

    /// Password clients must give with AUTH or HELLO [default: none]
    #[arg(long, env = "EDGECASK_REQUIREPASS", value_name = "PASSWORD", hide_env_values = true)]
    pub requirepass: Option<String>,

    /// Most connections at a time [default: 10000]
    #[arg(long, env = "EDGECASK_MAXCLIENTS", value_name = "COUNT")]
    pub maxclients: Option<u32>,

    /// Longest value and argument, with a unit if need be (512mb) [default: 64gb]
    #[arg(long, env = "EDGECASK_PROTO_MAX_BULK_LEN", value_name = "SIZE")]
    pub proto_max_bulk_len: Option<String>,

    /// Strings from this length on are files of their own, which stream in and out [default: 1mb]
    #[arg(long, env = "EDGECASK_BLOB_MIN_BYTES", value_name = "SIZE")]
    pub blob_min_bytes: Option<String>,

    /// Threads that serve connections; 0 is one for each processor but one [default: 0]
    #[arg(long, env = "EDGECASK_THREADS", value_name = "COUNT")]
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

/// When the log is synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Appendfsync {
    /// Before replies leave: the loss of power loses nothing that was acknowledged.
    Always,
    /// Once a second: the loss of power loses at most the last second.
    #[default]
    Everysec,
    /// When the operating system likes, and at the end.
    No,
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

/// Who may run a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Allowed {
    /// Nobody.
    #[default]
    No,
    /// Clients of the same machine.
    Local,
    /// Everybody.
    Yes,
}

/// The least important messages that are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Only what went wrong for good.
    Error,
    /// What an operator should look at.
    Warn,
    /// What happens a few times a day.
    Info,
    /// What helps to find a mistake.
    Debug,
    /// Everything.
    Trace,
}

/// The decided options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen; port 0 lets the system choose.
    pub addresses: Vec<SocketAddr>,
    /// The directory of the store.
    pub directory: PathBuf,
    /// The sync policy at the start.
    pub appendfsync: Appendfsync,
    /// Threads that serve connections; at least one.
    pub threads: usize,
    /// Whether a public address needs a password.
    pub protected_mode: bool,
    /// The least important messages to log.
    pub log_level: LogLevel,
    /// The configuration file that was read.
    pub config: Option<PathBuf>,
    /// What CONFIG GET and SET see of all this.
    pub settings: Vec<(&'static str, String)>,
}

impl Appendfsync {
    /// The word of CONFIG GET.
    pub fn word(self) -> &'static str {
        match self {
            Appendfsync::Always => "always",
            Appendfsync::Everysec => "everysec",
            Appendfsync::No => "no",
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
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let first = arguments.get(1).and_then(|argument| argument.to_str()).unwrap_or_default();
    if !matches!(first, "serve" | "-V" | "--version") {
        arguments.insert(1.min(arguments.len()), "serve".into());
    }
    CommandLine::try_parse_from(arguments)
}

impl Flags {
    /// What was said here, and for the rest what `fallback` says.
    fn or(self, fallback: Flags) -> Flags {
        Flags {
            host: self.host.or(fallback.host),
            port: self.port.or(fallback.port),
            dir: self.dir.or(fallback.dir),
            appendfsync: self.appendfsync.or(fallback.appendfsync),
            databases: self.databases.or(fallback.databases),
            requirepass: self.requirepass.or(fallback.requirepass),
            maxclients: self.maxclients.or(fallback.maxclients),
            proto_max_bulk_len: self.proto_max_bulk_len.or(fallback.proto_max_bulk_len),
            blob_min_bytes: self.blob_min_bytes.or(fallback.blob_min_bytes),
            threads: self.threads.or(fallback.threads),
            protected_mode: self.protected_mode.or(fallback.protected_mode),
            enable_debug_command: self.enable_debug_command.or(fallback.enable_debug_command),
            log_level: self.log_level.or(fallback.log_level),
            config: self.config.or(fallback.config),
            help: None,
        }
    }
}

impl Options {
    /// Reads the configuration file, if one is named, and decides everything.
    pub fn decide(flags: Flags) -> Result<Options, OptionsError> {
        let flags = match &flags.config {
            Some(path) => {
                let file = read_file(path)?;
                flags.or(file)
            }
            None => flags,
        };
        let host = flags.host.unwrap_or_else(|| "127.0.0.1".into());
        let port = flags.port.unwrap_or(6379);
        let requirepass = flags.requirepass.unwrap_or_default();
        let directory = flags.dir.unwrap_or_else(|| "edgecask-data".into());
        let appendfsync = flags.appendfsync.unwrap_or_default();
        // Clients, syncs and maintenance want a processor as well; with a worker on each, requests cost more (bench.py).
        let workers = || std::thread::available_parallelism().map_or(1, |cores| (cores.get() - 1).max(1));
        let options = Options {
            addresses: resolve(&host, port)?,
            protected_mode: flags.protected_mode != Some(YesNo::No),
            threads: flags.threads.filter(|threads| *threads > 0).unwrap_or_else(workers),
            log_level: flags.log_level.unwrap_or(LogLevel::Info),
            config: flags.config,
            settings: vec![
                ("appendfsync", appendfsync.word().into()),
                ("bind", host),
                ("databases", flags.databases.unwrap_or(16).to_string()),
                ("dir", std::path::absolute(&directory).unwrap_or(directory.clone()).display().to_string()),
                ("blob-min-bytes", flags.blob_min_bytes.unwrap_or_else(|| BLOB_MIN_BYTES.to_string())),
                ("enable-debug-command", flags.enable_debug_command.unwrap_or_default().word().into()),
                ("maxclients", flags.maxclients.unwrap_or(10_000).to_string()),
                ("port", port.to_string()),
                (
                    "proto-max-bulk-len",
                    flags.proto_max_bulk_len.unwrap_or_else(|| BULK_MAX_BYTES.to_string()),
                ),
                ("requirepass", requirepass),
            ],
            appendfsync,
            directory,
        };
        options.check_protection()?;
        Ok(options)
    }

    /// The settings that CONFIG GET and SET see.
    pub fn settings(&self) -> Result<Settings, OptionsError> {
        Settings::new(&self.settings).map_err(|error| match error {
            SettingError::Invalid(text) => OptionsError(format!("an option does not fit: {text}")),
            error => OptionsError(error.to_string()),
        })
    }

    /// A server that anybody can reach and that asks for nothing is found and emptied within hours.
    fn check_protection(&self) -> Result<(), OptionsError> {
        let has_password =
            self.settings.iter().any(|(name, value)| *name == "requirepass" && !value.is_empty());
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

/// Whether only this machine can use the address.
pub fn is_local(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn read_file(path: &Path) -> Result<Flags, OptionsError> {
    let told =
        |error: &dyn std::fmt::Display| OptionsError(format!("configuration {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| told(&error))?;
    toml::from_str(&text).map_err(|error| told(&error))
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
