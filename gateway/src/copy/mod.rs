//! `edgecask copy`: all data of one place to another: a directory, a store in a cluster, or a server that speaks RESP.
//!
//! Keys are walked as SCAN walks them, and copied a few at a time, whatever was at the target before under the same name. How far
//! that has come is noted in a file whenever it is safe at the target, so that the same command goes on where it was interrupted. At the end
//! every key of the source is compared with the target's, and the target is searched for keys that the source has not: by fingerprints
//! of everything that belongs to a key ([`digest::of_key`]), so neither side's encoding or order counts.
//!
//! ```text
//! mod      the walk and the report          item     keys on their way: small ones whole, others in parts
//! place    what a place is called           store    a directory or a cluster, opened by this process
//! side     one of the two places            server   a server, and what it says of its keys
//! noted    how far a copy has come
//! ```
//!
//! Nothing holds more of a value than a part, but a collection on its way to or from a server: it travels as one payload of DUMP.
//!
//! [`digest::of_key`]: edgecask_core::data::digest::of_key

mod item;
mod noted;
mod place;
mod server;
mod side;
mod store;
mod verify;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use edgecask_core::bitcask::OpenError;
use edgecask_core::engine::{CATALOG, Db, EngineError};
use edgecask_core::resp::DecodeError;
use edgecask_core::storage::StorageError;

use self::noted::Noted;
use self::place::Place;
use self::side::Side;

/// Between two lines that say how far a copy has come, and two notes of it.
const TOLD_PERIOD: Duration = Duration::from_secs(2);

/// So many keys are copied, or compared, together.
const KEYS_AT_ONCE: usize = 64;

/// So many names are shown of keys that differ or cannot be carried.
const SHOWN_MAX: usize = 20;

/// What is to be copied.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// The source.
    pub from: String,
    /// The target.
    pub to: String,
    /// How many databases a store in a cluster has.
    pub databases: u32,
    /// Nothing is copied; the two are compared.
    pub only_verifies: bool,
    /// The target may have keys already.
    pub adds: bool,
    /// Where it is noted how far the copy has come.
    pub state: Option<PathBuf>,
}

