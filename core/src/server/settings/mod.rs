//! The settings of a server, as CONFIG GET and CONFIG SET see them.
//!
//! A setting is one row of [`SETTINGS`]: its name, its default, whether it can change while the server runs, and what
//! its text may be. Values are kept as text; numbers, which commands read as they write, are also kept as atomics.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::RwLock;

use self::memory_text::parse_memory;
use super::hub::notify;
use crate::limits;
use crate::memory_budget::{MARGIN_BYTES, MemoryBudget};
use crate::resp::{self, Protocol, Reply, ReplyBounds};
use crate::script::RunLimits;

mod memory_text;
mod check;
mod memory;
mod output_limits;
mod sql;
mod table;

use self::check::check;
pub use memory::{First, MemorySettings, Policy};
pub use output_limits::OutputLimits;
pub use table::{ALIASES, SETTINGS};

/// What a setting's text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text.
    Text,
    /// An integer within bounds.
    Integer(i64, i64),
    /// An integer from 0 that is silently brought within bounds, as Redis does.
    Clamped(i64, i64),
    /// A number of bytes, with an optional unit (`kb`, `mb`, `gb`, …), within bounds.
    Memory(u64, u64),
    /// A number of bytes that is silently raised to a least one.
    MemoryFrom(u64),
    /// A number of bytes or a percentage.
    MemoryOrPercent,
    /// `yes` or `no`.
    YesNo,
    /// `yes` or `no`, of which `yes` is impossible for this reason.
    No(&'static str),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Words for what a signal does; `default` alone or any of the others.
    OnSignal,
    /// Letters, digits, hyphens and dots, or nothing.
    HostName,
    /// Pairs of numbers: seconds and changes.
    SavePoints,
    /// Letters for classes of keyspace events.
    Events,
    /// Numbers from 0 to 100.
    Percentiles,
    /// Classes of connections with their [`OutputLimits`].
    Output,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingSpec {
    /// Redis' name for it.
    pub name: &'static str,
    /// What it is unless set.
    pub default: &'static str,
    /// Whether CONFIG SET may change it.
    pub mutable: bool,
    /// Whether that is because it names files.
    pub protected: bool,
    /// What it may be.
    pub kind: SettingKind,
}

/// A place in [`SETTINGS`], for what is asked with every command: the compiler looks for the name.
#[derive(Clone, Copy, Debug)]
pub struct SettingPlace(usize);

impl SettingPlace {
    /// The place of a name. Panics if there is no such setting, so it belongs into a `const`.
    pub const fn of(name: &str) -> SettingPlace {
        let mut place = 0;
        while place < SETTINGS.len() {
            if are_same(SETTINGS[place].name.as_bytes(), name.as_bytes()) {
                return SettingPlace(place);
            }
            place += 1;
        }
        panic!("no such setting")
    }
}

/// What `==` says, which no `const` may ask.
const fn are_same(mut left: &[u8], mut right: &[u8]) -> bool {
    while let ([one, rest_of_left @ ..], [other, rest_of_right @ ..]) = (left, right) {
        if *one != *other {
            return false;
        }
        (left, right) = (rest_of_left, rest_of_right);
    }
    left.is_empty() && right.is_empty()
}

/// Why a setting was refused, in Redis' words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such setting.
    #[error("Unknown option or number of arguments for CONFIG SET - '{0}'")]
    Unknown(String),
    /// It cannot change while the server runs.
    #[error("can't set immutable config")]
    Immutable,
    /// It names files, which no client may choose.
    #[error("can't set protected config")]
    Protected,
    /// One request names it twice.
    #[error("duplicate parameter")]
    Duplicate,
    /// The text does not fit.
    #[error("{0}")]
    Invalid(String),
}

