//! Definitions that last in the store beside the databases: users, libraries of functions, triggers, crons. Each kind is a hash of the
//! database [`CATALOG`]; its fields are names, its values the texts from which the server makes the thing again when it starts.

use super::args::quoted;
use super::{CommandError, Outcome};
use crate::data::hash::{self, ListpackLimits};
use crate::engine::{CATALOG, Engine, EngineError, Txn, run_alone};
use crate::limits::DEFINITION_NAME_MAX_BYTES;
use crate::resp::split_line;

type Result<T> = std::result::Result<T, CommandError>;

/// A small encoding would be no use: nobody asks for it.
const LIMITS: ListpackLimits = ListpackLimits { entries: u64::MAX, value_bytes: u64::MAX };

/// The name of a definition, and its text.
pub(super) type Definition = (Vec<u8>, Vec<u8>);

/// A definition of the store that this version cannot read. It stays in the store and does nothing; the host tells its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What it defines: `trigger`, `cron`.
    pub kind: &'static str,
    /// Its name.
    pub name: Vec<u8>,
}

/// One kind of definitions.
#[derive(Clone, Copy)]
pub(super) struct Definitions {
    /// What one of them is called in texts.
    noun: &'static str,
    /// The key of the hash.
    key: &'static [u8],
}

impl Definitions {
    /// The kind that is kept under this key of the catalog; what one of them is called.
    pub const fn of(noun: &'static str, key: &'static [u8]) -> Definitions {
        Definitions { noun, key }
    }

    /// Looks whether a new definition may have this name. The store knows: another connection may have made one a moment ago.
    ///
    /// # Errors
    /// The name is none, or is taken; or the engine's.
    pub fn check_new(self, txn: &mut Txn<'_>, name: &[u8]) -> Outcome {
        let noun = self.noun;
        let is_graphic = name.iter().all(|byte| byte.is_ascii_graphic());
        if name.is_empty() || name.len() > DEFINITION_NAME_MAX_BYTES || !is_graphic {
            return Err(CommandError::owned(format!(
                "ERR the name of a {noun} has 1 to {DEFINITION_NAME_MAX_BYTES} letters, digits and signs, without spaces"
            )));
        }
        if self.contains(txn, name)? {
            let name = quoted(name, DEFINITION_NAME_MAX_BYTES);
            return Err(CommandError::owned(format!("ERR {noun} '{name}' already exists")));
        }
        Ok(())
    }

    /// Removes the definition of this name.
    ///
    /// # Errors
    /// There is none; or the engine's.
    pub fn remove_known(self, txn: &mut Txn<'_>, name: &[u8]) -> Outcome {
        if self.remove(txn, &[name])? > 0 {
            return Ok(());
        }
        let (noun, name) = (self.noun, quoted(name, DEFINITION_NAME_MAX_BYTES));
        Err(CommandError::owned(format!("ERR there is no {noun} '{name}'")))
    }

    /// The text of a definition.
    ///
    /// # Errors
    /// The engine's, as for all other methods.
    pub fn get(self, txn: &mut Txn<'_>, name: &[u8]) -> Result<Option<Vec<u8>>> {
        match hash::root(txn, CATALOG, self.key)? {
            Some(_) => Ok(txn.sub_value(CATALOG, self.key, name)?),
            None => Ok(None),
        }
    }

    /// Whether there is a definition of this name. The key is locked from then on.
    pub fn contains(self, txn: &mut Txn<'_>, name: &[u8]) -> Result<bool> {
        Ok(hash::root(txn, CATALOG, self.key)?.is_some() && txn.sub_contains(CATALOG, self.key, name)?)
    }

    /// Writes definitions: name, text, name, text, …
    pub fn set(self, txn: &mut Txn<'_>, pairs: &[&[u8]]) -> Outcome {
        if !pairs.is_empty() {
            let root = hash::root(txn, CATALOG, self.key)?;
            hash::set(txn, (CATALOG, self.key), root.as_ref(), pairs, || LIMITS)?;
        }
        Ok(())
    }

    /// Removes definitions; returns how many there were.
    pub fn remove(self, txn: &mut Txn<'_>, names: &[&[u8]]) -> Result<u64> {
        match hash::root(txn, CATALOG, self.key)? {
            Some(_) => Ok(hash::remove(txn, CATALOG, self.key, names)?),
            None => Ok(0),
        }
    }

    /// Removes all.
    pub fn clear(self, txn: &mut Txn<'_>) -> Outcome {
        if hash::root(txn, CATALOG, self.key)?.is_some() {
            txn.remove(CATALOG, self.key)?;
        }
        Ok(())
    }

    /// All definitions in the order of their names.
    pub fn all(self, txn: &mut Txn<'_>) -> Result<Vec<Definition>> {
        let mut all = Vec::new();
        if hash::root(txn, CATALOG, self.key)?.is_some() {
            for rank in 0..txn.sub_len(CATALOG, self.key)? {
                if let Some(name) = txn.sub_select(CATALOG, self.key, rank)? {
                    let text = txn.sub_value(CATALOG, self.key, &name)?.unwrap_or_default();
                    all.push((name, text));
                }
            }
        }
        Ok(all)
    }

    /// Runs `body` over a transaction that may change definitions of this kind, outside of any command: when a store was just
    /// opened.
    ///
    /// # Errors
    /// The engine's.
    pub fn transact<E: Engine, T>(
        self,
        engine: &E,
        now_ms: u64,
        mut body: impl FnMut(&mut Txn<'_>) -> Result<T>,
    ) -> std::result::Result<T, EngineError> {
        run_alone(engine, &[self.key], now_ms, &mut |txn| {
            body(txn).map_err(|error| match error {
                CommandError::Engine(error) => error,
                other => EngineError::Damaged(other.reply_text().into_owned()),
            })
        })
    }

    /// All definitions of a store.
    ///
    /// # Errors
    /// The engine's.
    pub fn read<E: Engine>(
        self,
        engine: &E,
        now_ms: u64,
    ) -> std::result::Result<Vec<Definition>, EngineError> {
        self.transact(engine, now_ms, |txn| self.all(txn))
    }

    /// Takes over all definitions of a store that was just opened, whose texts are words; `take` gets a name and its words. Those
    /// that it refuses are returned.
    ///
    /// # Errors
    /// The engine's.
    pub fn restore<E: Engine>(
        self,
        engine: &E,
        now_ms: u64,
        take: impl FnMut(&[u8], &[&[u8]]) -> Outcome,
    ) -> std::result::Result<Vec<Unreadable>, EngineError> {
        Ok(self.take_each(&self.read(engine, now_ms)?, take))
    }

    /// Takes over definitions that were read; those that `take` refuses are returned.
    pub fn take_each(
        self,
        stored: &[Definition],
        mut take: impl FnMut(&[u8], &[&[u8]]) -> Outcome,
    ) -> Vec<Unreadable> {
        let mut unreadable = Vec::new();
        for (name, text) in stored {
            let words = split_line(text).unwrap_or_default();
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            if take(name, &words).is_err() {
                unreadable.push(Unreadable { kind: self.noun, name: name.clone() });
            }
        }
        unreadable
    }
}