/// Why nothing more is copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A directory cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A directory cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A store fails.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// A server cannot be understood.
    #[error("{0}")]
    Answer(#[from] DecodeError),
    /// A server or a file fails.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

/// Shorthand.
type Result<T> = std::result::Result<T, CopyError>;

/// A key that was not carried, and why.
struct Refused {
    db: Db,
    key: Vec<u8>,
    why: String,
}

/// What was copied so far.
#[derive(Default)]
struct Done {
    keys: u64,
    bytes: u64,
    refused: Vec<Refused>,
    refused_count: u64,
}

impl Done {
    fn refuse(&mut self, refused: Refused) {
        self.refused_count += 1;
        if self.refused.len() < SHOWN_MAX {
            self.refused.push(refused);
        }
    }
}

/// Copies and compares, and prints what came of it; false if the two differ.
///
/// # Errors
/// One of the two cannot be opened, read or written.
pub fn run_copy(options: &CopyOptions, out: &mut dyn Write) -> Result<bool> {
    let (from, to) = (Place::parse(&options.from)?, Place::parse(&options.to)?);
    if from == to {
        return Err(CopyError::Other("the source is the target".into()));
    }
    let mut source = Side::open(&from, options.databases, true)?;
    let mut target = Side::open(&to, options.databases, options.only_verifies)?;
    let map = |db| match (from.database(), to.database()) {
        (Some(only), Some(other)) if db == only => other,
        _ => db,
    };
    if to.database().is_some() && from.database().is_none() {
        return Err(CopyError::Other("a target with a database needs a source with one".into()));
    }
    let mut databases = source.databases()?;
    databases.retain(|db| from.database().is_none_or(|only| only == *db));
    let carries_catalog = source.has_catalog() && target.has_catalog() && from.database().is_none();
    if carries_catalog {
        databases.push(CATALOG);
    }
    let mut done = Done::default();
    let mut noted = None;
    if !options.only_verifies {
        let sides = (&mut source, &mut target);
        noted = Some(copy_all(sides, (&databases, &map), (options, to.database()), &mut done)?);
    }
    let verified = verify::verify((&mut source, &mut target), (&databases, &map))?;
    if let Some(noted) = noted {
        noted.remove()?;
    }
    let text = report(options, &done, &verified, carries_catalog);
    out.write_all(text.as_bytes()).map_err(|error| CopyError::Io("standard output".into(), error))?;
    Ok(verified.is_equal(options.adds) && done.refused_count == 0)
}

/// Copies everything that is not noted as copied.
fn copy_all(
    (source, target): (&mut Side, &mut Side),
    (databases, map): (&[Db], &dyn Fn(Db) -> Db),
    (options, only): (&CopyOptions, Option<Db>),
    done: &mut Done,
) -> Result<Noted> {
    let state = options.state.clone().unwrap_or_else(|| Noted::usual_path(&options.from, &options.to));
    let (from, to) = (place::shown(&options.from), place::shown(&options.to));
    let mut noted = Noted::read(&state, (&from, &to), &source.identity()?)?;
    if noted.is_begun() {
        eprintln!("goes on with a copy that was interrupted: {} keys are copied already", noted.keys);
    } else if !options.adds && target.has_keys(only)? {
        return Err(CopyError::Other(format!(
            "{to} has keys already; --add copies to them, and replaces those of the same names"
        )));
    }
    // Before the first key is written: whatever comes, the same command goes on.
    noted.write()?;
    done.keys = noted.keys;
    done.bytes = noted.bytes;
    let mut told = Told::new(done);
    for (at, db) in databases.iter().enumerate().skip(noted.database) {
        let mut cursor = std::mem::take(&mut noted.cursor);
        loop {
            let (next, keys) = source.scan(*db, cursor)?;
            for keys in keys.chunks(KEYS_AT_ONCE) {
                item::carry((&mut *source, &mut *target), (*db, map(*db)), keys, done)?;
                told.tell(done);
            }
            cursor = next;
            let is_over = cursor == 0;
            if told.is_due() || is_over {
                target.sync()?;
                (noted.database, noted.cursor) = if is_over { (at + 1, 0) } else { (at, cursor) };
                (noted.keys, noted.bytes) = (done.keys, done.bytes);
                noted.write()?;
                told.note();
            }
            if is_over {
                break;
            }
        }
    }
    target.finish()?;
    Ok(noted)
}

/// Says on standard error how far a copy has come.
struct Told {
    begin: Instant,
    next: Instant,
    next_note: Instant,
    keys_before: u64,
}

impl Told {
    fn new(done: &Done) -> Told {
        let begin = Instant::now();
        Told { begin, next: begin + TOLD_PERIOD, next_note: begin + TOLD_PERIOD, keys_before: done.keys }
    }

    fn tell(&mut self, done: &Done) {
        if Instant::now() >= self.next {
            self.next = Instant::now() + TOLD_PERIOD;
            let keys = (done.keys - self.keys_before) as f64 / self.begin.elapsed().as_secs_f64();
            eprintln!("copied: {} keys, {} bytes, {keys:.0} keys/s", done.keys, done.bytes);
        }
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.next_note
    }

    fn note(&mut self) {
        self.next_note = Instant::now() + TOLD_PERIOD;
    }
}

/// What came of it, as a table.
fn report(options: &CopyOptions, done: &Done, verified: &verify::Verified, has_catalog: bool) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let (from, to) = (place::shown(&options.from), place::shown(&options.to));
    let width = from.len().max(to.len());
    let mut row = |what: &str, place: &str, keys: u64, digest: &str| {
        let _ = writeln!(text, "{what:<5} {place:<width$}  {keys:>12} keys  {digest}");
    };
    row("from", &from, verified.source_keys, &verified.source.to_hex());
    row("to", &to, verified.target_keys, &verified.target.to_hex());
    if !options.only_verifies {
        let _ = writeln!(text, "copied {} keys, {} bytes", done.keys, done.bytes);
    }
    let mut list = |what: &str, count: u64, names: &[String]| {
        if count > 0 {
            let _ = writeln!(text, "{what}: {count}");
            for name in names {
                let _ = writeln!(text, "  {name}");
            }
        }
    };
    let refused: Vec<String> = done
        .refused
        .iter()
        .map(|Refused { db, key, why }| format!("{}: {why}", verify::shown(*db, key)))
        .collect();
    list("not carried", done.refused_count, &refused);
    list("not the same", verified.different_count, &verified.different);
    list("only at the target", verified.extra_count, &verified.extra);
    if !has_catalog {
        text.push_str("functions, users, triggers and crons are not carried over RESP, only between stores that copy opens itself\n");
    }
    let is_equal = verified.is_equal(options.adds) && done.refused_count == 0;
    text.push_str(if is_equal { "both are the same\n" } else { "they are not the same\n" });
    text
}