/// Changes of settings that were checked and have yet to be made.
#[derive(Clone, Debug)]
pub struct Accepted(Vec<(&'static SettingSpec, String)>);

impl Accepted {
    /// The text that it gives a setting, by the name of the setting.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(spec, _)| spec.name == name).map(|(_, value)| value.as_str())
    }
}

/// The settings of one server.
#[derive(Debug)]
pub struct Settings {
    values: RwLock<BTreeMap<&'static str, String>>,
    /// What [`Settings::number`] gives, parallel to [`SETTINGS`].
    numbers: Vec<AtomicI64>,
    bulk_max_bytes: AtomicU64,
    blob_min_bytes: AtomicU64,
    all_channels: AtomicBool,
    slow_ns: AtomicU64,
    latency_threshold_ms: AtomicU64,
    tracks_latency: AtomicBool,
    output_limits: Arc<OutputLimits>,
    memory: MemorySettings,
    databases: u32,
    bounds: HomeBounds,
}

/// What a home cannot do whatever its settings say.
#[derive(Clone, Copy, Debug)]
pub struct HomeBounds {
    /// The largest argument, and the largest string, in bytes.
    pub bulk_max_bytes: u64,
    /// The largest argument that does not go to a blob as it comes, in bytes.
    pub argument_max_bytes: u64,
    /// The largest key, member or field, in bytes, or any other argument that is no value.
    pub name_max_bytes: usize,
    /// Whether its storage has blobs.
    pub has_blobs: bool,
    /// Whether what it keeps is read in the background, so that `scrub-...` means something.
    pub has_scrub: bool,
    /// Whether its process ends when a client says SHUTDOWN.
    pub has_shutdown: bool,
    /// Whether its store was opened to be read only.
    pub is_read_only: bool,
    /// Most arguments of one request.
    pub arguments_max: u64,
    /// The longest reply, in bytes, values that go out uncopied aside.
    pub reply_max_bytes: usize,
    /// Most changes of one transaction to members of collections.
    pub changes_max: u64,
    /// The most connections it can hold: the most that `maxclients` may be set to.
    pub clients_max: i64,
    /// What scripts may take.
    pub scripts: ScriptBounds,
    /// Steps of SQLite's machine in one text of SQL; None where a clock watches over statements. A page that is read or written, and
    /// a command that the text calls, count as some, since they take as long.
    pub sql_steps: Option<u64>,
    /// Tells how much memory is left.
    pub budget: MemoryBudget,
}

/// What scripts may take in a home.
#[derive(Clone, Copy, Debug)]
pub struct ScriptBounds {
    /// Bytes of memory of one run, beyond those that its interpreter holds.
    pub memory_bytes: u64,
    /// Steps of one run; None where a clock and operators watch over scripts.
    pub steps: Option<u64>,
    /// Bytes of the sources that only EVAL has brought and that stay.
    pub sources_bytes: u64,
}

impl Default for ScriptBounds {
    fn default() -> ScriptBounds {
        ScriptBounds {
            memory_bytes: limits::SCRIPT_MEMORY_MAX_BYTES,
            steps: None,
            sources_bytes: limits::SOURCES_OF_EVAL_MAX_BYTES,
        }
    }
}

/// The part of the memory which is left that a script may take: as much may go for its value, for the reply of a command, and
/// for what it writes.
const SCRIPT_PART: u64 = 4;

impl HomeBounds {
    /// What a run of a script that begins now may take.
    pub(crate) fn script_limits(&self) -> RunLimits {
        let left_bytes = (self.budget.left_bytes())().saturating_sub(MARGIN_BYTES);
        RunLimits {
            memory_bytes: self.scripts.memory_bytes.min(left_bytes / SCRIPT_PART),
            steps: self.scripts.steps,
        }
    }

    /// An empty output within them.
    pub(crate) fn reply(&self, protocol: Protocol) -> Reply {
        Reply::new(protocol).bounded(ReplyBounds {
            max_bytes: self.reply_max_bytes,
            left_bytes: self.budget.left_bytes(),
            margin_bytes: MARGIN_BYTES,
        })
    }
}

impl Default for HomeBounds {
    fn default() -> HomeBounds {
        HomeBounds {
            bulk_max_bytes: u64::MAX,
            argument_max_bytes: limits::VALUE_IN_MEMORY_MAX_BYTES,
            name_max_bytes: usize::MAX,
            has_blobs: true,
            has_scrub: true,
            has_shutdown: true,
            is_read_only: false,
            arguments_max: resp::limits::REQUEST_ARGUMENTS_MAX,
            reply_max_bytes: usize::MAX,
            changes_max: u64::MAX,
            clients_max: i64::MAX,
            scripts: ScriptBounds::default(),
            sql_steps: None,
            budget: MemoryBudget::UNBOUNDED,
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new(&[]).unwrap_or_else(|_| unreachable!("defaults fit"))
    }
}

impl Settings {
    /// The defaults with these changes, which may touch immutable settings.
    pub fn new(changes: &[(&str, String)]) -> Result<Settings, SettingError> {
        let mut settings = Settings {
            values: RwLock::default(),
            numbers: SETTINGS.iter().map(|_| AtomicI64::new(0)).collect(),
            bulk_max_bytes: AtomicU64::new(resp::limits::BULK_MAX_BYTES),
            blob_min_bytes: AtomicU64::new(limits::BLOB_MIN_BYTES),
            all_channels: AtomicBool::new(false),
            slow_ns: AtomicU64::new(u64::MAX),
            latency_threshold_ms: AtomicU64::new(0),
            tracks_latency: AtomicBool::new(true),
            output_limits: Arc::default(),
            memory: MemorySettings::default(),
            databases: 16,
            bounds: HomeBounds::default(),
        };
        let defaults = SETTINGS.iter().map(|row| (row.name, row.default));
        let changes = changes.iter().map(|(name, value)| (*name, value.as_str()));
        let mut values = BTreeMap::new();
        for (name, value) in defaults.chain(changes) {
            let spec = find(name).ok_or_else(|| unknown(name))?;
            settings.change(&mut values, spec, check(spec, value)?);
        }
        settings.values = RwLock::new(values);
        settings.databases = settings.get("databases").and_then(|text| text.parse().ok()).unwrap_or(16);
        Ok(settings)
    }

    /// The same in a home with bounds.
    pub fn within(mut self, bounds: HomeBounds) -> Settings {
        self.bounds = bounds;
        self
    }

    /// What the home cannot do.
    pub fn bounds(&self) -> &HomeBounds {
        &self.bounds
    }

    /// Those that differ from what they were in `base`, as they are kept.
    pub fn changed_since(&self, base: &Settings) -> Vec<(&'static str, String)> {
        let (values, base) = (self.values.read(), base.values.read());
        let changed = values.iter().filter(|(name, value)| base.get(**name) != Some(*value));
        changed.map(|(name, value)| (*name, value.clone())).collect()
    }

    /// The text of a setting as CONFIG GET shows it.
    pub fn get(&self, name: &str) -> Option<String> {
        self.kept(name).map(|value| shown(name, &value))
    }

    /// The text of a setting as CONFIG GET will show it once it was changed by this text.
    pub fn preview(&self, name: &str, change: &str) -> String {
        let is_output = find(name).is_some_and(|spec| spec.kind == SettingKind::Output);
        let present = is_output.then(|| self.kept(name)).flatten();
        let value = present.map_or(change.to_owned(), |present| output_limits::changed(&present, change));
        shown(name, &value)
    }

    /// The text of a setting as it is kept, which may say more.
    pub(crate) fn kept(&self, name: &str) -> Option<String> {
        self.values.read().get(name).cloned()
    }

    /// The number a numeric setting stands for; 0 for others. Costs a few comparisons of names.
    pub fn number(&self, name: &str) -> i64 {
        let row = SETTINGS.binary_search_by_key(&name, |row| row.name).ok();
        row.map_or(0, |row| self.number_at(SettingPlace(row)))
    }

    /// The number that the numeric setting at a place stands for; 0 for others.
    pub fn number_at(&self, place: SettingPlace) -> i64 {
        self.numbers.get(place.0).map_or(0, |number| number.load(Ordering::Relaxed))
    }

    /// The present name of a setting, from any of its names in any case.
    pub fn name_of(name: &str) -> Option<&'static str> {
        find(name).map(|spec| spec.name)
    }

    /// All settings under all names that pass `keep`, older names last.
    pub fn all(&self, keep: &mut dyn FnMut(&str) -> bool) -> Vec<(&'static str, String)> {
        let values = self.values.read();
        let names = values.keys().map(|name| (*name, *name)).chain(ALIASES.iter().copied());
        let kept = names.filter(|(name, _)| keep(name));
        kept.filter_map(|(name, present)| Some((name, shown(present, values.get(present)?)))).collect()
    }

    /// Changes a mutable setting.
    pub fn set(&self, name: &str, value: &str) -> Result<(), SettingError> {
        self.set_all(&[(name, value)]).map_err(|(_, error)| error)
    }

    /// Changes mutable settings, all of them or none; of two names of one setting the later counts, as in Redis. On
    /// failure tells which one was refused.
    pub fn set_all(&self, changes: &[(&str, &str)]) -> Result<(), (String, SettingError)> {
        self.apply(self.accept(changes)?);
        Ok(())
    }

    /// Checks changes of mutable settings, which [`Settings::apply`] then makes.
    ///
    /// # Errors
    /// The name of the first setting that is refused, and why.
    pub fn accept(&self, changes: &[(&str, &str)]) -> Result<Accepted, (String, SettingError)> {
        let mut specs: Vec<&'static SettingSpec> = Vec::with_capacity(changes.len());
        let mut names = HashSet::new();
        for (name, _) in changes {
            let refuse = |error| ((*name).to_string(), error);
            let spec = find(name).ok_or_else(|| refuse(unknown(name)))?;
            if spec.protected {
                return Err(refuse(SettingError::Protected));
            }
            if !spec.mutable {
                return Err(refuse(SettingError::Immutable));
            }
            if !names.insert(name.to_ascii_lowercase()) {
                return Err(refuse(SettingError::Duplicate));
            }
            specs.push(spec);
        }
        let mut checked = Vec::with_capacity(changes.len());
        for (spec, (name, value)) in specs.into_iter().zip(changes) {
            // The name that was asked by, an older one included, in the table's spelling.
            let value = check(spec, value).and_then(|value| self.within_bounds(spec, value));
            checked.push((spec, value.map_err(|error| (name.to_ascii_lowercase(), error))?));
        }
        Ok(Accepted(checked))
    }

    /// Refuses what the home cannot do, in Redis' words.
    fn within_bounds(&self, spec: &SettingSpec, value: String) -> Result<String, SettingError> {
        let most = self.bounds.clients_max;
        if spec.name == "maxclients" && number_of(&value) > most {
            return Err(SettingError::Invalid(format!(
                "The operating system is not able to handle the specified number of clients, try with {most}"
            )));
        }
        if spec.name.starts_with("scrub-") && !self.bounds.has_scrub {
            return Err(SettingError::Invalid(
                "there is no scrub here; where the data is kept sees to that".into(),
            ));
        }
        if spec.name == "sql-time-max-ms" && number_of(&value) > 0 && self.bounds.sql_steps.is_some() {
            return Err(SettingError::Invalid(
                "the clock stands still here while a statement runs; what it may take is counted in steps"
                    .into(),
            ));
        }
        Ok(value)
    }

    /// Makes changes that were accepted.
    pub fn apply(&self, accepted: Accepted) {
        let mut values = self.values.write();
        for (spec, value) in accepted.0 {
            self.change(&mut values, spec, value);
        }
    }

    /// `proto-max-bulk-len` in bytes, or what the home can do if that is less.
    pub fn bulk_max_bytes(&self) -> u64 {
        self.bulk_max_bytes.load(Ordering::Relaxed).min(self.bounds.bulk_max_bytes)
    }

    /// `blob-min-bytes`: the length from which on a string is kept in a blob; no length is where there are none.
    pub fn blob_min_bytes(&self) -> u64 {
        if self.bounds.has_blobs { self.blob_min_bytes.load(Ordering::Relaxed) } else { u64::MAX }
    }

    /// `acl-pubsub-default`: whether new users may use all channels.
    pub fn all_channels_by_default(&self) -> bool {
        self.all_channels.load(Ordering::Relaxed)
    }

    /// `slowlog-log-slower-than` in nanoseconds; more than any command takes if nothing is to be logged.
    pub fn slow_ns(&self) -> u64 {
        self.slow_ns.load(Ordering::Relaxed)
    }

    /// `latency-monitor-threshold`; 0 is off.
    pub fn latency_threshold_ms(&self) -> u64 {
        self.latency_threshold_ms.load(Ordering::Relaxed)
    }

    /// From how many nanoseconds on the slow log or the latency monitor may want to know of a command.
    pub fn alarm_ns(&self) -> u64 {
        match self.latency_threshold_ms() {
            0 => self.slow_ns(),
            threshold_ms => self.slow_ns().min(threshold_ms.saturating_mul(1_000_000)),
        }
    }

    /// `latency-tracking`: whether commands have histograms.
    pub fn tracks_latency(&self) -> bool {
        self.tracks_latency.load(Ordering::Relaxed)
    }

    /// `client-output-buffer-limit`.
    pub fn output_limits(&self) -> &Arc<OutputLimits> {
        &self.output_limits
    }

    /// `maxmemory` and what belongs to it.
    #[inline]
    pub fn memory(&self) -> &MemorySettings {
        &self.memory
    }

    /// Number of databases.
    pub fn databases(&self) -> u32 {
        self.databases
    }

    fn change(&self, values: &mut BTreeMap<&'static str, String>, spec: &SettingSpec, mut value: String) {
        if spec.kind == SettingKind::Output {
            // A change names some classes; the others stay.
            value =
                output_limits::changed(values.get(spec.name).map_or(spec.default, String::as_str), &value);
            self.output_limits.set(&value);
        }
        self.memory.change(spec.name, &value);
        match spec.name {
            "proto-max-bulk-len" => {
                self.bulk_max_bytes
                    .store(parse_memory(&value).unwrap_or(resp::limits::BULK_MAX_BYTES), Ordering::Relaxed);
            }
            "blob-min-bytes" => {
                self.blob_min_bytes
                    .store(parse_memory(&value).unwrap_or(limits::BLOB_MIN_BYTES), Ordering::Relaxed);
            }
            "slowlog-log-slower-than" => {
                let slower_us = u64::try_from(number_of(&value)).ok();
                let slow_ns = slower_us.map_or(u64::MAX, |slower_us| slower_us.saturating_mul(1000));
                self.slow_ns.store(slow_ns, Ordering::Relaxed);
            }
            "latency-monitor-threshold" => {
                let threshold_ms = u64::try_from(number_of(&value)).unwrap_or_default();
                self.latency_threshold_ms.store(threshold_ms, Ordering::Relaxed);
            }
            "latency-tracking" => self.tracks_latency.store(value == "yes", Ordering::Relaxed),
            "acl-pubsub-default" => self.all_channels.store(value == "allchannels", Ordering::Relaxed),
            _ => {}
        }
        if let Ok(row) = SETTINGS.binary_search_by_key(&spec.name, |row| row.name)
            && let Some(number) = self.numbers.get(row)
        {
            number.store(number_of(&value), Ordering::Relaxed);
        }
        values.insert(spec.name, value);
    }
}

fn find(name: &str) -> Option<&'static SettingSpec> {
    let alias = ALIASES.iter().find(|(old, _)| old.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, present)| *present);
    SETTINGS.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

/// A setting's text as CONFIG GET shows it.
fn shown(name: &str, value: &str) -> String {
    match find(name).map(|spec| spec.kind) {
        Some(SettingKind::Events) => notify::shown(value),
        _ => value.to_owned(),
    }
}

/// The error that there is no such setting; like every error text of Redis it ends at a NUL.
fn unknown(name: &str) -> SettingError {
    SettingError::Unknown(name.split('\0').next().unwrap_or_default().to_string())
}

/// The number in a setting's text, 0 if there is none.
fn number_of(text: &str) -> i64 {
    let memory = parse_memory(text).map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    memory.or(text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_a_setting_is_lost() {
        assert!(SETTINGS.is_sorted_by_key(|row| row.name));
        let settings = Settings::default();
        for row in SETTINGS {
            assert_eq!(settings.number(row.name), number_of(row.default), "{}", row.name);
            assert!(check(row, row.default).is_ok(), "{}", row.name);
        }
        assert_eq!(settings.number("proto-max-bulk-len"), 512 * 1024 * 1024);
        assert_eq!(settings.number("list-max-listpack-size"), -2);
        settings.set("hash-max-listpack-entries", "7").expect("in range");
        assert_eq!(settings.number("hash-max-listpack-entries"), 7);
        assert_eq!(settings.number("no-such-setting"), 0);
        for (at, row) in SETTINGS.iter().enumerate() {
            assert_eq!(SettingPlace::of(row.name).0, at, "{}", row.name);
        }
    }

    #[test]
    fn old_name_of_a_setting_is_unknown() {
        let settings = Settings::default();
        for (old, present) in ALIASES {
            assert_eq!(Settings::name_of(old), Some(*present));
            assert!(SETTINGS.iter().all(|row| row.name != *old));
        }
        settings.set("HASH-max-ziplist-entries", "9").expect("an old name");
        assert_eq!(settings.number("hash-max-listpack-entries"), 9);
    }

    #[test]
    fn refused_change_changes_something() {
        let settings = Settings::default();
        let refused = settings.set_all(&[("timeout", "5"), ("hz", "20"), ("loglevel", "loud")]);
        assert_eq!(refused.expect_err("no such level").0, "loglevel");
        assert_eq!((settings.number("timeout"), settings.number("hz")), (0, 10));
    }

    #[test]
    fn scrub_is_set_where_there_is_none() {
        let elsewhere = HomeBounds { has_scrub: false, ..HomeBounds::default() };
        for (bounds, is_accepted) in [(HomeBounds::default(), true), (elsewhere, false)] {
            let settings = Settings::default().within(bounds);
            for name in ["scrub-interval-days", "scrub-bytes-per-second"] {
                assert_eq!(settings.set(name, "7").is_ok(), is_accepted, "{name}");
            }
        }
    }
}
